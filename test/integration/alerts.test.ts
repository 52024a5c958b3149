// Alerts: rules over the interface, the look at them, and what they tell.

import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { sweepAlerts } from '../../src/alerts/sweep.ts'
import { triggerItem } from '../../src/alerts/told.ts'
import { taskQueue } from '../../src/bindings.ts'
import { isoMicros } from '../../src/lib/clock.ts'
import { ALERTS, alertWorld, barsUntil, makeRule, NOW } from '../helpers/alerts.ts'
import { type Client, client } from '../helpers/app.ts'
import { openStream } from './task-events.ts'

const MINUTE = 60_000
const SWEEP = 5 * MINUTE

type Rule = {
  id: number
  name: string
  enabled: boolean
  message: string
  cooldown_active: boolean
  parameters: object
}
type Trigger = {
  id: number
  uid: string
  rule_id: number
  target: string
  status: string
  observed_value: number | null
  reason: string
  data_timestamp: string | null
}
type Page<T> = { items: T[]; total: number }

const english = { 'accept-language': 'en' }
const read = <T>(who: Client, path: string) => who.json<Page<T>>(`${ALERTS}/${path}`, { headers: english })
const above = (target: string, price: number) => ({
  ...{ target, alert_type: 'price_cross', parameters: { direction: 'above', price } },
})

test('a rule is made, listed, changed, switched off and on, and deleted; nobody else can see it', async () => {
  const [ann, bob] = [await client(), await client()]
  const made = await ann.json<Rule>(`${ALERTS}/rules`, {
    method: 'POST',
    body: above('贵州茅台', 1700),
    headers: english,
  })
  expect(made).toMatchObject({
    ...{
      target: '600519',
      target_scope: 'single_symbol',
      alert_type: 'price_cross',
      severity: 'warning',
      enabled: true,
    },
    parameters: { direction: 'above', price: 1700, hysteresis_pct: 0 },
    ...{ cooldown_policy: { cooldown_seconds: 86_400 }, notification_policy: { channels: null, quiet_hours: null } },
    ...{ last_triggered_at: null, cooldown_active: false, expires_at: null },
  })
  expect(made.name).toContain('600519')
  const one = `${ALERTS}/rules/${made.id}`
  for (const [path, method] of [
    ['', 'GET'],
    ['', 'PATCH'],
    ['', 'DELETE'],
    ['/enable', 'POST'],
    ['/test', 'POST'],
  ] as const) {
    const body = method === 'PATCH' ? { body: { severity: 'info' } } : {}
    const foreign = await bob.ask(`${one}${path}`, { method, ...body })
    const never = await bob.ask(`${ALERTS}/rules/999999999${path}`, { method, ...body })
    expect([foreign.status, await foreign.text()]).toEqual([never.status, await never.text()])
    expect(foreign.status).toBe(404)
  }
  expect(await read<Rule>(bob, 'rules')).toMatchObject({ items: [], total: 0 })
  expect(
    await ann.json(one, {
      method: 'PATCH',
      body: { severity: 'critical', parameters: { direction: 'above', price: 1800 } },
    }),
  ).toMatchObject({
    ...{ severity: 'critical', parameters: { price: 1800 }, name: made.name },
  })
  expect(await ann.json(`${one}/disable`, { method: 'POST' })).toMatchObject({ enabled: false })
  expect(await read<Rule>(ann, 'rules?enabled=true')).toMatchObject({ total: 0 })
  expect(await ann.json(`${one}/enable`, { method: 'POST' })).toMatchObject({ enabled: true })
  expect(await read<Rule>(ann, 'rules?alert_type=price_cross&page_size=1')).toMatchObject({
    total: 1,
    page: 1,
    page_size: 1,
  })
  // Sample data fire nothing, and the rule says so.
  const tried = await ann.json(`${one}/test`, { method: 'POST', headers: english })
  expect(tried).toMatchObject({ rule_id: made.id, triggered: false, triggered_count: 0 })
  expect(JSON.stringify(tried)).toContain('sample data')
  expect((await read<Rule>(ann, 'rules')).items[0]?.message).toContain('sample data')
  expect(await ann.json(one, { method: 'DELETE' })).toEqual({ deleted: 1 })
  expect((await ann.ask(one)).status).toBe(404)
})

