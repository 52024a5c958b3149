// State of the market data sources: cached answers, open circuit breakers, and turns at rate-limited services.

import type { AnswerStore } from '../market/providers/answer-cache.ts'
import type { GateStore } from '../market/providers/gate.ts'
import type { NewsItem } from '../news/article.ts'
import type { NewsPool } from '../news/search.ts'

const DAY_MS = 86_400_000
const FORGOTTEN_AFTER_MS = 60 * DAY_MS
// One in this many writes also deletes entries that are no longer used.
const CLEAR_ONE_IN = 100
// A D1 row holds two megabytes; an answer near that size is a fault of its source.
const LARGEST_CHARACTERS = 600_000

export function answerStore(db: D1Database): AnswerStore {
  return {
    async get(need, key) {
      const row = await db
        .prepare('SELECT body, provider, kept_at FROM market_answers WHERE need = ? AND key = ?')
        .bind(need, key)
        .first<{ body: string; provider: string; kept_at: number }>()
      return row && { body: row.body, provider: row.provider, keptAt: row.kept_at }
    },
    async put(need, key, { body, provider, keptAt }) {
      if (body.length > LARGEST_CHARACTERS) return
      await db
        .prepare(
          `INSERT INTO market_answers (need, key, body, provider, kept_at) VALUES (?, ?, ?, ?, ?)
           ON CONFLICT (need, key) DO UPDATE SET
             body = excluded.body, provider = excluded.provider, kept_at = excluded.kept_at`,
        )
        .bind(need, key, body, provider, keptAt)
        .run()
      if (keptAt % CLEAR_ONE_IN === 0) {
        await db
          .prepare('DELETE FROM market_answers WHERE kept_at < ?')
          .bind(keptAt - FORGOTTEN_AFTER_MS)
          .run()
      }
    },
  }
}

/** Reads many answers of one need in a single query, because a calendar covers many listings. */
export async function preparedAnswers(db: D1Database, need: string, keys: readonly string[]): Promise<AnswerStore> {
  const store = answerStore(db)
  const { results } = await db
    .prepare(
      'SELECT key, body, provider, kept_at FROM market_answers WHERE need = ?1 AND key IN (SELECT value FROM json_each(?2))',
    )
    .bind(need, JSON.stringify(keys))
    .all<{ key: string; body: string; provider: string; kept_at: number }>()
  const known = new Map(results.map(({ key, body, provider, kept_at }) => [key, { body, provider, keptAt: kept_at }]))
  return {
    get: async (asked, key) => (asked === need ? (known.get(key) ?? null) : store.get(asked, key)),
    put: (asked, key, answer) => store.put(asked, key, answer),
  }
}

export function gateStore(db: D1Database): GateStore {
  return {
    async circuits() {
      const { results } = await db
        .prepare('SELECT circuit, failures, open_until FROM provider_circuits')
        .all<{ circuit: string; failures: number; open_until: number }>()
      return results.map(({ circuit, failures, open_until }) => ({ circuit, failures, openUntil: open_until }))
    },
    async fail(circuit, { failures, enough, openUntil }) {
      await db
        .prepare(
          `INSERT INTO provider_circuits (circuit, failures, open_until) VALUES (?1, ?2, iif(?2 >= ?3, ?4, 0))
           ON CONFLICT (circuit) DO UPDATE SET
             failures = failures + ?2, open_until = iif(failures + ?2 >= ?3, ?4, open_until)`,
        )
        .bind(circuit, failures, enough, openUntil)
        .run()
    },
    async close(circuit) {
      await db.prepare('DELETE FROM provider_circuits WHERE circuit = ?').bind(circuit).run()
    },
    async postpone(circuit, { from, to }) {
      const { meta } = await db
        .prepare('UPDATE provider_circuits SET open_until = ?3 WHERE circuit = ?1 AND open_until = ?2')
        .bind(circuit, from, to)
        .run()
      return meta.changes > 0
    },
    reserve: (service, turn) => reserveTurn(db, service, turn),
  }
}

/** The time of the reserved turn; null when it would be too late. */
async function reserveTurn(
  db: D1Database,
  service: string,
  { now, intervalMs, longestWaitMs, latest }: Parameters<GateStore['reserve']>[1],
): Promise<number | null> {
  const free = await db
    .prepare(
      `INSERT INTO provider_turns (service, free_at) VALUES (?1, ?2 + ?3)
       ON CONFLICT (service) DO UPDATE SET free_at = iif(free_at > ?5, ?2, max(free_at, ?2)) + ?3
         WHERE free_at <= ?2 + ?4 OR free_at > ?5
       RETURNING free_at`,
    )
    .bind(service, now, intervalMs, longestWaitMs, latest)
    .first<number>('free_at')
  return free === null ? null : free - intervalMs
}

// The pool of news: what searches found for each listing. It is public information, so rows have no owner.

// One in this many writes of news also deletes old entries.
const CLEAR_NEWS_ONE_IN = 50
const MOST_NEWS = 60

export function newsPool(db: D1Database): NewsPool {
  return {
    put: (key, items, now) => putItems(db, { key, items, now }),
    async since(key, epochMs) {
      const { results } = await db
        .prepare(
          `SELECT url, title, snippet, source, published_at AS "publishedAt", dimension, provider
           FROM news_items WHERE key = ?1
             AND (published_at >= ?2 OR (published_at IS NULL AND found_at >= ?3))
           ORDER BY published_at DESC, found_at DESC LIMIT ${MOST_NEWS}`,
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
  if (now % CLEAR_NEWS_ONE_IN === 0) {
    await db
      .prepare('DELETE FROM news_items WHERE found_at < ?')
      .bind(now - FORGOTTEN_AFTER_MS)
      .run()
  }
}

const kindOf = ({ dimension, provider }: NewsItem) => [dimension, provider]
