// One line of Tencent's quote list, `v_sh600519="1~name~code~price~…";`, made into a quote.

import type { Quote } from '../bars.ts'
import { marketZone } from '../calendar.ts'
import { currencyOf, type Instrument } from '../instruments.ts'
import { instantAt, isDate } from '../zoned-time.ts'
import { changeOf, faulty } from './checks.ts'

// Positions that all markets share, then those that mean something else, or nothing known, elsewhere.
const FIELD = { name: 1, code: 2, price: 3, prevClose: 4, open: 5, volume: 6, time: 30, high: 33, low: 34, amount: 37 }
const CAPITAL = { circulating: 44, total: 45 }
const MAINLAND = { turnoverPct: 38, pe: 39, pb: 46, volumeRatio: 49, floatShares: 72 }
const AMERICA = { pe: 39, pb: 47 }

const LOT = 100
const HUNDRED_MILLION = 100_000_000
const TEN_THOUSAND = 10_000
const DAY_MS = 86_400_000

/** The fields of the symbol's line, if the line is there and speaks of that symbol. */
export function quoteFields(service: string, symbol: string, text: string): string[] {
  const lines = [...text.matchAll(/v_([^=\s]+)="([^"]*)"/g)]
  if (lines.length === 0) throw faulty(service, 'malformed', 'no quote line')
  const line = lines.find(([, name]) => name?.toLowerCase() === symbol.toLowerCase())
  if (!line) {
    const unknown = lines.some(([, name]) => name === 'pv_none_match')
    throw faulty(service, unknown ? 'unknown_symbol' : 'wrong_symbol', symbol)
  }
  const fields = (line[2] ?? '').split('~')
  if (!echoes(symbol.slice(2), fields[FIELD.code] ?? '')) throw faulty(service, 'wrong_symbol', symbol)
  return fields
}

/** The code as sent, or as the US list writes it: with a venue after it (`AAPL.OQ`) or a dot before it (`.INX`). */
function echoes(asked: string, answered: string): boolean {
  const [want, got] = [asked.toUpperCase(), answered.toUpperCase()]
  return got === want || got.startsWith(`${want}.`) || got === `.${want}`
}

export function toQuote(service: string, instrument: Instrument, fields: string[], now: number): Quote {
  const { market } = instrument
  const number = (index: number): number | null => toNumber(fields[index])
  const positive = (index: number): number | null => nullUnless((value) => value > 0, number(index))
  const ofMarket = (index: number, ...markets: string[]) => (markets.includes(market) ? number(index) : null)
  const price = number(FIELD.price) ?? Number.NaN
  const prevClose = number(FIELD.prevClose) ?? Number.NaN
  const volume = sharesTraded(instrument, fields)
  const hundredMillions = (index: number) => scaled(positive(index), HUNDRED_MILLION)
  return {
    price,
    prevClose,
    ...changeOf(price, prevClose),
    open: positive(FIELD.open),
    high: positive(FIELD.high),
    low: positive(FIELD.low),
    volume,
    amount: turnover(instrument, positive(FIELD.amount), (volume ?? 0) * price),
    quotedAt: quoteTime(service, instrument, fields[FIELD.time] ?? '', now),
    name: fields[FIELD.name]?.trim() || null,
    currency: currency(instrument, fields),
    turnoverRatePct: market === 'cn' ? positive(MAINLAND.turnoverPct) : null,
    volumeRatio: market === 'cn' ? positive(MAINLAND.volumeRatio) : null,
    // A loss makes a negative ratio, which is a figure; zero is how the source writes "none".
    peRatio: nullUnless((value) => value !== 0, ofMarket(market === 'us' ? AMERICA.pe : MAINLAND.pe, 'cn', 'hk', 'us')),
    pbRatio: nullUnless((value) => value > 0, ofMarket(market === 'us' ? AMERICA.pb : MAINLAND.pb, 'cn', 'us')),
    totalMarketValue: hundredMillions(CAPITAL.total),
    circulatingMarketValue: market === 'us' ? null : hundredMillions(CAPITAL.circulating),
  }
}

/** Mainland volume comes in lots, except for a few symbols where it already is in shares: turnover tells. */
function sharesTraded({ market }: Instrument, fields: string[]): number | null {
  const volume = toNumber(fields[FIELD.volume])
  if (volume === null || volume < 0 || market !== 'cn') return volume
  const turnoverPct = toNumber(fields[MAINLAND.turnoverPct]) ?? 0
  const expected = ((toNumber(fields[MAINLAND.floatShares]) ?? 0) * turnoverPct) / 100
  const alreadyShares = expected > 0 && volume > expected / 3 && volume < expected * 3
  return alreadyShares ? volume : volume * LOT
}

/** Mainland turnover comes in units of ten thousand. Elsewhere the unit is taken that fits price times volume. */
function turnover({ market }: Instrument, amount: number | null, traded: number): number | null {
  if (amount === null) return null
  if (market === 'cn') return amount * TEN_THOUSAND
  const fits = (value: number) => value > traded / 2 && value < traded * 2
  return [amount, amount * TEN_THOUSAND].find(fits) ?? null
}

function quoteTime(service: string, { market }: Instrument, text: string, now: number): number {
  const digits = text.replace(/\D/g, '')
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(digits) ?? []
  const date = `${year}-${month}-${day}`
  if (!isDate(date)) throw faulty(service, 'bad_dates', 'the quote has no time')
  const at = instantAt(date, Number(hour) * 3600 + Number(minute) * 60 + Number(second), marketZone(market))
  if (at > now + DAY_MS) throw faulty(service, 'bad_dates', `${date} has not come yet`)
  return at
}

/** Hong Kong trades a few listings in other money and says so, third from the end. */
function currency(instrument: Instrument, fields: string[]): string {
  const told = instrument.market === 'hk' ? (fields.at(-3) ?? '') : ''
  return /^[A-Z]{3}$/.test(told) ? told : currencyOf(instrument)
}

function toNumber(text: string | undefined): number | null {
  if (text === undefined || text.trim() === '') return null
  const value = Number(text)
  return Number.isFinite(value) ? value : null
}

function nullUnless(test: (value: number) => boolean, value: number | null): number | null {
  return value !== null && test(value) ? value : null
}

function scaled(value: number | null, factor: number): number | null {
  return value === null ? null : Math.round(value * factor)
}
