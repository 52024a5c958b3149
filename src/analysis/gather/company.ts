// The facts about the company besides its prices. Each part has one of four states, which are never mixed up: known,
// without any data, not available for this kind of instrument, and failed.

import { errorFields, log } from '../../lib/log.ts'
import type { Fetched, ProviderRun } from '../../market/bars.ts'
import type { Board, BoardRankings, FlowDay, Fundamentals, Peers } from '../../market/company.ts'
import type { Instrument } from '../../market/instruments.ts'
import type { PartState } from '../codes.ts'
import { withTimeout } from '../ctx.ts'
import { round } from '../texts/format.ts'

export type Part<T> = {
  state: PartState
  value: T | null
  source: string | null
  /** The age of a cached answer. */
  ageSeconds: number | null
  /** Why there is no value, one line for each source. */
  reasons: string[]
  runs: ProviderRun[]
}

export type Company = {
  fundamentals: Part<Fundamentals>
  flow: Part<FlowDay[]>
  boards: Part<Board[]>
  rankings: Part<BoardRankings>
  peers: Part<Peers>
}

/** How each part is requested. */
export type CompanyQuestions = {
  fundamentals(signal: AbortSignal): Promise<Fetched<Fundamentals>>
  flow(signal: AbortSignal): Promise<Fetched<FlowDay[]>>
  boards(signal: AbortSignal): Promise<Fetched<Board[]>>
  rankings(signal: AbortSignal): Promise<Fetched<BoardRankings>>
  /** For the industry among these boards. */
  peers(boards: readonly Board[], signal: AbortSignal): Promise<Fetched<Peers>>
}

type Bounds = { timeoutMs: number; signal: AbortSignal }

/**
 * Requests all parts within one deadline; parts that are missing then have failed. Financial results come from another
 * host, so they are requested in parallel; the rest is requested in sequence, because its host allows one request a
 * second.
 */
export async function gatherCompany(
  questions: CompanyQuestions | null,
  instrument: Instrument,
  bounds: Bounds,
): Promise<Company> {
  if (questions === null || instrument.kind !== 'stock') return unsupportedCompany()
  const ask = <T>(question: (signal: AbortSignal) => Promise<Fetched<T>>) => partOf(question, bounds)
  const ended = new AbortController()
  const timer = setTimeout(() => ended.abort(), bounds.timeoutMs)
  const late = <T>(): Part<T> => failed([`not within ${bounds.timeoutMs} ms`])
  const inTime = <T>(question: (signal: AbortSignal) => Promise<Fetched<T>>) =>
    ended.signal.aborted ? late<T>() : ask<T>(question)
  try {
    const [fundamentals, rest] = await Promise.all([
      ask(questions.fundamentals),
      (async () => {
        const flow = await ask(questions.flow)
        const boards = await inTime(questions.boards)
        const rankings = await inTime(questions.rankings)
        const { value } = boards
        // Without the boards the industry is unknown, for the same reason.
        const peers =
          value === null ? { ...boards, value, runs: [] } : await inTime((stop) => questions.peers(value, stop))
        return { flow, boards, rankings, peers }
      })(),
    ])
    return { fundamentals, ...rest }
  } finally {
    // Otherwise the timer would stay alive for the whole deadline after the report.
    clearTimeout(timer)
  }
}

async function partOf<T>(ask: (signal: AbortSignal) => Promise<Fetched<T>>, bounds: Bounds): Promise<Part<T>> {
  try {
    const bounded = await withTimeout(bounds, ask)
    if (bounded.ok) return fetchedPart(bounded.value)
    return failed([bounded.reason === 'deadline' ? `not within ${bounds.timeoutMs} ms` : 'cancelled'])
  } catch (error) {
    // A report can be made without this part.
    log.error('analysis.company_failed', errorFields(error))
    return failed(['internal'])
  }
}

const NO_DATA = new Set(['empty', 'unknown_symbol'])

function fetchedPart<T>(fetched: Fetched<T>): Part<T> {
  const { runs } = fetched
  if (fetched.ok) {
    const ageSeconds = runs.findLast(({ success }) => success)?.staleSeconds ?? null
    return { state: 'ok', value: fetched.value, source: fetched.provider, ageSeconds, reasons: [], runs }
  }
  const tried = runs.filter(({ errorType }) => errorType !== 'unsupported')
  if (tried.length === 0) return { ...UNSUPPORTED, runs }
  const reasons = tried.map(({ provider, errorMessage, errorType }) => errorMessage ?? `${provider}: ${errorType}`)
  const isEmpty = tried.every(({ errorType }) => errorType !== null && NO_DATA.has(errorType))
  return { state: isEmpty ? 'no_data' : 'failed', value: null, source: null, ageSeconds: null, reasons, runs }
}