test('what is wrong with a rule is said with the name of its field, and nothing of it is stored', async () => {
  const ann = await client()
  const right = above('600519', 1700)
  const wrong: [field: string, body: object, status: number][] = [
    ['alert_type', { ...right, alert_type: 'full_moon' }, 400],
    ['parameters.price', above('600519', -1), 400],
    ['parameters.price', { ...right, parameters: { direction: 'above' } }, 400],
    ['parameters.direction', { ...right, parameters: { direction: 'sideways', price: 1 } }, 400],
    ['parameters.hystersis_pct', { ...right, parameters: { ...right.parameters, hystersis_pct: 2 } }, 400],
    ['target_scope', { ...right, target_scope: 'market' }, 400],
    ['target', { ...right, target: 'ZZZZQ' }, 400],
    ['target: ', { ...right, target: '../..' }, 400],
    ['name', { ...right, name: 'a\u0000b' }, 400],
    ['target', { ...right, target_scope: 'watchlist', target: 'never' }, 400],
    ['target', { alert_type: 'portfolio_drawdown', target_scope: 'portfolio_account', target: '77' }, 400],
    [
      'target',
      { alert_type: 'market_light_status', target_scope: 'market', target: 'jp', parameters: { statuses: ['red'] } },
      400,
    ],
    ['expires_at', { ...right, expires_at: 'tomorrow' }, 400],
    ['expires_at', { ...right, expires_at: '2020-01-01T00:00:00Z' }, 400],
    ['channels', { ...right, notification_policy: { channels: ['nobodys'] } }, 400],
    ['zone', { ...right, notification_policy: { quiet_hours: { from: '22:00', to: '07:00', zone: 'Moon/Sea' } } }, 400],
    ['zone', { ...right, notification_policy: { quiet_hours: { from: '22:00', to: '07:00', zone: 'CST' } } }, 400],
    [
      'quiet_hours.to',
      { ...right, notification_policy: { quiet_hours: { from: '22:00', to: '22:00', zone: 'UTC' } } },
      400,
    ],
    ['from', { ...right, notification_policy: { quiet_hours: { from: '25:00', to: '07:00', zone: 'UTC' } } }, 422],
    ['cooldown_seconds', { ...right, cooldown_policy: { cooldown_seconds: -5 } }, 422],
    ['name', { ...right, name: 'x'.repeat(65) }, 422],
    ['target', { ...right, target: 'x'.repeat(65) }, 422],
    ['severity', { ...right, severity: 'awful' }, 422],
    ['enabled', { ...right, enabled: 'perhaps' }, 422],
    ['parameters', { ...right, parameters: [1] }, 422],
    ['alert_type', { target: '600519' }, 422],
  ]
  for (const [field, body, status] of wrong) {
    const answer = await ann.ask(`${ALERTS}/rules`, { method: 'POST', body, headers: english })
    const text = await answer.text()
    expect([status, field, answer.status, text]).toEqual([status, field, status, expect.stringContaining(field)])
  }
  const unclear = await ann.ask(`${ALERTS}/rules`, { method: 'POST', body: above('阿里巴巴', 10), headers: english })
  expect([
    unclear.status,
    (await unclear.json<{ detail: { candidates: object[] } }>()).detail.candidates.length > 1,
  ]).toEqual([400, true])
  for (const query of [
    'rules?page=0',
    'rules?page_size=101',
    'rules?enabled=perhaps',
    'triggers?status=odd',
    'notifications?trigger_id=x',
  ]) {
    expect((await ann.ask(`${ALERTS}/${query}`)).status).toBe(422)
  }
  expect(await read<Rule>(ann, 'rules')).toMatchObject({ total: 0 })
  // A hundred thousand rules are refused at the limit, each by itself.
  const id = await makeRule(ann, right)
  await env.DB.prepare(
    `INSERT INTO alert_rules SELECT NULL, owner, name, target_scope, target, alert_type, parameters, severity, 0, source, language,
       cooldown_seconds, notification, expires_at, armed_at, revision, status, NULL, NULL, created_at, updated_at
     FROM alert_rules, json_each(?) WHERE alert_rules.id = ?`,
  )
    .bind(JSON.stringify(Array.from({ length: 499 }, (_, i) => i)), id)
    .run()
  const full = await ann.ask(`${ALERTS}/rules`, { method: 'POST', body: right, headers: english })
  expect([full.status, (await full.json<{ message: string }>()).message]).toEqual([
    400,
    expect.stringContaining('500 rules'),
  ])
  expect(await read<Rule>(ann, 'rules')).toMatchObject({ total: 500 })
  await env.DB.prepare('DELETE FROM alert_rules WHERE owner = ?').bind(ann.owner).run()
})

