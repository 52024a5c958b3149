import { abortAllDurableObjects } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test, vi } from 'vitest'
import { taskQueue } from '../../src/bindings.ts'
import { findChannel, saveChannel } from '../../src/db/channels.ts'
import { hexId } from '../../src/lib/crypto.ts'
import type { Notice } from '../../src/notify/delivery.ts'
import { onCron } from '../../src/schedule/cron.ts'
import { type Client, client, request } from '../helpers/app.ts'
import { notifyLane } from '../unit/notify/host.ts'
import { SETTINGS } from '../unit/notify/settings.ts'
import { taskRequest } from '../unit/task-queue/queue.ts'

const CHANNELS = '/api/v1/analysis/channels'
const DELIVERIES = '/api/v1/analysis/deliveries'

type Delivery = {
  delivery_id: string
  subject: string
  channel_id: string
  status: string
  parts: number
  sent: number
}
type Page = { deliveries: Delivery[]; next_page_id: string | null; next_cursor: string | null }

const put = (who: Client, id: string, body: unknown) => who.ask(`${CHANNELS}/${id}`, { method: 'PUT', body })

/** A report of the owner that is none of sample data. */
async function report(who: Client, stock_code: string): Promise<string> {
  const body = { stock_code, report_language: 'en' }
  const answer = await who.json<{ query_id: string }>('/api/v1/analysis/analyze', { method: 'POST', body })
  await env.DB.prepare('UPDATE analyses SET data_notice = NULL WHERE query_id = ?').bind(answer.query_id).run()
  return answer.query_id
}

const told = ({ owner }: Client, taskId: string): Notice => {
  return { kind: 'report', key: `report:${taskId}`, owner, channels: null, taskId, isInBatch: false }
}

async function settled(who: Client, count: number): Promise<Delivery[]> {
  const read = async () => (await who.json<Page>(`${DELIVERIES}?limit=200`)).deliveries
  const states = async () => (await read()).map(({ status }) => (status === 'pending' ? status : 'settled'))
  await expect.poll(states).toEqual(Array.from({ length: count }, () => 'settled'))
  return read()
}

test('a channel is made, shown without its secrets, changed piece by piece, tested and deleted; nobody else sees it', async () => {
  const [ann, bob, lane] = [await client(), await client(), notifyLane()]
  const settings = SETTINGS.dingtalk(lane.url)
  const made = await put(ann, 'team', { kind: 'dingtalk', settings })
  expect(made.status).toBe(200)
  const shown = await made.json<Record<string, unknown>>()
  expect(shown).toMatchObject({ channel_id: 'team', kind: 'dingtalk', mode: 'single', enabled: true, settings: {} })
  expect(shown).toMatchObject({ secrets_set: ['secret', 'webhook_url'], readable: true, from_environment: false })
  const tested = await ann.json(`${CHANNELS}/team/test`, { method: 'POST' })
  expect(tested).toEqual({ ok: true, outcome: 'sent', error: null, retry_after_seconds: null })
  expect((await lane.received()).map(({ service }) => service)).toEqual(['dingtalk'])
  // The address stays, the secret goes; the service refuses then, in its own words.
  await put(ann, 'team', { kind: 'dingtalk', settings: { secret: null }, mode: 'digest', enabled: 'off' })
  expect(await ann.json(`${CHANNELS}/team`)).toMatchObject({
    secrets_set: ['webhook_url'],
    mode: 'digest',
    enabled: false,
  })
  expect(await ann.json(`${CHANNELS}/team/test`, { method: 'POST' })).toMatchObject({
    outcome: 'rejected',
    error: 'errcode 310000: sign not match',
  })
  const everything = JSON.stringify([
    await ann.json(CHANNELS),
    await ann.json(`${CHANNELS}/team`),
    (await env.DB.prepare('SELECT * FROM notification_channels').all()).results,
    (await env.DB.prepare('SELECT * FROM audit_log').all()).results,
  ])
  expect(everything).not.toMatch(/ding-0123456789|SEC-of-the-tests/)
  for (const [path, method] of [
    ['', 'GET'],
    ['', 'DELETE'],
    ['/test', 'POST'],
  ] as const) {
    const [foreign, unknown] = [
      await bob.ask(`${CHANNELS}/team${path}`, { method }),
      await bob.ask(`${CHANNELS}/none${path}`, { method }),
    ]
    expect([foreign.status, await foreign.text()]).toEqual([404, await unknown.text()])
  }
  expect(await bob.json(CHANNELS)).toEqual({ channels: [] })
  expect(await ann.json(`${CHANNELS}/team`, { method: 'DELETE' })).toEqual({ deleted: true })
  expect((await ann.ask(`${CHANNELS}/team`)).status).toBe(404)
})

