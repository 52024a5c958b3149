// The pool of news: what searches have found of each listing. Public matter, so no owner is in it.

import type { NewsItem } from '../news/article.ts'
import type { NewsPool } from '../news/search.ts'

const DAY_MS = 86_400_000
const FORGOTTEN_AFTER_MS = 60 * DAY_MS
// One write in so many also clears away what is too old.
const CLEAR_ONE_IN = 50
const MOST = 60

export function newsPool(db: D1Database): NewsPool {
  return {
    put: (key, items, now) => putItems(db, { key, items, now }),
    async since(key, epochMs) {
      const { results } = await db
        .prepare(
          `SELECT url, title, snippet, source, published_at AS "publishedAt", dimension, provider
           FROM news_items WHERE key = ?1
             AND (published_at >= ?2 OR (published_at IS NULL AND found_at >= ?3))
           ORDER BY published_at DESC, found_at DESC LIMIT ${MOST}`,
        )
        .bind(key, new Date(epochMs).toISOString(), epochMs)
        .all<NewsItem>()
      return results
    },
  }
}

async function putItems(
  db: D1Database,
  { key, items, now }: { key: string; items: readonly NewsItem[]; now: number },
): Promise<void> {
  if (items.length === 0) return
  const rows = items.map((item) => [item.url, item.title, item.snippet, item.source, item.publishedAt, ...kindOf(item)])
  const values = Array.from({ length: 7 }, (_, i) => `value ->> ${i}`).join(', ')
  await db
    .prepare(
      `INSERT INTO news_items (key, url, title, snippet, source, published_at, dimension, provider, found_at)
       SELECT ?1, ${values}, ?3 FROM json_each(?2) WHERE true
       ON CONFLICT (key, url) DO UPDATE SET
         title = excluded.title, snippet = excluded.snippet,
         dimension = CASE dimension WHEN 'industry' THEN excluded.dimension ELSE dimension END,
         published_at = coalesce(excluded.published_at, published_at)`,
    )
    .bind(key, JSON.stringify(rows), now)
    .run()
  if (now % CLEAR_ONE_IN === 0) {
    await db
      .prepare('DELETE FROM news_items WHERE found_at < ?')
      .bind(now - FORGOTTEN_AFTER_MS)
      .run()
  }
}

const kindOf = ({ dimension, provider }: NewsItem) => [dimension, provider]
