// The index that a listing is measured against: one a market, or an exchange of it, that some source tells the daily bars of.
// `docs/analysis-method.md` has the table with the sources of each.

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

/** The one of a market's main exchange. */
export const benchmarkOfMarket = (market: Instrument['market']): Benchmark => benchmarkNamed(MAIN_EXCHANGES[market])

/** Null for an index, which is measured against nothing. */
export function benchmarkOf({ exchange, kind }: Instrument): Benchmark | null {
  return kind === 'index' ? null : benchmarkNamed(exchange === 'SZ' ? 'SH' : exchange)
}

function benchmarkNamed(exchange: keyof typeof BENCHMARKS): Benchmark {
  const { key, ...benchmark } = BENCHMARKS[exchange]
  const parsed = parseCode(key)
  if (!parsed.ok) throw new Error(`the index ${key} is no instrument`)
  return { index: parsed.instrument, ...benchmark }
}
