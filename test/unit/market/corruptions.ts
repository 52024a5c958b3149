// What can be wrong with figures that come from a source, each at or above the least magnitude that the checks promise to see.

import type { Bar, Quote } from '../../../src/market/bars.ts'
import { addDays, isCalendarKnown, isTradingDay, localDate, marketPhaseSummary } from '../../../src/market/calendar.ts'
import type { CheckKey, Evidence } from '../../../src/market/consistency/types.ts'
import { between, cleanSeries, pick, type Random } from './series-evidence.ts'

export type Corruption = {
  /** The checks of which at least one must speak. */
  seenBy: readonly CheckKey[]
  /** What the series is like, with and without the corruption. */
  of?: (evidence: Evidence) => Evidence
  /** Null where this series cannot have it. */
  corrupt: (evidence: Evidence, random: Random) => Evidence | null
}

const isRunning = ({ instrument: { market }, now }: Evidence): boolean =>
  marketPhaseSummary({ market, epochMs: now }).is_partial_bar === true

type BarChange = (bar: Bar, random: Random, evidence: Evidence) => Bar

const FIRST = 25

const withoutQuote = (evidence: Evidence): Evidence => ({ ...evidence, quote: null })

/** One bar somewhere behind the first sessions. */
const atOne =
  (change: BarChange, last = 0) =>
  (evidence: Evidence, random: Random): Evidence | null => {
    const { bars } = evidence
    if (bars.length < FIRST + 5) return null
    const at = Math.floor(between(random, FIRST, bars.length - last))
    return withBars(
      evidence,
      bars.map((bar, i) => (i === at ? change(bar, random, evidence) : bar)),
    )
  }

/** Bars before an index, as a source gives them that did not adjust. */
function before(evidence: Evidence, at: number, factor: number): Evidence {
  const scaled = evidence.bars.map((bar, i) => {
    if (i >= at) return bar
    const move = (price: number) => price * factor
    const { open, high, low, close, volume } = bar
    const prices = { open: move(open), high: move(high), low: move(low), close: move(close) }
    return { ...bar, ...prices, volume: Math.round(volume / factor) }
  })
  return withBars(evidence, scaled)
}

const withBars = (evidence: Evidence, bars: readonly Bar[]): Evidence => ({ ...evidence, bars })

const withQuote =
  (change: (quote: Quote, random: Random) => Partial<Quote>) => (evidence: Evidence, random: Random) => {
    const { quote } = evidence
    return quote === null ? null : { ...evidence, quote: { ...quote, ...change(quote, random) } }
  }

const scaledQuote = (factor: number) =>
  withQuote(({ price, prevClose, open, high, low, change }) => ({
    price: price * factor,
    prevClose: prevClose * factor,
    open: open === null ? null : open * factor,
    high: high === null ? null : high * factor,
    low: low === null ? null : low * factor,
    change: change * factor,
  }))

/** What the price would be after a move, with everything that goes with it. */
const moved = (share: number) =>
  withQuote(({ prevClose }) => {
    const price = prevClose * (1 + share)
    return { price, high: price, low: prevClose, open: prevClose, change: price - prevClose, changePct: share * 100 }
  })

/** The moves that no day of this market has. */
const widest = ({ instrument }: Evidence): number =>
  ['hk', 'us'].includes(instrument.market) ? 0.5 : instrument.market === 'cn' ? 0.34 : 0.45

function anotherStock(evidence: Evidence, random: Random): Evidence | null {
  if (evidence.quote === null || evidence.quote.quotedAt === null) return null
  const own = evidence.bars.at(-1)?.close ?? 0
  for (;;) {
    const { bars } = cleanSeries(random, { quoted: false, key: evidence.instrument.key }).evidence
    const other = bars.slice(-evidence.bars.length)
    // Another price: one within a few percent cannot be told from this stock.
    if (other.length < 30 || Math.abs((other.at(-1)?.close ?? 0) / own - 1) < 0.05) continue
    const dates = evidence.bars.slice(-other.length)
    return withBars(
      evidence,
      other.map((bar, i) => ({ ...bar, date: dates[i]?.date ?? bar.date })),
    )
  }
}

