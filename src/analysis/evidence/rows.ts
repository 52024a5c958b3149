// The table of the evidence: the observations by score or advice, market and regime, with their interval and baselines.

import type { Market } from '../../market/instruments.ts'
import { DRAWS, type Observation, outcomeOf, type Series, type SeriesOutcome } from './observations.ts'
import { chanceOfMore, confidenceOf, estimate, holm, interval, type Outcomes } from './statistics.ts'
import { type EvidenceRow, GROUPS, type Group, HORIZON, LEAST_SIZE, MEASURES, REGIMES, STANCES } from './vocabulary.ts'

/** One-sided; corresponds to the 95 % interval in the same row. */
const SIGNIFICANT = 0.025

export function rowsOf(book: EvidenceBook): EvidenceRow[] {
  const { cells, markets, order } = book
  const scopes: (Market | 'all')[] = markets.length > 1 ? ['all', ...markets] : [...markets]
  const rows = MEASURES.flatMap((measure, at) =>
    scopes.flatMap((market) => {
      const some = cells.filter((cell) => cell.measure === at && (market === 'all' || cell.market === market))
      return (['all', ...REGIMES] as const).flatMap((regime) => {
        const inside = some.filter((cell) => regime === 'all' || REGIMES[cell.regime] === regime)
        return inside.length === 0 ? [] : rowsOfScope(inside, { measure, market, regime, order })
      })
    }),
  )
  return judged(rows)
}

type Scope = Pick<EvidenceRow, 'measure' | 'market' | 'regime'> & { order: readonly number[] }

function rowsOfScope(cells: readonly Cell[], scope: Scope): EvidenceRow[] {
  const all = merged(cells, scope.order)
  return GROUPS.flatMap((group) => {
    // A plan begins with a purchase, so it exists only for this group.
    const inside = cells.filter((cell) => isIn(cell, group))
    return inside.length === 0 ? [] : [rowOf(inside, all, { ...scope, group })]
  })
}

const isIn = ({ stance, bucket }: Cell, group: Group): boolean =>
  STANCES[stance] === group || GROUPS.indexOf(group) - STANCES.length === bucket

/** The sums of several cells: one array for each sum with one entry for each session. */
type Merged = Record<Sum, Float64Array>

function merged(cells: readonly Cell[], order: readonly number[]): Merged {
  const make = () => new Float64Array(order.length)
  const all = SUMS.map(make)
  for (const { sums } of cells) {
    order.forEach((place, day) => {
      const from = place * WIDTH
      if (from >= sums.length || sums[from] === 0) return
      all.forEach((values, i) => {
        values[day] = (values[day] ?? 0) + (sums[from + i] ?? 0)
      })
    })
  }
  return Object.fromEntries(SUMS.map((name, i) => [name, all[i] ?? make()])) as Merged
}

const CLAIM: Record<Group, 1 | -1 | null> = {
  buy: 1,
  hold: null,
  sell: -1,
  score_0_19: -1,
  score_20_39: -1,
  score_40_59: null,
  score_60_79: 1,
  score_80_100: 1,
}

type RowScope = Scope & { group: Group }

