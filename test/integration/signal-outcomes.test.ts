// What became of signals and reports, as the existing analysis page reads it: every field, over bars that are stored.

import { expect, test } from 'vitest'
import { sessionEnd } from '../../src/market/calendar.ts'
import { netReturn } from '../../src/market/costs.ts'
import { type Client, client } from '../helpers/app.ts'
import { bars, dayAt, keep, report } from '../helpers/reports.ts'

const SIGNALS = '/api/v1/decision-signals'
const BACKTEST = '/api/v1/backtest'

type Page = { items: { id: number }[] }
type Outcome = Record<string, unknown> & { horizon: string; eval_status: string; unable_reason: string | null }

const list = (who: Client, query = '') => who.json<Page>(`${SIGNALS}${query}`)
const status = async (who: Client, path: string, init?: Parameters<Client['ask']>[1]) =>
  (await who.ask(path, init)).status

test('what became of a signal is told for each horizon from the next open on, with costs, index and holding beside it', async () => {
  const ann = await client()
  const [kept, index] = [bars(), bars(1.001)]
  await keep('SGNL', kept)
  await keep('SPX', index)
  await report(ann.owner, { key: 'SGNL', session: 10 })
  await report(ann.owner, { key: 'SGNL', session: 85, action: 'sell' })
  await report(ann.owner, { key: 'NOBR' })
  await report(ann.owner, { key: 'SGNL', session: 20, changes: { dataNotice: 'a sample' } })
  const outcomes = async (query: string) => {
    const [signal] = (await list(ann, query)).items
    return ann.json<{ items: Outcome[]; total: number }>(`${SIGNALS}/${signal?.id}/outcomes`)
  }
  const { items, total } = await outcomes('?action=buy&stock_code=SGNL&created_to=2025-01-25')
  expect([total, items.map(({ horizon }) => horizon)]).toEqual([4, ['1d', '3d', '5d', '10d']])
  const [from, to] = [kept[11], kept[15]]
  if (from === undefined || to === undefined) throw new Error('no bars')
  const rise = (to.close / from.open - 1) * 100
  // The target lies two percent above the report's price and is reached in the fifth session.
  expect(items[2]).toEqual({
    ...{ id: expect.any(Number), signal_id: expect.any(Number), horizon: '5d', engine_version: 'signals-1' },
    ...{ eval_status: 'completed', outcome: 'hit', direction_expected: 'up', direction_correct: true },
    ...{
      unable_reason: null,
      anchor_date: dayAt(10),
      eval_window_days: 5,
      start_price: from.open,
      end_close: to.close,
    },
    ...{ max_high: to.high, min_low: from.low, stock_return_pct: expect.closeTo(rise, 1) },
    net_return_pct: expect.any(Number),
    index_return_pct: expect.closeTo(((index[15]?.close ?? 0) / (index[11]?.open ?? 1) - 1) * 100, 1),
    ...{ buy_and_hold_pct: expect.closeTo(rise, 0), holding_state: 'unknown' },
  })
  expect(Number(items[2]?.net_return_pct)).toBeLessThan(rise)
  expect(items[0]).toMatchObject({ outcome: 'neutral', direction_correct: null, eval_status: 'completed' })
  const young = (await outcomes('?action=sell')).items
  expect(young.map(({ unable_reason }) => unable_reason)).toEqual([null, null, 'too_young', 'too_young'])
  expect(young[1]).toMatchObject({ outcome: 'neutral', direction_expected: 'not_up', net_return_pct: null })
  expect((await outcomes('?stock_code=NOBR')).items[0]).toMatchObject({
    eval_status: 'unable',
    unable_reason: 'no_bars',
  })
  // The outcomes of all signals are those of each, by page and by what is asked for.
  type Page = { items: Outcome[]; total: number; page: number; page_size: number }
  const of = (query: string) => ann.json<Page>(`${SIGNALS}/outcomes?${query}`)
  expect(await of('page_size=100')).toMatchObject({ page: 1, page_size: 100, total: 16 })
  expect((await of(`signal_id=${items[0]?.signal_id}`)).items).toEqual(items)
  expect((await of('horizon=5d&outcome=hit')).items).toEqual([items[2]])
  expect((await of('eval_status=unable&page=2&page_size=4')).items.every(({ unable_reason }) => unable_reason)).toBe(
    true,
  )
  expect(await of('engine_version=other')).toMatchObject({ items: [], total: 0 })
  const run = (body: object) => ann.json(`${SIGNALS}/outcomes/run`, { method: 'POST', body })
  expect(await run({ action: 'buy', stock_code: 'SGNL', horizons: ['5d'], force: true })).toMatchObject({
    ...{ items: expect.arrayContaining([items[2]]), evaluated: 2, created: 0, updated: 1, skipped: 1 },
    engine_version: 'signals-1',
  })
  expect(await run({ signal_id: items[0]?.signal_id })).toMatchObject({ items, evaluated: 4 })
  const foreign = await client()
  const body = { signal_id: items[0]?.signal_id }
  expect((await foreign.ask(`${SIGNALS}/outcomes/run`, { method: 'POST', body })).status).toBe(404)
  expect(await foreign.json(`${SIGNALS}/outcomes?signal_id=${items[0]?.signal_id}`)).toMatchObject({
    items: [],
    total: 0,
  })
  const stats = await ann.json(`${SIGNALS}/outcomes/stats?horizons=3d`)
  expect(stats).toEqual({
    ...{ engine_version: 'signals-1', horizons: ['3d'], left_out: 0 },
    statuses: ['active', 'expired', 'invalidated', 'closed', 'archived'],
    ...{ total: 4, completed: 2, unable: 2, hit: 0, miss: 0, neutral: 2, hit_rate_pct: null },
    ...{ avg_stock_return_pct: null, unable_reasons: { no_bars: 1, sample: 1 } },
    baselines: {
      ...{
        least_sample: 20,
        sample: 2,
        base_rate_pct: null,
        purchases: 1,
        purchases_net_return_pct: null,
        cost_pct: null,
      },
      ...{ index_sample: 2, index_return_pct: null, buy_and_hold_sample: 2, buy_and_hold_pct: null },
    },
    breakdowns: {
      ...{ action: expect.any(Array), market: expect.any(Array), source_type: expect.any(Array) },
      ...{ plan_quality: expect.any(Array), horizon: [expect.objectContaining({ value: '3d', total: 4 })] },
    },
  })
  const several = await ann.json(`${SIGNALS}/outcomes/stats?horizons=1d&horizons=10d&statuses=active`)
  expect(several).toMatchObject({ horizons: ['1d', '10d'], statuses: ['active'], total: 0 })
  expect(await status(ann, `${SIGNALS}/outcomes/stats?horizons=2d`)).toBe(422)
})

