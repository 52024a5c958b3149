import { type Instrument, currencyOf as moneyOf } from '../../market/instruments.ts'
import type { CurrencyCode, SentimentLevel, StageKey } from '../codes.ts'
import type { ReportLanguage } from '../schemas.ts'
import { fill, textsOf } from './book.ts'
import type { AnalysisTexts } from './texts.ts'

const KNOWN: readonly string[] = ['CNY', 'HKD', 'USD', 'JPY', 'KRW', 'TWD'] satisfies CurrencyCode[]

const isKnown = (currency: string): currency is CurrencyCode => KNOWN.includes(currency)

/** The currency of an instrument's prices; an index is counted in points. */
export function currencyOf(instrument: Instrument): CurrencyCode {
  const money = moneyOf(instrument)
  return instrument.kind !== 'index' && isKnown(money) ? money : 'points'
}

/** The currency of a quote, if reports have a name for it; else the market's own. */
export function quotedCurrency(instrument: Instrument, quoted: string | null): CurrencyCode {
  const isTold = quoted !== null && instrument.kind !== 'index' && isKnown(quoted)
  return isTold ? quoted : currencyOf(instrument)
}

/**
 * An amount followed by its currency, with or without a blank as the language requires; a currency without a name is
 * shown by its code.
 */
export function withUnit(amount: string, currency: string, language: ReportLanguage): string {
  const { unit, amountText } = textsOf(language).report
  const isNamed = Object.hasOwn(unit, currency)
  return isNamed ? fill(amountText, { amount, unit: unit[currency as keyof typeof unit] }) : `${amount} ${currency}`
}

/** A remark after a text, in the language's brackets. */
export function aside(text: string, language: ReportLanguage): string {
  return fill(textsOf(language).report.aside, { text })
}

/**
 * A price below a cent is shown with this many significant digits: with the exchange's decimals it would have one digit
 * or none.
 */
const SMALL_PRICE = 0.01
const SMALL_DIGITS = 4
/** The most decimals that the smallest valid price, or a hundredfold fall within the series, can need. */
const MOST_DECIMALS = 8

/** The number of decimals of such a price on the instrument's exchange; more if the price is too small. */
export function priceDecimals(instrument: Instrument, price: number): number {
  const usual = usualDecimals(instrument, price)
  if (!(price > 0 && price < SMALL_PRICE)) return usual
  return Math.min(MOST_DECIMALS, Math.max(usual, SMALL_DIGITS - 1 - Math.floor(Math.log10(price))))
}

function usualDecimals({ market, kind }: Instrument, price: number): number {
  if (kind === 'index') return 2
  if (market === 'kr') return 0
  if (market === 'jp') return 1
  if (market === 'cn') return kind === 'etf' ? 3 : 2
  if (market === 'hk') return price < 10 ? 3 : 2
  return market === 'us' && price < 1 ? 4 : 2
}

const KEPT_DECIMALS = 4

/** A figure as it is shown everywhere: from its four stored decimals, rounded half away from zero. */
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

/** A large number in the language's units: 1.23亿, 1.23B. */
export function largeNumber(value: number, language: ReportLanguage): string {
  const step = textsOf(language).report.magnitudes.find(([divisor]) => Math.abs(value) >= divisor)
  if (step === undefined) return String(Math.round(value))
  const [divisor, suffix] = step
  return `${(value / divisor).toFixed(2)}${suffix}`
}

/** The sentiment word of a score: five bands of twenty points. */
export function sentimentLevel(score: number): SentimentLevel {
  if (score >= 80) return 'very_bullish'
  if (score >= 60) return 'bullish'
  if (score >= 40) return 'neutral'
  return score >= 20 ? 'bearish' : 'very_bearish'
}

/** The notice that figures are not live market data. It is in every rendering of such a report. */
export function sampleNotice(
  provenance: { kind: 'historical' | 'synthetic'; endsOn: string },
  language: ReportLanguage,
): string {
  return fill(textsOf(language).report.sample[provenance.kind], { date: provenance.endsOn })
}

/** A short text that is shown alone, with the word "sample" for sample figures; unchanged for market data. */
export const sampleLabelled = (
  text: string,
  provenance: { kind: 'historical' | 'synthetic' } | null,
  language: ReportLanguage,
): string =>
  provenance === null ? text : text + aside(textsOf(language).report.sampleLabel[provenance.kind], language)

/** The result of the news search of a report. `count` is null when no search was configured. */
export type NewsEvidence = { known: boolean; count: number | null; evidencePresent: boolean }

/** The statement that no news was used; null when some was, or when nothing is known about the search. */
export function emptyNewsDisclosure(news: NewsEvidence, language: ReportLanguage): string | null {
  if (!news.known || news.evidencePresent || (news.count ?? 0) > 0) return null
  const { disclosure } = textsOf(language).report
  return news.count === null ? disclosure.not_configured : disclosure.no_hits
}

/** The message of a stage: the stock's name, a full-width colon in every language (clients split there), what is happening. */
export function stageMessage(
  stage: StageKey,
  { name, language }: { name: string; language: ReportLanguage },
  values: Record<string, string | number> = {},
): string {
  return `${name}：${fill(textsOf(language).analysis.stage[stage], values)}`
}

/** A rounded figure; null stays null. */
export function figure(value: number | null | undefined, decimals = KEPT_DECIMALS): number | null {
  return value === null || value === undefined ? null : round(value, decimals)
}

/** Four decimals: finer than any exchange's price step; removes binary rounding errors and -0, which JSON cannot represent. */
export function round(value: number, decimals = KEPT_DECIMALS): number {
  const scale = 10 ** decimals
  return Math.round(value * scale) / scale + 0
}

/** The stored decimals of prices that are shown with `decimals`: four, or as many as that. */
export const keptDecimals = (decimals: number): number => Math.max(KEPT_DECIMALS, decimals)

/** The same for a price of this size, of any listing. */
export function keptBeside(price: number): number {
  return keptDecimals(price > 0 && price < SMALL_PRICE ? SMALL_DIGITS - 1 - Math.floor(Math.log10(price)) : 0)
}

/** An age in its largest whole unit, as text. */
export function ageText(seconds: number, { age }: AnalysisTexts): string {
  if (seconds < 60) return fill(age.seconds, { n: seconds })
  if (seconds < 3_600) return fill(age.minutes, { n: Math.floor(seconds / 60) })
  if (seconds < 172_800) return fill(age.hours, { n: Math.floor(seconds / 3_600) })
  return fill(age.days, { n: Math.floor(seconds / 86_400) })
}
