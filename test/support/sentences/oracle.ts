// The facts of a sheet computed a second time, from its bars by the definitions, without the code of the product.

import type { FactId } from '../../fixtures/sentences/fact-list.ts'
import type { Sheet } from '../../fixtures/sentences/facts.ts'
import type { StateId } from '../../fixtures/sentences/states.ts'
import type { SheetBar } from '../../fixtures/sentences/walk.ts'

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

function round(value: number | null, decimals: number): number | null {
  if (value === null || !Number.isFinite(value)) return null
  const [digits = '0', power = '0'] = String(Math.abs(value) * (1 + 1e-12)).split('e')
  const whole = Math.round(Number(`${digits}e${Number(power) + decimals}`))
  return (Math.sign(value) * whole) / 10 ** decimals || 0
}

const lastMean = (closes: readonly number[], length: number) =>
  closes.length < length ? null : mean(closes.slice(-length))

/** The average after the last value: the first one is seeded with `seed` values' mean, then a share of each next one is taken in. */
function wilder(values: readonly number[], length: number): number | null {
  if (values.length < length) return null
  return values
    .slice(length)
    .reduce((average, value) => (average * (length - 1) + value) / length, mean(values.slice(0, length)))
}

function strength(closes: readonly number[], length: number): number | null {
  const changes = closes.slice(1).map((close, i) => close - (closes[i] ?? 0))
  const up = wilder(
    changes.map((change) => Math.max(change, 0)),
    length,
  )
  const down = wilder(
    changes.map((change) => Math.max(-change, 0)),
    length,
  )
  if (up === null || down === null) return null
  return up + down === 0 ? 50 : 100 - 100 / (1 + up / down)
}

function exponential(values: readonly number[], length: number): number[] {
  const averages: number[] = []
  for (const value of values) {
    const before = averages.at(-1) ?? value
    averages.push((2 * value + (length - 1) * before) / (length + 1))
  }
  return averages
}

export function convergence(closes: readonly number[]): { dif: number[]; dea: number[] } {
  const slow = exponential(closes, 26)
  const dif = exponential(closes, 12).map((fast, i) => fast - (slow[i] ?? 0))
  return { dif, dea: exponential(dif, 9) }
}

function stochastic(bars: readonly SheetBar[]): { k: number; d: number } {
  let [k, d] = [50, 50]
  for (let end = 9; end <= bars.length; end++) {
    const window = bars.slice(end - 9, end)
    const low = Math.min(...window.map((bar) => bar.low))
    const high = Math.max(...window.map((bar) => bar.high))
    const raw = high === low ? 50 : (100 * ((window.at(-1)?.close ?? 0) - low)) / (high - low)
    k = (2 * k + raw) / 3
    d = (2 * d + k) / 3
  }
  return { k, d }
}

function trueRanges(bars: readonly SheetBar[]): number[] {
  return bars.map(({ high, low }, i) => {
    const before = bars[i - 1]?.close
    return before === undefined ? high - low : Math.max(high, before) - Math.min(low, before)
  })
}

/** The bars of 364 days, where there are as many. */
function yearOf(bars: readonly SheetBar[]): readonly SheetBar[] {
  const end = Date.parse(bars.at(-1)?.date ?? '')
  const isWithin = ({ date }: SheetBar) => end - Date.parse(date) < 364 * 86_400_000
  return bars.every(isWithin) ? [] : bars.filter(isWithin)
}

function fromYear(bars: readonly SheetBar[], close: number) {
  const year = yearOf(bars)
  if (year.length === 0)
    return { high52: null, low52: null, position52Pct: null, belowHigh52Pct: null, aboveLow52Pct: null }
  const high = Math.max(...year.map((bar) => bar.high))
  const low = Math.min(...year.map((bar) => bar.low))
  return {
    high52: high,
    low52: low,
    position52Pct: round((100 * (close - low)) / (high - low), 2),
    belowHigh52Pct: round((100 * (high - close)) / high, 2),
    aboveLow52Pct: round((100 * (close - low)) / low, 2),
  }
}

