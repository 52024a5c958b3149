import { expect, test } from 'vitest'
import { Allowance } from '../../../src/lib/allowance.ts'

test('so many at once and so many a second are taken, whatever the clock does', () => {
  const allowance = new Allowance(10, 3)
  const taken = (now: number, times: number) => Array.from({ length: times }, () => allowance.take(now))
  expect(taken(0, 4)).toEqual([true, true, true, false])
  expect(taken(100, 2)).toEqual([true, false])
  // Set back: nothing is gained, and nothing is lost.
  expect(taken(-5000, 1)).toEqual([false])
  expect(taken(-4900, 2)).toEqual([true, false])
  expect(taken(99_000, 4)).toEqual([true, true, true, false])
})
