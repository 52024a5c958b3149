// Signals as the existing analysis page reads them: every field of them, over reports that are stored.

import { expect, test } from 'vitest'
import { sessionEnd } from '../../src/market/calendar.ts'
import { type Client, client } from '../helpers/app.ts'
import { dayAt, report } from '../helpers/reports.ts'

const SIGNALS = '/api/v1/decision-signals'
const BACKTEST = '/api/v1/backtest'

type Item = Record<string, unknown> & { id: number; status: string; action: string; source_report_id: number | null }
type Page = { items: Item[]; total: number; page: number; page_size: number }

const list = (who: Client, query = '') => who.json<Page>(`${SIGNALS}${query}`)
const status = async (who: Client, path: string, init?: Parameters<Client['ask']>[1]) =>
  (await who.ask(path, init)).status

test('a report is one signal, with every field that the page reads; deleting the report takes it along', async () => {
  const ann = await client()
  const { id, createdAt, price } = await report(ann.owner)
  const page = await list(ann)
  const near = (share: number) => Math.round(price * share * 100) / 100
  expect(page).toEqual({
    ...{ total: 1, page: 1, page_size: 20 },
    items: [
      {
        ...{ id: expect.any(Number), stock_code: 'AAPL', stock_name: 'Apple', market: 'us', source_type: 'analysis' },
        ...{ source_agent: null, source_report_id: id, trace_id: expect.stringMatching(/^signal-/) },
        ...{ trigger_source: 'analysis', decision_profile: 'balanced', market_phase: 'postmarket' },
        ...{ action: 'buy', action_label: '买入', confidence: 0.8, score: 67, horizon: '3d' },
        ...{ entry_low: near(0.98), entry_high: near(0.99), stop_loss: near(0.95), target_price: near(1.02) },
        ...{ reason: '趋势向上', catalyst_summary: '业绩增长', watch_conditions: '站稳 MA20' },
        ...{ risk_summary: '估值偏高；量能不足', invalidation: '跌破止损离场', plan_quality: 'complete' },
        ...{ status: 'expired', created_at: createdAt },
        expires_at: new Date(sessionEnd('us', dayAt(13))).toISOString().replace('Z', '000Z'),
        updated_at: new Date(sessionEnd('us', dayAt(13))).toISOString().replace('Z', '000Z'),
        evidence: { confidence_probability: 0.61, text: 'shows nothing' },
        data_quality_summary: { overall_score: 86, level: 'good', block_scores: {}, limitations: [] },
        metadata: { query_id: expect.any(String), data_notice: null, data_checks: null },
      },
    ],
  })
  const [signal] = page.items
  expect(await ann.json(`${SIGNALS}/${signal?.id}`)).toEqual(signal)
  expect((await list(ann)).total).toBe(1)
  await ann.ask('/api/v1/history', { method: 'DELETE', body: { record_ids: [id] } })
  expect([(await list(ann)).total, await status(ann, `${SIGNALS}/${signal?.id}`)]).toEqual([0, 404])
})

test('signals are filtered and paged, reviews and withheld reports make none, and the newest that holds is found by any spelling', async () => {
  const ann = await client()
  const soon = new Date(Date.now() - 60_000).toISOString().replace('Z', '000Z')
  await report(ann.owner, { changes: { reportType: 'market_review', key: 'MARKET' } })
  await report(ann.owner, { changes: { action: null } })
  for (const action of ['sell', 'hold', 'buy']) await report(ann.owner, { action, changes: { createdAt: soon } })
  await report(ann.owner, { key: 'MSFT', action: 'watch' })
  expect((await list(ann, '?page=2&page_size=3')).items).toHaveLength(1)
  expect(await list(ann)).toMatchObject({ total: 4, page: 1, page_size: 20 })
  const wanted: Record<string, number> = {
    ...{ 'status=active': 2, 'status=expired': 1, 'status=invalidated': 1, 'action=buy': 1, 'stock_code=msft': 1 },
    ...{ 'market=us': 4, 'market=cn': 0, 'market_phase=postmarket': 4, 'market_phase=intraday': 0 },
    ...{ 'source_type=analysis': 4, 'source_type=manual': 0, 'decision_profile=balanced': 4 },
    ...{ 'decision_profile=unknown': 0, [`created_from=${soon}`]: 3, 'created_to=2025-06-01': 1 },
  }
  for (const [query, total] of Object.entries(wanted)) {
    expect([query, (await list(ann, `?${query}`)).total]).toEqual([query, total])
  }
  const report_id = (await list(ann, '?action=hold')).items[0]?.source_report_id
  expect((await list(ann, `?source_report_id=${report_id}&source_type=analysis`)).total).toBe(1)
  for (const wrong of ['status=open', 'action=x', 'page=0', 'page_size=101', 'created_from=soon', 'market=xx']) {
    expect([wrong, await status(ann, `${SIGNALS}?${wrong}`)]).toEqual([wrong, 422])
  }
  const latest = (code: string, query = '') => ann.json<Page>(`${SIGNALS}/latest/${code}${query}`)
  expect(await latest('aapl')).toMatchObject({ total: 2, page: 1, page_size: 1, items: [{ action: 'buy' }] })
  expect((await latest('AAPL', '?limit=5')).items.map(({ action }) => action)).toEqual(['buy', 'hold'])
  for (const none of ['NOBODY', '600519', 'MSFT']) expect((await latest(none)).items).toEqual([])
})