const UNSUPPORTED: Part<never> = {
  state: 'not_supported',
  value: null,
  source: null,
  ageSeconds: null,
  reasons: ['no source tells this of such an instrument'],
  runs: [],
}

const failed = <T>(reasons: string[]): Part<T> => ({
  state: 'failed',
  value: null,
  source: null,
  ageSeconds: null,
  reasons,
  runs: [],
})

const unsupportedCompany = (): Company => ({
  fundamentals: UNSUPPORTED,
  flow: UNSUPPORTED,
  boards: UNSUPPORTED,
  rankings: UNSUPPORTED,
  peers: UNSUPPORTED,
})

/** A company that was not requested, with the reason. */
export function withoutCompany(reason: string): Company {
  const part = { ...UNSUPPORTED, state: 'no_data' as const, reasons: [reason] }
  return { fundamentals: part, flow: part, boards: part, rankings: part, peers: part }
}

export function companyRuns({ fundamentals, flow, boards, rankings, peers }: Company): ProviderRun[] {
  return [...fundamentals.runs, ...flow.runs, ...boards.runs, ...rankings.runs, ...peers.runs]
}

/** The direction of the large orders' money; `unavailable` means nothing, neither good nor bad. */
export type FlowBias = 'inflow' | 'outflow' | 'neutral' | 'unavailable'

export type FlowView = {
  bias: FlowBias
  /** Net flow of the main money. A sum is null when there are fewer days: three days are never called five. */
  today: number | null
  days5: number | null
  days10: number | null
  date: string | null
}

export const UNKNOWN_FLOW: FlowView = { bias: 'unavailable', today: null, days5: null, days10: null, date: null }

/** The flow of the newest days, oldest first. Sums with the same sign give a bias; mixed signs or zero are neutral. */
export function flowView(days: readonly FlowDay[]): FlowView {
  const last = days.at(-1)
  if (last === undefined) return UNKNOWN_FLOW
  const sums = { today: last.mainNet, days5: sumOf(days, 5), days10: sumOf(days, 10) }
  const signs = Object.values(sums).flatMap((sum) => (sum === null ? [] : [Math.sign(sum)]))
  const same = signs.every((sign) => sign === signs[0])
  const bias = !same || signs[0] === 0 ? 'neutral' : signs[0] === 1 ? 'inflow' : 'outflow'
  return { bias, ...sums, date: last.date }
}

function sumOf(days: readonly FlowDay[], count: number): number | null {
  if (days.length < count) return null
  return days.slice(-count).reduce((sum, { mainNet }) => sum + mainNet, 0)
}

const DAY_MS = 86_400_000
const YEAR_DAYS = 365

/** A price with its currency (null when unknown) and its day. */
type Priced = { company: Company; price: number | null; priceCurrency: string | null; asOf: string }

export type YearOfDividends = {
  count: number
  /** Per share; null when they were paid in several currencies, which cannot be added. */
  cash: number | null
  currency: string | null
  /** Relative to the price, if both have the same currency. */
  yieldPct: number | null
}

/** The cash dividends of the year that ends on a day, by their ex-dates; null when no source has them. */
export function yearOfDividends({ company, price, priceCurrency, asOf }: Priced): YearOfDividends | null {
  const { value } = company.fundamentals
  if (value === null) return null
  const since = new Date(Date.parse(asOf) - YEAR_DAYS * DAY_MS).toISOString().slice(0, 10)
  const recent = value.dividends.filter(({ exDate }) => exDate !== null && exDate <= asOf && exDate > since)
  const currencies = new Set(recent.map(({ currency }) => currency))
  const [currency = null] = currencies
  const cash = currencies.size > 1 ? null : round(recent.reduce((sum, { cashPerShare }) => sum + cashPerShare, 0))
  const isOfOneMoney = currency === null || currency === priceCurrency
  const yieldPct = cash !== null && price !== null && price > 0 && isOfOneMoney ? round((cash / price) * 100) : null
  return { count: recent.length, cash, currency: currencies.size > 1 ? null : currency, yieldPct }
}

/** Whether there are any results, dividends or ratios of the company. */
export function hasFundamentals(fundamentals: Fundamentals | null): boolean {
  return fundamentals !== null && (fundamentals.report !== null || fundamentals.dividends.length > 0)
}