function rowOf(cells: readonly Cell[], all: Merged, { order, ...scope }: RowScope): EvidenceRow {
  const sums = merged(cells, order)
  const count = sumOf(sums.count)
  // Twice the time for which returns overlap, because Bartlett's weights halve the middle.
  const lag = 2 * HORIZON[scope.measure]
  const returns = estimate({ counts: sums.count, sums: sums.net, squares: sums.netSquares }, lag)
  const excess = estimate({ counts: sums.count, sums: sums.excess, squares: sums.squares }, lag)
  const around = returns && interval(returns)
  const claim = CLAIM[scope.group]
  const effective = excess === null ? 1 : excess.effectiveSize
  const told = { outcomes: outcomesOf(sums, claim), all: outcomesOf(all, claim), horizon: HORIZON[scope.measure] }
  return {
    ...scope,
    count,
    effective_size: Math.round(effective * 10) / 10,
    mean_return_pct: percent(sumOf(sums.net) / count),
    return_low_pct: around && percent(around.low),
    return_high_pct: around && percent(around.high),
    random_entry_pct: percent(sumOf(sums.random) / count),
    buy_and_hold_pct: percent(sumOf(sums.held) / count),
    ...claimed(excess, claim),
    adjusted_chance: null,
    random_sets_beaten: beaten(cells, sumOf(sums.net)),
    ...(scope.measure === 'plan' ? hitsAlone(told.outcomes) : confidenceOf(told, effective)),
    verdict: claim === null ? 'no_claim' : effective < LEAST_SIZE ? 'too_few' : 'no_edge_shown',
  }
}

type Excess = Pick<EvidenceRow, 'excess_pct' | 'excess_low_pct' | 'excess_high_pct' | 'chance'>

function claimed(found: ReturnType<typeof estimate>, claim: 1 | -1 | null): Excess {
  if (found === null || claim === null) {
    return { excess_pct: null, excess_low_pct: null, excess_high_pct: null, chance: null }
  }
  const signed = { ...found, mean: found.mean * claim }
  const { low, high } = interval(signed)
  return {
    excess_pct: percent(signed.mean),
    excess_low_pct: percent(low),
    excess_high_pct: percent(high),
    chance: rounded(chanceOfMore(signed)),
  }
}

/** A probability needs outcomes over the same length of time. */
const hitsAlone = ({ counts, hits }: Outcomes) => ({
  hit_rate: rounded(sumOf(hits) / sumOf(counts)),
  base_rate: null,
  confidence_probability: null,
  brier_skill: null,
})

/** The outcomes that confirm a claim: the rise, the fall, or for advice to wait a move within the band. */
function outcomesOf(sums: Merged, claim: 1 | -1 | null): Outcomes {
  return { counts: sums.count, hits: claim === null ? sums.calm : claim === 1 ? sums.rose : sums.fell }
}

function beaten(cells: readonly Cell[], net: number): number | null {
  const sets = cells.flatMap(({ draws }) => draws ?? [])
  const [first] = sets
  if (first === undefined) return null
  const below = first.reduce((found, _, draw) => {
    const sum = sets.reduce((all, set) => all + (set[draw] ?? 0), 0)
    return found + (sum < net ? 1 : 0)
  }, 0)
  return rounded(below / first.length)
}

/** With the verdicts, which need all rows. */
function judged(rows: readonly EvidenceRow[]): EvidenceRow[] {
  const tested = rows.filter((row) => row.verdict === 'no_edge_shown' && row.chance !== null)
  const adjusted = holm(tested.map(({ chance }) => chance ?? 1))
  const byRow = new Map(tested.map((row, i) => [row, adjusted[i] ?? 1]))
  return rows.map((row) => {
    const chance = byRow.get(row)
    if (chance === undefined) return row
    return { ...row, adjusted_chance: rounded(chance), verdict: chance < SIGNIFICANT ? 'edge' : row.verdict }
  })
}

const sumOf = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0)
/** Percent with four decimals; adding zero avoids -0 in JSON. */
const percent = (share: number): number => Math.round(share * 1e6) / 1e4 + 0
const rounded = (value: number): number => Math.round(value * 1e6) / 1e6 + 0

// Sums the observations of many series by session and cell, so that ten thousand series need the memory of one table.

/** The lowest score of each bucket; the last one ends at 100. */
const BUCKETS = [0, 20, 40, 60, 80] as const

const bucketOf = (score: number): number => Math.min(BUCKETS.length - 1, Math.floor(score / 20))

/** The sums of each session: indexes in the sums of a cell. */
const SUMS = ['count', 'net', 'random', 'held', 'excess', 'squares', 'netSquares', 'rose', 'fell', 'calm'] as const
type Sum = (typeof SUMS)[number]
const WIDTH = SUMS.length

