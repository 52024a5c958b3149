// The redirections of a command whose words are not expanded yet.

import type { Command, Redirection, StepResult } from './shape.ts'

/** They apply from the call of the command on. */
export interface PendingRedirections {
  list: readonly Redirection[]
  /** The interpreter's own step, for words in them. */
  run: (as: Command) => Promise<StepResult>
  isDone: boolean
}
