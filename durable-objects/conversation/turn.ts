// How far the agent has got, as it stands on disk. Every step is written here before it begins, and its outcome together
// with the end of it: whatever kills the isolate, the next one finds either no open step or one whose outcome is unknown.

import type { AgentName } from '../../src/agent/agents.ts'
import type { NewEvent } from '../../src/agent/events.ts'
import type { AgentState } from '../../src/agent/states.ts'
import type { Metrics } from '../../src/llm/metrics.ts'
import type { ShellState } from '../../src/workspace/shell-state.ts'
import type { CallQueue } from './call-queue.ts'
import type { EventLog } from './event-log.ts'
import type { Meta } from './meta.ts'

export type CommandStep = {
  kind: 'command'
  actionId: number
  from: 'agent' | 'user'
  command: string
  hidden: boolean
}

/** What was begun and has no recorded outcome yet. */
export type OpenStep =
  /** A command that the user typed, or that the agent without a model makes of a message. */
  | CommandStep
  /** The model is being asked. */
  | { kind: 'model' }
  /** A call of the model's runs. */
  | { kind: 'call'; key: number; actionId: number; repeatable: boolean }

/** `isFirst`: the surroundings are told along with what the message calls for. */
export type PendingRecall = { cause: number; query: string; isFirst: boolean }

export type Turn = {
  state: AgentState
  agent: AgentName
  /** The id of the newest user event that was taken up. */
  cursor: number
  step: OpenStep | null
  /** The user pressed stop while the step ran. */
  stopping: boolean
  /** Whether the set-up is over; until then inputs only wait. */
  opened: boolean
  /** Whether the agent was told about its surroundings. */
  introduced: boolean
  /** The first message, where it is a task in words that the service or a client made: no shell can run it. */
  task: number | null
  /** What the agent is still to be told, for these recall actions. */
  recalls: PendingRecall[]
  /** What lasts from one command to the next. */
  shell: ShellState
  /** Answers of the model so far, and how many there may be; null until the first. */
  iterations: number
  iterationLimit: number | null
  /** In dollars; null for none. */
  budgetLimit: number | null
  /** What the settings said of both when the limits were set. */
  limitBase: { iterations: number | null; budget: number | null }
  /** Which limit the turn ran into: the next message extends it. */
  limitHit: 'iterations' | 'budget' | null
  /** Times that the model was asked in vain since the last answer, and when it may be asked again, epoch ms. */
  failures: { count: number; retryAt: number }
  /** Restarts since the last step that ended. */
  interruptions: number
  /** It was the user's turn when the agent was paused. */
  pausedAtRest: boolean
  /** The call that waits for the user's word. */
  awaiting: number | null
  metrics: Metrics | null
  /** What the model has written of the answer under way, a moment ago. */
  partial: string
  /** Events that condensations took out of what the model sees, from the first to the last, in order. */
  forgotten: { start: number; end: number }[]
  /** What stands in their place, after so many things that the model still sees. */
  summary: { text: string; offset: number } | null
  /** Whether a context that was too long has been shortened since the last answer. */
  shortened: boolean
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
}

/** What every kind of step works on. */
export type Desk = {
  readonly log: EventLog
  readonly turn: Meta<Turn>
  readonly calls: CallQueue
  /** Stores events and sends them to the clients; returns the id of the first. */
  emit(events: NewEvent[]): number
  /** Has the loop's `work` called at that time, epoch ms, and again after a crash. */
  wake(at: number): void
}

/** Whether the user has written what the model was not asked yet. */
export function messageWaits({ log, turn }: Pick<Desk, 'log' | 'turn'>): boolean {
  return log.firstAfter(turn.value.cursor, 'user', ['action:message']) !== null
}

/** The messages that were not taken up yet, in order. */
export function waitingTexts({ log, turn }: Pick<Desk, 'log' | 'turn'>): string[] {
  const texts: string[] = []
  const next = (after: number) => log.firstAfter(after, 'user', ['action:message'])
  for (let message = next(turn.value.cursor); message !== null; message = next(message.id)) {
    // Our own row: an action that was validated when it came in.
    const { args } = JSON.parse(message.text) as { args: { content: string } }
    texts.push(args.content)
  }
  return texts
}
