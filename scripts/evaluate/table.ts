// The rows of the evidence as a table of text.

import type { EvidenceRow } from '../../src/analysis/evidence/vocabulary.ts'
import type { Trials } from './trials.ts'

const HEAD = [
  'measure',
  'group',
  'market',
  'regime',
  'n',
  'n eff',
  'mean %',
  'random %',
  'held %',
  'excess %',
  '95 %',
  'hits',
  'base',
  'verdict',
]

export function tableOf(rows: readonly EvidenceRow[]): string {
  const lines = [HEAD, ...rows.map(cellsOf)]
  const widths = HEAD.map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)))
  return lines
    .map((line) =>
      line
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function cellsOf(row: EvidenceRow): string[] {
  const percent = (value: number | null) => (value === null ? '-' : value.toFixed(2))
  const share = (value: number | null) => (value === null ? '-' : value.toFixed(3))
  const interval =
    row.excess_low_pct === null ? '-' : `${percent(row.excess_low_pct)} to ${percent(row.excess_high_pct)}`
  return [
    row.measure,
    row.group,
    row.market,
    row.regime,
    String(row.count),
    row.effective_size.toFixed(0),
    percent(row.mean_return_pct),
    percent(row.random_entry_pct),
    percent(row.buy_and_hold_pct),
    percent(row.excess_pct),
    interval,
    share(row.hit_rate),
    share(row.base_rate),
    row.verdict,
  ]
}

export function printTrials(name: string, trials: Trials): void {
  console.log(trialsText(name, trials))
}

function trialsText(name: string, { panels, series, claims, stances }: Trials): string {
  const percent = (value: number) => `${(value * 100).toFixed(1)} %`
  return `${name}: ${panels} evaluations of ${series} series; an edge claimed in ${percent(claims)}; advice: buy ${percent(stances.buy)}, wait ${percent(stances.hold)}, sell ${percent(stances.sell)}`
}