const missing = (count: number) => (evidence: Evidence, random: Random) => {
  const { bars } = evidence
  const first = Math.max(0, bars.length - 250)
  if (bars.length - first < count + 25) return null
  const at = Math.floor(between(random, first + 2, bars.length - count - 2))
  // In years without a calendar a day without a bar may be a holiday.
  const isKnown = isCalendarKnown(evidence.instrument.market, bars[at - 1]?.date ?? '')
  if (!isKnown && count <= 10) return null
  return withBars(evidence, [...bars.slice(0, at), ...bars.slice(at + count)])
}

const ended = (count: number) => (evidence: Evidence) =>
  evidence.bars.length > count + 25 ? withBars(evidence, evidence.bars.slice(0, -count)) : null

function closedDay(evidence: Evidence, random: Random): Evidence | null {
  const { bars, instrument } = evidence
  const closed = bars.flatMap(({ date }, i) => {
    const next = addDays(date, 1)
    return i >= FIRST && !isTradingDay(instrument.market, next) && i < bars.length - 1 ? [i] : []
  })
  if (closed.length === 0) return null
  const at = pick(random, closed)
  const bar = bars[at] as Bar
  const extra = {
    ...bar,
    date: addDays(bar.date, 1),
    close: bar.close * 1.01,
    high: Math.max(bar.high, bar.close * 1.01),
  }
  return withBars(evidence, [...bars.slice(0, at + 1), extra, ...bars.slice(at + 1)])
}

const repeated = (isSame: boolean) => (evidence: Evidence, random: Random) => {
  const { bars } = evidence
  const at = Math.floor(between(random, FIRST, bars.length))
  const bar = bars[at]
  if (bar === undefined) return null
  const again = isSame ? bar : { ...bar, close: bar.low, high: bar.high * 1.01 }
  return withBars(evidence, [...bars.slice(0, at + 1), again, ...bars.slice(at + 1)])
}

const split = (ago: number) => (evidence: Evidence, random: Random) => {
  const { bars } = evidence
  const factor = pick(random, [10, 5, 2, 0.1, 0.5])
  return bars.length < FIRST + ago ? null : before(evidence, bars.length - ago, factor)
}

/** A dividend larger than any ordinary day. */
function dividend(evidence: Evidence, random: Random): Evidence | null {
  const share = ['hk', 'us'].includes(evidence.instrument.market) ? 0.45 : widest(evidence) + 0.1
  const at = Math.floor(between(random, FIRST, evidence.bars.length - 1))
  const { bars } = before(evidence, at, 1 / (1 - share))
  return withBars(
    evidence,
    bars.map((bar, i) => ({ ...bar, volume: evidence.bars[i]?.volume ?? 0 })),
  )
}

const inLots = (evidence: Evidence): Evidence =>
  withBars(
    evidence,
    evidence.bars.map((bar) => ({ ...bar, volume: Math.round(bar.volume / 100) })),
  )

/** Lots from some day on; turnover, where it is told, stays. */
function lotsSince(evidence: Evidence, random: Random): Evidence | null {
  const at = Math.floor(between(random, FIRST, evidence.bars.length - 6))
  if (at < FIRST) return null
  const bars = evidence.bars.map((bar, i) => (i < at ? bar : { ...bar, volume: bar.volume * 100 }))
  return withBars(evidence, bars)
}

const OTHER_MONEY: Record<string, string> = { CNY: 'USD', USD: 'CNY', HKD: 'CNY', JPY: 'USD', KRW: 'USD', TWD: 'USD' }
const TICK: readonly CheckKey[] = ['bad_tick', 'price_order', 'price_limit', 'corporate_action', 'magnitude']

