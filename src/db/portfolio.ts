// Accounts and their events. Every write is conditional on the version of the owner's book for which it was decided: of
// two concurrent writes, the later one finds the version changed and decides again.

import { formatAmount, parseAmount } from '../lib/decimal.ts'
import type { LedgerEvent } from '../portfolio/ledger.ts'
import type { OwnRate } from '../portfolio/rates.ts'

export type Account = {
  id: number
  name: string
  broker: string | null
  market: string
  baseCurrency: string
  isActive: boolean
  createdAt: string
  updatedAt: string
}

/** Data that is stored with an event but that the ledger does not need. */
export type Notes = { uid: string | null; note: string | null; createdAt: string }
export type StoredEvent = LedgerEvent & Notes & { account: number }
type Unnumbered<T> = T extends unknown ? Omit<T, 'id'> : never
export type NewEvent = Unnumbered<StoredEvent>

export type Book = { version: number; nextId: number }

const ACCOUNT = `id, name, broker, market, base_currency AS "baseCurrency", is_active AS "isActive",
  created_at AS "createdAt", updated_at AS "updatedAt"`
type AccountRow = Omit<Account, 'isActive'> & { isActive: number }

const accountOf = (row: AccountRow): Account => ({ ...row, isActive: row.isActive === 1 })

/** In the order of creation, including hidden ones. */
export async function listAccounts(db: D1Database, owner: string): Promise<Account[]> {
  const { results } = await db
    .prepare(`SELECT ${ACCOUNT} FROM portfolio_accounts WHERE owner = ? ORDER BY id`)
    .bind(owner)
    .all<AccountRow>()
  return results.map(accountOf)
}

/** Whether any owner has an account. */
export const hasAccounts = async (db: D1Database): Promise<boolean> =>
  (await db.prepare('SELECT 1 FROM portfolio_accounts LIMIT 1').first()) !== null

export async function bookOf(db: D1Database, owner: string): Promise<Book> {
  const row = await db
    .prepare('SELECT version, next_id AS "nextId" FROM portfolio_books WHERE owner = ?')
    .bind(owner)
    .first<Book>()
  return row ?? { version: 0, nextId: 1 }
}

export type AccountChange = Partial<Pick<Account, 'name' | 'broker' | 'market' | 'baseCurrency' | 'isActive'>>

export type Change =
  | { kind: 'account'; account: Account }
  | { kind: 'account_change'; id: number; change: AccountChange; at: string }
  | { kind: 'event'; event: StoredEvent }
  | { kind: 'removal'; id: number }

/** Stores all of the changes or none. False when the book has another version than the one for which they were decided. */
export async function writeBook(
  db: D1Database,
  owner: string,
  { book, changes, taken }: { book: Book; changes: readonly Change[]; taken: number },
): Promise<boolean> {
  const writer = crypto.randomUUID()
  const claim = db
    .prepare(
      `INSERT INTO portfolio_books (owner, version, next_id, writer) VALUES (?1, ?2 + 1, ?3, ?4)
       ON CONFLICT (owner) DO UPDATE SET version = excluded.version, next_id = excluded.next_id, writer = excluded.writer
         WHERE portfolio_books.version = ?2`,
    )
    .bind(owner, book.version, book.nextId + taken, writer)
  const events = changes.flatMap((change) => (change.kind === 'event' ? [change.event] : []))
  const others = changes.flatMap((change) => (change.kind === 'event' ? [] : [change]))
  const [claimed] = await db.batch([
    claim,
    ...others.map((change) => changeStatement(db, { owner, writer }, change)),
    ...eventStatements(db, { owner, writer }, events),
  ])
  return (claimed?.meta.changes ?? 0) > 0
}

type Claim = { owner: string; writer: string }
/** True only for the writer that created the new version. */
const MINE = 'EXISTS (SELECT 1 FROM portfolio_books WHERE owner = ?1 AND writer = ?2)'

type OtherChange = Exclude<Change, { kind: 'event' }>

