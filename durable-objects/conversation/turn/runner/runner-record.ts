// What a conversation knows of its runner, as it is stored.

import type { RunnerDescription } from '../../../../src/runners/wire.ts'

export type RunnerRecord = {
  /** The runner that has the copy of the workspace; null before the first. */
  runner: RunnerDescription | null
  /** The id of a runner whose key has ended: it does not come back. Null where it is not the one above. */
  barred: string | null
  /** SHA-256 of the secret of the ticket, in hex; null when no runner may connect. */
  ticketHash: string | null
  /** Which copy: a new one begins with the whole tree. */
  epoch: string
  /** Grows with each transfer that both sides have completed, in either direction. */
  revision: number
  /** The last upward transfer that is in the tree, and the revision that it made: its answer may have been lost. */
  lastUp: { transfer: number; revision: number } | null
  /** What a runner had that is not in the tree, when its last command ended. */
  left: { runner: string; paths: readonly string[] } | null
  /** Where commands run, as the events tell it: the id of a runner, or `edge`; null before anything was told. */
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
