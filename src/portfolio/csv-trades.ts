// Trades from the rows of a broker's file. A row is a trade, nothing that is booked here, or at fault; a fault names row and column.

import { sha256Hex } from '../lib/crypto.ts'
import { type Amount, formatAmount, LARGEST, parseAmount } from '../lib/decimal.ts'
import { isCalendarKnown, isTradingDay, localDate } from '../market/calendar.ts'
import { currencyOf, type Instrument, type Market } from '../market/instruments.ts'
import { currencyCode } from './currencies.ts'
import { type DateOrder, type Field, folded, type Header, type Layout, NEEDED } from './layouts.ts'
import type { Holding } from './ledger.ts'

export const FIRST_DAY = '1990-01-01'

export type CsvTrade = Holding & {
  row: number
  date: string
  /** `09:30:00`; empty where the file has none. */
  time: string
  side: 'buy' | 'sell'
  quantity: Amount
  price: Amount
  fee: Amount
  tax: Amount
  /** The broker's number of this very trade; never that of an order, which may have many. */
  uid: string | null
  /** The same for the same trade in another file, and another one for each of several equal rows. */
  hash: string
}

export type CsvFault =
  | { fault: 'date' | 'code' | 'number' | 'not_positive' | 'negative' | 'currency'; text: string }
  | { fault: 'early'; date: string; first: string }
  | { fault: 'future'; date: string; latest: string }
  | { fault: 'closed'; date: string; market: Market }
  | { fault: 'index'; symbol: string }
  | { fault: 'oversell'; symbol: string; date: string; quantity: string; held: string }
/** Where it stands in the file. */
export type RowFault = CsvFault & { row: number; column: string }
/** `blank`: without something that a trade needs. `no_trade`: something else, such as interest. */
export type Skipped = { row: number; column: string; reason: 'blank' | 'no_trade'; text: string }

export type CsvTrades = { trades: CsvTrade[]; skipped: Skipped[]; faults: RowFault[] }

type Rows = readonly { row: number; cells: readonly string[] }[]
type Known = {
  header: Header
  layout: Layout
  now: number
  /** The listing that a text means; null where that is not clear. */
  listing: (text: string) => Instrument | null
}

/** In the order in which they happened: by day and time, purchases before sales of one moment. */
export async function tradesOf(rows: Rows, known: Known): Promise<CsvTrades> {
  const { header } = known
  const trades: Omit<CsvTrade, 'hash'>[] = []
  const skipped: Skipped[] = []
  const faults: RowFault[] = []
  for (const { row, cells } of rows) {
    if (row <= header.row) continue
    const reader = new RowReader(row, cells, known)
    const skip = reader.skipped()
    if (skip !== null) {
      skipped.push(skip)
      continue
    }
    try {
      trades.push(reader.trade())
    } catch (error) {
      if (!(error instanceof CellError)) throw error
      faults.push(error.fault)
    }
  }
  return { trades: (await hashed(trades)).sort(asHappened), skipped, faults }
}

function asHappened(a: CsvTrade, b: CsvTrade): number {
  const [left, right] = [a.date + a.time, b.date + b.time]
  if (left !== right) return left < right ? -1 : 1
  return Number(a.side === 'sell') - Number(b.side === 'sell') || a.row - b.row
}

async function hashed(trades: readonly Omit<CsvTrade, 'hash'>[]): Promise<CsvTrade[]> {
  const times = new Map<string, number>()
  const contents = trades.map((trade) => {
    const { market, symbol, currency, date, time, side, quantity, price, fee, tax, uid } = trade
    const figures = [quantity, price, fee, tax].map(formatAmount)
    const content = JSON.stringify([market, symbol, currency, date, time, side, ...figures, uid])
    const ordinal = times.get(content) ?? 0
    times.set(content, ordinal + 1)
    return `${content}${ordinal}`
  })
  const hashes = await Promise.all(contents.map(sha256Hex))
  return trades.map((trade, i) => ({ ...trade, hash: (hashes[i] ?? '').slice(0, 40) }))
}

