// The result of each advice of one series, compared with all other days of the series.

import type { Bar } from '../../market/bars.ts'
import { adjustmentOf, examine } from '../../market/consistency/examine.ts'
import { netReturn } from '../../market/costs.ts'
import { parseCode } from '../../market/instruments.ts'
import { CALM_PCT } from '../judge/accuracy.ts'
import { type Plan, planTrades, type Tape, tapeOf } from './plan.ts'
import { FIRST_JUDGED, type Judged, judgedDays, NO_STANCE, regimesOf } from './replay.ts'
import { HORIZON, MEASURES } from './vocabulary.ts'

/** The number of random entries for each trade of a plan. */
export const DRAWS = 200

export type Observation = {
  measure: number
  date: string
  /** Indexes into `REGIMES` and `STANCES`. */
  regime: number
  stance: number
  score: number
  /** Returns as fractions, after costs: of the advice, and of the same exposure on any other day of the series. */
  net: number
  random: number
  /** The return of buying on the first day and holding to the last, scaled to as many sessions. */
  held: number
  /** Before costs: rose, fell, or stayed within the band in which advice to wait is right. */
  rose: boolean
  fell: boolean
  calm: boolean
  /** For a plan: the returns of the random entries. */
  draws: Float64Array | null
}

export type Series = { instrument: Tape['instrument']; bars: readonly Bar[] }

export type SeriesOutcome = { observations: Observation[]; plan: Omit<Plan, 'trades'>; days: number; unfilled: number }

export function outcomeOf({ instrument, bars }: Series, seed: number): SeriesOutcome {
  const tape = tapeOf(instrument, bars)
  const judged = judgedDays({ instrument, bars })
  const about = { tape, judged, regimes: regimesOf(bars), daily: dailyHeld(tape) }
  const { trades, ...plan } = planTrades(tape, judged)
  const short = fixedHorizon(about, 0)
  const long = fixedHorizon(about, 1)
  const planned = trades.map((trade) =>
    planned20(about, trade, seededRandom(seed ^ seedOf(`${instrument.key}${trade.signal}`))),
  )
  return {
    observations: [...short.observations, ...long.observations, ...planned],
    plan,
    days: judged.stances.reduce((sum, stance) => sum + (stance === NO_STANCE ? 0 : 1), 0),
    unfilled: short.unfilled,
  }
}

type ListingHistory = { tape: Tape; judged: Judged; regimes: Uint8Array; daily: number }

/** The mean return per session of holding the listing from the first advice to the end, after the costs of one trade. */
function dailyHeld({ bars, instrument }: Tape): number {
  const [first, last] = [bars[FIRST_JUDGED + 1], bars.at(-1)]
  const sessions = bars.length - FIRST_JUDGED - 2
  if (first === undefined || last === undefined || sessions < 1) return 0
  const [bought, sold] = [
    { price: first.open, date: first.date },
    { price: last.close, date: last.date },
  ]
  return Math.log1p(netReturn(instrument, { bought, sold })) / sessions
}

/** How many sessions an order to sell may wait until the market allows it. */
const PATIENCE = 10

/** Every advice, followed for a fixed number of sessions from the next open to an open. */
function fixedHorizon(about: ListingHistory, measure: number): { observations: Observation[]; unfilled: number } {
  const { tape, judged, regimes, daily } = about
  const horizon = HORIZON[MEASURES[measure] ?? 'sessions_5']
  const returns = new Float64Array(tape.bars.length).fill(Number.NaN)
  const gross = new Float64Array(tape.bars.length)
  let unfilled = 0
  for (let day = FIRST_JUDGED; day + 1 + horizon < tape.bars.length; day++) {
    const held = tape.buyable[day + 1] === 1 ? heldFrom(tape, day + 1, horizon) : null
    if (held === null) {
      unfilled += 1
      continue
    }
    returns[day] = held.net
    gross[day] = held.gross
  }
  const randomAt = otherDays(returns, horizon)
  const held = Math.expm1(daily * horizon)
  const observations: Observation[] = []
  returns.forEach((net, day) => {
    const stance = judged.stances[day] ?? NO_STANCE
    const random = randomAt(day)
    if (Number.isNaN(net) || stance === NO_STANCE || random === null) return
    const common = { measure, date: tape.bars[day]?.date ?? '', regime: regimes[day] ?? 0, stance }
    const score = judged.scores[day] ?? 0
    observations.push({ ...common, score, net, random, held, ...directionOf(gross[day] ?? 0), draws: null })
  })
  return { observations, unfilled }
}

/** An advice depends on about this many earlier sessions. */
const LOOKBACK = 60

/**
 * The mean return of all entries whose holding period does not overlap the sessions that the day's advice depends on. A
 * random entry must not know these sessions; otherwise advice that follows a rise would be compared with that same
 * rise.
 */