test('a signal is closed and archived, never made active again; feedback is its owner’s', async () => {
  const ann = await client()
  await report(ann.owner)
  const [signal] = (await list(ann)).items
  const path = `${SIGNALS}/${signal?.id}`
  const patch = (body: unknown) => ann.ask(`${path}/status`, { method: 'PATCH', body })
  const again = await patch({ status: 'active' })
  expect([again.status, await again.json()]).toEqual([400, expect.objectContaining({ error: 'validation_error' })])
  for (const wanted of ['closed', 'closed', 'archived']) {
    const answer = await patch({ status: wanted })
    expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ status: wanted })])
  }
  const replaced = await (await patch({ status: 'archived', metadata: { mine: 1 } })).json<Item>()
  expect([replaced.metadata, replaced.reason]).toEqual([{ mine: 1 }, '趋势向上'])
  const statusOf = async (body: unknown) => (await patch(body)).status
  expect([await statusOf({ status: 'gone' }), await statusOf({})]).toEqual([422, 422])
  expect(await statusOf({ status: 'closed', metadata: { long: 'x'.repeat(9_000) } })).toBe(400)
  const none = {
    ...{ signal_id: signal?.id, feedback_value: null, reason_code: null, note: null, source: null },
    ...{ created_at: null, updated_at: null },
  }
  expect(await ann.json(`${path}/feedback`)).toEqual(none)
  const put = (body: unknown) => ann.ask(`${path}/feedback`, { method: 'PUT', body })
  const given = {
    ...none,
    feedback_value: 'useful',
    source: 'web',
    created_at: expect.any(String),
    updated_at: expect.any(String),
  }
  expect(await (await put({ feedback_value: 'useful', source: 'web' })).json()).toEqual(given)
  await put({ feedback_value: 'not_useful', note: 'late', reason_code: 'timing' })
  const changed = { feedback_value: 'not_useful', note: 'late', reason_code: 'timing', source: 'api' }
  expect(await ann.json(`${path}/feedback`)).toEqual({ ...given, ...changed })
  expect((await put({ feedback_value: 'useful', note: 'x'.repeat(1_001) })).status).toBe(422)
})

test('one owner’s signals, outcomes and evaluations are to another as if they had never been', async () => {
  const [ann, bob] = [await client(), await client()]
  const { id } = await report(ann.owner)
  const [signal] = (await list(ann)).items
  const bodies: Record<string, unknown> = { put: { feedback_value: 'useful' }, patch: { status: 'closed' } }
  const { paths } = await bob.json<{ paths: Record<string, object> }>('/openapi.json')
  const calls = Object.entries(paths).flatMap(([path, methods]) =>
    path.includes('{signal_id}') ? Object.keys(methods).map((method) => ({ method, path })) : [],
  )
  expect(calls.length).toBeGreaterThan(4)
  for (const { method, path } of calls) {
    const body = bodies[method]
    const init = { method: method.toUpperCase(), ...(body === undefined ? {} : { body }) }
    const foreign = await bob.ask(path.replace('{signal_id}', String(signal?.id)), init)
    const never = await bob.ask(path.replace('{signal_id}', '999999999'), init)
    expect([path, foreign.status, await foreign.json()]).toEqual([path, never.status, await never.json()])
    expect([path, foreign.status]).toEqual([path, 404])
  }
  const body = { source_report_id: id }
  expect(await status(bob, `${SIGNALS}/reassess`, { method: 'POST', body })).toBe(404)
  const copied = { stock_code: 'AAPL', action: 'buy', source_report_id: id }
  expect(await status(bob, SIGNALS, { method: 'POST', body: copied })).toBe(400)
  expect([(await list(bob)).total, (await list(bob, `?source_report_id=${id}`)).total]).toEqual([0, 0])
  expect((await bob.json<Page>(`${SIGNALS}/latest/AAPL`)).total).toBe(0)
  expect(await bob.json(`${SIGNALS}/outcomes/stats`)).toMatchObject({ total: 0 })
  expect(await bob.json(`${BACKTEST}/results`)).toMatchObject({ total: 0, items: [] })
  expect(await status(bob, `${BACKTEST}/performance`)).toBe(404)
  expect((await list(ann)).items[0]).toEqual(signal)
})

