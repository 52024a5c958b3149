import { expect, test } from 'vitest'
import { unlessAborted } from '../../src/lib/wait-at-most.ts'
import type { MarketData } from '../../src/market/providers/index.ts'
import { closesOf } from '../../src/portfolio/prices.ts'
import { client } from '../helpers/app.ts'
import { report } from '../helpers/reports.ts'

const BASE = '/api/v1/portfolio'
type Client = Awaited<ReturnType<typeof client>>

const headers = { 'accept-language': 'en' }
const post = (who: Client, path: string, body: object) => who.ask(`${BASE}/${path}`, { method: 'POST', body, headers })

async function account(who: Client, fields: object = {}): Promise<number> {
  const made = await post(who, 'accounts', { name: 'Main', ...fields })
  expect(made.status).toBe(200)
  return (await made.json<{ id: number }>()).id
}

/** A session of every market that is open that day: the last of the bundled series. */
const DAY = '2025-12-30'

test('accounts are made, changed, hidden and shown again; hiding keeps what was booked', async () => {
  const ann = await client()
  const id = await account(ann, { name: ' 主账户 ', broker: '华泰', market: 'hk', base_currency: '港币' })
  expect(await ann.json(`${BASE}/accounts`)).toMatchObject({
    accounts: [{ id, name: '主账户', broker: '华泰', market: 'hk', base_currency: 'HKD', is_active: true }],
  })
  const one = `${BASE}/accounts/${id}`
  expect(await ann.json(one, { method: 'PUT', body: { name: 'Other' } })).toMatchObject({
    name: 'Other',
    broker: '华泰',
  })
  await post(ann, 'cash-ledger', { account_id: id, event_date: DAY, direction: 'in', amount: 5 })
  expect(await ann.json(one, { method: 'DELETE' })).toEqual({ deleted: 1 })
  expect(await ann.json(`${BASE}/accounts`)).toEqual({ accounts: [] })
  expect(await ann.json(`${BASE}/accounts?include_inactive=true`)).toMatchObject({ accounts: [{ is_active: false }] })
  const refused = await post(ann, 'cash-ledger', { account_id: id, event_date: DAY, direction: 'in', amount: 5 })
  expect([refused.status, (await refused.json<{ error: string }>()).error]).toEqual([400, 'validation_error'])
  expect(await ann.json(one, { method: 'PUT', body: { is_active: true } })).toMatchObject({ is_active: true })
  const kept = await ann.json<{ total: number; items: object[] }>(`${BASE}/cash-ledger`)
  expect(kept).toMatchObject({ total: 1, items: [{ amount: 5, currency: 'HKD', direction: 'in', event_date: DAY }] })
  const bad = await post(ann, 'accounts', { name: 'x', base_currency: 'EURO' })
  expect(bad.status).toBe(400)
  expect((await post(ann, 'accounts', { name: '' })).status).toBe(422)
})

