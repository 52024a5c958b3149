import { expect, test } from 'vitest'
import type { UpstreamError } from '../../../src/lib/http-client.ts'
import { eastMoneyProvider } from '../../../src/market/providers/eastmoney.ts'
import { mainlandList } from '../../../src/market/providers/eastmoney-boards.ts'
import type { EastMoneyOptions } from '../../../src/market/providers/eastmoney-http.ts'
import { memoryGate, paceOf } from '../../../src/market/providers/gate.ts'
import * as replies from '../../fixtures/market/eastmoney.ts'
import { hang, html, instrument, json, status, upstream } from './upstream.ts'

const NOW = Date.parse('2026-01-04T04:00:00Z')

function eastMoney(rules: Parameters<typeof upstream>[0]) {
  const { fetch, asked } = upstream(rules)
  const turns: string[] = []
  const options: EastMoneyOptions = {
    quoteUrl: 'http://q.test',
    historyUrl: 'http://h.test',
    datacenterUrl: 'http://d.test',
    clock: () => NOW,
    pace: async (service, intervalMs) => {
      turns.push(`${service} ${intervalMs}`)
    },
    fetch,
  }
  const provider = eastMoneyProvider(options)
  return { provider, options, asked, turns }
}

const reasonOf = (work: Promise<unknown> | undefined) =>
  (work ?? Promise.resolve()).then(
    () => 'answered',
    (error: UpstreamError) => error.reason,
  )

test('a mainland quote and its bars are read with their units, and every request waits for its turn', async () => {
  const { provider, asked, turns } = eastMoney({ 'stock/get': json(replies.QUOTE), 'kline/get': json(replies.BARS) })
  expect(await provider.quote?.(instrument('600519'), {})).toEqual({
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
    totalMarketValue: 1756308976537.5,
    circulatingMarketValue: 1756308976537.5,
  })
  const bars = await provider.dailyBars?.(instrument('600519'), { count: 2 })
  expect(bars?.map(({ date }) => date)).toEqual(['2025-12-30', '2025-12-31'])
  expect(bars?.at(-1)).toEqual({
    date: '2025-12-31',
    open: 1391,
    high: 1409.9,
    low: 1388.01,
    close: 1402.5,
    volume: 3_125_000,
    amount: 4_379_000_000,
  })
  expect(asked[0]).toMatch(/^http:\/\/q\.test\/api\/qt\/stock\/get\?secid=1\.600519&fltt=2/)
  expect(asked[1]).toContain('secid=1.600519&klt=101&fqt=1&beg=20251212&end=20260104&')
  expect(turns).toEqual(['eastmoney 1000', 'eastmoney 1000'])
})

test('an American listing is looked for at each venue once, and the venue is remembered', async () => {
  const { provider, asked } = eastMoney({ 'secid=106.AAPL': json(replies.APPLE_BARS), 'secid=': json(replies.NOTHING) })
  const ask = async () => (await provider.dailyBars?.(instrument('AAPL'), { count: 5 }))?.[0]?.volume
  expect([await ask(), await ask()]).toEqual([33_000_100, 33_000_100])
  expect(asked.map((url) => /secid=(\d+)/.exec(url)?.[1])).toEqual(['105', '106', '106'])
  const none = eastMoney({ 'secid=': json(replies.NOTHING) })
  expect(await reasonOf(none.provider.quote?.(instrument('ZZZZ'), {}))).toBe('unknown_symbol')
  expect(none.asked).toHaveLength(3)
})

test('results, dividends, flow and boards of a mainland company are read', async () => {
  const { provider } = eastMoney({
    RPT_LICO_FN_CPD: json(replies.RESULTS),
    RPT_SHAREBONUS_DET: json(replies.BONUSES),
    'fflow/daykline': json(replies.FLOW),
    'slist/get': json(replies.BOARDS),
  })
  const moutai = instrument('600519')
  expect(await provider.fundamentals?.(moutai, {})).toEqual({
    report: {
      reportDate: '2025-09-30',
      announcedOn: '2025-10-30',
      period: 'year_to_date',
      revenue: 130903889634.88,
      netProfitParent: 64626746712.45,
      operatingCashFlow: null,
      roePct: 24.64,
      grossMarginPct: 91.29,
      revenueYoyPct: 6.32,
      netProfitYoyPct: 6.25,
      currency: 'CNY',
    },
    // Told for ten shares; a gift of shares and a plan without a day are none.
    dividends: [
      {
        exDate: '2025-12-19',
        recordDate: '2025-12-18',
        announcedOn: '2025-12-13',
        cashPerShare: 23.957,
        currency: 'CNY',
      },
    ],
    valuation: null,
  })
  // A B share trades in dollars; its company reports and pays in renminbi all the same.
  const ofB = (reply: object) => json(JSON.parse(JSON.stringify(reply).replaceAll('600519', '900948')))
  const b = eastMoney({ RPT_LICO_FN_CPD: ofB(replies.RESULTS), RPT_SHAREBONUS_DET: ofB(replies.BONUSES) }).provider
  expect(await b.fundamentals?.(instrument('900948'), {})).toMatchObject({
    report: { currency: 'CNY' },
    dividends: [{ currency: 'CNY' }],
  })
  const flow = await provider.capitalFlow?.(moutai, {})
  expect(flow?.map(({ date, mainNet, mainNetPct }) => [date, mainNet, mainNetPct])).toEqual([
    ['2025-12-30', -120_000_000, -3.39],
    ['2025-12-31', 210_000_000, 4.8],
  ])
  expect(await provider.boards?.(moutai, {})).toEqual([
    { code: 'BK0477', name: '酿酒行业', changePct: -1.2 },
    { code: 'BK0896', name: '白酒', changePct: null },
  ])
})

