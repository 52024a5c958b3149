// The sums of docs/deploy.md about what a deployment costs: each from its own row, and the total.

import { expect, test } from 'vitest'
import { textOf } from '../support/source-tree.ts'

const USERS = [10, 1_000, 1_000_000]
const PER: Readonly<Record<string, number>> = { 'a million': 1e6, 'a thousand': 1e3, each: 1 }

const numberIn = (cell: string | undefined) => Number((cell ?? '').replaceAll(',', ''))

test('what a deployment costs is computed as its table says', () => {
  const [, section = ''] = textOf('docs/deploy.md').split('## What it costs\n')
  const rows = section
    .split('\n## ')[0]
    ?.split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
    .slice(2)
  const [total = [], ...costs] = rows?.toReversed() ?? []
  expect(costs.length).toBeGreaterThan(7)
  const sums = USERS.map(() => 5)
  for (const [what, each, included, price = '', ...told] of costs) {
    const [dollars, ...words] = price.split(' ')
    const per = PER[words.join(' ')] ?? Number.NaN
    const computed = USERS.map(
      (users) => (Math.max(0, numberIn(each) * users - numberIn(included)) * Number(dollars)) / per,
    )
    expect([what, told.map(numberIn)]).toEqual([what, computed.map(Math.round)])
    for (const [i, sum] of computed.entries()) sums[i] = (sums[i] ?? 0) + sum
  }
  expect(total.slice(-USERS.length).map(numberIn)).toEqual(sums.map(Math.round))
})
