// The redirections of a command whose words are not expanded yet.

import type { Command, Redirection, StepResult } from './shape.ts'

/** They count from when the command is called. */
export interface PendingRedirections {
  list: readonly Redirection[]
  /** The interpreter's own step, for words that they have. */
  run: (as: Command) => Promise<StepResult>
  isDone: boolean
}
