// The conditions that strategies are made of, each a question to the computed view. Null: it cannot be answered with what is
// known, which is not the same as no.

import type { Bar, Quote } from '../../market/bars.ts'
import type { CompanyValue } from '../../market/valuation.ts'
import type { NewsResult } from '../../news/search.ts'
import type { ChartCheck, CheckKey, OtherCheck } from '../codes.ts'
import type { Company, FlowView } from '../gather/company.ts'
import type { Technical } from './signals.ts'

export type SkillView = {
  /** Null while there are too few bars: then only what is not read from a chart can be answered. */
  technical: Technical | null
  bars: readonly Bar[]
  /** The last bar is of a session that still runs. */
  partial?: boolean
  price: number
  quote: Quote | null
  flow: FlowView
  value: CompanyValue | null
  company: Company
  news: NewsResult | null
  stockName: string
}

type ChartView = SkillView & { technical: Technical }
type Answer = boolean | null
type Question<View> = (view: View) => Answer

const compare = (a: number | null, b: number | null, holds: (a: number, b: number) => boolean): Answer =>
  a === null || b === null ? null : holds(a, b)
const ratio = ({ technical }: ChartView) => technical.indicators.volumeRatio
/** A session that still runs can only add volume: that it is heavy, or no longer shrinking, stands. */
const unlessPartial =
  ({ partial }: ChartView, stands: boolean) =>
  (answer: Answer): Answer =>
    partial === true && answer !== stands ? null : answer
const near = (price: number, level: number | null, share: number): Answer =>
  level === null || level <= 0 ? null : Math.abs(price / level - 1) <= share

/** The part of the last `count` bars that the price stands at: 0 at their low, 1 at their high. */
function placeIn(bars: readonly Bar[], count: number): number | null {
  const window = bars.slice(-count)
  if (window.length < count) return null
  const low = Math.min(...window.map((bar) => bar.low))
  const high = Math.max(...window.map((bar) => bar.high))
  const last = window.at(-1)?.close ?? low
  return high === low ? 0.5 : (last - low) / (high - low)
}

/** Height of the last `count` bars in percent of their low. */
function heightPct(bars: readonly Bar[], count: number): number | null {
  const window = bars.slice(-count)
  if (window.length < count) return null
  const low = Math.min(...window.map((bar) => bar.low))
  const high = Math.max(...window.map((bar) => bar.high))
  return low > 0 ? (high / low - 1) * 100 : null
}

function fallFromHighPct(bars: readonly Bar[], count: number): number | null {
  const window = bars.slice(-count)
  if (window.length < count) return null
  const high = Math.max(...window.map((bar) => bar.high))
  const last = window.at(-1)?.close ?? high
  return high > 0 ? (1 - last / high) * 100 : null
}

const average = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

function crossedUp({ bars }: SkillView): Answer {
  const closes = bars.slice(-15).map(({ close }) => close)
  if (closes.length < 13) return null
  const gap = (end: number) => average(closes.slice(end - 5, end)) - average(closes.slice(end - 10, end))
  const gaps = [closes.length - 3, closes.length - 2, closes.length - 1, closes.length].map(gap)
  return (gaps.at(-1) ?? 0) > 0 && gaps.slice(0, -1).some((value) => value <= 0)
}

/** A long rise, three small bars inside it that do not undercut its open, and a close above it. */
function oneYangThreeYin({ bars }: SkillView): Answer {
  const [first, a, b, c, last] = bars.slice(-5)
  if (!first || !a || !b || !c || !last) return null
  const rises = first.close > first.open * 1.03
  const rests = [a, b, c].every(({ open, close, low }) => Math.abs(close / open - 1) < 0.025 && low >= first.open)
  return rises && rests && last.close > first.close && last.close > last.open
}

type Turn = { index: number; price: number; isHigh: boolean }

/** Turning points of the last 120 bars, highs and lows in turn. */
function turnsOf(bars: readonly Bar[]): Turn[] {
  const window = bars.slice(-120)
  const turns: Turn[] = []
  for (let i = 3; i < window.length - 3; i++) {
    const around = [...window.slice(i - 3, i), ...window.slice(i + 1, i + 4)]
    const bar = window[i] as Bar
    const isHigh = around.every(({ high }) => high < bar.high)
    if (!isHigh && !around.every(({ low }) => low > bar.low)) continue
    const turn = { index: i, price: isHigh ? bar.high : bar.low, isHigh }
    const before = turns.at(-1)
    if (before === undefined || before.isHigh !== isHigh) turns.push(turn)
    else if (isHigh ? turn.price > before.price : turn.price < before.price) turns[turns.length - 1] = turn
  }
  return turns
}

function risingTurns({ bars }: SkillView): Answer {
  const turns = turnsOf(bars)
  const highs = turns.filter(({ isHigh }) => isHigh).slice(-2)
  const lows = turns.filter(({ isHigh }) => !isHigh).slice(-2)
  if (highs.length < 2 || lows.length < 2) return null
  return (highs[1]?.price ?? 0) > (highs[0]?.price ?? 0) && (lows[1]?.price ?? 0) > (lows[0]?.price ?? 0)
}

