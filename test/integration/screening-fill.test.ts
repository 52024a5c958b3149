// The filling of the kept figures: what is read, what is refused, and how it goes on after it was cut off.

import { env } from 'cloudflare:workers'
import { expect, inject, test } from 'vitest'
import { UpstreamError } from '../../src/lib/http-client.ts'
import type { Bar, Quote } from '../../src/market/bars.ts'
import { sessionEnd } from '../../src/market/calendar.ts'
import { parseCode } from '../../src/market/instruments.ts'
import { listedQuotes } from '../../src/market/providers/eastmoney-boards.ts'
import { Pacer } from '../../src/schedule/screening.ts'
import { barsFigures, closeFigures } from '../../src/screening/figures.ts'
import { type CloseSource, type FillDeps, fillFigures } from '../../src/screening/fill.ts'
import { barsUntil, mortalDatabase, quoteOf } from '../helpers/alerts.ts'
import { Random } from '../simulation/random.ts'

const MINUTE = 60_000
const KILLS = inject('isProof') ? 150 : 10

function instrument(code: string) {
  const parsed = parseCode(code)
  if (!parsed.ok) throw new Error(code)
  return parsed.instrument
}

const DAY = '2026-08-13'
const AFTER = sessionEnd('cn', DAY) + 15 * MINUTE
const quoted = (price: number, more: Partial<Quote> = {}): Quote => {
  return quoteOf({
    price,
    prevClose: price,
    quotedAt: sessionEnd('cn', DAY),
    peRatio: 8,
    amount: price * 1_000,
    ...more,
  })
}

function listing(key: string) {
  return {
    key,
    zh: key,
    en: '',
    pinyin: '',
    aliases: [],
    leading: null,
    kind: 'stock' as const,
    active: true,
    popularity: 1,
  }
}

type FakeMarket = {
  quotes: Map<string, Quote | Error>
  bars: Map<string, Bar[]>
  asked: string[]
  now: number
  turns: number
}

const marketOf = (turns: number, quotes: [string, Quote | Error][] = []): FakeMarket => ({
  ...{ quotes: new Map(quotes), bars: new Map(), asked: [], now: AFTER, turns },
})

function fillDeps(world: FakeMarket, db: D1Database, sources: CloseSource[]): FillDeps {
  return {
    ...{ db, sources, markets: ['cn'], signal: new AbortController().signal, clock: () => world.now },
    listings: async () => [...new Set([...world.quotes.keys(), ...world.bars.keys()])].map(listing),
    turn: async () => {
      world.turns -= 1
      return world.turns >= 0
    },
    bars: async ({ key }) => {
      world.asked.push(key)
      const value = world.bars.get(key)
      if (value === undefined) return { ok: false, runs: [] }
      return { ok: true, value, provider: 'scripted', provenance: null, runs: [] }
    },
  }
}

/** Tells what it is asked for, two at once. */
function batched(world: FakeMarket, name = 'batched'): CloseSource {
  return {
    ...{ name, atOnce: 2, carries: () => true },
    read: async (_, { instruments }) => {
      world.asked.push(`list ${instruments.map(({ key }) => key).join(' ')}`)
      const quotes = instruments.flatMap((one) => {
        const quote = world.quotes.get(one.key)
        if (quote instanceof Error) throw quote
        return quote === undefined ? [] : [{ instrument: one, quote, industry: 'x' }]
      })
      return { quotes, asked: instruments.length, position: instruments.at(-1)?.key ?? '', isLast: false }
    },
  }
}

type ListingRow = {
  session: string | null
  price: number | null
  pe_ratio: number | null
  bars_session: string | null
  ma20: number | null
}
const keptOf = (key: string) =>
  env.DB.prepare('SELECT session, price, pe_ratio, bars_session, ma20 FROM stock_figures WHERE key = ?')
    .bind(key)
    .first<ListingRow>()
const forget = async () => {
  for (const table of ['stock_figures', 'screening_fills', 'market_answers'])
    await env.DB.prepare(`DELETE FROM ${table}`).run()
}

