// The workspace as it was at any event. Before the first change of a row after an event, a copy of the row is stored
// under that event: changes between two events belong to the earlier one. So a version costs only what changed in it.
// The state at an event consists, for each row, of the oldest copy from that event on, or of the row itself if it has
// not changed since.
//
// Triggers make the copies, so no code can forget to. Chunks of a file are only appended or dropped together. So the
// earlier size of the file tells which chunks came later, and appending needs no copy.

import { firstRow, rows } from '../../sql.ts'
import { VERSION_TABLES } from '../schema.ts'
import { NOWHERE, type NodeRow } from './rows.ts'

const COLUMNS = 'inode, parent, name, kind, mode, mtime, size, target, object'

/** Bytes of chunks that only earlier versions need; the oldest versions are dropped first. */
const MAX_KEPT_BYTES = 256 * 1024 * 1024
/** Changes between two checks of the stored size. */
const PRUNE_EVERY = 2_000

export type NodeVersion = Omit<NodeRow, 'revision'>
export type ChunkVersion = { inode: number; seq: number; bytes: ArrayBuffer }

export class WorkspaceVersions {
  readonly #sql: SqlStorage
  readonly #maxKeptBytes: number
  #isThere: boolean
  #changes = 0

  constructor(sql: SqlStorage, options: { maxKeptBytes?: number } = {}) {
    this.#sql = sql
    this.#maxKeptBytes = options.maxKeptBytes ?? MAX_KEPT_BYTES
    this.#isThere = this.#looked()
  }

  /** To be called when a change was rolled back: if it was the first change, the tables were rolled back with it. */
  takenBack(): void {
    this.#isThere = this.#looked()
  }

  #looked(): boolean {
    return firstRow(this.#sql, "SELECT 1 FROM sqlite_master WHERE name = 'workspace_versions_from'") !== null
  }

  /** To be called before each change, within its transaction. */
  prepare(): void {
    if (!this.#isThere) this.#sql.exec(VERSION_TABLES)
    this.#isThere = true
    this.#changes += 1
    if (this.#changes % PRUNE_EVERY === 0) this.prune()
  }

  /** The first event at which the state of the workspace is known. */
  get from(): number {
    if (!this.#isThere) return -1
    return firstRow<{ event: number }>(this.#sql, 'SELECT event FROM workspace_versions_from')?.event ?? -1
  }

  /** All nodes as they were when the event was the newest, in batches: those after the given inode. */
  nodes(event: number, after: number, limit: number): NodeVersion[] {
    if (!this.#isThere) {
      return rows(
        this.#sql,
        `SELECT ${COLUMNS} FROM workspace_nodes WHERE inode > ? ORDER BY inode LIMIT ?`,
        after,
        limit,
      )
    }
    return rows(
      this.#sql,
      `SELECT ${COLUMNS} FROM (
         SELECT ${COLUMNS} FROM workspace_node_versions AS kept WHERE inode > ?2 AND event = (
           SELECT min(event) FROM workspace_node_versions AS other WHERE other.inode = kept.inode AND other.event >= ?1)
         UNION ALL
         SELECT ${COLUMNS} FROM workspace_nodes AS now WHERE inode > ?2 AND NOT EXISTS (
           SELECT 1 FROM workspace_node_versions AS kept WHERE kept.inode = now.inode AND kept.event >= ?1))
       WHERE kind IS NOT NULL AND parent <> ${NOWHERE} ORDER BY inode LIMIT ?3`,
      event,
      after,
      limit,
    )
  }

  /** The chunks of one file at that event, in order; chunks beyond its size then are not part of it. */
  chunks(event: number, inode: number): ChunkVersion[] {
    if (!this.#isThere) {
      return rows(this.#sql, 'SELECT inode, seq, bytes FROM workspace_chunks WHERE inode = ? ORDER BY seq', inode)
    }
    return rows(
      this.#sql,
      `SELECT inode, seq, bytes FROM workspace_chunk_versions AS kept WHERE inode = ?2 AND event = (
         SELECT min(event) FROM workspace_chunk_versions AS other
         WHERE other.inode = kept.inode AND other.seq = kept.seq AND other.event >= ?1)
       UNION ALL
       SELECT inode, seq, bytes FROM workspace_chunks AS now WHERE inode = ?2 AND NOT EXISTS (
         SELECT 1 FROM workspace_chunk_versions AS kept
         WHERE kept.inode = now.inode AND kept.seq = now.seq AND kept.event >= ?1)
       ORDER BY seq`,
      event,
      inode,
    )
  }

  /** Whether no chunk was replaced or dropped since the event; a file that has grown since counts as unchanged. */
  isUnchangedSince(event: number, inode: number): boolean {
    if (!this.#isThere) return true
    const query = 'SELECT 1 FROM workspace_chunk_versions WHERE inode = ? AND event >= ? LIMIT 1'
    return firstRow(this.#sql, query, inode, event) === null
  }

  /**
   * Makes the current state the state at the newest event. To be called while that event is the newest and nothing
   * runs: later changes came from outside, for example from an upload, and have no event. From then on changes are
   * recorded again.
   */
  catchUpWith(event: number): void {
    if (!this.#isThere || event < this.from) return
    for (const table of ['workspace_node_versions', 'workspace_chunk_versions']) {
      // The state so far becomes that of the event before, unless that event already has one.
      this.#sql.exec(`UPDATE OR IGNORE ${table} SET event = ?1 - 1 WHERE event = ?1`, event)
      this.#sql.exec(`DELETE FROM ${table} WHERE event = ?`, event)
    }
  }

  /** Whether a version still needs the object. */
  needs(key: string): boolean {
    if (!this.#isThere) return false
    return firstRow(this.#sql, 'SELECT 1 FROM workspace_node_versions WHERE object = ?', key) !== null
  }

  /** Drops the oldest versions while they exceed the limit. */
  prune(): void {
    if (!this.#isThere) return
    const sum = () =>
      firstRow<{ bytes: number }>(
        this.#sql,
        'SELECT coalesce(sum(length(bytes)), 0) AS bytes FROM workspace_chunk_versions',
      )?.bytes ?? 0
    for (let kept = sum(); kept > this.#maxKeptBytes; kept = sum()) this.#dropOlderHalf()
  }

  #dropOlderHalf(): void {
    const range = firstRow<{ first: number; last: number }>(
      this.#sql,
      'SELECT min(event) AS first, max(event) AS last FROM workspace_chunk_versions',
    )
    const upTo = Math.floor(((range?.first ?? 0) + (range?.last ?? 0)) / 2)
    this.#sql.exec('DELETE FROM workspace_chunk_versions WHERE event <= ?', upTo)
    this.#sql.exec('DELETE FROM workspace_node_versions WHERE event <= ?', upTo)
    this.#sql.exec('UPDATE workspace_versions_from SET event = max(event, ?)', upTo + 1)
  }
}
