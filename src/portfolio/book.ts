// The writer of an owner's book. Whatever is to be booked is decided on the whole ledger of the account, so that nothing
// that is stored can make a sale impossible, and stored only if nothing else was booked meanwhile; else it is decided anew.

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
import { replay } from './ledger.ts'

export const MAX_ACCOUNTS = 50
export const MAX_EVENTS = 20_000
/** A split goes through all lots of its position. */
export const MAX_SPLITS = 100
/** Rounds in which other writers of the same owner may come first. */
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

/** The writes of one isolate wait for each other; those of several meet in the database. */
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

/** The account as it is then. */
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

/** Takes an event back, when all later sales remain possible without it. */
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

/** Which sales are possible does not depend on whose shares they are thought to take. */
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
