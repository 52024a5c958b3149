// The messages for the model: the log is read once and continued from step to step, so a step costs only the new events. The
// log is never changed; a condensation only says what is left out.

import { textTokens } from '../../llm/metrics.ts'
import type { Prompt, PromptMessage, PromptPart, ToolCall } from '../../llm/model.ts'
import type { ActionEvent, ObservationEvent, StoredEvent } from '../events.ts'
import { USER_ONLY } from '../observations.ts'
import { contextText, USER_RAN } from '../prompt.ts'
import { plainText, textPart } from '../tools/action-kind.ts'
import { observedKind } from '../tools/index.ts'
import type { ModelStepRow, QueuedCall, Turn } from '../turn.ts'
import type { TurnDeps } from '../turn-deps.ts'

/** One unit of the model's view. An answer, its calls and their results are one unit: they are never separated. */
export type ViewEntry = {
  /** The id of its first event. */
  readonly id: number
  readonly kind: 'user' | 'answer' | 'summary'
  /** The number of its events. */
  readonly events: number
  readonly tokens: number
}

const READ_EVENTS = 500

type Answer = { step: number; text: string; vendor: unknown; calls: readonly QueuedCall[]; isSettled: boolean }

/** One thing that the model sees, under the id of the event that it comes from. */
export type Entry = {
  readonly id: number
  readonly content:
    | { readonly kind: 'user' | 'summary'; readonly parts: readonly PromptPart[] }
    | ({ readonly kind: 'answer' } & Answer)
}

type Range = { readonly start: number; readonly end: number }

type Parsed = (ActionEvent | ObservationEvent) & { id: number }

/** The arguments of a condensation action. */
type Condensation = {
  forgotten_event_ids?: number[] | null
  forgotten_events_start_id?: number | null
  forgotten_events_end_id?: number | null
  summary?: string | null
  summary_offset?: number | null
}

const textParts = (text: string): PromptPart[] => [{ type: 'text', text }]

/** `secrets` masks the model's own text, too; in events it is masked already. */
type HistoryDeps = Pick<TurnDeps, 'log' | 'calls' | 'turn' | 'secrets'>

export class History {
  readonly #deps: HistoryDeps
  #entries: Entry[] = []
  /** The result of each call, by the call's key. */
  readonly #results = new Map<number, readonly PromptPart[]>()
  readonly #tokens = new WeakMap<Entry, number>()
  #upTo = -1
  /** True until the log was read for the first time. */
  #isCold = true

  constructor(deps: HistoryDeps) {
    this.#deps = deps
  }

  /** Everything that the model sees, oldest first. */
  entries(): readonly Entry[] {
    this.#refresh()
    return this.#entries
  }

  /** The same entries as messages. Every call in them has a result, whatever happened to it. */
  messages(): PromptMessage[] {
    return this.entries().flatMap((entry) => this.messagesOf(entry))
  }

  /** The same entries with their sizes. */
  view(): ViewEntry[] {
    return this.entries().map((entry) => {
      const { id, content } = entry
      const events = content.kind === 'answer' ? 1 + 2 * content.calls.length : 1
      return { id, kind: content.kind, events, tokens: this.#tokensOf(entry) }
    })
  }

  /** The size of a settled entry never changes, so it is kept. */
  #tokensOf(entry: Entry): number {
    const known = this.#tokens.get(entry)
    if (known !== undefined) return known
    const tokens = this.messagesOf(entry).reduce((sum, message) => sum + messageTokens(message), 0)
    this.#tokens.set(entry, tokens)
    return tokens
  }

  messagesOf({ content }: Entry): PromptMessage[] {
    if (content.kind !== 'answer') return [{ role: 'user', content: content.parts }]
    const { text, vendor, calls } = content
    const asked: ToolCall[] = calls.map((call) => ({
      id: call.call_id,
      name: call.name,
      arguments: this.#deps.secrets.maskText(call.arguments),
    }))
    const answer = {
      role: 'assistant',
      text: this.#deps.secrets.maskText(text),
      calls: asked,
      ...(vendor === null ? {} : { vendor }),
    } as const
    return [
      answer,
      ...calls.map((call): PromptMessage => {
        const result = this.#results.get(call.key) ?? textParts(call.answer ?? 'No outcome was recorded.')
        return { role: 'tool', callId: call.call_id, name: call.name, content: result }
      }),
    ]
  }