test('who saves a channel is told what was saved, also when somebody else deletes it before the answer is made', async () => {
  const { owner } = await client()
  const DB = deletingAfterBatch(env.DB, owner)
  const settings = { shown: { a: 1 }, secret: { b: 2 } }
  const channel = { id: 'team', kind: 'slack', mode: 'single', isEnabled: true, ...settings } as const
  const now = '2026-11-28T14:00:00.000000'
  const saved = await saveChannel({ ...env, DB }, { owner, actor: 'key' }, { ...channel, now, most: 20 })
  expect(saved).toEqual({ ...channel, createdAt: now, updatedAt: now })
  expect(await findChannel(env, owner, 'team')).toBeNull()
})

/** A request of somebody else that comes right behind each batch. */
function deletingAfterBatch(db: D1Database, owner: string): D1Database {
  const batch = async <T>(statements: D1PreparedStatement[]) => {
    const results = await db.batch<T>(statements)
    await db.prepare('DELETE FROM notification_channels WHERE owner = ?').bind(owner).run()
    return results
  }
  const prepare = db.prepare.bind(db)
  return Object.assign(Object.create(db) as D1Database, { batch, prepare })
}

test('settings that cannot be right are refused by name, and secrets are not repeated in the refusal', async () => {
  const ann = await client()
  const url = 'https://hooks.example.com/x'
  const cases: [string, unknown, unknown[]][] = [
    ['a', {}, ['body', 'kind']],
    ['a', { kind: 'pigeon', settings: {} }, ['body', 'kind']],
    ['a', { kind: 'slack', settings: { webhook_url: 'file:///etc/passwd' } }, ['body', 'settings', 'webhook_url']],
    ['a', { kind: 'slack', settings: {} }, ['body', 'settings', 'webhook_url']],
    ['a', { kind: 'slack', settings: { webhook_url: url, chanel: 'x' } }, ['body', 'settings', 'chanel']],
    ['a', { kind: 'slack', settings: { webhook_url: url }, mode: 'both' }, ['body', 'mode']],
    ['a', { kind: 'telegram', settings: { bot_token: '../x', chat_id: '1' } }, ['body', 'settings', 'bot_token']],
    ['a', { kind: 'resend', settings: { api_key: 'k', from: 'a@b', to: [] } }, ['body', 'settings', 'to']],
    [
      'a',
      { kind: 'resend', settings: { api_key: 'k', from: 'a@b\r\nBcc: x@y', to: ['a@b'] } },
      ['body', 'settings', 'from'],
    ],
    ['operator-x', { kind: 'slack', settings: { webhook_url: url } }, ['path', 'channel_id']],
    ['a%20b', { kind: 'slack', settings: { webhook_url: url } }, ['path', 'channel_id']],
  ]
  for (const [id, body, loc] of cases) {
    const response = await put(ann, id, body)
    expect(response.status, JSON.stringify(body)).toBe(422)
    const { error, detail } = await response.json<{ error: string; detail: { loc: unknown[] }[] }>()
    expect([error, detail[0]?.loc], JSON.stringify(body)).toEqual(['validation_error', loc])
  }
  const sentences: [string, unknown, string][] = [
    ['A B', { kind: 'slack', settings: { webhook_url: url } }, 'small letters, digits, _ and - are wanted'],
    ['a', { kind: 'slack', settings: { webhook_url: 'hooks.example.com' } }, 'an address that begins with https://'],
    ['a', { kind: 'ntfy', settings: { topic: 'a b' } }, 'letters, digits, _ and - are wanted'],
    ['a', { kind: 'resend', settings: { api_key: 'k', from: 'a', to: ['a@b'] } }, 'an address with @ is wanted'],
  ]
  for (const [id, body, sentence] of sentences) {
    const { message } = await (await put(ann, encodeURIComponent(id), body)).json<{ message: string }>()
    expect(message).toContain(sentence)
  }
  const group = { bot_token: '123:abc', chat_id: -1001234567890 }
  expect(await (await put(ann, 'group', { kind: 'telegram', settings: group })).json()).toMatchObject({
    settings: { chat_id: '-1001234567890' },
  })
  await put(ann, 'a', { kind: 'slack', settings: { webhook_url: url } })
  // Another kind has other secrets: those of the one before are not carried over.
  expect((await put(ann, 'a', { kind: 'wecom', settings: {} })).status).toBe(422)
  for (const name of ['page_id', 'cursor']) {
    const refused = await ann.ask(`${DELIVERIES}?${name}=zzz`)
    expect([refused.status, await refused.json()]).toMatchObject([400, { message: 'Invalid page_id' }])
  }
  expect((await ann.ask(`${DELIVERIES}?status=lost`)).status).toBe(422)
  expect((await ann.ask(`${DELIVERIES}?limit=1001`)).status).toBe(422)
})

