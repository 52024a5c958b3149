import { expect, inject, test } from 'vitest'
import {
  type AddressPolicy,
  checkAddress,
  isPolicyEntry,
  STRANGER,
  typedByPerson,
} from '../../../src/lib/address-policy.ts'
import {
  fetchThrough,
  GuardedFetchError,
  type GuardedFetchOptions,
  guardedFetch,
} from '../../../src/lib/guarded-fetch.ts'
import { allowing, CLOSED, LOCAL } from '../../helpers/policies.ts'
import { heldTimers } from '../../helpers/timers.ts'
import { ALLOWED, REFUSED } from './address-corpus.ts'

/** The host of the tests, and those that it redirects to. */
const HOST: GuardedFetchOptions = { policy: allowing('127.0.0.0/8'), chosenBy: STRANGER }
const NOBODY: GuardedFetchOptions = { policy: CLOSED, chosenBy: STRANGER }
const server = () => inject('gitServer')

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => 'no failure',
    (error: unknown) => (error instanceof GuardedFetchError ? error.reason : `not a GuardedFetchError: ${error}`),
  )

/** What somebody who chose it may ask, of these. */
const passing = (addresses: readonly string[], policy: AddressPolicy, by: 'stranger' | 'person') =>
  addresses.filter(
    (address) => checkAddress(address, { policy, chosenBy: by === 'person' ? typedByPerson(address) : STRANGER }).ok,
  )

test('none of the spellings of an inside address gets through, and none of the public ones is kept out', () => {
  expect(REFUSED.length).toBeGreaterThanOrEqual(1000)
  expect(new Set(ALLOWED).size).toBeGreaterThanOrEqual(60)
  // A stranger's choice is nobody's business whether the service is a local one.
  for (const policy of [CLOSED, LOCAL]) {
    expect(passing(REFUSED, policy, 'stranger')).toEqual([])
    expect(passing(ALLOWED, policy, 'stranger')).toEqual([...ALLOWED])
  }
  expect(passing(REFUSED, CLOSED, 'person')).toEqual([])
  expect(passing(ALLOWED, LOCAL, 'person')).toEqual([...ALLOWED])
})

test('a refused address is never asked, whichever way it is spelled', async () => {
  const asked: string[] = []
  const door: GuardedFetchOptions = {
    ...NOBODY,
    policy: LOCAL,
    fetch: async (url) => {
      asked.push(String(url))
      return new Response('inside')
    },
  }
  const outcomes = await Promise.all(REFUSED.map((address) => failure(guardedFetch(address, {}, door))))
  expect(new Set(outcomes)).toEqual(new Set(['refused']))
  expect(asked).toEqual([])
})

test('what a person typed may be loopback on every port in local mode, and nothing else inside', () => {
  const open = [
    'http://127.0.0.1:5999/',
    'http://localhost:11434/v1',
    'http://LOCALHOST:1234/v1',
    'https://[::1]:9/',
    'http://127.9.9.9:81/',
  ]
  expect(passing(open, LOCAL, 'person')).toEqual(open)
  expect(passing(open, CLOSED, 'person')).toEqual([])
  expect(passing(open, LOCAL, 'stranger')).toEqual([])
  const hosts = passing(REFUSED, LOCAL, 'person').map((address) => new URL(address).hostname)
  expect(hosts.every((host) => /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(host))).toBe(true)
  // The origin is what was typed: another port of the same host was not.
  const chosenBy = typedByPerson('http://localhost:11434/v1')
  const verdict = (address: string) => checkAddress(address, { policy: LOCAL, chosenBy }).ok
  expect(['http://localhost:11434/api', 'http://localhost:11435/v1', 'http://127.0.0.1:11434/'].map(verdict)).toEqual([
    true,
    false,
    false,
  ])
})

test('the operator opens a host, a host with one port, or a block', () => {
  const policy = allowing(
    'git.internal',
    'db.corp:8080',
    '10.1.0.0/16',
    'fd00::/8',
    '192.168.7.7:81',
    '[fe80::5]:82',
    'public.example:8443',
  )
  const verdicts = (addresses: string[]) =>
    addresses.map((address) => checkAddress(address, { policy, chosenBy: STRANGER }).ok)
  expect(
    verdicts([
      'https://git.internal/',
      'http://git.internal:7000/',
      'http://db.corp:8080/',
      'http://10.1.255.1:5000/',
      'http://[fd12::1]/',
      'http://192.168.7.7:81/',
      'http://[fe80::5]:82/',
      'https://public.example:8443/',
    ]),
  ).toEqual(Array(8).fill(true))
  expect(
    verdicts([
      'http://a.git.internal/',
      'http://db.corp/',
      'http://db.corp:8081/',
      'http://10.2.0.1/',
      'http://[fe80::1]/',
      'http://192.168.7.7/',
      'http://[fe80::5]/',
      'https://public.example:8444/',
      'http://0xa.1.0.1/',
      'http://git.internal./',
      'http://[::ffff:a01:1]/',
    ]),
  ).toEqual(Array(11).fill(false))
  const entries = ['git.internal', 'a:1', '10.0.0.0/8', '::1', '[::1]:80', 'fd00::/8', 'A.b']
  expect(entries.filter((entry) => !isPolicyEntry(entry))).toEqual([])
  const bad = ['', 'http://a', 'a/b', '10.0.0.0/33', 'fd00::/129', 'a:0', 'a:70000', '1.2.3', '*.a', 'a b', '0x7f.1']
  expect(bad.filter(isPolicyEntry)).toEqual([])
})

