import { expect, test } from 'vitest'
import { UpstreamError, type UpstreamFailure } from '../../../src/lib/http-client.ts'
import type { ProviderRun } from '../../../src/market/bars.ts'
import { marketPhaseSummary } from '../../../src/market/calendar.ts'
import {
  barsNeed,
  boardsNeed,
  firstAnswer,
  flowNeed,
  fundamentalsNeed,
  peersNeed,
  quoteNeed,
  rankingsNeed,
} from '../../../src/market/providers/chain.ts'
import { changeOf, rounded } from '../../../src/market/providers/checks.ts'
import { memoryGate, type Outcome, outcomeOf } from '../../../src/market/providers/gate.ts'
import { createMarketData, describeFailures, type MarketDataOptions } from '../../../src/market/providers/index.ts'
import type { MarketDataProvider } from '../../../src/market/providers/provider.ts'
import { MAINLAND_ROWS, tencentSeries, YAHOO_APPLE } from '../../fixtures/market/replies.ts'
import { heldTimers } from '../../helpers/timers.ts'
import { changedLine, hang, html, instrument, json, quoteLine, status, upstream } from './upstream.ts'

const NOW = Date.parse('2026-01-04T04:00:00Z')
const URLS = { TENCENT_QUOTE_URL: 'http://q.test/', TENCENT_KLINE_URL: 'http://k.test', YAHOO_URL: 'http://y.test' }

async function market(rules: Parameters<typeof upstream>[0], options: Partial<MarketDataOptions> = {}) {
  const { fetch, asked } = upstream(rules)
  const providers = ['tencent', 'yahoo', 'nobody', 'sample']
  return { data: await createMarketData({ providers, variables: URLS, clock: () => NOW, fetch, ...options }), asked }
}

const story = (runs: readonly ProviderRun[]) =>
  runs.map((run) => [run.dataType, run.provider, run.errorType, run.fallbackFrom, run.fallbackTo, run.recordCount])

test('the first good source answers for both needs and nobody else is asked', async () => {
  const { data, asked } = await market({
    'q=sh600519': quoteLine('sh600519'),
    'param=sh600519': json(tencentSeries('sh600519', MAINLAND_ROWS)),
  })
  const snapshot = await data.snapshot(instrument('600519'), { count: 4 })
  expect(snapshot.bars).toMatchObject({ ok: true, provider: 'tencent', provenance: null })
  expect(snapshot.quote).toMatchObject({ ok: true, provider: 'tencent', value: { price: 1402.5 } })
  expect(snapshot).toMatchObject({ provenance: null, asOf: NOW })
  expect(story(snapshot.runs)).toEqual([
    ['realtime_quote', 'tencent', null, null, null, 1],
    ['daily_data', 'tencent', null, null, null, 4],
  ])
  expect(snapshot.runs[0]).toMatchObject({
    success: true,
    operation: 'quote',
    createdAt: '2026-01-04T04:00:00.000000Z',
  })
  expect(asked).toHaveLength(2)
})

test('each need falls back on its own and the account names what failed and who came next', async () => {
  const { data } = await market({
    'q=usAAPL': changedLine('usAAPL', { 3: '0' }),
    'k.test': html,
    'y.test': json(YAHOO_APPLE),
  })
  const snapshot = await data.snapshot(instrument('AAPL'), { count: 10 })
  expect(snapshot.bars).toMatchObject({ ok: true, provider: 'yahoo' })
  expect(story(snapshot.quote.runs)).toEqual([
    ['realtime_quote', 'tencent', 'bad_price', null, 'yahoo', 0],
    ['realtime_quote', 'yahoo', null, 'tencent', null, 1],
  ])
  expect(story(snapshot.bars.runs)).toEqual([
    ['daily_data', 'tencent', 'not_json', null, 'yahoo', 0],
    ['daily_data', 'yahoo', null, 'tencent', null, 4],
  ])
})

test('with one real figure in hand the sample stays out', async () => {
  const { data } = await market({ 'q=sh600519': quoteLine('sh600519'), 'k.test': status(403), 'y.test': status(403) })
  const snapshot = await data.snapshot(instrument('600519'), { count: 10 })
  expect(snapshot.quote).toMatchObject({ ok: true, provider: 'tencent' })
  expect(snapshot.bars.ok).toBe(false)
  expect(snapshot).toMatchObject({ provenance: null, asOf: NOW })
  expect(describeFailures(snapshot.bars.runs)).toBe('tencent: http_status (HTTP 403); yahoo: http_status (HTTP 403)')
})

