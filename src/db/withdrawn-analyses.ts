/** Takes back the report of a task that was cancelled while it was being saved. Deleting it twice is deleting it once. */
export async function withdrawAnalysis(db: D1Database, queryId: string): Promise<void> {
  await db.batch([
    db
      .prepare('DELETE FROM analysis_snapshots WHERE analysis_id IN (SELECT id FROM analyses WHERE query_id = ?)')
      .bind(queryId),
    db.prepare('DELETE FROM analyses WHERE query_id = ?').bind(queryId),
  ])
}
