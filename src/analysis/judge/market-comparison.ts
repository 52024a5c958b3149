// The listing against the index of its market: beta and relative strength, from sessions that are over. The bars of the index pass
// the same checks as those of the listing; it changes no advice.

import type { Bar } from '../../market/bars.ts'
import { type Benchmark, benchmarkOf } from '../../market/benchmarks.ts'
import { sessionEnd } from '../../market/calendar.ts'
import { type Consistency, examinePrices } from '../../market/consistency/examine.ts'
import { alarms, type CheckKey, type Finding } from '../../market/consistency/types.ts'
import { type Beta, betaOf, type Paired, paired, relativeStrengthPct } from '../../market/indicators/beta.ts'
import type { Fetched } from '../../market/provider-run.ts'
import { describeFailures } from '../../market/providers/index.ts'
import type { ComparisonStatus } from '../codes.ts'
import type { Inputs } from '../gather/gather.ts'

export type MarketComparison = {
  status: ComparisonStatus
  benchmark: Benchmark | null
  beta: Beta | null
  strengthPct: Record<StrengthSessions, number | null>
  /** The last session that both have. */
  asOf: string | null
  source: string | null
  /** Checks that warn of the index's bars, or failed them. */
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

/** The sessions that are over: today's price beside yesterday's index compares nothing. */
export const wholeSessions = <T>({ bars, partial }: { bars: readonly T[]; partial: boolean }): readonly T[] =>
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

type Made = (status: ComparisonStatus, figures: Partial<MarketComparison>) => MarketComparison

function compared(pair: Paired, made: Made): MarketComparison {
  const strength = STRENGTH_SESSIONS.map((sessions) => [sessions, relativeStrengthPct(pair, sessions)] as const)
  const strengthPct = Object.fromEntries(strength) as MarketComparison['strengthPct']
  const beta = betaOf(pair)
  const isTold = beta !== null || strength.some(([, value]) => value !== null)
  return made(isTold ? 'told' : 'too_few', { beta, strengthPct, asOf: pair.dates.at(-1) ?? null })
}

type CheckedIndex = { bars: readonly Bar[]; consistency: Consistency; source: string }

/** What the index had told by the end of that session, behind the checks. What came after it is nobody's business here. */
function checkedIndex({ index }: Benchmark, fetched: Fetched<Bar[]> & { ok: true }, last: string): CheckedIndex {
  const bars = { ...fetched, value: fetched.value.filter(({ date }) => date <= last) }
  const now = sessionEnd(index.market, last)
  const examined = examinePrices(index, { bars, quote: { ok: false, runs: [] } }, { dividends: null, now })
  return { bars: examined.bars, consistency: examined.consistency, source: fetched.provider }
}

/** Of its volumes nothing is made. */
function alarmsOf(consistency: Consistency): Pick<MarketComparison, 'indexChecks' | 'indexFindings'> {
  const found = alarms(consistency).filter(({ touches }) => touches.some((touch) => touch !== 'volume'))
  return { indexChecks: [...new Set(found.map(({ check }) => check))], indexFindings: found }
}

const reasonOf = (fetched: Fetched<unknown> | null): string | null =>
  fetched === null ? null : describeFailures(fetched.runs)
