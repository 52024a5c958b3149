// The tables of TA-Lib's own regression test against our indicators: each row names a function, its parameters, one value and the bar
// that it stands at.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { emaFromFirst, sma } from '../../src/market/indicators/averages.ts'
import { macd, rsi } from '../../src/market/indicators/momentum.ts'
import { atr, bollinger } from '../../src/market/indicators/volatility.ts'
import type { Case } from './case.ts'

/** The tolerance of TA-Lib's own test. */
const EQUAL = 0.01

type Bars = { high: number[]; low: number[]; close: number[] }
type Row = readonly (string | number)[]
type Value = { at: number; theirs: number; ours: number | undefined }
/** The values of a row; null for indicators that we do not have, and rows without a value. */
type Reading = (row: Row, bars: Bars) => Record<string, Value> | null

/** By the file of their table. */
const READINGS: Readonly<Record<string, Reading>> = {
  'test_ma.c': (row, { close }) => {
    const [, id, , , , period, type, , result, index, theirs, begin, count] = row
    if (id !== 'TA_ANY_MA_TEST' || result !== 'TA_SUCCESS' || count === 0) return null
    if (type !== 'TA_MAType_SMA' && type !== 'TA_MAType_EMA') return null
    const series = type === 'TA_MAType_SMA' ? sma(close, Number(period)) : emaFromFirst(close, Number(period))
    return { '': readingAt(series, Number(begin) + Number(index), theirs) }
  },
  'test_rsi.c': (row, { close }) => {
    const [, id, , , , period, , result, index, theirs, begin, count] = row
    if (id !== 'TA_RSI_TEST' || result !== 'TA_SUCCESS' || count === 0) return null
    return { '': readingAt(rsi(close, Number(period)), Number(begin) + Number(index), theirs) }
  },
  'test_trange.c': (row, { high, low, close }) => {
    const [, isAverage, unstable, , , period, result, index, theirs, begin, count] = row
    if (isAverage !== 1 || result !== 'TA_SUCCESS' || count === 0 || unstable !== 0) return null
    return { '': readingAt(atr(high, low, close, Number(period)), Number(begin) + Number(index), theirs) }
  },
  'test_bbands.c': (row, { close }) => {
    const [, , , period, up, down, type, , result, begin, count, ...values] = row
    if (type !== 'TA_MAType_SMA' || result !== 'TA_SUCCESS' || count === 0 || up !== down) return null
    const bands = bollinger(close, Number(period), Number(up))
    return valuesOf({ upper: bands.upper, middle: bands.middle, lower: bands.lower }, Number(begin), values)
  },
  'test_macd.c': (row, { close }) => {
    const [, , , , fast, slow, signal, , result, begin, , ...values] = row
    if (result !== 'TA_SUCCESS' || fast !== 12 || slow !== 26 || signal !== 9) return null
    const { dif, dea, histogram } = macd(close)
    return valuesOf({ dif, dea, histogram: histogram.map((value) => value / 2) }, Number(begin), values)
  },
}

function valuesOf(series: Record<string, ArrayLike<number>>, begin: number, values: Row): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(series).map(([name, ours], at) => [
      name,
      readingAt(ours, begin + Number(values[at * 2]), values[at * 2 + 1]),
    ]),
  )
}

const readingAt = (series: ArrayLike<number>, at: number, theirs: unknown): Value => {
  return { at, theirs: Number(theirs), ours: series[at] }
}

/** `folder`: that of `ta_regtest`. */
export function taLibCases(folder: string): Case[] {
  const text = readFileSync(join(folder, 'test_data.c'), 'latin1')
  const bars: Bars = { high: seriesIn(text, 'high'), low: seriesIn(text, 'low'), close: seriesIn(text, 'close') }
  const tables = join(folder, 'ta_test_func')
  return readdirSync(tables).flatMap((file) => {
    const reading = READINGS[file]
    if (reading === undefined) return []
    return rowsOf(readFileSync(join(tables, file), 'latin1')).flatMap((row) => {
      const values = reading(row, bars)
      return values === null ? [] : Object.entries(values).map(([part, value]) => caseOf(file, { row, part, value }))
    })
  })
}

function caseOf(
  file: string,
  { row, part, value: { at, theirs, ours } }: { row: Row; part: string; value: Value },
): Case {
  const passed = ours !== undefined && Math.abs(ours - theirs) < EQUAL
  return {
    name: `${file} ${row.join(' ')}${part === '' ? '' : ` ${part}`}`,
    passed,
    detail: `bar ${at}: ${ours}, not ${theirs}`,
  }
}

function seriesIn(text: string, name: string): number[] {
  const [, inside = ''] = new RegExp(`${name}_daily_ref_0_PRIV\\[\\d+\\] = \\{([^}]*)\\}`).exec(text) ?? []
  return inside.split(',').map(Number)
}

/** The rows of the table of a C file. */
export function rowsOf(text: string): Row[] {
  const table = withoutComments(text)
  return [...table.matchAll(/\{([^{};]*)\}/g)]
    .map(([, inside = '']) => inside.split(',').map((cell) => valueIn(cell.trim())))
    .filter((row) => row.length > 8)
}

/** A name, or a number that may be a sum. */
function valueIn(cell: string): string | number {
  if (!/^[-+().\d\s]+$/.test(cell)) return cell
  let plain = cell.replaceAll(/\s/g, '')
  for (let inner = INNERMOST.exec(plain); inner !== null; inner = INNERMOST.exec(plain))
    plain = plain.replace(inner[0], String(sumOf(inner[1] ?? '')))
  return sumOf(plain)
}

const INNERMOST = /\(([^()]*)\)/

function sumOf(text: string): number {
  const terms =
    text
      .replaceAll('--', '+')
      .replaceAll('+-', '-')
      .match(/[-+]?[\d.]+/g) ?? []
  return terms.reduce((sum, term) => sum + Number(term), 0)
}

const withoutComments = (text: string): string => text.replaceAll(/\/\*[\s\S]*?\*\//g, '')
