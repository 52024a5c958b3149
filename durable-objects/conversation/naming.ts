// The title: what the user gave, or what the first message gives. The message's own beginning serves at once; where there
// is a model, it finds a better one a moment later, unless the user has been faster.

import type { ActionEvent } from '../../src/agent/events.ts'
import { fallbackTitle, titleFrom, titlePrompt } from '../../src/agent/titles.ts'
import { isoMicros } from '../../src/lib/clock.ts'
import { errorFields, log } from '../../src/lib/log.ts'
import { type LanguageModel, ModelError } from '../../src/llm/model.ts'
import type { ConversationRecord, Meta } from './meta.ts'

/** Of the first message, as much as a model is shown. */
const KEPT_CHARS = 1_000

type Parts = {
  record: Meta<ConversationRecord>
  /** Takes secrets out: a title is stored, listed and sent like everything else. */
  mask(text: string): string
  /** The title is another one now. */
  changed(): void
  /** Has `improve` called soon. */
  wake(): void
}

export class Naming {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Given by the user; an empty one brings back the default. */
  rename(title: string): void {
    this.#change({ title: this.#parts.mask(title), namedAfter: null })
  }

  /** The first message names the conversation until somebody finds a better title. */
  titledBy(event: ActionEvent): ActionEvent {
    // Before it is cut: half a secret would not be known for one.
    const text = event.action === 'message' ? this.#parts.mask(String(event.args.content)) : ''
    const title = this.#parts.record.value.title === '' ? fallbackTitle(text) : null
    if (title === null) return event
    this.#change({ title, namedAfter: text.trim().slice(0, KEPT_CHARS).toWellFormed() })
    this.#parts.wake()
    return event
  }

  /** Asks the model for a title; without one, or without an answer, the present title stays. */
  async improve(model: LanguageModel | null): Promise<void> {
    const { namedAfter, title } = this.#parts.record.value
    const prompt = typeof namedAfter === 'string' ? titlePrompt(namedAfter) : null
    if (prompt === null || model === null) return
    const better = await asked(model, prompt)
    const isStillOurs = this.#parts.record.value.title === title && this.#parts.record.value.namedAfter === namedAfter
    if (better !== null && isStillOurs) this.#change({ title: this.#parts.mask(better), namedAfter: null })
  }

  #change(changes: Pick<ConversationRecord, 'title' | 'namedAfter'>): void {
    this.#parts.record.change({ ...changes, titledAt: isoMicros(Date.now()) })
    this.#parts.changed()
  }
}

async function asked(model: LanguageModel, prompt: Parameters<LanguageModel['ask']>[0]): Promise<string | null> {
  try {
    return titleFrom((await model.ask(prompt, { maxOutputTokens: 2_000 })).text)
  } catch (error) {
    if (!(error instanceof ModelError)) throw error
    log.info('conversation.title_failed', errorFields(error))
    return null
  }
}
