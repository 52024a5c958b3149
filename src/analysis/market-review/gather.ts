// Collects the facts about one region. The parts are fetched in parallel, and a part that fails leaves a gap that the
// review names; without any index there is no review of the region.

import { errorFields, log } from '../../lib/log.ts'
import type { Bar, ProviderRun, Quote } from '../../market/bars.ts'
import { isTradingDay, localDate, sessionEnd } from '../../market/calendar.ts'
import type { BoardRankings } from '../../market/company.ts'
import { type Examined, examinePrices } from '../../market/consistency/examine.ts'
import { parseCode } from '../../market/instruments.ts'
import { describeFailures, isUnsupported, type MarketData, type MarketSnapshot } from '../../market/providers/index.ts'
import type { Ctx } from '../ctx.ts'
import { withTimeout } from '../ctx.ts'
import type { Narrator } from '../narrator.ts'
import type { ReportLanguage } from '../schemas.ts'
import { textsOf } from '../texts/book.ts'
import { pricesNotice } from '../texts/findings.ts'
import type { Breadth, FlowFact, Gap, IndexFact, RegionFacts, ReviewNews } from './facts.ts'
import { countBreadth, type Listed } from './listed-prices.ts'
import { type IndexSpec, REGION_SPECS, type Region } from './regions.ts'

/** All dependencies of a review. */
export type ReviewDeps = {
  market: Pick<MarketData, 'snapshot' | 'rankings'>
  /** The prices of all mainland stocks. */
  listed: (signal: AbortSignal) => Promise<Listed>
  /** Null when no search is configured. */
  news: ((question: NewsQuestion, signal: AbortSignal) => Promise<NewsAnswer>) | null
  /** Null: all texts are written by code. */
  narrator: Narrator | null
  colorScheme: 'green_up' | 'red_up'
  /** For the figures of one region, for each part besides its indices, for the texts of one region. */
  deadlines: { regionMs: number; partMs: number; modelMs: number }
}

export type NewsQuestion = { region: Region; scope: string; date: string }
export type NewsAnswer = { items: ReviewNews[]; runs: ProviderRun[] }

export type Gathered = { ok: true; facts: RegionFacts } | { ok: false; reason: string; runs: ProviderRun[] }

/** Enough for the chart and the range. */
const BAR_COUNT = 60
const MAX_NEWS = 8
const TOP_FLOWS = 5

export async function gatherRegion(region: Region, deps: ReviewDeps, ctx: Ctx): Promise<Gathered> {
  const { language, signal } = ctx
  const spec = REGION_SPECS[region]
  const snapshots = await indexFacts(spec.indices, deps, ctx)
  const [main] = snapshots.facts
  if (main === undefined) return { ok: false, reason: snapshots.reason, runs: snapshots.runs }
  signal.throwIfAborted()
  const isSample = main.provenance !== null
  const date = newestDate(snapshots.facts)
  const beside = <T>(name: Gap['what'], without: Part<T>, work: (inner: Ctx) => Promise<Part<T>>) =>
    isSample ? without : optional({ name, region, without, work }, deps.deadlines.partMs, ctx)
  const [overnight, breadth, boards, news] = await Promise.all([
    beside('overnight', none, (inner) => overnightOf(region, deps, inner)),
    spec.hasBreadth ? beside('breadth', nothing, (inner) => breadthOf(region, deps, inner)) : nothing,
    spec.hasSectors ? beside('sectors', nothing, (inner) => boardsOf(deps, inner)) : nothing,
    // Today's news does not belong to a sample of years ago.
    beside('news', noNews, (inner) => newsOf({ region, date }, deps, inner)),
  ])
  const parts = { overnight, breadth, boards, news }
  const flows = boards.value === null ? [] : flowsOf(boards.value)
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
      gaps: gapsOf(spec, snapshots, { ...parts, flows }),
      provenance: main.provenance,
      isPartial: !isSample && isUnfinished(region, date, ctx.clock()),
      runs: [snapshots, ...Object.values(parts)].flatMap(({ runs }) => runs),
    },
  }
}

type Part<T> = { value: T; detail: string | null; runs: ProviderRun[] }

const nothing: Part<null> = { value: null, detail: null, runs: [] }
// Samples of different markets have different dates: side by side they would look like one day.
const none: Part<IndexFact[]> = { value: [], detail: null, runs: [] }
const noNews: Part<ReviewNews[]> = { value: [], detail: null, runs: [] }

type FetchedParts = {
  overnight: Part<IndexFact[]>
  breadth: Part<Breadth | null>
  boards: Part<BoardRankings | null>
  news: Part<ReviewNews[]>
  flows: FlowFact[]
}

/** The missing parts of the region, with the reasons. */
function gapsOf(
  { indices, hasBreadth, hasSectors }: (typeof REGION_SPECS)[Region],
  snapshots: Indices,
  { overnight, breadth, boards, news, flows }: FetchedParts,
): Gap[] {
  const missing: [isMissing: boolean, gap: Gap][] = [
    [snapshots.facts.length < indices.length, { what: 'indices', detail: snapshots.reason }],
    [hasBreadth && breadth.value === null, { what: 'breadth', detail: breadth.detail }],
    [hasSectors && boards.value === null, { what: 'sectors', detail: boards.detail }],
    [hasSectors && flows.length === 0, { what: 'flows', detail: boards.detail }],
    [overnight.value.length === 0, { what: 'overnight', detail: overnight.detail }],
    [news.value.length === 0, { what: 'news', detail: news.detail }],
  ]
  return missing.flatMap(([isMissing, gap]) => (isMissing ? [gap] : []))
}

