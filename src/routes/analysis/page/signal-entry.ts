// Creates signals, and shows what a report would advise under another profile.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { bringUpToDate } from '../../../alerts/signals.ts'
import {
  defaultHorizon,
  expiryOf,
  HORIZONS,
  planQuality,
  type ReportOfSignal,
  type SignalWords,
  signalOfReport,
} from '../../../analysis/report/signal.ts'
import { Action } from '../../../analysis/schemas.ts'
import { findAnalysis } from '../../../db/analyses.ts'
import { addSignals, type NewSignal, reportForSignal, type Signal, signalByIdentity } from '../../../db/signals.ts'
import { stockNameStore } from '../../../db/stock-names.ts'
import type { AppEnv } from '../../../http/app-env.ts'
import { callerLanguage } from '../../../http/caller-language.ts'
import { AppError, analysisEnvelope } from '../../../http/errors.ts'
import { endpoint } from '../../../http/openapi.ts'
import { router } from '../../../http/router.ts'
import { currentNames } from '../../../kits/market-names/index.ts'
import { must } from '../../../lib/assert.ts'
import { isoMicros, isoMicrosOf } from '../../../lib/clock.ts'
import { sha256Hex } from '../../../lib/crypto.ts'
import { laxBool, laxInt, laxNumber } from '../../../lib/lax.ts'
import { localDate, startedSession } from '../../../market/calendar.ts'
import { resolveInput } from '../../../market/resolve.ts'
import * as wire from './signal-schemas.ts'
import { type PageTexts, pageTexts, type SignalRule } from './texts.ts'

const app = router(analysisEnvelope)

const MOST_TEXT = 4_000
const text = (words: string) =>
  z
    .union([z.string().max(MOST_TEXT), z.array(z.string().max(500)).max(20)])
    .nullish()
    .describe(`${words}: a text, or a list of sentences`)
const price = (words: string) => laxNumber({ min: 0, max: 1e12 }).nullish().describe(words)
const short = (words: string) => z.string().max(64).nullish().describe(words)

const SignalInput = z
  .object({
    stock_code: z.string().min(1).max(100).describe('The listing, in any spelling'),
    stock_name: z.string().max(100).nullish().describe('Its name'),
    market: z.enum(wire.MARKETS).nullish().describe('Where it trades; what the code says otherwise is refused'),
    source_type: z.enum(wire.SOURCES).describe('`analysis` and `market_review` are made by reports').default('manual'),
    source_agent: short('Which agent advises it'),
    source_report_id: laxInt({ min: 1 }).nullish().describe('A report of the owner that it goes back to'),
    trace_id: z.string().max(128).nullish().describe('An id of your choice: another signal under it is the same one'),
    market_phase: wire.Phase.nullish().describe('The part of the session that it is made in'),
    trigger_source: short('What set it off'),
    decision_profile: z.enum(wire.PROFILES).nullish().describe('How bold it is'),
    action: Action.describe('What it advises'),
    action_label: short('The same in words'),
    confidence: laxNumber({ min: 0, max: 1 }).nullish().describe('From 0 to 1'),
    score: laxNumber({ min: 0, max: 100 }).nullish().describe('From 0, sell, to 100, buy'),
    horizon: z.enum(HORIZONS).nullish().describe('How long it is meant for; three sessions by default'),
    entry_low: price('Buy from this price'),
    entry_high: price('Up to this one'),
    stop_loss: price('Give up at this price'),
    target_price: price('Sell at this price'),
    reason: text('Why'),
    catalyst_summary: text('What speaks for it'),
    watch_conditions: text('What to watch'),
    risk_summary: text('What speaks against it'),
    invalidation: text('What would make it wrong'),
    evidence: z.unknown().optional().describe('Shown as it is'),
    data_quality_summary: z.unknown().optional().describe('Shown as it is'),
    expires_at: z.string().nullish().describe('ISO 8601; by default the end of its last session'),
    metadata: z.record(z.string(), z.unknown()).nullish().describe('Shown as it is'),
  })
  .openapi('DecisionSignalInput')
type SignalInput = z.infer<typeof SignalInput>

const posting = { method: 'post', scope: 'analysis', limit: 'writes', bodyLimit: 'standard', tag: 'Signals' } as const

