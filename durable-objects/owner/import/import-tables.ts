// The rows of an import besides its job: the received pieces, the entries found in them, and the map from old to new
// ids.

import type { IdMap } from '../../../src/db/imports.ts'
import { firstRow, rows } from '../../sql.ts'
import type { Entries, Entry } from './archive-check.ts'
import type { Piece } from './archive-reader.ts'

const COLUMNS = 'path, place, bytes, sha256'

export class ImportTables implements Entries, IdMap {
  readonly #storage: DurableObjectStorage
  readonly #sql: SqlStorage

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
    this.#sql = storage.sql
  }

  pieces(): Piece[] {
    return rows<Piece>(this.#sql, 'SELECT key, bytes FROM import_pieces ORDER BY n')
  }

  addPiece({ key, bytes }: Piece): void {
    this.#sql.exec('INSERT INTO import_pieces SELECT count(*), ?, ? FROM import_pieces', key, bytes)
  }

  get received(): number {
    return firstRow<{ n: number }>(this.#sql, 'SELECT coalesce(sum(bytes), 0) AS n FROM import_pieces')?.n ?? 0
  }

  addEntry({ path, place, bytes, sha256 }: Entry): void {
    const query = 'INSERT INTO import_entries SELECT count(*), ?, ?, ?, ? FROM import_entries'
    this.#sql.exec(query, path, place, bytes, sha256)
  }

  at(n: number): Entry | null {
    return firstRow<Entry>(this.#sql, `SELECT ${COLUMNS} FROM import_entries WHERE n = ?`, n)
  }

  entry(path: string): Entry | null {
    return firstRow<Entry>(this.#sql, `SELECT ${COLUMNS} FROM import_entries WHERE path = ?`, path)
  }

  /** All entries in a folder, by an index range: `0` is the byte after `/`. */
  below(folder: string): Entry[] {
    const query = `SELECT ${COLUMNS} FROM import_entries WHERE path >= ? AND path < ? ORDER BY n`
    return rows<Entry>(this.#sql, query, folder, `${folder.slice(0, -1)}0`)
  }

  count(): number {
    return firstRow<{ n: number }>(this.#sql, 'SELECT count(*) AS n FROM import_entries')?.n ?? 0
  }

  get(space: string, old: string): string | null {
    const query = 'SELECT new AS id FROM import_ids WHERE space = ? AND old = ?'
    return firstRow<{ id: string }>(this.#sql, query, space, old)?.id ?? null
  }

  put(ids: readonly { space: string; old: string; id: string }[]): void {
    this.#storage.transactionSync(() => {
      for (const { space, old, id } of ids)
        this.#sql.exec('INSERT OR REPLACE INTO import_ids VALUES (?, ?, ?)', space, old, id)
    })
  }

  drop(space: string, olds: readonly string[]): void {
    for (const old of olds) this.#sql.exec('DELETE FROM import_ids WHERE space = ? AND old = ?', space, old)
  }
}
