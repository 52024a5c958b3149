import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { EventLog } from '../../durable-objects/conversation/events/event-log.ts'
import { runAction } from '../../src/agent/actions.ts'
import type { NewEvent } from '../../src/agent/events.ts'
import { builtinPolicy } from '../../src/agent/security/policy.ts'
import { conversation } from '../../src/bindings.ts'
import { type Client, client, request } from '../helpers/app.ts'
import { startConversation } from '../helpers/conversation.ts'

const post = (by: Client, path: string, body: unknown) => by.ask(path, { method: 'POST', body })

test('what an owner chooses holds for all of their conversations, with or without one in the path, and for nobody else', async () => {
  const chat = await startConversation()
  const ann = chat.owner
  const bob = await startConversation()
  const places = ['/api/security', `${chat.path}/security`]
  for (const place of places) {
    expect(await ann.json(`${place}/policy`)).toEqual({ policy: builtinPolicy() })
    expect(await ann.json(`${place}/settings`)).toEqual({ RISK_SEVERITY: 1 })
  }
  for (const [i, place] of places.entries()) {
    const policy = `# mine ${i} 贵\r\n\u2028"quoted"`
    const level = i * 2
    const kept = await post(ann, `${place}/policy`, { policy, unknown: 1 })
    expect([kept.status, await kept.json()]).toEqual([200, { policy }])
    const set = await post(ann, `${place}/settings`, { RISK_SEVERITY: String(level) })
    expect([set.status, await set.json()]).toEqual([200, { RISK_SEVERITY: level }])
    await evictDurableObject(conversation(env, ann.owner, chat.id))
    for (const other of places) {
      expect(await ann.json(`${other}/policy`)).toEqual({ policy })
      expect(await ann.json(`${other}/settings`)).toEqual({ RISK_SEVERITY: level })
    }
  }
  for (const place of ['/api/security', `${bob.path}/security`]) {
    expect(await bob.owner.json(`${place}/policy`)).toEqual({ policy: builtinPolicy() })
    expect(await bob.owner.json(`${place}/settings`)).toEqual({ RISK_SEVERITY: 1 })
  }
  expect((await post(bob.owner, `${chat.path}/security/policy`, { policy: 'x' })).status).toBe(404)
  expect((await post(bob.owner, `${chat.path}/security/settings`, { RISK_SEVERITY: 0 })).status).toBe(404)
  expect(await bob.owner.json('/api/security/settings')).toEqual({ RISK_SEVERITY: 1 })
})

test('a blank policy brings back the built-in one and leaves the level as it is', async () => {
  const ann = await client()
  await post(ann, '/api/security/policy', { policy: 'mine' })
  await post(ann, '/api/security/settings', { RISK_SEVERITY: -1 })
  expect(await (await post(ann, '/api/security/policy', { policy: ' \n' })).json()).toEqual({ policy: builtinPolicy() })
  expect(await ann.json('/api/security/policy')).toEqual({ policy: builtinPolicy() })
  expect(await ann.json('/api/security/settings')).toEqual({ RISK_SEVERITY: -1 })
})

test('a policy that is too long or no text and a level that is none are refused by name, and nothing changes', async () => {
  const chat = await startConversation()
  const bad: [call: string, body: unknown, field: string][] = [
    ['policy', {}, 'policy'],
    ['policy', { policy: null }, 'policy'],
    ['policy', { policy: 5 }, 'policy'],
    ['policy', { policy: '贵'.repeat(21_846) }, 'policy'],
    ['policy', { policy: 'a\u0000b' }, 'policy'],
    ['policy', { policy: '\ud800' }, 'policy'],
    ['settings', {}, 'RISK_SEVERITY'],
    ['settings', { RISK_SEVERITY: -2 }, 'RISK_SEVERITY'],
    ['settings', { RISK_SEVERITY: 3 }, 'RISK_SEVERITY'],
    ['settings', { RISK_SEVERITY: 1.5 }, 'RISK_SEVERITY'],
    ['settings', { RISK_SEVERITY: 'high' }, 'RISK_SEVERITY'],
    ['settings', { RISK_SEVERITY: null }, 'RISK_SEVERITY'],
  ]
  for (const place of ['/api/security', `${chat.path}/security`]) {
    for (const [call, body, field] of bad) {
      const response = await post(chat.owner, `${place}/${call}`, body)
      const { detail } = await response.json<{ detail: { loc: unknown[] }[] }>()
      expect([call, body, response.status, detail.map(({ loc }) => loc)]).toEqual([call, body, 422, [['body', field]]])
    }
  }
  expect(await chat.owner.json('/api/security/policy')).toEqual({ policy: builtinPolicy() })
  expect(await chat.owner.json('/api/security/settings')).toEqual({ RISK_SEVERITY: 1 })
  const longest = await post(chat.owner, '/api/security/policy', { policy: 'x'.repeat(65_536) })
  expect(longest.status).toBe(200)
  expect(await chat.owner.json('/api/security/policy')).toEqual({ policy: 'x'.repeat(65_536) })
})