function changeStatement(db: D1Database, { owner, writer }: Claim, change: OtherChange): D1PreparedStatement {
  if (change.kind === 'removal') {
    return db
      .prepare(`DELETE FROM portfolio_events WHERE owner = ?1 AND id = ?3 AND ${MINE}`)
      .bind(owner, writer, change.id)
  }
  if (change.kind === 'account_change') {
    const { name, broker, market, baseCurrency, isActive } = change.change
    const active = isActive === undefined ? null : isActive ? 1 : 0
    return db
      .prepare(
        `UPDATE portfolio_accounts SET name = COALESCE(?4, name), broker = COALESCE(?5, broker), market = COALESCE(?6, market),
           base_currency = COALESCE(?7, base_currency), is_active = COALESCE(?8, is_active), updated_at = ?9
         WHERE owner = ?1 AND id = ?3 AND ${MINE}`,
      )
      .bind(
        owner,
        writer,
        change.id,
        name ?? null,
        broker ?? null,
        market ?? null,
        baseCurrency ?? null,
        active,
        change.at,
      )
  }
  const { id, name, broker, market, baseCurrency, createdAt } = change.account
  return db
    .prepare(
      `INSERT INTO portfolio_accounts (owner, id, name, broker, market, base_currency, created_at, updated_at)
       SELECT ?1, ?3, ?4, ?5, ?6, ?7, ?8, ?8 WHERE ${MINE}`,
    )
    .bind(owner, writer, id, name, broker, market, baseCurrency, createdAt)
}

/**
 * Rows of one statement: an import of thousands takes several statements, so that each stays below the size limit of a
 * parameter.
 */
const ROWS_AT_ONCE = 1_000

function eventStatements(db: D1Database, { owner, writer }: Claim, events: readonly StoredEvent[]) {
  const values = 'id account kind date symbol market currency side quantity amount fee tax uid note createdAt'
  const picked = values.split(' ').map((name) => `value ->> '$.${name}'`)
  const statements: D1PreparedStatement[] = []
  for (let at = 0; at < events.length; at += ROWS_AT_ONCE) {
    const rows = events.slice(at, at + ROWS_AT_ONCE).map((event): EventRow => {
      const { id, account, kind, date, currency, uid, note, createdAt } = event
      const { symbol, market } = event.kind === 'cash' ? { symbol: null, market: null } : event
      return { id, account, kind, date, symbol, market, currency, ...figuresOf(event), uid, note, createdAt }
    })
    statements.push(
      db
        .prepare(
          `INSERT INTO portfolio_events
             (owner, id, account, kind, date, symbol, market, currency, side, quantity, amount, fee, tax, uid, note, created_at)
           SELECT ?1, ${picked.join(', ')} FROM json_each(?3) WHERE ${MINE}`,
        )
        .bind(owner, writer, JSON.stringify(rows)),
    )
  }
  return statements
}

type Figures = { side: string | null; quantity: string | null; amount: string; fee: string | null; tax: string | null }

function figuresOf(event: StoredEvent): Figures {
  const none = { side: null, quantity: null, fee: null, tax: null }
  if (event.kind === 'cash') return { ...none, side: event.direction, amount: formatAmount(event.amount) }
  if (event.kind === 'dividend') return { ...none, amount: formatAmount(event.perShare) }
  if (event.kind === 'payout') {
    const { gross, fee, tax } = event
    return { ...none, amount: formatAmount(gross), fee: formatAmount(fee), tax: formatAmount(tax) }
  }
  if (event.kind === 'split') return { ...none, amount: formatAmount(event.ratio) }
  return {
    side: event.side,
    quantity: formatAmount(event.quantity),
    amount: formatAmount(event.price),
    fee: formatAmount(event.fee),
    tax: formatAmount(event.tax),
  }
}

type EventRow = Figures & {
  id: number
  account: number
  kind: StoredEvent['kind']
  date: string
  symbol: string | null
  market: string | null
  currency: string
  uid: string | null
  note: string | null
  createdAt: string
}

const EVENT = `id, account, kind, date, symbol, market, currency, side, quantity, amount, fee, tax, uid, note, created_at AS "createdAt"`

function eventOf(row: EventRow): StoredEvent {
  const { id, account, kind, date, currency, uid, note, createdAt } = row
  const base = { id, account, date, currency, uid, note, createdAt }
  const amount = stored(row.amount)
  if (kind === 'cash') return { ...base, kind, direction: row.side === 'out' ? 'out' : 'in', amount }
  const listing = { symbol: row.symbol ?? '', market: row.market ?? '' }
  if (kind === 'dividend') return { ...base, ...listing, kind, perShare: amount }
  if (kind === 'payout') return { ...base, ...listing, kind, gross: amount, fee: stored(row.fee), tax: stored(row.tax) }
  if (kind === 'split') return { ...base, ...listing, kind, ratio: amount }
  const side = row.side === 'sell' ? ('sell' as const) : ('buy' as const)
  const figures = { quantity: stored(row.quantity), price: amount, fee: stored(row.fee), tax: stored(row.tax) }
  return { ...base, ...listing, kind, side, ...figures }
}

