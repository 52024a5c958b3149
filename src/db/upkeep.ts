// Which caller does the periodic work of the service itself.

export type UpkeepTurn = { name: string; now: number; everyMs: number }

/** Whether the job is due. Of several concurrent callers only one gets true. */
export async function takeTurn(db: D1Database, { name, now, everyMs }: UpkeepTurn): Promise<boolean> {
  const { meta } = await db
    .prepare(
      `INSERT INTO upkeep_jobs (name, next_at, started_at) VALUES (?1, ?2 + ?3, ?2)
       ON CONFLICT (name) DO UPDATE SET next_at = ?2 + ?3, started_at = ?2, ended_at = NULL, outcome = NULL
       WHERE next_at <= ?2`,
    )
    .bind(name, now, everyMs)
    .run()
  return meta.changes > 0
}

export async function endTurn(
  db: D1Database,
  { name, endedAt, outcome, nextAt }: { name: string; endedAt: number; outcome: string; nextAt: number | null },
): Promise<void> {
  await db
    .prepare('UPDATE upkeep_jobs SET ended_at = ?1, outcome = ?2, next_at = COALESCE(?3, next_at) WHERE name = ?4')
    .bind(endedAt, outcome, nextAt, name)
    .run()
}