test('finished reports are sent once to every channel, also when the queue is cut off at once, and the log tells of it', async () => {
  const [ann, bob, lane] = [await client(), await client(), notifyLane()]
  await put(ann, 'chat', { kind: 'wecom', settings: SETTINGS.wecom(lane.url) })
  await put(ann, 'mail', { kind: 'resend', settings: SETTINGS.resend(lane.url) })
  await put(ann, 'off', { kind: 'gotify', settings: SETTINGS.gotify(lane.url), enabled: false })
  const reports = [await report(ann, '600519'), await report(ann, 'AAPL')]
  for (const id of reports) {
    await taskQueue(env).notify([told(ann, id)])
    await abortAllDurableObjects()
    // What the run held that was cut off is free again a minute later.
    await env.DB.prepare('UPDATE deliveries SET lease_until = 0').run()
    await taskQueue(env).notify([told(ann, id)])
  }
  const deliveries = await settled(ann, 4)
  expect(deliveries.map(({ subject }) => subject).sort()).toEqual(
    reports.flatMap((id) => [`report:${id}`, `report:${id}`]).sort(),
  )
  // What a service cannot recognise as a repeat is not sent again once its answer was lost, but told.
  const open = deliveries.filter(({ parts, sent }) => sent < parts)
  expect(open.every(({ channel_id, status }) => channel_id === 'chat' && status === 'uncertain')).toBe(true)
  expect(deliveries.every((one) => open.includes(one) || one.status === 'delivered')).toBe(true)
  const received = await lane.received()
  expect(await lane.refused()).toEqual([])
  const sent = deliveries.reduce((sum, { sent }) => sum + sent, 0)
  const parts = deliveries.reduce((sum, { parts }) => sum + parts, 0)
  expect(received.length).toBeGreaterThanOrEqual(sent)
  expect(received.length).toBeLessThanOrEqual(parts)
  const texts = received.map(({ service, text, title }) => JSON.stringify([service, title, text]))
  expect(new Set(texts).size).toBe(texts.length)
  expect(
    received
      .filter(({ service }) => service === 'resend')
      .map(({ title }) => title)
      .sort(),
  ).toEqual([expect.stringMatching(/^Apple \(AAPL\) · /), expect.stringMatching(/^Kweichow Moutai \(600519\) · /)])
  // Page by page, and for nobody else.
  const first = await ann.json<Page>(`${DELIVERIES}?limit=3`)
  const second = await ann.json<Page>(`${DELIVERIES}?limit=3&page_id=${first.next_page_id}`)
  // The names of before mean the same.
  expect(first.next_cursor).toBe(first.next_page_id)
  expect(await ann.json(`${DELIVERIES}?limit=3&cursor=${first.next_cursor}`)).toEqual(second)
  expect([...first.deliveries, ...second.deliveries]).toEqual(deliveries)
  expect(second.next_cursor).toBeNull()
  expect((await ann.json<Page>(`${DELIVERIES}?task_id=${reports[0]}&channel_id=mail`)).deliveries.length).toBe(1)
  expect(await bob.json(DELIVERIES)).toEqual({ deliveries: [], next_page_id: null, next_cursor: null })
  const one = deliveries.find(({ status }) => status === 'delivered')
  expect((await bob.ask(`${DELIVERIES}/${one?.delivery_id}`)).status).toBe(404)
  expect((await bob.ask(`${DELIVERIES}/${one?.delivery_id}/retry`, { method: 'POST' })).status).toBe(404)
  expect((await ann.ask(`${DELIVERIES}/${one?.delivery_id}/retry`, { method: 'POST' })).status).toBe(409)
  // The run of the report says so as well.
  const runs = await ann.json<{ components: Record<string, { status: string }> }>(
    `/api/v1/history/${reports[0]}/diagnostics`,
  )
  expect(runs.components.notification?.status).toBe(
    open.some(({ subject }) => subject === `report:${reports[0]}`) ? 'degraded' : 'ok',
  )
})