test('each redirect passes the door again: too many, inside, downgraded and malformed ones end there', async () => {
  const door = HOST
  const to = (target: string, status = 302) =>
    guardedFetch(`${server()}/redirect?status=${status}&to=${encodeURIComponent(target)}`, {}, door)
  expect((await to('/echo')).status).toBe(200)
  expect((await to(`${server()}/echo`)).status).toBe(200)
  expect(await failure(to(`${server().replace('http:', '')}/echo`))).toBe('no failure')
  expect(await failure(guardedFetch(`${server()}/loop`, {}, door))).toBe('redirect')
  for (const target of [
    'http://169.254.169.254/latest/meta-data/',
    'http://10.0.0.1/',
    'http://localhost.:80/',
    '//169.254.169.254/',
    'file:///etc/passwd',
    'http://2130706433/',
    'http://user@127.0.0.1/',
    'ftp://example.com/',
    'http:10.0.0.1',
  ]) {
    expect([target, await failure(to(target))]).toEqual([target, 'refused'])
  }
  for (const target of ['/\\169.254.169.254/', '\\\\169.254.169.254/', '//169.254.169.254\\@x/', '///x']) {
    expect(['redirect', 'refused']).toContain(await failure(to(target)))
  }
  const secure: GuardedFetchOptions = {
    ...NOBODY,
    fetch: async () => new Response(null, { status: 301, headers: { location: 'http://example.com/' } }),
  }
  expect(await failure(guardedFetch('https://example.com/', {}, secure))).toBe('redirect')
})

type Echo = { method: string; headers: Record<string, string>; body: string }

test('credentials stay with their origin, a body is not sent to another, and a 303 becomes a GET', async () => {
  const headers = { authorization: 'Basic c2VjcmV0', cookie: 'a=b', 'x-api-key': 'k', accept: 'text/x' }
  const other = server().replace('127.0.0.1', '127.0.0.2')
  const post = (status: number, target: string) =>
    guardedFetch(
      `${server()}/redirect?status=${status}&to=${encodeURIComponent(target)}`,
      { method: 'POST', headers, body: 'hello' },
      HOST,
    )
  const same = (await (await post(307, '/echo')).json()) as Echo
  expect([same.method, same.body, same.headers.authorization]).toEqual(['POST', 'hello', 'Basic c2VjcmV0'])
  const seeOther = (await (await post(303, '/echo')).json()) as Echo
  expect([seeOther.method, seeOther.body, seeOther.headers['content-type']]).toEqual(['GET', '', undefined])
  expect(await failure(post(307, `${other}/echo`))).toBe('redirect')

  const seen: Headers[] = []
  const door: GuardedFetchOptions = {
    ...NOBODY,
    fetch: async (_url, init) => {
      seen.push(new Headers(init?.headers))
      const location = 'https://other.example/'
      return seen.length === 1 ? new Response(null, { status: 302, headers: { location } }) : new Response('done')
    },
  }
  await guardedFetch('https://example.com/', { headers }, door)
  expect([...(seen[1] ?? [])]).toEqual([['accept', 'text/x']])
})

test('what comes back is bounded: announced size, real size, headers that never come, a body that never ends', async () => {
  const limits = { maxBytes: 1000, totalTimeoutMs: 33_000 }
  const get = (path: string, more = {}) =>
    guardedFetch(`${server()}${path}`, {}, { ...HOST, limits: { ...limits, ...more } })
  expect((await (await get('/big?bytes=1000')).arrayBuffer()).byteLength).toBe(1000)
  expect(await failure(get('/big?bytes=1001').then((response) => response.arrayBuffer()))).toBe('too-large')
  const unannounced: GuardedFetchOptions = { ...NOBODY, limits, fetch: async () => new Response(endless()) }
  const reading = guardedFetch('https://example.com/', {}, unannounced).then((response) => response.arrayBuffer())
  expect(await failure(reading)).toBe('too-large')
  expect(await failure(get('/never', { headersTimeoutMs: 200 }))).toBe('timeout')
  const total = heldTimers(limits.totalTimeoutMs)
  const dripping = (await get('/drip')).text()
  total.goOff()
  expect(await failure(dripping)).toBe('timeout')
  expect(await failure(guardedFetch(`${server()}/cut`, {}, HOST).then((response) => response.text()))).toBe('network')
  expect(await failure(guardedFetch('http://127.0.0.1:9/', {}, HOST))).toBe('network')
})

function endless(): ReadableStream {
  return new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(300)) })
}

test('the caller ends it with its own reason, and libraries get the door as their fetch', async () => {
  const controller = new AbortController()
  const asking = guardedFetch(`${server()}/never`, { signal: controller.signal }, HOST)
  const told = expect(asking).rejects.toBe('enough')
  controller.abort('enough')
  await told

  const ask = fetchThrough(HOST)
  const request = new Request(`${server()}/echo`, { method: 'PUT', body: 'text', headers: { 'x-a': '1' } })
  const echo = (await (await ask(request)).json()) as Echo
  expect([echo.method, echo.body, echo.headers['x-a']]).toEqual(['PUT', 'text', '1'])
  expect(await failure(ask(new URL('http://10.0.0.1/')))).toBe('refused')
})
