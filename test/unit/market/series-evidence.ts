// Clean series of every market and board, as their exchanges could have made them: sessions by the calendar, limits, price steps,
// calm and wild spells, crashes within the limits, suspensions, new listings, splits and dividends that were adjusted for.

import type { Bar, Quote } from '../../../src/market/bars.ts'
import { addDays, isTradingDay, sessionEnd } from '../../../src/market/calendar.ts'
import { adjustmentOf } from '../../../src/market/consistency/examine.ts'
import type { Evidence } from '../../../src/market/consistency/types.ts'
import { type Instrument, parseCode } from '../../../src/market/instruments.ts'

export type Random = () => number

/** Mulberry32: the same figures for the same seed on every machine. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

export const pick = <T>(random: Random, values: readonly T[]): T => values[Math.floor(random() * values.length)] as T
export const between = (random: Random, low: number, high: number): number => low + random() * (high - low)
const whole = (random: Random, low: number, high: number): number => Math.floor(between(random, low, high + 1))
const normal = (random: Random): number => Math.sqrt(-2 * Math.log(random() + 1e-12)) * Math.cos(2 * Math.PI * random())

type Board = { key: string; limit: number | null; low: number; high: number; decimals: number; currency: string }

/** Limits written down once more, apart from the code that is tested. */
export const BOARDS: readonly Board[] = [
  { key: '600519', limit: 0.1, low: 3, high: 1500, decimals: 2, currency: 'CNY' },
  { key: '000001', limit: 0.1, low: 3, high: 300, decimals: 2, currency: 'CNY' },
  { key: '300750', limit: 0.2, low: 5, high: 400, decimals: 2, currency: 'CNY' },
  { key: '688981', limit: 0.2, low: 8, high: 500, decimals: 2, currency: 'CNY' },
  { key: '920002', limit: 0.3, low: 5, high: 100, decimals: 2, currency: 'CNY' },
  { key: '510300', limit: 0.1, low: 0.8, high: 6, decimals: 3, currency: 'CNY' },
  { key: '900901', limit: 0.1, low: 0.5, high: 3, decimals: 3, currency: 'USD' },
  { key: 'HK00700', limit: null, low: 2, high: 500, decimals: 2, currency: 'HKD' },
  { key: 'AAPL', limit: null, low: 5, high: 900, decimals: 2, currency: 'USD' },
  { key: '7203.T', limit: 0.2, low: 700, high: 30_000, decimals: 0, currency: 'JPY' },
  { key: '005930.KS', limit: 0.3, low: 20_000, high: 400_000, decimals: 0, currency: 'KRW' },
  { key: '2330.TW', limit: 0.1, low: 30, high: 1000, decimals: 1, currency: 'TWD' },
]

export type Clean = {
  board: Board
  evidence: Evidence
  /** What the series has that is true and must be told. */
  has: { suspension: boolean; listing: boolean }
}

export function instrumentOf(key: string): Instrument {
  const parsed = parseCode(key)
  if (!parsed.ok) throw new Error(key)
  return parsed.instrument
}

function sessionsUpTo(instrument: Instrument, endsOn: string, count: number): string[] {
  const dates: string[] = []
  for (let day = endsOn; dates.length < count; day = addDays(day, -1)) {
    if (isTradingDay(instrument.market, day)) dates.unshift(day)
  }
  return dates
}

const clamp = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value))

type Walk = { random: Random; board: Board; sigma: number; free: number }

function walk({ random, board, sigma, free }: Walk, dates: readonly string[]): Bar[] {
  const { limit, decimals } = board
  const round = (value: number) => Number(value.toFixed(decimals))
  const usual = 10 ** between(random, 5, 8)
  let previous = Math.exp(between(random, Math.log(board.low), Math.log(board.high)))
  let spell = sigma
  return dates.map((date, i) => {
    if (random() < 0.02) spell = sigma * pick(random, [0.6, 1, 1.8])
    const isFree = i <= free
    const most = isFree ? 0.8 : (limit ?? 0.24)
    const crash = random() < 0.004 ? pick(random, [-1, 1]) * most * between(random, 0.6, 1) : 0
    const low = previous * (1 - most)
    const high = previous * (1 + most)
    const move = isFree && i > 0 ? between(random, -0.15, 0.4) : normal(random) * spell + crash
    const close = round(clamp(previous * (1 + move), low, high)) || round(previous)
    const open = round(clamp(previous * (1 + normal(random) * spell * 0.4 + crash * 0.5), low, high)) || close
    const reach = () => 1 + Math.abs(normal(random)) * spell * 0.5
    const top = Math.max(open, close, round(clamp(Math.max(open, close) * reach(), low, high)))
    const bottom = Math.min(open, close, round(clamp(Math.min(open, close) / reach(), low, high)))
    const volume = Math.round(usual * Math.exp(normal(random) * 0.35) * (crash === 0 ? 1 : 3))
    previous = close
    return { date, open, high: top, low: bottom, close, volume, amount: Math.round((volume * (top + bottom)) / 2) }
  })
}

type Adjusting = { factor: number; cash: number; level: boolean }