function fromQuote(sheet: Sheet) {
  const { quote, bars, isSuspended } = sheet
  const [last, before] = [bars.at(-1), bars.at(-2)]
  if (!last || !before) throw new Error(`${sheet.key} has no bars`)
  const told = isSuspended ? { ...before, close: last.close } : before
  const day = isSuspended ? null : last
  return {
    price: last.close,
    prevClose: told.close,
    open: day?.open ?? null,
    high: day?.high ?? null,
    low: day?.low ?? null,
    change: round(last.close - told.close, sheet.decimals),
    changePct: round((100 * (last.close - told.close)) / told.close, 2),
    amplitudePct: day && round((100 * (day.high - day.low)) / before.close, 2),
    volume: day?.volume ?? 0,
    amount: day ? Math.round((day.volume * (day.high + day.low + day.close)) / 3) : 0,
    turnoverRatePct: day && round((100 * day.volume) / sheet.floatShares, 2),
    volumeRatio: day && round(day.volume / mean(bars.slice(-6, -1).map((bar) => bar.volume)), 2),
    volumeVsPrevious: day && round(day.volume / before.volume, 2),
    marketCap: Math.round(quote.price * sheet.shares),
  }
}

function fromCloses(sheet: Sheet) {
  const closes = sheet.bars.map((bar) => bar.close)
  const close = closes.at(-1) ?? 0
  const average = (length: number) => round(lastMean(closes, length), sheet.decimals)
  const bias = (length: number) =>
    round((100 * (close - (lastMean(closes, length) ?? Number.NaN))) / (lastMean(closes, length) ?? 1), 2)
  const over = (length: number) => round(100 * (close / (closes.at(-1 - length) ?? Number.NaN) - 1), 2)
  const window = closes.slice(-20)
  const deviation = Math.sqrt(mean(window.map((one) => (one - mean(window)) ** 2)))
  const { dif, dea } = convergence(closes)
  const [lastDif, lastDea] = [dif.at(-1) ?? 0, dea.at(-1) ?? 0]
  const ups = (length: number) =>
    closes.filter((one, i) => i >= closes.length - length && one > (closes[i - 1] ?? one)).length
  return {
    ...{
      ma5: average(5),
      ma10: average(10),
      ma20: average(20),
      ma60: average(60),
      ma120: average(120),
      ma250: average(250),
    },
    ...{ bias5: bias(5), bias20: bias(20), change5Pct: over(5), change20Pct: over(20), change60Pct: over(60) },
    ...{
      rsi6: round(strength(closes, 6), 1),
      rsi12: round(strength(closes, 12), 1),
      rsi24: round(strength(closes, 24), 1),
    },
    ...{ dif: round(lastDif, 3), dea: round(lastDea, 3), histogram: round(2 * (lastDif - lastDea), 3) },
    bollMiddle: average(20),
    bollUpper: round(mean(window) + 2 * deviation, sheet.decimals),
    bollLower: round(mean(window) - 2 * deviation, sheet.decimals),
    ...{ ups5: ups(5), ups10: ups(10) },
    ...fromYear(sheet.bars, close),
  }
}

function fromJudgement({ judgement, bars, quote }: Sheet) {
  const { stop, idealBuy, secondaryBuy, target1, target2, score } = judgement
  const twenty = bars.slice(-20)
  const [low, high] = [Math.min(...twenty.map((bar) => bar.low)), Math.max(...twenty.map((bar) => bar.high))]
  return {
    ...{ stop, idealBuy, secondaryBuy, target1, target2, score },
    support: low < quote.price ? low : null,
    resistance: high > quote.price ? high : null,
    rewardRisk: target1 === null || idealBuy === null ? null : round((target1 - idealBuy) / (idealBuy - stop), 2),
  }
}

export function oracleFacts(sheet: Sheet): Record<FactId, number | null> {
  const { k, d } = stochastic(sheet.bars)
  const { pe: _pe, period: _period, ...results } = sheet.fundamentals
  const { eps } = results
  return {
    ...fromQuote(sheet),
    ...fromCloses(sheet),
    ...{ k: round(k, 1), d: round(d, 1), j: round(3 * k - 2 * d, 1) },
    atr: round(wilder(trueRanges(sheet.bars), 14), sheet.decimals),
    ...results,
    pe: eps !== null && eps > 0 ? round(sheet.quote.price / eps, 2) : null,
    ...fromJudgement(sheet),
  }
}

export function oracleDates(sheet: Sheet): Record<'session' | 'high52' | 'low52' | 'split' | 'period', string | null> {
  const year = [...yearOf(sheet.bars)].reverse()
  const high = Math.max(...year.map((bar) => bar.high))
  const low = Math.min(...year.map((bar) => bar.low))
  return {
    session: sheet.bars.at(-1)?.date ?? null,
    high52: year.find((bar) => bar.high === high)?.date ?? null,
    low52: year.find((bar) => bar.low === low)?.date ?? null,
    split: sheet.split?.date ?? null,
    period: sheet.fundamentals.period,
  }
}

