// Computes the stored figures of a listing from a quote or from bars. Every figure has the day of its session, and must
// pass the same checks as the figures of a report: a figure that fails a check is stored as unknown, with the name of
// the check.

import type { Bar, Fetched, ProviderRun, Quote } from '../market/bars.ts'
import { isTradingDay, lastCompletedSession, localDate, sessionEnd } from '../market/calendar.ts'
import { type Consistency, examinePrices } from '../market/consistency/examine.ts'
import { isNewByName, limitShare } from '../market/consistency/limits.ts'
import { LEAST, TOLERANCE } from '../market/consistency/tolerances.ts'
import { alarms, type CheckKey, type Touch } from '../market/consistency/types.ts'
import { sma } from '../market/indicators/averages.ts'
import { columns, type IndicatorRow, indicatorRow, indicatorSeries } from '../market/indicators/index.ts'
import { yearRange } from '../market/indicators/levels.ts'
import { valueAt } from '../market/indicators/series.ts'
import type { Instrument } from '../market/instruments.ts'
import { BARS_FIELDS, type BarsField, CLOSE_FIELDS, type CloseField } from './fields.ts'

/** The figures of a session are final this long after its end. */
export const SETTLE_MS = 10 * 60_000

export type Figures<Name extends string> = Record<Name, number | null>

export type KeptGroup<Name extends string> = {
  /** The day of the figures. */
  session: string
  source: string
  /** When the source returned them, epoch ms. */
  toldAt: number
  figures: Figures<Name>
  marks: CheckKey[]
}

export type Refusal = 'no_time' | 'not_over' | 'no_session' | 'withheld' | 'no_bars' | 'sample'
export type StoredFigures<Name extends string> = { ok: true; kept: KeptGroup<Name> } | { ok: false; reason: Refusal }

type SourcedValue<T> = { value: T; source: string; toldAt: number }

const NOTHING: { ok: false; runs: ProviderRun[] } = { ok: false, runs: [] }

const fetched = <T>({ value, source }: SourcedValue<T>): Fetched<T> => {
  return { ok: true, value, provider: source, provenance: null, runs: [] }
}

const marksOf = (consistency: Consistency): CheckKey[] => [...new Set(alarms(consistency).map(({ check }) => check))]

/** The newest session that has ended and has final figures. */
export const settledSession = (market: Instrument['market'], now: number): string =>
  lastCompletedSession(market, now - SETTLE_MS)

const WITHHELD_CLOSE: Readonly<Partial<Record<Touch, readonly CloseField[]>>> = {
  change: ['change_pct', 'amplitude_pct'],
  volume: ['volume', 'amount', 'turnover_rate_pct', 'volume_ratio'],
  valuation: ['pe_ratio', 'pb_ratio', 'market_value', 'float_market_value'],
}

/** The figures of a close, from a quote of the day of a finished session. */
export function closeFigures(instrument: Instrument, told: SourcedValue<Quote>): StoredFigures<CloseField> {
  const { source, toldAt } = told
  const { quotedAt } = told.value
  const { market } = instrument
  if (quotedAt === null) return { ok: false, reason: 'no_time' }
  const session = localDate(market, quotedAt)
  if (!isTradingDay(market, session)) return { ok: false, reason: 'no_session' }
  if (session > settledSession(market, toldAt)) return { ok: false, reason: 'not_over' }
  // It is checked as of the end of its own session: a suspended listing keeps the figures of its last day under that
  // day.
  const now = sessionEnd(market, session) + SETTLE_MS
  const { consistency, quote: examined } = examinePrices(
    instrument,
    { bars: NOTHING, quote: fetched(told) },
    { dividends: null, now: Math.max(now, quotedAt) },
  )
  if (consistency.withheld.includes('price') || examined === null) return { ok: false, reason: 'withheld' }
  const figures = figuresOfQuote(examined)
  const isBeyond = isBeyondLimit(instrument, examined, session)
  if (isBeyond) Object.assign(figures, { change_pct: null, amplitude_pct: null })
  const marks = [...marksOf(consistency), ...(isBeyond ? (['quote_limit'] as const) : [])]
  const kept = { session, source, toldAt, figures: finite(figures), marks }
  return { ok: true, kept: without(kept, consistency, WITHHELD_CLOSE) }
}

/**
 * A move larger than any session allows. Without bars, the first days of a listing, which have no limit, cannot be
 * distinguished from a wrong previous close: so the change is stored as unknown, with a mark.
 */
function isBeyondLimit(instrument: Instrument, { price, prevClose, name }: Quote, session: string): boolean {
  if (isNewByName(name)) return false
  const limit = limitShare({ instrument, date: session, previousClose: prevClose, isAdjusted: false, name })
  const most = limit === null ? LEAST.impossibleJump - 1 : limit * (1 + TOLERANCE.limitSlack)
  return Math.abs(price / prevClose - 1) > most
}

function figuresOfQuote(quote: Quote): Figures<CloseField> {
  const { price, prevClose, high, low } = quote
  return {
    price,
    change_pct: quote.changePct,
    amplitude_pct: high === null || low === null ? null : ((high - low) / prevClose) * 100,
    volume: quote.volume,
    amount: quote.amount,
    turnover_rate_pct: quote.turnoverRatePct,
    volume_ratio: quote.volumeRatio,
    pe_ratio: quote.peRatio,
    pb_ratio: quote.pbRatio,
    market_value: quote.totalMarketValue,
    float_market_value: quote.circulatingMarketValue,
  }
}