type Optional<T> = { name: Gap['what']; region: Region; without: Part<T>; work: (ctx: Ctx) => Promise<Part<T>> }

/** An optional part: if it fails, or takes too long, it leaves a gap. */
async function optional<T>(
  { name, region, without, work }: Optional<T>,
  timeoutMs: number,
  ctx: Ctx,
): Promise<Part<T>> {
  try {
    const bounded = await withTimeout({ timeoutMs, signal: ctx.signal }, (signal) => work({ ...ctx, signal }))
    if (bounded.ok) return bounded.value
    return { ...without, detail: textsOf(ctx.language).review.timedOut(Math.round(timeoutMs / 1000)) }
  } catch (error) {
    log.warn('review.part_failed', { region, part: name, ...errorFields(error) })
    return without
  }
}

async function overnightOf(region: Region, deps: ReviewDeps, ctx: Ctx): Promise<Part<IndexFact[]>> {
  const { facts, reason, runs } = await indexFacts(REGION_SPECS[region].overnight, deps, ctx)
  return { value: facts.filter(({ provenance }) => provenance === null), detail: reason, runs }
}

type Indices = { facts: IndexFact[]; reason: string; runs: ProviderRun[] }

/** The facts of those indices that a source has. Samples and market data are never mixed. */
async function indexFacts(
  specs: readonly IndexSpec[],
  { market }: ReviewDeps,
  { language, signal, clock }: Ctx,
): Promise<Indices> {
  const taken = await Promise.all(
    specs.map(async (spec) => {
      const parsed = parseCode(spec.key)
      if (!parsed.ok) throw new Error(`the index ${spec.key} is no instrument`)
      return { spec, snapshot: await market.snapshot(parsed.instrument, { count: BAR_COUNT, signal }) }
    }),
  )
  const runs = taken.flatMap(({ snapshot }) => snapshot.runs)
  const told = taken.flatMap(({ spec, snapshot }) => indexFact(spec, snapshot, { language, now: clock() }) ?? [])
  const all = told.flatMap((one) => (one.ok ? [one.fact] : []))
  const refused = told.flatMap((one) => (one.ok ? [] : [one.reason]))
  const isSample = all[0]?.provenance != null
  const facts = all.filter(({ provenance }) => (provenance !== null) === isSample)
  const isUncarried = taken.every(({ snapshot }) => isUnsupported(snapshot.bars) && isUnsupported(snapshot.quote))
  const failed = runs.filter(({ success }) => !success)
  const reason = isUncarried ? describeFailures(failed.slice(0, 1)) : describeFailures(failed)
  return { facts, reason: refused.length > 0 ? refused.join(' ') : reason, runs }
}

const newestDate = (facts: readonly IndexFact[]): string =>
  facts.reduce((newest, { date }) => (date > newest ? date : newest), '')

const isUnfinished = (region: Region, date: string, now: number): boolean =>
  isTradingDay(region, date) && now < sessionEnd(region, date)

async function breadthOf(region: Region, { listed }: ReviewDeps, { signal }: Ctx): Promise<Part<Breadth | null>> {
  const { prices, runs } = await listed(signal)
  if (prices === null) return { value: null, detail: describeFailures(runs), runs }
  return { value: countBreadth(prices, REGION_SPECS[region].turnover.size), detail: null, runs }
}

/** Any stock of the market works, because the rankings cover the whole market. */
const RANKED_BY = '600519'

async function boardsOf({ market }: ReviewDeps, { signal }: Ctx): Promise<Part<BoardRankings | null>> {
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

async function newsOf(
  { region, date }: Omit<NewsQuestion, 'scope'>,
  { news }: ReviewDeps,
  { language, signal }: Ctx,
): Promise<Part<ReviewNews[]>> {
  if (news === null) return noNews
  const { items, runs } = await news({ region, scope: REGION_SPECS[region].scope[language], date }, signal)
  return { value: items.slice(0, MAX_NEWS), detail: items.length === 0 ? describeFailures(runs) : null, runs }
}

// The figures of one index for a review, after the same checks as those of a listing.

export type ToldIndex = { ok: true; fact: IndexFact } | { ok: false; reason: string }
type Moment = { language: ReportLanguage; now: number }

/** Null when no source has the index; refused when its figures failed a check. */
function indexFact(spec: IndexSpec, snapshot: MarketSnapshot, moment: Moment): ToldIndex | null {
  const { language } = moment
  const examined = examinedIndex(spec, snapshot, moment)
  const { bars, consistency } = examined
  const quote = examined.quote ?? quoteOf(bars)
  if (quote === null) return null
  const checks = pricesNotice(consistency, language)
  if (consistency.isBlocked) return { ok: false, reason: `${spec[language]}: ${checks ?? ''}` }
  const isVolumeOdd = consistency.withheld.includes('volume')
  const told = isVolumeOdd ? { ...quote, volume: null, amount: null } : quote
  return { ok: true, fact: factOf(spec, { quote: told, bars, checks, snapshot, language }) }
}

function examinedIndex({ key }: IndexSpec, snapshot: MarketSnapshot, { now }: Moment): Examined {
  const parsed = parseCode(key)
  if (!parsed.ok) throw new Error(`the index ${key} is no instrument`)
  return examinePrices(parsed.instrument, snapshot, { dividends: null, now })
}

type CheckedIndex = {
  quote: Quote
  bars: readonly Bar[]
  checks: string | null
  snapshot: MarketSnapshot
  language: ReportLanguage
}

function factOf(spec: IndexSpec, { quote, bars, checks, snapshot, language }: CheckedIndex): IndexFact {
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
    checks,
    closes: bars.map(({ close }) => close),
  }
}

/** The last two bars as a quote, when there is none. */
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