function otherDays(returns: Float64Array, horizon: number): (day: number) => number | null {
  const sums = new Float64Array(returns.length + 1)
  const counts = new Float64Array(returns.length + 1)
  returns.forEach((value, day) => {
    const isKnown = !Number.isNaN(value)
    sums[day + 1] = (sums[day] ?? 0) + (isKnown ? value : 0)
    counts[day + 1] = (counts[day] ?? 0) + (isKnown ? 1 : 0)
  })
  const without = (totals: Float64Array, day: number) => {
    const from = Math.max(0, day - LOOKBACK - horizon)
    return (totals.at(-1) ?? 0) - ((totals[day] ?? 0) - (totals[from] ?? 0))
  }
  return (day) => (without(counts, day) === 0 ? null : without(sums, day) / without(counts, day))
}

const directionOf = (gross: number) => ({
  rose: gross > 0,
  fell: gross < 0,
  calm: Math.abs(gross) * 100 < CALM_PCT,
})

function heldFrom(tape: Tape, entry: number, sessions: number): { net: number; gross: number } | null {
  const { bars, sellable, instrument } = tape
  let exit = entry + sessions
  while (exit < bars.length && sellable[exit] !== 1 && exit < entry + sessions + PATIENCE) exit += 1
  const [from, to] = [bars[entry], bars[exit]]
  if (from === undefined || to === undefined || sellable[exit] !== 1) return null
  const [bought, sold] = [
    { price: from.open, date: from.date },
    { price: to.open, date: to.date },
  ]
  return { net: netReturn(instrument, { bought, sold }), gross: to.open / from.open - 1 }
}

/** A trade of the plan, with entries of the same length at random days of the series. */
function planned20(about: ListingHistory, trade: Plan['trades'][number], random: () => number): Observation {
  const { tape, judged, regimes, daily } = about
  const sessions = Math.max(1, trade.exit - trade.entry)
  const draws = new Float64Array(DRAWS)
  const room = tape.bars.length - FIRST_JUDGED - 1 - sessions
  let sum = 0
  for (let draw = 0; draw < DRAWS; draw++) {
    draws[draw] = drawn(tape, { signal: trade.signal, room, sessions, random })
    sum += draws[draw] ?? 0
  }
  return {
    measure: MEASURES.indexOf('plan'),
    date: tape.bars[trade.signal]?.date ?? '',
    regime: regimes[trade.signal] ?? 0,
    stance: judged.stances[trade.signal] ?? 0,
    score: judged.scores[trade.signal] ?? 0,
    net: trade.net,
    random: sum / DRAWS,
    held: Math.expm1(daily * sessions),
    rose: trade.net > 0,
    fell: trade.net < 0,
    calm: false,
    draws,
  }
}

const MOST_TRIES = 20

type Draw = { signal: number; room: number; sessions: number; random: () => number }

function drawn(tape: Tape, { signal, room, sessions, random }: Draw): number {
  for (let i = 0; i < MOST_TRIES; i++) {
    const entry = FIRST_JUDGED + 1 + Math.floor(random() * room)
    if (entry <= signal && entry >= signal - LOOKBACK - sessions) continue
    const held = tape.buyable[entry] === 1 ? heldFrom(tape, entry, sessions) : null
    if (held !== null) return held.net
  }
  return 0
}

// Which stored bars an evaluation may use: those on which a report could be based.

/** A series, or the reason why there is none under that name. */
export type SeriesResult = { name: string } & ({ ok: true; series: Series } | { ok: false; reason: string })

type BarsOf = { name: string; isSample: boolean; now: number }

/** The series after its checks. */
export function eligible(bars: readonly Bar[], { name, isSample, now }: BarsOf): SeriesResult {
  const parsed = parseCode(name)
  if (!parsed.ok) return { ok: false, name, reason: 'its name is no code of a listing' }
  const { instrument } = parsed
  if (instrument.kind === 'index') return { ok: false, name, reason: 'an index cannot be bought' }
  const examined = examine({
    instrument,
    bars: [...bars],
    quote: null,
    barsSource: null,
    quoteSource: null,
    adjustment: adjustmentOf({ source: null, provenance: null, isIndex: false }),
    isSample,
    now,
    dividends: null,
  })
  // An evaluation uses old bars, so their age is not an error.
  const failed = examined.consistency.findings.find(
    ({ verdict, check }) => verdict === 'fail' && check !== 'stale_bars',
  )
  if (failed !== undefined) return { ok: false, name, reason: `the check ${failed.check} failed` }
  return { ok: true, name, series: { instrument, bars: examined.bars } }
}

// Random numbers that are the same for the same seed on every machine.

export type Random = () => number

/** Mulberry32: numbers in [0, 1). */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A seed derived from a text (FNV-1a). */
function seedOf(text: string): number {
  let state = 0x811c9dc5
  for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193)
  return state >>> 0
}

/** A number from the standard normal distribution (Box and Muller). */
export function normalOf(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}