endpoint(
  app,
  {
    ...posting,
    path: '/api/v1/decision-signals',
    summary: 'Enter a signal; the same one is entered once',
    body: { required: true, schema: SignalInput },
    replies: {
      200: {
        description: 'The signal, and whether it is new',
        schema: z
          .object({
            item: wire.SignalItem.describe('As it is stored'),
            created: z.boolean().describe('False where it was there already'),
          })
          .openapi('DecisionSignalEntered'),
      },
      400: { description: 'A source that only reports have, an unknown stock, another market, or no such report' },
    },
  },
  async (c, { body }) => {
    const { owner } = c.get('principal')
    await bringUpToDate(c.env.DB, owner, Date.now())
    const entered = await enteredSignal(c, body)
    const before = await signalByIdentity(c.env.DB, owner, entered.identity)
    // A signal that was sent without an id and is no longer active may be created again.
    const isAgain = before !== null && before.status !== 'active' && !isNamed(body)
    const signal = isAgain ? { ...entered, identity: `${entered.identity} ${before.id}` } : entered
    await addSignals(c.env.DB, owner, [signal])
    const item = must(await signalByIdentity(c.env.DB, owner, signal.identity), 'a signal that was just entered')
    return c.json({ item: wire.signalItem(item), created: before === null || isAgain })
  },
)

const isNamed = ({ trace_id, source_report_id }: SignalInput): boolean => Boolean(trace_id) || Boolean(source_report_id)

const refusal = (c: Context<AppEnv>, say: (texts: PageTexts['signals']) => string, word?: string): AppError =>
  new AppError('bad_request', say(pageTexts(callerLanguage(c)).signals), word === undefined ? {} : { word })

const MOST_FREE_FORM = 16_384

async function enteredSignal(c: Context<AppEnv>, body: SignalInput): Promise<NewSignal> {
  const { owner } = c.get('principal')
  if (body.source_type === 'analysis' || body.source_type === 'market_review') throw refusal(c, (say) => say.byReports)
  const resolution = resolveInput(body.stock_code.trim(), await currentNames(stockNameStore(c.env.DB)))
  if (!resolution?.ok || resolution.instrument.kind === 'index') throw refusal(c, (say) => say.noStock)
  const { key, market } = resolution.instrument
  if (body.market && body.market !== market) throw refusal(c, (say) => say.otherMarket)
  const reportId = body.source_report_id ?? null
  if (reportId !== null && (await findAnalysis(c.env.DB, owner, String(reportId))) === null) {
    throw refusal(c, (say) => say.noReport)
  }
  const words = wordsOf(body)
  if (JSON.stringify(words).length > MOST_FREE_FORM) throw refusal(c, (say) => say.tooLarge)
  const now = Date.now()
  const horizon = body.horizon ?? defaultHorizon(body.action, body.market_phase ?? null)
  const prices = {
    ...{ entryLow: body.entry_low ?? null, entryHigh: body.entry_high ?? null },
    ...{ stopLoss: body.stop_loss ?? null, targetPrice: body.target_price ?? null },
  }
  return {
    ...{ owner, identity: await identityOf(body, key, horizon), key, market, stockCode: key },
    ...{ stockName: body.stock_name ?? null, sourceType: body.source_type, sourceAgent: body.source_agent ?? null },
    ...{ sourceReportId: reportId, traceId: body.trace_id ?? null, triggerSource: body.trigger_source ?? 'api' },
    ...{ decisionProfile: body.decision_profile ?? null, marketPhase: body.market_phase ?? null },
    ...{ action: body.action, actionLabel: body.action_label ?? null, price: null, horizon },
    ...{ confidence: body.confidence ?? null, score: body.score ?? null, ...prices, unscorable: null },
    planQuality: planQuality({ ...prices, ...words }),
    ...{ madeOn: localDate(market, now), anchor: startedSession(market, now), createdAt: isoMicros(now) },
    expiresAt: isoMicrosOf(body.expires_at ?? '') ?? expiryOf(horizon, market, now),
    words: JSON.stringify(words),
  }
}

/** One signal for each report or id, action, horizon and phase; without either, for each body. */
async function identityOf(body: SignalInput, key: string, horizon: string): Promise<string> {
  const { source_type, source_report_id, trace_id, action, market_phase } = body
  const named = [key, source_type, source_report_id ?? null, trace_id ?? null, action, horizon, market_phase ?? null]
  return `entered:${await sha256Hex(JSON.stringify(isNamed(body) ? named : [key, body]))}`
}

function wordsOf(body: SignalInput): SignalWords {
  const joined = (value: string | string[] | null | undefined) => {
    const whole = Array.isArray(value) ? value.join(' ') : (value ?? '')
    return whole.trim() === '' ? null : whole.trim()
  }
  return {
    ...{ reason: joined(body.reason), catalystSummary: joined(body.catalyst_summary) },
    ...{ watchConditions: joined(body.watch_conditions), riskSummary: joined(body.risk_summary) },
    ...{ invalidation: joined(body.invalidation), evidence: body.evidence ?? null },
    ...{ dataQuality: body.data_quality_summary ?? null, metadata: body.metadata ?? null },
  }
}