test('one round asks for each listing once, whoever has rules about it; what is not trusted fires nothing and is named', async () => {
  const [ann, bob] = [await client(), await client()]
  const { prices, bars, state, sweep } = alertWorld()
  await ann.json('/api/v1/analysis/watchlists', {
    method: 'POST',
    body: { name: 'g', stock_codes: ['600519', '000001'] },
  })
  const { watchlists } = await ann.json<{ watchlists: { watchlist_id: string }[] }>('/api/v1/analysis/watchlists')
  const list = { ...above('600519', 11), target_scope: 'watchlist', target: watchlists[0]?.watchlist_id }
  const [ofList, ofOne] = [await makeRule(ann, list), await makeRule(bob, above('600519', 11))]
  const closed = await makeRule(bob, above('AAPL', 11))
  prices.set('600519', { price: 10 }).set('000001', { price: 10 })
  await sweep()
  state.now += SWEEP
  prices.set('600519', { price: 11 }).set('000001', { price: 11.5, quotedAt: NOW - 30 * MINUTE })
  await sweep()
  expect(state.rounds.map((keys) => keys.filter((key) => ['600519', '000001', 'AAPL'].includes(key)).sort())).toEqual([
    ['000001', '600519'],
    ['000001', '600519'],
  ])
  const told = await read<Trigger>(ann, `triggers?rule_id=${ofList}`)
  expect(told.items).toMatchObject([
    { target: '000001', status: 'skipped', reason: expect.stringContaining('older than 20 minutes') },
    { target: '600519', status: 'triggered', observed_value: 11, reason: 'price 11, at or above 11' },
  ])
  expect(told.items[1]?.data_timestamp).toBe(isoMicros(NOW + SWEEP))
  expect((await read<Trigger>(bob, 'triggers')).items).toMatchObject([{ rule_id: ofOne, status: 'triggered' }])
  expect(await read<Trigger>(bob, `triggers?rule_id=${closed}`)).toMatchObject({ total: 0 })
  expect((await read<Rule>(ann, 'rules')).items[0]?.message).toContain('sample data')
  bars.set(
    '000001',
    barsUntil(
      '2026-08-12',
      Array.from({ length: 60 }, () => 10),
    ),
  )
  // Beyond the limit of the day: another source would have to confirm it, and none does.
  const twice = await makeRule(bob, above('000001', 15))
  state.now += SWEEP
  prices.set('000001', { price: 10 })
  await sweep()
  state.now += SWEEP
  prices.set('000001', { price: 16 })
  await sweep()
  const refused = await read<Trigger>(bob, `triggers?rule_id=${twice}`)
  expect(refused.items).toMatchObject([{ status: 'skipped', reason: expect.stringMatching(/refuses.* · price limit/) }])
  // While nobody looked, something may have been missed: that is said once.
  state.now += 6 * SWEEP
  prices.set('600519', { price: 10 })
  await sweep()
  expect((await read<Trigger>(bob, `triggers?rule_id=${ofOne}&status=failed`)).items).toMatchObject([
    { reason: expect.stringContaining('nobody looked since') },
  ])
})

test('a crossing is looked at once a session after its close, on bars that are all there', async () => {
  const ann = await client()
  const { bars, state, sweep } = alertWorld()
  const rule = { target: '600000', alert_type: 'ma_price_cross', parameters: { direction: 'above', window: 5 } }
  const id = await makeRule(ann, rule)
  const gap = await makeRule(ann, { ...rule, target: '600036' })
  const closes = [...Array.from({ length: 30 }, () => 10), 9.8, 10.2]
  state.now = Date.parse('2026-08-13T07:30:00Z')
  bars.set('600000', barsUntil('2026-08-13', closes))
  bars.set('600036', barsUntil('2026-08-13', closes).toSpliced(-2, 1))
  await sweep()
  await sweep()
  const found = await read<Trigger>(ann, `triggers?rule_id=${id}`)
  expect(found.items).toMatchObject([{ target: '600000', status: 'triggered', observed_value: 10.2 }])
  expect(found.items[0]?.data_timestamp).toBe('2026-08-13T07:00:00.000000Z')
  expect((await read<Trigger>(ann, `triggers?rule_id=${gap}`)).items).toMatchObject([
    { status: 'degraded', reason: expect.stringContaining('a bar is missing') },
  ])
})

