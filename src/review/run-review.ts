// One market review, region by region: figures, light, words, payload. A region that fails is named and leaves the others
// alone; a review of which nothing is left fails.

import { within } from '../analysis/deadline.ts'
import type { Narrator } from '../analysis/narrator.ts'
import type { RunHooks } from '../analysis/run-analysis.ts'
import { errorFields, log } from '../lib/log.ts'
import type { Provenance, ProviderRun } from '../market/provider-run.ts'
import { sampleNotice } from '../reports/labels.ts'
import { escapeMarkdown } from '../reports/markdown-text.ts'
import type { ReportLanguage } from '../reports/report.ts'
import { type Gathered, gatherRegion, type ReviewSources } from './gather.ts'
import { type MarketLight, marketLight } from './light.ts'
import type { Reviewed } from './markdown.ts'
import { modelWords } from './model-words.ts'
import { codeNarrative } from './narrative.ts'
import { type MarketPayload, marketPayload, type ReviewPayload } from './payload.ts'
import { REGION_SPECS, type Region } from './regions.ts'
import { type ReviewWords, reviewWords } from './words.ts'

export type ReviewPlan = {
  regions: readonly Region[]
  language: ReportLanguage
  colorScheme: 'green_up' | 'red_up'
}

export type ReviewWorld = {
  sources: ReviewSources
  /** Null: no model is configured. */
  narrator: Narrator | null
  /** For the figures of one region. */
  regionTimeoutMs: number
  /** For the words of one region. */
  modelTimeoutMs: number
}

type Hooks = Pick<RunHooks, 'onStage' | 'signal'> & { onRuns: (runs: readonly ProviderRun[]) => Promise<void> }

export type Review = {
  text: string
  payload: ReviewPayload
  lights: Record<string, MarketLight>
  /** Of the first region. */
  summary: string
  /** Set when figures are sample data. */
  provenance: Provenance | null
  notice: string | null
  model: string | null
  runs: ProviderRun[]
}

export type ReviewResult = { ok: true; review: Review } | { ok: false; reason: string }

type Failed = { region: Region; reason: string }

const FIRST_PROGRESS = 16
const LAST_PROGRESS = 92

export async function runReview(plan: ReviewPlan, world: ReviewWorld, hooks: Hooks): Promise<ReviewResult> {
  const words = reviewWords(plan.language)
  const runs: ProviderRun[] = []
  const reviewed: Reviewed[] = []
  const failed: Failed[] = []
  for (const [i, region] of plan.regions.entries()) {
    const at = (step: number) =>
      FIRST_PROGRESS + Math.floor(((LAST_PROGRESS - FIRST_PROGRESS) * (2 * i + step)) / (2 * plan.regions.length))
    const scope = REGION_SPECS[region].scope[plan.language]
    await stage(hooks, words, { progress: at(0), text: words.stageRegion(scope) })
    const gathered = await gather({ region, plan, world, hooks })
    const told = gathered.ok ? gathered.facts.runs : gathered.runs
    runs.push(...told)
    await hooks.onRuns(told)
    hooks.signal.throwIfAborted()
    if (!gathered.ok) {
      failed.push({ region, reason: gathered.reason })
      continue
    }
    await stage(hooks, words, { progress: at(1), text: `${scope}${words.colon}${words.stage.narrating}` })
    reviewed.push(await written(gathered.facts, world, hooks))
  }
  const reasons = failed.map(({ region, reason }) =>
    words.regionFailed(REGION_SPECS[region].scope[plan.language], reason),
  )
  if (reviewed.length === 0) return { ok: false, reason: words.noReport(reasons.join('; ')) }
  return { ok: true, review: assemble(plan, { reviewed, failed, reasons, runs, now: world.sources.clock() }) }
}

async function stage(
  { onStage, signal }: Hooks,
  words: ReviewWords,
  { progress, text }: { progress: number; text: string },
) {
  signal.throwIfAborted()
  await onStage(progress, `${words.title}：${text}`, text)
  signal.throwIfAborted()
}

type Gather = { region: Region; plan: ReviewPlan; world: ReviewWorld; hooks: Hooks }

async function gather({ region, plan, world, hooks }: Gather): Promise<Gathered> {
  const words = reviewWords(plan.language)
  const { language } = plan
  try {
    const bounded = await within({ timeoutMs: world.regionTimeoutMs, signal: hooks.signal }, (signal) =>
      gatherRegion({ region, language, signal }, world.sources),
    )
    if (bounded.ok) return bounded.value
    return { ok: false, reason: words.timedOut(Math.round(world.regionTimeoutMs / 1000)), runs: [] }
  } catch (error) {
    hooks.signal.throwIfAborted()
    log.error('review.region_failed', { region, ...errorFields(error) })
    return { ok: false, reason: words.noIndex, runs: [] }
  }
}

async function written(
  facts: Reviewed['facts'],
  { narrator, modelTimeoutMs }: ReviewWorld,
  { signal }: Hooks,
): Promise<Reviewed> {
  const made = codeNarrative(facts)
  const narrative =
    narrator === null ? made : await modelWords(facts, made, { narrator, signal, timeoutMs: modelTimeoutMs })
  return { facts, light: marketLight(facts), narrative }
}

type Parts = { reviewed: Reviewed[]; failed: Failed[]; reasons: string[]; runs: ProviderRun[]; now: number }

function assemble(plan: ReviewPlan, { reviewed, failed, reasons, runs, now }: Parts): Review {
  const { language, colorScheme } = plan
  const words = reviewWords(language)
  const noticeOf = ({ facts }: Reviewed) => facts.provenance && sampleNotice(facts.provenance, language)
  const markets = reviewed.map((one) => marketPayload(one, { colorScheme, generatedAt: now, notice: noticeOf(one) }))
  const leftOut = reasons.length === 0 ? [] : [`## ${words.failedTitle}\n\n${reasons.map(listed).join('\n')}`]
  const text = `${[...markets.map(({ markdown_report }) => markdown_report), ...leftOut].join('\n\n')}\n`
  const lights = reviewed.flatMap(({ light }) => (light === null ? [] : [[light.region, light] as const]))
  const sample = reviewed.find(({ facts }) => facts.provenance !== null)
  return {
    text,
    payload: payloadOf(plan, markets, { failed, text }),
    lights: Object.fromEntries(lights),
    summary: reviewed[0]?.narrative.texts.overview ?? '',
    provenance: sample?.facts.provenance ?? null,
    notice: sample === undefined ? null : noticeOf(sample),
    model: reviewed.find(({ narrative }) => narrative.model !== null)?.narrative.model ?? null,
    runs,
  }
}

const listed = (reason: string): string => `- ${escapeMarkdown(reason)}`

function payloadOf(
  { regions, language }: ReviewPlan,
  markets: MarketPayload[],
  { failed, text }: { failed: Failed[]; text: string },
): ReviewPayload {
  const [only] = markets
  if (only !== undefined && regions.length === 1) return { ...only, markdown_report: text }
  const words = reviewWords(language)
  return {
    version: 1,
    kind: 'market_review',
    region: regions.join(','),
    language,
    title: words.dated(markets.reduce((newest, { date }) => (date > newest ? date : newest), '')),
    root_title: words.title,
    markets: Object.fromEntries(markets.map((market) => [market.region, market])),
    missing_regions: failed.map(({ region, reason }) => ({ region, reason })),
    markdown_report: text,
  }
}
