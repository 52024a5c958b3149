// Collects what a review knows of one region. Each part is fetched beside the others, and one that fails leaves a gap that
// the review names; without a single index there is no review of the region.

import { within } from '../analysis/deadline.ts'
import { errorFields, log } from '../lib/log.ts'
import type { Bar, Quote } from '../market/bars.ts'
import { isTradingDay, localDate, sessionEnd } from '../market/calendar.ts'
import type { BoardRankings } from '../market/company.ts'
import { parseCode } from '../market/instruments.ts'
import type { ProviderRun } from '../market/provider-run.ts'
import { describeFailures, isUnsupported, type MarketData, type MarketSnapshot } from '../market/providers/index.ts'
import type { ReportLanguage } from '../reports/report.ts'
import { countBreadth } from './breadth.ts'
import type { Breadth, FlowFact, Gap, IndexFact, RegionFacts, ReviewNews } from './facts.ts'
import type { Listed } from './listed-prices.ts'
import { type IndexSpec, REGION_SPECS, type Region } from './regions.ts'
import { reviewWords } from './words.ts'

export type ReviewSources = {
  market: MarketData
  /** The prices of all mainland stocks. */
  listed: (signal: AbortSignal) => Promise<Listed>
  /** Null: no search is configured. */
  news: ((question: NewsQuestion, signal: AbortSignal) => Promise<NewsAnswer>) | null
  clock: () => number
  /** For each part beside the region's own indices. */
  partTimeoutMs: number
}

export type NewsQuestion = { region: Region; scope: string; date: string }
export type NewsAnswer = { items: ReviewNews[]; runs: ProviderRun[] }

export type Gathering = { region: Region; language: ReportLanguage; signal: AbortSignal }
export type Gathered = { ok: true; facts: RegionFacts } | { ok: false; reason: string; runs: ProviderRun[] }

/** Enough for the chart and a look at the range. */
const BAR_COUNT = 60
const MAX_NEWS = 8
const TOP_FLOWS = 5

export async function gatherRegion(gathering: Gathering, sources: ReviewSources): Promise<Gathered> {
  const { region, language, signal } = gathering
  const spec = REGION_SPECS[region]
  const snapshots = await indexFacts(spec.indices, gathering, sources)
  const [main] = snapshots.facts
  if (main === undefined) return { ok: false, reason: snapshots.reason, runs: snapshots.runs }
  signal.throwIfAborted()
  const isSample = main.provenance !== null
  const date = newestDate(snapshots.facts)
  const beside = <T>(name: Gap['what'], without: Part<T>, work: (inner: Gathering) => Promise<Part<T>>) =>
    isSample ? without : optional({ name, without, work }, gathering, sources.partTimeoutMs)
  const [overnight, breadth, boards, news] = await Promise.all([
    beside('overnight', none, (inner) => overnightOf(inner, sources)),
    spec.hasBreadth ? beside('breadth', nothing, (inner) => breadthOf(inner, sources)) : nothing,
    spec.hasSectors ? beside('sectors', nothing, (inner) => boardsOf(inner, sources)) : nothing,
    // News of today say nothing about a sample of years ago.
    beside('news', noNews, (inner) => newsOf(date, inner, sources)),
  ])
  const flows = boards.value === null ? [] : flowsOf(boards.value)
  const gaps: Gap[] = [
    ...(snapshots.facts.length < spec.indices.length ? [{ what: 'indices' as const, detail: snapshots.reason }] : []),
    ...(spec.hasBreadth && breadth.value === null ? [{ what: 'breadth' as const, detail: breadth.detail }] : []),
    ...(spec.hasSectors && boards.value === null ? [{ what: 'sectors' as const, detail: boards.detail }] : []),
    ...(spec.hasSectors && flows.length === 0 ? [{ what: 'flows' as const, detail: boards.detail }] : []),
    ...(overnight.value.length === 0 ? [{ what: 'overnight' as const, detail: overnight.detail }] : []),
    ...(news.value.length === 0 ? [{ what: 'news' as const, detail: news.detail }] : []),
  ]
  return {
    ok: true,
    facts: {
      region,
      language,
      date,
      indices: snapshots.facts,
      breadth: breadth.value,
      boards: boards.value,
      flows,
      overnight: overnight.value,
      news: news.value,
      gaps,
      provenance: main.provenance,
      isPartial: !isSample && isUnfinished(region, date, sources.clock()),
      runs: [...snapshots.runs, ...overnight.runs, ...breadth.runs, ...boards.runs, ...news.runs],
    },
  }
}

type Part<T> = { value: T; detail: string | null; runs: ProviderRun[] }

const nothing: Part<null> = { value: null, detail: null, runs: [] }
// Samples of different markets end at different times: side by side they would look like one day.
const none: Part<IndexFact[]> = { value: [], detail: null, runs: [] }
const noNews: Part<ReviewNews[]> = { value: [], detail: null, runs: [] }

type Optional<T> = { name: Gap['what']; without: Part<T>; work: (gathering: Gathering) => Promise<Part<T>> }

/** A part that the review can do without: what fails, or takes too long, leaves a gap. */
async function optional<T>(
  { name, without, work }: Optional<T>,
  gathering: Gathering,
  timeoutMs: number,
): Promise<Part<T>> {
  const { region, signal } = gathering
  try {
    const bounded = await within({ timeoutMs, signal }, (inner) => work({ ...gathering, signal: inner }))
    if (bounded.ok) return bounded.value
    return { ...without, detail: reviewWords(gathering.language).timedOut(Math.round(timeoutMs / 1000)) }
  } catch (error) {
    log.warn('review.part_failed', { region, part: name, ...errorFields(error) })
    return without
  }
}