test('messages wait for the end of quiet hours, a cooling rule is silent, and an expired one is switched off', async () => {
  const ann = await client()
  const { prices, state, sweep } = alertWorld()
  const quiet = { from: '10:00', to: '11:00', zone: 'Asia/Shanghai' }
  const held = await makeRule(ann, {
    ...above('600519', 11),
    name: 'held',
    notification_policy: { quiet_hours: quiet },
  })
  const over = await makeRule(ann, { ...above('600519', 11), name: 'over' })
  await env.DB.prepare('UPDATE alert_rules SET expires_at = ? WHERE id = ?')
    .bind(isoMicros(NOW - 1), over)
    .run()
  for (const price of [10, 11, 10, 11]) {
    prices.set('600519', { price })
    await sweep()
    state.now += SWEEP
  }
  const { items } = await read<Trigger>(ann, 'triggers')
  expect(items.map(({ rule_id, status }) => [rule_id, status])).toEqual([
    [held, 'triggered'],
    [held, 'triggered'],
  ])
  const notices = await env.DB.prepare('SELECT body, not_before FROM untold_notices WHERE body LIKE ?')
    .bind(`%${ann.owner}%`)
    .all<{ body: string; not_before: number }>()
  expect(notices.results.map(({ not_before }) => isoMicros(not_before))).toEqual(['2026-08-13T03:00:00.000000Z'])
  expect(JSON.parse(notices.results[0]?.body ?? '')).toMatchObject({ kind: 'text', title: 'Warning: held' })
  type Notification = { channel: string; success: boolean; error_code: string }
  const log = await read<Notification>(ann, 'notifications')
  expect(log.items.map(({ channel }) => channel).sort()).toEqual(['__cooldown__', '__quiet_hours__'])
  expect(await read<Notification>(ann, 'notifications?success=true')).toMatchObject({ total: 0 })
  expect(
    (await read<Rule>(ann, 'rules')).items.map(({ name, enabled, message }) => [name, enabled, message]),
  ).toContainEqual(['over', false, 'Expired.'])
  await env.DB.prepare('DELETE FROM untold_notices').run()
  // Told, and no channel took it: there is none.
  expect((await read<Notification>(ann, 'notifications')).items.map(({ channel }) => channel)).toContain(
    '__no_channel__',
  )
})

test('new advice fires once for each, with the actions that were asked for, and touches its levels', async () => {
  const ann = await client()
  const { prices, state, sweep } = alertWorld()
  const enter = async (action: string, trace: string) => {
    const body = { stock_code: '600519', action, stop_loss: 9, trace_id: trace, expires_at: '2999-01-01T00:00:00Z' }
    await ann.json('/api/v1/decision-signals', { method: 'POST', body })
  }
  const id = await makeRule(ann, { target: '600519', alert_type: 'new_advice', parameters: { actions: ['buy'] } })
  const touched = await makeRule(ann, {
    target: '600519',
    alert_type: 'level_touch',
    parameters: { level: 'stop_loss' },
  })
  prices.set('600519', { price: 9.5 })
  await sweep()
  await enter('buy', 'a')
  await enter('hold', 'b')
  for (const price of [9.5, 9.2, 8.9, 8.9]) {
    prices.set('600519', { price })
    await sweep()
    state.now += SWEEP
  }
  await enter('buy', 'c')
  await sweep()
  expect((await read<Trigger>(ann, `triggers?rule_id=${id}`)).items).toMatchObject([
    { status: 'triggered', observed_value: null, reason: 'new advice: buy' },
    { status: 'triggered', observed_value: null, reason: 'new advice: buy' },
  ])
  expect((await read<Trigger>(ann, `triggers?rule_id=${touched}`)).items).toMatchObject([
    { observed_value: 8.9, reason: 'touched the stop loss 9, price 8.9' },
  ])
})