test('a trace holds the actions whose risk was judged: of the conversation, or of all that the owner has', async () => {
  const chat = await startConversation()
  await chat.settled()
  expect(await chat.owner.json(`${chat.path}/security/export-trace`)).toEqual([])
  const judged = (risk: number): NewEvent => {
    const action = runAction('agent', `echo ${risk}`)
    return { ...action, args: { ...action.args, security_risk: risk } }
  }
  const stub = conversation(env, chat.owner.owner, chat.id)
  await runInDurableObject(stub, (_, { storage }) => {
    new EventLog(storage.sql).append([judged(-1), runAction('agent', 'ls'), judged(2)])
  })
  await evictDurableObject(stub)
  const stored = await chat.events()
  const trace = await chat.owner.json<object[]>(`${chat.path}/security/export-trace`)
  expect(trace).toEqual(stored.filter(({ args }) => args?.security_risk !== undefined))
  expect(trace).toHaveLength(2)
  const other = await startConversation({}, chat.owner)
  await other.settled()
  await runInDurableObject(conversation(env, chat.owner.owner, other.id), (_, { storage }) => {
    // Whoever names the argument is found by the search, and is no action that was judged.
    const named: NewEvent = { ...runAction('agent', 'ls'), message: 'x', security_risk: 2 } as NewEvent
    new EventLog(storage.sql).append([named, ...Array.from({ length: 120 }, () => judged(0))])
  })
  await evictDurableObject(conversation(env, chat.owner.owner, other.id))
  type Item = { conversation_id: string; id: number; timestamp: string; args: { security_risk: number } }
  const whole = () => chat.owner.json<Item[]>('/api/security/export-trace')
  // The index learns of a new conversation a moment later.
  await expect.poll(async () => (await whole()).length).toBe(122)
  const all = await whole()
  expect(all.slice(0, 2)).toEqual(trace.map((event) => ({ conversation_id: chat.id, ...event })))
  expect(all.slice(2).every((item) => item.conversation_id === other.id && item.args.security_risk === 0)).toBe(true)
  expect(all.map(({ timestamp }) => timestamp)).toEqual(all.map(({ timestamp }) => timestamp).sort())
  expect(all.slice(2).map(({ id }) => id)).toEqual(Array.from({ length: 120 }, (_, i) => (all[2]?.id ?? 0) + i))
  expect(await (await client()).json('/api/security/export-trace')).toEqual([])
})

test('the key of a conversation reads what holds and changes nothing; what the owner changes is in the audit log', async () => {
  const chat = await startConversation()
  const { session_api_key: key } = await chat.owner.json<{ session_api_key: string }>(chat.path)
  const byKey = (call: string, init: RequestInit = {}) =>
    request(`${chat.path}/security/${call}`, {
      ...init,
      headers: { 'x-session-api-key': key, 'content-type': 'application/json' },
    })
  expect(await (await byKey('settings')).json()).toEqual({ RISK_SEVERITY: 1 })
  for (const [call, body] of [
    ['settings', { RISK_SEVERITY: 2 }],
    ['policy', { policy: 'x' }],
  ] as const)
    expect((await byKey(call, { method: 'POST', body: JSON.stringify(body) })).status).toBe(403)
  expect(await chat.owner.json('/api/security/settings')).toEqual({ RISK_SEVERITY: 1 })
  await post(chat.owner, `${chat.path}/security/settings`, { RISK_SEVERITY: 2 })
  await post(chat.owner, '/api/security/policy', { policy: 'mine' })
  const { records } = await chat.owner.json<{ records: { action: string }[] }>('/api/audit')
  expect(records.slice(0, 2).map(({ action }) => action)).toEqual(['security.policy_changed', 'security.level_changed'])
})
