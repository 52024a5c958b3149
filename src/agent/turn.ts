// The stored progress of the agent. Every step is stored before it begins, and its outcome together with its end: after a
// crash, the next instance finds either no open step or one with an unknown outcome.

import { z } from 'zod'
import type { ShellState } from '../kits/shell/index.ts'
import type { Metrics } from '../llm/metrics.ts'
import type { ModelFailure, ModelReply, ToolCall } from '../llm/model.ts'
import type { AgentName } from './agents.ts'
import type { NewEvent } from './events.ts'

export type CommandStep = {
  kind: 'command'
  actionId: number
  from: 'agent' | 'user'
  command: string
  hidden: boolean
}

/** A step that has begun and has no recorded outcome yet. */
export type OpenStep =
  /** A command that the user typed, or that the agent without a model makes from a message. */
  | CommandStep
  /** A request to the model is open. */
  | { kind: 'model' }
  /** A tool call is running. */
  | { kind: 'call'; key: number; actionId: number; repeatable: boolean }

/** `isFirst`: the description of the workspace is sent along with the triggered microagents. */
export type PendingRecall = { cause: number; query: string; isFirst: boolean }

/** The turn that is being traced, from its first step on. */
export type TurnTrace = {
  /** Its OpenTelemetry trace id; null when it is not sampled. */
  id: string | null
  from: number
  /** Steps that have ended. */
  steps: number
  /** When the open step began. */
  stepFrom: number
  model: string | null
  inputTokens: number
  outputTokens: number
}

/** A request to a model: what it was and how it ended. */
export type AskedModel = {
  readonly model: string
  readonly reply?: Pick<ModelReply, 'usage' | 'finish' | 'responseId' | 'answeredBy'>
  readonly failure?: ModelFailure | 'stopped'
}

export type Turn = {
  state: AgentState
  agent: AgentName
  /** The id of the newest user event that was processed. */
  cursor: number
  step: OpenStep | null
  /** The user pressed stop while the step ran. */
  stopping: boolean
  /** Whether the set-up is over; until then inputs only wait. */
  opened: boolean
  /** Whether the agent got the description of the workspace. */
  introduced: boolean
  /** The first message if it is a task in natural language, made by the service or a client: no shell can run it. */
  task: number | null
  /** Recall actions whose observation is still missing. */
  recalls: PendingRecall[]
  /** The shell state that lasts from one command to the next. */
  shell: ShellState
  /** Answers of the model so far, and the limit; null until the first. */
  iterations: number
  iterationLimit: number | null
  /** In dollars; null for no limit. */
  budgetLimit: number | null
  /** The values of both settings when the limits were set. */
  limitBase: { iterations: number | null; budget: number | null }
  /** The limit that the turn reached: the next message extends it. */
  limitHit: 'iterations' | 'budget' | null
  /** Failed requests to the model since its last answer, and when it may be asked again, epoch ms. */
  failures: { count: number; retryAt: number }
  /** Restarts since the last step that ended. */
  interruptions: number
  /** Whether it was the user's turn when the agent was paused. */
  pausedAtRest: boolean
  /** The call that waits for the user's confirmation. */
  awaiting: number | null
  metrics: Metrics | null
  /** The text of the unfinished answer when it was last stored. */
  partial: string
  /** Events that condensations removed from the model's view, as ranges in order. */
  forgotten: { start: number; end: number }[]
  /** The summary that replaces them, and its position among the remaining messages. */
  summary: { text: string; offset: number } | null
  /** Whether a context that was too long has been shortened since the last answer. */
  shortened: boolean
  /** The trace of the turn; null between turns and without tracing. */
  trace: TurnTrace | null
}