/** A value that is not a number is unknown. */
function finite<Name extends string>(figures: Figures<Name>): Figures<Name> {
  const entries = Object.entries<number | null>(figures)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, value !== null && Number.isFinite(value) ? value : null]),
  ) as Figures<Name>
}

function without<Name extends string>(
  kept: KeptGroup<Name>,
  { withheld }: Consistency,
  table: Readonly<Partial<Record<Touch, readonly Name[]>>>,
): KeptGroup<Name> {
  const figures = { ...kept.figures }
  for (const touch of withheld) for (const name of table[touch] ?? []) figures[name] = null
  return { ...kept, figures }
}

const HISTORY: readonly BarsField[] = BARS_FIELDS.filter((name) => !/^average_|_52w|^(high|low)_/.test(name))
const WITHHELD_BARS: Readonly<Partial<Record<Touch, readonly BarsField[]>>> = {
  price: BARS_FIELDS,
  averages: HISTORY,
  range: ['high_52w', 'low_52w', 'from_high_52w_pct', 'from_low_52w_pct', 'max_drawdown_250d_pct'],
  levels: ['high_52w', 'low_52w', 'from_high_52w_pct', 'from_low_52w_pct'],
  volume: ['average_volume_20d', 'average_turnover_20d'],
}

export type BarsKept = { bars: KeptGroup<BarsField>; close: KeptGroup<CloseField> | null }

/**
 * The figures from bars, and the close of the last bar. A bar of a session that had not ended when it was fetched is
 * left out, because its figures would be those of an arbitrary minute.
 */
export function barsFigures(
  instrument: Instrument,
  told: SourcedValue<readonly Bar[]>,
): { ok: true; kept: BarsKept } | { ok: false; reason: Refusal } {
  const { source, toldAt } = told
  const until = settledSession(instrument.market, toldAt)
  const whole = told.value.filter(({ date }) => date <= until)
  if (whole.length === 0) return { ok: false, reason: 'no_bars' }
  const { bars, consistency } = examinePrices(
    instrument,
    { bars: fetched({ value: whole, source, toldAt }), quote: NOTHING },
    { dividends: null, now: toldAt },
  )
  const last = bars.at(-1)
  if (last === undefined) return { ok: false, reason: 'no_bars' }
  const row = indicatorRow(indicatorSeries(columns(bars)), -1)
  const common = { session: last.date, source, toldAt, marks: marksOf(consistency) }
  const figures = finite(seriesFigures(bars, row))
  const group = without({ ...common, figures }, consistency, WITHHELD_BARS)
  const close = without({ ...common, figures: finite(lastBar(bars, row)) }, consistency, WITHHELD_CLOSE)
  return { ok: true, kept: { bars: group, close: consistency.withheld.includes('price') ? null : close } }
}

const fromLevel = (close: number, level: number | null): number | null =>
  level === null || level <= 0 ? null : (close / level - 1) * 100

function seriesFigures(bars: readonly Bar[], row: IndicatorRow): Figures<BarsField> {
  const close = bars.at(-1)?.close ?? Number.NaN
  const range = yearRange(bars)
  const volumes = sma(
    bars.map(({ volume }) => volume),
    AVERAGED,
  )
  const averageVolume = valueAt(volumes, volumes.length - 1)
  return {
    ...{ ma5: row.ma5, ma10: row.ma10, ma20: row.ma20, ma60: row.ma60, ma120: row.ma120, ma250: row.ma250 },
    above_ma20_pct: fromLevel(close, row.ma20),
    above_ma60_pct: fromLevel(close, row.ma60),
    above_ma250_pct: fromLevel(close, row.ma250),
    ...{ rsi_6: row.rsi6, rsi_12: row.rsi12, rsi_24: row.rsi24 },
    ...{ macd_dif: row.dif, macd_dea: row.dea, macd_bar: row.histogram },
    ...{ return_5d_pct: row.return5, return_20d_pct: row.return20 },
    ...{ return_60d_pct: row.return60, return_250d_pct: row.return250 },
    high_52w: range?.high ?? null,
    low_52w: range?.low ?? null,
    from_high_52w_pct: fromLevel(close, range?.high ?? null),
    from_low_52w_pct: fromLevel(close, range?.low ?? null),
    volatility_60d_pct: row.volatility60,
    max_drawdown_250d_pct: row.maxDrawdown250,
    average_turnover_20d: row.turnover20,
    // If there is no volume in twenty sessions, the source does not report it.
    average_volume_20d: averageVolume !== null && averageVolume > 0 ? averageVolume : null,
  }
}

const AVERAGED = 20

function lastBar(bars: readonly Bar[], row: IndicatorRow): Figures<CloseField> {
  const [before, last] = bars.slice(-2)
  const empty = Object.fromEntries(CLOSE_FIELDS.map((name) => [name, null])) as Figures<CloseField>
  if (before === undefined || last === undefined) return { ...empty, price: (last ?? before)?.close ?? null }
  return {
    ...empty,
    price: last.close,
    change_pct: (last.close / before.close - 1) * 100,
    amplitude_pct: ((last.high - last.low) / before.close) * 100,
    volume: last.volume > 0 ? last.volume : null,
    amount: last.amount,
    volume_ratio: row.volumeRatio,
  }
}

/**
 * Whether a close and the bar of the same session have the same price: `false` if the difference is larger than any
 * rounding, `null` if it is unclear.
 */
export function isSameClose(price: number, barClose: number): boolean | null {
  const share = Math.abs(barClose / price - 1)
  if (share > TOLERANCE.sameDayFailShare) return false
  return share > TOLERANCE.quoteShare ? null : true
}
