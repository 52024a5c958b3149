// The first step: everything that is fetched for one report. Without daily bars in time there is no analysis; without a
// quote the last close is used, and the report mentions all other missing data.

import { errorFields, log } from '../../lib/log.ts'
import { type Bar, type Fetched, type ProviderRun, providerRun, type Quote } from '../../market/bars.ts'
import { benchmarkOf } from '../../market/benchmarks.ts'
import { marketPhaseSummary } from '../../market/calendar.ts'
import type { Dividend } from '../../market/company.ts'
import { examinePrices, isInDoubt, type Prices } from '../../market/consistency/examine.ts'
import { type SameTimeVolume, sameTimeVolume, type VolumePart } from '../../market/day-volumes.ts'
import type { NewsResult } from '../../news/search.ts'
import type { Mood } from '../codes.ts'
import { announce, type Bounded, type Ctx, enter, RunEnded, withTimeout } from '../ctx.ts'
import type { EvidenceRow } from '../evidence/vocabulary.ts'
import type { ReportLanguage } from '../schemas.ts'
import { type Company, companyRuns, gatherCompany, withoutCompany } from './company.ts'
import type { AnalysisInput, Deps } from './input.ts'
import { type CheckedView, checkedView, isWithoutTrade } from './market-view.ts'
import type { PreviousReport } from './previous.ts'
import { displayNameOf, knownName } from './stock-name.ts'

export type Inputs = AnalysisInput &
  CheckedView & {
    language: ReportLanguage
    now: number
    fetched: Prices
    /** The quote of another source, if one was requested. */
    second: Fetched<Quote> | null
    /** Null when no source has it. */
    stockName: string | null
    displayName: string
    company: Company
    /** Intraday volumes; null when they were not requested. */
    dayVolumes: Fetched<VolumePart[]> | null
    /**
     * The volume so far compared with the same time of earlier sessions; null when no session runs or no source has
     * intraday volumes.
     */
    sameTime: SameTimeVolume | null
    /** Bars of the index of its market; null when they were not requested. */
    indexBars: Fetched<Bar[]> | null
    /** Null when no search is configured. */
    news: NewsResult | null
    previous: PreviousReport | null
    mood: Mood | null
    /** Null while nothing was computed. */
    evidenceRows: EvidenceRow[] | null
  }

/** Throws `RunEnded` when a report is impossible, or the run was stopped. */
export async function gather(input: AnalysisInput, deps: Deps, ctx: Ctx): Promise<Inputs> {
  await enter(ctx, 'preparing')
  const [bars, quote] = await Promise.all([barsOf(deps, ctx), quoteOf(deps, ctx)])
  const fetched: Prices = { bars: bars.ok ? bars.value : { ok: false, runs: [] }, quote }
  const now = ctx.clock()
  const failure = failureOf(bars, fetched, ctx)
  if (failure !== null) throw new RunEnded(failure, { stage: 'daily_bars', runs: priceRuns(fetched) })
  await enter(ctx, 'quote')
  await enter(ctx, 'trend')
  const provenance = fetched.bars.ok ? fetched.bars.provenance : quote.ok ? quote.provenance : null
  const beside = await gatherBeside({ ...input, provenance, fetched, now }, deps, ctx)
  const dividends = beside.company.fundamentals.value?.dividends ?? null
  const second = await secondQuote(input, fetched, { deps, ctx, dividends, now })
  const view = checkedView(input, fetched, { dividends, now, ...(second === undefined ? {} : { second }) })
  await enter(ctx, 'context')
  const { language } = ctx
  const stockName = knownName(input.names, view.quote?.name ?? null, { language, instrument: input.instrument })
  const displayName = displayNameOf(stockName, language)
  const sameTime = sameTimeOf(input, view, { now, parts: beside.dayVolumes })
  const told = { language, now, fetched, second: second ?? null, stockName, displayName }
  return { ...input, ...view, ...beside, ...told, sameTime }
}

type Doubt = { deps: Deps; ctx: Ctx; dividends: readonly Dividend[] | null; now: number }

