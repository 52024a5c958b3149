// The workspace as it was at any event. Before a row changes, it is kept as it was, once for each event that it outlived:
// what lies between two events belongs to the earlier one. So a version costs what changed in it, and the state at an
// event is made of the oldest rows that are kept from then on, and of those that never changed since.
//
// Triggers keep the rows: no change of the tree can forget to. A file's chunks are only ever added at its end or dropped
// together, so chunks that came later are told by the size that the file had: their coming needs no row.

import { firstRow, rows } from '../sql.ts'
import { NOWHERE, type NodeRow } from './workspace-schema.ts'

const COLUMNS = 'inode, parent, name, kind, mode, mtime, size, target, object'

const NODE = (row: 'OLD' | 'NEW', kind: string) => `
  INSERT OR IGNORE INTO workspace_node_versions (inode, event, parent, name, kind, mode, mtime, size, target, object)
  SELECT ${row}.inode, coalesce(max(id), -1), ${row}.parent, ${row}.name, ${kind}, ${row}.mode, ${row}.mtime,
    ${row}.size, ${row}.target, ${row}.object FROM events;`

const CHUNK = `
  INSERT OR IGNORE INTO workspace_chunk_versions (inode, seq, event, bytes)
  SELECT OLD.inode, OLD.seq, coalesce(max(id), -1), OLD.bytes FROM events;`

/** Made with the first change of a workspace: until then it is as every workspace is at its beginning. */
const SCHEMA = `
  CREATE TABLE workspace_node_versions (
    inode INTEGER NOT NULL,
    event INTEGER NOT NULL, -- the newest event when the row changed; -1 before the first
    parent INTEGER, name TEXT,
    kind TEXT, -- null when there was no such node
    mode INTEGER, mtime INTEGER, size INTEGER, target TEXT, object TEXT,
    PRIMARY KEY (inode, event)
  ) WITHOUT ROWID;
  CREATE INDEX workspace_versions_by_event ON workspace_node_versions (event);
  CREATE INDEX workspace_versions_by_object ON workspace_node_versions (object) WHERE object IS NOT NULL;
  CREATE TABLE workspace_chunk_versions (
    inode INTEGER NOT NULL, seq INTEGER NOT NULL, event INTEGER NOT NULL, bytes BLOB NOT NULL,
    PRIMARY KEY (inode, seq, event)
  ) WITHOUT ROWID;
  CREATE INDEX workspace_chunk_versions_by_event ON workspace_chunk_versions (event);
  CREATE TABLE workspace_versions_from (event INTEGER NOT NULL); -- the first event whose state is known
  INSERT INTO workspace_versions_from SELECT CASE WHEN count(*) > 5 THEN (SELECT coalesce(max(id), -1) FROM events)
    ELSE -1 END FROM workspace_nodes;

  CREATE TRIGGER workspace_node_came AFTER INSERT ON workspace_nodes BEGIN ${NODE('NEW', 'NULL')} END;
  CREATE TRIGGER workspace_node_changes BEFORE UPDATE ON workspace_nodes BEGIN ${NODE('OLD', 'OLD.kind')} END;
  CREATE TRIGGER workspace_node_goes BEFORE DELETE ON workspace_nodes BEGIN ${NODE('OLD', 'OLD.kind')} END;
  CREATE TRIGGER workspace_chunk_changes BEFORE UPDATE ON workspace_chunks
    WHEN NOT EXISTS (SELECT 1 FROM workspace_chunk_versions AS kept WHERE kept.inode = OLD.inode
      AND kept.seq = OLD.seq AND kept.event = (SELECT coalesce(max(id), -1) FROM events))
    BEGIN ${CHUNK} END;
  CREATE TRIGGER workspace_chunk_goes BEFORE DELETE ON workspace_chunks BEGIN ${CHUNK} END;
`

/** Of chunks that are kept only for the past; older versions go first. */
const MAX_KEPT_BYTES = 256 * 1024 * 1024
/** Changes between two looks at how much is kept. */
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

  /** To be called when a change was taken back: the first one takes the tables with it. */
  takenBack(): void {
    this.#isThere = this.#looked()
  }

  #looked(): boolean {
    return firstRow(this.#sql, "SELECT 1 FROM sqlite_master WHERE name = 'workspace_versions_from'") !== null
  }

  /** To be called before each change, within its transaction. */
  prepare(): void {
    if (!this.#isThere) this.#sql.exec(SCHEMA)
    this.#isThere = true
    this.#changes += 1
    if (this.#changes % PRUNE_EVERY === 0) this.prune()
  }

  /** The first event at which the state of the workspace is known. */
  get from(): number {
    if (!this.#isThere) return -1
    return firstRow<{ event: number }>(this.#sql, 'SELECT event FROM workspace_versions_from')?.event ?? -1
  }

  /** All nodes as they were when the event was the newest, some at a time: those after the given inode. */
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

  /** The chunks of one file as they were, in order; those beyond the size that it had are not its own. */
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

  /**
   * Has the state at the event be the present one. To be called while it is the newest and nothing runs: what changed since
   * it then came from outside, an upload for instance, and nobody will tell of it. Later changes are kept from here on.
   */
  catchUpWith(event: number): void {
    if (!this.#isThere || event < this.from) return
    for (const table of ['workspace_node_versions', 'workspace_chunk_versions']) {
      // What it was until now is how the event before left it, unless that is known.
      this.#sql.exec(`UPDATE OR IGNORE ${table} SET event = ?1 - 1 WHERE event = ?1`, event)
      this.#sql.exec(`DELETE FROM ${table} WHERE event = ?`, event)
    }
  }

  /** Whether a version still needs the object. */
  needs(key: string): boolean {
    if (!this.#isThere) return false
    return firstRow(this.#sql, 'SELECT 1 FROM workspace_node_versions WHERE object = ?', key) !== null
  }

  /** Lets go of the oldest versions while more is kept than is worth it. */
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