export const NEW_TURN: Turn = {
  state: 'loading',
  agent: 'ShellAgent',
  cursor: -1,
  step: null,
  stopping: false,
  opened: false,
  introduced: false,
  task: null,
  recalls: [],
  shell: { cwd: '/workspace', env: {}, variables: {} },
  iterations: 0,
  iterationLimit: null,
  budgetLimit: null,
  limitBase: { iterations: null, budget: null },
  limitHit: null,
  failures: { count: 0, retryAt: 0 },
  interruptions: 0,
  pausedAtRest: false,
  awaiting: null,
  metrics: null,
  partial: '',
  forgotten: [],
  summary: null,
  shortened: false,
  trace: null,
}

/** How a step ended: its events, and the new state if it changes. */
export type StepOutcome = {
  readonly events: NewEvent[]
  /** Called in the same write, with the id of the first event. */
  readonly stored?: (firstId: number) => void
  readonly next?: { readonly state: AgentState; readonly reason?: string }
  /** The model that the step asked. */
  readonly asked?: AskedModel
  /** Why it had no outcome of its own, as a word for statistics. */
  readonly failure?: 'interrupted' | 'stopped' | 'internal'
}

export type AgentState =
  | 'loading'
  | 'running'
  | 'awaiting_user_input'
  | 'paused'
  | 'stopped'
  | 'finished'
  | 'rejected'
  | 'error'
  | 'awaiting_user_confirmation'
  | 'user_confirmed'
  | 'user_rejected'
  | 'rate_limited'

/** The states that a client may ask for. */
export const RequestedState = z.enum([
  'running',
  'paused',
  'stopped',
  'user_confirmed',
  'user_rejected',
  'awaiting_user_input',
  'finished',
  'rejected',
])
export type RequestedState = z.infer<typeof RequestedState>

// The stored answers of the model, and the outcome of each call in them. A call is settled exactly once: it is marked
// `started` before its tool runs, and settled in the same write as the event of its outcome.

/** The most calls of one answer that are run. A model that makes more is told so, and can make the rest in its next answer. */
export const MAX_CALLS = 64
export const MAX_ANSWER_LENGTH = 20_000

export type CallState = 'queued' | 'awaiting' | 'confirmed' | 'started' | 'settled'

export type QueuedCall = {
  key: number
  step: number
  call_id: string
  name: string
  arguments: string
  state: CallState
  action_id: number | null
  observation_id: number | null
  answer: string | null
}

export type ModelStepRow = {
  step: number
  first_event: number | null
  text: string
  response_id: string
  vendor: string | null
}

/** The answers and calls of one conversation. */
export type LoggedCalls = {
  /** Stores an answer of the model and queues its calls; returns the number of the step. */
  add(reply: Pick<ModelReply, 'text' | 'calls' | 'responseId' | 'vendor'>, firstEvent: number | null): number
  /** The first call that is not settled. */
  next(): QueuedCall | null
  get(key: number): QueuedCall | null
  step(step: number): ModelStepRow | null
  callsOf(step: number): QueuedCall[]
  /** The answers that were first shown by one of these events, in order. */
  stepsShown(after: number, last: number): ModelStepRow[]
  /** The key of the call whose outcome this event is; null for any other event. */
  keyOf(observationId: number): number | null
  /** The first event of an answer is stored. */
  shown(step: number, eventId: number): void
  mark(key: number, state: CallState, actionId: number): void
  /** Settles the call with its outcome: an event, or a text that only the model sees. */
  settle(key: number, outcome: { observationId: number } | { answer: string }): void
  /** Settles every open call; returns how many there were. */
  dropQueued(answer: string): number
  /** The values that tools store for the conversation. */
  recall(name: string): unknown
  remember(name: string, value: unknown): void
}

/** How many calls of an answer are left out. */
export function surplusCalls(calls: readonly ToolCall[]): number {
  return Math.max(0, calls.length - MAX_CALLS)
}

/** A long text is stored in full in its own event; the model sees this shortened form, with a note. */
export function cutTo(text: string, length: number): string {
  if (text.length <= length) return text
  return `${text.slice(0, length).toWellFormed()}\n[cut here: ${text.length - length} more characters]`
}
