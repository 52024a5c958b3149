// What a tool is: what the model is told of it, the action that a call of it becomes, and what running it observes.

import type { JsonSchema } from '../../llm/model.ts'
import type { FileSystem } from '../../workspace/file-system.ts'
import type { OutputFilter } from '../../workspace/shell-output.ts'
import type { ShellState } from '../../workspace/shell-state.ts'
import type { ActionEvent, ObservationEvent } from '../events.ts'
import type { ToolHints } from '../security/action-rules.ts'

/** What a tool may touch while it runs. */
export type ToolContext = {
  readonly files: FileSystem
  /** The session of the shell: where the command before left off. */
  readonly shell: ShellState
  /** Keeps what a command changed of the session. */
  keepShell(shell: ShellState): void
  /** Environment variables of the shell that the user made secret, by name. */
  readonly secrets: Readonly<Record<string, string>>
  /** Fires when the user stops the agent. */
  readonly signal: AbortSignal
  /** Hides secrets in output that comes in pieces. */
  outputFilter(): OutputFilter
  /** Output as it comes: shown to the clients, not stored. */
  onOutput(text: string): void
  /** A value that the tool keeps under a name for the whole conversation (the editor's undo, the task list); JSON. */
  recall(name: string): unknown
  remember(name: string, value: unknown): void
}

/** An observation before anybody knows the id of the action that it answers. */
export type Outcome = Omit<ObservationEvent, 'cause'>

/** A call whose arguments have been checked: it knows its action and can be run, once. */
export type PreparedCall = {
  /** The action event; `thought` is filled in by the caller. */
  readonly action: ActionEvent
  /** Never throws for what the model did; it throws for a bug of ours, or when the signal fired. */
  run(context: ToolContext): Promise<Outcome>
}

export type Tool = {
  readonly name: string
  readonly description: string
  readonly parameters: JsonSchema
  /** Whether a call whose outcome a crash has lost may simply be run again. */
  readonly repeatable: boolean
  /** Of a tool that somebody else runs: what they say of it. */
  readonly hints?: ToolHints
  /** Throws `BadCall` with what was wrong, for the model to read. */
  prepare(args: unknown): PreparedCall
}

/** The arguments of a call do not fit; `message` tells the model how. */
export class BadCall extends Error {
  override readonly name = 'BadCall'
}
