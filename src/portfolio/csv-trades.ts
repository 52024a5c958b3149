// Trades, dividends and payments from the rows of a broker's file. A row is one of these, a purchase together with the
// dividend that paid for it, something that is not booked here, or invalid; an error names row and column.

import { sha256Hex } from '../lib/crypto.ts'
import { type Amount, formatAmount, LARGEST, parseAmount, product, rounded } from '../lib/decimal.ts'
import { isCalendarKnown, isTradingDay, localDate } from '../market/calendar.ts'
import { currencyOf, type Instrument, type Market } from '../market/instruments.ts'
import { currencyCode } from './currencies.ts'
import { type DateOrder, type Field, folded, type Header, type Layout, NEEDED, NEEDED_OF_DIVIDEND } from './layouts.ts'
import type { Holding } from './ledger.ts'

export const FIRST_DAY = '1990-01-01'

export type CsvTrade = Holding & {
  row: number
  date: string
  /** `09:30:00`; empty when the file has no times. */
  time: string
  side: 'buy' | 'sell'
  quantity: Amount
  price: Amount
  fee: Amount
  tax: Amount
  /** The broker's number of this trade; never that of an order, which may have several trades. */
  uid: string | null
  /** The same for the same trade in another file, and different for each of several equal rows. */
  hash: string
}

/** The proceeds of a dividend, or a later tax on one (then `gross` is 0). A reversal is below zero. */
export type CsvDividend = Holding & {
  row: number
  date: string
  gross: Amount
  fee: Amount
  tax: Amount
  uid: string | null
  hash: string
}

/** A deposit or withdrawal of the owner. */
export type CsvCash = {
  row: number
  date: string
  direction: 'in' | 'out'
  amount: Amount
  currency: string
  uid: string | null
  hash: string
}

export type CsvFault =
  | { fault: 'date' | 'code' | 'number' | 'not_positive' | 'negative' | 'zero' | 'currency'; text: string }
  | { fault: 'no_column' }
  | { fault: 'early'; date: string; first: string }
  | { fault: 'future'; date: string; latest: string }
  | { fault: 'closed'; date: string; market: Market }
  | { fault: 'index'; symbol: string }
  | { fault: 'oversell'; symbol: string; date: string; quantity: string; held: string }
/** Its position in the file. */
export type RowFault = CsvFault & { row: number; column: string }
/** `blank`: a required value is missing. `no_trade`: something else, such as interest. */
export type Skipped = { row: number; column: string; reason: 'blank' | 'no_trade'; text: string }

/** What is booked of a file. */
export type CsvEntries = { trades: CsvTrade[]; dividends: CsvDividend[]; cash: CsvCash[] }
export type CsvTrades = CsvEntries & { skipped: Skipped[]; faults: RowFault[] }
type Raw<T> = Omit<T, 'hash'>

type Rows = readonly { row: number; cells: readonly string[] }[]
type CsvContext = {
  header: Header
  layout: Layout
  now: number
  /** The listing that a text means; null when that is unclear. */
  listing: (text: string) => Instrument | null
}

/** In the order in which they happened: by day and time, purchases before sales at the same time. */
export async function tradesOf(rows: Rows, known: CsvContext): Promise<CsvTrades> {
  const { header } = known
  const trades: Raw<CsvTrade>[] = []
  const dividends: Raw<CsvDividend>[] = []
  const cash: Raw<CsvCash>[] = []
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
      const read = reader.read()
      if (read.trade !== null) trades.push(read.trade)
      if (read.dividend !== null) dividends.push(read.dividend)
      if (read.cash !== null) cash.push(read.cash)
    } catch (error) {
      if (!(error instanceof CellError)) throw error
      faults.push(error.fault)
    }
  }
  return {
    trades: (await hashed(trades, contentOfTrade)).sort(asHappened),
    dividends: (await hashed(dividends, contentOfDividend)).sort(byDay),
    cash: (await hashed(cash, contentOfCash)).sort(byDay),
    ...{ skipped, faults },
  }
}

const byDay = (a: { date: string; row: number }, b: { date: string; row: number }) =>
  a.date < b.date ? -1 : a.date > b.date ? 1 : a.row - b.row

function asHappened(a: CsvTrade, b: CsvTrade): number {
  const [left, right] = [a.date + a.time, b.date + b.time]
  if (left !== right) return left < right ? -1 : 1
  return Number(a.side === 'sell') - Number(b.side === 'sell') || a.row - b.row
}

function contentOfTrade(trade: Raw<CsvTrade>): string {
  const { market, symbol, currency, date, time, side, quantity, price, fee, tax, uid } = trade
  const figures = [quantity, price, fee, tax].map(formatAmount)
  return JSON.stringify([market, symbol, currency, date, time, side, ...figures, uid])
}

