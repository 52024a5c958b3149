// The stocks that an owner follows, in named groups. One group is the default; it is created with its first stock.

/** `note` null in a write keeps the note of an existing stock. */
export type WatchedStock = { key: string; stockCode: string; stockName: string | null; note: string | null }
export type Watchlist = {
  id: string
  name: string
  note: string
  isDefault: boolean
  createdAt: string
  stocks: WatchedStock[]
}

type Head = { id: string; name: string; note: string; isDefault: number; createdAt: string }
type Line = WatchedStock & { watchlistId: string }

export type NewWatchlist = Omit<Watchlist, 'stocks'> & { stocks: readonly WatchedStock[] }

const HEAD = 'id, name, note, is_default AS "isDefault", created_at AS "createdAt"'
const LINE = 'watchlist_id AS "watchlistId", key, stock_code AS "stockCode", stock_name AS "stockName", note'

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
  const byList = Map.groupBy(lines?.results ?? [], ({ watchlistId }) => watchlistId)
  return (heads?.results ?? []).map((head) => ({
    id: head.id,
    name: head.name,
    note: head.note,
    isDefault: head.isDefault === 1,
    createdAt: head.createdAt,
    stocks: (byList.get(head.id) ?? []).map(({ key, stockCode, stockName, note }) => {
      return { key, stockCode, stockName, note }
    }),
  }))
}

export async function findWatchlist(db: D1Database, owner: string, id: string): Promise<Watchlist | null> {
  return (await listWatchlists(db, owner)).find((list) => list.id === id) ?? null
}

export type Creation = 'created' | 'name_taken' | 'too_many'

/** Adds a list at the end. */
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

/** The same as a statement, for a batch that changes several lists. */
export function watchlistCreation(
  db: D1Database,
  owner: string,
  { list, most }: { list: NewWatchlist; most: number },
): D1PreparedStatement[] {
  const insert = db
    .prepare(
      `INSERT INTO watchlists (id, owner, name, is_default, place, created_at, note)
       SELECT ?1, ?2, ?3, ?4, (SELECT COALESCE(MAX(place), 0) + 1 FROM watchlists WHERE owner = ?2), ?5, ?7
       WHERE (SELECT COUNT(*) FROM watchlists WHERE owner = ?2) < ?6
       ON CONFLICT DO NOTHING`,
    )
    .bind(list.id, owner, list.name, list.isDefault ? 1 : 0, list.createdAt, most, list.note)
  return [insert, ...stockWrites(db, owner, { id: list.id, stocks: list.stocks })]
}

type ListChange = { id: string; name: string | null; note: string | null; stocks: readonly WatchedStock[] | null }

/** Changes the fields that are not null, in one batch. False when another list has the name. */
export async function changeWatchlist(
  db: D1Database,
  owner: string,
  { id, name, note, stocks }: ListChange,
): Promise<boolean> {
  const taken = 'SELECT 1 FROM watchlists WHERE owner = ? AND name = ? AND id <> ?'
  if (name !== null && (await db.prepare(taken).bind(owner, name, id).first()) !== null) return false
  const head = db
    .prepare(
      `UPDATE watchlists SET name = COALESCE(?1, name), note = COALESCE(?4, note) WHERE id = ?2 AND owner = ?3
         AND NOT EXISTS (SELECT 1 FROM watchlists WHERE owner = ?3 AND name = ?1 AND id <> ?2)`,
    )
    .bind(name, id, owner, note)
  await db.batch([head, ...(stocks === null ? [] : stocksReplaced(db, owner, { id, stocks }))])
  return true
}

type Stocks = { id: string; stocks: readonly WatchedStock[] }

/** For a batch that changes several lists: exactly these stocks in this order. Notes stay with their stocks. */
export function stocksReplaced(db: D1Database, owner: string, { id, stocks }: Stocks): D1PreparedStatement[] {
  const gone = db
    .prepare(
      `DELETE FROM watchlist_stocks WHERE watchlist_id IN (SELECT id FROM watchlists WHERE id = ?1 AND owner = ?2)
         AND key NOT IN (SELECT value FROM json_each(?3))`,
    )
    .bind(id, owner, JSON.stringify(stocks.map(({ key }) => key)))
  return [gone, ...stockWrites(db, owner, { id, stocks })]
}