test('a filling that is cut off anywhere goes on where it was, within its turns, and reads every listing once', async () => {
  const keys = ['600021', '600022', '600023', '600024', '600025']
  const world = marketOf(0)
  for (const [i, key] of keys.entries()) {
    world.quotes.set(key, quoted(10 + i))
    world.bars.set(
      key,
      barsUntil(
        DAY,
        Array.from({ length: 60 }, () => 10 + i),
      ),
    )
  }
  const random = new Random(7)
  let kills = 0
  for (let round = 0; kills < KILLS || round < 20; round += 1) {
    world.turns = 3
    const mortal = mortalDatabase(env.DB, { at: kills < KILLS ? 1 + random.below(14) : 0, isAfter: random.chance(0.5) })
    await fillFigures(fillDeps(world, mortal.db, [batched(world)])).catch((error: Error) => {
      expect(error.message).toMatch(/killed|dead/)
    })
    if (mortal.state.isDead) kills += 1
    world.now += MINUTE
  }
  for (const [i, key] of keys.entries()) {
    expect(await keptOf(key)).toEqual({ session: DAY, price: 10 + i, pe_ratio: 8, bars_session: DAY, ma20: 10 + i })
  }
  const before = world.asked.length
  world.turns = 50
  expect(await fillFigures(fillDeps(world, env.DB, [batched(world)]))).toEqual({
    closes: 0,
    refused: 0,
    bars: 0,
    failed: 0,
  })
  expect(world.asked.length).toBe(before)
  await forget()
})

test('a failing source hands over to the next one, and all of them are left alone for a while when each has failed', async () => {
  const world = marketOf(9, [['600031', quoted(10)]])
  const broken: CloseSource = {
    ...batched(world, 'broken'),
    read: async () => {
      world.asked.push('broken')
      throw new UpstreamError({ service: 'broken', reason: 'refused' })
    },
  }
  await fillFigures(fillDeps(world, env.DB, [broken, batched(world)]))
  expect(world.asked.slice(0, 2)).toEqual(['broken', 'list 600031'])
  expect(await keptOf('600031')).toMatchObject({ session: DAY, price: 10 })
  await forget()
  Object.assign(world, { asked: [], turns: 9 })
  const fills = () =>
    env.DB.prepare('SELECT failures, next_at FROM screening_fills').first<{ failures: number; next_at: number }>()
  await fillFigures(fillDeps(world, env.DB, [broken]))
  expect([world.asked.filter((one) => one === 'broken').length, await fills()]).toEqual([
    1,
    { failures: 1, next_at: AFTER + 2 * MINUTE },
  ])
  await fillFigures(fillDeps(world, env.DB, [broken]))
  expect(world.asked.filter((one) => one === 'broken').length).toBe(1)
  // Once the next session trades, a list tells its prices: nothing is read until it is over.
  Object.assign(world, { now: Date.parse('2026-08-14T02:00:00Z'), asked: [], turns: 9 })
  await fillFigures(fillDeps(world, env.DB, [batched(world)]))
  expect(world.asked.filter((one) => one.startsWith('list'))).toEqual([])
  await forget()
})

test('a quote without a time, of a running session, of no session, or against the checks is not kept', () => {
  const one = instrument('600000')
  const told = (more: Partial<Quote>, toldAt = AFTER) =>
    closeFigures(one, { value: quoted(10, more), source: 'x', toldAt })
  const reason = (more: Partial<Quote>, toldAt?: number) => {
    const kept = told(more, toldAt)
    return kept.ok ? kept.kept.session : kept.reason
  }
  expect(reason({})).toBe(DAY)
  expect(reason({ quotedAt: null })).toBe('no_time')
  expect(reason({}, sessionEnd('cn', DAY) + MINUTE)).toBe('not_over')
  expect(reason({ quotedAt: Date.parse('2026-08-14T02:00:00Z') }, Date.parse('2026-08-14T02:01:00Z'))).toBe('not_over')
  expect(reason({ quotedAt: Date.parse('2026-08-15T02:00:00Z') }, Date.parse('2026-08-17T01:00:00Z'))).toBe(
    'no_session',
  )
  // A suspended listing keeps its last day.
  expect(reason({ quotedAt: sessionEnd('cn', '2026-08-10') })).toBe('2026-08-10')
  expect(reason({ high: 9, low: 8 })).toBe('withheld')
  const wild = told({ prevClose: 5, changePct: 100, change: 5, peRatio: 1e9 })
  expect(wild.ok && wild.kept).toMatchObject({
    figures: { price: 10, change_pct: null, pe_ratio: null },
    marks: ['magnitude', 'quote_limit'],
  })
  const lots = told({ volume: 10, amount: 10_000 })
  expect(lots.ok && lots.kept).toMatchObject({
    figures: { price: 10, volume: null, amount: null, pe_ratio: 8 },
    marks: ['volume_units'],
  })
})

