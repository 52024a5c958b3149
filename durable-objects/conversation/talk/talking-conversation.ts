// The calls for a talk. For every other call a talk is a conversation that does not exist.

import { ReadableConversation } from '../lifecycle/readable-conversation.ts'
import type { Question, TalkMessage } from './talk.ts'
import type { TurnStep } from './turn-walk.ts'

export type AskResult =
  /** `question` identifies the turn. `isNew`: this question began the talk. */
  { ok: true; question: number; isNew: boolean } | { ok: false; reason: 'busy' | 'full' | 'taken' }

/** Whose talk it is, and under which ids. */
export type TalkIdentity = { id: string; owner: string; session: string; createdAt: string }

/** Size limit of the object's own database; beyond it the user begins a new talk. */
const MAX_TALK_BYTES = 8 * 1024 * 1024
const TITLE_CHARS = 60

export class TalkingConversation extends ReadableConversation {
  /**
   * Begins a turn, and creates the talk if there is none. If the message is that of the running turn, the call joins
   * that turn.
   */
  async ask({ id, owner, session, createdAt }: TalkIdentity, question: Question): Promise<AskResult> {
    const isNew = this.whole === null
    if (isNew) {
      await this.create({
        ...{ id, owner, createdAt, trigger: null, instructions: '', repository: null, firstMessage: null },
        ...{ agent: 'ReadOnlyAgent', talk: { session } },
      })
    }
    await this.whenOpen()
    const { whole } = this
    if (whole === null || whole.talk === null) return { ok: false, reason: 'taken' }
    const { talk, opening, record, secrets, index } = whole
    const { running } = talk
    if (running !== null) {
      return talk.isRunning(question.message)
        ? { ok: true, question: running, isNew: false }
        : { ok: false, reason: 'busy' }
    }
    if (this.ctx.storage.sql.databaseSize > MAX_TALK_BYTES) return { ok: false, reason: 'full' }
    opening.start()
    if (record.value.title === '') record.change({ title: titleOf(secrets.maskText(question.message)) })
    const begun = talk.begin(question)
    index.mark()
    return { ok: true, question: begun, isNew }
  }

  /**
   * What happened in a turn after an event; null when there is no such talk. Waits a limited time for something to
   * happen. A caller that sees the end of the turn also finds it in the next list.
   */
  async talkSteps(question: number, after: number, waitMs: number): Promise<TurnStep[] | null> {
    const { whole } = this
    if (whole === null || whole.talk === null) return null
    const steps = await whole.talk.steps(question, { after, waitMs })
    if (steps.at(-1)?.kind === 'ended' && this.whole === whole) await this.listed(whole)
    return steps
  }

  /** The newest messages, oldest first; null when there is no such talk. */
  talkMessages(limit: number): TalkMessage[] | null {
    return this.whole?.talk?.messages(limit) ?? null
  }

  /** The event from which a conversation with files can be forked: the newest one, if no turn runs. */
  talkEnd(): number | 'busy' | null {
    const { whole } = this
    if (whole === null || whole.talk === null) return null
    return whole.talk.running === null ? whole.log.last : 'busy'
  }

  /** Deletes the talk and returns how many messages it had. With `onlyIdle`, a talk whose turn runs is kept. */
  async deleteTalk(onlyIdle: boolean): Promise<number> {
    const { whole } = this
    if (whole === null || whole.talk === null) return 0
    if (onlyIdle && whole.talk.running !== null) return 0
    const count = whole.talk.messageCount
    await this.remove(whole)
    return count
  }
}

/** The beginning of the text, cut at a character boundary. */
function titleOf(text: string): string {
  return [...text.replace(/\s+/g, ' ').trim()].slice(0, TITLE_CHARS).join('')
}