test('from twenty on there are rates, and beside them costs, index and holding', async () => {
  const ann = await client()
  await keep('RATE', bars())
  await keep('SPX', bars(1.001))
  for (let session = 5; session < 25; session++) await report(ann.owner, { key: 'RATE', session })
  const stats = await ann.json(`${SIGNALS}/outcomes/stats`)
  const rise = (1.005 ** 4 * (1.005 / 1.001) - 1) * 100
  expect(stats).toMatchObject({
    ...{ horizons: ['5d'], total: 20, completed: 20, unable: 0, hit: 20, miss: 0, neutral: 0, hit_rate_pct: 100 },
    avg_stock_return_pct: expect.closeTo(rise, 1),
    baselines: {
      ...{ sample: 20, base_rate_pct: 100, purchases: 20, index_sample: 20, buy_and_hold_sample: 20 },
      cost_pct: expect.closeTo(0.08, 1),
    },
  })
  const beside = (stats as { baselines: Record<string, number> }).baselines
  expect(beside.purchases_net_return_pct).toBeLessThan(rise)
  expect(beside.index_return_pct).toBeLessThan(1)
  expect(beside.buy_and_hold_pct).toBeGreaterThan(1.5)
})

test('the backtest tells of each listing and session once, with every field that the page reads', async () => {
  const ann = await client()
  const kept = bars()
  await keep('BTST', kept)
  const first = await report(ann.owner, { key: 'BTST', session: 10 })
  const again = await report(ann.owner, { key: 'BTST', session: 10 })
  await report(ann.owner, { key: 'BTST', session: 88, action: 'sell' })
  await report(ann.owner, { key: 'BTST', session: 30, action: 'watch' })
  await report(ann.owner, { key: 'BTST', session: 40, action: 'avoid' })
  type Results = { total: number; page: number; limit: number; items: Record<string, unknown>[] }
  const results = (query = '') => ann.json<Results>(`${BACKTEST}/results${query}`)
  const whole = await results()
  expect([whole.total, whole.page, whole.limit, whole.items.length]).toEqual([4, 1, 20, 4])
  const [bought, sold] = [kept[11], kept[14]]
  if (bought === undefined || sold === undefined) throw new Error('no bars')
  const target = Math.round(first.price * 1.02 * 100) / 100
  const net = netReturn(
    { market: 'us', kind: 'stock' },
    { bought: { price: bought.open, date: bought.date }, sold: { price: target, date: sold.date } },
  )
  expect(whole.items.at(-1)).toEqual({
    ...{ analysis_history_id: again.id, code: 'BTST', stock_name: 'Apple', analysis_date: dayAt(10) },
    ...{ eval_window_days: 10, engine_version: 'reports-1', eval_status: 'completed', unable_reason: null },
    ...{ operation_advice: '买入', action: 'buy', action_label: '买入', trend_prediction: '看多' },
    ...{ market_phase: 'postmarket', market_phase_summary: expect.objectContaining({ phase: 'postmarket' }) },
    ...{ position_recommendation: 'long', start_price: bought.open, end_close: kept[20]?.close },
    ...{ max_high: kept[20]?.high, min_low: bought.low },
    stock_return_pct: expect.closeTo(((kept[20]?.close ?? 0) / bought.open - 1) * 100, 1),
    actual_return_pct: expect.closeTo(((kept[20]?.close ?? 0) / bought.open - 1) * 100, 1),
    ...{ actual_movement: 'up', direction_expected: 'up', direction_correct: true, outcome: 'win' },
    ...{ stop_loss: Math.round(first.price * 0.95 * 100) / 100, take_profit: target },
    ...{ hit_stop_loss: false, hit_take_profit: true, first_hit: 'take_profit', first_hit_date: sold.date },
    ...{ first_hit_trading_days: 4, simulated_entry_price: bought.open, simulated_exit_price: target },
    ...{ simulated_exit_reason: 'take_profit', simulated_return_pct: expect.closeTo(net * 100, 1) },
    ...{ index_return_pct: expect.toSatisfy((value) => value === null || typeof value === 'number') },
    buy_and_hold_pct: expect.any(Number),
  })
  const [sale, avoid, watch] = whole.items
  expect(sale).toMatchObject({ eval_status: 'insufficient_data', unable_reason: 'too_young', outcome: null })
  expect(avoid).toMatchObject({
    direction_expected: 'down',
    direction_correct: false,
    outcome: 'loss',
    simulated_return_pct: null,
  })
  expect(watch).toMatchObject({ direction_expected: 'flat', direction_correct: null, outcome: 'neutral' })
  expect((await results('?limit=3&page=2')).items).toHaveLength(1)
  expect((await results('?eval_window_days=1')).items[0]).toMatchObject({
    eval_status: 'completed',
    eval_window_days: 1,
  })
  const wanted: Record<string, number> = {
    ...{ 'code=btst': 4, 'code=AAPL': 0, 'analysis_phase=postmarket': 4, 'analysis_phase=intraday': 0 },
    ...{ [`analysis_date_from=${dayAt(30)}`]: 3, [`analysis_date_to=${dayAt(30)}`]: 2 },
  }
  for (const [query, total] of Object.entries(wanted)) {
    expect([query, (await results(`?${query}`)).total]).toEqual([query, total])
  }
  for (const [wrong, code] of Object.entries({
    ...{ 'analysis_date_from=2025-02-30': 400, 'analysis_date_from=2025-03-01&analysis_date_to=2025-02-01': 400 },
    ...{ 'code=!!': 400, 'eval_window_days=0': 422, 'eval_window_days=121': 422, 'limit=201': 422 },
  })) {
    expect([wrong, await status(ann, `${BACKTEST}/results?${wrong}`)]).toEqual([wrong, code])
  }
  expect(await ann.json(`${BACKTEST}/performance`)).toEqual({
    ...{
      scope: 'overall',
      code: null,
      eval_window_days: 10,
      engine_version: 'reports-1',
      computed_at: expect.any(String),
    },
    ...{ total_evaluations: 4, completed_count: 3, insufficient_count: 1, long_count: 1, cash_count: 2 },
    ...{ win_count: 1, loss_count: 1, neutral_count: 1, direction_accuracy_pct: null, win_rate_pct: null },
    ...{ neutral_rate_pct: null, avg_stock_return_pct: null, avg_simulated_return_pct: null },
    ...{ stop_loss_trigger_rate: null, take_profit_trigger_rate: null, ambiguous_rate: null },
    avg_days_to_first_hit: null,
    advice_breakdown: {
      avoid: { total: 1, win: 0, loss: 1, neutral: 0 },
      buy: { total: 1, win: 1, loss: 0, neutral: 0 },
      watch: { total: 1, win: 0, loss: 0, neutral: 1 },
    },
    diagnostics: {
      ...{ phase_breakdown: { premarket: 0, intraday: 0, postmarket: 4, unknown: 0 }, not_evaluated: { too_young: 1 } },
      ...{ least_sample: 20, left_out: 0, baselines: expect.objectContaining({ sample: 3, purchases: 1 }) },
    },
  })
  expect(await ann.json(`${BACKTEST}/performance/btst`)).toMatchObject({
    scope: 'stock',
    code: 'BTST',
    total_evaluations: 4,
  })
  expect(await status(ann, `${BACKTEST}/performance/MSFT`)).toBe(404)
})

