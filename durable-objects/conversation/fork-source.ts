// What a conversation gives to one that is forked from it: its events up to one of them, what the model answered until
// then, and the workspace as it was at that moment. All of it stays the same however far the conversation has gone on since,
// so it can be handed over in pieces.

import type { AgentName } from '../../src/agent/agents.ts'
import { rows } from '../sql.ts'
import type { ModelStepRow, QueuedCall } from './call-queue.ts'
import type { EventLog } from './event-log.ts'
import type { ConversationRecord, SelectedRepository } from './meta.ts'
import type { WorkspaceStore } from './workspace-store.ts'
import type { NodeVersion } from './workspace-versions.ts'

export type ForkBasis = {
  title: string
  instructions: string
  repository: SelectedRepository | null
  agent: AgentName | undefined
  toolServers: string | null
  /** Where large files lie. */
  nodes: number
}

/** Why there is no fork: no such event, or one whose workspace is no longer known; `from` is the first that is. */
export type NoFork = { reason: 'unknown-event' } | { reason: 'too-old'; from: number }

export type ForkEvents = { texts: string[]; steps: ModelStepRow[]; calls: QueuedCall[] }
export type ForkNodes = { nodes: NodeVersion[] }
export type ForkFile = { chunks: { seq: number; bytes: ArrayBuffer }[] }

const NODES_AT_A_TIME = 1_000
const EVENTS_AT_A_TIME = 500

type Parts = {
  sql: SqlStorage
  log: EventLog
  files: WorkspaceStore
  record: Readonly<ConversationRecord>
  /** Nothing runs that could be changing the workspace. */
  isQuiet: boolean
}

export class ForkSource {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  basis(event: number): ForkBasis | NoFork {
    const { log, files, record, isQuiet } = this.#parts
    if (event < 0 || event > log.last) return { reason: 'unknown-event' }
    const from = files.versions?.from ?? -1
    if (event < from) return { reason: 'too-old', from }
    if (event === log.last && isQuiet) files.versions?.catchUpWith(event)
    const { title, instructions, repository, agent, toolServers = null } = record
    return { title, instructions, repository, agent, toolServers, nodes: NODES_AT_A_TIME }
  }

  /** The events after one of them and up to the other, some at a time; none when there are no more. */
  events(after: number, upTo: number): ForkEvents {
    const { sql, log } = this.#parts
    const found = log.since(after, Math.min(EVENTS_AT_A_TIME, upTo - after))
    const last = found.at(-1)?.id ?? after
    const known = rows(sql, "SELECT 1 FROM sqlite_master WHERE name = 'tool_calls'").length > 0
    const steps = known
      ? rows<ModelStepRow>(sql, 'SELECT * FROM model_steps WHERE first_event > ? AND first_event <= ?', after, last)
      : []
    const calls = known
      ? rows<QueuedCall>(
          sql,
          'SELECT * FROM tool_calls WHERE step IN (SELECT value FROM json_each(?)) ORDER BY key',
          JSON.stringify(steps.map(({ step }) => step)),
        )
      : []
    return { texts: found.map(({ text }) => text), steps, calls }
  }

  nodes(event: number, after: number): ForkNodes {
    return { nodes: this.#parts.files.versions?.nodes(event, after, NODES_AT_A_TIME) ?? [] }
  }

  /** What the files held, without the part that lies in R2: of one file, or of several small ones. */
  file(event: number, inode: number): ForkFile {
    const chunks = this.#parts.files.versions?.chunks(event, inode) ?? []
    return { chunks: chunks.map(({ seq, bytes }) => ({ seq, bytes })) }
  }
}
