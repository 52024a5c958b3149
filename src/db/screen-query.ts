// The SQL query of a screen. A figure that is too old counts as unknown, and a comparison with an unknown figure is
// neither true nor false, as with SQL's null.

import type { Market } from '../market/instruments.ts'
import type { Field, FieldName } from '../screening/fields.ts'
import type { Condition, Filter, Screen } from '../screening/filter.ts'

/** For each market the oldest session whose figures are used. */
export type Oldest = Readonly<Record<Market, string>>

type Compiled = { sql: string; values: unknown[] }

/** Collects bound values; they are numbered, so that a text may be used twice. */
class Binder {
  readonly values: unknown[] = []
  add(value: unknown): string {
    return `?${this.values.push(value)}`
  }
}

const GUARDS = { listing: null, close: 'session >= oldest', bars: 'bars_session >= oldest' } as const

/** A figure, or null when it is too old. Field names are column names and come only from our own list. */
function figure({ name, of }: Field): string {
  const guard = GUARDS[of]
  return guard === null ? name : `iif(${guard}, ${name}, NULL)`
}

const OPERATORS = { gt: '>', gte: '>=', lt: '<', lte: '<=', eq: '=' } as const

function conditionSql(condition: Condition, binder: Binder): string {
  const found = figure(condition.field)
  if ('other' in condition) {
    const compared = `${found} ${OPERATORS[condition.op]} ${figure(condition.other)}`
    // Figures of two different days are not compared.
    const isMixed = condition.field.of !== condition.other.of
    return isMixed ? `iif(session = bars_session, ${compared}, NULL)` : `(${compared})`
  }
  switch (condition.op) {
    case 'between':
      return `(${found} BETWEEN ${binder.add(condition.value[0])} AND ${binder.add(condition.value[1])})`
    case 'in':
    case 'not_in': {
      const values = `(SELECT value FROM json_each(${binder.add(JSON.stringify(condition.value))}))`
      return `(${found} ${condition.op === 'in' ? 'IN' : 'NOT IN'} ${values})`
    }
    case 'is':
      return `(${found} = ${binder.add(condition.value ? 1 : 0)})`
    default:
      return `(${found} ${OPERATORS[condition.op]} ${binder.add(condition.value)})`
  }
}

function filterSql(filter: Filter, binder: Binder): string {
  if ('and' in filter) return `(${filter.and.map((one) => filterSql(one, binder)).join(' AND ')})`
  if ('or' in filter) return `(${filter.or.map((one) => filterSql(one, binder)).join(' OR ')})`
  if ('not' in filter) return `(NOT ${filterSql(filter.not, binder)})`
  return conditionSql(filter, binder)
}

/** The listings of a screen, with the oldest usable session for each. */
function seen({ markets, kinds }: Screen, oldest: Oldest, binder: Binder): string {
  const cases = Object.entries(oldest).map(([market, day]) => `WHEN '${market}' THEN ${binder.add(day)}`)
  const ofMarkets =
    markets.length === 0 ? '' : `AND market IN (SELECT value FROM json_each(${binder.add(JSON.stringify(markets))}))`
  const ofKinds = `AND kind IN (SELECT value FROM json_each(${binder.add(JSON.stringify(kinds))}))`
  return `(SELECT *, CASE market ${cases.join(' ')} END AS oldest FROM stock_figures WHERE active = 1 ${ofMarkets} ${ofKinds})`
}

const IS_FRESH = '(COALESCE(session >= oldest, 0) OR COALESCE(bars_session >= oldest, 0))'
const IS_KEPT = '(session IS NOT NULL OR bars_session IS NOT NULL)'

export type ScreenCounts = {
  /** All listings of the screen. */
  listings: number
  /** Those with any figures. */
  kept: number
  /** Those whose figures are all too old. */
  tooOld: number
  /** Those for which a condition could not be decided because a figure is unknown. */
  unknown: number
  matched: number
  /** Undecided listings by the missing figure. */
  unknownBy: Record<string, number>
}

function countsSql(screen: Screen, oldest: Oldest, fields: readonly Field[]): Compiled {
  const binder = new Binder()
  const from = seen(screen, oldest, binder)
  const verdict = screen.where === null ? '1' : filterSql(screen.where, binder)
  const missing = fields.map((field, i) => `${figure(field)} IS NULL AS n${i}`)
  const inner = [`${IS_FRESH} AS fresh`, `${IS_KEPT} AS kept`, `${verdict} AS verdict`, ...missing].join(', ')
  const sums = fields.map((_, i) => `TOTAL(fresh AND verdict IS NULL AND n${i}) AS u${i}`)
  const sql = `WITH seen AS MATERIALIZED (SELECT ${inner} FROM ${from})
    SELECT COUNT(*) AS listings, TOTAL(kept) AS kept, TOTAL(kept AND NOT fresh) AS old,
      TOTAL(fresh AND verdict IS NULL) AS unknown, TOTAL(fresh AND verdict) AS matched
      ${sums.map((sum) => `, ${sum}`).join('')} FROM seen`
  return { sql, values: binder.values }
}

