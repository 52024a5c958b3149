import { expect, test } from 'vitest'
import { outcomeOf } from '../../../src/market/providers/gate.ts'
import { createMarketData } from '../../../src/market/providers/index.ts'
import { yahooProvider } from '../../../src/market/providers/yahoo.ts'
import {
  dividendChart,
  over,
  QUARTERS,
  series,
  timeseries,
  wholeSeries,
  YEARS,
} from '../../fixtures/market/yahoo-fundamentals.ts'
import { html, instrument, json, status, upstream } from './upstream.ts'

const NOW = Date.parse('2026-01-04T04:00:00Z')
const PATH = '/ws/fundamentals-timeseries/'

function yahoo(rules: Parameters<typeof upstream>[0]) {
  const { fetch, asked } = upstream(rules)
  const provider = yahooProvider({ url: 'http://y.test', cookieUrl: 'http://c.test', clock: () => NOW, fetch })
  return { asked, of: (code: string) => provider.fundamentals?.(instrument(code), {}), provider }
}

const NO_DIVIDENDS = { '/v8/finance/chart/': json(dividendChart('AAPL', 'USD', [])) }

/** What is made of some series of Apple's. */
const told = (...lines: object[]) => yahoo({ [PATH]: json(timeseries(...lines)), ...NO_DIVIDENDS }).of('AAPL')

test('the newest quarter is told with growth, margin and return computed, its dividends and its ratios', async () => {
  const chart = dividendChart('AAPL', 'USD', [
    ['2025-08-11', 0.26],
    ['2025-11-10', 0.26],
    ['2025-05-12', 0],
  ])
  const { of, asked } = yahoo({ [PATH]: json(timeseries(...wholeSeries('AAPL', 'USD'))), '/chart/AAPL?': json(chart) })
  expect(await of('AAPL')).toEqual({
    report: {
      reportDate: '2025-09-30',
      period: 'quarter',
      revenue: 110e9,
      netProfitParent: 27e9,
      operatingCashFlow: 31e9,
      // Four quarters' profit of 100 on a mean equity of 200.
      roePct: 50,
      grossMarginPct: 45,
      revenueYoyPct: 10,
      netProfitYoyPct: -10,
      currency: 'USD',
    },
    dividends: ['2025-11-10', '2025-08-11'].map((exDate) => {
      return { exDate, recordDate: null, announcedOn: null, cashPerShare: 0.26, currency: 'USD' }
    }),
    valuation: { asOf: '2025-12-31', peRatio: 31.25, pbRatio: 8.4, marketValue: 3.1e12, currency: 'USD' },
  })
  const [first = ''] = asked
  const { pathname, searchParams } = new URL(first)
  expect(pathname).toBe('/ws/fundamentals-timeseries/v1/finance/timeseries/AAPL')
  expect(searchParams.get('symbol')).toBe('AAPL')
  expect(searchParams.get('type')?.split(',')).toEqual(expect.arrayContaining(['annualGrossProfit', 'trailingPeRatio']))
  expect(Number(searchParams.get('period2'))).toBe(NOW / 1000)
})

test('a year is told where no quarter can be compared, and before its own last quarter', async () => {
  const years = wholeSeries('AAPL', 'USD').filter(({ meta }) => meta.type[0]?.startsWith('annual'))
  const fewQuarters = series('AAPL', 'quarterlyTotalRevenue', over(QUARTERS, [110e9, 105e9, 100e9, 95e9]))
  const year = { reportDate: '2024-12-31', period: 'year', revenueYoyPct: 2.63, netProfitYoyPct: 20, roePct: 53.33 }
  expect((await told(...years, fewQuarters))?.report).toMatchObject({ ...year, operatingCashFlow: null })
  const sameEnd = series('AAPL', 'quarterlyTotalRevenue', over(['2024-12-31', '2023-12-31'], [95e9, 90e9]))
  expect((await told(...years, sameEnd))?.report).toMatchObject(year)
  // Nothing to compare with at all: the newest, without growth.
  const alone = series('AAPL', 'quarterlyTotalRevenue', over(['2025-09-30'], [110e9]))
  expect((await told(alone))?.report).toMatchObject({ period: 'quarter', revenueYoyPct: null, roePct: null })
})

