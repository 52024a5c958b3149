// Checks the quote against itself and against the bars. If both come from one source they can be wrong together, which
// is reported.

import type { Quote } from '../bars.ts'
import {
  isTradingDay,
  lastCompletedSession,
  localDate,
  marketPhaseSummary,
  previousTradingDay,
  sessionEnd,
} from '../calendar.ts'
import { currencyOf, type Instrument } from '../instruments.ts'
import { changeOf } from '../providers/checks.ts'
import { quoteDay } from './date-checks.ts'
import { priceStep } from './limits.ts'
import { MOST, TOLERANCE } from './tolerances.ts'
import { type Checked, type Evidence, finding, notPossible, PRICES, pass } from './types.ts'

/** The price must be between the day's low and high. */
export function quoteOrder({ quote }: Evidence): Checked {
  if (quote === null) return notPossible('quote_order', 'no_quote')
  const { price, open, high, low } = quote
  if (high === null || low === null) return notPossible('quote_order', 'not_told')
  const [most, least] = [high * (1 + TOLERANCE.quoteOrderShare), low * (1 - TOLERANCE.quoteOrderShare)]
  const isInside = (value: number) => value <= most && value >= least
  if (low <= high && isInside(price) && (open === null || isInside(open))) return pass('quote_order')
  const told = { detail: 'out_of_order' as const, expected: `${low} – ${high}`, found: isInside(price) ? open : price }
  return { findings: [finding('quote_order', 'fail', { touches: PRICES, ...told })] }
}

/** The quote's change must be that from its previous close to its price; otherwise it is recomputed. */
export function quoteChange({ quote, instrument }: Evidence): Checked {
  if (quote === null) return notPossible('quote_change', 'no_quote')
  const { price, prevClose } = quote
  const right = changeOf(price, prevClose)
  const step = Math.max(2 * priceStep(instrument, price), price * TOLERANCE.changeShare)
  const isPctRight = Math.abs(quote.changePct - right.changePct) <= TOLERANCE.changePoints
  if (isPctRight && Math.abs(quote.change - right.change) <= step) return pass('quote_change')
  const told = { detail: 'recomputed' as const, expected: right.changePct, found: quote.changePct }
  return {
    findings: [finding('quote_change', 'warn', { touches: ['change'], ...told })],
    quote: { ...quote, ...right },
  }
}

/** The close before the quote's day, in quote and bars; on an ex-dividend day they may differ by the dividend. */
export function previousClose(evidence: Evidence): Checked {
  const { quote, bars, instrument, dividends } = evidence
  if (quote === null) return notPossible('previous_close', 'no_quote')
  if (bars.length === 0) return notPossible('previous_close', 'no_bars')
  const day = quoteDay(evidence) ?? assumedDay(evidence)
  const before = bars.findLast(({ date }) => date < day)
  const isNext = before?.date === previousTradingDay(instrument.market, day)
  if (before === undefined || !(isNext || evidence.isSample)) return notPossible('previous_close', 'no_bars')
  const step = (priceStep(instrument, before.close) * TOLERANCE.priceSteps) / before.close
  const cash = dividends?.find(({ exDate }) => exDate === day)?.cashPerShare ?? 0
  const away = Math.abs(quote.prevClose / before.close - 1)
  const allowed = TOLERANCE.quoteShare + step + (cash / before.close) * 1.2
  if (away <= allowed) return pass('previous_close')
  const verdict = away <= TOLERANCE.previousCloseFailShare + allowed - TOLERANCE.quoteShare ? 'warn' : 'fail'
  const told = { detail: 'differs' as const, date: before.date, expected: before.close, found: quote.prevClose }
  return { findings: [finding('previous_close', verdict, { touches: PRICES, ...told })] }
}

/** The day of a quote without a time: the running session, else the newest completed one. */
function assumedDay({ instrument: { market }, now, isSample, bars }: Evidence): string {
  if (isSample) return bars.at(-1)?.date ?? ''
  const phase = marketPhaseSummary({ market, epochMs: now })
  const running = phase.is_partial_bar ? phase.session_date : null
  return running ?? lastCompletedSession(market, now)
}

/** After the close, price and bar of one day must be equal. */
export function sameDayClose(evidence: Evidence): Checked {
  const { quote, bars, instrument, now, isSample } = evidence
  if (quote === null) return notPossible('same_day_close', 'no_quote')
  const day = quoteDay(evidence) ?? assumedDay(evidence)
  const bar = bars.findLast(({ date }) => date === day)
  if (bar === undefined) return notPossible('same_day_close', 'no_bars')
  const isOver = isSample || !isTradingDay(instrument.market, day) || now >= sessionEnd(instrument.market, day)
  if (!isOver) return notPossible('same_day_close', 'in_session')
  const away = Math.abs(quote.price / bar.close - 1)
  const step = (priceStep(instrument, bar.close) * TOLERANCE.priceSteps) / bar.close
  if (away <= TOLERANCE.quoteShare + step) return pass('same_day_close')
  const verdict = away <= TOLERANCE.sameDayFailShare + step ? 'warn' : 'fail'
  const told = { detail: 'differs' as const, date: bar.date, expected: bar.close, found: quote.price }
  return { findings: [finding('same_day_close', verdict, { touches: PRICES, ...told })] }
}

