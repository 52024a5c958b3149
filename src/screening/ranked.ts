// Candidates in the order of a strategy: for each of its figures the rank of a listing among all candidates, from 0 to
// 100, and the mean of these. Only ranks are added, so that figures of different units can be combined.

import type { ScreenedItem } from './screened.ts'
import type { Strategy } from './strategies.ts'

export type Ranked = { item: ScreenedItem; score: number; factors: Record<string, number> }

/** The best first. An unknown figure is left out of the mean of its listing. */
export function ranked(items: readonly ScreenedItem[], factors: Strategy['factors']): Ranked[] {
  const tables = factors.map(({ field, better }) => {
    const values = items.flatMap(({ figures }) => figures[field] ?? []).sort((a, b) => a - b)
    return { field, rank: (value: number) => (better === 'high' ? share(values, value) : 100 - share(values, value)) }
  })
  const scored = items.map((item) => {
    const known = tables.flatMap(({ field, rank }): [string, number][] => {
      const value = item.figures[field] ?? null
      return value === null ? [] : [[field, round(rank(value))]]
    })
    const sum = known.reduce((total, [, points]) => total + points, 0)
    return { item, score: known.length === 0 ? 0 : round(sum / known.length), factors: Object.fromEntries(known) }
  })
  return scored.sort((a, b) => b.score - a.score || a.item.code.localeCompare(b.item.code))
}

const round = (value: number): number => Math.round(value * 10) / 10

/** The share of the other values that are lower, in per cent; equal values share the mean of their ranks. */
function share(sorted: readonly number[], value: number): number {
  if (sorted.length <= 1) return 50
  const below = firstAtLeast(sorted, value)
  const equal = firstAbove(sorted, value) - below
  return ((below + (equal - 1) / 2) / (sorted.length - 1)) * 100
}

function firstWhere(sorted: readonly number[], holds: (value: number) => boolean): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(sorted[middle] ?? Number.POSITIVE_INFINITY)) high = middle
    else low = middle + 1
  }
  return low
}

const firstAtLeast = (sorted: readonly number[], value: number): number => firstWhere(sorted, (one) => one >= value)
const firstAbove = (sorted: readonly number[], value: number): number => firstWhere(sorted, (one) => one > value)