type Cell = {
  measure: number
  market: Market
  regime: number
  stance: number
  bucket: number
  /** `WIDTH` numbers for each session, at the session's index in the book. */
  sums: Float64Array
  /** Sums of the returns of the random entries, one for each draw. */
  draws: Float64Array | null
}

export type Totals = { series: number; bars: number; days: number; unfilled: number; void: number; unfinished: number }

export class EvidenceBook {
  readonly #seed: number
  readonly #cells = new Map<number, Cell>()
  readonly #places = new Map<string, number>()
  readonly #markets: Market[] = []
  readonly totals: Totals = { series: 0, bars: 0, days: 0, unfilled: 0, void: 0, unfinished: 0 }
  #from: string | null = null
  #to: string | null = null

  constructor(seed: number) {
    this.#seed = seed
  }

  add(series: Series): SeriesOutcome {
    const outcome = outcomeOf(series, this.#seed)
    const { market } = series.instrument
    if (!this.#markets.includes(market)) this.#markets.push(market)
    for (const observation of outcome.observations) this.#count(market, observation)
    const { totals } = this
    totals.series += 1
    totals.bars += series.bars.length
    totals.days += outcome.days
    totals.unfilled += outcome.unfilled
    totals.void += outcome.plan.void
    totals.unfinished += outcome.plan.unfinished
    return outcome
  }

  get cells(): readonly Cell[] {
    return [...this.#cells.values()]
  }

  get markets(): readonly Market[] {
    return this.#markets
  }

  /** The first and the last session that an advice was measured on. */
  get range(): { from: string | null; to: string | null } {
    return { from: this.#from, to: this.#to }
  }

  /** The indexes of the sessions, ordered by date. */
  get order(): number[] {
    return [...this.#places].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, place]) => place)
  }

  #count(market: Market, observation: Observation): void {
    const { date, net, random, held, draws } = observation
    const cell = this.#cellOf(market, observation)
    const at = this.#placeOf(date) * WIDTH
    if (cell.sums.length < at + WIDTH) cell.sums = grown(cell.sums, at + WIDTH)
    const excess = net - random
    const values = [
      1,
      net,
      random,
      held,
      excess,
      excess ** 2,
      net ** 2,
      Number(observation.rose),
      Number(observation.fell),
      Number(observation.calm),
    ]
    for (let i = 0; i < WIDTH; i++) cell.sums[at + i] = (cell.sums[at + i] ?? 0) + (values[i] ?? 0)
    if (draws === null) return
    const sums = cell.draws ?? new Float64Array(DRAWS)
    cell.draws = sums
    for (let i = 0; i < DRAWS; i++) sums[i] = (sums[i] ?? 0) + (draws[i] ?? 0)
  }

  #cellOf(market: Market, { measure, regime, stance, score }: Observation): Cell {
    const bucket = bucketOf(score)
    const [place, inMarket] = [this.#markets.indexOf(market), measure * REGIMES.length + regime]
    const key =
      ((place * MEASURES.length * REGIMES.length + inMarket) * STANCES.length + stance) * BUCKETS.length + bucket
    const known = this.#cells.get(key)
    if (known !== undefined) return known
    const cell: Cell = { measure, market, regime, stance, bucket, sums: new Float64Array(0), draws: null }
    this.#cells.set(key, cell)
    return cell
  }

  #placeOf(date: string): number {
    const known = this.#places.get(date)
    if (known !== undefined) return known
    if (this.#from === null || date < this.#from) this.#from = date
    if (this.#to === null || date > this.#to) this.#to = date
    this.#places.set(date, this.#places.size)
    return this.#places.size - 1
  }
}

function grown(sums: Float64Array, least: number): Float64Array {
  const larger = new Float64Array(Math.max(least, sums.length * 2, WIDTH * 64))
  larger.set(sums)
  return larger
}
