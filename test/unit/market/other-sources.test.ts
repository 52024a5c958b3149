import { expect, test } from 'vitest'
import { fromBase64 } from '../../../src/lib/crypto.ts'
import type { Fetch, UpstreamError } from '../../../src/lib/http-client.ts'
import type { RawVariables } from '../../../src/lib/variables.ts'
import { alphaVantageProvider } from '../../../src/market/providers/alpha-vantage.ts'
import { finnhubProvider } from '../../../src/market/providers/finnhub.ts'
import { memoryGate } from '../../../src/market/providers/gate.ts'
import { buildProviders } from '../../../src/market/providers/index.ts'
import { sinaMainlandList, sinaProvider } from '../../../src/market/providers/sina.ts'
import { tushareProvider } from '../../../src/market/providers/tushare.ts'
import * as replies from '../../fixtures/market/keyed-sources.ts'
import { SINA_LINES } from '../../fixtures/market/sina-quotes.ts'
import { html, instrument, json, status, upstream } from './upstream.ts'

const NOW = Date.parse('2026-01-04T04:00:00Z')
const clock = () => NOW
const KEY = 'k3y-canary'

const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'answered',
    (error: UpstreamError) => error.reason,
  )

const line = (name: string) => () => new Response(fromBase64(SINA_LINES[name] ?? '') ?? '')

function sina(rules: Parameters<typeof upstream>[0]) {
  const { fetch, asked } = upstream(rules)
  const options = { quoteUrl: 'http://s.test', klineUrl: 'http://k.test', clock, fetch }
  return { provider: sinaProvider(options), options, asked }
}

test('Sina: quotes of three markets in GBK, each with its own fields and clock', async () => {
  const { provider, asked } = sina({
    'list=sh600519': line('sh600519'),
    'list=sh000001': line('sh000001'),
    'list=rt_hk00700': line('rt_hk00700'),
    'list=gb_aapl': line('gb_aapl'),
  })
  expect(await provider.quote(instrument('600519'), {})).toMatchObject({
    price: 1402.5,
    prevClose: 1390,
    changePct: 0.8993,
    open: 1391,
    high: 1409.9,
    low: 1388.01,
    volume: 3_125_000,
    amount: 4_379_000_000,
    name: '贵州茅台',
    currency: 'CNY',
    quotedAt: Date.parse('2025-12-31T15:00:03+08:00'),
    peRatio: null,
  })
  expect(await provider.quote(instrument('SH000001'), {})).toMatchObject({
    price: 3968.84,
    volume: null,
    name: '上证指数',
  })
  expect(await provider.quote(instrument('00700'), {})).toMatchObject({
    price: 520.5,
    volume: 21_915_700,
    amount: 11_374_248_300,
    name: '腾讯控股',
    currency: 'HKD',
    quotedAt: Date.parse('2025-12-31T12:08:35+08:00'),
  })
  expect(await provider.quote(instrument('AAPL'), {})).toMatchObject({
    price: 248.02,
    prevClose: 249.47,
    changePct: -0.5812,
    name: '苹果',
    quotedAt: Date.parse('2026-01-01T09:30:02+08:00'),
  })
  expect(asked).toHaveLength(4)
})

