// The listing compared with its market: with the index, with its industry, and how long a position takes to sell. None
// of this changes an advice.

import type { Bar, Fetched } from '../../market/bars.ts'
import {
  type Benchmark,
  type Beta,
  benchmarkOf,
  betaOf,
  type Paired,
  paired,
  relativeStrengthPct,
} from '../../market/benchmarks.ts'
import { sessionEnd } from '../../market/calendar.ts'
import type { Peer } from '../../market/company.ts'
import { type Consistency, examinePrices } from '../../market/consistency/examine.ts'
import { MOST } from '../../market/consistency/tolerances.ts'
import { alarms, type CheckKey, type Finding } from '../../market/consistency/types.ts'
import { describeFailures } from '../../market/providers/index.ts'
import type { ComparisonStatus, LiquidityStatus, PeersStatus } from '../codes.ts'
import type { Inputs } from '../gather/gather.ts'

export type MarketComparison = {
  status: ComparisonStatus
  benchmark: Benchmark | null
  beta: Beta | null
  strengthPct: Record<StrengthSessions, number | null>
  /** The last session that both have. */
  asOf: string | null
  source: string | null
  /** Checks of the index's bars that warn or failed. */
  indexChecks: CheckKey[]
  indexFindings: Finding[]
  /** Why there are no bars of the index. */
  reason: string | null
}

export const STRENGTH_SESSIONS = [20, 60, 250] as const
export type StrengthSessions = (typeof STRENGTH_SESSIONS)[number]

type Subject = Pick<Inputs, 'instrument' | 'bars' | 'partial' | 'provenance' | 'consistency' | 'indexBars'>

const NOTHING: Omit<MarketComparison, 'status' | 'benchmark'> = {
  ...{ beta: null, strengthPct: { 20: null, 60: null, 250: null }, asOf: null, source: null },
  ...{ indexChecks: [], indexFindings: [], reason: null },
}

/** Completed sessions only: today's price cannot be compared with yesterday's index. */
const wholeSessions = <T>({ bars, partial }: { bars: readonly T[]; partial: boolean }): readonly T[] =>
  partial ? bars.slice(0, -1) : bars

export function marketComparison(subject: Subject): MarketComparison {
  const { instrument, provenance, consistency, indexBars } = subject
  const benchmark = benchmarkOf(instrument)
  const without = (status: ComparisonStatus, told: Partial<MarketComparison> = {}): MarketComparison => {
    return { ...NOTHING, status, benchmark, ...told }
  }
  if (benchmark === null) return without('is_index')
  if (provenance !== null) return without('sample')
  if (consistency.isBlocked) return without('withheld')
  const own = wholeSessions(subject)
  const last = own.at(-1)?.date
  if (last === undefined) return without('too_few')
  if (indexBars === null || !indexBars.ok) return without('not_fetched', { reason: reasonOf(indexBars) })
  const checked = checkedIndex(benchmark, indexBars, last)
  const { source } = checked
  const told = { source, ...alarmsOf(checked.consistency) }
  if (checked.bars.length === 0) return without('not_fetched', { source, reason: `no bars up to ${last}` })
  if (checked.consistency.isBlocked) return without('failed_check', told)
  return compared(paired(own, checked.bars), (status, figures) => without(status, { ...told, ...figures }))
}

type MakeComparison = (status: ComparisonStatus, figures: Partial<MarketComparison>) => MarketComparison

function compared(pair: Paired, made: MakeComparison): MarketComparison {
  const strength = STRENGTH_SESSIONS.map((sessions) => [sessions, relativeStrengthPct(pair, sessions)] as const)
  const strengthPct = Object.fromEntries(strength) as MarketComparison['strengthPct']
  const beta = betaOf(pair)
  const isTold = beta !== null || strength.some(([, value]) => value !== null)
  return made(isTold ? 'told' : 'too_few', { beta, strengthPct, asOf: pair.dates.at(-1) ?? null })
}

type CheckedIndex = { bars: readonly Bar[]; consistency: Consistency; source: string }

/** The index up to the end of that session, after the checks. Later data is not used. */
function checkedIndex({ index }: Benchmark, fetched: Fetched<Bar[]> & { ok: true }, last: string): CheckedIndex {
  const bars = { ...fetched, value: fetched.value.filter(({ date }) => date <= last) }
  const now = sessionEnd(index.market, last)
  const examined = examinePrices(index, { bars, quote: { ok: false, runs: [] } }, { dividends: null, now })
  return { bars: examined.bars, consistency: examined.consistency, source: fetched.provider }
}

/** The index's volumes are not used. */
function alarmsOf(consistency: Consistency): Pick<MarketComparison, 'indexChecks' | 'indexFindings'> {
  const found = alarms(consistency).filter(({ touches }) => touches.some((touch) => touch !== 'volume'))
  return { indexChecks: [...new Set(found.map(({ check }) => check))], indexFindings: found }
}

