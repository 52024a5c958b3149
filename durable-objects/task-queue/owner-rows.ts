// All rows of one owner in the queue, for the deletion of the owner.

import { rows, type SqlValue } from '../sql.ts'

const OF_TASKS = 'task_id IN (SELECT id FROM tasks WHERE owner = ?1)'

/**
 * Each table with the condition for its rows. Rows that are found through a task are deleted before the tasks; ?2 is a
 * JSON array of the owner's keys.
 */
const OWNED: readonly (readonly [table: string, whose: string])[] = [
  ['flow_events', OF_TASKS],
  ['locks', OF_TASKS],
  ['outbox', 'key IN (SELECT id FROM tasks WHERE owner = ?1)'],
  ['leases', 'owner = ?1'],
  ['tasks', 'owner = ?1'],
  // After the tasks, because their deletion decreases the counts.
  ['task_counts', 'owner = ?1'],
  ['streams', 'owner = ?1'],
  ['stream_events', 'owner = ?1'],
  ['turns', 'owner = ?1'],
  ['submissions', 'owner = ?1'],
  ['keyed_requests', 'owner = ?1'],
  ['days', 'owner = ?1'],
  ['lock_turns', 'owner = ?1'],
  ['direct_runs', 'owner = ?1 AND until <= unixepoch() * 1000'],
  ['notices', "json_extract(body, '$.owner') = ?1"],
  ['ended_keys', "?1 <> '' AND key IN (SELECT value FROM json_each(?2))"],
]

/** Spans that wait for the collector, if there was one; the trace has the id of the task. */
const SPANS = ['spans', 'substr(id, 1, 32) IN (SELECT id FROM tasks WHERE owner = ?1)'] as const

/**
 * Deletes them in one transaction; returns how many there were. A synchronous analysis ends by itself, and its row
 * stays until then.
 */
export function deleteOwnerRows(storage: DurableObjectStorage, owner: string, keys: readonly string[]): number {
  const values: SqlValue[] = [owner, JSON.stringify(keys)]
  const isTraced = rows(storage.sql, "SELECT 1 FROM sqlite_master WHERE name = 'spans'").length > 0
  return storage.transactionSync(() => {
    let deleted = 0
    for (const [table, whose] of isTraced ? [SPANS, ...OWNED] : OWNED) {
      const bindings = whose.includes('?2') ? values : values.slice(0, 1)
      deleted += rows(storage.sql, `DELETE FROM ${table} WHERE ${whose} RETURNING 1`, ...bindings).length
    }
    return deleted
  })
}
