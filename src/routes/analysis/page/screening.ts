// Screening in the form of the existing analysis page: hidden until the owner enables it, strategies of the service
// with the stored figures, and industries as the topics of the day. No requests are sent to sources, and no model ranks
// anything.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { textsOf } from '../../../analysis/texts/book.ts'
import { config } from '../../../config.ts'
import { findPageScreening, isScreeningShown, noteScreening, savePageScreening } from '../../../db/saved-screens.ts'
import type { AppEnv } from '../../../http/app-env.ts'
import { callerLanguage } from '../../../http/caller-language.ts'
import { AppError, analysisEnvelope } from '../../../http/errors.ts'
import { endpoint } from '../../../http/openapi.ts'
import { router } from '../../../http/router.ts'
import { isoMicros } from '../../../lib/clock.ts'
import { hexId } from '../../../lib/crypto.ts'
import { laxInt } from '../../../lib/lax.ts'
import type { CheckKey } from '../../../market/consistency/types.ts'
import type { FieldName } from '../../../screening/fields.ts'
import { type MARKETS, readScreen } from '../../../screening/filter.ts'
import { type Ranked, ranked } from '../../../screening/ranked.ts'
import { itemMaker, runScreen } from '../../../screening/screened.ts'
import { STRATEGIES, strategyNamed } from '../../../screening/strategies.ts'
import { SCREENING_TEXTS } from '../../../screening/texts.ts'
import { type ScreeningTexts, STRATEGY_IDS } from '../../../screening/words.ts'
import { pageTexts } from './texts.ts'

const app = router(analysisEnvelope)
export const ROOT = '/api/v1/alphasift'
export const common = { scope: 'analysis', bodyLimit: 'standard', tag: 'Screening' } as const
export const off = { 403: { description: 'Screening is switched off' } }
export const Free = z.record(z.string(), z.unknown())

export const wordsOf = (c: Context<AppEnv>) => SCREENING_TEXTS[callerLanguage(c)]

/** Why there are no figures; null if there can be. */
function whyNot(c: Context<AppEnv>): string | null {
  const { screening, marketData } = config(c.env)
  const { state } = wordsOf(c)
  if (screening.markets.length === 0) return state.off
  return marketData.some((name) => name !== 'sample') ? null : state.sampleOnly
}

export async function mustBeShown(c: Context<AppEnv>): Promise<void> {
  const isOffered = config(c.env).screening.markets.length > 0
  if (isOffered && (await isScreeningShown(c.env.DB, c.get('principal').owner))) return
  throw new AppError('forbidden', pageTexts(callerLanguage(c)).screeningOff, { word: 'alphasift_disabled' })
}

endpoint(
  app,
  {
    ...common,
    method: 'get',
    path: `${ROOT}/status`,
    limit: 'reads',
    summary: 'Whether the analysis page shows screening, and whether it can',
    replies: {
      200: {
        description: 'Its state',
        schema: z
          .object({
            enabled: z.boolean().describe('Its owner has switched it on'),
            available: z.boolean().describe('Figures are kept here'),
            diagnostics: z.object({ reason: z.string().nullable().describe('Why not; null') }).describe('Why not'),
          })
          .openapi('ScreeningStatus'),
      },
    },
  },
  async (c) => {
    const reason = whyNot(c)
    const isShown = await isScreeningShown(c.env.DB, c.get('principal').owner)
    const isOffered = config(c.env).screening.markets.length > 0
    const said = reason ?? (isShown ? null : pageTexts(callerLanguage(c)).screeningOff)
    return c.json({ enabled: isShown && isOffered, available: reason === null, diagnostics: { reason: said } })
  },
)

