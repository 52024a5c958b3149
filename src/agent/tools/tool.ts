// The interface of a tool: its description for the model, the action that a call becomes, and the observation.

import type { OutputFilter, ShellCommand, ShellState } from '../../kits/shell/index.ts'
import type { AddressPolicy } from '../../lib/address-policy.ts'
import type { DoorLimits } from '../../lib/guarded-fetch.ts'
import type { JsonSchema } from '../../llm/model.ts'
import type { FileSystem } from '../../workspace/file-system.ts'
import type { AgentName } from '../agents.ts'
import type { ActionEvent, ObservationEvent } from '../events.ts'
import type { Runtime } from '../runtime.ts'
import type { ActionKind, ToolHints } from './action-kind.ts'

/** What a tool may use while it runs. */
export type ToolContext = {
  readonly files: FileSystem
  /** Where a command runs now. */
  runtime(key: string): Promise<Runtime>
  /** The key of this call's effect. */
  readonly key: string
  /** The session of the shell, as the last command left it. */
  readonly shell: ShellState
  /** Keeps what a command changed of the session. */
  keepShell(shell: ShellState): void
  /** The user's secrets as environment variables of the shell, by name. */
  readonly secrets: Readonly<Record<string, string>>
  /** Fires when the user stops the agent. */
  readonly signal: AbortSignal
  /** Hides secrets in output that comes in pieces. */
  outputFilter(): OutputFilter
  /** Output as it comes: shown to the clients, not stored. */
  onOutput(text: string): void
  /** A value that the tool stores under a name for the conversation (the editor's undo, the task list); JSON. */
  recall(name: string): unknown
  remember(name: string, value: unknown): void
}

/** An observation whose action has no id yet. */
export type Outcome = Omit<ObservationEvent, 'cause'>

/** A call with valid arguments: it knows its action and can run once. */
export type PreparedCall = {
  /** The action event; `thought` is filled in by the caller. */
  readonly action: ActionEvent
  /** Never throws because of the model's input; throws for a bug in this service, or when the signal fired. */
  run(context: ToolContext): Promise<Outcome>
}

/** A tool as an agent has it in one step. */
export type Tool = {
  readonly name: string
  readonly description: string
  readonly parameters: JsonSchema
  /** Whether a call whose outcome was lost in a crash may run again. */
  readonly repeatable: boolean
  /** For a remote tool, the annotations of its server; null for our own. */
  readonly hints: ToolHints | null
  /** Throws `BadCall` with what was wrong, for the model to read. */
  prepare(args: unknown): PreparedCall
}

/** Agents that use a model, and so have tools. */
export type ToolAgent = Exclude<AgentName, 'ShellAgent'>

export type BrowseDeps = {
  readonly policy: AddressPolicy
  readonly fetch?: typeof fetch
  readonly limits?: Partial<DoorLimits>
}

/** The dependencies of tools. */
export type ToolDeps = {
  /** Commands of the shell besides those that it has anyway: `git`, and those of the shell kit. */
  readonly commands: readonly ShellCommand[]
  /** What the commands run on, as far as it is known when the model is asked. */
  readonly runsOn: 'edge' | 'runner'
  /** Whether that machine has a kernel for a notebook. */
  readonly hasKernel?: boolean
  /** Whether it has a browser. */
  readonly hasBrowser?: boolean
  readonly shellTimeoutMs: number
  readonly seesImages: boolean
  /** The fetch for web pages and its limits; without it the agent has no `browse`. */
  readonly browse?: BrowseDeps
}

/** A tool of ours with all that the rest of the service knows of it. It is its file, and its line in `index.ts`. */
export type ToolUnit = {
  readonly name: string
  /** The agents that have the tool. */
  readonly agents: readonly ToolAgent[]
  /** The kinds of its actions: risk, confirmation, text for the model, view and replay. */
  readonly kinds: readonly ActionKind[]
  /** Whether its results are pages of the web, of which the model keeps the newest two in sight. */
  readonly isPage: boolean
  /** Null where the agent cannot have the tool. */
  open(deps: ToolDeps): Tool | null
}

/** The arguments of a call do not fit; `message` tells the model how. */
export class BadCall extends Error {
  override readonly name = 'BadCall'
}
