// The product's own judgement for every day of a series, computed only from the bars up to that day. There is no second
// method here: indicators, trend, score, signal, guards and advice come from the functions that make a report.
//
// Indicators are computed once for the whole series. Each of their values depends only on earlier bars, so the value at
// a day is exactly the same as if the series ended there; `test/unit/analysis/evidence-replay.test.ts` compares every
// one.

import type { Bar } from '../../market/bars.ts'
import { columns, type IndicatorSeries, indicatorSeries } from '../../market/indicators/index.ts'
import type { Series } from '../../market/indicators/series.ts'
import type { Instrument } from '../../market/instruments.ts'
import { type Decision, decide } from '../judge/decision.ts'
import { heldToPlan } from '../judge/guardrails.ts'
import { costsOf, hasPlan } from '../judge/levels.ts'
import { scoredAt, technicalAt } from '../judge/signals.ts'
import { priceDecimals } from '../texts/format.ts'
import { REGIMES, STANCES } from './vocabulary.ts'

/** From this bar on all parts of the score have their indicators. */
export const FIRST_JUDGED = 59

/** The advice at the close of each bar. */
export type Judged = {
  /** The index in `STANCES`; 255 before there is advice. */
  stances: Uint8Array
  scores: Uint8Array
}

export const NO_STANCE = 255

/**
 * Bars contain neither capital flow nor news: the rules that need them do not apply here, as in a report without these
 * data.
 */
const BARS_ALONE = { coreIsSound: true, flowKnown: false }

export function judgedDays({ instrument, bars }: Listed): Judged {
  const table = columns(bars)
  const listed = { instrument, bars, series: indicatorSeries(table), closes: table.close }
  const judged: Judged = { stances: new Uint8Array(bars.length).fill(NO_STANCE), scores: new Uint8Array(bars.length) }
  for (let day = FIRST_JUDGED; day < bars.length; day++) {
    const decision = decisionAt(listed, day)
    if (decision === null) continue
    judged.stances[day] = STANCES.indexOf(decision.type)
    judged.scores[day] = decision.score
  }
  return judged
}

type Listed = { instrument: Instrument; bars: readonly Bar[] }

function decisionAt(listed: Listed & { series: IndicatorSeries; closes: Series }, day: number): Decision | null {
  const { instrument, bars } = listed
  const [bar, scored] = [bars[day], scoredAt(listed, day)]
  if (bar === undefined || scored === null) return null
  return heldToPlan(decide(scored, BARS_ALONE), (side) => {
    const technical = technicalAt(listed, day)
    const place = { side, price: bar.close, decimals: priceDecimals(instrument, bar.close) }
    return technical !== null && hasPlan({ ...place, technical }, costsOf(instrument, bar.date))
  })
}

const LONG = 250
const SLOPE = 20

/**
 * The market's regime at each bar by the listing's own 250-day average: bull above a rising one (compared with 20
 * sessions before), bear below a falling one, else sideways; unknown until there is such an average. Indexes in
 * `REGIMES`.
 */
export function regimesOf(bars: readonly Bar[]): Uint8Array {
  const regimes = new Uint8Array(bars.length).fill(REGIMES.indexOf('unknown'))
  const averages = new Float64Array(bars.length)
  let sum = 0
  bars.forEach(({ close }, day) => {
    sum += close - (bars[day - LONG]?.close ?? 0)
    averages[day] = sum / LONG
    if (day < LONG + SLOPE - 1) return
    const [now, before] = [averages[day] ?? 0, averages[day - SLOPE] ?? 0]
    const regime = close > now && now > before ? 'bull' : close < now && now < before ? 'bear' : 'sideways'
    regimes[day] = REGIMES.indexOf(regime)
  })
  return regimes
}