function orderSql({ sort }: Screen): string {
  const parts = sort.map(({ field, order }) => `${figure(field)} ${order === 'asc' ? 'ASC' : 'DESC'} NULLS LAST`)
  return `ORDER BY ${[...parts, 'key'].join(', ')}`
}

export type FigureRow = Record<FieldName, string | number | null> & {
  key: string
  name: string
  en: string
  session: string | null
  source: string | null
  told_at: number | null
  close_marks: string
  bars_session: string | null
  bars_source: string | null
  bars_told_at: number | null
  bars_marks: string
  oldest: string
}

type Window = { limit: number; offset: number }

function pageSql(screen: Screen, oldest: Oldest, { limit, offset }: Window): Compiled {
  const binder = new Binder()
  const from = seen(screen, oldest, binder)
  const verdict = screen.where === null ? '' : `AND ${filterSql(screen.where, binder)}`
  const room = `LIMIT ${binder.add(limit)} OFFSET ${binder.add(offset)}`
  return {
    sql: `SELECT * FROM ${from} WHERE ${IS_FRESH} ${verdict} ${orderSql(screen)} ${room}`,
    values: binder.values,
  }
}

export type Screened = { counts: ScreenCounts; rows: FigureRow[] }

type Question = { screen: Screen; oldest: Oldest; fields: readonly Field[]; window: Window }

/** Counts and a page, read in one transaction. */
export async function screenListings(db: D1Database, { screen, oldest, fields, window }: Question): Promise<Screened> {
  const counting = countsSql(screen, oldest, fields)
  const room = screen.limit === null ? window.limit : Math.max(0, Math.min(window.limit, screen.limit - window.offset))
  const paging = pageSql(screen, oldest, { ...window, limit: room })
  const [counted, page] = await db.batch<Record<string, unknown>>([
    db.prepare(counting.sql).bind(...counting.values),
    db.prepare(paging.sql).bind(...paging.values),
  ])
  const sums = (counted?.results[0] ?? {}) as Record<string, number>
  const by = fields.map(({ name }, i): [string, number] => [name, sums[`u${i}`] ?? 0])
  const counts: ScreenCounts = {
    ...{ listings: sums.listings ?? 0, kept: sums.kept ?? 0, tooOld: sums.old ?? 0 },
    ...{ unknown: sums.unknown ?? 0, matched: sums.matched ?? 0 },
    unknownBy: Object.fromEntries(by.filter(([, count]) => count > 0)),
  }
  return { counts, rows: (page?.results ?? []) as FigureRow[] }
}

/** The given listings for which the screen cannot be decided now, because figures are unknown, too old or not stored. */
export async function undecided(
  db: D1Database,
  { screen, oldest }: Pick<Question, 'screen' | 'oldest'>,
  keys: readonly string[],
): Promise<string[]> {
  const binder = new Binder()
  const from = seen({ ...screen, markets: [], kinds: ['stock', 'etf'] }, oldest, binder)
  const verdict = screen.where === null ? '1' : filterSql(screen.where, binder)
  const sql = `SELECT key FROM ${from} WHERE key IN (SELECT value FROM json_each(${binder.add(JSON.stringify(keys))}))
    AND (NOT ${IS_FRESH} OR (${verdict}) IS NULL)`
  const { results } = await db
    .prepare(sql)
    .bind(...binder.values)
    .all<{ key: string }>()
  return results.map(({ key }) => key)
}

export type IndustryRow = {
  industry: string
  members: number
  rising: number
  meanChange: number | null
  meanReturn: number | null
  session: string
}

/** Industries by the closes of one session: how many of their members rose, and the average change. */
export async function industriesOf(db: D1Database, { market, session }: { market: Market; session: string }) {
  const query = `SELECT industry, COUNT(*) AS members, TOTAL(change_pct > 0) AS rising, AVG(change_pct) AS "meanChange",
      AVG(iif(bars_session = session, return_20d_pct, NULL)) AS "meanReturn", session
    FROM stock_figures WHERE market = ?1 AND session = ?2 AND active = 1 AND industry IS NOT NULL AND change_pct IS NOT NULL
    GROUP BY industry HAVING members >= 3 ORDER BY "meanChange" DESC, industry`
  return (await db.prepare(query).bind(market, session).all<IndustryRow>()).results
}

export async function membersOf(
  db: D1Database,
  { market, session, industry, limit }: { market: Market; session: string; industry: string; limit: number },
): Promise<FigureRow[]> {
  const query = `SELECT *, session AS oldest FROM stock_figures WHERE market = ?1 AND session = ?2 AND active = 1 AND industry = ?3
    AND change_pct IS NOT NULL ORDER BY change_pct DESC, key LIMIT ?4`
  return (await db.prepare(query).bind(market, session, industry, limit).all<FigureRow>()).results
}
