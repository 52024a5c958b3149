import type { Instrument, Market } from '../market/instruments.ts'
import { type CurrencyCode, labelsOf } from './labels.ts'
import type { ReportLanguage } from './report.ts'

const CURRENCY: Record<Market, CurrencyCode> = { cn: 'CNY', hk: 'HKD', us: 'USD', jp: 'JPY', kr: 'KRW', tw: 'TWD' }

/** What prices of an instrument are counted in; an index is counted in points. */
export function currencyOf(instrument: Instrument): CurrencyCode {
  return instrument.kind === 'index' ? 'points' : CURRENCY[instrument.market]
}

const KNOWN: readonly string[] = Object.values(CURRENCY)

/** What a quote says that its prices are counted in, where that is one that reports can name; else the market's own. */
export function quotedCurrency(instrument: Instrument, quoted: string | null): CurrencyCode {
  const isTold = quoted !== null && instrument.kind !== 'index' && KNOWN.includes(quoted)
  return isTold ? (quoted as CurrencyCode) : currencyOf(instrument)
}

/** How many decimals a price of this size has on the instrument's exchange. */
export function priceDecimals({ market, kind }: Instrument, price: number): number {
  if (kind === 'index') return 2
  if (market === 'kr') return 0
  if (market === 'jp') return 1
  if (market === 'cn') return kind === 'etf' ? 3 : 2
  if (market === 'hk') return price < 10 ? 3 : 2
  return market === 'us' && price < 1 ? 4 : 2
}

/** A percentage with its sign, as `+1.20%`. */
export function signedPct(value: number, digits = 2): string {
  const text = value.toFixed(digits)
  const sign = Number(text) > 0 ? '+' : ''
  return `${sign}${Number(text) === 0 ? text.replace('-', '') : text}%`
}

/** A large number in the language's own steps: 1.23亿, 1.23B. */
export function largeNumber(value: number, language: ReportLanguage): string {
  const step = labelsOf(language).magnitudes.find(([divisor]) => Math.abs(value) >= divisor)
  if (step === undefined) return String(Math.round(value))
  const [divisor, suffix] = step
  return `${(value / divisor).toFixed(2)}${suffix}`
}
