// The strategies that a request may name. Each is a list of conditions on the computed view. They judge beside the
// score and never change it; the confidence of a purchase is reduced when every chosen strategy contradicts it.

import type { Bar, Quote } from '../../market/bars.ts'
import type { CompanyValue } from '../../market/company.ts'
import type { NewsResult } from '../../news/search.ts'
import type { ChartCheck, CheckKey, OtherCheck, SkillId, SkillVerdict } from '../codes.ts'
import type { Company, FlowView } from '../gather/company.ts'
import type { ReportLanguage } from '../schemas.ts'
import { textsOf } from '../texts/book.ts'
import type { Technical } from './signals.ts'

/** In the order in which they are offered. */
const CHECKS: Record<SkillId, readonly CheckKey[]> = {
  bull_trend: ['averages_rise', 'above_ma20', 'not_chasing', 'macd_rises'],
  ma_golden_cross: ['golden_cross', 'above_ma20', 'not_chasing', 'heavy_volume'],
  volume_breakout: ['breaks_high', 'heavy_volume', 'rsi_not_hot'],
  hot_theme: ['in_hot_board', 'money_flows_in', 'above_ma20'],
  shrink_pullback: ['averages_rise', 'shrinking_volume', 'near_short_average'],
  event_driven: ['has_news', 'heavy_volume', 'turns_up'],
  box_oscillation: ['narrow_box', 'at_box_bottom', 'rsi_not_hot'],
  growth_quality: ['sales_grow', 'profit_grows', 'good_roe', 'fair_price'],
  bottom_volume: ['long_fall', 'heavy_volume', 'turns_up'],
  expectation_repricing: ['profit_grows', 'margin_widens', 'has_news', 'not_chasing'],
  chan_theory: ['bottom_fractal', 'macd_rises', 'turns_up'],
  wave_theory: ['rising_turns', 'golden_retracement', 'above_ma20'],
  dragon_head: ['leads_board', 'in_hot_board', 'heavy_volume', 'money_flows_in'],
  emotion_cycle: ['rsi_cold', 'calm_turnover', 'shrinking_volume'],
  one_yang_three_yin: ['yang_rest_yang', 'averages_rise', 'above_ma20'],
}

const SKILL_IDS = Object.keys(CHECKS) as SkillId[]
export const DEFAULT_SKILL: SkillId = 'bull_trend'

export type SkillFinding = {
  id: SkillId
  name: string
  description: string
  verdict: SkillVerdict
  verdictLabel: string
  met: string[]
  unmet: string[]
  /** Conditions whose answer is unknown. */
  unknown: string[]
}

export type Skill = { id: SkillId; name: string; description: string }

export function listSkills(language: ReportLanguage): Skill[] {
  return SKILL_IDS.map((id) => ({ id, ...textsOf(language).skills.skill[id] }))
}

export type ChosenSkills = { known: SkillId[]; unknown: string[] }

/** The strategies that a request names, without duplicates, and the unknown names. */
export function chosenSkills(ids: readonly string[] | null): ChosenSkills {
  const distinct = [...new Set(ids ?? [])]
  const isKnown = (id: string): id is SkillId => Object.hasOwn(CHECKS, id)
  return { known: distinct.filter(isKnown), unknown: distinct.filter((id) => !isKnown(id)) }
}

/** The findings of the strategies; without a price no condition can be evaluated. */
export function skillFindings(
  ids: readonly SkillId[],
  view: SkillView | null,
  language: ReportLanguage,
): SkillFinding[] {
  const texts = textsOf(language).skills
  return ids.map((id) => {
    const answers = CHECKS[id].map((check) => {
      return { text: texts.check[check], answer: view === null ? null : answerTo(check, view) }
    })
    const told = (answer: boolean | null) => answers.filter((one) => one.answer === answer).map(({ text }) => text)
    const [met, unmet, unknown] = [told(true), told(false), told(null)]
    const verdict = verdictOf(met.length, unmet.length, unknown.length)
    return { id, ...texts.skill[id], verdict, verdictLabel: texts.verdict[verdict], met, unmet, unknown }
  })
}

/** A strategy does not fit as long as a part of it is unknown. */
function verdictOf(met: number, unmet: number, unknown: number): SkillVerdict {
  if (met + unmet === 0) return 'unknown'
  if (unmet === 0) return unknown === 0 ? 'fits' : 'partly'
  return met > unmet ? 'partly' : 'not'
}

/** Whether every strategy with an answer contradicts a purchase. */
export function speaksAgainst(findings: readonly SkillFinding[]): boolean {
  const told = findings.filter(({ verdict }) => verdict !== 'unknown')
  return told.length > 0 && told.every(({ verdict }) => verdict === 'not')
}

// The conditions of the strategies, each a function of the computed view. Null: it cannot be answered with the known
// data, which differs from no.

export type SkillView = {
  /** Null while there are too few bars: then only conditions without a chart can be answered. */
  technical: Technical | null
  bars: readonly Bar[]
  /** The session of the last bar is still running. */
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
/** In a running session the volume can only grow: "heavy" and "no longer shrinking" stay true. */
const unlessPartial =
  ({ partial }: ChartView, stands: boolean) =>
  (answer: Answer): Answer =>
    partial === true && answer !== stands ? null : answer
const near = (price: number, level: number | null, share: number): Answer =>
  level === null || level <= 0 ? null : Math.abs(price / level - 1) <= share

type Window = { low: number; high: number; last: number }

/** The range of the last `count` bars, and their last close; null when there are fewer. */
function windowOf(bars: readonly Bar[], count: number): Window | null {
  const window = bars.slice(-count)
  const last = window.at(-1)?.close
  if (window.length < count || last === undefined) return null
  return { low: Math.min(...window.map((bar) => bar.low)), high: Math.max(...window.map((bar) => bar.high)), last }
}

/** The position of the price in the range of the last `count` bars: 0 at their low, 1 at their high. */
function placeIn(bars: readonly Bar[], count: number): number | null {
  const window = windowOf(bars, count)
  if (window === null) return null
  const { low, high, last } = window
  return high === low ? 0.5 : (last - low) / (high - low)
}

/** Height of the last `count` bars in percent of their low. */
function heightPct(bars: readonly Bar[], count: number): number | null {
  const window = windowOf(bars, count)
  return window !== null && window.low > 0 ? (window.high / window.low - 1) * 100 : null
}

function fallFromHighPct(bars: readonly Bar[], count: number): number | null {
  const window = windowOf(bars, count)
  return window !== null && window.high > 0 ? (1 - window.last / window.high) * 100 : null
}

const average = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

function crossedUp({ bars }: SkillView): Answer {
  const closes = bars.slice(-15).map(({ close }) => close)
  if (closes.length < 13) return null
  const gap = (end: number) => average(closes.slice(end - 5, end)) - average(closes.slice(end - 10, end))
  const gaps = [closes.length - 3, closes.length - 2, closes.length - 1, closes.length].map(gap)
  return (gaps.at(-1) ?? 0) > 0 && gaps.slice(0, -1).some((value) => value <= 0)
}

/** A long rise, three small bars inside it that stay above its open, and a close above it. */
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

/** The last fall retraced between 38 and 62 percent of the rise before it. */
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

/** The newest turning point is a low that no later bar has broken. */
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

/** Conditions that need no chart. */
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
