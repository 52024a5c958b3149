// The calls that read a conversation without changing it.

import { loadMicroagents } from '../../../src/agent/context/microagent-files.ts'
import type { Microagent } from '../../../src/agent/microagents.ts'
import { modelNow } from '../../../src/agent/step-config.ts'
import type { ConversationSummary } from '../../../src/db/conversations.ts'
import { portLabel } from '../../../src/runners/port-token.ts'
import { listFiles, readTextFile, type TextFile } from '../../../src/workspace/reading.ts'
import { type EventBatch, eventsAfter, eventsAround, instructionFrom } from '../events/event-extracts.ts'
import type { EventPage } from '../events/event-search.ts'
import { sealedServersFor } from '../turn/own-servers.ts'
import { noteRootsOf } from '../turn/workspace-context.ts'
import type { GitChanges } from '../workspace/changed-files.ts'
import { type GitDiff, gitDiff } from '../workspace/git-diff.ts'
import { ConversationObject } from './conversation-object.ts'
import {
  type ForkBasis,
  type ForkEvents,
  type ForkFile,
  type ForkNodes,
  ForkSource,
  type NoFork,
} from './fork-source.ts'

/** Each answers null for an unknown conversation. */
export class ReadableConversation extends ConversationObject {
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

  /** The tool servers, sealed for another conversation of the owner. */
  async forkServers(id: string): Promise<string | null> {
    return this.state === null ? null : sealedServersFor(this.env, this.state.record.value, id)
  }

  /** The runner that is connected; null while commands run at the edge. */
  runtimeId(): string | null {
    return this.state?.runner.connected?.id ?? null
  }

  /** The servers that run in the workspace: port, and the label of the host that shows it. */
  async webHosts(): Promise<{ port: number; label: string }[] | null> {
    if (this.state === null) return null
    const object = this.ctx.id.toString()
    const ports = await this.state.runner.ports.list()
    return ports.map(({ port, secret }) => ({ port, label: portLabel({ object, secret }) }))
  }

  summary(): ConversationSummary | null {
    return this.state?.summary() ?? null
  }

  /** Whether the loop works, and whether clients are connected; null also when it is not running. */
  activity(): { busy: boolean; followed: boolean; lastUpdatedAt: string | null } | null {
    if (!this.state?.opening.isRunning) return null
    const { loop, sessions } = this.state
    const { lastUpdatedAt } = this.state.summary()
    return { busy: loop.state === 'running', followed: sessions.count > 0, lastUpdatedAt }
  }

  /** The answer of the search as JSON text, with the events exactly as they are stored. */
  searchEvents(page: EventPage): string | null {
    if (this.state === null) return null
    const { events, hasMore } = this.state.log.search(page)
    return `{"events":[${events.join(',')}],"has_more":${hasMore}}`
  }

  /** The stored events after the given id, as many as fit into one answer. */
  readEvents(after: number): EventBatch | null {
    return this.state === null ? null : eventsAfter(this.state.log, after)
  }

  /** The instruction to remember what happened at an event; `prompt` is null when there is no such event. */
  async rememberPrompt(eventId: number): Promise<{ prompt: string | null } | null> {
    if (this.state === null) return null
    const { log, secrets, turn } = this.state
    const events = eventsAround(log, eventId)
    if (events === null) return { prompt: null }
    await secrets.open()
    return { prompt: secrets.maskText(await instructionFrom(events, await modelNow(turn.configs))) }
  }

  /** The microagents of the agent's loop, or those that it would have if it were started now. */
  async microagents(): Promise<Microagent[] | null> {
    if (this.state === null) return null
    const { files, record } = this.state
    return loadMicroagents(files, noteRootsOf(record.value))
  }

  /** `not-ready` while the workspace is being set up. */
  async listFiles(path: string | null): Promise<string[] | 'not-ready' | null> {
    if (this.state?.setup.isPending) return 'not-ready'
    return this.state === null ? null : listFiles(this.state.files, path)
  }

  /** The changed files of the repositories in the workspace. */
  async gitChanges(): Promise<GitChanges | null> {
    return this.state === null ? null : this.state.changedFiles.changes()
  }

  async gitDiff(path: string, isExact: boolean): Promise<GitDiff | null> {
    return this.state === null ? null : gitDiff(this.state.changedFiles, path, isExact)
  }

  async readTextFile(path: string): Promise<TextFile | null> {
    return this.state === null ? null : readTextFile(this.state.files, path)
  }

  get #forkSource(): ForkSource | null {
    if (this.state === null) return null
    const { log, files, record, loop, setup } = this.state
    const isQuiet = loop.isQuiet && !setup.isPending
    return new ForkSource({ sql: this.ctx.storage.sql, log, files, record: record.value, isQuiet })
  }
}
