// Builds a reply from its pieces, and passes each piece on as soon as it arrives.

import { type AskOptions, ModelError, type ModelReply, type TokenUsage, type ToolCall } from './model.ts'

/** For the arguments of all calls of one reply. */
const MAX_ARGUMENT_CHARS = 32 * 1024 * 1024

type OpenCall = { readonly index: number; id: string; name: string; text: string }

export type Ending = ModelReply['finish'] | 'content_filter'

const NO_USAGE: TokenUsage = { promptTokens: 0, completionTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }

export class ReplyBuilder {
  readonly #onDelta: AskOptions['onDelta']
  readonly #calls = new Map<string | number, OpenCall>()
  readonly #ids = new Set<string>()
  #argumentChars = 0
  text = ''
  reasoning = ''
  usage: TokenUsage = NO_USAGE
  /** The cost that the vendor reports for the answer. */
  cost: number | null = null
  responseId = ''
  ending: Ending | null = null
  vendor: unknown

  constructor(onDelta: AskOptions['onDelta']) {
    this.#onDelta = onDelta
  }

  addText(text: string): void {
    if (text === '') return
    this.text += text
    this.#onDelta?.({ kind: 'text', text })
  }

  addReasoning(text: string): void {
    if (text === '') return
    this.reasoning += text
    this.#onDelta?.({ kind: 'reasoning', text })
  }

  /**
   * A piece of a call; the key tells the pieces of different calls apart. A name may arrive later than the call.
   * Returns the index of the call in the reply.
   */
  addCall(key: string | number, piece: { id?: string | null; name?: string | null; text?: string | null }): number {
    const call = this.#calls.get(key) ?? this.#open(key, piece.id ?? '')
    if (call.name === '' && typeof piece.name === 'string') call.name = piece.name
    const text = piece.text ?? ''
    call.text += text
    this.#argumentChars += text.length
    if (this.#argumentChars > MAX_ARGUMENT_CHARS) {
      throw new ModelError('unusable_reply', 'The model wrote tool calls that are too large, and was cut off.')
    }
    this.#onDelta?.({ kind: 'call', index: call.index, id: call.id, name: call.name, text })
    return call.index
  }

  /** A call that came without pieces, or whose final text is given in addition to them. */
  settleCall(key: string | number, whole: { id: string; name: string; text: string }): void {
    const known = this.#calls.get(key)
    if (known === undefined) this.addCall(key, whole)
    else if (known.text === '') this.addCall(key, { text: whole.text })
  }

  hasCall(key: string | number): boolean {
    return this.#calls.has(key)
  }

  get callCount(): number {
    return this.#calls.size
  }

  get isEmpty(): boolean {
    return this.text.trim() === '' && this.#calls.size === 0
  }

  calls(): ToolCall[] {
    return [...this.#calls.values()].map(({ id, name, text }) => ({ id, name, arguments: text }))
  }

  /** Makes sure that every call can be answered: a missing or repeated id is replaced. */
  #open(key: string | number, wanted: string): OpenCall {
    const index = this.#calls.size
    let id = wanted === '' ? `call_${index + 1}` : wanted
    for (let copy = 2; this.#ids.has(id); copy++) id = `${wanted === '' ? `call_${index + 1}` : wanted}_${copy}`
    this.#ids.add(id)
    const call = { index, id, name: '', text: '' }
    this.#calls.set(key, call)
    return call
  }
}
