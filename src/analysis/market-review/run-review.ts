// A market review as a queued task: made region by region in four steps (figures, light, texts, payload), with progress
// reports, then saved. A region that fails is named and does not affect the others; if all fail, the review fails.

import type { Clock } from '../../lib/clock.ts'
import { errorFields, log } from '../../lib/log.ts'
import type { ProviderRun } from '../../market/bars.ts'
import { STAGE_PROGRESS } from '../codes.ts'
import type { Ctx } from '../ctx.ts'
import { withTimeout } from '../ctx.ts'
import { storedDiagnostics } from '../diagnostics.ts'
import { providerStep, type RunHooks, stepId } from '../flow/live.ts'
import { providerNodes } from '../flow/run-flow.ts'
import { escapeMarkdown } from '../report/render/markdown-text.ts'
import { type Save, savePatiently } from '../run/run-analysis.ts'
import type { ReportLanguage } from '../schemas.ts'
import { type Outcome, REVIEW_CODE, type RunJob } from '../task.ts'
import { textsOf } from '../texts/book.ts'
import { sampleNotice } from '../texts/format.ts'
import { modelComment, NO_COMMENT } from './comment.ts'
import { type Gathered, gatherRegion, type ReviewDeps } from './gather.ts'
import { marketLight } from './judge.ts'
import type { Reviewed } from './markdown.ts'
import { type MarketPayload, marketPayload, type PayloadOptions, type Review, type ReviewPayload } from './payload.ts'
import { reviewRecord } from './record.ts'
import { lenientRegions, REGION_SPECS, type Region } from './regions.ts'
import { codeNarrative } from './write.ts'

type Run = { hooks: RunHooks; clock: Clock; save: Save }

export async function workReview(job: RunJob, deps: ReviewDeps, { hooks, clock, save }: Run): Promise<Outcome> {
  const { language, region } = job.request
  const texts = textsOf(language).review
  const ctx = reviewCtx(job, hooks, clock)
  await ctx.stage({ progress: STAGE_PROGRESS.preparing, text: texts.stage.preparing })
  const result = await runReview(lenientRegions(region ?? ''), deps, ctx)
  if (!result.ok) return { ok: false, error: result.reason }
  await ctx.stage({ progress: STAGE_PROGRESS.saving, text: texts.stage.saving })
  // A stopped run must not save a report that nobody waits for.
  if (ctx.signal.aborted) return { ok: false, error: textsOf(language).task.notSaved }
  const record = reviewRecord(result.review, job, clock())
  const saved = await savePatiently(save, record, 'review.save_failed')
  return { ok: true, stockName: texts.title, ...(saved ? {} : { unsaved: JSON.stringify(record) }) }
}

function reviewCtx(job: RunJob, { onStage, onSteps, signal }: RunHooks, clock: Clock): Ctx {
  const { language } = job.request
  const { title } = textsOf(language).review
  return {
    language,
    clock,
    signal,
    stage: ({ progress, text }) => onStage(progress, `${title}：${text}`, text),
    tried: stepTeller(job, onSteps),
  }
}

function stepTeller(job: RunJob, onSteps: RunHooks['onSteps']): Ctx['tried'] {
  const told: ProviderRun[] = []
  return async (runs: readonly ProviderRun[]) => {
    const before = told.length
    told.push(...runs)
    // All attempts are numbered together: a second request to the same source for another region is another step.
    const nodes = providerNodes(storedDiagnostics({ ...job, stockCode: REVIEW_CODE }, told).provider_runs).slice(before)
    const steps = nodes.map((node, i) => providerStep(stepId(job, before + i + 1), node))
    if (steps.length > 0) await onSteps(steps)
  }
}

export type ReviewResult = { ok: true; review: Review } | { ok: false; reason: string }

type Failed = { region: Region; reason: string }

const FIRST_PROGRESS = 16
const LAST_PROGRESS = 92

export async function runReview(regions: readonly Region[], deps: ReviewDeps, ctx: Ctx): Promise<ReviewResult> {
  const texts = textsOf(ctx.language).review
  const runs: ProviderRun[] = []
  const reviewed: Reviewed[] = []
  const failed: Failed[] = []
  for (const [i, region] of regions.entries()) {
    const at = (step: number) =>
      FIRST_PROGRESS + Math.floor(((LAST_PROGRESS - FIRST_PROGRESS) * (2 * i + step)) / (2 * regions.length))
    const scope = REGION_SPECS[region].scope[ctx.language]
    await stage(ctx, at(0), texts.stageRegion(scope))
    const gathered = await gather(region, deps, ctx)
    const told = gathered.ok ? gathered.facts.runs : gathered.runs
    runs.push(...told)
    await ctx.tried(told)
    ctx.signal.throwIfAborted()
    if (!gathered.ok) {
      failed.push({ region, reason: gathered.reason })
      continue
    }
    await stage(ctx, at(1), `${scope}${texts.colon}${texts.stage.narrating}`)
    reviewed.push(await written(gathered.facts, deps, ctx))
  }
  const reasons = failed.map(({ region, reason }) =>
    texts.regionFailed(REGION_SPECS[region].scope[ctx.language], reason),
  )
  if (reviewed.length === 0) return { ok: false, reason: texts.noReport(reasons.join('; ')) }
  const options = { colorScheme: deps.colorScheme, generatedAt: ctx.clock(), language: ctx.language }
  return { ok: true, review: assemble(regions, { reviewed, failed, reasons, runs, options }) }
}