test('Sina: bars of the mainland, the list of all stocks, and what is wrong with an answer', async () => {
  const good = sina({ 'getKLineData?symbol=sh600519': json(replies.SINA_BARS) })
  const bars = await good.provider.dailyBars(instrument('600519'), { count: 5 })
  expect(bars.map(({ date, close, volume }) => [date, close, volume])).toEqual([
    ['2025-12-30', 1390, 2_551_200],
    ['2025-12-31', 1402.5, 3_125_000],
  ])
  expect((await good.provider.dailyBars(instrument('600519'), { count: 5, endDate: '2025-12-30' })).at(-1)?.date).toBe(
    '2025-12-30',
  )
  const needs = (code: string) =>
    (['realtime_quote', 'daily_data', 'fundamentals'] as const).map((need) =>
      good.provider.supports(instrument(code), need),
    )
  expect(needs('600519')).toEqual([true, true, false])
  expect(needs('AAPL')).toEqual([true, false, false])
  expect(needs('HSI')).toEqual([false, false, false])

  const moutai = instrument('600519')
  const suspended = Array.from({ length: 33 }, () => '0.000')
    .with(2, '1390')
    .with(30, '2025-12-31')
    .with(31, '15:00:00')
  const quoted = (text: string) => () => new Response(`var hq_str_sh600519="${text}";`)
  for (const [reason, reply] of [
    ['unknown_symbol', quoted('')],
    ['wrong_symbol', line('gb_aapl')],
    ['malformed', html],
    ['bad_price', quoted(suspended.join(','))],
    ['bad_dates', quoted('x,1,1390,1391,1,1,0,0,0,0')],
    ['http_status', status(403)],
  ] as const) {
    expect([reason, await reasonOf(sina({ 's.test': reply }).provider.quote(moutai, {}))]).toEqual([reason, reason])
  }
  expect(
    await reasonOf(sina({ 'k.test': json({ result: { data: null } }) }).provider.dailyBars(moutai, { count: 5 })),
  ).toBe('empty')
  expect(await reasonOf(sina({ 'k.test': json({ __ERROR: 1 }) }).provider.dailyBars(moutai, { count: 5 }))).toBe(
    'malformed',
  )

  const page = (size: number) =>
    json(Array.from({ length: size }, (_, i) => ({ code: `60000${i}`, name: '股', trade: '1' })))
  const { options } = sina({ 'page=1&': page(100), 'page=2&': page(7) })
  let pauses = 0
  const listed = await sinaMainlandList({ ...options, pause: async () => void pauses++ })
  expect([listed.length, pauses]).toEqual([107, 1])
})

test('Finnhub: an American quote, with the key in a header and nowhere else', async () => {
  let headers: HeadersInit | undefined
  const fetch: Fetch = async (url, init) => {
    headers = init.headers
    expect(url).toBe('http://f.test/api/v1/quote?symbol=BRK.B')
    return Response.json(replies.FINNHUB_QUOTE)
  }
  const provider = finnhubProvider({ url: 'http://f.test', key: KEY, clock, fetch })
  expect(await provider.quote(instrument('BRK-B'), {})).toMatchObject({
    price: 248.02,
    prevClose: 249.47,
    changePct: -0.5812,
    quotedAt: 1767214800000,
    volume: null,
    currency: 'USD',
  })
  expect(headers).toEqual({ 'x-finnhub-token': KEY })
  expect(provider.supports(instrument('AAPL'), 'daily_data')).toBe(false)
  expect(provider.supports(instrument('SPX'), 'realtime_quote')).toBe(false)
  for (const [reason, reply] of [
    ['unknown_symbol', json(replies.FINNHUB_UNKNOWN)],
    ['bad_dates', json({ ...replies.FINNHUB_QUOTE, t: 0 })],
    ['malformed', json({ error: "You don't have access to this resource." })],
    ['http_status', status(401)],
  ] as const) {
    const { fetch: other } = upstream({ 'f.test': reply })
    const asked = finnhubProvider({ url: 'http://f.test', key: KEY, clock, fetch: other }).quote(instrument('AAPL'), {})
    expect([reason, await reasonOf(asked)]).toEqual([reason, reason])
    await asked.catch((error: Error) => expect(error.message).not.toContain(KEY))
  }
})

test('Alpha Vantage: quote and bars; its notes in prose are a limit that was reached', async () => {
  const make = (rules: Parameters<typeof upstream>[0]) => {
    return alphaVantageProvider({ url: 'http://a.test', key: KEY, clock, fetch: upstream(rules).fetch })
  }
  const provider = make({ GLOBAL_QUOTE: json(replies.ALPHA_QUOTE), TIME_SERIES_DAILY: json(replies.ALPHA_BARS) })
  expect(await provider.quote(instrument('AAPL'), {})).toMatchObject({
    price: 248.02,
    prevClose: 249.47,
    volume: 52_011_200,
    quotedAt: Date.parse('2025-12-31T16:00:00-05:00'),
  })
  expect((await provider.dailyBars(instrument('AAPL'), { count: 9 })).map(({ date }) => date)).toEqual([
    '2025-12-30',
    '2025-12-31',
  ])
  for (const [reason, reply] of [
    ['rate_limited', json(replies.ALPHA_LIMIT)],
    ['rate_limited', json({ Note: 'Thank you for using Alpha Vantage!' })],
    ['unknown_symbol', json({ 'Error Message': 'Invalid API call.' })],
    ['unknown_symbol', json({ 'Global Quote': {} })],
    ['wrong_symbol', json({ 'Global Quote': { ...replies.ALPHA_QUOTE['Global Quote'], '01. symbol': 'IBM' } })],
    ['malformed', json([1])],
  ] as const) {
    expect([reason, await reasonOf(make({ 'a.test': reply }).quote(instrument('AAPL'), {}))]).toEqual([reason, reason])
  }
})

