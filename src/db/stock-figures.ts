// The stored figures of listings: how they are stored, and which are due.

import type { Market } from '../market/instruments.ts'
import type { BarsField, CloseField } from '../screening/fields.ts'
import type { KeptGroup } from '../screening/figures.ts'

export type ListedRow = {
  key: string
  market: string
  exchange: string
  kind: string
  name: string
  en: string
  riskWarned: boolean
}

// Rows are passed as JSON, thousands in one statement, because a statement binds at most a hundred values.
const ROWS_PER_STATEMENT = 2_000

const chunked = <T>(rows: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(rows.length / ROWS_PER_STATEMENT) }, (_, i) => {
    return rows.slice(i * ROWS_PER_STATEMENT, (i + 1) * ROWS_PER_STATEMENT)
  })

const LISTED = ['key', 'market', 'exchange', 'kind', 'name', 'en'] as const
const fromJson = (names: readonly string[]): string => names.map((name) => `value ->> '${name}'`).join(', ')

/** Stores the present list of a market; listings that are no longer in it are not screened any more. */
export async function layDownListings(db: D1Database, market: Market, rows: readonly ListedRow[]): Promise<void> {
  const lay = db.prepare(
    `INSERT INTO stock_figures (${LISTED.join(', ')}, risk_warned, active)
     SELECT ${fromJson(LISTED)}, value ->> 'riskWarned', 1 FROM json_each(?) WHERE true
     ON CONFLICT (key) DO UPDATE SET name = excluded.name, en = excluded.en, kind = excluded.kind,
       risk_warned = excluded.risk_warned, active = 1`,
  )
  await db.batch([
    db.prepare('UPDATE stock_figures SET active = 0 WHERE market = ?').bind(market),
    ...chunked(rows).map((some) => lay.bind(JSON.stringify(some))),
  ])
}

export type FillState = {
  market: Market
  session: string
  source: string
  position: string | null
  isDone: boolean
  told: number
  refused: number
  failures: number
  /** Epoch ms. */
  nextAt: number
  startedAt: number
  endedAt: number | null
}

type RawFill = Omit<FillState, 'isDone'> & { is_done: number }

export async function fillStates(db: D1Database): Promise<FillState[]> {
  const query = `SELECT market, session, source, position, is_done, told, refused, failures, next_at AS "nextAt",
    started_at AS "startedAt", ended_at AS "endedAt" FROM screening_fills`
  const { results } = await db.prepare(query).all<RawFill>()
  return results.map(({ is_done, ...rest }) => ({ ...rest, isDone: is_done === 1 }))
}

