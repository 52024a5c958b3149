import type { FlowDay } from '../market/company.ts'

/** Where the large money goes; `unavailable` says nothing about it, neither good nor bad. */
export type FlowBias = 'inflow' | 'outflow' | 'neutral' | 'unavailable'

export type FlowView = {
  bias: FlowBias
  /** Net flow of the main money. A sum is null when there are not that many days: three days are never called five. */
  today: number | null
  days5: number | null
  days10: number | null
  date: string | null
}

export const UNKNOWN_FLOW: FlowView = { bias: 'unavailable', today: null, days5: null, days10: null, date: null }

/** The flow of the newest days, oldest first. All sums of one sign make a bias; mixed signs or zero are neutral. */
export function flowView(days: readonly FlowDay[]): FlowView {
  const last = days.at(-1)
  if (last === undefined) return UNKNOWN_FLOW
  const sums = { today: last.mainNet, days5: sumOf(days, 5), days10: sumOf(days, 10) }
  const signs = Object.values(sums).flatMap((sum) => (sum === null ? [] : [Math.sign(sum)]))
  const same = signs.every((sign) => sign === signs[0])
  const bias = !same || signs[0] === 0 ? 'neutral' : signs[0] === 1 ? 'inflow' : 'outflow'
  return { bias, ...sums, date: last.date }
}

function sumOf(days: readonly FlowDay[], count: number): number | null {
  if (days.length < count) return null
  return days.slice(-count).reduce((sum, { mainNet }) => sum + mainNet, 0)
}
