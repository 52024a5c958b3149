// The writer of an owner's book. Every booking is checked against the whole ledger of the account, so that no stored
// event makes a sale impossible. It is stored only if nothing else was booked meanwhile; else the check is repeated.

import {
  type Account,
  accountEvents,
  type Book,
  bookOf,
  type Change,
  listAccounts,
  type NewEvent,
  type StoredEvent,
  writeBook,
} from '../db/portfolio.ts'
import type { CsvCash, CsvDividend, CsvEntries, CsvTrade } from './csv-trades.ts'
import { Oversell, replay } from './ledger.ts'

export const MAX_ACCOUNTS = 50
export const MAX_EVENTS = 20_000
/** A split is applied to all lots of its position. */
export const MAX_SPLITS = 100
/** The most rounds in which other writers of the same owner come first. */
const MAX_ROUNDS = 40

export type BookFault =
  | { fault: 'no_account' }
  | { fault: 'inactive_account' }
  | { fault: 'no_event' }
  | { fault: 'too_many_accounts' }
  | { fault: 'too_many_events' }
  | { fault: 'too_many_splits'; symbol: string }
  | { fault: 'repeated_uid'; uid: string }
  | { fault: 'busy' }

/** Why nothing was booked. A sale of more than is held is an `Oversell`. */
export class BookError extends Error {
  override readonly name = 'BookError'
  readonly why: BookFault

  constructor(why: BookFault) {
    super(why.fault)
    this.why = why
  }
}

type Decision<T> = { changes: Change[]; taken: number; result: T }

/** Writes of one isolate are serialised here; those of several isolates conflict in the database. */
const lines = new Map<string, Promise<unknown>>()

async function write<T>(db: D1Database, owner: string, decide: (book: Book) => Promise<Decision<T>>): Promise<T> {
  const before = lines.get(owner) ?? Promise.resolve()
  const mine = before.then(
    () => decided(db, owner, decide),
    () => decided(db, owner, decide),
  )
  lines.set(owner, mine)
  try {
    return await mine
  } finally {
    if (lines.get(owner) === mine) lines.delete(owner)
  }
}

async function decided<T>(db: D1Database, owner: string, decide: (book: Book) => Promise<Decision<T>>): Promise<T> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const book = await bookOf(db, owner)
    const { changes, taken, result } = await decide(book)
    if (changes.length === 0 && taken === 0) return result
    if (await writeBook(db, owner, { book, changes, taken })) return result
  }
  throw new BookError({ fault: 'busy' })
}

export type NewAccount = Pick<Account, 'name' | 'broker' | 'market' | 'baseCurrency'>

export const addAccount = (db: D1Database, owner: string, { account, at }: { account: NewAccount; at: string }) =>
  write(db, owner, async ({ nextId }) => {
    const accounts = await listAccounts(db, owner)
    if (accounts.length >= MAX_ACCOUNTS) throw new BookError({ fault: 'too_many_accounts' })
    const added: Account = { ...account, id: nextId, isActive: true, createdAt: at, updatedAt: at }
    return { changes: [{ kind: 'account', account: added }], taken: 1, result: added }
  })

type Changed = Partial<NewAccount & { isActive: boolean }>

/** Returns the account after the change. */
export const changeAccount = (db: D1Database, owner: string, asked: { id: number; change: Changed; at: string }) =>
  write(db, owner, async () => {
    const { id, change, at } = asked
    const account = (await listAccounts(db, owner)).find((one) => one.id === id)
    if (account === undefined) throw new BookError({ fault: 'no_account' })
    const result: Account = { ...account, ...change, updatedAt: at }
    return { changes: [{ kind: 'account_change', id, change, at }], taken: 0, result }
  })

/** Books all of the events or none, and returns their ids. Throws `BookError` and `Oversell`. */
export const bookEvents = (
  db: D1Database,
  owner: string,
  { account, events }: { account: number; events: readonly NewEvent[] },
): Promise<number[]> =>
  write(db, owner, async ({ nextId }) => {
    await mustBeOpen(db, owner, account)
    const known = await accountEvents(db, owner, account)
    if (known.length + events.length > MAX_EVENTS) throw new BookError({ fault: 'too_many_events' })
    const uids = new Set(known.flatMap(({ uid }) => uid ?? []))
    const numbered = events.map((event, i): StoredEvent => ({ ...event, id: nextId + i }))
    for (const { uid } of numbered) {
      if (uid === null) continue
      if (uids.has(uid)) throw new BookError({ fault: 'repeated_uid', uid })
      uids.add(uid)
    }
    checkPossible([...known, ...numbered])
    const changes = numbered.map((event): Change => ({ kind: 'event', event }))
    return { changes, taken: numbered.length, result: numbered.map(({ id }) => id) }
  })

export type Imported = {
  /** In a trial, how many would be booked. */
  booked: number
  /** Entries that are already in the account. */
  repeated: number
  /** The impossible sale; then nothing is booked. The row is null for an entry that existed before. */
  oversell: { row: number | null; error: Oversell } | null
}

