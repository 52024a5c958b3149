// A gate with stored state, so that all isolates know what one has learnt about a source. The state is read once for each
// keeper, which lives as long as one analysis. When the store fails, every source counts as working.

import type { Clock } from '../../lib/clock.ts'
import { log } from '../../lib/log.ts'
import {
  type Circuit,
  type CircuitState,
  FAILURES_TO_OPEN,
  type GateKeeper,
  LONGEST_WAIT_MS,
  OPEN_MS,
  settled,
  TRIAL_MS,
} from './gate.ts'

export interface GateStore {
  circuits(): Promise<(CircuitState & { circuit: string })[]>
  /** Adds failures, and opens the circuit until then once there are `enough`. */
  fail(circuit: string, by: { failures: number; enough: number; openUntil: number }): Promise<void>
  close(circuit: string): Promise<void>
  /** Moves the end of an open circuit, if it still is `from`: one of many callers succeeds. */
  postpone(circuit: string, by: { from: number; to: number }): Promise<boolean>
  /** The start of the turn that is now the caller's, epoch ms; null when the line is too long. */
  reserve(service: string, by: { now: number; intervalMs: number; longestWaitMs: number }): Promise<number | null>
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
        const at = await store.reserve(service, { now, intervalMs, longestWaitMs: LONGEST_WAIT_MS })
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
  if (state.openUntil > now) return state.openUntil
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