/** The last fall took back between 38 and 62 percent of the rise before it. */
function goldenRetracement({ bars }: SkillView): Answer {
  const turns = turnsOf(bars)
  const at = turns.findLastIndex(({ isHigh }) => isHigh)
  const [from, top] = [turns[at - 1], turns[at]]
  if (!from || !top || top.price <= from.price) return null
  const low =
    turns[at + 1]?.price ??
    Math.min(
      ...bars
        .slice(-120)
        .slice(top.index)
        .map((bar) => bar.low),
    )
  const taken = (top.price - low) / (top.price - from.price)
  return taken >= 0.38 && taken <= 0.62
}

/** The newest turn is a low that no bar since has undercut. */
function bottomFractal({ bars }: SkillView): Answer {
  const last = turnsOf(bars).at(-1)
  if (last === undefined) return null
  const since = bars.slice(-120).slice(last.index + 1)
  return !last.isHigh && since.every(({ low }) => low >= last.price)
}

function boardOf({ company }: SkillView) {
  const { boards, rankings } = company
  if (boards.value === null || rankings.value === null) return null
  const top = [...rankings.value.industries.top, ...rankings.value.concepts.top]
  const codes = new Set(boards.value.map(({ code }) => code))
  return top.filter(({ code }) => codes.has(code))
}

const report = ({ company }: SkillView) => company.fundamentals.value?.report ?? null

const QUESTIONS = {
  averages_rise: ({ technical }) => technical.trend === 'bull' || technical.trend === 'strong_bull',
  above_ma20: ({ technical, price }) => compare(price, technical.indicators.ma20, (a, b) => a >= b),
  not_chasing: ({ technical }) => compare(technical.indicators.bias5, 5, (a, b) => a <= b),
  golden_cross: crossedUp,
  macd_rises: ({ technical }) => compare(technical.indicators.histogram, 0, (a, b) => a > b),
  breaks_high: ({ technical, price }) => compare(price, technical.priorHigh20, (a, b) => a > b),
  heavy_volume: (view) => unlessPartial(view, true)(compare(ratio(view), 1.5, (a, b) => a >= b)),
  shrinking_volume: (view) => unlessPartial(view, false)(compare(ratio(view), 0.8, (a, b) => a <= b)),
  near_short_average: ({ technical, price }) => {
    const answers = [near(price, technical.indicators.ma10, 0.02), near(price, technical.indicators.ma20, 0.02)]
    return answers.includes(true) ? true : answers.every((answer) => answer === null) ? null : false
  },
  narrow_box: ({ bars }) => compare(heightPct(bars, 20), 15, (a, b) => a <= b),
  at_box_bottom: ({ bars }) => compare(placeIn(bars, 20), 0.35, (a, b) => a <= b),
  long_fall: ({ bars }) => compare(fallFromHighPct(bars, 60), 15, (a, b) => a >= b),
  turns_up: ({ bars }) => compare(bars.at(-1)?.close ?? null, bars.at(-2)?.close ?? null, (a, b) => a > b),
  rsi_not_hot: ({ technical }) => compare(technical.indicators.rsi12, 70, (a, b) => a <= b),
  rsi_cold: ({ technical }) => compare(technical.indicators.rsi12, 40, (a, b) => a <= b),
  yang_rest_yang: oneYangThreeYin,
  rising_turns: risingTurns,
  golden_retracement: goldenRetracement,
  bottom_fractal: bottomFractal,
} as const satisfies Record<ChartCheck, Question<ChartView>>

/** Questions that no chart is needed for. */
const OTHER_QUESTIONS = {
  money_flows_in: ({ flow }) => (flow.bias === 'unavailable' ? null : flow.bias === 'inflow'),
  in_hot_board: (view) => {
    const boards = boardOf(view)
    return boards === null ? null : boards.length > 0
  },
  leads_board: (view) => {
    const boards = boardOf(view)
    return boards === null ? null : boards.some(({ leader }) => leader === view.stockName)
  },
  has_news: ({ news }) => (news === null || news.count === null ? null : news.count > 0),
  profit_grows: (view) => compare(report(view)?.netProfitYoyPct ?? null, 10, (a, b) => a >= b),
  sales_grow: (view) => compare(report(view)?.revenueYoyPct ?? null, 10, (a, b) => a >= b),
  good_roe: (view) => compare(report(view)?.roePct ?? null, 10, (a, b) => a >= b),
  margin_widens: (view) => {
    const now = report(view)
    return compare(now?.netProfitYoyPct ?? null, now?.revenueYoyPct ?? null, (a, b) => a > b)
  },
  fair_price: ({ value }) => compare(value?.peRatio ?? null, 0, (a) => a > 0 && a <= 40),
  calm_turnover: ({ quote }) => compare(quote?.turnoverRatePct ?? null, 15, (a, b) => a <= b),
} as const satisfies Record<OtherCheck, Question<SkillView>>

const isOther = (check: CheckKey): check is OtherCheck => Object.hasOwn(OTHER_QUESTIONS, check)

export function answerTo(check: CheckKey, view: SkillView): Answer {
  if (isOther(check)) return OTHER_QUESTIONS[check](view)
  const { technical } = view
  return technical === null ? null : QUESTIONS[check]({ ...view, technical })
}
