// What a turn of the agent needs. The object that stores a conversation provides it; each file in this folder uses a
// part of it.

import type { ShellState } from '../kits/shell/index.ts'
import type { RetryPlan } from '../llm/retry.ts'
import type { AgentName } from './agents.ts'
import type { ActionEvent, Announcement, NewEvent, StoredEvent, StreamFrame } from './events.ts'
import type { MaskedStream } from './masking.ts'
import type { MicroagentSet } from './microagents.ts'
import type { WorkspaceContext } from './observations.ts'
import type { Runtime } from './runtime.ts'
import type { StepConfigs } from './step-config.ts'
import type { ToolContext } from './tools/tool.ts'
import type { LoggedCalls, StepOutcome, Turn } from './turn.ts'

export type TurnDeps = {
  /** The events, numbered from 0 without a gap. */
  readonly log: {
    /** The id of the newest event, -1 when there is none. */
    readonly last: number
    /** The event's text, or null. */
    get(id: number): string | null
    /** The events that come after the given id, in order: up to `limit`, or fewer when together they are long. */
    since(after: number, limit: number): StoredEvent[]
    /** The first event after the given id that is of one of the kinds and from the given source. */
    firstAfter(after: number, source: string, kinds: readonly string[]): StoredEvent | null
    /** The id of the newest event of this kind, -1 when there is none. */
    newestOf(kind: string): number
  }
  /** Each change is stored at once, so it survives the isolate. */
  readonly turn: { readonly value: Readonly<Turn>; change(changes: Partial<Turn>): void }
  /** Gets how each step ended, just before that is stored. */
  readonly witness: StepWitness
  readonly calls: LoggedCalls
  /** Stores events and sends them to the clients; returns the id of the first. */
  emit(events: NewEvent[]): number
  /** Requests a call of the loop's `work` at that time, epoch ms; also after a crash. */
  wake(at: number): void
  /**
   * To be called after each step: settles when the next one may begin, so that a long sequence of steps does not block
   * other requests.
   */
  giveWay(): Promise<void> | null
  readonly configs: StepConfigs
  readonly secrets: { maskText(text: string): string; stream(): MaskedStream }
  /** A recording that replaces the model's answers; null when all of it was replayed. */
  readonly replay: { next(): StepOutcome | null }
  readonly retries: RetryPlan
  /** Changes the text of a final answer before it is stored; null when it stays unchanged. */
  readonly review: ((text: string) => Promise<string>) | null
  /** The system message of an agent: its prompt and its tools. */
  introduce(agent: AgentName): ActionEvent
  /** Runs a command in the interpreter at the edge. */
  runCommand(command: string, shell: ShellState, signal: AbortSignal): Promise<CommandOutcome>
  readonly runtimes: Runtimes
  /** What the tools work with. */
  workplace(): Omit<ToolContext, 'signal' | 'onOutput' | 'key'>
  surroundings(workingDir: string): WorkspaceContext
  /** The present microagents of the workspace. */
  microagents(): Promise<MicroagentSet>
  /** Sends a frame to clients that are live. */
  stream(frame: StreamFrame): void
  announce(frame: Announcement): void
}

/** For the loop: notes about the step that it closes next. */
export type StepWitness = {
  saw(outcome: StepOutcome): void
  /** The step has not ended: it is closed to run again. */
  carriesOn(): void
}

/** Where commands run, and which calls a runner has. */
export type Runtimes = {
  /** The place for the effect of this key. */
  choose(key: string): Promise<Runtime>
  /** The key of the effect of an action. */
  keyOf(actionId: number): string
  /** Whether the outcome of the call of this key can still be learned, although an earlier instance began it. */
  isOpen(key: string): boolean
}

/** The stored state of a turn, and a function that changes it. */
export type TurnStore = Pick<TurnDeps, 'log' | 'turn' | 'calls' | 'emit'>

/** `aborted`: the command was stopped before it ended. */
export type CommandOutcome = ShellState & { output: string; exitCode: number; aborted: boolean }