test('figures of other money, other periods and no meaning are never compared or divided', async () => {
  const revenue = (currency: string) => series('AAPL', 'annualTotalRevenue', over(YEARS, [390e9, 380e9], currency))
  const changed = series('AAPL', 'annualTotalRevenue', [
    { date: '2023-12-31', raw: 2.5e12, currency: 'TWD' },
    { date: '2024-12-31', raw: 90e9, currency: 'USD' },
  ])
  expect((await told(changed))?.report).toMatchObject({ revenue: 90e9, revenueYoyPct: null, currency: 'USD' })
  const mixed = series('AAPL', 'annualGrossProfit', over(YEARS, [100e9, 90e9], 'EUR'))
  expect((await told(revenue('USD'), mixed))?.report).toMatchObject({ grossMarginPct: null, revenueYoyPct: 2.63 })
  const half = series('AAPL', 'quarterlyTotalRevenue', [{ date: '2025-09-30', raw: 200e9, periodType: '6M' }])
  expect((await told(revenue('CNY'), half))?.report).toMatchObject({ reportDate: '2024-12-31', currency: 'CNY' })
  const loss = series('AAPL', 'annualNetIncomeCommonStockholders', over(YEARS, [5e9, -10e9]))
  expect((await told(loss))?.report).toMatchObject({ netProfitParent: 5e9, netProfitYoyPct: null, revenue: null })
  const debt = series('AAPL', 'annualStockholdersEquity', over(YEARS, [-1e9, 2e9]))
  expect((await told(loss, debt))?.report?.roePct).toBeNull()
  // A year of 53 weeks ends a week later and is comparable all the same.
  const weeks = series('AAPL', 'annualTotalRevenue', over(['2025-01-03', '2023-12-29'], [110, 100]))
  expect((await told(weeks))?.report?.revenueYoyPct).toBe(10)
})

test('ratios are all of one day: a loss has none, and an old one does not take its place', async () => {
  const pe = series('AAPL', 'trailingPeRatio', over(['2025-09-30'], [30]))
  const pb = series('AAPL', 'trailingPbRatio', over(['2025-12-31', '2025-09-30'], [2, 3]))
  expect((await told(pe, pb))?.valuation).toEqual({
    asOf: '2025-12-31',
    peRatio: null,
    pbRatio: 2,
    marketValue: null,
    currency: null,
  })
})

test('figures that cannot be true, of somebody else, or none at all are refused with their reason', async () => {
  const line = series('AAPL', 'annualTotalRevenue', over(YEARS, [390e9]))
  const rows: [string, () => Response][] = [
    ['yahoo: not_json (HTTP 200, text/html)', html],
    ['yahoo: rate_limited (HTTP 429)', status(429, { 'retry-after': '60' })],
    ['yahoo: unknown_symbol (HTTP 404)', status(404)],
    ['yahoo: malformed (not the known form of time series)', json({ quoteSummary: {} })],
    [
      'yahoo: malformed (not the known form of a figure)',
      json(timeseries({ ...line, annualTotalRevenue: [{ raw: 1 }] })),
    ],
    ['yahoo: wrong_symbol (AAPL)', json(timeseries(...wholeSeries('MSFT', 'USD')))],
    [
      'yahoo: bad_dates (2026-03-31 has not come yet)',
      json(timeseries(series('AAPL', 'annualTotalRevenue', over(['2026-03-31'], [1])))),
    ],
    [
      'yahoo: bad_dates (a figure without its date)',
      json(timeseries(series('AAPL', 'annualTotalRevenue', over(['2025-02-30'], [1])))),
    ],
    [
      'yahoo: empty (neither results, dividends nor ratios)',
      json(timeseries(series('AAPL', 'annualTotalRevenue', []))),
    ],
    ['yahoo: empty (neither results, dividends nor ratios)', json({ timeseries: { result: null, error: null } })],
  ]
  for (const [reason, reply] of rows) {
    await expect(yahoo({ [PATH]: reply, ...NO_DIVIDENDS }).of('AAPL')).rejects.toThrow(reason)
  }
  const future = { '/v8/finance/chart/': json(dividendChart('AAPL', 'USD', [['2031-01-01', 1]])) }
  await expect(yahoo({ [PATH]: json(timeseries(line)), ...future }).of('AAPL')).rejects.toThrow('bad_dates')
})

test('companies outside the mainland are asked about, the mainland, funds and indices are not', () => {
  const { provider } = yahoo({})
  const asked = ['AAPL', 'HK00700', '7203.T', '005930.KS', '2330.TW', '600519', '510300', 'SPX', 'HSI', '920748']
  expect(asked.filter((code) => provider.supports(instrument(code), 'fundamentals'))).toEqual(asked.slice(0, 5))
  expect(provider.supports(instrument('AAPL'), 'capital_flow')).toBe(false)
})

