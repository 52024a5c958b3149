// A circuit breaker for failing sources, and a rate limiter for strict ones. The state survives the isolate if the
// keeper stores it; `memoryGate` is for a single process.

import type { Clock } from '../../lib/clock.ts'
import { UpstreamError } from '../../lib/http-client.ts'
import { log } from '../../lib/log.ts'
import { sleep } from '../../lib/wait-at-most.ts'

/** For one source and one need: quotes of a source may work while its bars fail. */
export type Circuit = `${string}:${string}`

export interface GateKeeper {
  /** Until when the circuit is open, epoch ms; null when it is closed. After that time one caller may try. */
  openUntil(circuit: Circuit): Promise<number | null>
  settle(circuit: Circuit, outcome: Outcome): Promise<void>
  /** Reserves the next turn at a service and returns the wait in ms; null when it is too long. */
  turn(service: string, intervalMs: number): Promise<number | null>
}

/** `refused` is an answer that forbids further requests: a single one opens the circuit. */
export type Outcome = 'answered' | 'failed' | 'refused'

export type Pace = (service: string, intervalMs: number, signal: AbortSignal | undefined) => Promise<void>

const FAILURES_TO_OPEN = 3
const OPEN_MS = 300_000
/** How long the one trial after that excludes other callers, ms. */
const TRIAL_MS = 30_000
/** The longest wait for a turn, ms. */
const LONGEST_WAIT_MS = 6_000

type CircuitState = { failures: number; openUntil: number }

/** The state of the circuit after the outcome. */
function settled(state: CircuitState, outcome: Outcome, now: number): CircuitState {
  if (outcome === 'answered') return { failures: 0, openUntil: 0 }
  const failures = outcome === 'refused' ? FAILURES_TO_OPEN : state.failures + 1
  return { failures, openUntil: failures >= FAILURES_TO_OPEN ? now + OPEN_MS : 0 }
}

/** How much the clocks of two machines may differ, ms. A later time comes from a clock that has been set back since. */
const SLACK_MS = 60_000
const isStillOpen = ({ openUntil }: CircuitState, now: number): boolean =>
  openUntil > now && openUntil <= now + OPEN_MS + SLACK_MS
const latestTurn = (now: number, intervalMs: number): number => now + LONGEST_WAIT_MS + intervalMs + SLACK_MS

export function memoryGate(clock: Clock): GateKeeper {
  const circuits = new Map<Circuit, CircuitState>()
  const turns = new Map<string, number>()
  return {
    async openUntil(circuit) {
      const state = circuits.get(circuit)
      if (state === undefined || state.openUntil === 0) return null
      if (isStillOpen(state, clock())) return state.openUntil
      circuits.set(circuit, { ...state, openUntil: clock() + TRIAL_MS })
      return null
    },
    async settle(circuit, outcome) {
      circuits.set(circuit, settled(circuits.get(circuit) ?? { failures: 0, openUntil: 0 }, outcome, clock()))
    },
    async turn(service, intervalMs) {
      const now = clock()
      const free = turns.get(service) ?? 0
      const at = free > latestTurn(now, intervalMs) ? now : Math.max(now, free)
      if (at > now + LONGEST_WAIT_MS) return null
      turns.set(service, at + intervalMs)
      return at - now
    },
  }
}

/** Waits for the turn, or refuses at once when it is too late. */
export function paceOf(keeper: Pick<GateKeeper, 'turn'>): Pace {
  return async (service, intervalMs, signal) => {
    const waitMs = await keeper.turn(service, intervalMs)
    if (waitMs === null) throw new UpstreamError({ service, reason: 'crowded', detail: 'too many wait already' })
    if (waitMs > 0) await sleep(waitMs, signal)
  }
}

// The failure may be caused by the listing: a suspended one has no price. It does not count against the source.
const NO_SIGN = new Set(['wrong_symbol', 'empty', 'bad_price', 'bad_dates', 'crowded'])
const REFUSALS = new Set(['rate_limited', 'refused'])

/** The effect of a failed attempt on the circuit; null for none. */
export function outcomeOf(error: unknown): Outcome | null {
  if (!(error instanceof UpstreamError)) return 'failed'
  if (error.reason === 'unknown_symbol') return 'answered'
  if (NO_SIGN.has(error.reason)) return null
  return REFUSALS.has(error.reason) || error.status === 403 ? 'refused' : 'failed'
}

// A gate with stored state, so that all isolates share what is known about a source. The state is read once for each
// keeper, which lives as long as one analysis. When the store fails, every source counts as working.

export interface GateStore {
  circuits(): Promise<(CircuitState & { circuit: string })[]>
  /** Adds failures, and opens the circuit until then once there are `enough`. */
  fail(circuit: string, by: { failures: number; enough: number; openUntil: number }): Promise<void>
  close(circuit: string): Promise<void>
  /** Moves the end of an open circuit if it still is `from`: only one of several callers succeeds. */
  postpone(circuit: string, by: { from: number; to: number }): Promise<boolean>
  /**
   * The start of the caller's turn, epoch ms; null when the queue is too long. A turn later than `latest` was reserved by
   * a clock that has been set back since, and is ignored.
   */
  reserve(
    service: string,
    by: { now: number; intervalMs: number; longestWaitMs: number; latest: number },
  ): Promise<number | null>
}

export function storedGate(store: GateStore, clock: Clock): GateKeeper {
  let read: Map<string, CircuitState> | null = null
  const states = async () => {
    read ??= new Map((await store.circuits()).map(({ circuit, ...state }) => [circuit, state]))
    return read
  }
  return {
    openUntil: (circuit) => orElse(null, () => openUntil(store, { clock, circuit, states })),
    settle: (circuit, outcome) =>
      orElse(undefined, async () => {
        const known = await states()
        const state = known.get(circuit) ?? { failures: 0, openUntil: 0 }
        if (outcome === 'answered') {
          if (state.failures > 0) await store.close(circuit)
          known.delete(circuit)
          return
        }
        const failures = outcome === 'refused' ? FAILURES_TO_OPEN : 1
        await store.fail(circuit, { failures, enough: FAILURES_TO_OPEN, openUntil: clock() + OPEN_MS })
        known.set(circuit, settled(state, outcome, clock()))
      }),
    turn: (service, intervalMs) =>
      orElse(0, async () => {
        const now = clock()
        const at = await store.reserve(service, {
          ...{ now, intervalMs, longestWaitMs: LONGEST_WAIT_MS },
          latest: latestTurn(now, intervalMs),
        })
        return at === null ? null : Math.max(0, at - now)
      }),
  }
}

type GateCheck = { clock: Clock; circuit: Circuit; states: () => Promise<Map<string, CircuitState>> }

async function openUntil(store: GateStore, { clock, circuit, states }: GateCheck): Promise<number | null> {
  const known = await states()
  const state = known.get(circuit)
  if (state === undefined || state.openUntil === 0) return null
  const now = clock()
  if (isStillOpen(state, now)) return state.openUntil
  const to = now + TRIAL_MS
  const isOurs = await store.postpone(circuit, { from: state.openUntil, to })
  known.set(circuit, { ...state, openUntil: to })
  return isOurs ? null : to
}

async function orElse<T>(fallback: T, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    log.warn('market.gate_failed', { cause: error instanceof Error ? error.message : String(error) })
    return fallback
  }
}
