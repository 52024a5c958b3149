// The configured sources, in order. Sample data and market data are never mixed in one answer: consecutive sources of
// one kind form a tier, and a tier is used as a whole. The next tier is requested only when this one had neither bars
// nor a quote.

import { type Clock, systemClock } from '../../lib/clock.ts'
import type { Fetch } from '../../lib/http-client.ts'
import { madeOf, type RawVariables } from '../../lib/variables.ts'
import type { Bar, Fetched, Provenance, ProviderRun, Quote } from '../bars.ts'
import { localDate, sessionEnd } from '../calendar.ts'
import type { Board, BoardRankings, FlowDay, Fundamentals, Peers } from '../company.ts'
import { againstPrice, type CompanyEvents, needsPrice } from '../company-events.ts'
import type { VolumePart } from '../day-volumes.ts'
import type { Instrument } from '../instruments.ts'
import {
  type AnswerStore,
  keepBars,
  keepBoards,
  keepEvents,
  keepFlow,
  keepFundamentals,
  keepIndexBars,
  keepPeers,
  keepRankings,
  keptOrAsked,
} from './answer-cache.ts'
import {
  barsNeed,
  boardsNeed,
  type Chain,
  dayVolumesNeed,
  eventsNeed,
  firstAnswer,
  flowNeed,
  fundamentalsNeed,
  linked,
  type Need,
  peersNeed,
  quoteNeed,
  rankingsNeed,
} from './chain.ts'
import { type GateKeeper, memoryGate, paceOf } from './gate.ts'
import { manyQuotes } from './many-quotes.ts'
import type { BarsQuery, MarketDataProvider, QuoteQuery } from './provider.ts'
import { MARKET_PROVIDERS } from './registry.ts'
import { SAMPLE_PROVIDER } from './sample.ts'

export type MarketDataOptions = SourceOptions & {
  /** For one source and one need, retries included. */
  timeoutMs?: number
  clock?: Clock
  /** Stores which sources fail; by default in this isolate only. */
  gate?: GateKeeper
  /** Stores answers; by default nothing is stored. */
  store?: AnswerStore
}

/** Bars and quote of one instrument, both from the market or both from the same bundled series. */
export type MarketSnapshot = {
  bars: Fetched<Bar[]>
  quote: Fetched<Quote>
  /** The notice that must be shown with the figures; null for market data. */
  provenance: Provenance | null
  /** The time of the figures, epoch ms: now, or the end of a bundled series' last session. */
  asOf: number
  /** All attempts at either, in the order of their beginning. */
  runs: ProviderRun[]
}

export type MarketData = {
  bars(instrument: Instrument, query: BarsQuery): Promise<Fetched<Bar[]>>
  quote(instrument: Instrument, query?: QuoteQuery): Promise<Fetched<Quote>>
  /** The quotes of many listings, in as few requests as the sources allow. */
  quotes(instruments: readonly Instrument[], query?: QuoteQuery): Promise<Map<string, Fetched<Quote>>>
  /** Intraday volumes, from live sources and never cached, because they change every minute. */
  dayVolumes(instrument: Instrument, query?: QuoteQuery): Promise<Fetched<VolumePart[]>>
  /** Bars of an index for comparison: from live sources, and fetched once a session. */
  indexBars(index: Instrument, query: BarsQuery): Promise<Fetched<Bar[]>>
  snapshot(instrument: Instrument, query: BarsQuery): Promise<MarketSnapshot>
  /** The quote of a live source that is not among `known`. */
  otherQuote(instrument: Instrument, known: readonly string[], query?: QuoteQuery): Promise<Fetched<Quote>>
  fundamentals(instrument: Instrument, query?: QuoteQuery): Promise<Fetched<Fundamentals>>
  /** Dates of results and dividends; from a source, or cached. */
  companyEvents(instrument: Instrument, query?: QuoteQuery): Promise<Fetched<CompanyEvents>>
  capitalFlow(instrument: Instrument, query?: QuoteQuery): Promise<Fetched<FlowDay[]>>
  boards(instrument: Instrument, query?: QuoteQuery): Promise<Fetched<Board[]>>
  /** The companies of the instrument's industry, which is one of its boards. */
  peers(instrument: Instrument, boards: readonly Board[], query?: QuoteQuery): Promise<Fetched<Peers>>
  /** The boards of the instrument's whole market. */
  rankings(instrument: Instrument, query?: QuoteQuery): Promise<Fetched<BoardRankings>>
}

