// The title: the user's own, or one from the first message. At first it is the beginning of the message; a model writes a
// better one a moment later, unless the user has set one.

import type { ActionEvent } from '../../../src/agent/events.ts'
import { fallbackTitle, titleFrom, titlePrompt } from '../../../src/agent/remember.ts'
import { isoMicros } from '../../../src/lib/clock.ts'
import { errorFields, log } from '../../../src/lib/log.ts'
import { type LanguageModel, ModelError } from '../../../src/llm/model.ts'
import type { StoredRecord } from '../../stored-record.ts'
import type { ConversationRecord } from '../schema.ts'

/** Characters of the first message that a model gets. */
const KEPT_CHARS = 1_000

type Deps = {
  record: StoredRecord<ConversationRecord>
  /** Masks secrets: a title is stored, listed and sent like everything else. */
  mask(text: string): string
  /** Called when the title has changed. */
  changed(): void
  /** Requests a call of `improve` soon. */
  wake(): void
}

export class TitleGenerator {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** A title from the user; an empty one restores the default. */
  rename(title: string): void {
    this.#change({ title: this.#deps.mask(title), namedAfter: null })
  }

  /** The first message gives the title until there is a better one. */
  titledBy(event: ActionEvent): ActionEvent {
    // Masked before it is cut: half a secret would not be recognised.
    const text = event.action === 'message' ? this.#deps.mask(String(event.args.content)) : ''
    const title = this.#deps.record.value.title === '' ? fallbackTitle(text) : null
    if (title === null) return event
    this.#change({ title, namedAfter: text.trim().slice(0, KEPT_CHARS).toWellFormed() })
    this.#deps.wake()
    return event
  }

  /** Asks the model for a title; without one, or without an answer, the present title stays. */
  async improve(model: LanguageModel | null): Promise<void> {
    const { namedAfter, title } = this.#deps.record.value
    const prompt = typeof namedAfter === 'string' ? titlePrompt(namedAfter) : null
    if (prompt === null || model === null) return
    const better = await asked(model, prompt)
    const isStillOurs = this.#deps.record.value.title === title && this.#deps.record.value.namedAfter === namedAfter
    if (better !== null && isStillOurs) this.#change({ title: this.#deps.mask(better), namedAfter: null })
  }

  #change(changes: Pick<ConversationRecord, 'title' | 'namedAfter'>): void {
    this.#deps.record.change({ ...changes, titledAt: isoMicros(Date.now()) })
    this.#deps.changed()
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
