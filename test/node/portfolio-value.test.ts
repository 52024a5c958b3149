// Values in several currencies against exact fractions, rounded where docs/portfolio.md says; returns against published examples.

import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { formatAmount, ONE, parseAmount } from '../../src/lib/decimal.ts'
import { benchmarkOfMarket } from '../../src/market/benchmarks.ts'
import type { MarketData } from '../../src/market/providers/index.ts'
import { type LedgerEvent, replay } from '../../src/portfolio/ledger.ts'
import { indexReturn } from '../../src/portfolio/prices.ts'
import { rateFinder } from '../../src/portfolio/rates.ts'
import { type DayValue, drawdown, growth, moneyWeighted, timeWeighted } from '../../src/portfolio/returns.ts'
import { correlations } from '../../src/portfolio/risk.ts'
import { sectorsOf } from '../../src/portfolio/sectors.ts'
import { accountValue, totalOf } from '../../src/portfolio/valuation.ts'
import { add, decimal, type Frac, frac, mul, printed } from '../support/portfolio-oracle.ts'

const RUNS = inject('isProof') ? 10_000 : 1_000

const amountOf = (text: string) => parseAmount(text) ?? 0n
const text = (max: number) =>
  fc
    .tuple(fc.nat({ max }), fc.nat({ max: 99_999_999 }))
    .map(([whole, rest]) => `${whole}.${`${rest}`.padStart(8, '0')}`)
const above = (max: number) => text(max).map((value) => (/[1-9]/.test(value) ? value : '1'))

const CURRENCIES = ['CNY', 'HKD', 'USD'] as const
const held = fc.record({
  currency: fc.constantFrom(...CURRENCIES),
  quantity: above(100_000),
  bought: above(3_000),
  fee: text(30),
  close: above(3_000),
  cash: text(1_000_000),
})

/** As it is shown, and counted with from there. */
const shown = (value: Frac): Frac => decimal(printed(value))

test('sums in another currency are those of their parts as shown, each rounded once in each currency', () => {
  fc.assert(
    fc.property(fc.array(held, { maxLength: 6 }), above(20), above(20), (all, hkd, usd) => {
      const rates: Record<string, string> = { CNY: '1', HKD: hkd, USD: usd }
      const events = all.flatMap(({ currency, quantity, bought, fee, cash }, i): LedgerEvent[] => [
        {
          kind: 'trade',
          id: i,
          date: '2026-01-05',
          symbol: `S${i}`,
          market: 'us',
          currency,
          side: 'buy',
          quantity: amountOf(quantity),
          price: amountOf(bought),
          fee: amountOf(fee),
          tax: 0n,
        },
        { kind: 'cash', id: 100 + i, date: '2026-01-05', direction: 'in', amount: amountOf(cash), currency },
      ])
      const value = accountValue(replay(events, 'fifo'), 'CNY', {
        price: ({ symbol }) => ({
          price: amountOf(all[Number(symbol.slice(1))]?.close ?? ''),
          date: '2026-01-05',
          provider: 'x',
          isStale: false,
        }),
        rate: (from) => ({ rate: amountOf(rates[from] ?? ''), date: '2026-01-05', source: 'x' }),
      })
      const inYuan = (part: Frac, currency: string) => shown(mul(part, decimal(rates[currency] ?? '')))
      let [worth, profit, balance] = [frac(0n), frac(0n), frac(0n)]
      for (const { currency, quantity, bought, fee, close } of all) {
        const marketValue = shown(mul(decimal(quantity), decimal(close)))
        const cost = shown(add(mul(decimal(quantity), decimal(bought)), decimal(fee)))
        worth = add(worth, inYuan(marketValue, currency))
        profit = add(profit, inYuan(add(marketValue, { n: -cost.n, d: cost.d }), currency))
      }
      for (const own of CURRENCIES) {
        let cash = frac(0n)
        for (const { currency, quantity, bought, fee, cash: paid } of all) {
          if (currency !== own) continue
          const cost = add(mul(decimal(quantity), decimal(bought)), decimal(fee))
          cash = add(cash, add(decimal(paid), { n: -cost.n, d: cost.d }))
        }
        balance = add(balance, inYuan(shown(cash), own))
      }
      const { totals } = value
      expect(
        [totals.marketValue, totals.unrealized, totals.cash, totals.equity].map((sum) => formatAmount(sum ?? -1n)),
      ).toEqual([worth, profit, balance, add(worth, balance)].map(printed))
      // Parts as they are shown add up to the whole as it is shown.
      const parts = value.positions.reduce((sum, { marketValueBase }) => sum + (marketValueBase ?? 0n), 0n)
      expect(parts).toBe(totals.marketValue)
    }),
    { numRuns: RUNS },
  )
})

