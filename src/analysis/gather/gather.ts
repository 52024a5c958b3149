// The first step: everything that is fetched for one report. Without daily bars in time there is no analysis; without a quote
// the last close stands in, and whatever else is missing is told in the report.

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
    /** The quote of another source, where one was asked. */
    second: Fetched<Quote> | null
    /** Null when nobody knows it. */
    stockName: string | null
    displayName: string
    company: Company
    /** Volumes within the day; null where nobody was asked. */
    dayVolumes: Fetched<VolumePart[]> | null
    /** What was traded so far beside the same time of earlier sessions; null where no session runs or nobody tells volumes within the day. */
    sameTime: SameTimeVolume | null
    /** Of the index of its market; null where nobody was asked. */
    indexBars: Fetched<Bar[]> | null
    /** Null: nobody searches. */
    news: NewsResult | null
    previous: PreviousReport | null
    mood: Mood | null
    /** Null while nothing was computed. */
    evidenceRows: EvidenceRow[] | null
  }

/** Throws `RunEnded` when there is nothing to make a report of, or nobody wants one. */
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

/** What another source says of a price that is in doubt; undefined where there is no doubt, null where nobody says anything. */
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

/** A quote that does not come in time is one that failed: the bars alone still make a report. */
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

/** Why the fetches leave no report to make, or null. */
function failureOf(bars: Bounded<unknown>, fetched: Prices, { signal }: Ctx): RunEnded['reason'] | null {
  if (signal.aborted) return 'cancelled'
  if (!bars.ok) return bars.reason
  const hasBars = fetched.bars.ok && fetched.bars.value.length > 0
  return hasBars || fetched.quote.ok ? null : 'no_data'
}

type SideInputs = Pick<Inputs, 'company' | 'dayVolumes' | 'indexBars' | 'news' | 'previous' | 'mood' | 'evidenceRows'>
type Subject = AnalysisInput & Pick<Inputs, 'provenance' | 'fetched' | 'now'>

/**
 * What stands beside the prices: the company, the news, the report before. All of it may fail, and a report is made all the
 * same; only being stopped ends the run here.
 */
async function gatherBeside(view: Subject, deps: Deps, ctx: Ctx): Promise<SideInputs> {
  // All begin now: none waits for another.
  // The volumes first: of a source that is asked in turns, what is known of the company takes five.
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

/** Asked only while a session runs in which the listing is traded. */
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

/** What no source carries is no failure. */
const volumeRuns = (volumes: Fetched<VolumePart[]> | null): ProviderRun[] =>
  (volumes?.runs ?? []).filter(({ errorType }) => errorType !== 'unsupported')

/**
 * The index of the market, which is compared with figures of the market alone. Its attempts are none at the listing's bars, so they are
 * not among those of the run; why there is no index stands beside what it would have told.
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

/** A sample is of another day, or of no day: what is known of the company today does not belong to it. */
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
  // What could not be searched in time found nothing; whether a search is configured is known in any case.
  const count = news.isConfigured ? 0 : null
  return { count, items: [], isPooled: false, social: null, ageSeconds: null, maxAgeDays: 0, runs: [] }
}

/** None of these is worth losing a report for. */
async function orNull<T>(what: string, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    log.error('analysis.context_failed', { what, ...errorFields(error) })
    return null
  }
}

/** Every attempt at bars and quote, in the order in which they began. */
function priceRuns({ bars, quote }: Prices): ProviderRun[] {
  return [...quote.runs, ...bars.runs].sort((a, b) => a.createdAt.localeCompare(b.createdAt))
}

/** Every attempt of a run. */
export function allRuns({ fetched, second, dayVolumes, company, news }: Inputs): ProviderRun[] {
  const beside = [...(second?.runs ?? []), ...volumeRuns(dayVolumes)]
  return [...priceRuns(fetched), ...beside, ...companyRuns(company), ...(news?.runs ?? [])]
}