test('a day is valued with the closes of the day, cash of each currency, and a rate that the owner gave or none', async () => {
  const ann = await client()
  const id = await account(ann)
  const cash = { account_id: id, event_date: '2025-12-01', direction: 'in' }
  await post(ann, 'cash-ledger', { ...cash, amount: '200000.12345678' })
  const trade = { account_id: id, trade_date: '2025-12-02', side: 'buy', fee: 5, tax: '0.5' }
  expect((await post(ann, 'trades', { ...trade, symbol: '贵州茅台', quantity: 100, price: 1400 })).status).toBe(200)
  expect((await post(ann, 'trades', { ...trade, symbol: 'AAPL', quantity: 10, price: 200.1 })).status).toBe(200)
  expect(
    (await post(ann, 'trades', { ...trade, symbol: '600519', side: 'sell', quantity: 40, price: 1450 })).status,
  ).toBe(200)
  const dividend = { account_id: id, effective_date: '2025-12-10', symbol: '600519', action_type: 'cash_dividend' }
  expect((await post(ann, 'corporate-actions', { ...dividend, cash_dividend_per_share: 2.5 })).status).toBe(200)

  const without = await ann.json<Snapshot>(`${BASE}/snapshot?as_of=${DAY}`)
  // The dollars have no rate: no sum that they are part of is shown, and what is missing is named.
  expect(without).toMatchObject({ total_equity: null, total_cash: null, fx_stale: true, missing_rates: ['USD/CNY'] })
  expect(without).toMatchObject({ data_quality: 'partial', account_count: 1, currency: 'CNY', cost_method: 'fifo' })
  expect(without.limitations).toContain('fx_rate_missing')
  const rate = { currency: 'usd', quote: '人民币', date: DAY, rate: '7.25' }
  expect((await ann.ask(`${BASE}/fx/rates`, { method: 'PUT', body: rate })).status).toBe(200)

  const day = await ann.json<Snapshot>(`${BASE}/snapshot?as_of=${DAY}&cost_method=avg`)
  const [maotai, apple] = day.accounts[0]?.positions ?? []
  const bars = async (code: string) => {
    const { data } = await ann.json<{ data: { date: string; close: number }[] }>(
      `/api/v1/stocks/${code}/history?days=30`,
    )
    return data.find(({ date }) => date === DAY)?.close ?? Number.NaN
  }
  const [maotaiClose, appleClose] = [await bars('600519'), await bars('AAPL')]
  expect(maotai).toMatchObject({ symbol: '600519', currency: 'CNY', quantity: 60, last_price: maotaiClose })
  expect(maotai).toMatchObject({
    avg_cost: 1400.055,
    total_cost: 84_003.3,
    price_source: 'history_close',
    price_date: DAY,
  })
  expect(apple).toMatchObject({ symbol: 'AAPL', currency: 'USD', quantity: 10, last_price: appleClose, fx_rate: 7.25 })
  expect(apple?.market_value_base).toBeCloseTo(appleClose * 72.5, 6)
  expect(day.realized_pnl).toBeCloseTo(40 * 1450 - 5.5 - (140_005.5 * 40) / 100, 6)
  expect(day.dividend_income).toBe(150)
  // In yuan: what was paid in, less Maotai, plus the sale, plus the dividend; and the dollars that Apple cost.
  expect(day.total_cash).toBeCloseTo(200_000.12345678 - 140_005.5 + 57_994.5 + 150 - 2006.5 * 7.25, 6)
  expect(day.total_equity).toBeCloseTo((day.total_cash ?? 0) + (day.total_market_value ?? 0), 6)
  expect(day.fx_stale).toBe(false)
  expect(day.limitations).toEqual(expect.arrayContaining(['sample_prices']))
  // Before anything was bought there is cash alone; a rate of a later day is none.
  const early = await ann.json<Snapshot>(`${BASE}/snapshot?as_of=2025-12-01`)
  expect(early).toMatchObject({ total_cash: 200_000.12345678, total_market_value: 0, total_equity: 200_000.12345678 })
  expect((await ann.json<Snapshot>(`${BASE}/snapshot?as_of=${DAY}&currency=USD`)).missing_rates).toEqual([])
  expect((await ann.ask(`${BASE}/snapshot?account_id=999`)).status).toBe(404)
})