test('peers are the companies of the industry that the quote names, the largest first, with a loss told as one', async () => {
  const { provider, asked, turns } = eastMoney({
    'stock/get': json({ data: { f57: '600519', f127: '白酒' } }),
    'fs=b:BK0896': json(replies.PEERS),
  })
  const moutai = instrument('600519')
  const boards = [
    { code: 'BK0173', name: '贵州板块', changePct: 0 },
    { code: 'BK0896', name: '白酒', changePct: 1 },
  ]
  expect(await provider.peers?.(moutai, boards, {})).toEqual({
    board: { code: 'BK0896', name: '白酒' },
    total: 20,
    companies: [
      { code: '600519', name: '贵州茅台', peRatio: 20.31, pbRatio: 7.2, marketValue: 1_760_000_000_000 },
      { code: '000858', name: '五粮液', peRatio: 14.05, pbRatio: 3.1, marketValue: 430_000_000_000 },
      { code: '600199', name: '金种子酒', peRatio: -41.2, pbRatio: null, marketValue: null },
    ],
  })
  expect(asked[1]).toContain('fid=f20&po=1&pn=1&pz=100&')
  expect(turns).toHaveLength(2)
  expect(await reasonOf(provider.peers?.(moutai, boards.slice(0, 1), {}))).toBe('empty')
  const of = (rules: Parameters<typeof eastMoney>[0]) => reasonOf(eastMoney(rules).provider.peers?.(moutai, boards, {}))
  expect(await of({ 'stock/get': json({ data: { f57: '000858', f127: '白酒' } }) })).toBe('wrong_symbol')
  const quote = { 'stock/get': json({ data: { f57: '600519', f127: '白酒' } }) }
  expect(await of({ ...quote, 'fs=b:': json({ data: null }) })).toBe('empty')
  expect(await of({ ...quote, 'fs=b:': json({ data: { total: 1, diff: [{ f12: 7 }] } }) })).toBe('malformed')
})

test('rankings take both ends from one page where it holds all, and from two where it does not', async () => {
  const { provider, asked } = eastMoney({
    'fs=m:90+t:2': json(replies.INDUSTRIES),
    'po=1&pn=1&pz=100&np=1&fltt=2&invt=2&fs=m:90+t:3': json(replies.CONCEPTS_TOP),
    'po=0&pn=1&pz=100&np=1&fltt=2&invt=2&fs=m:90+t:3': json(replies.CONCEPTS_BOTTOM),
  })
  const ranked = await provider.rankings?.({})
  const ends = (name: 'industries' | 'concepts') => [
    ranked?.[name].top.map(({ code, rank }) => `${code} ${rank}`),
    ranked?.[name].bottom.map(({ code, rank }) => `${code} ${rank}`),
  ]
  expect(ends('industries')).toEqual([
    ['BK0001 1', 'BK0002 2', 'BK0003 3', 'BK0004 4', 'BK0005 5'],
    ['BK0012 12', 'BK0011 11', 'BK0010 10', 'BK0009 9', 'BK0008 8'],
  ])
  expect(ends('concepts')[1]?.[0]).toBe('BK0012 400')
  expect(ranked?.industries.top[0]).toMatchObject({ changePct: 6, risingCount: 10, leader: '龙头', mainNet: 6e7 })
  expect(asked).toHaveLength(3)
})