test('with none the sample serves both, dated by its own last session', async () => {
  const { data } = await market({ '.test': status(403) })
  const snapshot = await data.snapshot(instrument('600519'), { count: 120 })
  if (!snapshot.bars.ok || !snapshot.quote.ok) throw new Error(describeFailures(snapshot.runs))
  expect([snapshot.bars.provider, snapshot.quote.provider]).toEqual(['sample', 'sample'])
  expect(snapshot.provenance).toEqual({ kind: 'synthetic', label: 'synthetic', endsOn: '2025-12-31' })
  expect(snapshot.bars.value).toHaveLength(120)
  expect(snapshot.quote.value.price).toBe(snapshot.bars.value.at(-1)?.close)
  expect(snapshot.quote.value.quotedAt).toBe(snapshot.asOf)
  expect(story(snapshot.bars.runs)).toEqual([
    ['daily_data', 'tencent', 'http_403', null, 'yahoo', 0],
    ['daily_data', 'yahoo', 'http_403', 'tencent', 'sample', 0],
    ['daily_data', 'sample', null, 'yahoo', null, 120],
  ])
  expect(marketPhaseSummary({ market: 'cn', epochMs: snapshot.asOf })).toMatchObject({
    phase: 'postmarket',
    session_date: '2025-12-31',
    effective_daily_bar_date: '2025-12-31',
  })
})

test('when every source fails each of them is named with its reason', async () => {
  const limit = heldTimers(33_000)
  const hangs = () => {
    setTimeout(limit.goOff, 0)
    return hang()
  }
  const { data } = await market(
    { 'q.test': () => new Error('lost http://q.test/?token=s3cret'), 'k.test': hangs, 'y.test': html },
    { timeoutMs: 33_000 },
  )
  const snapshot = await data.snapshot(instrument('601318'), { count: 10 })
  expect([snapshot.bars.ok, snapshot.quote.ok]).toEqual([false, false])
  expect(describeFailures(snapshot.bars.runs)).toBe(
    'tencent: timeout (33000 ms); yahoo: not_json (HTTP 200, text/html); sample: does not carry 601318',
  )
  expect(story(snapshot.bars.runs)).toEqual([
    ['daily_data', 'tencent', 'timeout', null, 'yahoo', 0],
    ['daily_data', 'yahoo', 'not_json', 'tencent', null, 0],
    ['daily_data', 'sample', 'unsupported', null, null, 0],
  ])
  expect(JSON.stringify(snapshot)).not.toContain('s3cret')
  expect(describeFailures([])).toBe('no source is configured')
})

test('a source that does not carry the market is passed over, and marked only when nobody had an answer', async () => {
  const [result] = YAHOO_APPLE.chart.result
  const toyota = { chart: { result: [{ ...result, meta: { ...result?.meta, symbol: '7203.T' } }] } }
  const { data, asked } = await market(
    { 'chart/7203.T': json(toyota), 'y.test': html },
    { providers: ['tencent', 'yahoo'] },
  )
  const found = await data.bars(instrument('7203.T'), { count: 10 })
  expect(story(found.runs)).toEqual([['daily_data', 'yahoo', null, null, null, 4]])
  const missed = await data.bars(instrument('6758.T'), { count: 10 })
  expect(story(missed.runs)).toEqual([
    ['daily_data', 'yahoo', 'not_json', null, null, 0],
    ['daily_data', 'tencent', 'unsupported', null, null, 0],
  ])
  expect(asked.filter((url) => !url.startsWith('http://y.test'))).toEqual([])
})

test('a source whose code breaks is one failed attempt like any other, without its inner words', async () => {
  const broken: MarketDataProvider = {
    name: 'broken',
    provenance: () => null,
    supports: () => true,
    dailyBars: () => Promise.reject(new RangeError('inner words')),
  }
  const clock = () => NOW
  const chain = { clock, timeoutMs: 30_000, gate: memoryGate(clock) }
  const bars = await firstAnswer(chain, [broken], barsNeed(instrument('600519'), { count: 10 }))
  expect(story(bars.runs)).toEqual([['daily_data', 'broken', 'internal', null, null, 0]])
  expect(describeFailures(bars.runs)).toBe('broken: internal error')
  const quote = await firstAnswer(chain, [broken], quoteNeed(instrument('600519'), {}))
  expect(story(quote.runs), 'a source without the method that it claims').toEqual([
    ['realtime_quote', 'broken', 'internal', null, null, 0],
  ])
})

