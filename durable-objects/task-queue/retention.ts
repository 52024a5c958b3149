// What is finished is kept for a while, so that a client which was away can still ask; after that the stored history is
// all there is of a task.

import { rows } from '../sql.ts'

export const KEEP_FINISHED_MS = 7 * 24 * 3600 * 1000
export const KEEP_FINISHED_PER_OWNER = 1_000

/** Drops finished tasks that are too old, or that too many newer ones of the same owner stand before. */
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
