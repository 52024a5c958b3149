// A market whose prices a test sets, alert rules for it, and a database that fails in the middle of a call.

import { env } from 'cloudflare:workers'
import { type SweepDeps, sweepAlerts } from '../../src/alerts/sweep.ts'
import type { StoredLight, Trigger } from '../../src/db/alert-triggers.ts'
import type { Bar, Fetched, Quote } from '../../src/market/bars.ts'
import { addDays, isTradingDay } from '../../src/market/calendar.ts'
import type { Instrument } from '../../src/market/instruments.ts'
import type { Client } from './app.ts'

/** 10:30 in Shanghai, a trading day. */
export const NOW = Date.parse('2026-08-13T02:30:00Z')
export const ALERTS = '/api/v1/alerts'

export type Prices = Map<string, Partial<Quote> | null>

export function quoteOf(told: Partial<Quote>): Quote {
  const { price = 10, prevClose = 10 } = told
  return {
    ...{ price, prevClose, open: null, high: null, low: null, volume: 1_000, amount: null, quotedAt: NOW, name: null },
    ...{ change: price - prevClose, changePct: (price / prevClose - 1) * 100, currency: 'CNY', turnoverRatePct: null },
    ...{ volumeRatio: null, peRatio: null, pbRatio: null, totalMarketValue: null, circulatingMarketValue: null },
    ...told,
  }
}

export function alertWorld() {
  const prices: Prices = new Map()
  const bars = new Map<string, Bar[]>()
  const lights: StoredLight[] = []
  const state = { now: NOW, published: [] as Trigger[], rounds: [] as string[][], woken: 0, db: env.DB }
  const quoted = (key: string): Fetched<Quote> => {
    const told = prices.get(key)
    if (told === undefined || told === null) return { ok: false, runs: [] }
    const value = quoteOf({ quotedAt: state.now, ...told })
    return { ok: true, value, provider: 'scripted', provenance: null, runs: [] }
  }
  const deps = (): SweepDeps => ({
    db: state.db,
    market: {
      quotes: async (instruments: readonly Instrument[]) => {
        state.rounds.push(instruments.map(({ key }) => key))
        return new Map(instruments.map(({ key }) => [key, quoted(key)]))
      },
      otherQuote: async () => ({ ok: false, runs: [] }),
      bars: async ({ key }) => {
        const value = bars.get(key)
        return value === undefined
          ? { ok: false, runs: [] }
          : { ok: true, value, provider: 'scripted', provenance: null, runs: [] }
      },
    },
    lights: async (_, session) =>
      lights
        .filter((one) => one.session <= session)
        .slice(-2)
        .reverse(),
    makeLight: async () => null,
    publish: async (triggers) => void state.published.push(...triggers),
    wake: async () => {
      state.woken += 1
    },
  })
  return { prices, bars, lights, state, deps, sweep: () => sweepAlerts(deps(), state.now) }
}

export const makeRule = async (who: Client, rule: object): Promise<number> => {
  const made = await who.ask(`${ALERTS}/rules`, { method: 'POST', body: rule, headers: { 'accept-language': 'en' } })
  if (made.status !== 200) throw new Error(`no rule: ${made.status} ${await made.text()}`)
  const { id } = await made.json<{ id: number }>()
  await env.DB.prepare('UPDATE alert_rules SET armed_at = ? WHERE id = ?')
    .bind(NOW - 30 * 86_400_000, id)
    .run()
  return id
}

/** Fails at the call with this number, before or after its effect; all later calls fail too. */
export function mortalDatabase(db: D1Database, { at, isAfter }: { at: number; isAfter: boolean }) {
  const state = { calls: 0, isDead: false }
  const dying = async <T>(work: () => Promise<T>): Promise<T> => {
    state.calls += 1
    if (state.isDead) throw new Error('dead')
    if (state.calls !== at) return work()
    state.isDead = true
    if (isAfter) await work()
    throw new Error('killed')
  }
  const real = new WeakMap<object, D1PreparedStatement>()
  const wrapped = (statement: D1PreparedStatement): D1PreparedStatement => {
    const mortal = new Proxy(statement, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name)
        if (typeof member !== 'function') return member
        if (name === 'bind') return (...values: unknown[]) => wrapped(target.bind(...values))
        return (...given: unknown[]) => dying(async () => Reflect.apply(member, target, given))
      },
    })
    real.set(mortal, statement)
    return mortal
  }
  const mortal = {
    prepare: (query: string) => wrapped(db.prepare(query)),
    batch: (statements: D1PreparedStatement[]) => dying(() => db.batch(statements.map((one) => real.get(one) ?? one))),
  }
  return { db: mortal as unknown as D1Database, state, dying }
}

/** Bars of the trading days up to and including this one. */
export function barsUntil(last: string, closes: readonly number[]): Bar[] {
  const days: string[] = []
  for (let day = last; days.length < closes.length; day = addDays(day, -1))
    if (isTradingDay('cn', day)) days.unshift(day)
  return days.map((date, i) => {
    const close = closes[i] ?? 0
    return { date, open: close, high: close, low: close, close, volume: 1_000, amount: null }
  })
}