const contentOfDividend = ({ market, symbol, currency, date, gross, fee, tax, uid }: Raw<CsvDividend>) =>
  JSON.stringify(['dividend', market, symbol, currency, date, ...[gross, fee, tax].map(formatAmount), uid])

const contentOfCash = ({ currency, date, direction, amount, uid }: Raw<CsvCash>) =>
  JSON.stringify(['cash', currency, date, direction, formatAmount(amount), uid])

async function hashed<T>(rows: readonly T[], contentOf: (row: T) => string): Promise<(T & { hash: string })[]> {
  const times = new Map<string, number>()
  const contents = rows.map((row) => {
    const content = contentOf(row)
    const ordinal = times.get(content) ?? 0
    times.set(content, ordinal + 1)
    return `${content}${ordinal}`
  })
  const hashes = await Promise.all(contents.map(sha256Hex))
  return rows.map((row, i) => ({ ...row, hash: (hashes[i] ?? '').slice(0, 40) }))
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
/** The market whose day begins first, because money belongs to no market. */
const FIRST_OF_DAYS = 'jp'
type Entry = { trade: Raw<CsvTrade> | null; dividend: Raw<CsvDividend> | null; cash: Raw<CsvCash> | null }
type MoneyKind = 'paidIn' | 'paidOut' | 'moved'
type RowKind = 'buy' | 'sell' | 'dividend' | 'dividendTax' | 'reinvested' | MoneyKind
const KINDS: readonly RowKind[] = ['buy', 'sell', 'reinvested', 'dividendTax', 'dividend', 'paidIn', 'paidOut', 'moved']
const isMoney = (kind: RowKind | null): kind is MoneyKind => kind === 'paidIn' || kind === 'paidOut' || kind === 'moved'
const isDividend = (kind: RowKind | null) => kind === 'dividend' || kind === 'dividendTax'

/** One row for both: the dividend equals the cost of the shares, including charges. */
function spentAtOnce(trade: Raw<CsvTrade>): Raw<CsvDividend> {
  const { row, symbol, market, currency, date, quantity, price, fee, tax, uid } = trade
  const gross = rounded(product(quantity, price)) + fee + tax
  return { row, symbol, market, currency, date, gross, fee: 0n, tax: 0n, uid }
}

class RowReader {
  readonly #row: number
  readonly #cells: readonly string[]
  readonly #known: CsvContext

  constructor(row: number, cells: readonly string[], known: CsvContext) {
    this.#row = row
    this.#cells = cells
    this.#known = known
  }

  skipped(): Skipped | null {
    const { layout, header } = this.#known
    const { only } = header.places
    const kind = only < 0 ? '' : (this.#cells[only] ?? '')
    const kindOfRow = this.#kind()
    if (!isMoney(kindOfRow) && layout.only !== null && only >= 0 && !layout.only.values.includes(folded(kind))) {
      return { row: this.#row, column: header.names[only] ?? '', reason: 'no_trade', text: kind }
    }
    const blank = this.#blank(kindOfRow)
    if (blank !== undefined) return { row: this.#row, column: this.#column(blank), reason: 'blank', text: '' }
    if (kindOfRow !== null) return null
    return { row: this.#row, column: this.#column('side'), reason: 'no_trade', text: this.#text('side') }
  }

  /** The first required value that is missing in such a row. */
  #blank(kind: RowKind | null): Exclude<Field, Charge> | undefined {
    const { header, layout } = this.#known
    const isLacking = (field: Exclude<Field, Charge>) => this.#text(field) === ''
    if (isMoney(kind))
      return (['date', 'amount', ...(layout.ownCurrency ? [] : ['currency' as const])] as const).find(isLacking)
    // A trade in a file of payments is an error and not a blank row: otherwise a column that nobody chose would hide
    // all trades.
    if (kind !== null && !isDividend(kind) && header.places.quantity < 0) return undefined
    return (isDividend(kind) || header.places.quantity < 0 ? NEEDED_OF_DIVIDEND : NEEDED).find(isLacking)
  }

  read(): Entry {
    const kind = this.#kind()
    if (isMoney(kind)) return { trade: null, dividend: null, cash: this.#money(kind) }
    if (kind === 'dividend' || kind === 'dividendTax') return { trade: null, dividend: this.#paid(kind), cash: null }
    const lacking = NEEDED.find((field) => this.#known.header.places[field] < 0)
    if (lacking !== undefined) throw this.#fault(lacking, { fault: 'no_column' })
    const trade = this.#trade(kind === 'sell' ? 'sell' : 'buy')
    return { trade, dividend: kind === 'reinvested' ? spentAtOnce(trade) : null, cash: null }
  }

  /** If the word gives the direction, the sign of the amount is ignored: some files have it, others do not. */
  #money(kind: MoneyKind): Raw<CsvCash> {
    const came = this.#came()
    const isOut = kind === 'paidOut' || (kind === 'moved' && came < 0n)
    const currency = this.#text('currency') === '' ? (this.#known.layout.ownCurrency ?? '') : this.#currencyIn()
    const figures = {
      direction: isOut ? ('out' as const) : ('in' as const),
      amount: came < 0n ? -came : came,
      currency,
    }
    return { row: this.#row, date: this.#date(FIRST_OF_DAYS, 'any day'), ...figures, uid: this.#text('uid') || null }
  }

  #came(): Amount {
    const text = this.#text('amount')
    const came = this.#amount(this.#column('amount'), text)
    if (came === 0n) throw this.#fault(this.#column('amount'), { fault: 'zero', text })
    return came
  }

  #paid(kind: 'dividend' | 'dividendTax'): Raw<CsvDividend> {
    const instrument = this.#instrument()
    const came = this.#came()
    const [fee, tax] = [this.#charges('fee'), this.#charges('tax')]
    const figures = kind === 'dividend' ? { gross: came + fee + tax, fee, tax } : { gross: 0n, fee: 0n, tax: -came }
    return { ...this.#of(instrument, 'any day'), ...figures, uid: this.#text('uid') || null }
  }

  #of(instrument: Instrument, days: 'sessions' | 'any day') {
    const { key: symbol, market } = instrument
    return { row: this.#row, symbol, market, currency: this.#currency(instrument), date: this.#date(market, days) }
  }

  #trade(side: 'buy' | 'sell'): Raw<CsvTrade> {
    const instrument = this.#instrument()
    return {
      ...this.#of(instrument, 'sessions'),
      time: timeIn(this.#text('time')) || timeIn(afterDate(this.#text('date'))),
      side,
      quantity: this.#positive('quantity', this.#known.layout.isSigned && side === 'sell' ? -1n : 1n),
      price: this.#positive('price', 1n),
      fee: this.#charges('fee'),
      tax: this.#charges('tax'),
      uid: this.#text('uid') || null,
    }
  }

  #text(field: Exclude<Field, Charge>): string {
    const place = this.#known.header.places[field]
    return place < 0 ? '' : (this.#cells[place] ?? '')
  }

  #column(field: Exclude<Field, Charge>): string {
    return this.#known.header.names[this.#known.header.places[field]] ?? field
  }

  #fault(column: string, fault: CsvFault): CellError {
    return new CellError({ ...fault, row: this.#row, column })
  }

  #kind(): RowKind | null {
    const word = folded(this.#text('side'))
    return KINDS.find((kind) => this.#known.layout[kind].includes(word)) ?? null
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
    return this.#text('currency') === '' ? currencyOf(instrument) : this.#currencyIn()
  }

  #currencyIn(): string {
    const text = this.#text('currency')
    const code = currencyCode(text)
    if (code === null) throw this.#fault(this.#column('currency'), { fault: 'currency', text })
    return code
  }

  /** Dividends may come on a day without a session. */
  #date(market: Market, days: 'sessions' | 'any day'): string {
    const column = this.#column('date')
    const text = this.#text('date')
    const date = dateIn(text, this.#known.layout.dateOrder)
    if (date === null) throw this.#fault(column, { fault: 'date', text })
    if (date < FIRST_DAY) throw this.#fault(column, { fault: 'early', date, first: FIRST_DAY })
    const latest = localDate(market, this.#known.now)
    if (date > latest) throw this.#fault(column, { fault: 'future', date, latest })
    if (days === 'sessions' && isCalendarKnown(market, date) && !isTradingDay(market, date)) {
      throw this.#fault(column, { fault: 'closed', date, market })
    }
    return date
  }

  #amount(column: string, text: string): Amount {
    const amount = figureIn(text, this.#known.layout.decimal)
    if (amount === null || amount > LARGEST || amount < -LARGEST) throw this.#fault(column, { fault: 'number', text })
    return amount
  }

  /** In files that write sales with a minus, a value without one is accepted, too. */
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
      const [column, text] = [header.names[place] ?? field, this.#cells[place] ?? '']
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

/** `2025-12-02`; null for an invalid date. */
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

/** `09:30:00`; empty for an invalid time. */
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

/**
 * With currency signs and thousands separators; an amount in brackets is negative. Null when it is not a decimal with
 * at most eight places.
 */
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