test('a light that turns and a loss beyond its limit fire with their session, once, and not while they go on', async () => {
  const ann = await client()
  const { bars, lights, state, sweep } = alertWorld()
  const light = { target_scope: 'market', target: 'cn' }
  const red = await makeRule(ann, { ...light, alert_type: 'market_light_status', parameters: { statuses: ['red'] } })
  const drop = await makeRule(ann, { ...light, alert_type: 'market_light_score_drop', parameters: { min_drop: 40 } })
  const book = { target_scope: 'portfolio_account', target: 'all' }
  const loss = await makeRule(ann, { ...book, alert_type: 'portfolio_stop_loss', parameters: { mode: 'breach' } })
  const account = {
    account_id: (
      await ann.json<{ id: number }>('/api/v1/portfolio/accounts', { method: 'POST', body: { name: 'Main' } })
    ).id,
  }
  const trade = { ...account, trade_date: '2026-08-10', side: 'buy', symbol: '600519', quantity: 100, price: 20 }
  expect((await ann.ask('/api/v1/portfolio/trades', { method: 'POST', body: trade })).status).toBe(200)
  const closes = [...Array.from({ length: 40 }, (_, i) => 20 + (i % 3) / 10), 19.5, 19.2]
  const told = async (id: number) => (await read<Trigger>(ann, `triggers?rule_id=${id}&status=triggered`)).items

  state.now = Date.parse('2026-08-12T08:00:00Z')
  bars.set('600519', barsUntil('2026-08-12', closes))
  lights.push({ session: '2026-08-12', status: 'green', score: 80, quality: 'ok' })
  await sweep()
  expect([await told(red), await told(drop), await told(loss)]).toEqual([[], [], []])

  state.now = Date.parse('2026-08-13T08:00:00Z')
  bars.set('600519', barsUntil('2026-08-13', [...closes, 17.5]))
  lights.push({ session: '2026-08-13', status: 'red', score: 30, quality: 'ok' })
  await sweep()
  await sweep()
  state.now = Date.parse('2026-08-14T08:00:00Z')
  bars.set('600519', barsUntil('2026-08-14', [...closes, 17.5, 17.4]))
  lights.push({ session: '2026-08-14', status: 'red', score: 30, quality: 'ok' })
  await sweep()
  expect(await told(red)).toMatchObject([{ target: 'cn', reason: 'the light is red (30)' }])
  expect(await told(drop)).toMatchObject([{ observed_value: 50, reason: 'the light fell by 50 points on 2026-08-13' }])
  expect(await told(loss)).toMatchObject([{ target: '600519', reason: 'a loss of 12.50% in Main, limit 10.00%' }])
})

test('the event stream tells an alert once, also when the call is made again, and to its owner alone', async () => {
  const [ann, bob] = [await client(), await client()]
  const { prices, state, deps } = alertWorld()
  const [mine, other] = [await openStream(ann.key), await openStream(bob.key)]
  await mine.until(({ event }) => event === 'connected')
  const id = await makeRule(ann, above('600519', 11))
  const tell = async (triggers: Parameters<ReturnType<typeof deps>['publish']>[0]) => {
    const alerts = triggers.map((one) => ({
      owner: one.owner,
      uid: one.uid,
      json: JSON.stringify(triggerItem(one, 'en')),
    }))
    await taskQueue(env).tellOnce('alert_triggered', alerts)
    await taskQueue(env).tellOnce('alert_triggered', alerts)
  }
  for (const price of [10, 11]) {
    prices.set('600519', { price })
    await sweepAlerts({ ...deps(), publish: tell }, state.now)
    state.now += SWEEP
  }
  const { data } = await mine.until(({ event }) => event === 'alert_triggered')
  expect(data).toMatchObject({ rule_id: id, target: '600519', status: 'triggered', reason: 'price 11, at or above 11' })
  const kept = await runInDurableObject(taskQueue(env), (_, { storage }) =>
    storage.sql
      .exec<{ owner: string }>("SELECT owner FROM stream_events WHERE frame LIKE '%alert_triggered%'")
      .toArray()
      .map(({ owner }) => owner),
  )
  expect(kept.filter((owner) => owner === ann.owner)).toHaveLength(1)
  mine.close()
  other.close()
  expect(other.frames.map(({ event }) => event)).not.toContain('alert_triggered')
})
