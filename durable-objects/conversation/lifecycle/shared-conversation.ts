// What a conversation gives to others: its past states to a fork, and its pages to the readers of a shared link.

import { listFiles, readTextFile } from '../../../src/workspace/reading.ts'
import { type SharedPage, sharedEvents } from '../events/event-extracts.ts'
import { sealedServersFor } from '../turn/own-servers.ts'
import { ConversationObject } from './conversation-object.ts'
import {
  type ExportBasis,
  type ForkBasis,
  type ForkEvents,
  type ForkFile,
  type ForkNodes,
  ForkSource,
  type NoFork,
} from './fork-source.ts'

/** Each method returns null for an unknown conversation. */
export class SharedConversation extends ConversationObject {
  forkBasis(event: number): ForkBasis | NoFork | null {
    return this.#forkSource?.basis(event) ?? null
  }

  forkEvents(after: number, upTo: number): ForkEvents | null {
    return this.#forkSource?.events(after, upTo) ?? null
  }

  forkNodes(event: number, after: number): ForkNodes | null {
    return this.#forkSource?.nodes(event, after) ?? null
  }

  forkFile(event: number, inode: number): ForkFile | null {
    return this.#forkSource?.file(event, inode) ?? null
  }

  /** The start of an export; its contents are then read by the calls for forks. */
  exportBasis(): ExportBasis | null {
    return this.#forkSource?.exported() ?? null
  }

  /** The tool servers, sealed for another conversation of the owner. */
  async forkServers(id: string): Promise<string | null> {
    return this.state === null ? null : sealedServersFor(this.env, this.state.record.value, id)
  }

  /** Distinguishes this conversation from any earlier or later one with the same id. */
  incarnation(): string | null {
    return this.state?.record.value.incarnation ?? null
  }

  sharedSummary(incarnation: string): { title: string; createdAt: string; lastEventId: number } | null {
    const { state } = this
    if (state === null || this.incarnation() !== incarnation) return null
    const { title, createdAt } = state.record.value
    return { title: state.secrets.maskText(title), createdAt, lastEventId: state.log.last }
  }

  /** The answer as JSON text, masked again: a value may have become a secret after the event was stored. */
  async sharedEvents(incarnation: string, page: SharedPage): Promise<string | null> {
    const { state } = this
    if (state === null || this.incarnation() !== incarnation) return null
    await state.secrets.open()
    const { events, has_more } = sharedEvents(state.log, page)
    return JSON.stringify({ events: events.map((event) => state.secrets.mask(event)), has_more })
  }

  async sharedFiles(
    incarnation: string,
    asked: { path: string } | { file: string },
  ): Promise<{ names: string[] | null; text: string | null } | 'missing' | 'outside' | null> {
    const { state } = this
    if (state === null || this.incarnation() !== incarnation) return null
    if ('path' in asked) return { names: await listFiles(state.files, asked.path), text: null }
    const found = await readTextFile(state.files, asked.file)
    if (!found.ok) return found.reason === 'outside' ? 'outside' : 'missing'
    await state.secrets.open()
    return { names: null, text: state.secrets.maskText(found.text) }
  }

  /** Also for a talk, which a user can continue as a conversation with files. */
  get #forkSource(): ForkSource | null {
    if (this.whole === null) return null
    const { log, files, record, loop, setup } = this.whole
    const isQuiet = loop.isQuiet && !setup.isPending
    return new ForkSource({ sql: this.ctx.storage.sql, log, files, record: record.value, isQuiet })
  }
}