/** Bars before a day as a source gives them that takes a split or a dividend out of the past. */
function adjusted(bars: Bar[], at: number, { factor, cash, level }: Adjusting): Bar[] {
  // The raw price fell by the dividend on that day, so the raw ones before it stood higher; taking it off gives back these.
  const raw = level ? (bars[at]?.close ?? 1) / ((bars[at]?.close ?? 1) - cash) : 1
  const move = (price: number) => Number((price * factor * raw - cash * raw).toFixed(3))
  return bars.map((bar, i) => {
    if (i >= at) return bar
    return { ...bar, open: move(bar.open), high: move(bar.high), low: move(bar.low), close: move(bar.close) }
  })
}

const CALM = [0.008, 0.014, 0.022]

/** One clean series with its quote and its moment. */
export function cleanSeries(random: Random, { quoted = random() < 0.9, key = pick(random, BOARDS).key } = {}): Clean {
  const board = BOARDS.find((one) => one.key === key) as Board
  const instrument = instrumentOf(board.key)
  const listing = random() < 0.12
  const isOld = random() < 0.1
  const endsOn = sessionsUpTo(
    instrument,
    addDays(isOld ? '2024-03-04' : '2025-09-01', whole(random, 0, 190)),
    1,
  )[0] as string
  const dates = sessionsUpTo(instrument, endsOn, listing ? whole(random, 30, 200) : whole(random, 255, 400))
  let bars = walk({ random, board, sigma: pick(random, CALM), free: listing && board.limit !== null ? 4 : -1 }, dates)
  const isSplit = random() < 0.25
  if (isSplit && !listing) bars = splitOut(random, bars)
  const suspension = random() < 0.1 && bars.length > 80
  if (suspension) {
    const at = whole(random, 20, bars.length - 30)
    bars = suspended(bars, at, whole(random, 1, 15), board.limit)
  }
  if (random() < 0.5) bars = bars.map((bar) => ({ ...bar, amount: null }))
  return { board, has: { suspension, listing }, evidence: { ...quotedAt(random, { instrument, board, bars, quoted }) } }
}

/**
 * A split or a dividend somewhere in the past, taken out as sources do: the walk is that of the adjusted prices, so the prices
 * before it are only rounded as those that were divided, and a dividend that is taken off makes older moves a little larger.
 */
function splitOut(random: Random, bars: Bar[]): Bar[] {
  const at = whole(random, 20, bars.length - 5)
  const lowest = Math.min(...bars.slice(0, at).map(({ low }) => low))
  const isDividend = random() < 0.5
  return adjusted(
    bars,
    at,
    isDividend ? { factor: 1, cash: lowest * 0.03, level: true } : { factor: 1, cash: 0, level: false },
  )
}

/** Sessions without trade: the bars after them go on where the ones before them ended. */
function suspended(bars: Bar[], at: number, length: number, limit: number | null): Bar[] {
  const [before, after] = [bars[at - 1] as Bar, bars[at + length] as Bar]
  const reach = limit ?? 0.2
  if (Math.abs(after.close / before.close - 1) > reach * 0.9) return bars
  return [...bars.slice(0, at), ...bars.slice(at + length)]
}

type Quoting = { instrument: Instrument; board: Board; bars: Bar[]; quoted: boolean }

function quotedAt(random: Random, { instrument, board, bars, quoted }: Quoting): Evidence {
  const [before, last] = bars.slice(-2) as [Bar, Bar]
  const end = sessionEnd(instrument.market, last.date)
  // An hour before the end, or some after it; while the session runs its bar is there or not.
  const isLive = quoted && random() < 0.25
  const now = end + (isLive ? -1 : pick(random, [1, 3, 6])) * 3_600_000
  const adjustment = adjustmentOf({ source: 'tencent', provenance: null, isIndex: false })
  const quote = quoted
    ? quoteOf(last, before, { quotedAt: random() < 0.9 ? Math.min(now, end) : null, currency: board.currency })
    : null
  const quoteSource = quoted ? pick(random, ['tencent', 'yahoo']) : null
  const isSample = false
  const told = isLive && random() < 0.5 ? bars.slice(0, -1) : bars
  return {
    instrument,
    bars: told,
    quote,
    barsSource: 'tencent',
    quoteSource,
    adjustment,
    isSample,
    now,
    dividends: null,
  }
}

export function quoteOf(last: Bar, before: Bar, told: Pick<Quote, 'quotedAt' | 'currency'>): Quote {
  const change = Math.round((last.close - before.close) * 1e4) / 1e4
  return {
    price: last.close,
    prevClose: before.close,
    open: last.open,
    high: last.high,
    low: last.low,
    volume: last.volume,
    amount: last.amount ?? Math.round((last.volume * (last.high + last.low)) / 2),
    change,
    changePct: Math.round((last.close / before.close - 1) * 1e6) / 1e4,
    name: null,
    turnoverRatePct: last.volume / 1e7,
    volumeRatio: 1,
    peRatio: 20,
    pbRatio: 3,
    totalMarketValue: last.close * 1e9,
    circulatingMarketValue: last.close * 1e9,
    ...told,
  }
}
