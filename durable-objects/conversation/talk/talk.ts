// A talk about reports: a conversation whose agent looks up market data and reports, and which is in no list of
// conversations. Its events are the truth. A turn is a row that begins with the event of a message and is closed in the
// same write as the event that ends it. So a crash at any moment leaves it running or ended, with at most one answer.

import { changeAgentState, condensation, placeNote, userMessage } from '../../../src/agent/actions.ts'
import type { ActionEvent, NewEvent, StoredEvent } from '../../../src/agent/events.ts'
import { AT_REST } from '../../../src/agent/transitions.ts'
import type { AgentState } from '../../../src/agent/turn.ts'
import { StoredRecord } from '../../stored-record.ts'
import type { EventLog } from '../events/event-log.ts'
import { type TurnStep, TurnWalk } from './turn-walk.ts'
import { digestOf, TalkTurns, type Turn } from './turns.ts'

/** The agent's instructions and tools, as they came with the newest message. */
export type Brief = {
  system: string
  tools: { name: string; description: string; parameters: string }[]
  language: string
  /**
   * In the user's language: why a turn ended without an answer, and the remark under an answer that could not be
   * checked.
   */
  texts: { late: string; stopped: string; noAnswer: string; unchecked: string; found: string }
}

const NO_BRIEF: Brief = {
  system: '',
  tools: [],
  language: 'en',
  texts: { late: '', stopped: '', noAnswer: '', unchecked: '', found: '' },
}

export type Question = {
  message: string
  /** What the client sent with it, as a text for the model; empty for nothing. */
  note: string
  /** The stocks that the message is about. */
  codes: string[]
  brief: Brief
  /** How long the turn may take. */
  patienceMs: number
}

export type TalkMessage = { id: string; role: 'user' | 'assistant'; content: string; createdAt: string }

type Deps = {
  sql: SqlStorage
  log: EventLog
  emit(events: NewEvent[]): number
  /** Resets the limits of a turn. Called before a new question. */
  renewLimit(): void
  /** Gives an event of the user to the agent's loop. */
  receive(event: ActionEvent): number
  /** Requests a call of `expire` at that time, epoch ms; null: at none. */
  expireAt(at: number | null): void
}

/** States after which a turn produces nothing more. */
const ENDS: ReadonlySet<AgentState> = new Set<AgentState>([...AT_REST, 'error', 'stopped', 'paused'])
/** Characters of tool results that an answer is checked against. */
const MAX_RESULT_CHARS = 2_000_000

export class Talk {
  readonly #deps: Deps
  readonly #turns: TalkTurns
  readonly #brief: StoredRecord<Brief>
  readonly #waiting = new Set<() => void>()
  #walk: TurnWalk | null = null

  constructor(deps: Deps) {
    this.#deps = deps
    this.#turns = new TalkTurns(deps.sql)
    this.#brief = new StoredRecord(deps.sql, 'brief', NO_BRIEF, 'on-change')
  }

  get brief(): Readonly<Brief> {
    return this.#brief.value
  }

  /** The turn that has not ended; null when none runs. */
  get running(): number | null {
    return this.#turns.running?.question ?? null
  }

  /** Whether this is the message of the running turn. */
  isRunning(message: string): boolean {
    return this.#turns.running?.digest === digestOf(message)
  }

  /** Every stock that was mentioned, the newest first. */
  get codes(): string[] {
    return this.#turns.codes
  }

  /** The number of messages. */
  get messageCount(): number {
    return this.#turns.messageCount
  }

  /** Begins a turn, in one write; returns the event of the message. */
  begin({ message, note, codes, brief, patienceMs }: Question): number {
    const { log, emit, receive, expireAt, renewLimit } = this.#deps
    this.#brief.change(brief)
    renewLimit()
    const first = log.last + 1
    if (note !== '') emit([placeNote(note)])
    const question = receive(userMessage(message, null, null))
    const deadline = Date.now() + patienceMs
    this.#turns.begin({ question, first, deadline, message, codes })
    expireAt(deadline)
    return question
  }

