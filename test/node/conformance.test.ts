// The readers of `npm run conformance`, which fetches what others test with: on a piece of it.

import { expect, test } from 'vitest'
import { EXPECTED } from '../../scripts/conformance/expected.ts'
import { rowsOf } from '../../scripts/conformance/ta-lib.ts'
import { verdictOn } from '../../scripts/conformance/verdict.ts'

/** As in TA-Lib's test_ma.c and test_macd.c. */
const TABLE = `
static TA_Test tableTest[] =
{
   /* Test suppose to succeed. */
   { 1, TA_ANY_MA_TEST, 0, 0, 251,  2, TA_MAType_SMA, TA_COMPATIBILITY_DEFAULT, TA_SUCCESS,   0,   93.15,  1,  252-1  }, /* First Value */
   { 0, TA_RSI_TEST, 1, 0, 251, 14, TA_COMPATIBILITY_DEFAULT, TA_SUCCESS, 252-(15+1), 49.63,  15,  252-(14+1) },
   { 0, TA_MACD_TEST, 0, 251, 12, 26, 9, TA_COMPATIBILITY_DEFAULT, TA_SUCCESS,  33, 252-33, /* 25, 252-25,*/
                                                          0, (-1.9738)-(-2.7071) }, /* Histogram */
};
`

test('a row of a table in C is its names and numbers, with sums for what they are', () => {
  const [average, strength, lines] = rowsOf(TABLE)
  expect(average).toEqual([
    ...[1, 'TA_ANY_MA_TEST', 0, 0, 251, 2, 'TA_MAType_SMA', 'TA_COMPATIBILITY_DEFAULT', 'TA_SUCCESS', 0, 93.15, 1, 251],
  ])
  expect(strength?.slice(-4)).toEqual([236, 49.63, 15, 237])
  expect(lines?.slice(-4, -1)).toEqual([33, 219, 0])
  expect(lines?.at(-1)).toBeCloseTo(0.7333, 9)
})

test('each difference from a suite of others has a reason in words', () => {
  expect(EXPECTED.filter(({ reason }) => reason.length < 20)).toEqual([])
  expect(EXPECTED.length).toBeGreaterThan(5)
})

const SUITE = { name: 'theirs', count: 3 }
const REASON = { suite: 'theirs', is: /^odd/, count: 1, reason: 'theirs is odd, and known to be so' }
const caseOf = (name: string, passed: boolean) => ({ name, passed, detail: 'one, not two' })
const wellOf = (...passed: Record<string, boolean>[]) =>
  passed.map((all) => {
    const cases = Object.entries(all).map(([name, is]) => caseOf(name, is))
    return verdictOn(SUITE, cases, [REASON, { ...REASON, suite: 'another' }]).isWell
  })

test('a suite is well when all is as it was: a case more, fewer, or other than expected is a failure', () => {
  expect(wellOf({ a: true, b: true, odd: false })).toEqual([true])
  expect(
    wellOf(
      { a: true, b: false, odd: false },
      { a: true, odd: false },
      { a: true, b: true, c: true, odd: false },
      { a: true, b: true, odd: true },
      { a: true, odd: false, odder: false },
      {},
    ),
  ).toEqual([false, false, false, false, false, false])
  const told = verdictOn(SUITE, [caseOf('a', true), caseOf('b', false), caseOf('odd', false)], [REASON])
  expect(told.lines).toEqual([`${'theirs'.padEnd(32)} 1 of 3, 33.3 %`, '    FAILED b: one, not two'])
})