test('risk: weights, losses near the limit, falls and returns without what was paid in', async () => {
  const ann = await client()
  const id = await account(ann)
  await post(ann, 'cash-ledger', { account_id: id, event_date: '2025-12-01', direction: 'in', amount: 300_000 })
  const trade = { account_id: id, trade_date: '2025-12-01', side: 'buy' }
  await post(ann, 'trades', { ...trade, symbol: '600519', quantity: 100, price: 1_400 })
  await post(ann, 'trades', { ...trade, symbol: '300750', quantity: 10, price: 1_000 })
  await post(ann, 'cash-ledger', { account_id: id, event_date: '2025-12-15', direction: 'in', amount: 1_000_000 })
  const risk = await ann.json<Risk>(`${BASE}/risk?as_of=${DAY}`)
  const { data } = await ann.json<{ data: { date: string; close: number }[] }>('/api/v1/stocks/600519/history?days=60')
  const other = await ann.json<{ data: { date: string; close: number }[] }>('/api/v1/stocks/300750/history?days=60')
  const closes = (of: { date: string; close: number }[]) => new Map(of.map(({ date, close }) => [date, close]))
  const [maotai, catl] = [closes(data), closes(other.data)]
  expect(risk.concentration.top_positions.map(({ symbol }) => symbol)).toEqual(['600519', '300750'])
  expect(risk.concentration).toMatchObject({ alert: true })
  expect(risk.concentration.top_positions.reduce((sum, one) => sum + one.weight_pct, 0)).toBeCloseTo(100, 6)
  // Bought far above its price.
  expect(risk.stop_loss).toMatchObject({
    triggered_count: 1,
    items: [{ symbol: '300750', is_triggered: true, account_id: id }],
  })
  // The same by hand: the value of each session, less what was paid in on it, against the session before.
  const days = [...maotai.keys()].filter((date) => date >= '2025-12-01' && date <= DAY).sort()
  let [index, before, high, deepest] = [1, 0, 1, 0]
  for (const [i, date] of days.entries()) {
    const paid = date >= '2025-12-15' ? 1_000_000 : 0
    const value = 300_000 - 150_000 + paid + 100 * (maotai.get(date) ?? 0) + 10 * (catl.get(date) ?? 0)
    const flow = days.findIndex((day) => day >= '2025-12-15') === i ? 1_000_000 : 0
    if (i > 0) index *= value / (before + flow)
    high = Math.max(high, index)
    deepest = Math.max(deepest, 1 - index / high)
    before = value
  }
  expect(risk.drawdown.series_points).toBe(days.length)
  expect(risk.performance.time_weighted_pct).toBeCloseTo((index - 1) * 100, 6)
  expect(risk.drawdown.max_drawdown_pct).toBeCloseTo(deepest * 100, 6)
  expect(risk.performance.money_weighted_pct).not.toBe(null)
  // No live source tells an index here: it is named, and nothing is said of it.
  expect(risk.performance.benchmark).toMatchObject({ symbol: 'SH000300', return_pct: null, excess_pct: null })
  const abroad = await ann.json<Risk>(`${BASE}/risk?as_of=${DAY}&benchmark=us`)
  expect(abroad.performance.benchmark).toMatchObject({
    symbol: 'SPX',
    market: 'us',
    publisher: 'S&P Dow Jones Indices',
  })
  expect(risk.sector_concentration).toMatchObject({
    alert: false,
    coverage: { classified_count: 0, unclassified_count: 2 },
  })
  // The coefficient by its definition, over the days that both have.
  const since = [...maotai.keys()].filter((date) => date >= risk.correlation.from && date <= DAY && catl.has(date))
  const [pair] = risk.correlation.pairs
  expect(pair).toMatchObject({ a: '600519', b: '300750' })
  expect(pair?.days).toBeGreaterThanOrEqual(since.length - 1)
  expect(Math.abs(pair?.correlation ?? 2)).toBeLessThanOrEqual(1)
  // Dollars without a rate: what needs one is not known, and nothing is thrown.
  await post(ann, 'trades', { ...trade, symbol: 'AAPL', quantity: 1, price: 1 })
  const without = await ann.json<Risk>(`${BASE}/risk?as_of=${DAY}`)
  expect(without).toMatchObject({
    performance: { time_weighted_pct: null },
    drawdown: { max_drawdown_pct: null, fx_stale: true },
    // Nor is any share: what the others have of it would look too large.
    concentration: {
      total_market_value: null,
      top_weight_pct: null,
      alert: false,
      top_positions: [],
      unvalued: ['AAPL'],
    },
    sector_concentration: { total_market_value: null, top_weight_pct: null, alert: false, top_sectors: [] },
  })
  const empty = await client()
  expect(await empty.json<Risk>(`${BASE}/risk`)).toMatchObject({
    concentration: { top_weight_pct: null, alert: false },
  })
})

type Risk = {
  concentration: { top_positions: { symbol: string; weight_pct: number }[] }
  stop_loss: object
  drawdown: { series_points: number; max_drawdown_pct: number | null }
  performance: { time_weighted_pct: number | null; money_weighted_pct: number | null; benchmark: object }
  sector_concentration: object
  correlation: { from: string; pairs: { a: string; b: string; days: number; correlation: number | null }[] }
}

