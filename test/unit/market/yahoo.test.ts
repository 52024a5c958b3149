import { expect, test } from 'vitest'
import { withoutNoise } from '../../../src/market/providers/checks.ts'
import { yahooProvider } from '../../../src/market/providers/yahoo.ts'
import { YAHOO_APPLE, YAHOO_NOT_FOUND } from '../../fixtures/market/replies.ts'
import { html, instrument, json, status, upstream } from './upstream.ts'

const NOW = Date.parse('2026-01-04T04:00:00Z')

function yahoo(rules: Parameters<typeof upstream>[0]) {
  const { fetch, asked } = upstream(rules)
  return {
    provider: yahooProvider({ url: 'http://y.test', cookieUrl: 'http://c.test', clock: () => NOW, fetch }),
    asked,
  }
}

/** The Apple chart with its first result changed by a function. */
function changed(change: (result: (typeof YAHOO_APPLE)['chart']['result'][number]) => object): () => Response {
  const [result] = structuredClone(YAHOO_APPLE).chart.result
  if (!result) throw new Error('the fixture has no result')
  return json({ chart: { result: [{ ...result, ...change(result) }], error: null } })
}

test('bars skip the days without prices and are adjusted in proportion', async () => {
  const { provider, asked } = yahoo({ '/chart/AAPL?': json(YAHOO_APPLE) })
  const bars = await provider.dailyBars(instrument('AAPL'), { count: 50 })
  expect(bars.map(({ date }) => date)).toEqual(['2025-12-24', '2025-12-26', '2025-12-30', '2025-12-31'])
  expect(bars[0]).toEqual({
    date: '2025-12-24',
    open: 243.2565,
    high: 246.753,
    low: 241.8579,
    close: 245.754,
    volume: 20_111_200,
    amount: null,
  })
  expect(bars[3]).toMatchObject({ open: 249.9, close: 248.02 })
  expect(asked).toEqual(['http://y.test/v8/finance/chart/AAPL?range=3mo&interval=1d&events=div,split'])
  const upTo = await provider.dailyBars(instrument('AAPL'), { count: 2, endDate: '2025-12-30' })
  expect(upTo.map(({ date }) => date)).toEqual(['2025-12-26', '2025-12-30'])
})

test('the range asked for reaches far enough back from today', async () => {
  const { provider, asked } = yahoo({ '/chart/': json(YAHOO_APPLE) })
  const counts: [number, string | undefined, string][] = [
    [5, undefined, '1mo'],
    [89, undefined, '6mo'],
    [250, undefined, '2y'],
    [5, '2025-12-31', '3mo'],
    [20, '2026-01-01', '3mo'],
    [5, '2026-01-04', '1mo'],
    [9000, undefined, 'max'],
  ]
  for (const [count, endDate] of counts) {
    await provider.dailyBars(instrument('AAPL'), { count, ...(endDate === undefined ? {} : { endDate }) })
  }
  expect(asked.map((url) => new URL(url).searchParams.get('range'))).toEqual(counts.map(([, , range]) => range))
})

test('a quote takes its previous close from the session before, not from before the whole range', async () => {
  const { provider } = yahoo({ '/chart/AAPL?range=5d': json(YAHOO_APPLE) })
  expect(await provider.quote(instrument('AAPL'), {})).toMatchObject({
    price: 248.02,
    prevClose: 249.47,
    change: -1.45,
    changePct: -0.5812,
    open: 249.9,
    volume: 52_011_200,
    quotedAt: 1767214801000,
    name: 'Apple Inc.',
    currency: 'USD',
    peRatio: null,
  })
  const oneDay = changed(() => ({ timestamp: undefined, indicators: { quote: [{}] } }))
  expect(await yahoo({ '/chart/': oneDay }).provider.quote(instrument('AAPL'), {})).toMatchObject({
    prevClose: 240.5,
    open: null,
    volume: null,
  })
})