test('only what a source of the mainland can know is promised', () => {
  const { provider } = eastMoney({})
  const needs = [
    'realtime_quote',
    'daily_data',
    'fundamentals',
    'capital_flow',
    'belong_boards',
    'sector_rankings',
    'peer_multiples',
  ] as const
  const carried = (code: string) => needs.filter((need) => provider.supports(instrument(code), need)).length
  expect(['600519', '510300', '000001.SH', 'HK00700', 'AAPL', 'HSI', 'VIX', '7203.T'].map(carried)).toEqual([
    7, 2, 2, 2, 2, 2, 0, 0,
  ])
})

test('what is wrong with an answer is named, and nothing is asked twice', async () => {
  const moutai = instrument('600519')
  const quoted = (changes: Record<string, unknown>) =>
    json({ ...replies.QUOTE, data: { ...replies.QUOTE.data, ...changes } })
  const rows: [string, Parameters<typeof upstream>[0][string]][] = [
    ['wrong_symbol', quoted({ f57: '600518' })],
    ['bad_price', quoted({ f43: '-' })],
    ['bad_price', quoted({ f43: 0 })],
    ['bad_price', quoted({ f44: 1, f45: 2 })],
    ['bad_dates', quoted({ f86: 1999999999 })],
    ['unknown_symbol', json(replies.NOTHING)],
    ['malformed', json({ data: { f43: [] } })],
    ['malformed', json([])],
    ['not_json', html],
    ['http_status', status(403)],
    ['http_status', status(502)],
    ['rate_limited', status(429)],
    ['network', () => new Error('socket closed')],
  ]
  for (const [reason, reply] of rows) {
    const { provider, asked } = eastMoney({ 'stock/get': reply })
    expect([reason, await reasonOf(provider.quote?.(moutai, {})), asked.length]).toEqual([reason, reason, 1])
  }
  const series = (klines: string[]) => json({ data: { code: '600519', klines } })
  const good = '2025-12-31,1391.00,1402.50,1409.90,1388.01,31250,4379000000.00'
  for (const [reason, reply] of [
    ['empty', series([])],
    ['bad_dates', series([good, good])],
    ['bad_dates', series(['2026-01-05,1,1,1,1,1,1'])],
    ['bad_price', series(['2025-12-31,0,1,1,1,1,1'])],
    ['bad_price', series(['2025-12-31'])],
    ['malformed', series(['2025-12-31,1,1,1,1,-,1'])],
    ['wrong_symbol', json({ data: { code: '000001', klines: [good] } })],
  ] as const) {
    const { provider } = eastMoney({ 'kline/get': reply })
    expect([reason, await reasonOf(provider.dailyBars?.(moutai, { count: 5 }))]).toEqual([reason, reason])
  }
  const empty = eastMoney({
    'd.test': json(replies.NO_ROWS),
    'h.test': json(replies.NOTHING),
    'q.test': json(replies.NOTHING),
  })
  expect(await reasonOf(empty.provider.fundamentals?.(moutai, {}))).toBe('empty')
  expect(await reasonOf(empty.provider.capitalFlow?.(moutai, {}))).toBe('empty')
  expect(await reasonOf(empty.provider.boards?.(moutai, {}))).toBe('empty')
  expect(await reasonOf(empty.provider.rankings?.({}))).toBe('empty')
  const hung = eastMoney({ 'q.test': hang })
  expect(await reasonOf(hung.provider.quote?.(moutai, { signal: AbortSignal.timeout(30) }))).toBeUndefined()
})

test('turns are given one after another, and a line that is too long is refused at once', async () => {
  const gate = memoryGate(() => NOW)
  const waits = []
  for (let i = 0; i < 9; i++) waits.push(await gate.turn('eastmoney', 1_000))
  expect(waits).toEqual([0, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000, null, null])
  expect(await gate.turn('other', 1_000)).toBe(0)
  expect(await reasonOf(paceOf(gate)('eastmoney', 1_000, undefined))).toBe('crowded')
  const slow = paceOf({ turn: async () => 5_000 })
  await expect(slow('eastmoney', 1_000, AbortSignal.timeout(20))).rejects.toThrow()
})

test('the list of all stocks is read page by page to its end', async () => {
  const page = (number: number, size: number) =>
    json({
      data: {
        total: 250,
        diff: Array.from({ length: size }, (_, i) => ({
          f12: String(600_000 + number * 100 + i),
          f14: `股${number}${i}`,
        })),
      },
    })
  const { options, asked } = eastMoney({ 'pn=1&': page(1, 100), 'pn=2&': page(2, 100), 'pn=3&': page(3, 50) })
  const listed = await mainlandList(options, {})
  expect([listed.length, listed[0], asked.length]).toEqual([250, { code: '600100', name: '股10' }, 3])
})
