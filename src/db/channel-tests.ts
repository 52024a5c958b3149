// Messages that were sent to try a channel: no deliveries, but its service counts them all the same.

/** Longer than the longest stretch of time that a service counts in. */
const KEEP_MS = 3_600_000

export async function noteChannelTest(
  db: D1Database,
  { owner, channelId, at }: { owner: string; channelId: string; at: number },
): Promise<void> {
  await db.batch([
    db
      .prepare('DELETE FROM channel_tests WHERE owner = ? AND channel_id = ? AND at < ?')
      .bind(owner, channelId, at - KEEP_MS),
    db.prepare('INSERT INTO channel_tests (owner, channel_id, at) VALUES (?, ?, ?)').bind(owner, channelId, at),
  ])
}

/** When messages went out to the channel since then, the earliest first, those that tried it included. */
export async function channelStarts(
  db: D1Database,
  { owner, channelId, since }: { owner: string; channelId: string; since: number },
): Promise<number[]> {
  const query = `SELECT started_at AS "at" FROM delivery_parts
      WHERE owner = ?1 AND channel_id = ?2 AND started_at > ?3
    UNION ALL SELECT at FROM channel_tests WHERE owner = ?1 AND channel_id = ?2 AND at > ?3
    ORDER BY 1`
  const { results } = await db.prepare(query).bind(owner, channelId, since).all<{ at: number }>()
  return results.map(({ at }) => at)
}