type Import = { account: number; entries: CsvEntries; isTrial: boolean; at: string }
type CsvEntry = CsvTrade | CsvDividend | CsvCash

/**
 * Books the entries of a file that are not in the account yet, all or none. Trades are booked in the order in which
 * they happened.
 */
export const importTrades = (
  db: D1Database,
  owner: string,
  { account, entries, isTrial, at }: Import,
): Promise<Imported> =>
  write(db, owner, async ({ nextId }) => {
    await mustBeOpen(db, owner, account)
    const known = await accountEvents(db, owner, account)
    const isKnown = knownEntries(known)
    const all: CsvEntry[] = [...entries.cash, ...entries.dividends, ...entries.trades]
    const fresh = all.filter((one) => !isKnown(one))
    if (known.length + fresh.length > MAX_EVENTS) throw new BookError({ fault: 'too_many_events' })
    const result: Imported = { booked: fresh.length, repeated: all.length - fresh.length, oversell: null }
    const numbered = fresh.map((one, i) => bookedAs(one, { id: nextId + i, account, at }))
    try {
      checkPossible([...known, ...numbered])
    } catch (error) {
      if (!(error instanceof Oversell)) throw error
      const row = fresh[error.trade.id - nextId]?.row ?? null
      return { changes: [], taken: 0, result: { ...result, booked: 0, oversell: { row, error } } }
    }
    if (isTrial) return { changes: [], taken: 0, result }
    const changes = numbered.map((event): Change => ({ kind: 'event', event }))
    return { changes, taken: numbered.length, result }
  })

function bookedAs(one: CsvEntry, { id, account, at }: { id: number; account: number; at: string }): StoredEvent {
  const { currency, date, uid, hash } = one
  const notes = { uid: CSV_UID + hash, note: uid?.slice(0, LONGEST_NOTE) ?? null, createdAt: at }
  const base = { id, account, currency, date, ...notes }
  if ('direction' in one) return { ...base, kind: 'cash', direction: one.direction, amount: one.amount }
  const { symbol, market, fee, tax } = one
  const common = { ...base, symbol, market, fee, tax }
  if ('gross' in one) return { ...common, kind: 'payout', gross: one.gross }
  return { ...common, kind: 'trade', side: one.side, quantity: one.quantity, price: one.price }
}

const LONGEST_NOTE = 255
/** The prefix of an import's hash, which is the entry's uid in the book. */
const CSV_UID = 'csv:'

/** By its hash; a trade also by its number, if it was booked by hand for the same stock and day. */
function knownEntries(known: readonly StoredEvent[]): (one: CsvEntry) => boolean {
  const uids = new Set<string>()
  for (const event of known) {
    if (event.uid?.startsWith(CSV_UID)) uids.add(event.uid)
    else if (event.kind === 'trade' && event.uid !== null)
      uids.add(JSON.stringify([event.uid, event.symbol, event.date]))
  }
  return (one) => {
    const number = 'side' in one && one.uid !== null ? JSON.stringify([one.uid, one.symbol, one.date]) : null
    return uids.has(CSV_UID + one.hash) || (number !== null && uids.has(number))
  }
}

/** Removes an event if all later sales stay possible without it. */
export const removeEvent = (
  db: D1Database,
  owner: string,
  { id, kinds }: { id: number; kinds: readonly StoredEvent['kind'][] },
): Promise<void> =>
  write(db, owner, async () => {
    const events = await accountEvents(db, owner, null)
    const removed = events.find((event) => event.id === id && kinds.includes(event.kind))
    if (removed === undefined) throw new BookError({ fault: 'no_event' })
    checkPossible(events.filter((event) => event !== removed && event.account === removed.account))
    return { changes: [{ kind: 'removal', id }], taken: 0, result: undefined }
  })

async function mustBeOpen(db: D1Database, owner: string, id: number): Promise<void> {
  const account = (await listAccounts(db, owner)).find((one) => one.id === id)
  if (account === undefined) throw new BookError({ fault: 'no_account' })
  if (!account.isActive) throw new BookError({ fault: 'inactive_account' })
}

/** Whether sales are possible does not depend on which shares they sell. */
function checkPossible(events: readonly StoredEvent[]): void {
  const splits = new Map<string, number>()
  for (const event of events) {
    if (event.kind !== 'split') continue
    const count = (splits.get(event.symbol) ?? 0) + 1
    if (count > MAX_SPLITS) throw new BookError({ fault: 'too_many_splits', symbol: event.symbol })
    splits.set(event.symbol, count)
  }
  replay(events, 'avg')
}

/** The listings in the owner's visible accounts, or in one account. */
export async function heldListings(db: D1Database, owner: string, account: number | null): Promise<Set<string>> {
  const accounts = await listAccounts(db, owner)
  const shown = accounts.filter(({ id, isActive }) => (account === null ? isActive : id === account))
  const events = await accountEvents(db, owner, account)
  const held = new Set<string>()
  for (const { id } of shown) {
    const own = events.filter((event) => event.account === id)
    for (const { quantity, holding } of replay(own, 'fifo').positions.values()) {
      if (quantity.n > 0n) held.add(holding.symbol)
    }
  }
  return held
}
