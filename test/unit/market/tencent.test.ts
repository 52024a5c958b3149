import { expect, test } from 'vitest'
import { fromBase64 } from '../../../src/lib/crypto.ts'
import { createMarketData } from '../../../src/market/providers/index.ts'
import { tencentProvider } from '../../../src/market/providers/tencent.ts'
import { HONG_KONG_ROWS, MAINLAND_ROWS, tencentSeries } from '../../fixtures/market/replies.ts'
import { QUOTE_LINES } from '../../fixtures/market/tencent-quotes.ts'
import { changedLine, html, instrument, json, quoteLine, upstream } from './upstream.ts'

const NOW = Date.parse('2026-01-04T04:00:00Z')

function tencent(rules: Parameters<typeof upstream>[0]) {
  const { fetch, asked } = upstream(rules)
  const provider = tencentProvider({ quoteUrl: 'http://q.test', klineUrl: 'http://k.test', clock: () => NOW, fetch })
  return { provider, asked }
}

test('a mainland quote is read from GBK, with lots as shares and amounts in yuan', async () => {
  const { provider, asked } = tencent({ 'q=sh600519': quoteLine('sh600519') })
  expect(await provider.quote(instrument('600519'), {})).toEqual({
    price: 1402.5,
    prevClose: 1390,
    change: 12.5,
    changePct: 0.8993,
    open: 1391,
    high: 1409.9,
    low: 1388.01,
    volume: 3_125_000,
    amount: 4_379_000_000,
    quotedAt: Date.parse('2025-12-31T15:00:03+08:00'),
    name: '贵州茅台',
    currency: 'CNY',
    turnoverRatePct: 0.25,
    volumeRatio: 0.97,
    peRatio: 19.53,
    pbRatio: 7.11,
    totalMarketValue: 1_756_211_000_000,
    circulatingMarketValue: 1_756_211_000_000,
  })
  expect(asked).toEqual(['http://q.test/q=sh600519'])
})

test('volume that turnover shows to be in shares already is not multiplied, and a loss keeps its sign', async () => {
  const { provider } = tencent({ 'q=sh688001': quoteLine('sh688001') })
  expect(await provider.quote(instrument('688001'), {})).toMatchObject({ volume: 4_453_530, peRatio: -45.2 })
})

test('Hong Kong and New York quotes follow their own layout, clock and money', async () => {
  const hk = tencent({ hk00700: quoteLine('hk00700') }).provider
  expect(await hk.quote(instrument('0700.HK'), {})).toMatchObject({
    name: '腾讯控股',
    price: 520.5,
    volume: 21_915_700,
    amount: 11_374_248_300,
    currency: 'HKD',
    quotedAt: Date.parse('2025-12-31T12:08:35+08:00'),
    pbRatio: null,
    turnoverRatePct: null,
    volumeRatio: null,
  })
  const us = tencent({ usAAPL: quoteLine('usAAPL') }).provider
  expect(await us.quote(instrument('AAPL'), {})).toMatchObject({
    name: '苹果',
    change: -1.45,
    currency: 'USD',
    quotedAt: Date.parse('2025-12-31T16:00:02-05:00'),
    peRatio: 33.29,
    pbRatio: 49.8,
    totalMarketValue: 3_670_012_000_000,
    circulatingMarketValue: null,
    volumeRatio: null,
  })
  const index = tencent({ usINX: quoteLine('usINX') }).provider
  expect(await index.quote(instrument('SPX'), {})).toMatchObject({ price: 6845.5, amount: null })
})

test('daily bars come adjusted, oldest first, in shares, as many as were asked for', async () => {
  const { provider, asked } = tencent({ 'param=sh600519': json(tencentSeries('sh600519', MAINLAND_ROWS)) })
  const bars = await provider.dailyBars(instrument('600519'), { count: 3 })
  expect(bars.map(({ date }) => date)).toEqual(['2025-12-29', '2025-12-30', '2025-12-31'])
  const last = {
    date: '2025-12-31',
    open: 1391,
    high: 1409.9,
    low: 1388.01,
    close: 1402.5,
    volume: 3_125_000,
    amount: null,
  }
  expect(bars.at(-1)).toEqual(last)
  expect(asked).toEqual(['http://k.test/appstock/app/fqkline/get?param=sh600519,day,2025-12-10,2026-01-04,3,qfq'])

  const hk = tencent({ 'param=hk00700': json(tencentSeries('hk00700', HONG_KONG_ROWS, 'day')) }).provider
  expect((await hk.dailyBars(instrument('HK700'), { count: 10 })).at(-1)).toMatchObject({
    close: 520.5,
    volume: 21_915_700,
  })
})

test('US bars are asked with the venue that the quote names, once', async () => {
  const rows = [['2025-12-31', '249.90', '248.02', '250.60', '246.81', '52011200']]
  const { provider, asked } = tencent({
    'q=usAAPL': quoteLine('usAAPL'),
    'param=usAAPL.OQ,': json(tencentSeries('usAAPL.OQ', rows)),
  })
  const query = { count: 5, endDate: '2025-12-31' }
  expect((await provider.dailyBars(instrument('AAPL'), query))[0]).toMatchObject({ close: 248.02, volume: 52_011_200 })
  await provider.dailyBars(instrument('AAPL.US'), query)
  expect(asked.filter((url) => url.includes('/q='))).toHaveLength(1)
})

