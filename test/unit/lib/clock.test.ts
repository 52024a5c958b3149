import { expect, test } from 'vitest'
import { isoMicros } from '../../../src/lib/clock.ts'

test('a time is written as itself, whatever was written before', () => {
  const [first, second] = [Date.UTC(2026, 0, 2, 3, 4, 5, 6), Date.UTC(2026, 0, 2, 3, 4, 5, 7)]
  expect([first, first, second, first].map(isoMicros)).toEqual([
    '2026-01-02T03:04:05.006000Z',
    '2026-01-02T03:04:05.006000Z',
    '2026-01-02T03:04:05.007000Z',
    '2026-01-02T03:04:05.006000Z',
  ])
  expect(() => isoMicros(Number.NaN)).toThrow(RangeError)
})