test('without a rate there is no sum, without a price there is a smaller one, and both are named', () => {
  const buy = { kind: 'trade', side: 'buy', date: '2026-01-05', fee: 0n, tax: 0n, price: ONE, quantity: ONE } as const
  const events: LedgerEvent[] = [
    { ...buy, id: 1, symbol: '600519', market: 'cn', currency: 'CNY' },
    { ...buy, id: 2, symbol: '000001', market: 'cn', currency: 'CNY' },
    { ...buy, id: 3, symbol: 'AAPL', market: 'us', currency: 'USD' },
  ]
  const price = { price: 3n * ONE, date: '2026-01-05', provider: 'x', isStale: false }
  const view = { price: ({ symbol }: { symbol: string }) => (symbol === '000001' ? null : price), rate: () => null }
  const value = accountValue(replay(events, 'fifo'), 'CNY', view)
  expect(value.totals).toMatchObject({ marketValue: null, unrealized: null, cash: null, equity: null, fees: 0n })
  expect([value.missingRates, value.unpriced.map(({ symbol }) => symbol)]).toEqual([['USD/CNY'], ['000001']])
  const domestic = accountValue(replay(events.slice(0, 2), 'fifo'), 'CNY', view)
  expect(domestic.totals).toMatchObject({ marketValue: 3n * ONE, cash: -2n * ONE, equity: ONE })
  const total = totalOf([value, domestic], 'CNY', view)
  expect([total.totals.equity, total.missingRates]).toEqual([null, ['USD/CNY']])
})

test('a rate is found as given, turned round or by way of a third currency, for its day and seven more', () => {
  const rate = (currency: string, quote: string, date: string, value: string) => ({
    currency,
    quote,
    date,
    rate: amountOf(value),
  })
  const rates = [
    rate('USD', 'CNY', '2026-01-05', '7'),
    rate('USD', 'CNY', '2026-01-06', '8'),
    rate('USD', 'HKD', '2026-01-05', '7.8'),
    rate('USD', 'JPY', '2025-12-01', '150'),
  ]
  const on = (day: string) => (from: string, to: string) => {
    const found = rateFinder(rates, day)(from, to)
    return found === null ? null : [formatAmount(found.rate), found.date]
  }
  expect(on('2026-01-05')('USD', 'CNY')).toEqual(['7', '2026-01-05'])
  expect(on('2026-01-09')('USD', 'CNY')).toEqual(['8', '2026-01-06'])
  expect(on('2026-01-09')('CNY', 'USD')).toEqual(['0.125', '2026-01-06'])
  expect(on('2026-01-09')('HKD', 'CNY')).toEqual(['1.02564103', '2026-01-05'])
  expect(on('2026-01-13')('USD', 'CNY')).toEqual(['8', '2026-01-06'])
  expect(on('2026-01-14')('USD', 'CNY')).toBe(null)
  expect(on('2026-01-04')('USD', 'CNY')).toBe(null)
  expect(on('2026-01-09')('USD', 'JPY')).toBe(null)
})

test('returns leave out what was paid in, and count when it was', () => {
  // The example of Excel's documentation of XIRR: 37.336 %.
  const paid: [string, number][] = [
    ['2008-01-01', 10_000],
    ['2008-03-01', -2_750],
    ['2008-10-30', -4_250],
    ['2009-02-15', -3_250],
  ]
  const days: DayValue[] = paid.map(([date, flow], i) => ({
    date,
    flow: i === 0 ? 0 : flow,
    value: i === 0 ? flow : 1,
  }))
  expect(moneyWeighted([...days, { date: '2009-04-01', flow: 0, value: 2_750 }])).toBeCloseTo(0.373362535, 6)
  // Doubled, then a deposit as large as all there is, then halved: nothing gained over the time, half lost of the money.
  const swing = [
    { date: '2026-01-01', value: 100, flow: 0 },
    { date: '2026-01-02', value: 200, flow: 0 },
    { date: '2026-01-03', value: 200, flow: 200 },
  ]
  expect(timeWeighted(swing)).toBeCloseTo(0, 12)
  expect(drawdown(growth(swing))).toEqual({ deepest: 0.5, current: 0.5 })
  expect(
    moneyWeighted([
      { date: '2025-01-01', value: 100, flow: 0 },
      { date: '2026-01-01', value: 110, flow: 0 },
    ]),
  ).toBeCloseTo(0.1, 9)
  expect(timeWeighted([{ date: '2026-01-01', value: 100, flow: 0 }])).toBe(null)
  expect(moneyWeighted([{ date: '2026-01-01', value: 100, flow: 0 }])).toBe(null)
  // A withdrawal is no fall.
  expect(
    drawdown(
      growth([
        { date: '2026-01-01', value: 100, flow: 0 },
        { date: '2026-01-02', value: 50, flow: -50 },
      ]),
    ),
  ).toEqual({ deepest: 0, current: 0 })
  expect(
    moneyWeighted([
      { date: '2026-01-01', value: 100, flow: 0 },
      { date: '2026-01-31', value: 0, flow: 0 },
    ]),
  ).toBe(null)
})