const DEFAULT_TIMEOUT_MS = 8_000
const BARS_KEPT = 400

export async function createMarketData(options: MarketDataOptions): Promise<MarketData> {
  const clock = options.clock ?? systemClock
  const gate = options.gate ?? memoryGate(clock)
  const chain: Chain = { clock, timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS, gate }
  const providers = await buildProviders(options, { clock, gate })
  const tiers = tiersOf(providers)
  const kept = { store: options.store ?? null, clock }
  const ask = <T>(need: Need<T>) => firstAnswer(chain, providers, need)
  const bars = (some: readonly MarketDataProvider[], instrument: Instrument, query: BarsQuery) => {
    const askFor = (count: number) => firstAnswer(chain, some, barsNeed(instrument, { ...query, count }))
    // A cached series ends at a fixed day; another end needs another request. Samples are not cached.
    const isKept = kept.store !== null && query.endDate === undefined && some[0]?.name !== SAMPLE_PROVIDER
    return isKept ? keptBars(kept, { instrument, query }, askFor) : askFor(query.count)
  }
  return {
    bars: (instrument, query) => bars(providers, instrument, query),
    quote: (instrument, query = {}) => ask(quoteNeed(instrument, query)),
    quotes: (instruments, query = {}) => manyQuotes(chain, providers, { instruments, query }),
    otherQuote: (instrument, known, query = {}) => {
      const others = providers.filter(({ name }) => name !== SAMPLE_PROVIDER && !known.includes(name))
      return firstAnswer(chain, others, quoteNeed(instrument, query))
    },
    dayVolumes: (instrument, query = {}) => {
      const live = providers.filter(({ name }) => name !== SAMPLE_PROVIDER)
      return firstAnswer(chain, live, dayVolumesNeed(instrument, query))
    },
    indexBars: (instrument, query) => {
      const live = providers.filter(({ name }) => name !== SAMPLE_PROVIDER)
      const askFor = (count: number) => firstAnswer(chain, live, barsNeed(instrument, { ...query, count }))
      return keptBars(kept, { instrument, query, keep: keepIndexBars }, askFor)
    },
    snapshot: (instrument, query) => takeSnapshot({ chain, tiers, bars }, { instrument, query }),
    ...companyData(kept, ask),
  }
}

type AnswerKeeping = { store: AnswerStore | null; clock: Clock }

/** Data of companies and boards besides their prices; from a source, or cached. */
function companyData(
  kept: AnswerKeeping,
  ask: <T>(need: Need<T>) => Promise<Fetched<T>>,
): Pick<MarketData, 'fundamentals' | 'companyEvents' | 'capitalFlow' | 'boards' | 'peers' | 'rankings'> {
  return {
    fundamentals: (instrument, query = {}) =>
      keptOrAsked({
        ...kept,
        ...keepFundamentals(instrument, query),
        ask: () => ask(fundamentalsNeed(instrument, query)),
      }),
    companyEvents: (instrument, query = {}) =>
      keptOrAsked({
        ...kept,
        ...keepEvents(instrument, query),
        ask: () => pricedEvents(kept.clock, ask, { instrument, query }),
      }),
    capitalFlow: (instrument, query = {}) =>
      keptOrAsked({ ...kept, ...keepFlow(instrument, query), ask: () => ask(flowNeed(instrument, query)) }),
    boards: (instrument, query = {}) =>
      keptOrAsked({ ...kept, ...keepBoards(instrument, query), ask: () => ask(boardsNeed(instrument, query)) }),
    peers: (instrument, some, query = {}) =>
      keptOrAsked({ ...kept, ...keepPeers(instrument, query), ask: () => ask(peersNeed(instrument, some, query)) }),
    rankings: (instrument, query = {}) =>
      keptOrAsked({ ...kept, ...keepRankings(instrument, query), ask: () => ask(rankingsNeed(instrument, query)) }),
  }
}

/** Amounts are compared with the price once, before they are cached. */
async function pricedEvents(
  clock: Clock,
  ask: <T>(need: Need<T>) => Promise<Fetched<T>>,
  { instrument, query }: { instrument: Instrument; query: QuoteQuery },
): Promise<Fetched<CompanyEvents>> {
  const events = await ask(eventsNeed(instrument, query))
  const today = localDate(instrument.market, clock())
  if (!events.ok || !events.value.dividends.some((one) => needsPrice(one, today))) return events
  const quote = await ask(quoteNeed(instrument, query))
  // The price of a sample says nothing about a company's dividend.
  const known = quote.ok && quote.provenance?.kind === events.provenance?.kind ? quote.value : null
  const dividends = events.value.dividends.map((one) => againstPrice(one, known, today))
  return { ...events, value: { ...events.value, dividends } }
}