/** A service that tells nothing without a cookie of its own and the crumb that belongs to it. */
function guardedService() {
  const state = { cookie: 'A3=d=AQABBK7_yz&S=AQAAAh', crumb: 'yqR3/KfV.1b', crumbReply: '', asked: [] as string[] }
  const isKnown = (init: RequestInit) => new Headers(init.headers).get('cookie')?.includes(state.cookie) === true
  const answer = (url: string, init: RequestInit): Response => {
    const { host, pathname, searchParams } = new URL(url)
    if (!new Headers(init.headers).get('user-agent')?.includes('Mozilla')) return new Response('', { status: 429 })
    if (host === 'c.test') {
      const headers = new Headers()
      headers.append('set-cookie', `${state.cookie}; Expires=Sun, 3 Jan 2027 04:00:00 GMT; Domain=.yahoo.com; Secure`)
      headers.append('set-cookie', 'A1=d=x; Path=/; HttpOnly')
      return new Response('<html>not found</html>', { status: 404, headers })
    }
    if (pathname === '/v1/test/getcrumb') {
      return isKnown(init) ? new Response(state.crumbReply || state.crumb) : new Response('', { status: 401 })
    }
    if (pathname.startsWith('/v8/')) return Response.json(dividendChart('AAPL', 'USD', [['2025-11-10', 0.26]]))
    if (!isKnown(init) || searchParams.get('crumb') !== state.crumb) {
      return Response.json(
        { finance: { error: { code: 'Unauthorized', description: 'Invalid Crumb' } } },
        { status: 401 },
      )
    }
    return Response.json(timeseries(...wholeSeries('AAPL', 'USD')))
  }
  const fetch = async (url: string, init: RequestInit) => {
    state.asked.push(new URL(url).pathname.split('/').at(-1) || 'cookie')
    return answer(url, init)
  }
  return { state, fetch }
}

test('a service that wants a session gets one: it is kept for half an hour and made anew when it is refused', async () => {
  const { state, fetch } = guardedService()
  let now = NOW
  const ask = async () => {
    state.asked.length = 0
    // As each analysis does: the session must outlive the provider.
    const options = { url: 'http://kept.test', cookieUrl: 'http://c.test', clock: () => now, fetch }
    const found = await yahooProvider(options).fundamentals?.(instrument('AAPL'), {})
    expect(found?.report?.reportDate).toBe('2025-09-30')
    return state.asked.filter((name, i) => name !== 'AAPL' || i !== 1)
  }
  expect(await ask()).toEqual(['AAPL', 'cookie', 'getcrumb', 'AAPL'])
  expect(await ask()).toEqual(['AAPL'])
  now += 31 * 60_000
  expect(await ask()).toEqual(['AAPL', 'cookie', 'getcrumb', 'AAPL'])
  // The service forgets it before its time.
  state.cookie = 'A3=d=other'
  state.crumb = 'another'
  expect(await ask()).toEqual(['AAPL', 'cookie', 'getcrumb', 'AAPL'])
})

test('where no session is to be had the source says so and is left alone', async () => {
  const replies: [string, string][] = [
    ['Too Many Requests', 'yahoo: refused (HTTP 200, no crumb is to be had)'],
    ['<html><body>Too many</body></html>', 'yahoo: refused (HTTP 200, no crumb is to be had)'],
    [' ', 'yahoo: refused (HTTP 200, no crumb is to be had)'],
    ['wrong', 'yahoo: refused (HTTP 401, with a new session too)'],
  ]
  for (const [crumbReply, reason] of replies) {
    const { state, fetch } = guardedService()
    state.crumbReply = crumbReply
    const options = { url: 'http://shut.test', cookieUrl: 'http://c.test', clock: () => NOW, fetch }
    const asked = yahooProvider(options).fundamentals?.(instrument('AAPL'), {})
    const error = await asked?.catch((failure: unknown) => failure)
    expect(String(error)).toContain(reason)
    expect(outcomeOf(error)).toBe('refused')
  }
  const noCookie = yahoo({ [PATH]: status(403), 'c.test': status(502), ...NO_DIVIDENDS })
  await expect(noCookie.of('AAPL')).rejects.toThrow('yahoo: refused (HTTP 502, no cookie is to be had)')
})

test('a symbol that the charts do not know says nothing of the source, however often', async () => {
  const { fetch } = upstream({ 'y.test': status(404) })
  const market = await createMarketData({
    providers: ['yahoo'],
    variables: { YAHOO_URL: 'http://y.test' },
    clock: () => NOW,
    fetch,
  })
  for (let i = 0; i < 4; i++) {
    const { ok, runs } = await market.bars(instrument('ZZZQ'), { count: 30 })
    expect([ok, runs[0]?.errorType]).toEqual([false, 'unknown_symbol'])
  }
})

test('a dividend is in its own money, else in that of its chart, and the newest stands first', async () => {
  const chart = dividendChart('AAPL', 'CAD', [
    ['2025-08-11', 0.26],
    ['2025-11-10', 0.2, 'EUR'],
  ])
  const { of } = yahoo({ [PATH]: json(timeseries(...wholeSeries('AAPL', 'USD'))), '/chart/AAPL?': json(chart) })
  const paid = (await of('AAPL'))?.dividends.map(({ exDate, currency }) => [exDate, currency])
  expect(paid).toEqual([
    ['2025-11-10', 'EUR'],
    ['2025-08-11', 'CAD'],
  ])
})