test('how two stocks move together is told with the days it rests on, and not at all below thirty returns', () => {
  const day = (i: number) => new Date(Date.UTC(2026, 0, 1 + i)).toISOString().slice(0, 10)
  const series = (symbol: string, moves: readonly number[], step = 1) => {
    let close = 100
    const days = moves.map((move, i) => {
      close *= 1 + move
      return { date: day(i * step), close: amountOf(close.toFixed(8)) }
    })
    return { symbol, days }
  }
  const moves = Array.from({ length: 31 }, (_, i) => (i % 3 === 0 ? 0.02 : i % 2 === 0 ? -0.01 : 0.005))
  const told = (...all: ReturnType<typeof series>[]) =>
    correlations(all, '2026-01-01').map(({ a, b, days, correlation }) => [a, b, days, correlation])
  const [same, opposite] = [
    series('A', moves),
    series(
      'B',
      moves.map((move) => -move),
    ),
  ]
  const together = told(same, series('A2', moves), opposite)
  expect(together.map(([a, b, days]) => [a, b, days])).toEqual([
    ['A', 'A2', 30],
    ['A', 'B', 30],
    ['A2', 'B', 30],
  ])
  expect(together[0]?.[3]).toBeCloseTo(1, 9)
  expect(together[1]?.[3]).toBeCloseTo(-1, 3)
  // A stock that trades every other day shares half of the days.
  expect(told(same, series('C', moves, 2))).toEqual([['A', 'C', 15, null]])
  expect(
    told(
      same,
      series(
        'still',
        moves.map(() => 0),
      ),
    ),
  ).toEqual([['A', 'still', 30, null]])
  expect(told(same, series('none', []))).toEqual([['A', 'none', 0, null]])
  expect(correlations([same, opposite], '2026-01-02')).toMatchObject([{ days: 29, correlation: null }])
})

test('an index is measured by its last closes up to both days; a missing one is null, and nothing is guessed', async () => {
  const bar = (date: string, close: number) => ({ date, close })
  const market = (bars: object[] | null) =>
    ({
      indexBars: async () =>
        bars === null ? { ok: false, runs: [] } : { ok: true, value: bars, provider: 'x', runs: [] },
    }) as unknown as MarketData
  const signal = new AbortController().signal
  const measured = (bars: object[] | null, from: string, to: string) =>
    indexReturn(market(bars), benchmarkOfMarket('cn'), { from, to, signal })
  const bars = [bar('2025-12-05', 4_000), bar('2025-12-08', 4_100), bar('2025-12-31', 4_400)]
  expect(await measured(bars, '2025-12-07', '2026-01-01')).toMatchObject({
    from: '2025-12-05',
    to: '2025-12-31',
    provider: 'x',
  })
  expect((await measured(bars, '2025-12-07', '2026-01-01'))?.share).toBeCloseTo(0.1, 12)
  expect(await measured(bars, '2025-12-01', '2026-01-01')).toBe(null)
  expect(await measured(bars, '2025-12-08', '2026-02-01')).toBe(null)
  expect(await measured(null, '2025-12-08', '2025-12-31')).toBe(null)
})

test('an industry is told of mainland stocks alone; what failed or came too late is told apart from what has none', async () => {
  const asked: string[] = []
  const market = {
    boards: async ({ key }: { key: string }) => {
      asked.push(key)
      if (key === '000001') return { ok: false, runs: [{ errorType: 'timeout' }] }
      if (key === '300750') return { ok: false, runs: [{ errorType: 'unsupported' }] }
      return { ok: true, value: [{ code: 'BK0477', name: '酿酒行业', changePct: 1 }], runs: [] }
    },
    peers: async () => ({ ok: true, value: { board: { code: 'BK0477', name: '酿酒行业' } }, runs: [] }),
  } as unknown as MarketData
  const symbols = ['600519', '000001', '300750', '510300', 'AAPL']
  const told = await sectorsOf(market, symbols, new AbortController().signal)
  expect([...told].map(([symbol, sector]) => [symbol, 'name' in sector ? sector.name : sector.kind])).toEqual([
    ['600519', '酿酒行业'],
    ['000001', 'failed'],
    ['300750', 'none'],
    ['510300', 'none'],
    ['AAPL', 'none'],
  ])
  expect(asked).toEqual(['600519', '000001', '300750'])
  expect([...(await sectorsOf(market, symbols, AbortSignal.abort())).values()].map(({ kind }) => kind)).toEqual([
    'failed',
    'failed',
    'failed',
    'none',
    'none',
  ])
})