/** Requests enough bars for every later need, so that a short series does not replace a long one in the cache. */
async function keptBars(
  kept: AnswerKeeping,
  { instrument, query, keep = keepBars }: BarsRequest & { keep?: typeof keepBars },
  askFor: (count: number) => Promise<Fetched<Bar[]>>,
): Promise<Fetched<Bar[]>> {
  const ask = () => askFor(Math.max(query.count, BARS_KEPT))
  const fetched = await keptOrAsked({ ...kept, ...keep(instrument, query), ask })
  return fetched.ok ? { ...fetched, value: fetched.value.slice(-query.count) } : fetched
}

/** Why there is no answer: the reason of each source, as one line for users. */
export function describeFailures(runs: readonly ProviderRun[]): string {
  const reasons = new Set(runs.flatMap(({ errorMessage }) => errorMessage ?? []))
  return [...reasons].join('; ') || 'no source is configured'
}

/** No configured source has such data. This is not a failure of a source. */
export function isUnsupported(fetched: Fetched<unknown>): boolean {
  return !fetched.ok && fetched.runs.every(({ errorType }) => errorType === 'unsupported')
}

function tiersOf(providers: MarketDataProvider[]): MarketDataProvider[][] {
  const tiers: MarketDataProvider[][] = []
  let isSampleTier: boolean | null = null
  for (const provider of providers) {
    const isSample = provider.name === SAMPLE_PROVIDER
    if (isSample === isSampleTier) tiers.at(-1)?.push(provider)
    else tiers.push([provider])
    isSampleTier = isSample
  }
  return tiers
}

type BarsRequest = { instrument: Instrument; query: BarsQuery }
type Sources = {
  chain: Chain
  tiers: MarketDataProvider[][]
  bars: (some: readonly MarketDataProvider[], instrument: Instrument, query: BarsQuery) => Promise<Fetched<Bar[]>>
}

async function takeSnapshot({ chain, tiers, bars: askBars }: Sources, asked: BarsRequest): Promise<MarketSnapshot> {
  const { instrument, query } = asked
  let bars: Fetched<Bar[]> = { ok: false, runs: [] }
  let quote: Fetched<Quote> = { ok: false, runs: [] }
  for (const tier of tiers) {
    const [nextBars, nextQuote] = await Promise.all([
      askBars(tier, instrument, query),
      firstAnswer(chain, tier, quoteNeed(instrument, query)),
    ])
    bars = continued(bars, nextBars)
    quote = continued(quote, nextQuote)
    if (bars.ok || quote.ok) break
  }
  const provenance = (bars.ok ? bars.provenance : null) ?? (quote.ok ? quote.provenance : null)
  const lastDate = (bars.ok ? bars.value.at(-1)?.date : undefined) ?? provenance?.endsOn
  const asOf = provenance && lastDate !== undefined ? sessionEnd(instrument.market, lastDate) : chain.clock()
  const runs = [...quote.runs, ...bars.runs].sort((a, b) => a.createdAt.localeCompare(b.createdAt))
  return { bars, quote, provenance, asOf, runs }
}

function continued<T>(before: Fetched<T>, next: Fetched<T>): Fetched<T> {
  const runs = linked([...before.runs, ...next.runs])
  // Once there is an answer, a source of an earlier tier without the market is not a failure.
  return { ...next, runs: next.ok ? linked(runs.filter(({ errorType }) => errorType !== 'unsupported')) : runs }
}

// From configuration to providers, in the configured order.

export type SourceOptions = {
  /** Names of providers in the order in which they are asked. */
  providers: readonly string[]
  /** Their addresses and keys; by default every provider has its usual address. */
  variables?: RawVariables
  fetch?: Fetch
}

export function buildProviders(
  { providers, variables = {}, fetch }: SourceOptions,
  { clock, gate }: { clock: Clock; gate: GateKeeper },
): Promise<MarketDataProvider[]> {
  const deps = { clock, pace: paceOf(gate), ...(fetch === undefined ? {} : { fetch }) }
  return madeOf(MARKET_PROVIDERS, providers, { variables, deps })
}