test('prices are told as they were made, not as 32 bits keep them', async () => {
  const kept = (value: number) => Math.fround(value)
  const [open, high, low, close] = [kept(1679.1), kept(1690.35), kept(1672.8), kept(1683.2)]
  const rest = { timestamp: [1767105000, 1767191400] }
  const before = [kept(1670.07), kept(1671), kept(1660.3), kept(1665.55)] as const
  const prices = {
    open: [before[0], open],
    high: [before[1], high],
    low: [before[2], low],
    close: [before[3], close],
    volume: [1, 1],
  }
  const indicators = { quote: [prices], adjclose: [{ adjclose: [before[3], close] }] }
  const noisy = changed(({ meta }) => ({ ...rest, indicators, meta: { ...meta, regularMarketPrice: close } }))
  expect(close).not.toBe(1683.2)
  expect(await yahoo({ '/chart/': noisy }).provider.quote(instrument('AAPL'), {})).toMatchObject({
    price: 1683.2,
    prevClose: 1665.55,
    change: 17.65,
    open: 1679.1,
    high: 1690.35,
    low: 1672.8,
  })
  const bars = await yahoo({ '/chart/': noisy }).provider.dailyBars(instrument('AAPL'), { count: 5 })
  expect(bars.at(-1)).toMatchObject({ open: 1679.1, high: 1690.35, low: 1672.8, close: 1683.2 })
})

test('a price that is truly finer than a step, or tiny, stays as it is', () => {
  const prices = [12.3456, 0.000_12, 1.000_001, 71_234.5, 399_000, 1e300]
  expect(prices.map(withoutNoise)).toEqual(prices)
  expect([1683.1999999, 0.1 + 0.2, Math.fround(0.0123)].map(withoutNoise)).toEqual([1683.2, 0.3, 0.0123])
})

test('symbols are written the way the source writes them', async () => {
  const symbols: [string, string][] = [
    ['600519', '600519.SS'],
    ['HK00700', '0700.HK'],
    ['BRK.B', 'BRK-B'],
    ['SPX', '%5EGSPC'],
    ['7203.T', '7203.T'],
  ]
  for (const [code, symbol] of symbols) {
    const { provider, asked } = yahoo({ '/chart/': json(YAHOO_NOT_FOUND) })
    await expect(provider.quote(instrument(code), {})).rejects.toThrow('yahoo: unknown_symbol')
    expect(asked[0]).toContain(`/v8/finance/chart/${symbol}?`)
  }
  expect(yahoo({}).provider.supports(instrument('920748'), 'daily_data')).toBe(false)
})

test('an answer that cannot be true is refused with its reason', async () => {
  const prices = (close: number[]) => ({ open: close, high: close, low: close, close, volume: [1, 1] })
  const twice = { timestamp: [1767105000, 1767105600], indicators: { quote: [prices([10, 10])] } }
  const negative = { timestamp: [1767105000, 1767191400], indicators: { quote: [prices([10, -10])] } }
  const rows: [string, () => Response][] = [
    ['yahoo: not_json (HTTP 200, text/html)', html],
    ['yahoo: unknown_symbol (HTTP 404)', status(404)],
    ['yahoo: http_status (HTTP 400)', status(400)],
    ['yahoo: malformed (not the known form of a chart)', json({ finance: {} })],
    ['yahoo: wrong_symbol (AAPL)', changed(({ meta }) => ({ meta: { ...meta, symbol: 'AAPB' } }))],
    ['yahoo: empty (no bars)', changed(() => ({ timestamp: undefined }))],
    ['yahoo: bad_dates (2025-12-30 does not come after 2025-12-30)', changed(() => twice)],
    ['yahoo: bad_price (a price of 2025-12-31 is not positive)', changed(() => negative)],
  ]
  for (const [reason, reply] of rows) {
    const { provider } = yahoo({ '/chart/': reply })
    await expect(provider.dailyBars(instrument('AAPL'), { count: 5 })).rejects.toThrow(reason)
  }
  const noPrice = yahoo({ '/chart/': changed(({ meta }) => ({ meta: { ...meta, regularMarketPrice: null } })) })
  await expect(noPrice.provider.quote(instrument('AAPL'), {})).rejects.toThrow('bad_price')
  const noTime = yahoo({ '/chart/': changed(({ meta }) => ({ meta: { ...meta, regularMarketTime: null } })) })
  await expect(noTime.provider.quote(instrument('AAPL'), {})).rejects.toThrow('bad_dates')
})
