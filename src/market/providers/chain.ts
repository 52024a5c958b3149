// Asks the sources for one need (bars, or a quote) one after the other until one gives a good answer, and records every
// attempt. A failing source costs at most its deadline and never the answer of the next one.

import { type Clock, isoMicros } from '../../lib/clock.ts'
import { UpstreamError } from '../../lib/http-client.ts'
import { errorFields, log } from '../../lib/log.ts'
import { type Bar, type Fetched, type ProviderRun, providerRun, type Quote } from '../bars.ts'
import type { Board, BoardRankings, FlowDay, Fundamentals, Peers } from '../company.ts'
import type { CompanyEvents } from '../company-events.ts'
import type { VolumePart } from '../day-volumes.ts'
import type { Instrument } from '../instruments.ts'
import { type Circuit, type GateKeeper, outcomeOf } from './gate.ts'
import type { BarsQuery, MarketDataProvider, MarketNeed, QuoteQuery } from './provider.ts'

/** `timeoutMs` is for one source and one need, including retries. */
export type Chain = { clock: Clock; timeoutMs: number; gate: GateKeeper }

/** A request that any source can answer. */
export type Need<T> = {
  dataType: MarketNeed
  operation: string
  instrument: Instrument
  signal: AbortSignal | undefined
  /** Undefined for a source without a method for it, even if `supports` says otherwise. */
  ask: (provider: MarketDataProvider, signal: AbortSignal) => Promise<T> | undefined
  count: (value: T) => number
}

export function barsNeed(instrument: Instrument, query: BarsQuery): Need<Bar[]> {
  return {
    dataType: 'daily_data',
    operation: 'daily_bars',
    instrument,
    signal: query.signal,
    ask: (provider, signal) => provider.dailyBars?.(instrument, { ...query, signal }),
    count: (bars) => bars.length,
  }
}

export function quoteNeed(instrument: Instrument, query: QuoteQuery): Need<Quote> {
  return {
    dataType: 'realtime_quote',
    operation: 'quote',
    instrument,
    signal: query.signal,
    ask: (provider, signal) => provider.quote?.(instrument, { ...query, signal }),
    count: () => 1,
  }
}

export function dayVolumesNeed(instrument: Instrument, query: QuoteQuery): Need<VolumePart[]> {
  return {
    dataType: 'intraday_volume',
    operation: 'day_volumes',
    instrument,
    signal: query.signal,
    ask: (provider, signal) => provider.dayVolumes?.(instrument, { ...query, signal }),
    count: (parts) => parts.length,
  }
}

export function fundamentalsNeed(instrument: Instrument, query: QuoteQuery): Need<Fundamentals> {
  return {
    dataType: 'fundamentals',
    operation: 'fundamentals',
    instrument,
    signal: query.signal,
    ask: (provider, signal) => provider.fundamentals?.(instrument, { ...query, signal }),
    count: ({ report, dividends }) => (report === null ? 0 : 1) + dividends.length,
  }
}

export function eventsNeed(instrument: Instrument, query: QuoteQuery): Need<CompanyEvents> {
  return {
    dataType: 'company_events',
    operation: 'company_events',
    instrument,
    signal: query.signal,
    ask: (provider, signal) => provider.companyEvents?.(instrument, { ...query, signal }),
    count: ({ earnings, dividends }) => earnings.length + dividends.length,
  }
}

export function flowNeed(instrument: Instrument, query: QuoteQuery): Need<FlowDay[]> {
  return {
    dataType: 'capital_flow',
    operation: 'capital_flow',
    instrument,
    signal: query.signal,
    ask: (provider, signal) => provider.capitalFlow?.(instrument, { ...query, signal }),
    count: (days) => days.length,
  }
}

export function boardsNeed(instrument: Instrument, query: QuoteQuery): Need<Board[]> {
  return {
    dataType: 'belong_boards',
    operation: 'boards',
    instrument,
    signal: query.signal,
    ask: (provider, signal) => provider.boards?.(instrument, { ...query, signal }),
    count: (boards) => boards.length,
  }
}

export function peersNeed(instrument: Instrument, boards: readonly Board[], query: QuoteQuery): Need<Peers> {
  return {
    dataType: 'peer_multiples',
    operation: 'peers',
    instrument,
    signal: query.signal,
    ask: (provider, signal) => provider.peers?.(instrument, boards, { ...query, signal }),
    count: ({ companies }) => companies.length,
  }
}

/** The rankings cover the whole market, which the instrument identifies. */
export function rankingsNeed(instrument: Instrument, query: QuoteQuery): Need<BoardRankings> {
  return {
    dataType: 'sector_rankings',
    operation: 'rankings',
    instrument,
    signal: query.signal,
    ask: (provider, signal) => provider.rankings?.({ ...query, signal }),
    count: ({ industries, concepts }) => industries.top.length + concepts.top.length,
  }
}