async function stage({ stage: tell, signal }: Ctx, progress: number, text: string): Promise<void> {
  signal.throwIfAborted()
  await tell({ progress, text })
  signal.throwIfAborted()
}

async function gather(region: Region, deps: ReviewDeps, ctx: Ctx): Promise<Gathered> {
  const texts = textsOf(ctx.language).review
  const { regionMs } = deps.deadlines
  try {
    const bounded = await withTimeout({ timeoutMs: regionMs, signal: ctx.signal }, (signal) =>
      gatherRegion(region, deps, { ...ctx, signal }),
    )
    if (bounded.ok) return bounded.value
    return { ok: false, reason: texts.timedOut(Math.round(regionMs / 1000)), runs: [] }
  } catch (error) {
    ctx.signal.throwIfAborted()
    log.error('review.region_failed', { region, ...errorFields(error) })
    return { ok: false, reason: texts.noIndex, runs: [] }
  }
}

async function written(facts: Reviewed['facts'], { narrator, deadlines }: ReviewDeps, ctx: Ctx): Promise<Reviewed> {
  const comment =
    narrator === null ? NO_COMMENT : await modelComment(facts, { narrator, timeoutMs: deadlines.modelMs }, ctx)
  return { facts, light: marketLight(facts), narrative: codeNarrative(facts), comment }
}

type Outcomes = {
  reviewed: Reviewed[]
  failed: Failed[]
  reasons: string[]
  runs: ProviderRun[]
  options: Omit<PayloadOptions, 'notice'> & { language: ReportLanguage }
}

function assemble(regions: readonly Region[], { reviewed, failed, reasons, runs, options }: Outcomes): Review {
  const { language } = options
  const words = textsOf(language).review
  const noticeOf = ({ facts }: Reviewed) => facts.provenance && sampleNotice(facts.provenance, language)
  const markets = reviewed.map((one) => marketPayload(one, { ...options, notice: noticeOf(one) }))
  const leftOut = reasons.length === 0 ? [] : [`## ${words.failedTitle}\n\n${reasons.map(listed).join('\n')}`]
  const text = `${[...markets.map(({ markdown_report }) => markdown_report), ...leftOut].join('\n\n')}\n`
  const lights = reviewed.flatMap(({ light }) => (light === null ? [] : [[light.region, light] as const]))
  const sample = reviewed.find(({ facts }) => facts.provenance !== null)
  const checks = checksOf(reviewed, words.colon)
  return {
    text,
    payload: payloadOf({ regions, language }, markets, { failed, text }),
    lights: Object.fromEntries(lights),
    summary: [checks, reviewed[0]?.narrative.texts.overview ?? ''].filter((part) => part !== null).join(' '),
    checks,
    provenance: sample?.facts.provenance ?? null,
    notice: sample === undefined ? null : noticeOf(sample),
    model: reviewed.find(({ comment }) => comment.model !== null)?.comment.model ?? null,
    modelRuns: reviewed.flatMap(({ comment }) => comment.runs),
    runs,
  }
}

/** The warnings of the checks, index by index; null when there are none. */
function checksOf(reviewed: readonly Reviewed[], colon: string): string | null {
  const told = reviewed.flatMap(({ facts: { indices, overnight } }) =>
    [...indices, ...overnight].flatMap(({ name, checks }) => (checks === null ? [] : [`${name}${colon}${checks}`])),
  )
  return told.length === 0 ? null : [...new Set(told)].join(' ')
}

const listed = (reason: string): string => `- ${escapeMarkdown(reason)}`

function payloadOf(
  { regions, language }: { regions: readonly Region[]; language: ReportLanguage },
  markets: MarketPayload[],
  { failed, text }: { failed: Failed[]; text: string },
): ReviewPayload {
  const [only] = markets
  if (only !== undefined && regions.length === 1) return { ...only, markdown_report: text }
  const words = textsOf(language).review
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
