// The table of docs/benchmarks.md says of every row what is measured of it, and why one that misses its target does.

import { expect, test } from 'vitest'
import { AIMS } from '../../scripts/bench/aims.ts'
import { type Figures, rowsInDocument, tableOf, UNKNOWN } from '../../scripts/bench/document.ts'
import { targetText } from '../../scripts/bench/report.ts'
import { compare, type Target } from '../../scripts/bench/rounds.ts'
import { ROW_NAMES } from '../../scripts/bench/rows.ts'

/** A target without its units. */
const bare = (text: string) => text.replaceAll(/ ?(ms|MiB|s|share|\/s)(?=$|,)/g, '')

test('every row is held to something, or to nothing on purpose', () => {
  expect(Object.keys(AIMS).toSorted()).toEqual(ROW_NAMES.toSorted())
})

test('the table of the document has the rows of the benchmark, with their targets', () => {
  const wanted = ROW_NAMES.flatMap((row) =>
    (AIMS[row] ?? []).map(({ target }) => [row, bare(targetText(target, '')) || 'none']),
  )
  const found = rowsInDocument().map(([row = '', , target = '']) => [row, bare(target)])
  expect(found).toEqual(wanted)
})

test('what misses its target, or says nothing, has its cause beside it', () => {
  const bad = rowsInDocument().filter(([, , , , verdict]) => !['met', '', UNKNOWN].includes(verdict?.trim() ?? ''))
  expect(bad.filter(([, , , , , limit = '']) => limit.trim().length < 8).map(([row, what]) => [row, what])).toEqual([])
})

const figures = (over: Partial<Figures>): Figures => ({
  date: '2026-01-02T03:04:05Z',
  machine: 'two cores',
  results: [],
  startup: null,
  ...over,
})
const result = (what: string, ours: number) => ({
  ...{ row: 'P6', what, unit: '/s', ours, baseline: 1000, verdict: 'missed' },
  ratio: { median: ours / 1000, min: 0.7, max: 0.95 },
})

test('a later file stands for an earlier one row by row, verdicts are those of the targets of today, and what is missing says so', () => {
  const earlier = figures({ results: [result('old', 100), result('old too', 10)] })
  const later = figures({ results: [result('events | each', 850), { ...result('p99', 40), unit: 'ms' }] })
  const partial = figures({ results: [result('half of a row', 1)] })
  const lines = tableOf([earlier, later, partial]).split('\n')
  expect(lines[0]).toBe('two cores, 2026-01-02.')
  expect(lines.filter((line) => line.startsWith('| P6 '))).toEqual([
    '| P6 | events \\| each | ≥ 0.80 | 850 by 1,000 /s: 0.85 (0.7 to 0.95) | met |  |',
    '| P6 | p99 | ≤ 60 ms | 40 by 1,000 ms: 0.04 (0.7 to 0.95) | met |  |',
  ])
  expect(lines.find((line) => line.startsWith('| P7 '))).toBe('| P7 |  | ≥ 5.00 |  | not measured |  |')
})

/** A row of which ours gives these values in turn, and the baseline a hundred each time. */
async function verdictOf(values: readonly number[], target: Target) {
  const sample = (value: number) => ({ value, clientCpu: null, serverMicros: null, waited: null })
  let asked = 0
  const ours = async () => sample(values[asked++ % values.length] ?? 0)
  const row = { row: 'P1', what: 'a row', unit: '/s', target, ours, baseline: async () => sample(100) } as const
  return (await compare(row, { rounds: values.length, until: 0 })).verdict
}

test('restless rounds say nothing where they differ about the target, and all the same where each of them meets or misses it', async () => {
  const restless = [60, 100, 80, 90, 70]
  expect(await verdictOf(restless, { ratioAtLeast: 0.75 })).toBe('noisy')
  expect(await verdictOf(restless, {})).toBe('noisy')
  expect(await verdictOf(restless, { ratioAtLeast: 0.5, oursAtLeast: 50 })).toBe('met')
  expect(await verdictOf(restless, { oursAtLeast: 200 })).toBe('missed')
  expect(await verdictOf([80, 81, 82, 83, 84], { ratioAtLeast: 0.82 })).toBe('met')
})