class CellError extends Error {
  override readonly name = 'CellError'
  readonly fault: RowFault

  constructor(fault: RowFault) {
    super(fault.fault)
    this.fault = fault
  }
}

type Charge = 'fee' | 'tax'

class RowReader {
  readonly #row: number
  readonly #cells: readonly string[]
  readonly #known: Known

  constructor(row: number, cells: readonly string[], known: Known) {
    this.#row = row
    this.#cells = cells
    this.#known = known
  }

  skipped(): Skipped | null {
    const { layout, header } = this.#known
    const { only } = header.places
    const kind = only < 0 ? '' : this.#at(only)
    if (layout.only !== null && only >= 0 && !layout.only.values.includes(folded(kind))) {
      return { row: this.#row, column: header.names[only] ?? '', reason: 'no_trade', text: kind }
    }
    const blank = NEEDED.find((field) => this.#text(field) === '')
    if (blank !== undefined) return { row: this.#row, column: this.#column(blank), reason: 'blank', text: '' }
    if (this.#side() !== null) return null
    return { row: this.#row, column: this.#column('side'), reason: 'no_trade', text: this.#text('side') }
  }

  trade(): Omit<CsvTrade, 'hash'> {
    const instrument = this.#instrument()
    const side = this.#side() ?? 'buy'
    return {
      row: this.#row,
      symbol: instrument.key,
      market: instrument.market,
      currency: this.#currency(instrument),
      date: this.#date(instrument.market),
      time: timeIn(this.#text('time')) || timeIn(afterDate(this.#text('date'))),
      side,
      quantity: this.#positive('quantity', this.#known.layout.isSigned && side === 'sell' ? -1n : 1n),
      price: this.#positive('price', 1n),
      fee: this.#charges('fee'),
      tax: this.#charges('tax'),
      uid: this.#text('uid') || null,
    }
  }

  #at(place: number): string {
    return this.#cells[place] ?? ''
  }

  #text(field: Exclude<Field, Charge>): string {
    const place = this.#known.header.places[field]
    return place < 0 ? '' : this.#at(place)
  }

  #column(field: Exclude<Field, Charge>): string {
    return this.#known.header.names[this.#known.header.places[field]] ?? field
  }

  #fault(column: string, fault: CsvFault): CellError {
    return new CellError({ ...fault, row: this.#row, column })
  }

  #side(): 'buy' | 'sell' | null {
    const word = folded(this.#text('side'))
    const { buy, sell } = this.#known.layout
    if (buy.includes(word)) return 'buy'
    return sell.includes(word) ? 'sell' : null
  }

  #instrument(): Instrument {
    const text = this.#text('symbol').normalize('NFKC')
    const place = this.#known.layout.places[currencyCode(this.#text('currency')) ?? '']
    const isBare = place !== undefined && /^\d{1,5}$/.test(text)
    const instrument = this.#known.listing(isBare ? text + place : text.replace(/^([A-Z]+) ([A-Z])$/, '$1.$2'))
    if (instrument === null) throw this.#fault(this.#column('symbol'), { fault: 'code', text })
    if (instrument.kind === 'index') {
      throw this.#fault(this.#column('symbol'), { fault: 'index', symbol: instrument.key })
    }
    return instrument
  }

  #currency(instrument: Instrument): string {
    const text = this.#text('currency')
    if (text === '') return currencyOf(instrument)
    const code = currencyCode(text)
    if (code === null) throw this.#fault(this.#column('currency'), { fault: 'currency', text })
    return code
  }

  #date(market: Market): string {
    const column = this.#column('date')
    const text = this.#text('date')
    const date = dateIn(text, this.#known.layout.dateOrder)
    if (date === null) throw this.#fault(column, { fault: 'date', text })
    if (date < FIRST_DAY) throw this.#fault(column, { fault: 'early', date, first: FIRST_DAY })
    const latest = localDate(market, this.#known.now)
    if (date > latest) throw this.#fault(column, { fault: 'future', date, latest })
    if (isCalendarKnown(market, date) && !isTradingDay(market, date)) {
      throw this.#fault(column, { fault: 'closed', date, market })
    }
    return date
  }

  #amount(column: string, text: string): Amount {
    const amount = figureIn(text, this.#known.layout.decimal)
    if (amount === null || amount > LARGEST || amount < -LARGEST) throw this.#fault(column, { fault: 'number', text })
    return amount
  }

  /** Where sales are written with a minus, one without it is taken, too. */
  #positive(field: 'quantity' | 'price', sign: bigint): Amount {
    const text = this.#text(field)
    const written = this.#amount(this.#column(field), text)
    const amount = sign < 0n && written < 0n ? -written : written
    if (amount <= 0n) throw this.#fault(this.#column(field), { fault: 'not_positive', text })
    return amount
  }

  #charges(field: Charge): Amount {
    const { header, layout } = this.#known
    let sum = 0n
    for (const place of header.places[field]) {
      const [column, text] = [header.names[place] ?? field, this.#at(place)]
      const written = text === '' || /^-+$/.test(text) ? 0n : this.#amount(column, text)
      const amount = layout.isSigned ? -written : written
      if (amount < 0n) throw this.#fault(column, { fault: 'negative', text })
      sum += amount
    }
    return sum
  }
}

const PARTS = /^(\d{1,4})(?:[-/.年](\d{1,2})[-/.月](\d{1,4})日?)(?:$|[\sT;,].*)/
const DIGITS = /^(\d{4})(\d{2})(\d{2})(?:$|[\s;,T].*)/

/** `2025-12-02`; null for what is no day of the calendar. */
export function dateIn(text: string, order: DateOrder): string | null {
  const plain = text.normalize('NFKC').trim()
  const [, a = '', b = '', c = ''] = DIGITS.exec(plain) ?? PARTS.exec(plain) ?? []
  const isYearFirst = a.length === 4
  const [year, month, day] = isYearFirst ? [a, b, c] : order === 'dmy' ? [c, b, a] : [c, a, b]
  if (year.length !== 4 || (!isYearFirst && order === 'ymd')) return null
  const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  const at = new Date(`${date}T00:00:00Z`)
  return Number.isNaN(at.getTime()) || at.toISOString().slice(0, 10) !== date ? null : date
}

const afterDate = (text: string): string => /[\sT;,](.+)$/.exec(text.trim())?.[1] ?? ''

/** `09:30:00`; empty for what is no time of a day. */
function timeIn(text: string): string {
  const [, hour, minute, second = '00'] =
    /^(\d{1,2}):(\d{2})(?::(\d{2}))?/.exec(text) ?? /(?:^|[\s;])(\d{1,2})(\d{2})(\d{2})$/.exec(text) ?? []
  if (hour === undefined || minute === undefined) {
    const behind = afterDate(text)
    return behind === '' ? '' : timeIn(behind)
  }
  return `${hour.padStart(2, '0')}:${minute}:${second}`
}

const GROUPED = { '.': /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/, ',': /^\d{1,3}(?:\.\d{3})+(?:,\d+)?$/ } as const

/** With marks of currencies and of thousands; a sum in brackets is negative. Null for what is no decimal of eight places. */
export function figureIn(text: string, decimal: '.' | ','): Amount | null {
  const plain = text.normalize('NFKC').replace(/\s/g, '')
  const [, brackets] = /^\((.+)\)$/.exec(plain) ?? []
  const [, sign, , figure = ''] = /^([+-]?)([$¥€£]?)(.+)$/.exec(brackets ?? plain) ?? []
  const other = decimal === '.' ? ',' : '.'
  const whole = GROUPED[decimal].test(figure) ? figure.replaceAll(other, '') : figure
  if (whole.includes(other)) return null
  const amount = /^[\d.,]+$/.test(whole) ? parseAmount(whole.replace(decimal, '.')) : null
  if (amount === null) return null
  return (sign === '-') === (brackets !== undefined) ? amount : -amount
}
