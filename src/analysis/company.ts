// What is known of the company beside its prices, each part in one of four states that are never told as one: known, without
// any data, not to be had for this kind of instrument, and failed.

import { errorFields, log } from '../lib/log.ts'
import type { Board, BoardRankings, FlowDay, Fundamentals } from '../market/company.ts'
import type { Instrument } from '../market/instruments.ts'
import type { Fetched, ProviderRun } from '../market/provider-run.ts'
import { within } from './deadline.ts'

export type PartState = 'ok' | 'no_data' | 'not_supported' | 'failed'

export type Part<T> = {
  state: PartState
  value: T | null
  source: string | null
  /** How old a kept answer is. */
  ageSeconds: number | null
  /** Why there is no value, a line for each source. */
  reasons: string[]
  runs: ProviderRun[]
}

export type Company = {
  fundamentals: Part<Fundamentals>
  flow: Part<FlowDay[]>
  boards: Part<Board[]>
  rankings: Part<BoardRankings>
}

/** How each part is asked for. */
export type CompanyQuestions = {
  fundamentals(signal: AbortSignal): Promise<Fetched<Fundamentals>>
  flow(signal: AbortSignal): Promise<Fetched<FlowDay[]>>
  boards(signal: AbortSignal): Promise<Fetched<Board[]>>
  rankings(signal: AbortSignal): Promise<Fetched<BoardRankings>>
}

type Bounds = { timeoutMs: number; signal: AbortSignal }

/**
 * All parts within one deadline; what is not there by then has failed. Results come from another host than the rest, so they
 * are asked for beside it; the rest is asked in turn, because its host bears one request a second.
 */
export async function gatherCompany(
  questions: CompanyQuestions | null,
  instrument: Instrument,
  bounds: Bounds,
): Promise<Company> {
  if (questions === null || instrument.kind !== 'stock') return unsupportedCompany()
  const ask = <T>(question: (signal: AbortSignal) => Promise<Fetched<T>>) => partOf(question, bounds)
  const endsAt = AbortSignal.timeout(bounds.timeoutMs)
  const late = <T>(): Part<T> => failed([`not within ${bounds.timeoutMs} ms`])
  const inTime = <T>(question: (signal: AbortSignal) => Promise<Fetched<T>>) =>
    endsAt.aborted ? late<T>() : ask<T>(question)
  const [fundamentals, rest] = await Promise.all([
    ask(questions.fundamentals),
    (async () => {
      const flow = await ask(questions.flow)
      const boards = await inTime(questions.boards)
      return { flow, boards, rankings: await inTime(questions.rankings) }
    })(),
  ])
  return { fundamentals, ...rest }
}

async function partOf<T>(ask: (signal: AbortSignal) => Promise<Fetched<T>>, bounds: Bounds): Promise<Part<T>> {
  try {
    const bounded = await within(bounds, ask)
    if (bounded.ok) return fetchedPart(bounded.value)
    return failed([bounded.reason === 'deadline' ? `not within ${bounds.timeoutMs} ms` : 'cancelled'])
  } catch (error) {
    // One part of many: a report is made without it.
    log.error('analysis.company_failed', errorFields(error))
    return failed(['internal'])
  }
}

const NO_DATA = new Set(['empty', 'unknown_symbol'])

export function fetchedPart<T>(fetched: Fetched<T>): Part<T> {
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

export const unsupportedCompany = (): Company => ({
  fundamentals: UNSUPPORTED,
  flow: UNSUPPORTED,
  boards: UNSUPPORTED,
  rankings: UNSUPPORTED,
})

/** A company about which nobody was asked, and why. */
export function withoutCompany(reason: string): Company {
  const part = { ...UNSUPPORTED, state: 'no_data' as const, reasons: [reason] }
  return { fundamentals: part, flow: part, boards: part, rankings: part }
}

export function companyRuns({ fundamentals, flow, boards, rankings }: Company): ProviderRun[] {
  return [...fundamentals.runs, ...flow.runs, ...boards.runs, ...rankings.runs]
}
