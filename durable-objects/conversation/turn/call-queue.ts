// The answers of the model, and the outcome of each call in them. A call is settled exactly once: it is marked `started`
// before its tool runs, and settled in the same write as the event of its outcome. A call that is found started after a
// crash has an unknown outcome.

import {
  type CallState,
  cutTo,
  type LoggedCalls,
  MAX_ANSWER_LENGTH,
  MAX_CALLS,
  type ModelStepRow,
  type QueuedCall,
} from '../../../src/agent/turn.ts'
import type { ModelReply, ToolCall } from '../../../src/llm/model.ts'
import { NamedTexts } from '../../named-texts.ts'
import { firstRow, rows } from '../../sql.ts'
import { MODEL_TABLES } from '../schema.ts'

const BEGUN = 'The service failed while this ran. Its outcome is unknown; it was not run again.'

/** A row holds 2 MB; a UTF-16 unit takes three bytes at most. */
const MAX_ARGUMENTS_LENGTH = 600_000
const MAX_TEXT_LENGTH = 300_000
const MAX_VENDOR_LENGTH = 300_000

export class CallQueue implements LoggedCalls {
  readonly #sql: SqlStorage
  readonly #memory: NamedTexts
  #isThere: boolean

  constructor(sql: SqlStorage) {
    this.#sql = sql
    this.#memory = new NamedTexts(sql, 'tool_memory')
    this.#isThere = firstRow(sql, "SELECT 1 FROM sqlite_master WHERE name = 'tool_calls'") !== null
  }

  /** Stores an answer of the model and queues its calls; returns the number of the step. */
  add(reply: Pick<ModelReply, 'text' | 'calls' | 'responseId' | 'vendor'>, firstEvent: number | null): number {
    this.#prepare()
    const vendor = reply.vendor === undefined ? null : JSON.stringify(reply.vendor)
    const step = firstRow<{ step: number }>(
      this.#sql,
      'INSERT INTO model_steps (first_event, text, response_id, vendor) VALUES (?, ?, ?, ?) RETURNING step',
      firstEvent,
      cutTo(reply.text, MAX_TEXT_LENGTH),
      reply.responseId.slice(0, 1_000),
      vendor !== null && vendor.length > MAX_VENDOR_LENGTH ? null : vendor,
    )
    if (step === null) throw new Error('the step was not stored')
    for (const call of reply.calls.slice(0, MAX_CALLS)) this.#queue(step.step, call)
    return step.step
  }

