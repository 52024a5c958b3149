// What the model writes, as it writes it: frames for the clients that are there at the moment. They are not stored; the
// finished answer is an event. `answer` and `attempt` tell a client what a frame belongs to, so that the text of an attempt
// that broke off is never glued to that of the next one.

import type { MaskedStream } from '../../src/agent/masking.ts'
import type { ModelDelta } from '../../src/llm/model.ts'

/** Small pieces that follow each other quickly travel together: a frame costs more than its text. */
const COALESCE_MS = 8

export type StreamFrame =
  | { type: 'delta'; answer: number; attempt: number; kind: 'text' | 'reasoning'; text: string }
  | {
      type: 'delta'
      answer: number
      attempt: number
      kind: 'call'
      index: number
      id: string
      name: string
      text: string
    }
  | { type: 'output'; action_id: number; text: string }

export type DeltaParts = {
  stream(frame: StreamFrame): void
  mask(): MaskedStream
}

export class DeltaStream {
  readonly #parts: DeltaParts
  /** One for each text that goes on: secrets are found across the cuts. */
  readonly #masked = new Map<string, { stream: MaskedStream; newest: ModelDelta }>()
  readonly #of: { answer: number; attempt: number }
  #held: ModelDelta[] = []
  #timer: ReturnType<typeof setTimeout> | null = null
  #text = ''
  #shown = ''

  constructor(parts: DeltaParts, of: { answer: number; attempt: number }) {
    this.#parts = parts
    this.#of = of
  }

  /** The text of the answer until now. */
  get text(): string {
    return this.#text
  }

  /** The same as clients saw it: without secrets. */
  get shown(): string {
    return this.#shown
  }

  /** The first piece after a pause leaves at once. */
  push(delta: ModelDelta): void {
    if (delta.kind === 'text') this.#text += delta.text
    this.#held.push(delta)
    if (this.#timer !== null) return
    this.flush()
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.flush()
    }, COALESCE_MS)
  }

  flush(): void {
    const held = this.#held
    this.#held = []
    for (const delta of joined(held)) {
      const masked = this.#maskOf(delta)
      masked.newest = delta
      this.#show(delta, masked.stream.push(delta.text))
    }
  }

  end(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.flush()
    for (const { stream, newest } of this.#masked.values()) this.#show(newest, stream.end())
    this.#masked.clear()
  }

  #maskOf(delta: ModelDelta) {
    const key = delta.kind === 'call' ? `call ${delta.index}` : delta.kind
    const known = this.#masked.get(key) ?? { stream: this.#parts.mask(), newest: delta }
    this.#masked.set(key, known)
    return known
  }

  /** A call is told of by its name before its arguments come. */
  #show(delta: ModelDelta, text: string): void {
    if (delta.kind === 'text') this.#shown += text
    if (text !== '' || (delta.kind === 'call' && delta.text === '')) {
      this.#parts.stream({ type: 'delta', ...this.#of, ...delta, text })
    }
  }
}

/** Neighbours of one kind become one. */
function joined(deltas: readonly ModelDelta[]): ModelDelta[] {
  const result: ModelDelta[] = []
  for (const delta of deltas) {
    const before = result.at(-1)
    const fits =
      before?.kind === delta.kind && (before.kind !== 'call' || delta.kind !== 'call' || before.index === delta.index)
    if (before !== undefined && fits) result[result.length - 1] = { ...before, text: before.text + delta.text }
    else result.push(delta)
  }
  return result
}
