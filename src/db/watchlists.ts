// The stocks that an owner follows, in named groups. One group is the default; it comes into being with its first stock.

export type WatchedStock = { key: string; stockCode: string; stockName: string | null }
export type Watchlist = { id: string; name: string; isDefault: boolean; createdAt: string; stocks: WatchedStock[] }

type Head = { id: string; name: string; isDefault: number; createdAt: string }
type Line = WatchedStock & { watchlistId: string }

export type NewWatchlist = Omit<Watchlist, 'stocks'> & { stocks: readonly WatchedStock[] }

const HEAD = 'id, name, is_default AS "isDefault", created_at AS "createdAt"'
const LINE = 'watchlist_id AS "watchlistId", key, stock_code AS "stockCode", stock_name AS "stockName"'

/** In the owner's order, the default first. */
export async function listWatchlists(db: D1Database, owner: string): Promise<Watchlist[]> {
  const [heads, lines] = await db.batch<Head & Line>([
    db.prepare(`SELECT ${HEAD} FROM watchlists WHERE owner = ? ORDER BY is_default DESC, place, id`).bind(owner),
    db
      .prepare(
        `SELECT ${LINE} FROM watchlist_stocks WHERE watchlist_id IN (SELECT id FROM watchlists WHERE owner = ?)
         ORDER BY watchlist_stocks.place, key`,
      )
      .bind(owner),
  ])
  return (heads?.results ?? []).map((head) => ({
    id: head.id,
    name: head.name,
    isDefault: head.isDefault === 1,
    createdAt: head.createdAt,
    stocks: (lines?.results ?? [])
      .filter(({ watchlistId }) => watchlistId === head.id)
      .map(({ key, stockCode, stockName }) => ({ key, stockCode, stockName })),
  }))
}

export async function findWatchlist(db: D1Database, owner: string, id: string): Promise<Watchlist | null> {
  return (await listWatchlists(db, owner)).find((list) => list.id === id) ?? null
}

export type Creation = 'created' | 'name_taken' | 'too_many'

/** Adds a list behind the others. */
export async function createWatchlist(
  db: D1Database,
  owner: string,
  { list, most }: { list: NewWatchlist; most: number },
): Promise<Creation> {
  const [inserted] = await db.batch(watchlistCreation(db, owner, { list, most }))
  if ((inserted?.meta.changes ?? 0) > 0) return 'created'
  const taken = 'SELECT 1 FROM watchlists WHERE owner = ? AND name = ?'
  return (await db.prepare(taken).bind(owner, list.name).first()) === null ? 'too_many' : 'name_taken'
}

/** The same for a batch that changes more than one list. */
export function watchlistCreation(
  db: D1Database,
  owner: string,
  { list, most }: { list: NewWatchlist; most: number },
): D1PreparedStatement[] {
  const insert = db
    .prepare(
      `INSERT INTO watchlists (id, owner, name, is_default, place, created_at)
       SELECT ?1, ?2, ?3, ?4, (SELECT COALESCE(MAX(place), 0) + 1 FROM watchlists WHERE owner = ?2), ?5
       WHERE (SELECT COUNT(*) FROM watchlists WHERE owner = ?2) < ?6
       ON CONFLICT DO NOTHING`,
    )
    .bind(list.id, owner, list.name, list.isDefault ? 1 : 0, list.createdAt, most)
  return [insert, ...stockWrites(db, list.id, list.stocks)]
}

/** Gives the list another name, other stocks, or both; null leaves either. False when the name is another list's. */
export async function changeWatchlist(
  db: D1Database,
  owner: string,
  { id, name, stocks }: { id: string; name: string | null; stocks: readonly WatchedStock[] | null },
): Promise<boolean> {
  const rename = db
    .prepare(
      `UPDATE watchlists SET name = ?1 WHERE id = ?2 AND owner = ?3
         AND NOT EXISTS (SELECT 1 FROM watchlists WHERE owner = ?3 AND name = ?1 AND id <> ?2)`,
    )
    .bind(name, id, owner)
  if (name !== null && (await rename.run()).meta.changes === 0) return false
  if (stocks !== null) await db.batch(stocksReplaced(db, owner, { id, stocks }))
  return true
}

/** For a batch that changes more than one list. */
export function stocksReplaced(
  db: D1Database,
  owner: string,
  { id, stocks }: { id: string; stocks: readonly WatchedStock[] },
): D1PreparedStatement[] {
  const empty = db
    .prepare(
      'DELETE FROM watchlist_stocks WHERE watchlist_id IN (SELECT id FROM watchlists WHERE id = ? AND owner = ?)',
    )
    .bind(id, owner)
  return [empty, ...stockWrites(db, id, stocks)]
}

export async function deleteWatchlist(db: D1Database, owner: string, id: string): Promise<boolean> {
  const [, removed] = await db.batch([
    db
      .prepare(
        'DELETE FROM watchlist_stocks WHERE watchlist_id IN (SELECT id FROM watchlists WHERE id = ? AND owner = ?)',
      )
      .bind(id, owner),
    db.prepare('DELETE FROM watchlists WHERE id = ? AND owner = ?').bind(id, owner),
  ])
  return (removed?.meta.changes ?? 0) > 0
}

/** Puts a stock at the end of a list that has room; one that is there already stays where it is. False when it is full. */
export async function watchStock(
  db: D1Database,
  { id, stock, most }: { id: string; stock: WatchedStock; most: number },
): Promise<boolean> {
  const { meta } = await db
    .prepare(
      `INSERT INTO watchlist_stocks (watchlist_id, key, stock_code, stock_name, place)
       SELECT ?1, ?2, ?3, ?4, (SELECT COALESCE(MAX(place), 0) + 1 FROM watchlist_stocks WHERE watchlist_id = ?1)
       WHERE (SELECT COUNT(*) FROM watchlist_stocks WHERE watchlist_id = ?1) < ?5
       ON CONFLICT (watchlist_id, key) DO NOTHING`,
    )
    .bind(id, stock.key, stock.stockCode, stock.stockName, most)
    .run()
  if (meta.changes > 0) return true
  const there = 'SELECT 1 FROM watchlist_stocks WHERE watchlist_id = ? AND key = ?'
  return (await db.prepare(there).bind(id, stock.key).first()) !== null
}

export async function unwatchStock(db: D1Database, id: string, key: string): Promise<boolean> {
  const query = 'DELETE FROM watchlist_stocks WHERE watchlist_id = ? AND key = ?'
  return (await db.prepare(query).bind(id, key).run()).meta.changes > 0
}

/** The listings that most owners follow. */
export async function mostWatched(db: D1Database, limit: number): Promise<string[]> {
  const query = 'SELECT key, COUNT(*) AS n FROM watchlist_stocks GROUP BY key ORDER BY n DESC, key LIMIT ?'
  return (await db.prepare(query).bind(limit).all<{ key: string }>()).results.map(({ key }) => key)
}

/** One statement for all of them; a list that does not exist takes none. */
function stockWrites(db: D1Database, id: string, stocks: readonly WatchedStock[]): D1PreparedStatement[] {
  if (stocks.length === 0) return []
  return [
    db
      .prepare(
        `INSERT INTO watchlist_stocks (watchlist_id, key, stock_code, stock_name, place)
         SELECT ?1, value ->> 'key', value ->> 'stockCode', value ->> 'stockName', json_each.key + 1 FROM json_each(?2)
         WHERE EXISTS (SELECT 1 FROM watchlists WHERE id = ?1) ON CONFLICT DO NOTHING`,
      )
      .bind(id, JSON.stringify(stocks)),
  ]
}
