import { expect, test } from 'vitest'
import type { AnswerStore, KeptAnswer } from '../../../src/market/providers/answer-cache.ts'
import { createMarketData, isUnsupported, type MarketDataOptions } from '../../../src/market/providers/index.ts'
import * as eastMoney from '../../fixtures/market/eastmoney.ts'
import { MAINLAND_ROWS, tencentSeries } from '../../fixtures/market/replies.ts'
import { instrument, json, quoteLine, status, upstream } from './upstream.ts'

const at = (text: string) => Date.parse(`${text}+08:00`)
const MOUTAI = instrument('600519')

function memoryStore(): AnswerStore & { kept: Map<string, KeptAnswer> } {
  const kept = new Map<string, KeptAnswer>()
  return {
    kept,
    get: async (need, key) => kept.get(`${need} ${key}`) ?? null,
    put: async (need, key, answer) => void kept.set(`${need} ${key}`, answer),
  }
}

async function scene(rules: Parameters<typeof upstream>[0], options: Partial<MarketDataOptions> = {}) {
  const clock = { now: at('2025-12-31T20:00:00') }
  const { fetch, asked } = upstream(rules)
  const store = memoryStore()
  const data = await createMarketData({
    providers: ['tencent', 'eastmoney', 'sample'],
    variables: {
      TENCENT_QUOTE_URL: 'http://q.test',
      TENCENT_KLINE_URL: 'http://k.test',
      EASTMONEY_QUOTE_URL: 'http://e.test',
      EASTMONEY_HISTORY_URL: 'http://e.test',
      EASTMONEY_DATACENTER_URL: 'http://e.test',
    },
    clock: () => clock.now,
    fetch,
    store,
    ...options,
  })
  return { data, asked, clock, store, rules }
}

const lastRun = ({ runs }: { runs: { provider: string; operation: string; staleSeconds?: number }[] }) => {
  const run = runs.at(-1)
  return run && [run.provider, run.operation, run.staleSeconds]
}

test('bars are kept from the settled end of a session to the start of the next, and asked for again while it trades', async () => {
  const { data, asked, clock } = await scene({ 'k.test': json(tencentSeries('sh600519', MAINLAND_ROWS)) })
  const ask = async (count = 3) => {
    const bars = await data.bars(MOUTAI, { count })
    return [bars.ok && bars.value.length, lastRun(bars), asked.length]
  }
  expect(await ask()).toEqual([3, ['tencent', 'daily_bars', undefined], 1])
  clock.now += 3_600_000
  expect(await ask()).toEqual([3, ['tencent', 'kept_daily_bars', 3600], 1])
  expect(await ask(2), 'a short question takes no long answer away').toEqual([
    2,
    ['tencent', 'kept_daily_bars', 3600],
    1,
  ])
  expect(await ask(4)).toEqual([4, ['tencent', 'kept_daily_bars', 3600], 1])
  clock.now = at('2026-01-01T10:00:00')
  expect((await ask())[2], 'a holiday').toBe(1)
  clock.now = at('2026-01-05T09:00:00')
  expect((await ask())[2], 'before the market opens').toBe(1)
  clock.now = at('2026-01-05T10:00:00')
  expect((await ask())[2], 'the session began').toBe(2)
  clock.now += 59_000
  expect((await ask())[2], 'less than a minute later').toBe(2)
  clock.now += 2_000
  expect((await ask())[2]).toBe(3)
  clock.now = at('2026-01-05T15:05:00')
  expect((await ask())[2], 'not settled yet').toBe(4)
  clock.now = at('2026-01-05T15:12:00')
  expect([(await ask())[2], (await ask())[2]], 'settled').toEqual([5, 5])
})

test('force_refresh passes over what is kept, and another end date is another question', async () => {
  const { data, asked } = await scene({ 'k.test': json(tencentSeries('sh600519', MAINLAND_ROWS)) })
  await data.bars(MOUTAI, { count: 3 })
  const forced = await data.bars(MOUTAI, { count: 3, forceRefresh: true })
  expect([lastRun(forced), asked.length]).toEqual([['tencent', 'daily_bars', undefined], 2])
  await data.bars(MOUTAI, { count: 3, endDate: '2025-12-31' })
  expect(asked.length).toBe(3)
})

