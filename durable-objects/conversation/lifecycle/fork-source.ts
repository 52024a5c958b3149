// The data that a conversation gives to a fork: its events up to one of them, the model's answers until then, and the
// workspace at that moment. None of it changes later, so it can be sent in pieces.

import type { AgentChoice, AgentName } from '../../../src/agent/agents.ts'
import type { RuntimeWish } from '../../../src/agent/runtime.ts'
import type { ModelStepRow, QueuedCall } from '../../../src/agent/turn.ts'
import type { PackedFile } from '../../../src/workspace/file-system.ts'
import { rows, type SqlValue } from '../../sql.ts'
import type { EventLog } from '../events/event-log.ts'
import type { ConversationRecord, SelectedRepository } from '../schema.ts'
import type { WorkspaceStore } from '../workspace/store.ts'
import type { NodeVersion } from '../workspace/versions.ts'

export type ForkBasis = {
  title: string
  instructions: string
  repository: SelectedRepository | null
  agent: AgentName | undefined
  choice: AgentChoice | undefined
  runtime: RuntimeWish | undefined
  toolServers: string | null
  /** Nodes that one call returns. */
  nodes: number
}

/**
 * Why there is no fork: the event does not exist, or its workspace is no longer stored; `from` is the first event that can
 * be forked at.
 */
export type NoFork = { reason: 'unknown-event' } | { reason: 'too-old'; from: number }

/**
 * The head of an export; `event` is the newest event at that moment. `record` and `turns` are JSON texts without
 * secrets.
 */
export type ExportBasis = { event: number; record: string; turns: string[] }

export type ForkEvents = { texts: string[]; steps: ModelStepRow[]; calls: QueuedCall[] }
export type ForkNodes = { nodes: NodeVersion[] }
/**
 * `packed` belongs to the present contents of the file; it is valid for the event only if the file had the same size
 * then.
 */
export type ForkFile = { chunks: { seq: number; bytes: ArrayBuffer }[]; packed: PackedFile | null }

const NODES_AT_A_TIME = 1_000
const EVENTS_AT_A_TIME = 500

type Deps = {
  sql: SqlStorage
  log: EventLog
  files: WorkspaceStore
  record: Readonly<ConversationRecord>
  /** True when nothing runs that could change the workspace. */
  isQuiet: boolean
}

export class ForkSource {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  basis(event: number): ForkBasis | NoFork {
    const { log, files, record, isQuiet } = this.#deps
    if (event < 0 || event > log.last) return { reason: 'unknown-event' }
    const from = files.versions?.from ?? -1
    if (event < from) return { reason: 'too-old', from }
    if (event === log.last && isQuiet) files.versions?.catchUpWith(event)
    const { title, instructions, repository, agent, choice, runtime, toolServers = null } = record
    return { title, instructions, repository, agent, choice, runtime, toolServers, nodes: NODES_AT_A_TIME }
  }

  /** Records the state at the newest event, so that later calls can read that workspace in pieces. */
  exported(): ExportBasis {
    const { sql, log, record } = this.#deps
    this.basis(log.last)
    const { owner: _owner, incarnation: _incarnation, toolServers, firstMessage: _message, ...kept } = record
    const { imported: _imported, ...shown } = kept
    const text = JSON.stringify({ ...shown, has_tool_servers: toolServers != null })
    const isTalk = rows(sql, "SELECT 1 FROM sqlite_master WHERE name = 'talk_turns'").length > 0
    const turns = isTalk ? rows<Record<string, SqlValue>>(sql, 'SELECT * FROM talk_turns ORDER BY question') : []
    return { event: log.last, record: text, turns: turns.map((turn) => JSON.stringify(turn)) }
  }

  /** The events after one id up to another, a batch at a time; empty when there are no more. */
  events(after: number, upTo: number): ForkEvents {
    const { sql, log } = this.#deps
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
    return { nodes: this.#deps.files.versions?.nodes(event, after, NODES_AT_A_TIME) ?? [] }
  }

  /** The contents of one file, or of several small ones, without the part that is stored in R2. */
  file(event: number, inode: number): ForkFile {
    const { versions, packed } = this.#deps.files
    const chunks = versions?.chunks(event, inode) ?? []
    const form = versions && packed.at(event, inode, versions)
    return { chunks: chunks.map(({ seq, bytes }) => ({ seq, bytes })), packed: form }
  }
}