test('the news of a synchronous analysis is saved with its report: cut off after that, it is sent when the trigger asks', async () => {
  const [ann, lane] = [await client(), notifyLane()]
  await put(ann, 'chat', { kind: 'wecom', settings: SETTINGS.wecom(lane.url) })
  const ids = []
  for (const notify of [true, false]) {
    const queryId = hexId()
    const job = { owner: ann.owner, queryId, taskId: null, attempt: 1, request: { ...taskRequest(), notify } }
    expect(await env.ANALYSIS_RUNNER.analyze(job)).toMatchObject({ ok: true, saved: true })
    await env.DB.prepare('UPDATE analyses SET data_notice = NULL WHERE query_id = ?').bind(queryId).run()
    ids.push(queryId)
  }
  // Another test may have had the trigger look after them a moment ago.
  await env.DB.prepare("DELETE FROM upkeep_jobs WHERE name = 'notices'").run()
  await onCron(env, Date.now())
  const deliveries = await settled(ann, 1)
  expect(deliveries).toMatchObject([{ subject: `report:${ids[0]}`, status: 'delivered' }])
  expect((await lane.received()).length).toBe(deliveries[0]?.parts)
})

test('test messages keep to the pace of the service, and one too many says when the next may be sent', async () => {
  const [ann, lane] = [await client(), notifyLane()]
  await put(ann, 'wechat', { kind: 'serverchan', settings: SETTINGS.serverchan(lane.url) })
  const tests = []
  for (let i = 0; i < 6; i++) tests.push(await ann.json(`${CHANNELS}/wechat/test`, { method: 'POST' }))
  expect(tests).toEqual([
    ...Array.from({ length: 5 }, () => ({ ok: true, outcome: 'sent', error: null, retry_after_seconds: null })),
    {
      ok: false,
      outcome: 'later',
      error: expect.stringMatching(/as often as/),
      retry_after_seconds: expect.any(Number),
    },
  ])
  expect((await lane.received()).length).toBe(5)
  await put(ann, 'gone', { kind: 'wecom', settings: { webhook_url: 'http://127.0.0.1:9/x' } })
  expect(await ann.json(`${CHANNELS}/gone/test`, { method: 'POST' })).toMatchObject({
    outcome: 'later',
    error: 'the service cannot be reached',
  })
})