test('Tushare: bars in the terms of the newest day, flows in yuan, and a refusal named', async () => {
  const bodies: string[] = []
  const answering = (answers: Record<string, unknown>): Fetch => {
    return async (_, init) => {
      bodies.push(String(init.body))
      return Response.json(answers[JSON.parse(String(init.body)).api_name])
    }
  }
  const make = (answers: Record<string, unknown>) => {
    return tushareProvider({ url: 'http://t.test', token: KEY, clock, fetch: answering(answers) })
  }
  const answers = { daily: replies.TUSHARE_DAILY, adj_factor: replies.TUSHARE_FACTORS, moneyflow: replies.TUSHARE_FLOW }
  const moutai = instrument('600519')
  expect(await make(answers).dailyBars(moutai, { count: 5 })).toEqual([
    {
      date: '2025-12-18',
      open: 1384.5,
      high: 1394.25,
      low: 1374.75,
      close: 1390.35,
      volume: 3_000_000,
      amount: 4_270_000_000,
    },
    {
      date: '2025-12-31',
      open: 1391,
      high: 1409.9,
      low: 1388.01,
      close: 1402.5,
      volume: 3_125_000,
      amount: 4_379_000_000,
    },
  ])
  expect(JSON.parse(bodies[0] ?? '')).toMatchObject({
    api_name: 'daily',
    token: KEY,
    params: { ts_code: '600519.SH', start_date: '20251208', end_date: '20260104' },
  })
  expect(await make(answers).capitalFlow(moutai, {})).toEqual([
    {
      date: '2025-12-31',
      mainNet: 2_100_000,
      smallNet: -1_000_000,
      mediumNet: -1_500_000,
      largeNet: 800_000,
      superLargeNet: 1_300_000,
      mainNetPct: null,
    },
  ])
  const fields = { ...replies.TUSHARE_FACTORS.data, items: [['600519.SH', '20251231', 8.0]] }
  for (const [reason, changed] of [
    ['refused', { daily: replies.TUSHARE_REFUSED }],
    ['malformed', { adj_factor: { code: 0, data: fields } }],
    ['wrong_symbol', { daily: { code: 0, data: { fields: ['ts_code'], items: [['600518.SH']] } } }],
    ['empty', { daily: { code: 0, data: { fields: [], items: [] } } }],
    ['malformed', { daily: { msg: 'x' } }],
  ] as const) {
    expect([reason, await reasonOf(make({ ...answers, ...changed }).dailyBars(moutai, { count: 5 }))]).toEqual([
      reason,
      reason,
    ])
  }
})

test('sources are built in the configured order, those without their key left out', async () => {
  const gate = memoryGate(clock)
  const providers = [
    'tushare',
    'sina',
    'finnhub',
    'toString',
    'alphavantage',
    'eastmoney',
    'yahoo',
    'tencent',
    'sample',
  ]
  const names = async (variables: RawVariables) =>
    (await buildProviders({ providers, variables }, { clock, gate })).map(({ name }) => name)
  expect(await names({})).toEqual(['sina', 'eastmoney', 'yahoo', 'tencent', 'sample'])
  expect(await names({ TUSHARE_TOKEN: KEY, FINNHUB_API_KEY: KEY, ALPHAVANTAGE_API_KEY: KEY })).toEqual(
    providers.filter((name) => name !== 'toString'),
  )
})
