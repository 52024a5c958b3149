import { expect, test } from 'vitest'
import { countBreadth, type ListedPrice } from '../../../src/analysis/market-review/listed-prices.ts'

const stock = (code: string, name: string, price: number): ListedPrice => ({
  code,
  name,
  price,
  prevClose: 10,
  amount: 1e8,
})

test('the list of a day tells which limit its risk-warned shares had', () => {
  // Three of them beyond 5 %: the limit was the board's.
  const wide = [
    stock('600001', '*ST某', 11),
    stock('600002', 'ST甲', 10.7),
    stock('600003', 'ST乙', 9),
    stock('600004', 'ST丙', 10.5),
    stock('300001', 'ST创', 10.5),
  ]
  expect(countBreadth(wide, 1e8)).toMatchObject({ up: 4, down: 1, limitUp: 1, limitDown: 1 })
  expect(countBreadth(wide.slice(2), 1e8)).toMatchObject({ limitUp: 1, limitDown: 0 })
})