const reasonOf = (fetched: Fetched<unknown> | null): string | null =>
  fetched === null ? null : describeFailures(fetched.runs)

// The company's multiples compared with those of its industry. Both come from one list, so that they are computed in
// the same way; a median, because a single extreme ratio moves a mean.

export type PeerMultiples = {
  status: PeersStatus
  board: string | null
  /** The number of compared companies, and of those with a loss, which have no price-earnings ratio. */
  count: number
  losses: number
  own: Multiples
  median: Multiples
  source: string | null
}

type Multiples = { pe: number | null; pb: number | null }

/** A median of fewer companies says nothing about an industry. */
const LEAST_PEERS = 5
const NONE: Multiples = { pe: null, pb: null }

type Listing = Pick<Inputs, 'company' | 'instrument' | 'provenance'>

export function peerMultiples({ company, instrument, provenance }: Listing): PeerMultiples {
  const { state, value, source } = company.peers
  const without = { board: null, count: 0, losses: 0, own: NONE, median: NONE, source: null }
  if (provenance !== null && instrument.kind === 'stock') return { ...without, status: 'sample' }
  if (value === null) return { ...without, status: state === 'ok' ? 'no_data' : state }
  const own = value.companies.find(({ code }) => code === instrument.code)
  const others = value.companies.filter((peer) => peer !== own)
  const median = { pe: medianOf(others.map(peOf)), pb: medianOf(others.map(pbOf)) }
  const isTold = median.pe !== null || median.pb !== null
  return {
    status: isTold ? 'ok' : 'too_few',
    board: value.board.name,
    count: others.length,
    losses: others.filter(({ peRatio }) => peRatio !== null && peRatio < 0).length,
    own: own === undefined ? NONE : { pe: own.peRatio, pb: own.pbRatio },
    median,
    source,
  }
}

const within = (ratio: number | null, most: number): number | null =>
  ratio !== null && ratio > 0 && ratio <= most ? ratio : null
const peOf = ({ peRatio }: Peer): number | null => within(peRatio, MOST.peRatio)
const pbOf = ({ pbRatio }: Peer): number | null => within(pbRatio, MOST.pbRatio)

function medianOf(ratios: readonly (number | null)[]): number | null {
  const known = ratios.filter((ratio) => ratio !== null).sort((a, b) => a - b)
  if (known.length < LEAST_PEERS) return null
  const [below, above] = [known[Math.floor((known.length - 1) / 2)], known[Math.floor(known.length / 2)]]
  return below === undefined || above === undefined ? null : (below + above) / 2
}

// How long a position takes to sell without exceeding a given share of the traded volume. The reader's own position is
// unknown, so a position of a stated size is used, and the amount that can be sold in one session is shown.

export type Liquidity = {
  status: LiquidityStatus
  /** Of one session, in the listing's currency. */
  averageTurnover: number | null
  /** The amount to sell. */
  position: number | null
  currency: string
  sessionsToSell: number | null
  mostASession: number | null
}

/** In percent of a session's volume: a larger share moves the price. */
export const PARTICIPATION_PCT = 10
const AVERAGED = 20

/** The size of the position, about the same in every currency. */
const POSITION: Readonly<Record<string, number>> = {
  CNY: 1_000_000,
  HKD: 1_000_000,
  USD: 150_000,
  JPY: 20_000_000,
  KRW: 200_000_000,
  TWD: 5_000_000,
}

type Traded = Pick<Inputs, 'instrument' | 'bars' | 'partial' | 'lastVolumeKnown' | 'consistency'> & {
  priceCurrency: string
}

export function liquidityOf(subject: Traded): Liquidity {
  const { instrument, consistency, priceCurrency: currency } = subject
  const position = Object.hasOwn(POSITION, currency) ? (POSITION[currency] ?? null) : null
  const without = (status: LiquidityStatus): Liquidity => {
    return { ...{ status, position, currency }, averageTurnover: null, sessionsToSell: null, mostASession: null }
  }
  if (instrument.kind === 'index') return without('is_index')
  if (consistency.isBlocked || consistency.withheld.includes('volume')) return without('withheld')
  // A last bar from a quote without a volume is as unusable as one of a running session.
  const whole = wholeSessions({ ...subject, partial: subject.partial || !subject.lastVolumeKnown })
  const recent = whole.slice(-AVERAGED)
  if (recent.length < AVERAGED) return without('too_few')
  const averageTurnover = recent.reduce((sum, { close, volume }) => sum + close * volume, 0) / AVERAGED
  if (!(averageTurnover > 0)) return without('no_volume')
  const mostASession = (averageTurnover * PARTICIPATION_PCT) / 100
  if (position === null) return { ...without('other_money'), averageTurnover, mostASession }
  return { status: 'told', averageTurnover, position, currency, mostASession, sessionsToSell: position / mostASession }
}