test('figures of bars are those of whole sessions, and a close that disagrees with them is shown by neither', async () => {
  const one = instrument('600000')
  const closes = Array.from({ length: 300 }, (_, i) => 10 + Math.sin(i / 9))
  const bars = barsUntil(DAY, closes)
  const last = bars.at(-2)
  const whole = barsFigures(one, { value: bars, source: 'tencent', toldAt: AFTER })
  expect(whole.ok && whole.kept.bars).toMatchObject({
    session: DAY,
    figures: { ma5: closes.slice(-5).reduce((sum, close) => sum + close, 0) / 5 },
  })
  // The last bar was told while its session ran.
  const early = barsFigures(one, { value: bars, source: 'tencent', toldAt: sessionEnd('cn', DAY) - MINUTE })
  expect(early.ok && early.kept.bars.session).toBe(last?.date)
  expect(early.ok && early.kept.close?.figures.price).toBe(last?.close)
  const world = marketOf(9, [
    ['600041', quoted(10)],
    ['600042', quoted(10)],
  ])
  world.bars.set(
    '600041',
    barsUntil(
      DAY,
      Array.from({ length: 60 }, () => 10.5),
    ),
  )
  world.bars.set(
    '600042',
    barsUntil(
      DAY,
      Array.from({ length: 60 }, () => 10.1),
    ),
  )
  await fillFigures(fillDeps(world, env.DB, [batched(world)]))
  expect(await keptOf('600041')).toEqual({ session: DAY, price: null, pe_ratio: null, bars_session: DAY, ma20: null })
  expect(await keptOf('600042')).toMatchObject({ price: 10, bars_session: DAY })
  const marks = await env.DB.prepare("SELECT bars_marks FROM stock_figures WHERE key = '600042'").first('bars_marks')
  expect(String(marks)).toContain('same_day_close')
  await forget()
})

test('bars that reports have fetched are used without a request', async () => {
  const world = marketOf(1, [['600051', quoted(10)]])
  const body = JSON.stringify(
    barsUntil(
      DAY,
      Array.from({ length: 60 }, () => 10),
    ),
  )
  await env.DB.prepare(
    "INSERT INTO market_answers (need, key, body, provider, kept_at) VALUES ('daily_data', '600051', ?, 'tencent', ?)",
  )
    .bind(body, AFTER - MINUTE)
    .run()
  expect(await fillFigures(fillDeps(world, env.DB, [batched(world)]))).toEqual({
    closes: 1,
    refused: 0,
    bars: 1,
    failed: 0,
  })
  expect(world.asked).toEqual(['list 600051'])
  expect(await keptOf('600051')).toMatchObject({ session: DAY, bars_session: DAY, ma20: 10 })
  await forget()
})

