// The stored answers of the model, and the outcome of each call in them. A call is settled exactly once: it is marked
// `started` before its tool runs, and settled in the same write as the event of its outcome.

import type { ModelReply, ToolCall } from '../llm/model.ts'

/** Calls of one answer that are run. A model that makes more is told so, and can make the rest in its next answer. */
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
  /** The call whose outcome the event is; null for any other event. */
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

/** A long answer is stored whole in its own event; the model later sees it shortened, with a note. */
export function cutTo(text: string, length: number): string {
  if (text.length <= length) return text
  return `${text.slice(0, length).toWellFormed()}\n[cut here: ${text.length - length} more characters]`
}