test('when every source fails, what was kept is given with its age, and the sample stays out', async () => {
  const rules: Parameters<typeof upstream>[0] = {
    'q.test': quoteLine('sh600519'),
    'k.test': json(tencentSeries('sh600519', MAINLAND_ROWS)),
    'e.test': status(403),
  }
  const { data, clock, store } = await scene(rules)
  await data.bars(MOUTAI, { count: 3 })
  clock.now = at('2026-01-05T10:00:00')
  rules['k.test'] = status(403)
  rules['q.test'] = status(403)
  const snapshot = await data.snapshot(MOUTAI, { count: 3 })
  expect(snapshot).toMatchObject({ provenance: null, asOf: clock.now })
  expect(snapshot.quote.ok).toBe(false)
  if (!snapshot.bars.ok) throw new Error('no bars')
  expect(snapshot.bars.value.at(-1)?.date).toBe('2025-12-31')
  expect(snapshot.bars.runs.map(({ provider, errorType, fallbackTo }) => [provider, errorType, fallbackTo])).toEqual([
    ['tencent', 'http_403', 'eastmoney'],
    ['eastmoney', 'http_403', 'tencent'],
    ['tencent', null, null],
  ])
  expect(lastRun(snapshot.bars)).toEqual(['tencent', 'kept_daily_bars', 396_000])
  clock.now = at('2026-02-05T10:00:00')
  expect((await data.snapshot(MOUTAI, { count: 3 })).provenance?.kind, 'too old to be of use').toBe('synthetic')
  expect(
    [...store.kept.values()].some(({ provider }) => provider === 'sample'),
    'samples are not kept',
  ).toBe(false)
})

test('a store that is broken or holds rubbish costs nothing but the keeping', async () => {
  const rubbish: AnswerStore = {
    get: async () => ({ body: '{"bars":', provider: 'tencent', keptAt: at('2025-12-31T19:00:00') }),
    put: () => Promise.reject(new Error('full')),
  }
  const { data, asked } = await scene({ 'k.test': json(tencentSeries('sh600519', MAINLAND_ROWS)) }, { store: rubbish })
  for (let i = 0; i < 2; i++) expect((await data.bars(MOUTAI, { count: 3 })).ok).toBe(true)
  expect(asked).toHaveLength(2)
  const shape: AnswerStore = { ...rubbish, get: async () => ({ body: '[{"date":1}]', provider: 'tencent', keptAt: 1 }) }
  const other = await scene({ 'k.test': status(403), 'e.test': status(403) }, { store: shape, providers: ['tencent'] })
  expect((await other.data.bars(MOUTAI, { count: 3 })).ok).toBe(false)
})

test('what is known of a company is kept too, and what no source carries is told apart from what failed', async () => {
  const rules: Parameters<typeof upstream>[0] = {
    RPT_LICO_FN_CPD: json(eastMoney.RESULTS),
    RPT_SHAREBONUS_DET: json(eastMoney.BONUSES),
    'fflow/daykline': json(eastMoney.FLOW),
    'slist/get': json(eastMoney.BOARDS),
    'fs=m:90+t:2': json(eastMoney.INDUSTRIES),
    'fs=m:90+t:3': json(eastMoney.INDUSTRIES),
  }
  const fast = { turn: async () => 0, openUntil: async () => null, settle: async () => {} }
  const { data, asked, clock } = await scene(rules, { gate: fast })
  const all = () =>
    Promise.all([data.fundamentals(MOUTAI), data.capitalFlow(MOUTAI), data.boards(MOUTAI), data.rankings(MOUTAI)])
  expect((await all()).map((fetched) => fetched.ok && fetched.runs.at(-1)?.recordCount)).toEqual([2, 2, 2, 10])
  expect(asked).toHaveLength(6)
  clock.now += 60_000
  const again = await all()
  expect(
    again.map((fetched) => fetched.runs.map(({ operation, staleSeconds }) => `${operation} ${staleSeconds}`)),
  ).toEqual([['kept_fundamentals 60'], ['kept_capital_flow 60'], ['kept_boards 60'], ['kept_rankings 60']])
  expect(asked).toHaveLength(6)
  const apple = await data.capitalFlow(instrument('AAPL'))
  expect([apple.ok, isUnsupported(apple)]).toEqual([false, true])
  rules['fflow/daykline'] = status(500)
  const failed = await data.capitalFlow(instrument('000001'))
  expect([failed.ok, isUnsupported(failed), failed.runs[0]?.errorType]).toEqual([false, false, 'http_500'])
})

test('bars of an index are fetched once a session, also while the market is open', async () => {
  const { data, asked, clock } = await scene({ 'k.test': json(tencentSeries('sh000300', MAINLAND_ROWS)) })
  const index = instrument('SH000300')
  const ask = async () => {
    const bars = await data.indexBars(index, { count: 3 })
    return [bars.ok && bars.value.length, asked.length]
  }
  // The day before the holiday, after the close; then three times on the next session, which runs, and after its end.
  const moments = [
    '2025-12-31T20:00:00',
    '2026-01-05T10:00:00',
    '2026-01-05T14:30:00',
    '2026-01-05T15:20:00',
    '2026-01-05T20:00:00',
  ]
  const asks = []
  for (const moment of moments) {
    clock.now = at(moment)
    asks.push(await ask())
  }
  expect(asks).toEqual([
    [3, 1],
    [3, 1],
    [3, 1],
    [3, 2],
    [3, 2],
  ])
})

test('an index without a live source is told by no sample', async () => {
  const { data } = await scene({ 'k.test': status(500), 'e.test': status(500) })
  expect(await data.indexBars(instrument('SH000001'), { count: 3 })).toMatchObject({ ok: false })
})