type Position = {
  symbol: string
  avg_cost: number
  last_price: number | null
  market_value_base: number | null
}
type Snapshot = {
  total_equity: number | null
  total_cash: number | null
  total_market_value: number | null
  realized_pnl: number | null
  dividend_income: number | null
  fx_stale: boolean
  limitations: string[]
  missing_rates: string[]
  accounts: { positions: Position[] }[]
}

test('nothing can be booked or taken back that would sell more than there is, whatever the order of booking', async () => {
  const ann = await client()
  const id = await account(ann, { base_currency: 'USD' })
  const trade = { account_id: id, symbol: 'AAPL', price: 100 }
  const booked = async (fields: object) => (await post(ann, 'trades', { ...trade, ...fields })).json<{ id: number }>()
  const { id: bought } = await booked({ side: 'buy', trade_date: '2025-12-02', quantity: 10 })
  await booked({ side: 'sell', trade_date: '2025-12-10', quantity: 10 })
  const early = await post(ann, 'trades', { ...trade, side: 'sell', trade_date: '2025-12-05', quantity: 0.00000001 })
  expect(early.status).toBe(409)
  expect(await early.json()).toMatchObject({
    error: 'portfolio_oversell',
    message: 'AAPL: 10 would be sold on 2025-12-10, but only 9.99999999 are held then',
  })
  const gone = await ann.ask(`${BASE}/trades/${bought}`, { method: 'DELETE' })
  expect([gone.status, (await gone.json<{ error: string }>()).error]).toEqual([409, 'portfolio_oversell'])
  expect(await ann.json<{ total: number }>(`${BASE}/trades?side=buy`)).toMatchObject({ total: 1 })
  const split = { account_id: id, symbol: 'AAPL', effective_date: '2025-12-05', action_type: 'split_adjustment' }
  expect((await post(ann, 'corporate-actions', { ...split, split_ratio: 0.5 })).status).toBe(409)
  expect((await post(ann, 'corporate-actions', { ...split, split_ratio: 2 })).status).toBe(200)
  expect((await post(ann, 'trades', { ...trade, side: 'sell', trade_date: '2025-12-11', quantity: 10 })).status).toBe(
    200,
  )
})

test('twenty writes at one time are all booked once, and a number of a trade only once', async () => {
  const ann = await client()
  const id = await account(ann)
  const trade = { account_id: id, symbol: '600519', side: 'buy', trade_date: '2025-12-02', quantity: 1, price: 1 }
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) => post(ann, 'trades', { ...trade, trade_uid: `no ${i % 10}` })),
  )
  const statuses = answers.map(({ status }) => status).sort()
  expect(statuses).toEqual([...Array(10).fill(200), ...Array(10).fill(409)])
  const { total, items } = await ann.json<{ total: number; items: { id: number }[] }>(`${BASE}/trades?page_size=100`)
  expect([total, new Set(items.map((one) => one.id)).size]).toEqual([10, 10])
})

test('another owner sees, books and takes back nothing, as if it had never existed', async () => {
  const [ann, bob] = [await client(), await client()]
  const id = await account(ann)
  const cash = { account_id: id, event_date: DAY, direction: 'in', amount: 5 }
  const { id: entry } = await (await post(ann, 'cash-ledger', cash)).json<{ id: number }>()
  await ann.ask(`${BASE}/fx/rates`, { method: 'PUT', body: { currency: 'USD', quote: 'CNY', date: DAY, rate: 7 } })
  expect((await post(bob, 'cash-ledger', cash)).status).toBe(404)
  expect((await bob.ask(`${BASE}/cash-ledger/${entry}`, { method: 'DELETE' })).status).toBe(404)
  expect((await bob.ask(`${BASE}/accounts/${id}`, { method: 'DELETE' })).status).toBe(404)
  expect((await bob.ask(`${BASE}/accounts/${id}`, { method: 'PUT', body: { name: 'mine' } })).status).toBe(404)
  expect((await bob.ask(`${BASE}/snapshot?account_id=${id}`)).status).toBe(404)
  expect(await bob.json(`${BASE}/cash-ledger?account_id=${id}`)).toMatchObject({ items: [], total: 0 })
  expect(await bob.json(`${BASE}/accounts?include_inactive=true`)).toEqual({ accounts: [] })
  expect(await bob.json(`${BASE}/fx/rates`)).toEqual({ rates: [] })
  const rate = `${BASE}/fx/rates?currency=USD&quote=CNY&date=${DAY}`
  expect((await bob.ask(rate, { method: 'DELETE' })).status).toBe(404)
  expect(await ann.json(rate, { method: 'DELETE' })).toEqual({ deleted: 1 })
  expect(await ann.json(`${BASE}/cash-ledger/${entry}`, { method: 'DELETE' })).toEqual({ deleted: 1 })
})

