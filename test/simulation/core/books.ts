// What owners keep: a portfolio that two isolates write to at the same time, and alerts about prices that change from look to look.

import { type SweepDeps, sweepAlerts } from '../../../src/alerts/sweep.ts'
import { sessionNow } from '../../../src/alerts/trust.ts'
import { addRule } from '../../../src/db/alerts.ts'
import type { NewEvent } from '../../../src/db/portfolio.ts'
import { isoMicros } from '../../../src/lib/clock.ts'
import { ONE } from '../../../src/lib/decimal.ts'
import type { Fetched, Quote } from '../../../src/market/bars.ts'
import type { Instrument } from '../../../src/market/instruments.ts'
import { Isolate } from './clock.ts'
import type { Queue } from './queue.ts'
import { type CoreWorld, sleep } from './world.ts'

/** Each isolate has this module for itself, with the line of writers that it keeps. */
type Book = typeof import('../../../src/portfolio/book.ts')
const BOOK = new URL('../../../src/portfolio/book.ts', import.meta.url).pathname
const INSTANCES: Book[] = []
for (let at = 0; at < 8; at++) INSTANCES.push((await import(`${BOOK}?isolate=${at}`)) as Book)

const AGAIN_MS = 900
const SYMBOLS = ['600519', '000001']

export type Booking = {
  uid: string
  symbol: string
  shares: number
  state: 'open' | 'booked' | 'refused' | 'removed'
  id: number
}

export class Portfolio {
  readonly bookings: Booking[] = []
  readonly owner: string
  readonly #world: CoreWorld
  readonly #db: D1Database
  #account = 0
  #waiting = 0
  #free = [...INSTANCES]

  constructor(world: CoreWorld, db: D1Database, owner: string) {
    this.#world = world
    this.#db = db
    this.owner = owner
  }

  get isAtRest(): boolean {
    return this.#waiting === 0
  }

  async begin(): Promise<void> {
    const account = { name: 'A', broker: null, market: 'cn', baseCurrency: 'CNY' }
    const at = isoMicros(Date.now())
    this.#account = (await (INSTANCES[0] as Book).addAccount(this.#db, this.owner, { account, at })).id
  }

  async book(): Promise<void> {
    const { random } = this.#world
    const shares = (random.chance(0.6) ? 1 : -1) * (1 + random.below(9))
    const uid = `u${this.bookings.length}`
    const booking: Booking = { uid, symbol: random.pick(SYMBOLS), shares, state: 'open', id: -1 }
    this.bookings.push(booking)
    const events = [this.#eventOf(booking)]
    await this.#untilAnswered('book', async (book) => {
      try {
        const [id = -1] = await book.bookEvents(this.#db, this.owner, { account: this.#account, events })
        return { state: 'booked' as const, id }
      } catch (error) {
        if (isA(error, 'Oversell')) return { state: 'refused' as const, id: -1 }
        // An attempt before this one, whose answer was lost.
        if (isA(error, 'BookError') && /repeated_uid/.test(String(error))) return { state: 'booked' as const, id: -1 }
        throw error
      }
    }).then((answer) => Object.assign(booking, answer))
  }

  async remove(): Promise<void> {
    const known = this.bookings.filter(({ state, id }) => state === 'booked' && id >= 0)
    if (known.length === 0) return
    const booking = this.#world.random.pick(known)
    await this.#untilAnswered('remove', async (book) => {
      try {
        await book.removeEvent(this.#db, this.owner, { id: booking.id, kinds: ['trade'] })
        return 'removed' as const
      } catch (error) {
        if (isA(error, 'Oversell')) return 'booked' as const
        if (isA(error, 'BookError') && /no_event/.test(String(error))) return 'removed' as const
        throw error
      }
    }).then((state) => Object.assign(booking, { state }))
  }

  /** In an isolate of its own; after its death, or a lost answer, in another one. */
  async #untilAnswered<T>(label: string, work: (book: Book) => Promise<T>): Promise<T> {
    this.#waiting += 1
    for (;;) {
      const book = this.#free.shift()
      if (book !== undefined) {
        const isolate = new Isolate('booking')
        const answer = await this.#world
          .call(label, () => isolate.enter(() => work(book)))
          .then((value) => ({ value }))
          .catch(() => null)
        // The line of writers of a dead isolate stands still for ever, and nobody asks there again.
        if (!isolate.isDead) this.#free.push(book)
        if (answer !== null) {
          this.#waiting -= 1
          return answer.value
        }
      }
      await sleep(AGAIN_MS)
    }
  }

  #eventOf({ uid, symbol, shares }: Booking): NewEvent {
    const figures = { quantity: BigInt(Math.abs(shares)) * ONE, price: 10n * ONE, fee: 0n, tax: 0n }
    return {
      ...{ kind: 'trade', account: this.#account, date: '2026-08-12', symbol, market: 'cn', currency: 'CNY' },
      ...{ side: shares > 0 ? 'buy' : 'sell', ...figures, uid, note: null, createdAt: isoMicros(Date.now()) },
    }
  }
}

