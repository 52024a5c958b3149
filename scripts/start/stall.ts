// Decides when a runtime without responses is lost. A busy machine delays responses as long as it is busy; a
// runtime with long work responds when it is done. A restart helps in neither case. A runtime is lost if it waits for
// an event that never comes, which uses no CPU time, or if it is in an endless loop, which uses all CPU time.

import type { Usage } from './usage.ts'

/** An idle runtime answers within milliseconds of being asked. */
const DEAD_AFTER_MS = 8_000
const SPINNING_AFTER_MS = 60_000
/** Share of one core: the CPU use of an idle process for its timers, and the measuring error for a busy one. */
const NOTHING = 0.02
const EVERYTHING = 0.9

/** The reason why a runtime without a response for this time is lost, or null. `null` usage: the system does not provide it. */
export function verdictOn(silentMs: number, before: Usage | null, after: Usage | null): string | null {
  if (before === null || after === null) {
    return silentMs >= SPINNING_AFTER_MS ? `the runtime did not answer for ${SPINNING_AFTER_MS / 1000} s` : null
  }
  // Time in which it could have run counts as well: others had its core.
  const share = (wantedBy(after) - wantedBy(before)) / silentMs
  // A smaller value than before means a new runtime, which is judged from its own start.
  if (share < 0) return null
  if (silentMs >= DEAD_AFTER_MS && share < NOTHING) {
    return `the runtime did nothing and did not answer for ${DEAD_AFTER_MS / 1000} s`
  }
  if (silentMs >= SPINNING_AFTER_MS && share >= EVERYTHING) {
    return `the runtime was busy without answering anything for ${SPINNING_AFTER_MS / 1000} s`
  }
  return null
}

const wantedBy = ({ ranMs, waitedMs }: Usage): number => ranMs + waitedMs
