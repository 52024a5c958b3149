// The index with which a listing is compared: one for each market, or exchange, for which a source has daily bars; and
// the comparison itself. `docs/analysis-method.md` has the table with the sources of each.

import type { Bar } from './bars.ts'
import { type Instrument, parseCode } from './instruments.ts'

export type Benchmark = {
  index: Instrument
  names: { zh: string; en: string; ko: string }
  /** Who computes the index. */
  publisher: string
}

type Row = Omit<Benchmark, 'index'> & { key: string }

const BENCHMARKS: Record<Exclude<Instrument['exchange'], 'SZ'>, Row> = {
  SH: { key: 'SH000300', names: { zh: '沪深300', en: 'CSI 300', ko: 'CSI 300' }, publisher: 'China Securities Index' },
  BJ: { key: 'BJ899050', names: { zh: '北证50', en: 'BSE 50', ko: 'BSE 50' }, publisher: 'Beijing Stock Exchange' },
  HK: { key: 'HSI', names: { zh: '恒生指数', en: 'Hang Seng Index', ko: '항셍지수' }, publisher: 'Hang Seng Indexes' },
  US: { key: 'SPX', names: { zh: '标普500', en: 'S&P 500', ko: 'S&P 500' }, publisher: 'S&P Dow Jones Indices' },
  // The sources have no bars of the wider TOPIX.
  T: { key: 'N225', names: { zh: '日经225', en: 'Nikkei 225', ko: '닛케이225' }, publisher: 'Nikkei' },
  KS: { key: 'KS11', names: { zh: '韩国综合指数', en: 'KOSPI', ko: '코스피' }, publisher: 'Korea Exchange' },
  KQ: { key: 'KQ11', names: { zh: '韩国科斯达克', en: 'KOSDAQ', ko: '코스닥' }, publisher: 'Korea Exchange' },
  TW: { key: 'TWII', names: { zh: '台湾加权指数', en: 'TAIEX', ko: '대만 가권' }, publisher: 'Taiwan Stock Exchange' },
  TWO: { key: 'TWOII', names: { zh: '台湾柜买指数', en: 'TPEx Index', ko: '대만 TPEx' }, publisher: 'Taipei Exchange' },
}

const MAIN_EXCHANGES = { cn: 'SH', hk: 'HK', us: 'US', jp: 'T', kr: 'KS', tw: 'TW' } as const

/** The index of a market's main exchange. */
export const benchmarkOfMarket = (market: Instrument['market']): Benchmark => benchmarkNamed(MAIN_EXCHANGES[market])

/** Null for an index, which is not compared. */
export function benchmarkOf({ exchange, kind }: Instrument): Benchmark | null {
  return kind === 'index' ? null : benchmarkNamed(exchange === 'SZ' ? 'SH' : exchange)
}

function benchmarkNamed(exchange: keyof typeof BENCHMARKS): Benchmark {
  const { key, ...benchmark } = BENCHMARKS[exchange]
  const parsed = parseCode(key)
  if (!parsed.ok) throw new Error(`the index ${key} is no instrument`)
  return { index: parsed.instrument, ...benchmark }
}

// A listing compared with an index: how closely it follows it, and how much more or less it gained. Only sessions that
// both have are used.

/** Closes of the same days, the oldest first. */
export type Paired = { dates: string[]; own: number[]; index: number[] }

/** The days of both series. Each is in order, without a day twice. */
export function paired(own: readonly Bar[], index: readonly Bar[]): Paired {
  const closes = new Map(index.map(({ date, close }) => [date, close]))
  const out: Paired = { dates: [], own: [], index: [] }
  for (const { date, close } of own) {
    const beside = closes.get(date)
    if (beside === undefined || !(close > 0) || !(beside > 0)) continue
    out.dates.push(date)
    out.own.push(close)
    out.index.push(beside)
  }
  return out
}

export type Beta = {
  beta: number
  /** The share of the listing's variance that the index explains, 0 to 1. */
  rSquared: number
  /** The number of returns. */
  returns: number
}

const MOST_RETURNS = 250
/** A slope of fewer returns is mostly random. */
const LEAST_RETURNS = 60

/**
 * Beta: covariance of the daily returns of listing and index / variance of those of the index, of the last 250 returns,
 * at least 60. Null also when the index does not move.
 */
export function betaOf({ own, index }: Paired): Beta | null {
  const [x, y] = [returnsOf(index), returnsOf(own)]
  const returns = x.length
  if (returns < LEAST_RETURNS) return null
  const [meanX, meanY] = [mean(x), mean(y)]
  let [xx, xy, yy] = [0, 0, 0]
  for (let i = 0; i < returns; i++) {
    const [dx, dy] = [(x[i] as number) - meanX, (y[i] as number) - meanY]
    xx += dx * dx
    xy += dx * dy
    yy += dy * dy
  }
  if (xx <= 0) return null
  return { beta: xy / xx, rSquared: yy <= 0 ? 0 : (xy * xy) / (xx * yy), returns }
}

/** Relative strength over n sessions: (close / close of n sessions before) / (the same of the index) − 1, in percent. */
export function relativeStrengthPct({ own, index }: Paired, sessions: number): number | null {
  const gain = (closes: readonly number[]) => {
    const [before, last] = [closes.at(-1 - sessions), closes.at(-1)]
    return before === undefined || last === undefined ? null : last / before
  }
  const [gained, beside] = [gain(own), gain(index)]
  return gained === null || beside === null ? null : (gained / beside - 1) * 100
}

function returnsOf(closes: readonly number[]): number[] {
  const recent = closes.slice(-1 - MOST_RETURNS)
  return recent.slice(1).map((close, i) => close / (recent[i] as number) - 1)
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
