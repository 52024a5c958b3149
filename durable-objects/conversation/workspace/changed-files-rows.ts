// The statements of the git index, by name.

import type { FileState } from '../../../src/kits/git/index.ts'
import { firstRow, rows } from '../../sql.ts'
import {
  type BaseRow,
  type IndexDifference,
  type RepositoryRow,
  SCOPE,
  type TouchedRow,
} from './changed-files-tables.ts'

export class GitIndexRows {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  repositories(): RepositoryRow[] {
    return rows(this.#sql, 'SELECT * FROM git_repositories ORDER BY path')
  }

  /** Whether the row still exists. Also false when the whole storage was emptied meanwhile. */
  holds({ id, path }: RepositoryRow): boolean {
    if (firstRow(this.#sql, "SELECT 1 FROM sqlite_master WHERE name = 'git_repositories'") === null) return false
    return firstRow(this.#sql, 'SELECT 1 FROM git_repositories WHERE id = ? AND path = ?', id, path) !== null
  }

  addRepository(path: string): void {
    this.#sql.exec('INSERT INTO git_repositories (path) VALUES (?)', path)
  }

  forgetRepository(id: number): void {
    for (const table of ['git_base_files', 'git_index_differences', 'git_touched', 'git_changes']) {
      this.#sql.exec(`DELETE FROM ${table} WHERE repository = ?`, id)
    }
    this.#sql.exec('DELETE FROM git_repositories WHERE id = ?', id)
  }

  saveRepository({ id, base_key, base_tree, index_stamp, exclude_stamp }: RepositoryRow): void {
    this.#sql.exec(
      'UPDATE git_repositories SET base_key = ?, base_tree = ?, index_stamp = ?, exclude_stamp = ? WHERE id = ?',
      base_key,
      base_tree,
      index_stamp,
      exclude_stamp,
      id,
    )
  }

  touch(id: number, path: string, scope: number): void {
    this.#sql.exec(
      `INSERT INTO git_touched VALUES (?1, ?2, ?3, 1)
       ON CONFLICT DO UPDATE SET revision = revision + 1, scope = max(scope, excluded.scope)`,
      id,
      path,
      scope,
    )
  }

  touched(id: number): TouchedRow[] {
    return rows(this.#sql, 'SELECT path, scope, revision FROM git_touched WHERE repository = ?', id)
  }

  /** Removes the touched path unless it was touched again meanwhile. */
  settle(id: number, { path, revision }: TouchedRow): void {
    this.#sql.exec('DELETE FROM git_touched WHERE repository = ? AND path = ? AND revision = ?', id, path, revision)
  }

  baseFile(id: number, path: string): BaseRow | null {
    const query = 'SELECT path, mode, oid FROM git_base_files WHERE repository = ? AND path = ?'
    return firstRow(this.#sql, query, id, path)
  }

  /** Ordered by path. */
  baseFiles(id: number): Iterable<BaseRow> {
    const cursor = this.#sql.exec('SELECT path, mode, oid FROM git_base_files WHERE repository = ? ORDER BY path', id)
    return cursor as unknown as Iterable<BaseRow>
  }

  clearBase(id: number): void {
    this.#sql.exec('DELETE FROM git_base_files WHERE repository = ?', id)
  }

  setBaseFile(id: number, path: string, state: FileState | null): void {
    if (state)
      this.#sql.exec('INSERT OR REPLACE INTO git_base_files VALUES (?, ?, ?, ?)', id, path, state.mode, state.oid)
    else this.#sql.exec('DELETE FROM git_base_files WHERE repository = ? AND path = ?', id, path)
  }

  indexDifference(id: number, path: string): IndexDifference | null {
    const query = 'SELECT kind FROM git_index_differences WHERE repository = ? AND path = ?'
    return firstRow<{ kind: IndexDifference }>(this.#sql, query, id, path)?.kind ?? null
  }

  indexDifferences(id: number): Map<string, IndexDifference> {
    const query = 'SELECT path, kind FROM git_index_differences WHERE repository = ?'
    const found = rows<{ path: string; kind: IndexDifference }>(this.#sql, query, id)
    return new Map(found.map(({ path, kind }) => [path, kind]))
  }

  setIndexDifference(id: number, path: string, kind: IndexDifference | null): void {
    if (kind) this.#sql.exec('INSERT OR REPLACE INTO git_index_differences VALUES (?, ?, ?)', id, path, kind)
    else this.#sql.exec('DELETE FROM git_index_differences WHERE repository = ? AND path = ?', id, path)
  }

  setChange(id: number, path: string, letters: string): void {
    if (letters === '') this.#sql.exec('DELETE FROM git_changes WHERE repository = ? AND path = ?', id, path)
    else this.#sql.exec('INSERT OR REPLACE INTO git_changes VALUES (?, ?, ?)', id, path, letters)
  }

  changes(id: number): { path: string; letters: string }[] {
    return rows(this.#sql, 'SELECT path, letters FROM git_changes WHERE repository = ? ORDER BY path', id)
  }

  /** Every stored path below the folder. With `untracked`, only those of the changes. */
  pathsBelow(id: number, folder: string, scope: number): string[] {
    const tables =
      scope === SCOPE.untracked ? ['git_changes'] : ['git_changes', 'git_base_files', 'git_index_differences']
    const query = tables.map((table) => `SELECT path FROM ${table} WHERE repository = ?1 AND ${BELOW}`).join(' UNION ')
    return rows<{ path: string }>(this.#sql, query, id, ...range(folder)).map(({ path }) => path)
  }

  /** Whether a tracked file is below the folder. */
  hasTrackedBelow(id: number, folder: string): boolean {
    const query = `
      SELECT 1 FROM git_base_files WHERE repository = ?1 AND ${BELOW}
      UNION ALL SELECT 1 FROM git_index_differences WHERE repository = ?1 AND ${BELOW} AND kind <> 'removed' LIMIT 1`
    return firstRow(this.#sql, query, id, ...range(folder)) !== null
  }
}

const BELOW = 'path >= ?2 AND path < ?3'

/** A range of path strings. `0` is the character after `/`; for the top folder, U+10FFFF is above every path. */
function range(folder: string): [string, string] {
  return folder === '' ? ['', '\u{10ffff}'] : [`${folder}/`, `${folder}0`]
}