test('a quote that cannot be true is refused with its reason', async () => {
  const rows: [string, () => Response][] = [
    ['tencent: unknown_symbol (sh600519)', quoteLine('none')],
    ['tencent: wrong_symbol (sh600519)', quoteLine('hk00700')],
    ['tencent: wrong_symbol (sh600519)', changedLine('sh600519', { 2: '600520' })],
    ['tencent: malformed (no quote line)', html],
    ['tencent: malformed (no quote line)', () => new Response('')],
    ['tencent: bad_price (the price is not positive)', changedLine('sh600519', { 3: '0.00' })],
    ['tencent: bad_price (the price is not positive)', changedLine('sh600519', { 3: '-1' })],
    ['tencent: bad_price (the price is not positive)', changedLine('sh600519', { 3: 'NaN' })],
    ['tencent: bad_price (the previous close is not positive)', changedLine('sh600519', { 4: '' })],
    ['tencent: bad_price (high is below low)', changedLine('sh600519', { 33: '1000', 34: '1100' })],
    ['tencent: bad_dates (the quote has no time)', changedLine('sh600519', { 30: '20251331150003' })],
    ['tencent: bad_dates (2027-12-31 has not come yet)', changedLine('sh600519', { 30: '20271231150003' })],
  ]
  for (const [reason, reply] of rows) {
    const { provider } = tencent({ 'q=': reply })
    await expect(provider.quote(instrument('600519'), {})).rejects.toThrow(reason)
  }
})

test('a series that cannot be true is refused with its reason', async () => {
  const [first = [], second = [], third = []] = MAINLAND_ROWS
  const series = (...rows: unknown[][]) => json(tencentSeries('sh600519', rows))
  const swapped = ['2025-12-31', '10', '10', '9', '11', '100']
  const rows: [string, () => Response][] = [
    ['tencent: empty (no series)', json({ code: 0, msg: '', data: [] })],
    ['tencent: empty (no series)', json({ code: 0, msg: '', data: {} })],
    ['tencent: empty (no bars)', series()],
    ['tencent: wrong_symbol (the series is of another symbol)', json(tencentSeries('sh600520', MAINLAND_ROWS))],
    ['tencent: bad_dates (2025-12-29 does not come after 2025-12-29)', series(first, second, second)],
    ['tencent: bad_dates (2025-12-29 does not come after 2025-12-30)', series(third, second)],
    ['tencent: bad_dates (a bar has no valid date)', series(['2025-02-30', '1', '1', '1', '1', '1'])],
    ['tencent: bad_dates (2026-01-05 has not come yet)', series(['2026-01-05', '1', '1', '1', '1', '1'])],
    ['tencent: bad_price (a price of 2025-12-31 is not positive)', series(['2025-12-31', '1', 'NaN', '1', '1', '1'])],
    ['tencent: bad_price (a price of 2025-12-31 is not positive)', series(['2025-12-31', '0', '1', '1', '1', '1'])],
    ['tencent: bad_price (high is below low on 2025-12-31)', series(swapped)],
    ['tencent: malformed (no volume for 2025-12-31)', series(['2025-12-31', '1', '1', '1', '1'])],
    ['tencent: malformed (not the known form of a series)', json({ data: { sh600519: { qfqday: 'none' } } })],
    ['tencent: not_json (HTTP 200, text/html)', html],
  ]
  for (const [reason, reply] of rows) {
    const { provider } = tencent({ 'param=': reply })
    await expect(provider.dailyBars(instrument('600519'), { count: 5 })).rejects.toThrow(reason)
  }
})

test('many listings are asked for together; what the list lacks is asked of the next source, one by one', async () => {
  const line = (name: string) => fromBase64(QUOTE_LINES[name] ?? '') ?? new Uint8Array()
  const both = async () => new Uint8Array(await new Blob([line('sh600519'), line('hk00700')]).arrayBuffer())
  const list = await both()
  const { fetch, asked } = upstream({
    'q=sh600519,hk00700,sz000001': () => new Response(list),
    'list=sz000001': () => new Error('down'),
  })
  const variables = { TENCENT_QUOTE_URL: 'http://q.test', SINA_QUOTE_URL: 'http://s.test' }
  const market = await createMarketData({ providers: ['tencent', 'sina'], variables, clock: () => NOW, fetch })
  const codes = ['600519', 'HK00700', '000001', '600519']
  const found = await market.quotes(codes.map(instrument))
  expect([...found].map(([key, { ok }]) => [key, ok])).toEqual([
    ['600519', true],
    ['HK00700', true],
    ['000001', false],
  ])
  expect(found.get('600519')).toMatchObject({ value: { price: 1402.5 }, provider: 'tencent' })
  expect(asked.filter((url) => url.includes('q.test'))).toEqual(['http://q.test/q=sh600519,hk00700,sz000001'])
  expect(asked.filter((url) => url.includes('s.test')).length).toBeGreaterThan(0)
  // Sixty symbols a request.
  const plenty = upstream({ 'q=': () => new Response('v_pv_none_match="1";') })
  const large = await createMarketData({ providers: ['tencent'], variables, clock: () => NOW, fetch: plenty.fetch })
  await large.quotes(Array.from({ length: 130 }, (_, i) => instrument(String(600_000 + i))))
  expect(plenty.asked.map((url) => url.split(',').length).sort((a, b) => a - b)).toEqual([10, 60, 60])
})