test('a source that fails three times is left alone for five minutes, then tried once, and an answer closes its circuit', async () => {
  let now = NOW
  let reply: () => Response = status(500)
  const gate = memoryGate(() => now)
  const shared = { clock: () => now, gate, providers: ['yahoo'] }
  const { data, asked } = await market({ 'y.test': () => reply() }, shared)
  const ask = async () => {
    const { runs } = await data.quote(instrument('AAPL'))
    return runs.map(({ errorType }) => errorType)
  }
  expect([await ask(), await ask(), await ask()].flat()).toEqual(['http_500', 'http_500', 'http_500'])
  const before = asked.length
  expect(await ask()).toEqual(['circuit_open'])
  expect(describeFailures((await data.quote(instrument('AAPL'))).runs)).toBe(
    'yahoo: circuit_open (until 2026-01-04T04:05:00.000000Z)',
  )
  expect(asked.length, 'an open circuit asks nothing').toBe(before)
  expect((await data.bars(instrument('AAPL'), { count: 5 })).runs[0]?.errorType, 'bars are another circuit').toBe(
    'http_500',
  )

  now += 300_001
  reply = json(YAHOO_APPLE)
  const [trial, other] = await Promise.all([ask(), ask()])
  expect([trial, other], 'one trial; the others wait for its outcome').toEqual([[null], ['circuit_open']])
  expect(await ask()).toEqual([null])
  // A refusal needs no repetition, and a listing that is not known says nothing about the source.
  reply = status(429)
  expect([await ask(), await ask()].flat()).toEqual(['http_429', 'circuit_open'])
  now += 300_001
  reply = json({ chart: { result: null, error: { code: 'Not Found' } } })
  expect([await ask(), await ask(), await ask(), await ask()].flat()).toEqual([
    'unknown_symbol',
    'unknown_symbol',
    'unknown_symbol',
    'unknown_symbol',
  ])
})

test('a caller that gives up ends the call at once, and no further source is asked', async () => {
  const { data, asked } = await market({ '.test': hang })
  const controller = new AbortController()
  const pending = data.snapshot(instrument('600519'), { count: 10, signal: controller.signal })
  controller.abort(new Error('task cancelled'))
  await expect(pending).rejects.toThrow('task cancelled')
  expect(asked.some((url) => url.startsWith('http://y.test'))).toBe(false)
})

const FAILURES: [Omit<UpstreamFailure, 'service'>, errorType: string, message: string, Outcome | null][] = [
  [{ reason: 'timeout', retryable: true }, 'timeout', 'one: timeout', 'failed'],
  [{ reason: 'network' }, 'network', 'one: network', 'failed'],
  [{ reason: 'too_large', detail: 'over 5 MB' }, 'too_large', 'one: too_large (over 5 MB)', 'failed'],
  [{ reason: 'not_json', status: 200 }, 'not_json', 'one: not_json (HTTP 200)', 'failed'],
  [{ reason: 'malformed' }, 'malformed', 'one: malformed', 'failed'],
  [{ reason: 'http_status', status: 500 }, 'http_500', 'one: http_status (HTTP 500)', 'failed'],
  [{ reason: 'http_status', status: 404 }, 'http_404', 'one: http_status (HTTP 404)', 'failed'],
  [{ reason: 'http_status', status: 403 }, 'http_403', 'one: http_status (HTTP 403)', 'refused'],
  [{ reason: 'rate_limited', status: 429 }, 'http_429', 'one: rate_limited (HTTP 429)', 'refused'],
  [{ reason: 'refused' }, 'refused', 'one: refused', 'refused'],
  [{ reason: 'unknown_symbol' }, 'unknown_symbol', 'one: unknown_symbol', 'answered'],
  [{ reason: 'wrong_symbol' }, 'wrong_symbol', 'one: wrong_symbol', null],
  [{ reason: 'empty', detail: 'no bars' }, 'empty', 'one: empty (no bars)', null],
  [{ reason: 'bad_price' }, 'bad_price', 'one: bad_price', null],
  [{ reason: 'bad_dates' }, 'bad_dates', 'one: bad_dates', null],
  [{ reason: 'crowded' }, 'crowded', 'one: crowded', null],
]