function fillStatement(db: D1Database, fill: FillState): D1PreparedStatement {
  const { market, session, source, position, isDone, told, refused, failures, nextAt, startedAt, endedAt } = fill
  return db
    .prepare(
      `INSERT OR REPLACE INTO screening_fills (market, session, source, position, is_done, told, refused, failures, next_at,
         started_at, ended_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .bind(market, session, source, position, isDone ? 1 : 0, told, refused, failures, nextAt, startedAt, endedAt)
}

export async function saveFill(db: D1Database, fill: FillState): Promise<void> {
  await fillStatement(db, fill).run()
}

export type CloseRow = { listed: ListedRow; industry: string | null; kept: KeptGroup<CloseField> }

/**
 * Stores the closes together with the position in the list, so that an interrupted run loses neither. The newer of two
 * sessions is kept, and a close that contradicted the bars is not stored again. Stored bars of the session are read
 * once more, to be compared with the close.
 */
export async function saveCloses(db: D1Database, rows: readonly CloseRow[], fill: FillState): Promise<void> {
  const figures = rows[0] === undefined ? [] : Object.keys(rows[0].kept.figures)
  const given = ['session', 'source', 'told_at', 'close_marks', ...figures]
  const json = rows.map(({ listed, industry, kept }) => ({
    ...{ ...listed, riskWarned: listed.riskWarned ? 1 : 0, industry, ...kept.figures },
    ...{ session: kept.session, source: kept.source, told_at: kept.toldAt, close_marks: JSON.stringify(kept.marks) },
  }))
  const save = db.prepare(
    `INSERT INTO stock_figures (${LISTED.join(', ')}, risk_warned, active, industry, ${given.join(', ')})
     SELECT ${fromJson(LISTED)}, value ->> 'riskWarned', 1, value ->> 'industry', ${fromJson(given)} FROM json_each(?) WHERE true
     ON CONFLICT (key) DO UPDATE SET active = 1, industry = COALESCE(excluded.industry, industry), ${takenOver(given)},
       bars_told_at = iif(bars_session >= excluded.session, 0, bars_told_at)
     WHERE excluded.session > COALESCE(session, '') OR (excluded.session = session AND price IS NOT NULL)`,
  )
  const saves = rows.length === 0 ? [] : chunked(json).map((some) => save.bind(JSON.stringify(some)))
  await db.batch([...saves, fillStatement(db, fill)])
}

const takenOver = (names: readonly string[]): string => names.map((name) => `${name} = excluded.${name}`).join(', ')

/** The next listings, after that one, whose close of the session is unknown. */
export async function keysWithout(
  db: D1Database,
  { market, session, after, limit }: { market: Market; session: string; after: string; limit: number },
): Promise<string[]> {
  const query = `SELECT key FROM stock_figures WHERE market = ?1 AND active = 1 AND key > ?2
    AND (session IS NULL OR session < ?3) ORDER BY key LIMIT ?4`
  const { results } = await db.prepare(query).bind(market, after, session, limit).all<{ key: string }>()
  return results.map(({ key }) => key)
}

export type DueBars = { key: string; session: string | null; price: number | null; failures: number }

/** Listings whose bars are due, the longest overdue first, then by size. */
export async function dueBars(
  db: D1Database,
  { markets, now, limit }: { markets: readonly Market[]; now: number; limit: number },
): Promise<DueBars[]> {
  const query = `SELECT key, session, price, bars_failures AS failures FROM stock_figures
    WHERE active = 1 AND bars_next_at <= ?1 AND market IN (SELECT value FROM json_each(?2))
    ORDER BY bars_next_at, market_value DESC, key LIMIT ?3`
  return (await db.prepare(query).bind(now, JSON.stringify(markets), limit).all<DueBars>()).results
}

export type KeptBars = DueBars & { body: string; provider: string; keptAt: number }

/** Bars that were fetched for another purpose and are newer than those of the figures. */
export async function barsKeptSince(db: D1Database, { since, limit }: { since: number; limit: number }) {
  const query = `SELECT f.key, f.session, f.price, f.bars_failures AS failures, m.body, m.provider, m.kept_at AS "keptAt"
    FROM market_answers m JOIN stock_figures f ON f.key = m.key AND f.active = 1
    WHERE m.kept_at > ?1 AND m.need = 'daily_data' AND m.kept_at > COALESCE(f.bars_told_at, 0)
    ORDER BY m.kept_at DESC LIMIT ?2`
  return (await db.prepare(query).bind(since, limit).all<KeptBars>()).results
}

export type BarsOutcome = {
  key: string
  bars: KeptGroup<BarsField> | null
  /** The close of the last bar; used when no list had a close for that session. */
  close: KeptGroup<CloseField> | null
  /** The two sources do not agree on the price of the session, so neither is shown. */
  isContradicted: boolean
  toldAt: number
  nextAt: number
  failures: number
}

export async function saveBars(db: D1Database, outcomes: readonly BarsOutcome[]): Promise<void> {
  const statements = outcomes.flatMap((one) => barsStatements(db, one))
  if (statements.length > 0) await db.batch(statements)
}

function barsStatements(db: D1Database, outcome: BarsOutcome): D1PreparedStatement[] {
  const { key, bars, close, isContradicted, toldAt, nextAt, failures } = outcome
  const statements = [
    db
      .prepare(
        `UPDATE stock_figures SET bars_next_at = ?2, bars_failures = ?3, bars_told_at = MAX(COALESCE(bars_told_at, 0), ?4)
         WHERE key = ?1`,
      )
      .bind(key, nextAt, failures, toldAt),
  ]
  if (bars !== null) {
    statements.push(groupStatement(db, { key, prefix: 'bars_', kept: bars, guard: "? >= COALESCE(bars_session, '')" }))
  }
  if (close !== null) {
    const guard = isContradicted ? "? >= COALESCE(session, '')" : "? > COALESCE(session, '')"
    statements.push(groupStatement(db, { key, prefix: '', kept: close, guard }))
  }
  return statements
}

type Stored = { key: string; prefix: '' | 'bars_'; kept: KeptGroup<string>; guard: string }

function groupStatement(db: D1Database, { key, prefix, kept, guard }: Stored): D1PreparedStatement {
  const { session, source, toldAt, marks, figures } = kept
  const head = { session, source, told_at: toldAt }
  const values: Record<string, unknown> = {
    ...Object.fromEntries(Object.entries(head).map(([name, value]) => [`${prefix}${name}`, value])),
    [prefix === '' ? 'close_marks' : 'bars_marks']: JSON.stringify(marks),
    ...figures,
  }
  const names = Object.keys(values)
  const set = names.map((name) => `${name} = ?`).join(', ')
  return db
    .prepare(`UPDATE stock_figures SET ${set} WHERE key = ? AND ${guard}`)
    .bind(...Object.values(values), key, session)
}

export type MarketState = {
  market: Market
  listings: number
  closes: number
  oldestClose: string | null
  newestClose: string | null
  bars: number
  oldestBars: string | null
  newestBars: string | null
  /** Closes of the newest session of each market. */
  closesOfNewest: number
  barsOfNewest: number
  toldAt: number | null
}

export async function figuresByMarket(db: D1Database): Promise<MarketState[]> {
  const query = `WITH newest AS (SELECT market, MAX(session) AS c, MAX(bars_session) AS b FROM stock_figures WHERE active = 1
      GROUP BY market)
    SELECT f.market, COUNT(*) AS listings, COUNT(f.session) AS closes, MIN(f.session) AS "oldestClose", n.c AS "newestClose",
      COUNT(f.bars_session) AS bars, MIN(f.bars_session) AS "oldestBars", n.b AS "newestBars",
      TOTAL(f.session = n.c) AS "closesOfNewest", TOTAL(f.bars_session = n.b) AS "barsOfNewest",
      MAX(COALESCE(f.told_at, 0), COALESCE(f.bars_told_at, 0)) AS "toldAt"
    FROM stock_figures f JOIN newest n ON n.market = f.market WHERE f.active = 1 GROUP BY f.market ORDER BY f.market`
  return (await db.prepare(query).all<MarketState>()).results
}
