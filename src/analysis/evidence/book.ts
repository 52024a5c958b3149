// Adds up observations of many series, a session and a cell at a time, so that ten thousand series need the room of one table.

import type { Market } from '../../market/instruments.ts'
import { DRAWS, type Observation, outcomeOf, type Series, type SeriesOutcome } from './observations.ts'
import { MEASURES, REGIMES, STANCES } from './vocabulary.ts'

/** The lowest score of each bucket; the last one is open to 100. */
const BUCKETS = [0, 20, 40, 60, 80] as const

export const bucketOf = (score: number): number => Math.min(BUCKETS.length - 1, Math.floor(score / 20))

/** What is summed of each session: places in the sums of a cell. */
export const SUMS = [
  'count',
  'net',
  'random',
  'held',
  'excess',
  'squares',
  'netSquares',
  'rose',
  'fell',
  'calm',
] as const
export type Sum = (typeof SUMS)[number]
export const WIDTH = SUMS.length

export type Cell = {
  measure: number
  market: Market
  regime: number
  stance: number
  bucket: number
  /** `WIDTH` numbers for each session, by the session's place in the book. */
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

  /** The places of the sessions, in the order of their dates. */
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
