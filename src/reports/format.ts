import { type Instrument, currencyOf as moneyOf } from '../market/instruments.ts'
import { type CurrencyCode, fill, labelsOf } from './labels.ts'
import type { ReportLanguage } from './report.ts'

const KNOWN: readonly string[] = ['CNY', 'HKD', 'USD', 'JPY', 'KRW', 'TWD'] satisfies CurrencyCode[]

const isKnown = (currency: string): currency is CurrencyCode => KNOWN.includes(currency)

/** What prices of an instrument are counted in; an index is counted in points. */
export function currencyOf(instrument: Instrument): CurrencyCode {
  const money = moneyOf(instrument)
  return instrument.kind !== 'index' && isKnown(money) ? money : 'points'
}

/** What a quote says that its prices are counted in, where that is one that reports can name; else the market's own. */
export function quotedCurrency(instrument: Instrument, quoted: string | null): CurrencyCode {
  const isTold = quoted !== null && instrument.kind !== 'index' && isKnown(quoted)
  return isTold ? quoted : currencyOf(instrument)
}

/** An amount with its money behind it, each language with or without a blank between; money without a name by its code. */
export function withUnit(amount: string, currency: string, language: ReportLanguage): string {
  const { unit, amountText } = labelsOf(language)
  const isNamed = Object.hasOwn(unit, currency)
  return isNamed ? fill(amountText, { amount, unit: unit[currency as keyof typeof unit] }) : `${amount} ${currency}`
}

/** Something said beside a text, in the language's brackets. */
export function aside(text: string, language: ReportLanguage): string {
  return fill(labelsOf(language).aside, { text })
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

const KEPT_DECIMALS = 4

/** A figure as it is shown, the same in every place: of its four stored decimals, halves away from zero. */
export function fixed(value: number, decimals: number): string {
  const kept = Math.round(value * 10 ** KEPT_DECIMALS)
  if (decimals > KEPT_DECIMALS || !Number.isSafeInteger(kept)) return value.toFixed(decimals)
  const shown = Math.round(Math.abs(kept) / 10 ** (KEPT_DECIMALS - decimals)) / 10 ** decimals
  return (Math.sign(kept) * shown).toFixed(decimals)
}

/** A percentage with its sign, as `+1.20%`. */
export function signedPct(value: number, digits = 2): string {
  const text = fixed(value, digits)
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