test('what cannot be booked is refused with a sentence, and nothing of it is kept', async () => {
  const ann = await client()
  const id = await account(ann)
  const trade = { account_id: id, symbol: '600519', side: 'buy', trade_date: '2025-12-02', quantity: 1, price: 1 }
  const rows: [object, number, RegExp][] = [
    [{ quantity: -1 }, 422, /decimal above 0/],
    [{ quantity: 0 }, 422, /decimal above 0/],
    [{ quantity: '1.123456789' }, 422, /8 places/],
    [{ quantity: 1e13 }, 422, /10\^12/],
    [{ price: '1,000' }, 422, /8 places/],
    [{ fee: -0.01 }, 422, /0 or more/],
    [{ trade_date: '2025-12-06' }, 400, /2025-12-06 is no trading day of the market cn/],
    [{ trade_date: '2199-01-04' }, 400, /2199-01-04 is after/],
    [{ trade_date: '1989-12-29' }, 422, /1990-01-01/],
    [{ trade_date: '2025-02-30' }, 422, /date/i],
    [{ symbol: 'SH000001' }, 400, /index/],
    [{ symbol: '无此公司' }, 400, /无此公司/],
    [{ currency: '=1+1' }, 400, /no code of a currency/],
    [{ currency: 'XYZ' }, 400, /XYZ.* is no code of a currency/],
    [{ side: 'short' }, 422, /buy/],
    [{ account_id: 12_345 }, 404, /No account/],
    [{ note: 'x'.repeat(256) }, 422, /255/],
  ]
  for (const [fields, status, text] of rows) {
    const answer = await post(ann, 'trades', { ...trade, ...fields })
    expect([JSON.stringify(fields), answer.status, await answer.text()]).toEqual([
      JSON.stringify(fields),
      status,
      expect.stringMatching(text),
    ])
  }
  const action = { account_id: id, symbol: '600519', effective_date: DAY }
  const noRatio = await post(ann, 'corporate-actions', { ...action, action_type: 'split_adjustment' })
  expect([noRatio.status, (await noRatio.json<{ message: string }>()).message]).toEqual([
    400,
    'split_ratio: an entry of the kind split_adjustment needs it',
  ])
  for (const path of ['snapshot', 'risk', 'fx/refresh']) {
    const init = { method: path === 'fx/refresh' ? 'POST' : 'GET' }
    expect([path, (await ann.ask(`${BASE}/${path}?as_of=0001-01-01`, init)).status]).toEqual([path, 422])
    expect([path, (await ann.ask(`${BASE}/${path}?as_of=9999-12-31`, init)).status]).toEqual([path, 200])
  }
  const backwards = await ann.ask(`${BASE}/trades?date_from=2025-12-02&date_to=2025-12-01`)
  expect(backwards.status).toBe(400)
  for (const path of ['trades', 'cash-ledger', 'corporate-actions']) {
    expect(await ann.json(`${BASE}/${path}`)).toMatchObject({ total: 0 })
  }
})