function stored(text: string | null): bigint {
  const amount = parseAmount(text ?? '')
  if (amount === null) throw new Error(`a stored event has the figure ${JSON.stringify(text)}`)
  return amount
}

/** All events of an account, or of all accounts of the owner, in the order of booking. */
export async function accountEvents(db: D1Database, owner: string, account: number | null): Promise<StoredEvent[]> {
  const { results } = await db
    .prepare(`SELECT ${EVENT} FROM portfolio_events WHERE owner = ?1 AND (?2 IS NULL OR account = ?2) ORDER BY id`)
    .bind(owner, account)
    .all<EventRow>()
  return results.map(eventOf)
}

export type EventFilter = {
  kinds: readonly StoredEvent['kind'][]
  account: number | null
  from: string | null
  to: string | null
  symbol: string | null
  side: string | null
}

/** Newest first. */
export async function eventPage(
  db: D1Database,
  owner: string,
  { filter, limit, offset }: { filter: EventFilter; limit: number; offset: number },
): Promise<{ events: StoredEvent[]; total: number }> {
  const where = `owner = ?1 AND kind IN (SELECT value FROM json_each(?2)) AND (?3 IS NULL OR account = ?3)
    AND (?4 IS NULL OR date >= ?4) AND (?5 IS NULL OR date <= ?5) AND (?6 IS NULL OR symbol = ?6) AND (?7 IS NULL OR side = ?7)`
  const values = [
    owner,
    JSON.stringify(filter.kinds),
    filter.account,
    filter.from,
    filter.to,
    filter.symbol,
    filter.side,
  ] as const
  const [rows, count] = await db.batch<EventRow & { total: number }>([
    db
      .prepare(`SELECT ${EVENT} FROM portfolio_events WHERE ${where} ORDER BY date DESC, id DESC LIMIT ?8 OFFSET ?9`)
      .bind(...values, limit, offset),
    db.prepare(`SELECT COUNT(*) AS total FROM portfolio_events WHERE ${where}`).bind(...values),
  ])
  return { events: (rows?.results ?? []).map(eventOf), total: count?.results[0]?.total ?? 0 }
}

/** Newest first. */
export async function ownRates(db: D1Database, owner: string): Promise<OwnRate[]> {
  const { results } = await db
    .prepare(
      'SELECT currency, quote, date, rate FROM portfolio_rates WHERE owner = ? ORDER BY date DESC, currency, quote',
    )
    .bind(owner)
    .all<Omit<OwnRate, 'rate'> & { rate: string }>()
  return results.map((row) => ({ ...row, rate: stored(row.rate) }))
}

/** Stores or replaces the rate of a day. False when there are too many already. */
export async function saveRate(
  db: D1Database,
  owner: string,
  { rate, at, most }: { rate: OwnRate; at: string; most: number },
): Promise<boolean> {
  const { meta } = await db
    .prepare(
      `INSERT INTO portfolio_rates (owner, currency, quote, date, rate, updated_at)
       SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE (SELECT COUNT(*) FROM portfolio_rates WHERE owner = ?1) < ?7
         OR EXISTS (SELECT 1 FROM portfolio_rates WHERE owner = ?1 AND currency = ?2 AND quote = ?3 AND date = ?4)
       ON CONFLICT (owner, currency, quote, date) DO UPDATE SET rate = excluded.rate, updated_at = excluded.updated_at`,
    )
    .bind(owner, rate.currency, rate.quote, rate.date, formatAmount(rate.rate), at, most)
    .run()
  return meta.changes > 0
}

export async function deleteRate(
  db: D1Database,
  owner: string,
  { currency, quote, date }: Omit<OwnRate, 'rate'>,
): Promise<boolean> {
  const { meta } = await db
    .prepare('DELETE FROM portfolio_rates WHERE owner = ? AND currency = ? AND quote = ? AND date = ?')
    .bind(owner, currency, quote, date)
    .run()
  return meta.changes > 0
}