  #queue(step: number, { id, name, arguments: text }: ToolCall): void {
    const tooLong = text.length > MAX_ARGUMENTS_LENGTH
    const answer = tooLong
      ? `The arguments are ${text.length} characters long; at most ${MAX_ARGUMENTS_LENGTH} are taken. Nothing was run; write less at a time.`
      : null
    const unique = id !== '' && !this.#isTaken(id)
    this.#sql.exec(
      "INSERT INTO tool_calls (step, call_id, name, arguments, state, answer) VALUES (?, ?, ?, ?, 'queued', ?)",
      step,
      unique ? id.slice(0, 200) : `call_${crypto.randomUUID().replaceAll('-', '')}`,
      name.slice(0, 200),
      tooLong ? '{}' : text,
      answer,
    )
  }

  #isTaken(id: string): boolean {
    return firstRow(this.#sql, 'SELECT 1 FROM tool_calls WHERE call_id = ?', id.slice(0, 200)) !== null
  }

  /** The first call that is not settled. */
  next(): QueuedCall | null {
    if (!this.#isThere) return null
    return firstRow<QueuedCall>(this.#sql, "SELECT * FROM tool_calls WHERE state <> 'settled' ORDER BY key LIMIT 1")
  }

  get(key: number): QueuedCall | null {
    return this.#isThere ? firstRow<QueuedCall>(this.#sql, 'SELECT * FROM tool_calls WHERE key = ?', key) : null
  }

  step(step: number): ModelStepRow | null {
    return this.#isThere ? firstRow<ModelStepRow>(this.#sql, 'SELECT * FROM model_steps WHERE step = ?', step) : null
  }

  callsOf(step: number): QueuedCall[] {
    return rows<QueuedCall>(this.#sql, 'SELECT * FROM tool_calls WHERE step = ? ORDER BY key', step)
  }

  /** The answers that were first shown by one of these events, in order. */
  stepsShown(after: number, last: number): ModelStepRow[] {
    if (!this.#isThere) return []
    return rows<ModelStepRow>(
      this.#sql,
      'SELECT * FROM model_steps WHERE first_event > ? AND first_event <= ? ORDER BY first_event',
      after,
      last,
    )
  }

  /** The key of the call whose outcome this event is; null for any other event. */
  keyOf(observationId: number): number | null {
    if (!this.#isThere) return null
    const row = firstRow<{ key: number }>(
      this.#sql,
      'SELECT key FROM tool_calls WHERE observation_id = ?',
      observationId,
    )
    return row?.key ?? null
  }

  /** The first event of an answer is stored. */
  shown(step: number, eventId: number): void {
    this.#sql.exec('UPDATE model_steps SET first_event = ? WHERE step = ? AND first_event IS NULL', eventId, step)
  }

  mark(key: number, state: CallState, actionId: number): void {
    this.#sql.exec('UPDATE tool_calls SET state = ?, action_id = ? WHERE key = ?', state, actionId, key)
  }

  /** Settles the call with its outcome: an event, or a text that only the model sees. */
  settle(key: number, outcome: { observationId: number } | { answer: string }): void {
    const observation = 'observationId' in outcome ? outcome.observationId : null
    const answer = 'answer' in outcome ? cutTo(outcome.answer, MAX_ANSWER_LENGTH) : null
    this.#sql.exec(
      "UPDATE tool_calls SET state = 'settled', observation_id = ?, answer = ? WHERE key = ?",
      observation,
      answer,
      key,
    )
  }

  /** Settles every open call; returns how many there were. A call that was started may have had an effect. */
  dropQueued(answer: string): number {
    if (!this.#isThere) return 0
    const dropped = rows(
      this.#sql,
      `UPDATE tool_calls SET state = 'settled', answer = CASE state WHEN 'started' THEN ? ELSE ? END
       WHERE state <> 'settled' RETURNING key`,
      BEGUN,
      answer,
    )
    return dropped.length
  }

  /** Copies the answers of another conversation. Calls whose outcome came after the event are open here. */
  adopt({ steps, calls }: { steps: readonly ModelStepRow[]; calls: readonly QueuedCall[] }, event: number): void {
    if (steps.length === 0) return
    this.#prepare()
    for (const { step, first_event: first, text, response_id: response, vendor } of steps) {
      this.#sql.exec('INSERT INTO model_steps VALUES (?, ?, ?, ?, ?)', step, first, text, response, vendor)
    }
    for (const call of calls) {
      const isKnown = (call.observation_id ?? event + 1) <= event
      const wasBegun = (call.action_id ?? event + 1) <= event
      this.#sql.exec(
        'INSERT INTO tool_calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
        call.key,
        call.step,
        call.call_id,
        call.name,
        call.arguments,
        'settled',
        wasBegun ? call.action_id : null,
        isKnown ? call.observation_id : null,
        isKnown ? null : ((wasBegun ? call.answer : null) ?? 'No outcome: the conversation was forked before it.'),
      )
    }
  }

  /** The values that tools store for the conversation. */
  recall(name: string): unknown {
    if (!this.#isThere) return null
    const text = this.#memory.get(name)
    return text === null ? null : JSON.parse(text)
  }

  remember(name: string, value: unknown): void {
    this.#prepare()
    this.#memory.put(name, JSON.stringify(value))
  }

  #prepare(): void {
    if (this.#isThere) return
    this.#sql.exec(MODEL_TABLES)
    this.#isThere = true
  }
}