test('a signal is entered once, joined, resolved and expired; what only reports are, other markets and unknown stocks are refused', async () => {
  const ann = await client()
  const enter = (body: unknown) => ann.ask(SIGNALS, { method: 'POST', body })
  const body = {
    ...{ stock_code: 'aapl', market: 'us', action: 'sell', horizon: '5d', stop_loss: 120, confidence: 0.7 },
    ...{ risk_summary: ['One.', 'Two.'], reason: ' Because ', metadata: { a: 1 }, trace_id: 'mine' },
  }
  const first = await (await enter(body)).json<{ item: Item; created: boolean }>()
  expect(first).toMatchObject({
    created: true,
    item: {
      ...{ stock_code: 'AAPL', market: 'us', source_type: 'manual', action: 'sell', status: 'active', horizon: '5d' },
      ...{ risk_summary: 'One. Two.', reason: 'Because', plan_quality: 'minimal', metadata: { a: 1 } },
      ...{ decision_profile: null, source_report_id: null, trace_id: 'mine', expires_at: expect.any(String) },
    },
  })
  const both = await Promise.all([enter(body), enter({ ...body, score: 3 })])
  for (const answer of both) expect(await answer.json()).toEqual({ item: first.item, created: false })
  // Without an id the same body is the same signal while it holds.
  const plain = { stock_code: 'AAPL', action: 'reduce' }
  const one = await (await enter(plain)).json<{ item: Item; created: boolean }>()
  expect(await (await enter(plain)).json()).toEqual({ ...one, created: false })
  await ann.ask(`${SIGNALS}/${one.item.id}/status`, { method: 'PATCH', body: { status: 'closed' } })
  const anew = await (await enter(plain)).json<{ item: Item; created: boolean }>()
  expect([anew.created, anew.item.id === one.item.id, anew.item.status]).toEqual([true, false, 'active'])
  const past = { ...plain, expires_at: '2025-01-06T00:00:00Z' }
  await enter(past)
  expect((await list(ann, '?status=expired')).total).toBe(1)
  // A purchase ends the sales of the same listing and profile.
  await enter({ stock_code: 'AAPL', action: 'buy' })
  expect((await list(ann, '?status=active')).items.map(({ action }) => action)).toEqual(['buy'])
  const wrong: [unknown, number][] = [
    [{ ...body, source_type: 'analysis' }, 400],
    [{ ...body, market: 'cn' }, 400],
    [{ ...body, stock_code: 'SPX' }, 400],
    [{ ...body, stock_code: 'no such thing at all' }, 400],
    [{ ...body, source_report_id: 999_999_999 }, 400],
    [{ ...body, metadata: { long: 'x'.repeat(20_000) } }, 400],
    [{ ...body, action: 'dance' }, 422],
    [{ ...body, confidence: 2 }, 422],
    [{ ...body, stop_loss: -1 }, 422],
    [{ action: 'buy' }, 422],
  ]
  for (const [sent, expected] of wrong) {
    const answer = await enter(sent)
    expect([sent, answer.status]).toEqual([sent, expected])
    expect(await answer.json()).toMatchObject({ error: 'validation_error', message: expect.any(String) })
  }
})

test('a report is reassessed by arithmetic alone, and nothing is stored', async () => {
  const ann = await client()
  const { id } = await report(ann.owner)
  const poor = await report(ann.owner, { changes: { report: JSON.stringify({ details: { raw_result: {} } }) } })
  const review = await report(ann.owner, { changes: { reportType: 'market_review' } })
  const ask = (body: unknown) => ann.ask(`${SIGNALS}/reassess`, { method: 'POST', body })
  expect(
    await (await ask({ source_report_id: id, decision_profile: 'aggressive', persist: false })).json(),
  ).toMatchObject({
    preview: {
      ...{ action: 'buy', score: 67, confidence: 0.8, horizon: '3d', invalidation: '跌破止损离场', reason: '趋势向上' },
      metadata: { guardrail_result: { raw_action: 'buy', final_action: 'buy', passed: true } },
    },
    ...{ item: null, created: false, warnings: [], blocked_reason: null },
  })
  const doubted = await (await ask({ source_report_id: poor.id, decision_profile: 'aggressive' })).json<{
    preview: { action: string }
    warnings: { code: string; message: string }[]
  }>()
  expect(doubted.preview.action).toBe('watch')
  expect(doubted.warnings.map(({ code }) => code)).toEqual([
    ...['no_way_out', 'low_confidence', 'poor_data', 'no_invalidation'],
  ])
  const refusals: [unknown, number, string][] = [
    [{ source_report_id: review.id }, 400, 'unsupported_report_type'],
    [{ source_report_id: id, persist: true }, 400, 'unsupported_operation'],
    [{ source_report_id: 999_999_999 }, 404, 'source_report_not_found'],
  ]
  for (const [body, code, error] of refusals) {
    const answer = await ask(body)
    expect([answer.status, await answer.json()]).toEqual([code, expect.objectContaining({ error })])
  }
})
