// When silence means that a runtime is lost. A machine that is merely busy holds answers back for as long as it is busy; a
// runtime that works on something long answers when it is done. Neither gets better by a restart. Lost is one that waits for
// something that does not come, which uses no processor time, and one that turns in a circle, which uses all there is.

import type { Usage } from './usage.ts'

/** An idle runtime answers within milliseconds of being asked. */
const DEAD_AFTER_MS = 8_000
const SPINNING_AFTER_MS = 60_000
/** Of one core: what a sleeping process uses for its timers, and what a busy one may miss by the clock's grain. */
const NOTHING = 0.02
const EVERYTHING = 0.9

/** Why a runtime that has not answered for this long is lost, or null. `null` usage: the machine does not tell. */
export function verdictOn(silentMs: number, before: Usage | null, after: Usage | null): string | null {
  if (before === null || after === null) {
    return silentMs >= SPINNING_AFTER_MS ? `the runtime did not answer for ${SPINNING_AFTER_MS / 1000} s` : null
  }
  // Time in which it could have run counts as well: others had its core.
  const share = (wantedBy(after) - wantedBy(before)) / silentMs
  // Less than before is another runtime: what it does is judged from its own beginning.
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