/** Renminbi counters in Hong Kong begin with an eight. */
const isRenminbiCounter = ({ market, code }: Evidence['instrument']): boolean =>
  market === 'hk' && /^8\d{4}$/.test(code)

/** The quote's currency must be the listing's. */
export function currency({ quote, instrument }: Evidence): Checked {
  if (instrument.kind === 'index') return pass('currency')
  if (quote === null) return notPossible('currency', 'no_quote')
  if (quote.currency === null) return notPossible('currency', 'not_told')
  const usual = isRenminbiCounter(instrument) ? 'CNY' : currencyOf(instrument)
  if (quote.currency === usual) return pass('currency')
  const told = { detail: 'other_money' as const, expected: usual, found: quote.currency }
  return { findings: [finding('currency', 'warn', { touches: PRICES, ...told })] }
}

/**
 * Bars and quote of one source can be wrong together. When they differ, or a limit is violated, another source is
 * requested, and this check reports which of them it confirms.
 */
export function secondSource(evidence: Evidence): Checked {
  const { quote, bars, barsSource, quoteSource, second, instrument } = evidence
  if (bars.length === 0) return notPossible('second_source', 'no_bars')
  if (second === undefined) {
    if (quote === null) return notPossible('second_source', 'no_quote')
    return barsSource !== quoteSource ? pass('second_source') : notPossible('second_source', 'same_source')
  }
  if (second === null || !isOfOneDay(evidence)) return notPossible('second_source', 'no_second')
  const isBars = agreesWithBars(evidence)
  const isQuote = quote === null ? null : isConfirmed(evidence)
  if (isBars && isQuote !== false) return pass('second_source')
  const found = `${pairOf(second.quote, instrument)} (${second.source})`
  const told = {
    touches: PRICES,
    expected: quote === null ? (bars.at(-1)?.close ?? null) : pairOf(quote, instrument),
    found,
  }
  if (isBars) return { findings: [finding('second_source', 'warn', { ...told, detail: 'second_bars' })] }
  if (isQuote) return { findings: [finding('second_source', 'warn', { ...told, detail: 'second_quote' })] }
  return { findings: [finding('second_source', 'fail', { ...told, detail: 'second_neither' })] }
}

/** The price and the previous close: either may be the one that differs. */
function pairOf({ price, prevClose }: Quote, instrument: Instrument): string {
  const digits = Math.max(2, Math.ceil(-Math.log10(priceStep(instrument, price))))
  const shown = (value: number) => (Math.abs(value) < MOST.price ? value.toFixed(digits) : value.toExponential(2))
  return `${shown(price)} / ${shown(prevClose)}`
}

/** Quotes of two different days cannot be compared. */
function isOfOneDay({ instrument: { market }, quote, second }: Evidence): boolean {
  if (!second || second.quote.quotedAt === null) return second !== null && second !== undefined
  if (quote === null || quote.quotedAt === null) return true
  return localDate(market, quote.quotedAt) === localDate(market, second.quote.quotedAt)
}

/** Whether another source has the same price and previous close as the quote. */
export function isConfirmed(evidence: Evidence): boolean {
  const { quote, second, instrument, now } = evidence
  if (quote === null || !second || !isOfOneDay(evidence)) return false
  const running = marketPhaseSummary({ market: instrument.market, epochMs: now }).is_partial_bar === true
  const share = running ? TOLERANCE.sameDayFailShare : TOLERANCE.quoteShare
  const isNear = (a: number, b: number, most: number) => Math.abs(a / b - 1) <= most
  const isPrevious = isNear(second.quote.prevClose, quote.prevClose, TOLERANCE.quoteShare)
  return isPrevious && isNear(second.quote.price, quote.price, share)
}

/** Whether the other source's price and previous close agree with the bars, by the same checks as for the quote. */
function agreesWithBars(evidence: Evidence): boolean {
  const other = { ...evidence, quote: evidence.second?.quote ?? null }
  const findings = [...previousClose(other).findings, ...sameDayClose(other).findings]
  const verdicts = findings.map(({ verdict }) => verdict)
  return verdicts.includes('pass') && !verdicts.includes('warn') && !verdicts.includes('fail')
}