/** Each instance of the module has classes of its own. */
const isA = (error: unknown, name: string): boolean => error instanceof Error && error.name === name

const LINE = 10.5
const LOOK_MS = 5 * 60_000
const TARGET = '600519'

export class Alerts {
  /** What the market was at each look, the first one first. */
  readonly prices: { at: number; price: number }[] = []
  readonly #world: CoreWorld
  readonly #queue: Queue
  #price = 10
  #dueAt = 0
  #looking = 0

  constructor(world: CoreWorld, queue: Queue) {
    this.#world = world
    this.#queue = queue
  }

  get isAtRest(): boolean {
    return this.#looking === 0
  }

  get isOpen(): boolean {
    return sessionNow('cn', Date.now()) !== null
  }

  async begin(owners: readonly string[]): Promise<void> {
    const now = Date.now() - 1
    const parameters = JSON.stringify({ direction: 'above', price: LINE, hysteresis_pct: 0 })
    for (const owner of owners)
      await addRule(
        this.#queue.db,
        {
          ...{ owner, name: 'r', scope: 'single_symbol', target: TARGET, type: 'price_cross', parameters },
          ...{ severity: 'info', isEnabled: true, source: 'api', language: 'en', cooldownSeconds: 0 },
          ...{ notification: '{}', expiresAt: null },
        },
        { now, at: isoMicros(now), most: 10 },
      )
  }

  /** The cron trigger comes some minutes after the last time. */
  look(): Promise<void> {
    return this.lookAt(this.#world.random.chance(0.5) ? 10 : 11)
  }

  /** Now and then two come at once. */
  async lookAt(price: number): Promise<void> {
    this.#looking += 1
    const due = Math.max(Date.now(), this.#dueAt)
    this.#dueAt = due + LOOK_MS
    await sleep(due - Date.now())
    this.#price = price
    this.prices.push({ at: Date.now(), price })
    this.sweep()
    if (this.#world.random.chance(0.4)) this.sweep()
    this.#looking -= 1
  }

  sweep(): void {
    this.#looking += 1
    const isolate = new Isolate('look')
    const over = () => {
      this.#looking -= 1
    }
    void isolate.enter(() => sweepAlerts(this.#deps(), Date.now())).then(over, over)
  }

  #deps(): SweepDeps {
    const { host, db } = this.#queue
    const none = async () => ({ ok: false as const, runs: [] })
    const quoted = (): Fetched<Quote> => ({
      ok: true,
      value: this.#quote(),
      provider: 'one',
      provenance: null,
      runs: [],
    })
    return {
      db,
      market: {
        quotes: async (asked: readonly Instrument[]) => {
          // Two looks at one time are told of two moments.
          this.#world.clock.pass(1 + this.#world.random.below(20))
          return new Map(asked.map(({ key }) => [key, quoted()]))
        },
        otherQuote: none,
        bars: none,
      },
      lights: async () => [],
      makeLight: async () => null,
      publish: async (triggers) => {
        const news = triggers.map(({ owner, uid }) => ({ owner, uid, json: JSON.stringify({ uid }) }))
        await host.call('tellOnce', (queue) => queue.tellOnce('alert_triggered', news))
      },
      wake: () => host.call('notify', (queue) => queue.notify([])),
    }
  }

  #quote(): Quote {
    const price = this.#price
    return {
      ...{ price, prevClose: 10, open: null, high: null, low: null, volume: 1_000, amount: null, name: null },
      ...{ quotedAt: Date.now(), change: price - 10, changePct: (price / 10 - 1) * 100, currency: 'CNY' },
      ...{ turnoverRatePct: null, volumeRatio: null, peRatio: null, pbRatio: null },
      ...{ totalMarketValue: null, circulatingMarketValue: null },
    }
  }
}
