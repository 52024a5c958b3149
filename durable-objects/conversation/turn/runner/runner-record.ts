// The stored state of a conversation's runner.

import type { RunnerDescription } from '../../../../src/runners/wire.ts'

export type RunnerRecord = {
  /** The runner that has the copy of the workspace; null before there was one. */
  runner: RunnerDescription | null
  /**
   * The id of a runner whose key has ended, so that it does not come back. It applies only while it is the runner
   * above.
   */
  barred: string | null
  /** SHA-256 of the secret of the ticket, in hex; null when no runner may connect. */
  ticketHash: string | null
  /** The id of the copy: a new copy begins with the whole tree. */
  epoch: string
  /** Grows with each transfer that both sides have completed, in either direction. */
  revision: number
  /**
   * The last transfer from the runner that is in the tree, and the revision that it made: the runner may not have got
   * the answer.
   */
  lastUp: { transfer: number; revision: number } | null
  /** Paths that were on a runner and not in the tree when its last command ended. */
  left: { runner: string; paths: readonly string[] } | null
  /** Where commands run, as last reported in an event: the id of a runner, or `edge`; null before the first report. */
  told: string | null
}

export const NO_RUNNER: RunnerRecord = {
  runner: null,
  barred: null,
  ticketHash: null,
  epoch: '',
  revision: 0,
  lastUp: null,
  left: null,
  told: null,
}
