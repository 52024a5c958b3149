// The table of the evidence: what was observed, by score or advice, market and regime, with its interval, beside its baselines.

import type { Market } from '../../market/instruments.ts'
import { type Cell, type EvidenceBook, SUMS, type Sum, WIDTH } from './book.ts'
import { chanceOfMore, confidenceOf, estimate, holm, interval, type Outcomes } from './statistics.ts'
import { type EvidenceRow, GROUPS, type Group, HORIZON, LEAST_SIZE, MEASURES, REGIMES, STANCES } from './vocabulary.ts'

/** One sided; with the interval of 95 % that stands beside it. */
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
    // A plan begins with a purchase: there is none of the other groups.
    const inside = cells.filter((cell) => isIn(cell, group))
    return inside.length === 0 ? [] : [rowOf(inside, all, { ...scope, group })]
  })
}

const isIn = ({ stance, bucket }: Cell, group: Group): boolean =>
  STANCES[stance] === group || GROUPS.indexOf(group) - STANCES.length === bucket

/** The sums of several cells, one array for each sum and one entry for each session. */
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
  // Twice the time that returns overlap: Bartlett's weights halve what lies in the middle.
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

/** A probability needs outcomes of one length of time. */
const hitsAlone = ({ counts, hits }: Outcomes) => ({
  hit_rate: rounded(sumOf(hits) / sumOf(counts)),
  base_rate: null,
  confidence_probability: null,
  brier_skill: null,
})

/** What came true of a claim: the rise, the fall, or for an advice to wait the calm. */
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

/** With the verdicts, which can only be found when all rows are known. */
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
/** Percent with four decimals; the zero added keeps a minus zero out of JSON. */
const percent = (share: number): number => Math.round(share * 1e6) / 1e4 + 0
const rounded = (value: number): number => Math.round(value * 1e6) / 1e6 + 0
