// The calls that read a conversation without changing it.

import { loadMicroagents } from '../../../src/agent/context/knowledge.ts'
import type { Microagent } from '../../../src/agent/microagents.ts'
import { modelNow } from '../../../src/agent/step-config.ts'
import type { ConversationSummary } from '../../../src/db/conversations.ts'
import { portLabel } from '../../../src/runners/ticket.ts'
import type { FileSystem } from '../../../src/workspace/file-system.ts'
import { listFiles, readTextFile, type TextFile } from '../../../src/workspace/reading.ts'
import { type EventBatch, eventsAfter, eventsAround, instructionFrom } from '../events/event-extracts.ts'
import type { EventPage } from '../events/event-search.ts'
import type { Stand } from '../turn/standing.ts'
import { noteRootsOf } from '../turn/workspace-context.ts'
import type { GitChanges } from '../workspace/changed-files.ts'
import { type GitDiff, gitDiff } from '../workspace/git-diff.ts'
import { PastWorkspace } from '../workspace/past.ts'
import type { NoFork } from './fork-source.ts'
import { SharedConversation } from './shared-conversation.ts'

/** Each method returns null for an unknown conversation. */
export class ReadableConversation extends SharedConversation {
  /** The id of the connected runner; null while commands run at the edge. */
  runtimeId(): string | null {
    return this.state?.runner.connected?.id ?? null
  }

  /** The servers that run in the workspace: their port, and the host label of their address. */
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
  async searchEvents(page: EventPage): Promise<string | null> {
    const { state } = this
    const found = state && (await state.log.searchPatiently(page, () => this.state === state))
    return found && `{"events":[${found.events.join(',')}],"has_more":${found.hasMore}}`
  }

  /** The stored events after the given id, as many as fit into one answer. */
  readEvents(after: number): EventBatch | null {
    return this.state === null ? null : eventsAfter(this.state.log, after)
  }

  /** What the agent said and did after an event; waits a limited time until it is at rest. */
  async standAfter(eventId: number, waitMs: number): Promise<Stand | null> {
    return this.state === null ? null : this.state.standing.after(eventId, waitMs)
  }

  /** The instruction for a memory of what happened at an event; `prompt` is null when there is no such event. */
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

  /** `not-ready` while the workspace is being set up. With `at`, the files as they were at that event. */
  async listFiles(path: string | null, at: number | null): Promise<string[] | 'not-ready' | NoFork | null> {
    if (this.state?.setup.isPending) return 'not-ready'
    const files = this.filesAt(at)
    return files === null || 'reason' in files ? files : listFiles(files, path)
  }

  /** The changed files of the repositories in the workspace. */
  async gitChanges(): Promise<GitChanges | null> {
    return this.state === null ? null : this.state.changedFiles.changes()
  }

  async gitDiff(path: string, isExact: boolean): Promise<GitDiff | null> {
    return this.state === null ? null : gitDiff(this.state.changedFiles, path, isExact)
  }

  async readTextFile(path: string, at: number | null): Promise<TextFile | NoFork | null> {
    const files = this.filesAt(at)
    return files === null || 'reason' in files ? files : readTextFile(files, path)
  }

  /** The workspace now, or as it was when the event was the newest; or the reason why that state is unknown. */
  protected filesAt(event: number | null): FileSystem | NoFork | null {
    if (this.state === null) return null
    const { log, files } = this.state
    const { versions } = files
    if (event === null) return files
    if (event < 0 || event > log.last) return { reason: 'unknown-event' }
    // At the newest event the state includes later uploads, as a fork there would.
    if (versions === null || event === log.last) return files
    if (event < versions.from) return { reason: 'too-old', from: versions.from }
    return new PastWorkspace({ versions, packed: files.packed, bucket: this.env.FILES, event })
  }
}