async function overnightOf(gathering: Gathering, sources: ReviewSources): Promise<Part<IndexFact[]>> {
  const { facts, reason, runs } = await indexFacts(REGION_SPECS[gathering.region].overnight, gathering, sources)
  return { value: facts.filter(({ provenance }) => provenance === null), detail: reason, runs }
}

type Indices = { facts: IndexFact[]; reason: string; runs: ProviderRun[] }

/** The facts of those that some source has. Samples and real figures never stand side by side. */
async function indexFacts(
  specs: readonly IndexSpec[],
  { language, signal }: Gathering,
  { market }: ReviewSources,
): Promise<Indices> {
  const taken = await Promise.all(
    specs.map(async (spec) => {
      const parsed = parseCode(spec.key)
      if (!parsed.ok) throw new Error(`the index ${spec.key} is no instrument`)
      return { spec, snapshot: await market.snapshot(parsed.instrument, { count: BAR_COUNT, signal }) }
    }),
  )
  const runs = taken.flatMap(({ snapshot }) => snapshot.runs)
  const all = taken.flatMap(({ spec, snapshot }) => toFact(spec, snapshot, language) ?? [])
  const isSample = all[0]?.provenance != null
  const facts = all.filter(({ provenance }) => (provenance !== null) === isSample)
  const isUncarried = taken.every(({ snapshot }) => isUnsupported(snapshot.bars) && isUnsupported(snapshot.quote))
  const failed = runs.filter(({ success }) => !success)
  const reason = isUncarried ? describeFailures(failed.slice(0, 1)) : describeFailures(failed)
  return { facts, reason, runs }
}

function toFact(spec: IndexSpec, snapshot: MarketSnapshot, language: ReportLanguage): IndexFact | null {
  const bars = snapshot.bars.ok ? snapshot.bars.value : []
  const quote = snapshot.quote.ok ? snapshot.quote.value : quoteOf(bars)
  if (quote === null) return null
  const last = bars.at(-1)
  const { high, low, prevClose } = quote
  return {
    code: spec.code,
    key: spec.key,
    name: spec[language],
    current: quote.price,
    change: quote.change,
    changePct: quote.changePct,
    open: quote.open,
    high,
    low,
    volume: quote.volume,
    amount: quote.amount,
    amplitude: high === null || low === null || prevClose <= 0 ? null : ((high - low) / prevClose) * 100,
    date: dateOf(spec, { quote, last }),
    provenance: snapshot.provenance,
    closes: bars.map(({ close }) => close),
  }
}

/** The last two bars as the quote that nobody gave. */
function quoteOf(bars: readonly Bar[]): Quote | null {
  const [before, last] = bars.slice(-2)
  if (before === undefined || last === undefined) return null
  const change = last.close - before.close
  return {
    price: last.close,
    prevClose: before.close,
    open: last.open,
    high: last.high,
    low: last.low,
    volume: last.volume > 0 ? last.volume : null,
    amount: last.amount,
    change,
    changePct: (change / before.close) * 100,
    ...{ quotedAt: null, name: null, currency: null, turnoverRatePct: null, volumeRatio: null },
    ...{ peRatio: null, pbRatio: null, totalMarketValue: null, circulatingMarketValue: null },
  }
}

function dateOf({ key }: IndexSpec, { quote, last }: { quote: Quote; last: Bar | undefined }): string {
  const parsed = parseCode(key)
  if (quote.quotedAt !== null && parsed.ok) return localDate(parsed.instrument.market, quote.quotedAt)
  return last?.date ?? ''
}

const newestDate = (facts: readonly IndexFact[]): string =>
  facts.reduce((newest, { date }) => (date > newest ? date : newest), '')

const isUnfinished = (region: Region, date: string, now: number): boolean =>
  isTradingDay(region, date) && now < sessionEnd(region, date)

async function breadthOf({ region, signal }: Gathering, { listed }: ReviewSources): Promise<Part<Breadth | null>> {
  const { prices, runs } = await listed(signal)
  if (prices === null) return { value: null, detail: describeFailures(runs), runs }
  return { value: countBreadth(prices, REGION_SPECS[region].turnover.size), detail: null, runs }
}

/** Any stock of the market will do: rankings are the whole market's. */
const RANKED_BY = '600519'

async function boardsOf({ signal }: Gathering, { market }: ReviewSources): Promise<Part<BoardRankings | null>> {
  const parsed = parseCode(RANKED_BY)
  if (!parsed.ok) throw new Error(`${RANKED_BY} is no instrument`)
  const fetched = await market.rankings(parsed.instrument, { signal })
  const { runs } = fetched
  return fetched.ok
    ? { value: fetched.value, detail: null, runs }
    : { value: null, detail: describeFailures(isUnsupported(fetched) ? [] : runs), runs }
}

function flowsOf({ industries }: BoardRankings): FlowFact[] {
  const told = [...industries.top, ...industries.bottom].flatMap(({ name, mainNet }) =>
    mainNet === null ? [] : [{ name, mainNet }],
  )
  return told.sort((a, b) => b.mainNet - a.mainNet).slice(0, TOP_FLOWS)
}

async function newsOf(date: string, gathering: Gathering, { news }: ReviewSources): Promise<Part<ReviewNews[]>> {
  if (news === null) return noNews
  const { region, language, signal } = gathering
  const { items, runs } = await news({ region, scope: REGION_SPECS[region].scope[language], date }, signal)
  return { value: items.slice(0, MAX_NEWS), detail: items.length === 0 ? describeFailures(runs) : null, runs }
}
