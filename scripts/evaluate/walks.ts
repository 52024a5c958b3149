// Series whose truth is known: random walks in which there is nothing to find, and series with a planted edge.

import { normalOf, type Random, seededRandom } from '../../src/analysis/evidence/observations.ts'
import type { Bar } from '../../src/market/bars.ts'
import { addDays, isTradingDay } from '../../src/market/calendar.ts'
import { type Instrument, parseCode } from '../../src/market/instruments.ts'

export type MadeSeries = { instrument: Instrument; bars: Bar[] }

export type WalkOptions = {
  seed: number
  bars: number
  /** By how much a spell of drift moves the price in a day, as a share; 0 in a walk without an edge. */
  drift: number
}

/** The market of all made series: no limits of the exchange, low costs. */
const CODE = 'AAPL'
const ENDS_ON = '2024-12-31'
const START_PRICE = 50
const DAILY = 0.02
const OVERNIGHT_SHARE = 0.3
/** A spell of drift lasts between these many sessions. */
const SPELL = { least: 40, most: 90 } as const

/** A walk: every step is independent of all before it, unless there is drift, whose direction then lasts for a spell. */
export function walkOf({ seed, bars, drift }: WalkOptions): MadeSeries {
  const random = seededRandom(seed)
  const parsed = parseCode(CODE)
  if (!parsed.ok) throw new Error(`${CODE} is no code`)
  const spells = drifts(random, drift)
  let close = START_PRICE
  const made = sessions(parsed.instrument, bars).map((date) => {
    // Half of the variance is taken off, so that the price itself has no drift.
    const step = (share: number) => Math.exp(DAILY * share * normalOf(random) - (DAILY * share) ** 2 / 2)
    const open = close * step(OVERNIGHT_SHARE)
    const next = open * step(Math.sqrt(1 - OVERNIGHT_SHARE ** 2)) * (1 + spells())
    const bar = barOf(random, { date, open, close: next })
    close = next
    return bar
  })
  return { instrument: parsed.instrument, bars: made }
}

function barOf(random: Random, { date, open, close }: Pick<Bar, 'date' | 'open' | 'close'>): Bar {
  const wick = () => Math.exp(DAILY * OVERNIGHT_SHARE * Math.abs(normalOf(random)))
  const volume = Math.round(1e6 * Math.exp(0.4 * normalOf(random)))
  return {
    date,
    open,
    high: Math.max(open, close) * wick(),
    low: Math.min(open, close) / wick(),
    close,
    volume,
    amount: null,
  }
}

function drifts(random: Random, size: number): () => number {
  let [left, sign] = [0, 1]
  return () => {
    if (size === 0) return 0
    if (left === 0) {
      left = SPELL.least + Math.floor(random() * (SPELL.most - SPELL.least))
      sign = random() < 0.5 ? 1 : -1
    }
    left -= 1
    return sign * size
  }
}

const DATES = new Map<number, string[]>()

function sessions({ market }: Instrument, count: number): string[] {
  const known = DATES.get(count)
  if (known !== undefined) return known
  const dates: string[] = []
  for (let day = ENDS_ON; dates.length < count; day = addDays(day, -1)) if (isTradingDay(market, day)) dates.push(day)
  dates.reverse()
  DATES.set(count, dates)
  return dates
}