export type ImportTarget = { list: Omit<NewWatchlist, 'stocks'>; isNew: boolean; stocks: readonly WatchedStock[] }
type Capacity = { lists: number; stocks: number }
export type Import = { added: number; groups: { id: string; isNew: boolean }[] }

/**
 * The target lists of an import, and which of them have no room. `?1` is the owner, `?2` the targets, `?3` the stocks,
 * `?4` the capacity of a list. A new list may have been created meanwhile: it is found by its name.
 */
const IMPORT = `WITH t AS MATERIALIZED (SELECT key AS n, value ->> 'id' AS id, value ->> 'name' AS name,
    value ->> 'isDefault' AS is_default, value ->> 'isNew' AS is_new FROM json_each(?2)),
  s AS MATERIALIZED (SELECT key AS place, value ->> 'target' AS n, value ->> 'key' AS key, value ->> 'stockCode' AS stock_code,
    value ->> 'stockName' AS stock_name, value ->> 'note' AS note FROM json_each(?3)),
  w AS (SELECT t.n, watchlists.id FROM t JOIN watchlists ON watchlists.owner = ?1 AND (watchlists.id = t.id OR
    t.is_new AND CASE WHEN t.is_default THEN watchlists.is_default = 1 ELSE watchlists.name = t.name END)),
  lost AS (SELECT n FROM t WHERE NOT is_new AND n NOT IN (SELECT n FROM w)),
  crowded AS (SELECT t.n FROM t LEFT JOIN w ON w.n = t.n
    WHERE (SELECT COUNT(*) FROM watchlist_stocks x WHERE x.watchlist_id = w.id) + (SELECT COUNT(*) FROM s WHERE s.n = t.n
      AND NOT EXISTS (SELECT 1 FROM watchlist_stocks x WHERE x.watchlist_id = w.id AND x.key = s.key)) > ?4)`

/**
 * Appends the stocks to each target list, and creates missing lists. A stock that is already there keeps its position
 * and gets the new note. All or nothing, even with concurrent writes: null when a list is gone, or there is no room.
 */
export async function importStocks(
  db: D1Database,
  owner: string,
  { targets, room }: { targets: readonly ImportTarget[]; room: Capacity },
): Promise<Import | null> {
  const given = JSON.stringify(targets.map(({ list, isNew }) => ({ ...list, isNew })))
  const stocks = targets.flatMap(({ stocks: some }, target) => some.map((stock) => ({ ...stock, target })))
  const bound = (query: string, ...more: (string | number)[]) =>
    db.prepare(`${IMPORT} ${query}`).bind(owner, given, JSON.stringify(stocks), room.stocks, ...more)
  const [there, made, put, found] = await db.batch<{ count: number; id: string }>([
    bound(
      'SELECT COUNT(*) AS count FROM s JOIN w ON w.n = s.n JOIN watchlist_stocks x ON x.watchlist_id = w.id AND x.key = s.key',
    ),
    bound(
      `INSERT INTO watchlists (id, owner, name, is_default, place, created_at, note)
       SELECT id, ?1, name, is_default, n + 1 + (SELECT COALESCE(MAX(place), 0) FROM watchlists WHERE owner = ?1), ?6, ''
       FROM t WHERE n NOT IN (SELECT n FROM w) AND NOT EXISTS (SELECT 1 FROM lost) AND NOT EXISTS (SELECT 1 FROM crowded)
         AND (SELECT COUNT(*) FROM watchlists WHERE owner = ?1) + (SELECT COUNT(*) FROM t WHERE n NOT IN (SELECT n FROM w)) <= ?5
       RETURNING id`,
      room.lists,
      targets[0]?.list.createdAt ?? '',
    ),
    bound(
      `INSERT INTO watchlist_stocks (watchlist_id, key, stock_code, stock_name, place, note)
       SELECT w.id, s.key, s.stock_code, s.stock_name,
         s.place + 1 + (SELECT COALESCE(MAX(x.place), 0) FROM watchlist_stocks x WHERE x.watchlist_id = w.id), COALESCE(s.note, '')
       FROM s JOIN w ON w.n = s.n
       WHERE (SELECT COUNT(*) FROM t) = (SELECT COUNT(*) FROM w) AND NOT EXISTS (SELECT 1 FROM crowded)
       ON CONFLICT (watchlist_id, key) DO UPDATE SET note = CASE excluded.note WHEN '' THEN note ELSE excluded.note END`,
    ),
    bound('SELECT id FROM w ORDER BY n'),
  ])
  if ((put?.meta.changes ?? 0) === 0) return null
  const isMade = new Set((made?.results ?? []).map(({ id }) => id))
  return {
    added: stocks.length - (there?.results[0]?.count ?? 0),
    groups: (found?.results ?? []).map(({ id }) => ({ id, isNew: isMade.has(id) })),
  }
}