/** Another source's quote for a doubtful price; undefined when there is no doubt, null when no source answers. */
async function secondQuote(
  { instrument }: AnalysisInput,
  fetched: Prices,
  { deps, ctx, ...beside }: Doubt,
): Promise<Fetched<Quote> | null | undefined> {
  const { bars, quote } = fetched
  const isSample = (bars.ok && bars.provenance !== null) || (quote.ok && quote.provenance !== null)
  if (isSample || !isInDoubt(examinePrices(instrument, fetched, beside).consistency)) return undefined
  const { otherQuote } = deps
  if (otherQuote === null) return null
  const known = [bars, quote].flatMap((one) => (one.ok ? [one.provider] : []))
  const asked = await orNull('second_quote', () =>
    withTimeout({ timeoutMs: deps.deadlines.quoteMs, signal: ctx.signal }, (signal) => otherQuote(known, signal)),
  )
  return asked?.ok ? asked.value : null
}

async function barsOf({ dailyBars, deadlines }: Deps, ctx: Ctx): Promise<Bounded<Fetched<Bar[]>>> {
  const bars = await withTimeout({ timeoutMs: deadlines.dailyBarsMs, signal: ctx.signal }, dailyBars)
  if (bars.ok && bars.value.ok) await announce(ctx, 'daily_bars', { count: bars.value.value.length })
  return bars
}

/** A quote that is too late counts as failed: a report can be made from the bars alone. */
async function quoteOf({ quote: ask, deadlines: { quoteMs } }: Deps, { clock, signal }: Ctx): Promise<Fetched<Quote>> {
  const startedAt = clock()
  const quote = await withTimeout({ timeoutMs: quoteMs, signal }, ask)
  if (quote.ok) return quote.value
  const run = providerRun({ dataType: 'realtime_quote', provider: 'all', operation: 'quote' }, startedAt, {
    latencyMs: clock() - startedAt,
    errorType: quote.reason,
    errorMessage: quote.reason === 'deadline' ? `no quote within ${quoteMs} ms` : 'cancelled',
  })
  return { ok: false, runs: [run] }
}

/** Why no report can be made from the fetched data, or null. */
function failureOf(bars: Bounded<unknown>, fetched: Prices, { signal }: Ctx): RunEnded['reason'] | null {
  if (signal.aborted) return 'cancelled'
  if (!bars.ok) return bars.reason
  const hasBars = fetched.bars.ok && fetched.bars.value.length > 0
  return hasBars || fetched.quote.ok ? null : 'no_data'
}

type SideInputs = Pick<Inputs, 'company' | 'dayVolumes' | 'indexBars' | 'news' | 'previous' | 'mood' | 'evidenceRows'>
type Subject = AnalysisInput & Pick<Inputs, 'provenance' | 'fetched' | 'now'>

/**
 * The data besides the prices: the company, the news, the previous report. Any of it may fail, and a report is made all
 * the same; only a stop ends the run here.
 */
async function gatherBeside(view: Subject, deps: Deps, ctx: Ctx): Promise<SideInputs> {
  // All begin now, in parallel. The volumes first: at a source with a queue, the company data takes five turns.
  const volumes = dayVolumesOf(view, deps, ctx)
  const [asked, search] = [companyOf(view, deps, ctx), newsOf(deps, ctx)]
  const index = indexOf(view, deps, ctx)
  const before = Promise.all([
    orNull('previous', () => deps.previous()),
    orNull('mood', () => deps.mood()),
    orNull('evidence', () => deps.evidenceRows(view.provenance !== null)),
  ])
  const company = await asked
  await ctx.tried(companyRuns(company))
  const goesOn = await announce(ctx, deps.news?.isConfigured ? 'news' : 'news_skipped')
  const [news, indexBars, dayVolumes, [previous, mood, evidenceRows]] = await Promise.all([
    search,
    index,
    volumes,
    before,
  ])
  if (!goesOn) throw new RunEnded('cancelled', { stage: 'news' })
  await ctx.tried(news?.runs ?? [])
  await ctx.tried(volumeRuns(dayVolumes))
  return { company, dayVolumes, indexBars, news, previous, mood, evidenceRows }
}