test('reports of sample data are never sent, and a failure is told and can be tried again after the settings were put right', async () => {
  const [ann, lane] = [await client(), notifyLane()]
  await put(ann, 'phone', { kind: 'pushover', settings: { ...SETTINGS.pushover(lane.url), token: 'wrong' } })
  const body = { stock_code: '600519', async_mode: true }
  await ann.ask('/api/v1/analysis/analyze', { method: 'POST', body })
  const id = await report(ann, 'AAPL')
  await taskQueue(env).notify([told(ann, id)])
  const [failed, ...more] = await settled(ann, 1)
  expect(more).toEqual([])
  expect(failed).toMatchObject({ status: 'failed', subject: `report:${id}`, sent: 0 })
  expect(JSON.stringify(failed)).toMatch(/application token is invalid/)
  await put(ann, 'phone', { kind: 'pushover', settings: { token: 'app' } })
  const retried = await ann.ask(`${DELIVERIES}/${failed?.delivery_id}/retry`, { method: 'POST' })
  expect([retried.status, await retried.json()]).toMatchObject([200, { status: 'pending', attempts: 0 }])
  expect(await settled(ann, 1)).toMatchObject([{ status: 'delivered' }])
  expect((await lane.received()).every(({ service }) => service === 'pushover')).toBe(true)
})

test('a market review is sent under the day of its figures, without its picture', async () => {
  const [ann, lane] = [await client(), notifyLane()]
  await put(ann, 'mail', { kind: 'resend', settings: SETTINGS.resend(lane.url) })
  await put(ann, 'chat', { kind: 'wecom', settings: SETTINGS.wecom(lane.url) })
  const body = { region: 'us', report_language: 'en', send_notification: false }
  const { task_id } = await ann.json<{ task_id: string }>('/api/v1/analysis/market-review', { method: 'POST', body })
  const date = await vi.waitFor(
    async () => {
      type Status = { status: string; market_review_payload: { date: string } }
      const { status, market_review_payload } = await ann.json<Status>(`/api/v1/analysis/status/${task_id}`)
      expect(status).toBe('completed')
      return market_review_payload.date
    },
    { timeout: 60_000, interval: 100 },
  )
  // As if the figures were none of a sample.
  await env.DB.prepare('UPDATE analyses SET data_notice = NULL WHERE query_id = ?').bind(task_id).run()
  await taskQueue(env).notify([told(ann, task_id)])
  expect(await settled(ann, 2)).toMatchObject([{ status: 'delivered' }, { status: 'delivered' }])
  const received = await lane.received()
  expect(received.find(({ service }) => service === 'resend')?.title).toBe(`${date} Market Review`)
  const texts = received.map(({ text }) => text).join('\n')
  expect(texts).toContain('S&P 500')
  expect(texts).not.toMatch(/data:image|base64/)
})

test("the operator's channels are those of the environment, for the owners it names, shown without secrets", async () => {
  const [ann, bob] = [await client(), await client()]
  const ntfy = { NTFY_URL: 'http://127.0.0.1:1', NTFY_TOPIC: 'stocks', NTFY_TOKEN: 'tk_secret', GOTIFY_TOKEN: 'alone' }
  const vars = { ...ntfy, NOTIFY_OWNERS: `nobody, ${ann.owner}` }
  const ask = (key: string) => request(CHANNELS, { headers: { 'x-session-api-key': key } }, vars)
  const own = await (await ask(ann.key)).json()
  expect(own).toMatchObject({
    channels: [{ channel_id: 'operator-ntfy', kind: 'ntfy', settings: { topic: 'stocks' }, secrets_set: ['token'] }],
  })
  expect(JSON.stringify(own)).not.toMatch(/tk_secret/)
  expect(await (await ask(bob.key)).json()).toEqual({ channels: [] })
})
