// Which ids were ever used. The object of a conversation knows best whether it exists, but a runtime on this machine makes a
// file for every object that is asked, and never takes one away: whoever asks for ids at random would fill the disk.

type Claim = { owner: string; id: string }

/** Writes down that a conversation is about to be made. */
export async function claimConversation(db: D1Database, { owner, id }: Claim): Promise<void> {
  await db
    .prepare('INSERT INTO conversation_claims (owner, id) VALUES (?, ?) ON CONFLICT DO NOTHING')
    .bind(owner, id)
    .run()
}

/** Whether a conversation may be there; the index alone is late by a moment. */
export async function isClaimed(db: D1Database, { owner, id }: Claim): Promise<boolean> {
  const row = await db
    .prepare(
      `SELECT EXISTS (SELECT 1 FROM conversation_claims WHERE owner = ?1 AND id = ?2)
         OR EXISTS (SELECT 1 FROM conversations WHERE owner = ?1 AND id = ?2) AS claimed`,
    )
    .bind(owner, id)
    .first<{ claimed: number }>()
  return row?.claimed === 1
}

/** Forgets an id whose conversation was deleted. */
export async function dropClaim(db: D1Database, { owner, id }: Claim): Promise<void> {
  await db.prepare('DELETE FROM conversation_claims WHERE owner = ? AND id = ?').bind(owner, id).run()
}