endpoint(
  app,
  {
    ...common,
    method: 'get',
    path: `${ROOT}/strategies`,
    limit: 'reads',
    summary: 'The strategies of the service, as the analysis page reads them',
    replies: {
      200: {
        description: 'Each of them',
        schema: z.object({ strategies: z.array(Free).describe('In a fixed order') }).openapi('PageStrategies'),
      },
      ...off,
    },
  },
  async (c) => {
    await mustBeShown(c)
    const words = wordsOf(c).strategies
    const strategies = STRATEGIES.map(({ id, version, category }) => {
      const { title, description } = words[id]
      return { id, name: title, title, description, category, tag: category, tags: [category], version }
    })
    return c.json({ strategies })
  },
)

const MOST_RANKED = 1_000

endpoint(
  app,
  {
    ...common,
    method: 'post',
    path: `${ROOT}/screen/tasks`,
    limit: 'screens',
    summary: 'Run a strategy over the kept figures; the answer is stored for a week, the last twenty of an owner',
    body: {
      required: true,
      schema: z
        .object({
          market: z.string().max(16).describe('The market').default('cn'),
          strategy: z.string().max(64).describe('The strategy').default('dual_low'),
          max_results: laxInt({ min: 1, max: 100 }).describe('How many candidates at most').default(20),
        })
        .openapi('PageScreenRequest'),
    },
    replies: {
      202: {
        description: 'The run, which is over already',
        schema: z.object({ task_id: z.string().describe('The run'), message: z.string().describe('In words') }),
      },
      400: { description: 'No such strategy or market' },
      ...off,
    },
  },
  async (c, { body }) => {
    await mustBeShown(c)
    const { page } = wordsOf(c)
    const refusal = (message: string) => new AppError('bad_request', message, { word: 'alphasift_screen_rejected' })
    const strategy = strategyNamed(body.strategy)
    if (strategy === null) throw refusal(page.unknownStrategy(STRATEGY_IDS.join(', ')))
    const market = config(c.env).screening.markets.find((one) => one === body.market)
    if (market === undefined) throw refusal(page.badMarket)
    const result = await screenedByStrategy(c, { strategy, market, most: body.max_results })
    const id = hexId()
    const { owner } = c.get('principal')
    const now = Date.now()
    await noteScreening(c.env.DB, owner, { now })
    const stored = { id, strategy: strategy.id, market, result: JSON.stringify(result), createdAt: now }
    await savePageScreening(c.env.DB, owner, stored)
    return c.json({ task_id: id, message: page.queued }, 202)
  },
)

type Question = {
  strategy: (typeof STRATEGIES)[number]
  market: (typeof MARKETS)[number]
  most: number
}

async function screenedByStrategy(c: Context<AppEnv>, { strategy, market, most }: Question) {
  const words = wordsOf(c)
  const { page } = words
  const now = Date.now()
  const read = readScreen({ ...strategy.screen, markets: [market] }, words.filter)
  if (!read.ok) throw new Error(read.problem)
  const window = { limit: MOST_RANKED, offset: 0 }
  const { counts, rows } = await runScreen(c.env.DB, read.screen, { now, window })
  const best = ranked(rows.map(itemMaker(now)), strategy.factors).slice(0, most)
  const notKept = counts.listings - counts.kept
  const warnings = [
    page.counts(counts.listings, counts.kept, counts.matched),
    ...(counts.unknown > 0 ? [page.unknown(counts.unknown)] : []),
    ...(counts.tooOld > 0 ? [page.tooOld(counts.tooOld)] : []),
    ...(notKept > 0 ? [page.notKept(notKept)] : []),
    ...(counts.matched > MOST_RANKED ? [page.notWhole(counts.matched - MOST_RANKED)] : []),
  ]
  return {
    ...{
      run_id: `${strategy.id}-${strategy.version}`,
      snapshot_count: counts.kept,
      after_filter_count: counts.matched,
    },
    ...{ candidate_count: best.length, llm_ranked: null, llm_coverage: null, llm_parse_errors: [], warnings },
    ...{ source_errors: [], dsa_enrichment: { requested_count: 0, enriched_count: 0 } },
    candidates: best.map((one, i) => candidateOf(c, one, i + 1)),
  }
}