test('a run says what it did; a session that went on when its bar was fetched is not counted', async () => {
  const ann = await client()
  type Run = Record<string, unknown> & { diagnostics: { empty_reason: string | null } }
  const run = async (body?: unknown) => {
    const response = await ann.ask(`${BACKTEST}/run`, { method: 'POST', ...(body === undefined ? {} : { body }) })
    expect(response.status).toBe(200)
    return response.json<Run>()
  }
  expect(await run()).toMatchObject({
    ...{ processed: 0, saved: 0, completed: 0, insufficient: 0, errors: 0, applied_eval_window_days: 10 },
    ...{ message: expect.any(String), diagnostics: { empty_reason: 'no_matching_analysis' } },
  })
  await report(ann.owner, { key: 'RUNN', session: 10 })
  // Fetched an hour before the tenth session after it ended.
  await keep('RUNN', bars().slice(0, 21), sessionEnd('us', dayAt(20)) - 3_600_000)
  const young = await run({ min_age_days: 0 })
  expect(young).toMatchObject({
    processed: 1,
    completed: 0,
    insufficient: 1,
    diagnostics: { empty_reason: 'insufficient_daily_data' },
  })
  expect(young.diagnostics).toMatchObject({ not_evaluated: { too_young: 1 } })
  await keep('RUNN', bars().slice(0, 21))
  expect(await run({ min_age_days: 0, force: true })).toMatchObject({
    ...{ processed: 1, saved: 0, completed: 1, errors: 0, diagnostics: { empty_reason: 'no_new_results' } },
  })
  const wrong = [{ eval_window_days: 0 }, { min_age_days: 366 }, { limit: 2_001 }]
  for (const body of wrong) expect(await status(ann, `${BACKTEST}/run`, { method: 'POST', body })).toBe(422)
  const reversed = { analysis_date_from: '2025-03-01', analysis_date_to: '2025-02-01' }
  const refused = await ann.ask(`${BACKTEST}/run`, { method: 'POST', body: reversed })
  expect([refused.status, await refused.json()]).toEqual([400, expect.objectContaining({ error: 'invalid_params' })])
})
