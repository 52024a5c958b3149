// The figures of one index for a review, behind the same checks as those of a listing.

import type { Bar, Quote } from '../../market/bars.ts'
import { localDate } from '../../market/calendar.ts'
import { type Examined, examinePrices } from '../../market/consistency/examine.ts'
import { parseCode } from '../../market/instruments.ts'
import type { MarketSnapshot } from '../../market/providers/index.ts'
import type { ReportLanguage } from '../schemas.ts'
import { pricesNotice } from '../texts/findings.ts'
import type { IndexFact } from './facts.ts'
import type { IndexSpec } from './regions.ts'

export type ToldIndex = { ok: true; fact: IndexFact } | { ok: false; reason: string }
type Moment = { language: ReportLanguage; now: number }

/** Null when nobody tells of the index; refused where its figures failed a check. */
export function indexFact(spec: IndexSpec, snapshot: MarketSnapshot, moment: Moment): ToldIndex | null {
  const { language } = moment
  const examined = examinedIndex(spec, snapshot, moment)
  const { bars, consistency } = examined
  const quote = examined.quote ?? quoteOf(bars)
  if (quote === null) return null
  const checks = pricesNotice(consistency, language)
  if (consistency.isBlocked) return { ok: false, reason: `${spec[language]}: ${checks ?? ''}` }
  const isVolumeOdd = consistency.withheld.includes('volume')
  const told = isVolumeOdd ? { ...quote, volume: null, amount: null } : quote
  return { ok: true, fact: factOf(spec, { quote: told, bars, checks, snapshot, language }) }
}

function examinedIndex({ key }: IndexSpec, snapshot: MarketSnapshot, { now }: Moment): Examined {
  const parsed = parseCode(key)
  if (!parsed.ok) throw new Error(`the index ${key} is no instrument`)
  return examinePrices(parsed.instrument, snapshot, { dividends: null, now })
}

type CheckedIndex = {
  quote: Quote
  bars: readonly Bar[]
  checks: string | null
  snapshot: MarketSnapshot
  language: ReportLanguage
}

function factOf(spec: IndexSpec, { quote, bars, checks, snapshot, language }: CheckedIndex): IndexFact {
  const last = bars.at(-1)
  const { high, low, prevClose } = quote
  return {
    code: spec.code,
    key: spec.key,
    name: spec[language],
    current: quote.price,
    change: quote.change,
    changePct: quote.changePct,
    open: quote.open,
    high,
    low,
    volume: quote.volume,
    amount: quote.amount,
    amplitude: high === null || low === null || prevClose <= 0 ? null : ((high - low) / prevClose) * 100,
    date: dateOf(spec, { quote, last }),
    provenance: snapshot.provenance,
    checks,
    closes: bars.map(({ close }) => close),
  }
}

/** The last two bars as the quote that nobody gave. */
function quoteOf(bars: readonly Bar[]): Quote | null {
  const [before, last] = bars.slice(-2)
  if (before === undefined || last === undefined) return null
  const change = last.close - before.close
  return {
    price: last.close,
    prevClose: before.close,
    open: last.open,
    high: last.high,
    low: last.low,
    volume: last.volume > 0 ? last.volume : null,
    amount: last.amount,
    change,
    changePct: (change / before.close) * 100,
    ...{ quotedAt: null, name: null, currency: null, turnoverRatePct: null, volumeRatio: null },
    ...{ peRatio: null, pbRatio: null, totalMarketValue: null, circulatingMarketValue: null },
  }
}

function dateOf({ key }: IndexSpec, { quote, last }: { quote: Quote; last: Bar | undefined }): string {
  const parsed = parseCode(key)
  if (quote.quotedAt !== null && parsed.ok) return localDate(parsed.instrument.market, quote.quotedAt)
  return last?.date ?? ''
}