type Facts = Record<FactId, number | null>
const above = (a: number | null, b: number | null) => a !== null && b !== null && a > b
const below = (a: number | null, b: number | null) => a !== null && b !== null && a < b

/** Of the sessions before the last: whether the sign of `values` was another one within the last few. */
const turned = (values: readonly number[], sessions: number) =>
  values.slice(-1 - sessions, -1).some((value) => Math.sign(value) !== Math.sign(values.at(-1) ?? 0))

function wasAboveMa60({ bars }: Sheet): boolean {
  const closes = bars.map((bar) => bar.close)
  return Array.from({ length: 20 }, (_none, i) => closes.slice(0, closes.length - 1 - i)).some(
    (until) => (until.at(-1) ?? 0) > (lastMean(until, 60) ?? Number.POSITIVE_INFINITY),
  )
}

function chartStates(sheet: Sheet, f: Facts): Partial<Record<StateId, boolean>> {
  const closes = sheet.bars.map((bar) => bar.close)
  const steps = closes
    .slice(-4)
    .map((close, i, all) => close - (all[i - 1] ?? close))
    .slice(1)
  const { dif, dea } = convergence(closes)
  const gaps = dif.map((one, i) => one - (dea[i] ?? 0))
  const gap = gaps.at(-1) ?? 0
  const limit = sheet.limitPct === null ? Number.POSITIVE_INFINITY : sheet.limitPct - 0.15
  const dates = oracleDates(sheet)
  const move = f.changePct ?? 0
  return {
    ...{ aboveMa5: above(f.price, f.ma5), aboveMa10: above(f.price, f.ma10), aboveMa20: above(f.price, f.ma20) },
    ...{ aboveMa60: above(f.price, f.ma60), aboveMa120: above(f.price, f.ma120), aboveMa250: above(f.price, f.ma250) },
    broke60: below(f.price, f.ma60) && wasAboveMa60(sheet),
    yearHigh: !sheet.isSuspended && dates.high52 === dates.session,
    yearLow: !sheet.isSuspended && dates.low52 === dates.session,
    ...{ limitUp: move > limit, limitDown: -move > limit },
    ...{ threeUps: steps.every((step) => step > 0), threeDowns: steps.every((step) => step < 0) },
    bullOrder: above(f.ma5, f.ma10) && above(f.ma10, f.ma20),
    bearOrder: below(f.ma5, f.ma10) && below(f.ma10, f.ma20),
    goldenCross: gap > 0 && turned(gaps, 5),
    deadCross: gap < 0 && turned(gaps, 5),
    macdAboveZero: above(f.dif, 0) && above(f.dea, 0),
    ...{ aboveUpperBand: above(f.price, f.bollUpper), belowLowerBand: below(f.price, f.bollLower) },
    ...{ closedUp: move > 0, closedDown: move < 0, openedHigher: above(f.open, f.prevClose) },
    upOverSixty: above(f.change60Pct, 0),
  }
}

export function oracleStates(sheet: Sheet): Record<StateId, boolean> {
  const f = oracleFacts(sheet)
  const { advice, trend, confidence } = sheet.judgement
  const volume = f.volumeVsPrevious ?? 1
  const chart = chartStates(sheet, f)
  return {
    ...(chart as Record<keyof typeof chart, boolean>),
    volumeDoubled: volume >= 1.95,
    volumeGrew: volume > 1,
    volumeShrank: volume < 1,
    overbought: above(f.rsi12, 70),
    oversold: below(f.rsi12, 30),
    suspended: sheet.quote.volume === 0,
    lossMaking: below(f.eps, 0),
    paysDividend: above(f.dividendYieldPct, 0),
    revenueGrew: above(f.revenueGrowthPct, 0),
    profitFell: below(f.profitGrowthPct, 0),
    belowBook: below(f.pb, 1),
    justListed: sheet.bars.length < 60,
    wasSplit: sheet.split !== undefined,
    sinceYearHalved: below(f.price, (f.high52 ?? 0) / 2),
    doubledFromLow: f.low52 !== null && above(f.price, 2 * f.low52),
    adviceBuy: advice.endsWith('buy'),
    adviceSell: advice.endsWith('sell') || advice === 'reduce',
    adviceWait: advice === 'hold' || advice === 'watch',
    trendBull: trend === 'bull' || trend === 'strong_bull',
    trendBear: trend === 'bear' || trend === 'strong_bear',
    confidenceHigh: confidence === 'high',
    confidenceLow: confidence === 'low',
  }
}