  /** Looks at events that were just stored: one that ends the turn closes its row. */
  watch(stored: readonly StoredEvent[]): void {
    for (const { id, kind, text } of stored) {
      if (kind !== 'observation:agent_state_changed') continue
      // Stored by this service.
      const { extras } = JSON.parse(text) as { extras: { agent_state: AgentState; reason: string } }
      const turn = this.#turns.running
      if (turn !== null && id > turn.question && ENDS.has(extras.agent_state)) this.#end(turn, id, extras)
    }
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  /** The turn has used up its time. */
  expire(): void {
    const turn = this.#turns.running
    if (turn === null) return
    const { receive, expireAt } = this.#deps
    if (turn.deadline > Date.now()) {
      expireAt(turn.deadline)
      return
    }
    this.#turns.fail(turn.question, `${this.brief.texts.late}${this.#findings(turn)}`)
    receive(changeAgentState('user', 'stopped'))
  }

  /** What happened in the turn after an event; waits a limited time for something to happen. */
  async steps(question: number, { after, waitMs }: { after: number; waitMs: number }): Promise<TurnStep[]> {
    const until = Date.now() + waitMs
    for (;;) {
      const steps = this.#stepsAfter(question, after)
      const leftMs = until - Date.now()
      if (steps.length > 0 || leftMs <= 0 || this.#turns.of(question) === null) return steps
      await this.#change(leftMs)
    }
  }

  /** The newest messages, oldest first. */
  messages(limit: number): TalkMessage[] {
    return this.#turns
      .newest(Math.ceil(limit / 2) + 1)
      .flatMap((turn) => this.#messagesOf(turn))
      .slice(-limit)
  }

  /** The results of its tools, the newest first, to check an answer against. */
  results(): { text: string; record: string }[] {
    const { log } = this.#deps
    const found: { text: string; record: string }[] = []
    const next = (after: number) => log.firstAfter(after, 'agent', ['observation:mcp'])
    for (let event = next(-1); event !== null; event = next(event.id)) {
      // Stored by this service.
      const { content, extras } = JSON.parse(event.text) as { content: string; extras: { record?: string } }
      if (extras.record !== undefined) found.push({ text: content, record: extras.record })
    }
    let left = MAX_RESULT_CHARS
    return found.reverse().filter(({ text, record }) => {
      left -= text.length + record.length
      return left >= 0
    })
  }

  #end(turn: Turn, ended: number, { agent_state: state, reason }: { agent_state: AgentState; reason: string }): void {
    const { log, emit, expireAt } = this.#deps
    const answer = log.firstAfter(turn.question, 'agent', ['action:message'])?.id ?? null
    const failure = answer === null ? (turn.failure ?? this.#failureOf(state, reason)) : null
    this.#turns.end(turn.question, { ended, answer, failure })
    expireAt(null)
    // The user sees the failed turn. The model must not see it: it would read like something that was said.
    if (answer === null) emit([condensation({ ids: { start: turn.first, end: ended }, summary: null })])
  }

  #failureOf(state: AgentState, reason: string): string {
    const { texts } = this.brief
    if (state === 'stopped' || state === 'paused') return texts.stopped
    const told = this.#walkOf(this.#turns.running?.question ?? 0).trouble
    return told ?? (reason === '' ? texts.noAnswer : reason)
  }

  /** The tools that had found something by then, as a sentence. */
  #findings({ question }: Turn): string {
    const { found } = this.#walkOf(question)
    return found.length === 0 ? '' : ` ${this.brief.texts.found}${found.join(', ')}`
  }

  #stepsAfter(question: number, after: number): TurnStep[] {
    const turn = this.#turns.of(question)
    if (turn === null) return []
    const walk = this.#walkOf(question)
    const steps = walk.steps.filter(({ id }) => id > after)
    // An ended turn always ends with this step, even when `after` is larger than its id.
    if (turn.ended === null) return steps
    const content = turn.answer === null ? null : this.#said(turn.answer).content
    const seconds = walk.secondsUntil(this.#said(turn.ended).timestamp)
    const { ended: id, failure } = turn
    return [...steps, { id, kind: 'ended', content, failure, steps: walk.answers, seconds }]
  }

  #walkOf(question: number): TurnWalk {
    const turn = this.#turns.of(question)
    if (this.#walk?.question !== question) this.#walk = new TurnWalk(question)
    this.#walk.go(this.#deps.log, turn?.ended ?? this.#deps.log.last)
    return this.#walk
  }

  #messagesOf({ question, answer, ended, failure }: Turn): TalkMessage[] {
    const asked = this.#said(question)
    const user = { id: String(question), role: 'user', content: asked.content, createdAt: asked.timestamp } as const
    if (ended === null) return [user]
    const said = this.#said(answer ?? ended)
    const content = answer === null ? (failure ?? '') : said.content
    return [user, { id: String(answer ?? ended), role: 'assistant', content, createdAt: said.timestamp }]
  }

  #said(id: number): { content: string; timestamp: string } {
    // Stored by this service.
    const event = JSON.parse(this.#deps.log.get(id) ?? '{}') as { args?: { content?: string }; timestamp?: string }
    return { content: event.args?.content ?? '', timestamp: event.timestamp ?? '' }
  }

  #change(waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(wake)
        resolve()
      }, waitMs)
      const wake = () => {
        clearTimeout(timer)
        resolve()
      }
      this.#waiting.add(wake)
    })
  }
}
