// What was measured, as a table for people and as a file for programs.

import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { arch, cpus, platform, release } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../start/paths.ts'
import type { Bundles } from './bundle.ts'
import type { Cores } from './pinned-process.ts'
import type { Result, Target, Unit } from './rounds.ts'
import type { Startup } from './startup.ts'

export type Report = {
  readonly results: readonly Result[]
  readonly failures: readonly { row: string; reason: string }[]
  readonly startup: Startup | null
  readonly bundle: Omit<Bundles['worker'], 'script'>
  readonly cores: Cores | null
}

export const FILE = join(ROOT, 'bench', 'latest.json')
const DIGITS: Readonly<Record<Unit, number>> = { '/s': 0, ms: 3, MiB: 1, share: 4 }
const HEADINGS = [
  'row',
  'what',
  'ours',
  'baseline',
  'ratio [min–max]',
  'target',
  'verdict',
  'server time',
  'client CPU',
]

/** Writes `bench/latest.json` and answers its path. */
export function writeReport({ results, failures, startup, bundle, cores }: Report): string {
  mkdirSync(join(ROOT, 'bench'), { recursive: true })
  const content = {
    ...{ date: new Date().toISOString(), machine: machine(), pinned: cores, versions: versions() },
    ...{ results, failures, startup, bundle },
  }
  writeFileSync(FILE, `${JSON.stringify(content, null, 2)}\n`)
  return FILE
}

export function machine(): string {
  return `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown processor'}, ${platform()} ${release()} ${arch()}`
}

function versions(): Record<string, string> {
  const require = createRequire(import.meta.url)
  const installed = (name: string) =>
    (require(join(ROOT, 'node_modules', name, 'package.json')) as { version: string }).version
  const packages = ['workerd', 'miniflare', 'wrangler', 'hono']
  return { node: process.version, ...Object.fromEntries(packages.map((name) => [name, installed(name)])) }
}

export function table(results: readonly Result[]): string {
  const rows = [HEADINGS, ...results.map(cells)]
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  return rows.map(line).join('\n')
}

/** The same in one line, as progress. */
export const summaryOf = (result: Result): string => `  ${cells(result).slice(1, 7).join(' | ')}`

function cells(result: Result): string[] {
  const { row, what, unit, ours, baseline, ratio, target, verdict, serverTimeRatio, clientCpu } = result
  const figure = (value: number) => `${value.toFixed(DIGITS[unit])} ${unit}`
  return [
    row,
    what,
    figure(ours),
    figure(baseline),
    `${ratio.median.toFixed(2)} [${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)}]`,
    targetText(target, unit),
    verdict === 'met' ? 'met' : verdict.toUpperCase(),
    serverTimeRatio === null ? '' : `${serverTimeRatio.toFixed(2)}×`,
    clientCpu === null ? '' : `${Math.round(clientCpu * 100)} %`,
  ]
}

export function targetText(target: Target, unit: string): string {
  const { ratioAtLeast, ratioAtMost, oursAtLeast, oursAtMost, excessAtMost } = target
  const parts = [
    ratioAtLeast === undefined ? '' : `≥ ${ratioAtLeast.toFixed(2)}`,
    ratioAtMost === undefined ? '' : `≤ ${ratioAtMost.toFixed(2)}`,
    oursAtLeast === undefined ? '' : `≥ ${oursAtLeast} ${unit}`,
    oursAtMost === undefined ? '' : `≤ ${oursAtMost} ${unit}`,
    excessAtMost === undefined ? '' : `≤ baseline + ${excessAtMost} ${unit}`,
  ]
  return parts
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join(', ')
}