  #refresh(): void {
    while (this.#upTo < this.#deps.log.last) {
      // Forgotten events are not read, however long the log is.
      const gap = this.#deps.turn.value.forgotten.find(({ start, end }) => start <= this.#upTo + 1 && this.#upTo < end)
      if (gap !== undefined) this.#upTo = gap.end
      const events = this.#deps.log.since(this.#upTo, READ_EVENTS)
      const last = events.at(-1)?.id
      if (last === undefined) return
      const answers = new Map(this.#deps.calls.stepsShown(this.#upTo, last).map((row) => [row.first_event, row]))
      for (const event of events) this.#take(event, answers.get(event.id) ?? null)
      this.#upTo = last
    }
    if (this.#isCold) this.#placeSummary()
    this.#isCold = false
    this.#completeAnswers()
  }

  /** Places the current summary. Events of earlier summaries may be in the part of the log that is not read. */
  #placeSummary(): void {
    const { summary } = this.#deps.turn.value
    if (summary !== null) this.#addSummary(summary)
  }

  #addSummary({ text, offset }: { text: string; offset: number }): void {
    const id = this.#entries[offset - 1]?.id ?? -1
    this.#entries.splice(offset, 0, { id, content: { kind: 'summary', parts: textParts(text) } })
  }

  #take(stored: StoredEvent, answer: ModelStepRow | null): void {
    if (answer !== null) this.#addAnswer(stored.id, answer)
    if (SKIPPED.has(stored.kind)) return
    const event = JSON.parse(stored.text) as Parsed
    if ('action' in event) this.#takeAction(event, answer !== null)
    else this.#takeObservation(event)
  }

  #takeAction(event: ActionEvent & { id: number }, isAnswer: boolean): void {
    if (event.action === 'condensation') {
      this.#forget(event.args as Condensation)
    } else if (event.action === 'message' && !isAnswer) {
      const { content, image_urls: images } = event.args as { content: string; image_urls?: string[] | null }
      const parts: PromptPart[] = [{ type: 'text', text: content }]
      for (const url of images ?? []) parts.push({ type: 'image', url })
      if (event.source === 'user') this.#add(event.id, parts)
      else if (content !== '') this.#addAnswerText(event.id, content)
    } else if (event.action === 'think' && event.source === 'environment') {
      this.#add(event.id, textParts(String(event.args.thought)))
    }
  }

  #takeObservation(event: ObservationEvent & { id: number }): void {
    const { observation, extras } = event
    if (observation === 'recall') {
      const text = contextText(extras)
      if (text !== '') this.#add(event.id, textParts(text))
      return
    }
    const key = event.tool_call_metadata === undefined ? null : this.#deps.calls.keyOf(event.id)
    if (key !== null) this.#results.set(key, modelText(event))
    else if (observation === 'run' && extras.hidden !== true) {
      const parts = modelText(event)
      this.#add(event.id, [{ type: 'text', text: `${USER_RAN} ${String(extras.command)}` }, ...parts])
    } else if (observation === 'error' && extras.error_id !== USER_ONLY) this.#add(event.id, modelText(event))
  }

  #add(id: number, parts: readonly PromptPart[]): void {
    this.#entries.push({ id, content: { kind: 'user', parts } })
  }

  #addAnswerText(id: number, text: string): void {
    this.#entries.push({ id, content: { kind: 'answer', step: 0, text, vendor: null, calls: [], isSettled: true } })
  }

  #addAnswer(id: number, { step, text, vendor }: ModelStepRow): void {
    const known: unknown = vendor === null ? null : JSON.parse(vendor)
    const calls = this.#deps.calls.callsOf(step)
    this.#entries.push({ id, content: { kind: 'answer', step, text, vendor: known, calls, isSettled: false } })
  }

  /** Reads again the results that were missing when an answer was added. */
  #completeAnswers(): void {
    for (const [at, { id, content }] of this.#entries.entries()) {
      if (content.kind !== 'answer' || content.isSettled) continue
      const calls = this.#deps.calls.callsOf(content.step)
      const isSettled = calls.every(({ state }) => state === 'settled')
      this.#entries[at] = { id, content: { ...content, calls, isSettled } }
    }
  }

  /** Stored separately, so that the next instance need not read the forgotten events. */
  #remember(range: Range, summary: Turn['summary']): void {
    const { turn } = this.#deps
    const forgotten = merged([...turn.value.forgotten, range])
    const known = { forgotten: turn.value.forgotten, summary: turn.value.summary }
    const now = { forgotten, summary: summary ?? known.summary }
    if (JSON.stringify(now) !== JSON.stringify(known)) turn.change(now)
  }

  #forget(condensation: Condensation): void {
    const { forgotten_event_ids: ids, forgotten_events_start_id: from, forgotten_events_end_id: to } = condensation
    const named = new Set(ids ?? [])
    const isForgotten = (id: number) =>
      named.has(id) || (typeof from === 'number' && typeof to === 'number' && id >= from && id <= to)
    const { summary, summary_offset: offset } = condensation
    const given = typeof summary === 'string' ? { text: summary, offset: offset ?? 0 } : null
    if (typeof from === 'number' && typeof to === 'number') this.#remember({ start: from, end: to }, given)
    // A new summary contains what mattered in the former one.
    const isGone = ({ id, content }: Entry) => (content.kind === 'summary' ? given !== null : isForgotten(id))
    const gone = this.#entries.filter(isGone)
    this.#entries = this.#entries.filter((entry) => !isGone(entry))
    for (const { content } of gone) {
      if (content.kind === 'answer') for (const { key } of content.calls) this.#results.delete(key)
    }
    if (given !== null && !this.#isCold) this.#addSummary(given)
  }
}

