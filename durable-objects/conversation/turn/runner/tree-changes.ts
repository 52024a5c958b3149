// What changed in the workspace since the runner's copy was made: paths, not contents. A change is noted in its own
// transaction, so that a crash leaves both or neither. Changes that came from the runner are not noted: it already has
// them.

import { firstRow, rows } from '../../../sql.ts'
import { RUNNER_TABLES } from '../../schema.ts'
import type { TreeEvent } from '../../workspace/changed-files.ts'

/** The folder that a runner has a copy of. */
export const COPIED_ROOT = '/workspace'

/** `path` is relative to the workspace, '' for all of it. */
export type TreeChange = { path: string; withBelow: boolean }
export type DueChanges = { changes: TreeChange[]; upTo: number }

export class TreeChanges {
  readonly #sql: SqlStorage
  #isOn: boolean
  #isMuted = false

  constructor(sql: SqlStorage) {
    this.#sql = sql
    this.#isOn = firstRow(sql, "SELECT 1 FROM sqlite_master WHERE name = 'runner_changes'") !== null
  }

  /** Begins to note changes, with an empty list. */
  begin(): void {
    this.#sql.exec(RUNNER_TABLES)
    this.#sql.exec('DELETE FROM runner_changes')
    this.#isOn = true
  }

  /** To be called for each change of the tree, within its transaction. */
  note(realPath: string, event: TreeEvent): void {
    if (!this.#isOn || this.#isMuted) return
    const path = copiedPath(realPath)
    if (path === null) return
    this.#sql.exec(
      'INSERT OR REPLACE INTO runner_changes (path, with_below) VALUES (?, ?)',
      path,
      event === 'subtree' ? 1 : 0,
    )
  }

  /** Makes changes that came from the runner, without noting them. */
  fromRunner<T>(work: () => T): T {
    this.#isMuted = true
    try {
      return work()
    } finally {
      this.#isMuted = false
    }
  }

  get isEmpty(): boolean {
    return !this.#isOn || firstRow(this.#sql, 'SELECT 1 FROM runner_changes LIMIT 1') === null
  }

  /** Whether the path changed since the runner's copy was brought up to date. */
  isDue(path: string): boolean {
    return this.#isOn && firstRow(this.#sql, 'SELECT 1 FROM runner_changes WHERE path = ?', path) !== null
  }

  due(): DueChanges {
    const found = rows<{ revision: number; path: string; with_below: number }>(
      this.#sql,
      'SELECT revision, path, with_below FROM runner_changes ORDER BY revision',
    )
    const changes = found.map(({ path, with_below: below }) => ({ path, withBelow: below === 1 }))
    return { changes, upTo: found.at(-1)?.revision ?? 0 }
  }

  /** The runner has everything up to this change. */
  sent(upTo: number): void {
    this.#sql.exec('DELETE FROM runner_changes WHERE revision <= ?', upTo)
  }

  /** The runner wrote this path after the change, so its contents are newer. */
  overwritten(path: string): void {
    this.#sql.exec('DELETE FROM runner_changes WHERE path = ? AND with_below = 0', path)
  }
}

/** The path within the workspace; null for a path outside it. */
function copiedPath(realPath: string): string | null {
  if (realPath === COPIED_ROOT) return ''
  return realPath.startsWith(`${COPIED_ROOT}/`) ? realPath.slice(COPIED_ROOT.length + 1) : null
}