/** The first good answer. Throws only when the caller's own signal ends the call. */
export async function firstAnswer<T>(
  chain: Chain,
  providers: readonly MarketDataProvider[],
  need: Need<T>,
): Promise<Fetched<T>> {
  const runs: ProviderRun[] = []
  const unable: ProviderRun[] = []
  for (const provider of providers) {
    if (!provider.supports(need.instrument, need.dataType)) {
      unable.push(unsupported(chain, provider, need))
      continue
    }
    const { answer, run } = await attempt(chain, provider, need)
    runs.push(run)
    if (answer) {
      const provenance = provider.provenance(need.instrument)
      return { ok: true, value: answer.value, provider: provider.name, provenance, runs: linked(runs) }
    }
  }
  // A source that does not have the market is not a failure, unless no source had an answer.
  return { ok: false, runs: [...linked(runs), ...unable] }
}

/** The runs of one need, each linked with the attempt before and after it. */
export function linked(runs: readonly ProviderRun[]): ProviderRun[] {
  const attempts = runs.filter(({ errorType }) => errorType !== 'unsupported')
  return runs.map((run) => {
    const i = attempts.indexOf(run)
    if (i < 0) return run
    return { ...run, fallbackFrom: attempts[i - 1]?.provider ?? null, fallbackTo: attempts[i + 1]?.provider ?? null }
  })
}

type Attempt<T> = { answer: { value: T } | null; run: ProviderRun }

async function attempt<T>(chain: Chain, provider: MarketDataProvider, need: Need<T>): Promise<Attempt<T>> {
  // Bundled data needs no gate.
  if (provider.provenance(need.instrument) !== null) return (await tried(chain, provider, need)).attempt
  const circuit: Circuit = `${provider.name}:${need.dataType}`
  const openUntil = await chain.gate.openUntil(circuit)
  if (openUntil !== null) return { answer: null, run: shutOut(chain, provider, { need, openUntil }) }
  const { attempt: made, error } = await tried(chain, provider, need)
  const outcome = made.answer === null ? outcomeOf(error) : 'answered'
  if (outcome !== null) await chain.gate.settle(circuit, outcome)
  return made
}

function shutOut<T>(
  { clock }: Chain,
  provider: MarketDataProvider,
  { need, openUntil }: { need: Need<T>; openUntil: number },
): ProviderRun {
  const errorMessage = `${provider.name}: circuit_open (until ${isoMicros(openUntil)})`
  return { ...blankRun(provider, need, clock()), errorType: 'circuit_open', errorMessage }
}

async function tried<T>(
  { clock, timeoutMs }: Chain,
  provider: MarketDataProvider,
  need: Need<T>,
): Promise<{ attempt: Attempt<T>; error: unknown }> {
  const startedAt = clock()
  const blank = blankRun(provider, need, startedAt)
  const deadline = AbortSignal.timeout(timeoutMs)
  try {
    const asked = need.ask(provider, need.signal ? AbortSignal.any([need.signal, deadline]) : deadline)
    if (asked === undefined) throw new Error(`${provider.name} has no ${need.operation}`)
    const value = await asked
    const run = { ...blank, success: true, latencyMs: clock() - startedAt, recordCount: need.count(value) }
    return { attempt: { answer: { value }, run }, error: null }
  } catch (error) {
    need.signal?.throwIfAborted()
    const failure = failureOf(provider.name, error, deadline.aborted ? timeoutMs : null)
    report(need, failure, error)
    const run = { ...blank, ...failure, latencyMs: clock() - startedAt }
    return { attempt: { answer: null, run }, error }
  }
}

/** The reason of one of our own rejections; an unexpected error is logged with its stack. */
function report<T>({ instrument, operation }: Need<T>, failure: Failure, error: unknown): void {
  const fields = { ...failure, key: instrument.key, operation }
  if (failure.errorType === 'internal') log.error('market.provider_broke', { ...fields, ...errorFields(error) })
  else if (error instanceof Error && error.cause instanceof Error) {
    log.warn('market.provider_failed', { ...fields, cause: error.cause.message })
  } else log.warn('market.provider_failed', fields)
}

type Failure = Pick<ProviderRun, 'errorType' | 'errorMessage'>

function failureOf(name: string, error: unknown, deadlineMs: number | null): Failure {
  if (error instanceof UpstreamError) {
    const { reason, status, message } = error
    const byStatus = reason === 'http_status' || reason === 'rate_limited'
    return { errorType: byStatus ? `http_${status}` : reason, errorMessage: message }
  }
  if (deadlineMs !== null) return { errorType: 'timeout', errorMessage: `${name}: timeout (${deadlineMs} ms)` }
  return { errorType: 'internal', errorMessage: `${name}: internal error` }
}

function unsupported<T>({ clock }: Chain, provider: MarketDataProvider, need: Need<T>): ProviderRun {
  const errorMessage = `${provider.name}: does not carry ${need.instrument.key}`
  return { ...blankRun(provider, need, clock()), errorType: 'unsupported', errorMessage }
}

function blankRun<T>({ name }: MarketDataProvider, { dataType, operation }: Need<T>, startedAt: number): ProviderRun {
  return providerRun({ dataType, provider: name, operation }, startedAt)
}
