// News of reports that were made outside the queue. It is written with the report, so that neither is there without the
// other, and found by whoever sends next.

import type { NewsStore, Notice } from '../notify/notice.ts'

const MOST_AT_ONCE = 20

/** To be run in one batch with what it tells of. */
export function noteNotice(db: D1Database, notice: Notice, now: number): D1PreparedStatement {
  return db
    .prepare('INSERT INTO untold_notices (key, body, noted_at) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING')
    .bind(notice.key, JSON.stringify(notice), now)
}

export function untoldNotices(db: D1Database): NewsStore {
  return {
    untold: async () => {
      const query = `SELECT body FROM untold_notices ORDER BY noted_at LIMIT ${MOST_AT_ONCE}`
      const { results } = await db.prepare(query).all<{ body: string }>()
      return results.map(({ body }) => JSON.parse(body) as Notice)
    },
    drop: async (keys) => {
      await db
        .prepare('DELETE FROM untold_notices WHERE key IN (SELECT value FROM json_each(?))')
        .bind(JSON.stringify(keys))
        .run()
    },
  }
}
