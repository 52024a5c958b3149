// Finished tasks are stored for a while, so that a client that was away can still ask for them; after that only the
// stored history remains.

import { rows } from '../sql.ts'

export const KEEP_FINISHED_MS = 7 * 24 * 3600 * 1000
const KEEP_FINISHED_PER_OWNER = 1_000

/** Deletes finished tasks that are too old, or that have too many newer ones of the same owner. */
export function pruneTasks(storage: DurableObjectStorage, now: number): number {
  const { sql } = storage
  return storage.transactionSync(() => {
    const gone = rows<{ id: string }>(
      sql,
      `DELETE FROM tasks WHERE completed_at <= ? OR seq IN (
         SELECT seq FROM (
           SELECT seq, ROW_NUMBER() OVER (PARTITION BY owner ORDER BY completed_at DESC, seq DESC) AS place
           FROM tasks WHERE completed_at IS NOT NULL)
         WHERE place > ?)
       RETURNING id`,
      now - KEEP_FINISHED_MS,
      KEEP_FINISHED_PER_OWNER,
    )
    for (const { id } of gone) sql.exec('DELETE FROM flow_events WHERE task_id = ?', id)
    return gone.length
  })
}
