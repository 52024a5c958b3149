// The readers of `npm run conformance`, which fetches what others test with: on a piece of it.

import { expect, test } from 'vitest'
import { EXPECTED } from '../../scripts/conformance/expected.ts'
import { rowsOf } from '../../scripts/conformance/ta-lib.ts'

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