/** Requested only while a session runs in which the listing is traded. */
async function dayVolumesOf(
  { instrument, provenance, fetched: { quote }, now }: Subject,
  { dayVolumes, deadlines }: Deps,
  { signal }: Ctx,
): Promise<Fetched<VolumePart[]> | null> {
  const runs = marketPhaseSummary({ market: instrument.market, epochMs: now }).is_partial_bar === true
  if (dayVolumes === null || provenance !== null || !runs || !quote.ok || isWithoutTrade(quote.value)) return null
  const bounded = await orNull('day_volumes', () =>
    withTimeout({ timeoutMs: deadlines.companyMs, signal }, (stop) => dayVolumes(stop)),
  )
  return bounded?.ok ? bounded.value : { ok: false, runs: [] }
}

function sameTimeOf(
  { instrument: { market } }: AnalysisInput,
  { bars, partial, lastVolumeKnown, consistency, today }: CheckedView,
  { now, parts }: { now: number; parts: Fetched<VolumePart[]> | null },
): SameTimeVolume | null {
  if (!parts?.ok || !partial || !lastVolumeKnown || consistency.isBlocked || today === null) return null
  return sameTimeVolume(parts.value, { market, date: today.date, now, bars, quotedVolume: today.volume })
}

/** Data that no source provides is not a failure. */
const volumeRuns = (volumes: Fetched<VolumePart[]> | null): ProviderRun[] =>
  (volumes?.runs ?? []).filter(({ errorType }) => errorType !== 'unsupported')

/**
 * The index of the market; only market data is compared with it, not sample data. Its attempts are not attempts at the
 * listing's bars, so they are not among those of the run; the reason for a missing index is shown where it would be
 * used.
 */
async function indexOf(
  { instrument, provenance }: Subject,
  { indexBars, deadlines }: Deps,
  { signal }: Ctx,
): Promise<Fetched<Bar[]> | null> {
  const benchmark = benchmarkOf(instrument)
  if (indexBars === null || benchmark === null || provenance !== null) return null
  const bounded = await orNull('index_bars', () =>
    withTimeout({ timeoutMs: deadlines.companyMs, signal }, (stop) => indexBars(benchmark.index, stop)),
  )
  return bounded?.ok ? bounded.value : { ok: false, runs: [] }
}

/** A sample has another date, or none, so today's company data does not belong to it. */
async function companyOf(
  { instrument, provenance }: Subject,
  { company, deadlines }: Deps,
  { signal }: Ctx,
): Promise<Company> {
  if (provenance !== null && instrument.kind === 'stock') {
    return withoutCompany('sample and market figures are not mixed')
  }
  return gatherCompany(company, instrument, { timeoutMs: deadlines.companyMs, signal })
}

async function newsOf({ news, deadlines }: Deps, { signal }: Ctx): Promise<NewsResult | null> {
  if (news === null) return null
  const bounded = await orNull('news', () =>
    withTimeout({ timeoutMs: deadlines.newsMs, signal }, (stop) => news.search(stop)),
  )
  if (bounded?.ok) return bounded.value
  // A search that was too late found nothing; whether a search is configured is known in any case.
  const count = news.isConfigured ? 0 : null
  return { count, items: [], isPooled: false, social: null, ageSeconds: null, maxAgeDays: 0, runs: [] }
}

/** A report is made even if any of these fails. */
async function orNull<T>(what: string, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    log.error('analysis.context_failed', { what, ...errorFields(error) })
    return null
  }
}

/** Every attempt at bars and quote, in the order of their beginning. */
function priceRuns({ bars, quote }: Prices): ProviderRun[] {
  return [...quote.runs, ...bars.runs].sort((a, b) => a.createdAt.localeCompare(b.createdAt))
}

/** All attempts of a run. */
export function allRuns({ fetched, second, dayVolumes, company, news }: Inputs): ProviderRun[] {
  const beside = [...(second?.runs ?? []), ...volumeRuns(dayVolumes)]
  return [...priceRuns(fetched), ...beside, ...companyRuns(company), ...(news?.runs ?? [])]
}