export const CORRUPTIONS: Record<string, Corruption> = {
  'a quote ten times the bars': {
    seenBy: ['previous_close', 'same_day_close', 'quote_limit'],
    corrupt: scaledQuote(10),
  },
  'a price ten times, alone': { seenBy: ['quote_order', 'quote_limit', 'quote_change'], corrupt: moved(9) },
  'a move beyond the limit': {
    seenBy: ['quote_limit', 'same_day_close'],
    corrupt: (evidence, random) => moved(widest(evidence))(evidence, random),
  },
  'a move of 557,100 %': { seenBy: ['quote_limit', 'same_day_close'], corrupt: moved(5571) },
  "another stock's bars": { seenBy: ['previous_close', 'same_day_close', 'quote_limit'], corrupt: anotherStock },
  'a quote a few percent away': {
    seenBy: ['same_day_close'],
    corrupt: (evidence, random) => {
      // While a session runs, such a price cannot be told from a move.
      if (evidence.quote?.quotedAt == null || isRunning(evidence)) return null
      return withQuote(({ price, prevClose }) => {
        const next = price * pick(random, [0.97, 1.03])
        const change = next - prevClose
        return {
          price: next,
          high: next * 1.01,
          low: next * 0.99,
          open: next,
          change,
          changePct: (change / prevClose) * 100,
        }
      })(evidence, random)
    },
  },
  'another previous close': {
    seenBy: ['previous_close'],
    corrupt: withQuote(({ price, prevClose }) => {
      const other = prevClose * 0.975
      return { prevClose: other, change: price - other, changePct: (price / other - 1) * 100 }
    }),
  },
  'a change that is not its own': {
    seenBy: ['quote_change'],
    corrupt: withQuote(({ changePct }, random) => ({ changePct: changePct + pick(random, [-3, 0.5, 4]) })),
  },
  'a split, three bars ago': { seenBy: ['corporate_action', 'price_limit', 'bad_tick'], corrupt: split(3) },
  'a split, forty bars ago': { seenBy: ['corporate_action', 'price_limit', 'bad_tick'], corrupt: split(40) },
  'a split, today': { seenBy: ['corporate_action', 'price_limit', 'bad_tick'], corrupt: split(1) },
  'a large dividend left in': { seenBy: ['corporate_action', 'price_limit', 'bad_tick'], corrupt: dividend },
  'one high, ten times': { seenBy: TICK, corrupt: atOne((bar) => ({ ...bar, high: bar.high * 10 })) },
  'one high, twice': { seenBy: TICK, corrupt: atOne((bar) => ({ ...bar, high: bar.high * 2 })) },
  'one low, a tenth': { seenBy: TICK, corrupt: atOne((bar) => ({ ...bar, low: bar.low / 10 })) },
  'one low, a half': { seenBy: TICK, corrupt: atOne((bar) => ({ ...bar, low: bar.low / 2 })) },
  'one close, twice': {
    seenBy: TICK,
    corrupt: atOne((bar) => ({ ...bar, close: bar.close * 2, high: Math.max(bar.high, bar.close * 2) })),
  },
  'one close, a half': {
    seenBy: TICK,
    corrupt: atOne((bar) => ({ ...bar, close: bar.close / 2, low: Math.min(bar.low, bar.close / 2) })),
  },
  'a high below the low': {
    seenBy: ['price_order'],
    corrupt: atOne((bar) => ({ ...bar, high: bar.low * 0.98, low: bar.high * 1.02 })),
  },
  'a close above the high': { seenBy: ['price_order'], corrupt: atOne((bar) => ({ ...bar, close: bar.high * 1.01 })) },
  'a price below zero': { seenBy: ['magnitude'], corrupt: atOne((bar) => ({ ...bar, low: -bar.low })) },
  'a price of zero': { seenBy: ['magnitude'], corrupt: atOne((bar) => ({ ...bar, open: 0 })) },
  'a price of 1e300': { seenBy: ['magnitude'], corrupt: atOne((bar) => ({ ...bar, high: 1e300, close: 1e300 })) },
  'a quote of 1e300': { seenBy: ['magnitude'], corrupt: withQuote(() => ({ price: 1e300 })) },
  'a volume of 1e300': { seenBy: ['magnitude'], corrupt: atOne((bar) => ({ ...bar, volume: 1e300 })) },
  'one missing session': { seenBy: ['missing_sessions'], corrupt: missing(1) },
  '12 missing sessions': { seenBy: ['missing_sessions', 'corporate_action'], corrupt: missing(12) },
  '120 missing sessions': { seenBy: ['missing_sessions', 'corporate_action'], corrupt: missing(120) },
  'bars that end two sessions early': { of: withoutQuote, seenBy: ['stale_bars'], corrupt: ended(2) },
  'bars that end thirty sessions early': { of: withoutQuote, seenBy: ['stale_bars'], corrupt: ended(30) },
  'an old quote': {
    seenBy: ['stale_quote'],
    corrupt: withQuote(({ price }) => ({ quotedAt: Date.parse('2023-06-01T08:00:00Z'), price: price * 0.9 })),
  },
  'a bar of a closed day': { seenBy: ['non_sessions'], corrupt: closedDay },
  'a bar of tomorrow': {
    seenBy: ['future_dates'],
    corrupt: (evidence) => {
      const last = evidence.bars.at(-1) as Bar
      let date = addDays(localDate(evidence.instrument.market, evidence.now), 1)
      while (!isTradingDay(evidence.instrument.market, date)) date = addDays(date, 1)
      return withBars(evidence, [...evidence.bars, { ...last, date, close: last.close * 1.02, high: last.high * 1.02 }])
    },
  },
  'a quote of next week': {
    seenBy: ['future_dates'],
    corrupt: (evidence) => {
      const { quote, now } = evidence
      return quote && { ...evidence, quote: { ...quote, price: quote.price * 1.03, quotedAt: now + 7 * 86_400_000 } }
    },
  },
  'a bar twice': { seenBy: ['duplicate_dates'], corrupt: repeated(true) },
  'two bars of one day': { seenBy: ['duplicate_dates'], corrupt: repeated(false) },
  'bars out of order': {
    seenBy: ['duplicate_dates'],
    corrupt: (evidence) => {
      const { bars } = evidence
      return withBars(evidence, [...bars.slice(0, -5), ...bars.slice(-3), ...bars.slice(-5, -3)])
    },
  },
  'other money': {
    seenBy: ['currency'],
    corrupt: withQuote(({ currency }) => ({ currency: OTHER_MONEY[currency ?? ''] ?? 'USD' })),
  },
  'volumes in lots, beside a quote in shares': {
    seenBy: ['volume_units'],
    corrupt: (evidence) => (evidence.quote?.quotedAt == null ? null : inLots(evidence)),
  },
  'volumes in lots, beside turnover': {
    of: withoutQuote,
    seenBy: ['volume_units'],
    corrupt: (evidence) => (evidence.bars.at(-1)?.amount == null ? null : inLots(evidence)),
  },
  'a turnover rate a hundred times': {
    seenBy: ['volume_units'],
    corrupt: (evidence) => {
      const { quote } = evidence
      if (!quote?.volume || evidence.instrument.kind === 'index') return null
      return { ...evidence, quote: { ...quote, turnoverRatePct: (quote.turnoverRatePct ?? 0) * 100 } }
    },
  },
  'market values in another unit': {
    seenBy: ['magnitude', 'volume_units'],
    corrupt: withQuote(({ totalMarketValue, circulatingMarketValue }, random) => {
      const factor = pick(random, [1e-8, 1e8])
      return {
        totalMarketValue: (totalMarketValue ?? 0) * factor,
        circulatingMarketValue: (circulatingMarketValue ?? 0) * factor,
      }
    }),
  },
  'volumes of another unit from some day on': { of: withoutQuote, seenBy: ['volume_units'], corrupt: lotsSince },
}