/** Joins ranges that touch. */
function merged(ranges: readonly Range[]): Range[] {
  const result: Range[] = []
  for (const range of ranges.toSorted((a, b) => a.start - b.start)) {
    const last = result.at(-1)
    if (last !== undefined && range.start <= last.end + 1) {
      result[result.length - 1] = { start: last.start, end: Math.max(last.end, range.end) }
    } else result.push(range)
  }
  return result
}

/** Kinds that tell a model nothing, or whose text is already in its own answer. */
const SKIPPED: ReadonlySet<string> = new Set([
  'action:system',
  'action:null',
  'action:recall',
  'action:change_agent_state',
  'action:condensation_request',
  'observation:agent_state_changed',
  'observation:null',
])

// The text of an observation for the model. The stored event stays unchanged.

export function modelText(event: ObservationEvent): PromptPart[] {
  if (event.observation === 'user_rejected') {
    return [textPart(`${event.content || 'The user rejected this action.'}\n[The action was not run.]`)]
  }
  return (observedKind(event.observation)?.modelText ?? plainText)(event)
}

// How many tokens a message has, by the estimate of its texts.

const PER_MESSAGE = 4
/** The tokens that vendors count for a picture of typical size. */
const PER_IMAGE = 1_200

export function messageTokens(message: PromptMessage): number {
  if (message.role !== 'assistant') return PER_MESSAGE + partsTokens(message.content)
  const calls = message.calls.reduce(
    (sum, { name, arguments: text }) => sum + PER_MESSAGE + textTokens(name) + textTokens(text),
    0,
  )
  return PER_MESSAGE + textTokens(message.text) + calls
}

function partsTokens(parts: readonly PromptPart[]): number {
  return parts.reduce((sum, part) => sum + (part.type === 'text' ? textTokens(part.text) : PER_IMAGE), 0)
}

/** Tokens of the system text and the tools, which are sent with every request. */
export function fixedTokens({ system, tools }: Pick<Prompt, 'system' | 'tools'>): number {
  return textTokens(system) + textTokens(JSON.stringify(tools))
}