function candidateOf(c: Context<AppEnv>, { item, score, factors }: Ranked, rank: number) {
  const { page, fields } = wordsOf(c)
  const { figures } = item
  const parts = Object.keys(factors).map((name) => `${fields[name as FieldName][0]} ${shown(figures[name] ?? null)}`)
  const checkNames = textsOf(callerLanguage(c)).consistency.check
  const marks = item.checks.map((check) => checkNames[check as CheckKey] ?? check)
  const days = [...new Set([item.session, item.bars_session].filter((day) => day !== null))].join(', ')
  return {
    ...{ rank, code: item.code, name: item.name, score, reason: page.reason(parts.join(' · ')) },
    ...{ risk_level: riskOf(figures.volatility_60d_pct ?? null), risk_flags: marks },
    ...{ price: figures.price ?? null, change_pct: figures.change_pct ?? null, amount: figures.amount ?? null },
    // By title, because the page shows the names unchanged.
    ...{ industry: item.industry ?? '', factor_scores: titled(factors, fields) },
    ...{ llm_score: null, llm_confidence: null, llm_sector: '', llm_theme: '', llm_thesis: '' },
    ...{ llm_watch_items: [], llm_catalysts: [], llm_risks: [] },
    dsa_context: { warnings: [page.ofSession(days), ...(marks.length > 0 ? [page.marks(marks.join(', '))] : [])] },
    ...{ dsa_news: [], dsa_analysis_summary: '', post_analysis_summaries: {} },
    raw: { session: item.session, bars_session: item.bars_session, source: item.source, figures },
  }
}

const titled = (factors: Record<string, number>, names: ScreeningTexts['fields']): Record<string, number> =>
  Object.fromEntries(Object.entries(factors).map(([name, points]) => [names[name as FieldName][0], points]))

const shown = (value: number | null): string => (value === null ? '–' : String(Number(value.toFixed(2))))

const CALM = 25
const WILD = 45

/** Based on volatility alone; unknown if that is missing. */
function riskOf(volatility: number | null): string {
  if (volatility === null) return 'unknown'
  return volatility < CALM ? 'low' : volatility < WILD ? 'medium' : 'high'
}

endpoint(
  app,
  {
    ...common,
    method: 'get',
    path: `${ROOT}/screen/tasks/{task_id}`,
    limit: 'reads',
    summary: 'A run of the analysis page with what it found',
    params: z.object({ task_id: z.string().max(64).describe('The run') }),
    replies: {
      200: {
        description: 'The run',
        schema: z
          .object({
            task_id: z.string().describe('The run'),
            status: z.literal('completed').describe('Always completed'),
            progress: z.literal(100).describe('Always 100'),
            message: z.string().describe('In words'),
            error: z.string().nullable().describe('Why it failed; null'),
            created_at: z.string().describe('When it ran'),
            result: Free.describe('What it found'),
          })
          .openapi('PageScreenTask'),
      },
      404: { description: 'No such run' },
      ...off,
    },
  },
  async (c, { params: { task_id } }) => {
    await mustBeShown(c)
    const run = await findPageScreening(c.env.DB, c.get('principal').owner, task_id)
    const { page } = wordsOf(c)
    if (run === null) throw new AppError('not_found', page.noTask, { word: 'alphasift_screen_task_not_found' })
    return c.json({
      ...{ task_id: run.id, status: 'completed' as const, progress: 100 as const, message: page.done, error: null },
      created_at: isoMicros(run.createdAt),
      result: JSON.parse(run.result) as Record<string, unknown>,
    })
  },
)

endpoint(
  app,
  {
    ...common,
    method: 'post',
    path: `${ROOT}/install`,
    limit: 'writes',
    summary: 'Refused: nothing is installed by request',
    replies: { 403: { description: 'Always' } },
  },
  (c) => {
    const word = 'alphasift_install_access_denied'
    throw new AppError('forbidden', pageTexts(callerLanguage(c)).screeningOff, { word })
  },
)

export { app as pageScreening }