test('every kind of failure stands in the account of its need by its own name, and says what it says of the source', async () => {
  const moutai = instrument('600519')
  const needs = [
    ['daily_data', 'daily_bars', barsNeed(moutai, { count: 10 })],
    ['realtime_quote', 'quote', quoteNeed(moutai, {})],
    ['fundamentals', 'fundamentals', fundamentalsNeed(moutai, {})],
    ['capital_flow', 'capital_flow', flowNeed(moutai, {})],
    ['belong_boards', 'boards', boardsNeed(moutai, {})],
    ['sector_rankings', 'rankings', rankingsNeed(moutai, {})],
    ['peer_multiples', 'peers', peersNeed(moutai, [], {})],
  ] as const
  const fails = (name: string, error: Error): MarketDataProvider => {
    const fail = () => Promise.reject(error)
    const methods = {
      dailyBars: fail,
      quote: fail,
      fundamentals: fail,
      capitalFlow: fail,
      boards: fail,
      rankings: fail,
      peers: fail,
    }
    return { name, provenance: () => null, supports: () => true, ...methods }
  }
  for (const [failure, errorType, errorMessage, outcome] of FAILURES) {
    const error = new UpstreamError({ service: 'one', ...failure })
    expect([errorType, outcomeOf(error)]).toEqual([errorType, outcome])
    for (const [dataType, operation, need] of needs) {
      let now = NOW
      const clock = () => (now += 5)
      const chain = { clock, timeoutMs: 30_000, gate: memoryGate(() => NOW) }
      const sources = [fails('one', error), fails('two', new Error('inner words'))]
      const found = await firstAnswer<unknown>(chain, sources, need as never)
      const blank = { dataType, operation, success: false, latencyMs: 5, recordCount: 0 }
      const one = { ...blank, provider: 'one', errorType, errorMessage, fallbackFrom: null, fallbackTo: 'two' }
      const two = { ...blank, provider: 'two', errorType: 'internal', errorMessage: 'two: internal error' }
      expect(found).toEqual({
        ok: false,
        runs: [
          { ...one, createdAt: '2026-01-04T04:00:00.005000Z' },
          { ...two, fallbackFrom: 'one', fallbackTo: null, createdAt: '2026-01-04T04:00:00.015000Z' },
        ],
      })
    }
  }
  expect(outcomeOf(new Error('not of the source'))).toBe('failed')
})

test('what a need brings is counted, and the answer is the first source that has one', async () => {
  const day = { date: '2026-01-02' }
  const answers = {
    dailyBars: [day, day, day],
    quote: { price: 1 },
    fundamentals: { report: {}, valuation: null, dividends: [{}, {}] },
    capitalFlow: [day, day],
    boards: [{}],
    rankings: { industries: { top: [{}, {}], bottom: [] }, concepts: { top: [{}, {}, {}], bottom: [{}] } },
    peers: { companies: [{}, {}] },
  }
  const source = Object.fromEntries(Object.entries(answers).map(([name, value]) => [name, async () => value]))
  const good = { name: 'good', provenance: () => null, supports: () => true, ...source } as MarketDataProvider
  const moutai = instrument('600519')
  const counted = async (need: unknown) => {
    const chain = { clock: () => NOW, timeoutMs: 30_000, gate: memoryGate(() => NOW) }
    const found = await firstAnswer<unknown>(chain, [good, good], need as never)
    return found.runs.map(({ success, recordCount, errorType }) => [success, recordCount, errorType])
  }
  expect(await counted(barsNeed(moutai, { count: 10 }))).toEqual([[true, 3, null]])
  expect(await counted(quoteNeed(moutai, {}))).toEqual([[true, 1, null]])
  expect(await counted(fundamentalsNeed(moutai, {}))).toEqual([[true, 3, null]])
  expect(await counted(flowNeed(moutai, {}))).toEqual([[true, 2, null]])
  expect(await counted(boardsNeed(moutai, {}))).toEqual([[true, 1, null]])
  expect(await counted(rankingsNeed(moutai, {}))).toEqual([[true, 5, null]])
  expect(await counted(peersNeed(moutai, [], {}))).toEqual([[true, 2, null]])
  answers.fundamentals.report = null as never
  expect(await counted(fundamentalsNeed(moutai, {}))).toEqual([[true, 2, null]])
})

test('change and percentage are worked out from both prices and rounded to the nearest fourth decimal', () => {
  expect(changeOf(10.2, 9.9)).toEqual({ change: 0.3, changePct: 3.0303 })
  expect(changeOf(9.9, 10.2)).toEqual({ change: -0.3, changePct: -2.9412 })
  expect(changeOf(3, 3)).toEqual({ change: 0, changePct: 0 })
  expect(changeOf(0.00016, 0.00012)).toEqual({ change: 0, changePct: 33.3333 })
  const rows: [value: number, decimals: number, expected: number][] = [
    [1.2345678, 4, 1.2346],
    [1.2345478, 4, 1.2345],
    [-1.2345678, 4, -1.2346],
    [1234.5, 0, 1235],
    [0.1 + 0.2, 2, 0.3],
  ]
  expect(rows.map(([value, decimals]) => rounded(value, decimals))).toEqual(rows.map(([, , expected]) => expected))
})
