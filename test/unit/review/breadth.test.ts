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

test('limits are 30, 20, 5 or 10 per cent by board and name, rounded half up to the cent; what did not trade does not count', () => {
  const stock = (code: string, name: string, price: number, prevClose: number, amount = 1e8) => {
    return { code, name, price, prevClose, amount }
  }
  const prices = [
    stock('600000', '浦发银行', 11, 10),
    stock('000001', '平安银行', 10.99, 10),
    stock('600001', '*ST某', 10.5, 10),
    stock('300750', '宁德时代', 12, 10),
    stock('688001', '华兴源创', 8, 10),
    stock('830001', '北交', 13, 10),
    // 12.35 × 1.1 = 13.585, which is 13.59 rounded half up, though its binary form lies below.
    stock('600002', '半分', 13.59, 12.35),
    stock('600003', '跌停', 9, 10),
    stock('600004', '平盘', 10, 10),
    stock('600005', '停牌', 0, 10),
    stock('600006', '无量', 11, 10, 0),
  ]
  expect(countBreadth(prices, 1e8)).toEqual({ up: 6, down: 2, flat: 1, limitUp: 5, limitDown: 2, totalAmount: 9 })
})