test('kept bars that cannot be read are asked for again, a listing that a list names is screened, and a run that is over ends quietly', async () => {
  const world = marketOf(9, [['600061', quoted(10)]])
  await fillFigures(fillDeps(world, env.DB, [batched(world)]))
  const broken =
    "INSERT INTO market_answers (need, key, body, provider, kept_at) VALUES ('daily_data', '600061', ?, 'x', ?)"
  await env.DB.prepare(broken)
    .bind('{"not', AFTER + MINUTE)
    .run()
  await env.DB.prepare('UPDATE stock_figures SET active = 1, bars_failures = 0').run()
  world.now = AFTER + 2 * MINUTE
  expect(await fillFigures(fillDeps(world, env.DB, [batched(world)]))).toMatchObject({ bars: 0 })
  const state = () => env.DB.prepare('SELECT active, bars_failures AS failures FROM stock_figures').first()
  expect(await state()).toMatchObject({ failures: 1 })
  // No list of names has it any more, but the list of closes does.
  await env.DB.prepare("UPDATE stock_figures SET active = 0, session = '2026-08-12'").run()
  await env.DB.prepare('UPDATE screening_fills SET is_done = 0, position = NULL').run()
  const whole: CloseSource = {
    ...{ name: 'whole', atOnce: null, carries: () => true },
    read: async () => {
      const quotes = [{ instrument: instrument('600061'), quote: quoted(11), industry: null }]
      return { quotes, asked: 1, position: '1', isLast: true }
    },
  }
  await fillFigures(fillDeps(world, env.DB, [whole]))
  expect([await state(), (await keptOf('600061'))?.price]).toEqual([{ active: 1, failures: 1 }, 11])
  await env.DB.prepare('UPDATE screening_fills SET is_done = 0, position = NULL').run()
  const over = new AbortController()
  const cut: CloseSource = {
    ...whole,
    read: async () => {
      over.abort()
      throw new Error('the run is over')
    },
  }
  const ended = await fillFigures({ ...fillDeps(world, env.DB, [cut]), signal: over.signal })
  expect(ended).toEqual({ closes: 0, refused: 0, bars: 0, failed: 0 })
  await forget()
})

test('a page of EastMoney is read with its times and units, and what is wrong in a row leaves out that row alone', async () => {
  const at = sessionEnd('cn', DAY) / 1000
  const right = {
    f2: 10.5,
    f5: 1000,
    f6: 1_050_000,
    f8: 1.2,
    f9: 7.5,
    f10: 0.9,
    f12: '600519',
    f14: ' 贵州茅台 ',
    f15: 10.6,
    f16: 10.4,
    f17: 10.4,
    f18: 10.4,
    f20: 1e12,
    f21: 9e11,
    f23: 3.1,
    f100: '酿酒行业',
    f124: at,
  }
  const diff = [
    right,
    { ...right, f12: '113050' },
    { ...right, f12: '600520', f2: '-', f5: '-' },
    { ...right, f12: '600521', f9: 0, f100: '-', f124: '-' },
  ]
  const options = {
    quoteUrl: 'http://q',
    historyUrl: 'http://h',
    datacenterUrl: 'http://d',
    clock: () => AFTER,
    pace: async () => {},
  }
  const asked: string[] = []
  const fetch = async (url: string) => {
    asked.push(url)
    return Response.json({ data: { total: 4, diff } })
  }
  const { quotes, rows, isLast } = await listedQuotes({ ...options, fetch }, { market: 'cn', page: 1 }, {})
  expect([rows, isLast, asked.length, quotes.map(({ instrument: { key } }) => key)]).toEqual([
    4,
    true,
    1,
    ['600519', '600521'],
  ])
  expect(quotes[0]).toMatchObject({
    industry: '酿酒行业',
    quote: { name: '贵州茅台', price: 10.5, volume: 100_000, peRatio: 7.5, quotedAt: at * 1000 },
  })
  expect(quotes[1]).toMatchObject({ industry: null, quote: { peRatio: null, quotedAt: null } })
})

test('the pace allows no more requests than the operator does, whatever a question costs', async () => {
  const waits = [0, 0, 5_000, null]
  const turns: number[] = []
  const gate = {
    openUntil: async () => null,
    settle: async () => {},
    turn: async (_: string, intervalMs: number) => {
      turns.push(intervalMs)
      return waits.shift() === null ? null : 0
    },
  }
  const pacer = new Pacer(gate, 2)
  const signal = new AbortController().signal
  expect(await pacer.turn(signal)).toBe(true)
  // Only addresses of this machine: nobody answers, and the request counts all the same.
  const asks = () =>
    pacer.fetch('http://127.0.0.1:9/', {}).then(
      () => 'answered',
      (error: Error) => error.message,
    )
  await asks()
  await asks()
  expect(await asks()).toContain('enough was asked')
  // The second request is paid for with a turn of its own.
  expect(turns).toEqual([30_000])
  waits.splice(0, waits.length, null)
  expect(await pacer.turn(signal)).toBe(false)
})