/** Sets the note of one stock; false when the list has no such stock. */
export async function noteStock(
  db: D1Database,
  { id, key, note }: { id: string; key: string; note: string },
): Promise<boolean> {
  const query = 'UPDATE watchlist_stocks SET note = ?1 WHERE watchlist_id = ?2 AND key = ?3'
  return (await db.prepare(query).bind(note, id, key).run()).meta.changes > 0
}

/** Orders the owner's lists; lists that are not named follow in their old order. */
export async function orderWatchlists(db: D1Database, owner: string, ids: readonly string[]): Promise<void> {
  await db
    .prepare(
      `UPDATE watchlists SET place = COALESCE(
         (SELECT json_each.key + 1 FROM json_each(?1) WHERE json_each.value = watchlists.id), place + ?3)
       WHERE owner = ?2`,
    )
    .bind(JSON.stringify(ids), owner, ids.length)
    .run()
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

/** Appends a stock to a list that has room; a stock that is already there keeps its position. False when the list is full. */
export async function watchStock(
  db: D1Database,
  { id, stock, most }: { id: string; stock: WatchedStock; most: number },
): Promise<boolean> {
  const { meta } = await db
    .prepare(
      `INSERT INTO watchlist_stocks (watchlist_id, key, stock_code, stock_name, place, note)
       SELECT ?1, ?2, ?3, ?4, (SELECT COALESCE(MAX(place), 0) + 1 FROM watchlist_stocks WHERE watchlist_id = ?1), ?6
       WHERE (SELECT COUNT(*) FROM watchlist_stocks WHERE watchlist_id = ?1) < ?5
       ON CONFLICT (watchlist_id, key) DO NOTHING`,
    )
    .bind(id, stock.key, stock.stockCode, stock.stockName, most, stock.note ?? '')
    .run()
  if (meta.changes > 0) return true
  const there = 'SELECT 1 FROM watchlist_stocks WHERE watchlist_id = ? AND key = ?'
  return (await db.prepare(there).bind(id, stock.key).first()) !== null
}

export async function unwatchStock(db: D1Database, id: string, key: string): Promise<boolean> {
  const query = 'DELETE FROM watchlist_stocks WHERE watchlist_id = ? AND key = ?'
  return (await db.prepare(query).bind(id, key).run()).meta.changes > 0
}

/** The listings that the most owners follow. */
export async function mostWatched(db: D1Database, limit: number): Promise<string[]> {
  const query = 'SELECT key, COUNT(*) AS n FROM watchlist_stocks GROUP BY key ORDER BY n DESC, key LIMIT ?'
  return (await db.prepare(query).bind(limit).all<{ key: string }>()).results.map(({ key }) => key)
}

/** One statement for all of them. A list that does not exist, or belongs to another owner, gets none. */
function stockWrites(db: D1Database, owner: string, { id, stocks }: Stocks): D1PreparedStatement[] {
  if (stocks.length === 0) return []
  return [
    db
      .prepare(
        `INSERT INTO watchlist_stocks (watchlist_id, key, stock_code, stock_name, place, note)
         SELECT ?1, value ->> 'key', value ->> 'stockCode', value ->> 'stockName', json_each.key + 1,
           COALESCE(value ->> 'note', (SELECT note FROM watchlist_stocks w WHERE w.watchlist_id = ?1
             AND w.key = value ->> 'key'), '') FROM json_each(?2)
         WHERE EXISTS (SELECT 1 FROM watchlists WHERE id = ?1 AND owner = ?3)
         ON CONFLICT (watchlist_id, key) DO UPDATE SET stock_code = excluded.stock_code,
           stock_name = excluded.stock_name, place = excluded.place, note = excluded.note`,
      )
      .bind(id, JSON.stringify(stocks), owner),
  ]
}