const LEAST_CONFIDENCE = 0.5

const PREVIEW_EXAMPLE = {
  preview: {
    ...{ action: 'watch', score: 67, confidence: 0.4, horizon: '3d', entry_low: 1390, entry_high: 1425 },
    ...{ stop_loss: 1360, target_price: 1520, reason: null, risk_summary: null, watch_conditions: null },
    invalidation: null,
    metadata: { guardrail_result: { raw_action: 'buy', final_action: 'watch', passed: false } },
  },
  ...{ item: null, created: false, blocked_reason: null },
  warnings: [{ code: 'low_confidence', message: '置信度低于 0.5 或未知，不作为买入', params: {} }],
}

endpoint(
  app,
  {
    ...posting,
    limit: 'reads',
    path: '/api/v1/decision-signals/reassess',
    summary: 'What a report would advise under a profile; arithmetic, no model is asked and nothing is stored',
    body: {
      required: true,
      schema: z
        .object({
          source_report_id: laxInt({ min: 1 }).describe('A report of the owner'),
          decision_profile: z.enum(wire.PROFILES).describe('The profile').default('balanced'),
          persist: laxBool().describe('Has to be false').default(false),
        })
        .openapi('DecisionSignalReassess'),
    },
    example: { reply: PREVIEW_EXAMPLE },
    replies: {
      200: { description: 'The preview', schema: wire.Preview },
      400: { description: 'A market review, a report without advice, or `persist`' },
      404: { description: 'No such report' },
    },
  },
  async (c, { body }) => {
    const texts = pageTexts(callerLanguage(c)).signals
    if (body.persist) throw refusal(c, (say) => say.notStored, 'unsupported_operation')
    const report = await reportForSignal<ReportOfSignal & { reportType: string }>(
      c.env.DB,
      c.get('principal').owner,
      body.source_report_id,
    )
    if (report === null) throw new AppError('not_found', texts.noReport, { word: 'source_report_not_found' })
    if (report.reportType === 'market_review') throw refusal(c, (say) => say.isReview, 'unsupported_report_type')
    const signal = signalOfReport(report)
    if (signal === null) throw refusal(c, (say) => say.noReport, 'unsupported_report_snapshot')
    const broken = rulesBroken(signal, body.decision_profile)
    const action = broken.length === 0 ? signal.action : broken.includes('contradictory_prices') ? 'alert' : 'watch'
    const item = wire.signalItem({ ...signal, id: 1, status: 'active', updatedAt: signal.createdAt })
    return c.json({
      preview: wire.Preview.shape.preview.parse({
        ...item,
        action,
        metadata: {
          guardrail_result: { raw_action: signal.action, final_action: action, passed: broken.length === 0 },
        },
      }),
      item: null,
      created: false as const,
      warnings: broken.map((code) => ({ code, message: texts.rules[code], params: {} })),
      blocked_reason: null,
    })
  },
)

const Quality = z.object({ level: z.string() })

/** The rules of the profile that a purchase violates; other advice violates none. */
function rulesBroken(signal: NewSignal, profile: (typeof wire.PROFILES)[number]): SignalRule[] {
  if (signal.action !== 'buy' && signal.action !== 'add') return []
  const words = JSON.parse(signal.words) as SignalWords
  const quality = Quality.safeParse(words.dataQuality).data?.level ?? 'unknown'
  const isBold = profile === 'aggressive'
  const broken: Record<SignalRule, boolean> = {
    contradictory_prices: isContradictory(signal),
    no_horizon: signal.horizon === null,
    no_way_out: signal.stopLoss === null && words.invalidation === null,
    low_confidence: (signal.confidence ?? 0) < LEAST_CONFIDENCE,
    poor_data: quality === 'poor' || quality === 'unknown',
    no_invalidation: isBold && words.invalidation === null,
    too_long: isBold && signal.horizon === 'long',
  }
  return (Object.keys(broken) as SignalRule[]).filter((rule) => broken[rule])
}

function isContradictory({
  entryLow,
  entryHigh,
  stopLoss,
  targetPrice,
}: Pick<Signal, 'entryLow' | 'entryHigh' | 'stopLoss' | 'targetPrice'>): boolean {
  const [low, high] = [entryLow ?? entryHigh, entryHigh ?? entryLow]
  if (low !== null && high !== null && low > high) return true
  if (stopLoss !== null && low !== null && stopLoss >= low) return true
  if (targetPrice !== null && high !== null && targetPrice <= high) return true
  return stopLoss !== null && targetPrice !== null && stopLoss >= targetPrice
}

export { app as signalEntry }
