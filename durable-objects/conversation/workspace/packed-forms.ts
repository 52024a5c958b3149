// The compressed forms of small files from an earlier download, so that the next one need not compress them again.
// Triggers delete a form with any change of the file's rows, so no code can forget to: an existing form always matches
// the present contents.

import { errorFields, log } from '../../../src/lib/log.ts'
import type { PackedFile } from '../../../src/workspace/file-system.ts'
import { firstRow, isStorageFull, rows, type SqlValue } from '../../sql.ts'
import { PACKED_TABLES } from '../schema.ts'
import type { WorkspaceVersions } from './versions.ts'

/** Per conversation; beyond this limit no more forms are kept. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024
/** A statement may have 100 bound values. */
const ROWS_AT_ONCE = 32

type Row = { inode: number; size: number; crc: number; bytes: ArrayBuffer | null }

const FORMS = `
  SELECT inode, size, crc, bytes FROM workspace_packed JOIN workspace_nodes USING (inode)
  WHERE inode IN (SELECT value FROM json_each(?))`

export type MadeForm = { inode: number; packed: PackedFile }

export class PackedForms {
  readonly #storage: DurableObjectStorage
  readonly #maxKeptBytes: number
  /** Whether the tables exist. Null until this was checked: most workspaces are never downloaded. */
  #isThere: boolean | null = null

  constructor(storage: DurableObjectStorage, options: { maxKeptBytes?: number } = {}) {
    this.#storage = storage
    this.#maxKeptBytes = options.maxKeptBytes ?? MAX_KEPT_BYTES
  }

  /** The current forms of those files that have one, by inode. */
  of(inodes: readonly number[]): Map<number, PackedFile> {
    this.#isThere ??= this.#looked()
    if (!this.#isThere || inodes.length === 0) return new Map()
    const found = rows<Row>(this.#storage.sql, FORMS, JSON.stringify(inodes))
    return new Map(found.map((row) => [row.inode, packedOf(row)]))
  }

  /**
   * The form of the present contents, if the file had the same contents at the event, or the beginning of them: its
   * size at the event tells which.
   */
  at(event: number, inode: number, versions: WorkspaceVersions): PackedFile | null {
    return versions.isUnchangedSince(event, inode) ? (this.of([inode]).get(inode) ?? null) : null
  }

  /** Keeps forms of files that have not changed since the forms were made. Without room they are not kept. */
  keep(made: readonly MadeForm[]): void {
    if (made.length === 0) return
    try {
      this.#storage.transactionSync(() => this.#insert(made))
      this.#isThere = true
    } catch (error) {
      if (!isStorageFull(error)) throw error
      log.info('workspace.form_not_kept', errorFields(error))
    }
  }

  #looked(): boolean {
    return firstRow(this.#storage.sql, "SELECT 1 FROM sqlite_master WHERE name = 'workspace_packed'") !== null
  }

  #insert(made: readonly MadeForm[]): void {
    const { sql } = this.#storage
    if (!this.#isThere && !this.#looked()) sql.exec(PACKED_TABLES)
    const kept = firstRow<{ bytes: number }>(sql, 'SELECT bytes FROM workspace_packed_total')?.bytes ?? 0
    let total = kept
    const fitting = made.filter(({ packed }) => {
      const size = packed.deflated?.byteLength ?? 0
      const fits = total + size <= this.#maxKeptBytes
      if (fits) total += size
      return fits
    })
    for (let from = 0; from < fitting.length; from += ROWS_AT_ONCE) {
      const few = fitting.slice(from, from + ROWS_AT_ONCE)
      const values = few.map(() => '(?, ?, ?)').join()
      sql.exec(`INSERT INTO workspace_packed (inode, crc, bytes) VALUES ${values}`, ...few.flatMap(columnsOf))
    }
    // For deleted forms a trigger decreases the sum.
    sql.exec('UPDATE workspace_packed_total SET bytes = ?', total)
  }
}

function columnsOf({ inode, packed: { crc, deflated } }: MadeForm): SqlValue[] {
  return [inode, crc, deflated === null ? null : new Uint8Array(deflated).buffer]
}

function packedOf({ crc, size: sizeBytes, bytes }: Row): PackedFile {
  return { crc, sizeBytes, deflated: bytes === null ? null : new Uint8Array(bytes) }
}
