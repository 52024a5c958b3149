import { evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { limiter } from '../../src/bindings.ts'
import { setLogLevel } from '../../src/lib/log.ts'
import { countRequest } from '../../src/limits/limits.ts'
import { type Client, client, request } from '../helpers/app.ts'

type Vars = Record<string, string>
type Init = { method?: string; body?: string; headers?: Record<string, string> }

const LONG = '99999'

const send = (by: Client, path: string, { vars = {}, ...init }: Init & { vars?: Vars } = {}) =>
  request(
    path,
    { ...init, headers: { 'x-session-api-key': by.key, 'content-type': 'application/json', ...init.headers } },
    vars,
  )

/** The statuses of so many requests, one after the other. */
async function statuses(count: number, ask: () => Promise<Response>): Promise<number[]> {
  const found: number[] = []
  for (let i = 0; i < count; i++) found.push((await ask()).status)
  return found
}

const times = (count: number, status: number) => Array.from({ length: count }, () => status)

test('each kind of request has a limit of its own, told in the words of its family, and other keys keep theirs', async () => {
  const vars = Object.fromEntries(
    ['READS', 'WRITES', 'STARTS', 'ANALYSES', 'UPLOADS', 'CHATS', 'ALERT_TESTS', 'SCREENS'].map((kind) => [
      `RATE_LIMIT_${kind}`,
      `2/${LONG}`,
    ]),
  )
  const ann = await client()
  const bob = await client()
  const plain = { message: 'Too many requests' }
  const flat = { error: 'rate_limited', message: 'Too many requests' }
  const kinds = [
    ['GET', '/api/options/agents', plain],
    ['POST', '/api/settings', plain],
    ['POST', '/api/conversations', plain],
    ['POST', '/api/v1/analysis/analyze', flat],
    ['POST', '/api/conversations/nobody/upload-files', plain],
    ['POST', '/api/v1/agent/chat/stream', flat],
    ['POST', '/api/v1/alerts/rules/1/test', flat],
    ['POST', '/api/v1/screening/run', flat],
  ] as const
  for (const [method, path, body] of kinds) {
    const ask = (by: Client) => send(by, path, { method, vars })
    expect([path, (await statuses(2, () => ask(ann))).includes(429)]).toEqual([path, false])
    const refused = await ask(ann)
    expect([path, refused.status, await refused.json()]).toEqual([path, 429, body])
    const { headers } = refused
    const seconds = Number(headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(45_000)
    expect(seconds).toBeLessThanOrEqual(50_000)
    expect(headers.get('ratelimit-limit')).toBe('2')
    expect(headers.get('ratelimit-remaining')).toBe('0')
    expect(headers.get('ratelimit-reset')).toBe(headers.get('retry-after'))
    expect(headers.get('ratelimit-policy')).toBe(`2;w=${LONG}`)
    expect([path, (await ask(bob)).status === 429]).toEqual([path, false])
  }
  // The same family, other paths.
  expect((await send(ann, '/api/v1/health', { vars })).status).toBe(200)
  expect(await (await send(ann, '/api/v1/analysis/tasks', { vars })).json()).toEqual(flat)
  expect(await (await send(ann, '/api/settings', { vars })).json()).toEqual(plain)
  expect((await send(ann, '/api/settings', { vars: { RATE_LIMIT_READS: 'off' } })).status).toBe(404)
})

test('the 429 comes before everything that could be wrong with the request besides', async () => {
  const ann = await client({ scopes: ['analysis'] })
  const vars = { RATE_LIMIT_WRITES: `1/${LONG}` }
  const ask = () => send(ann, '/api/secrets', { method: 'POST', body: '{', vars })
  expect(await statuses(2, ask)).toEqual([403, 429])
  const huge = { method: 'POST', body: 'x'.repeat(9_000_000), vars }
  expect((await send(ann, '/api/secrets', huge)).status).toBe(429)
  expect((await request('/api/secrets', { method: 'POST' }, vars)).status).toBe(401)
})

/** A clock of the test's own, and the request of a key that may write no more for a second. */
async function usedUp() {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const ann = await client()
  const ask = () => send(ann, '/api/secrets', { method: 'POST', body: '{}', vars: { RATE_LIMIT_WRITES: '4/2' } })
  let refused = await ask()
  for (let i = 0; i < 100 && refused.status !== 429; i++) refused = await ask()
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
  return ask
}

test('what was used up comes back with time, and who waits as long as told is served', async () => {
  const ask = await usedUp()
  vi.setSystemTime(Date.now() + 1_000)
  expect((await ask()).status).toBe(422)
})

test('a clock that is set back locks nobody out for longer than a window', async () => {
  const ask = await usedUp()
  vi.setSystemTime(Date.now() - 7 * 3_600_000)
  const after = await ask()
  expect([after.status, after.headers.get('retry-after')]).toEqual([429, '1'])
  vi.setSystemTime(Date.now() + 1_000)
  expect((await ask()).status).toBe(422)
})

/** The limiters, with every call to one counted. */
function watched(): { calls: number; LIMITER: Env['LIMITER'] } {
  const watch = {
    calls: 0,
    LIMITER: {
      idFromName: (name: string) => env.LIMITER.idFromName(name),
      get: (id: DurableObjectId) => ({
        fetch: (asked: Request) => {
          watch.calls += 1
          return env.LIMITER.get(id).fetch(asked)
        },
      }),
    } as unknown as Env['LIMITER'],
  }
  return watch
}

test('a calm reader costs no hop at all; a hasty one reports now and then, and gets exactly what the limit says', async () => {
  const ann = await client()
  const calm = watched()
  const scope = { ...env, RATE_LIMIT_READS: '1600/60', LIMITER: calm.LIMITER } as unknown as Vars
  expect(await statuses(100, () => send(ann, '/api/options/agents', { vars: scope }))).toEqual(times(100, 200))
  expect(calm.calls).toBe(0)

  const bob = await client()
  const hasty = watched()
  const narrow = { ...env, RATE_LIMIT_READS: `64/${LONG}`, LIMITER: hasty.LIMITER } as unknown as Vars
  const seen = await statuses(100, () => send(bob, '/api/options/agents', { vars: narrow }))
  expect(seen).toEqual([...times(64, 200), ...times(36, 429)])
  // One report in five requests, and none once the answer was no.
  expect(hasty.calls).toBe(13)
})

test('isolates that count for themselves keep to one limit together', async () => {
  const who = `key ${crypto.randomUUID()}`
  const limit = { kind: 'reads', count: 10, windowMs: 99_999_000 }
  const take = (spent: number, kind = 'reads') =>
    limiter(env, who).take({ ...limit, kind, spent, since: Date.now(), known: null })
  expect(await take(3)).toMatchObject({ ok: true, remaining: 6 })
  expect(await take(5)).toMatchObject({ ok: true, remaining: 0 })
  expect(await take(0)).toMatchObject({ ok: false })
  // Another limit of the same key is another bucket.
  expect(await take(0, 'writes')).toMatchObject({ ok: true, remaining: 9 })
  // Requests at the same time are each counted once.
  const crowd = { ...env, RATE_LIMIT_STARTS: `5/${LONG}` } as Env
  const answers = await Promise.all(Array.from({ length: 20 }, () => countRequest(crowd, `${who} crowd`, 'starts')))
  expect(answers.filter((answer) => answer === null)).toHaveLength(5)
})

test('a limiter that was evicted forgives nothing that time has not', async () => {
  const who = `key ${crypto.randomUUID()}`
  const crowd = { ...env, RATE_LIMIT_SCREENS: `5/${LONG}` } as Env
  const five = () => Promise.all(Array.from({ length: 5 }, () => countRequest(crowd, who, 'screens')))
  expect(await five()).toEqual(Array(5).fill(null))
  await evictDurableObject(env.LIMITER.get(env.LIMITER.idFromName(who)))
  expect(await countRequest(crowd, who, 'screens')).toMatchObject({ limit: { count: 5 } })
})

test('what an isolate lets pass by itself is forgiven once, at the limiter', async () => {
  const who = `key ${crypto.randomUUID()}`
  const scope = { ...env, RATE_LIMIT_READS: '160/60' } as Env
  const clock = vi.spyOn(Date, 'now')
  const start = Date.now()
  let passed = 0
  // Five in a second, where 160 in a minute come back: within two minutes 320 more than the 160 are too many.
  for (let at = 0; at < 600; at++) {
    clock.mockReturnValue(start + at * 200)
    if ((await countRequest(scope, who, 'reads')) === null) passed += 1
  }
  clock.mockRestore()
  expect(passed).toBeGreaterThanOrEqual(460)
  expect(passed).toBeLessThanOrEqual(160 + 320 + 10)
})

test('when its limiter cannot be reached, or hangs, requests pass and the log says why', async () => {
  const ann = await client()
  const lines: string[] = []
  const spy = vi.spyOn(console, 'log').mockImplementation((line: string) => lines.push(line))
  const broken = (fetch: () => Promise<Response>) => ({ idFromName: () => ({}), get: () => ({ fetch }) })
  const failing = [
    () => Promise.reject(new Error('connection lost')),
    () => Promise.resolve(Response.json({ error: 'overloaded' }, { status: 503 })),
    () => new Promise<Response>(() => {}),
  ]
  for (const fetch of failing) {
    const vars = { RATE_LIMIT_WRITES: '1/60', LOG_LEVEL: 'error', LIMITER: broken(fetch) } as unknown as Vars
    expect((await send(ann, '/api/secrets', { method: 'POST', body: '{}', vars })).status).toBe(422)
  }
  spy.mockRestore()
  setLogLevel('silent')
  const events = lines.map((line) => JSON.parse(line) as { event: string; error: string })
  expect(events.map(({ event, error }) => `${event}: ${error}`)).toEqual([
    'limits.unreachable: connection lost',
    'limits.unreachable: overloaded',
    'limits.unreachable: no answer within 1000 ms',
  ])
})

let addresses = 0
/** An address that no other test uses. */
const newAddress = () => `198.51.${Math.floor(addresses / 250)}.${(addresses++ % 250) + 1}`

const wrongKey = () => `bw_${'0'.repeat(16)}_${'A'.repeat(42)}${addresses % 10}`

test('after too many wrong keys nothing from that address is checked, but for keys that were right before', async () => {
  const vars = { RATE_LIMIT_WRONG_KEYS: `3/${LONG}` }
  const [ann, bob] = [await client(), await client()]
  const address = newAddress()
  const ask = (key: string, from = address, path = '/api/options/agents') =>
    request(path, { headers: { 'x-session-api-key': key, 'cf-connecting-ip': from } }, vars)
  expect((await ask(ann.key)).status).toBe(200)
  expect(await statuses(4, () => ask(wrongKey()))).toEqual([401, 401, 401, 429])
  expect((await ask(bob.key)).status).toBe(429)
  const root = 'another-root-key-0123456789abcdefghij'
  const asRoot = { headers: { 'x-session-api-key': root, 'cf-connecting-ip': address } }
  expect((await request('/api/keys', asRoot, { ...vars, ROOT_API_KEY: root })).status).toBe(429)
  expect((await ask(ann.key)).status).toBe(200)
  const refused = await ask('guess', address, '/api/v1/analysis/tasks')
  expect([refused.status, await refused.json(), refused.headers.has('retry-after')]).toEqual([
    429,
    { error: 'rate_limited', message: 'Too many requests' },
    true,
  ])
  // Elsewhere nothing happened.
  expect((await ask(bob.key, newAddress())).status).toBe(200)
  expect((await request('/api/options/agents', { headers: { 'x-session-api-key': 'guess' } }, vars)).status).toBe(401)
  // Without a key nobody guesses.
  const none = { headers: { 'cf-connecting-ip': address } }
  expect((await request('/api/options/agents', none, vars)).status).toBe(401)
})

test('the sign-in and sockets are no way around, one network of IPv6 counts as one, and expired tokens count not at all', async () => {
  const vars = { RATE_LIMIT_WRONG_KEYS: `2/${LONG}` }
  const signIn = (from: string) =>
    request(
      '/api/session',
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'cf-connecting-ip': from },
        body: JSON.stringify({ key: wrongKey() }),
      },
      vars,
    )
  const address = newAddress()
  expect(await statuses(3, () => signIn(address))).toEqual([401, 401, 429])

  const socket = (from: string) =>
    request(
      '/socket.io/?EIO=4&transport=websocket&conversation_id=a&session_api_key=guess',
      { headers: { upgrade: 'websocket', 'cf-connecting-ip': from } },
      vars,
    )
  expect((await socket(address)).status).toBe(429)
  const elsewhere = newAddress()
  expect(await statuses(3, () => socket(elsewhere))).toEqual([101, 101, 429])

  const one = ['2001:db8:1:2::1', '2001:DB8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2:0:0:0:3']
  const seen: number[] = []
  for (const from of one) seen.push((await signIn(from)).status)
  expect([...seen, (await signIn('2001:db8:1:3::1')).status]).toEqual([401, 401, 429, 401])

  const token = 'bwc_e30.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
  const expired = { headers: { 'x-session-api-key': token, 'cf-connecting-ip': newAddress() } }
  expect(await statuses(5, () => request('/api/options/agents', expired, vars))).toEqual(times(5, 401))
  for (const from of ['', 'nonsense', '1.2.3', ':::', '[::1]', '::1%eth0']) {
    const odd = { headers: { 'x-session-api-key': 'guess', 'cf-connecting-ip': from } }
    expect(await statuses(4, () => request('/api/options/agents', odd, vars))).toEqual(times(4, 401))
  }
})