test('advice stands beside what is held: signals of holdings alone, the newest of each counted as a risk, and a holding analysed', async () => {
  const [ann, bob] = [await client(), await client()]
  const [first, second] = [await account(ann), await account(ann, { name: 'Other' })]
  const trade = { symbol: 'AAPL', side: 'buy', trade_date: '2025-12-02', quantity: 1, price: 200 }
  await post(ann, 'trades', { ...trade, account_id: first })
  await post(ann, 'trades', { ...trade, account_id: second, symbol: 'MSFT' })
  await post(ann, 'trades', { ...trade, account_id: second, symbol: 'NVDA' })
  const soon = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString().replace('Z', '000Z')
  // An older warning that a newer advice has taken the place of warns of nothing.
  await report(ann.owner, { key: 'NVDA', action: 'reduce', changes: { createdAt: soon(30) } })
  await report(ann.owner, { key: 'NVDA', action: 'hold', changes: { createdAt: soon(20) } })
  await report(ann.owner, { key: 'AAPL', action: 'sell', changes: { createdAt: soon(10) } })
  await report(ann.owner, { key: 'TSLA', action: 'sell', changes: { createdAt: soon(5) } })
  const listed = async (who: Client, query: string) =>
    (await who.json<{ items: { stock_code: string }[] }>(`/api/v1/decision-signals?status=active${query}`)).items
      .map(({ stock_code: code }) => code)
      .sort()
  expect(await listed(ann, '')).toEqual(['AAPL', 'NVDA', 'NVDA', 'TSLA'])
  expect(await listed(ann, '&holding_only=true')).toEqual(['AAPL', 'NVDA', 'NVDA'])
  expect(await listed(ann, `&holding_only=true&account_id=${second}`)).toEqual(['NVDA', 'NVDA'])
  expect(await listed(ann, '&holding_only=true&account_id=999')).toEqual([])
  expect(await listed(bob, `&holding_only=true&account_id=${first}`)).toEqual([])
  const risk = await ann.json<{ decision_signal_risk: object }>(`${BASE}/risk`)
  expect(risk.decision_signal_risk).toMatchObject({
    ...{ available: true, total: 1, actions: { sell: 1, reduce: 0, alert: 0 } },
    items: [
      { account_id: first, symbol: 'AAPL', market: 'us', signal: { action: 'sell', action_label: expect.any(String) } },
    ],
  })
  const analysed = (who: Client, symbol: string, body?: object) =>
    who.ask(`${BASE}/positions/${symbol}/analysis`, { method: 'POST', headers, ...(body && { body }) })
  const accepted = await analysed(ann, 'aapl', { analysis_phase: 'postmarket', report_language: 'en' })
  expect([accepted.status, await accepted.json()]).toEqual([
    202,
    expect.objectContaining({ task_id: expect.any(String), status: 'pending', analysis_phase: 'postmarket' }),
  ])
  const keyed = (key: string, report_language: string) => {
    const asked = { method: 'POST', headers: { ...headers, 'idempotency-key': key }, body: { report_language } }
    return ann.ask(`${BASE}/positions/NVDA/analysis`, asked)
  }
  const firstAsked = await (await keyed('once', 'en')).json<{ task_id: string }>()
  expect(await (await keyed('once', 'en')).json()).toMatchObject({ task_id: firstAsked.task_id })
  expect([(await keyed('once', 'zh')).status, (await keyed('"open', 'en')).status]).toEqual([422, 422])
  expect((await analysed(ann, 'TSLA')).status).toBe(404)
  expect((await analysed(bob, 'AAPL')).status).toBe(404)
  expect((await analysed(ann, 'MSFT', { account_id: first })).status).toBe(404)
  expect((await analysed(ann, 'nothing-like-it')).status).toBe(404)
  await post(ann, 'trades', { ...trade, account_id: first, symbol: 'MSFT' })
  const unclear = await analysed(ann, 'MSFT')
  expect([unclear.status, await unclear.json()]).toEqual([
    400,
    expect.objectContaining({
      error: 'ambiguous_position_account',
      message: `Several accounts hold MSFT: name one of ${first}, ${second} as account_id`,
    }),
  ])
  expect((await analysed(ann, 'MSFT', { account_id: second })).status).toBe(202)
})

test('a source that is too slow leaves a holding without a price, and the request with an answer', async () => {
  const never = {
    bars: (_: unknown, { signal }: { signal: AbortSignal }) => unlessAborted(signal, new Promise(() => {})),
  }
  const stop = new AbortController()
  const holdings = ['AAPL', 'MSFT'].map((symbol) => ({ symbol, market: 'us', currency: 'USD' }))
  const asked = closesOf(never as unknown as MarketData, { holdings, now: Date.now(), signal: stop.signal })
  stop.abort(new DOMException('late', 'TimeoutError'))
  expect(await asked).toEqual(new Map())
})
