// The ports of a conversation whose runner lies, and the hosts at which they are shown.

import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { answer } from '../../src/app.ts'
import { client, request } from '../helpers/app.ts'
import { lentConversation, outcome, say } from '../helpers/lent-conversation.ts'
import type { Line, StandInRunner } from '../helpers/stand-in-runner.ts'

const VARS = { PORT_HOST: 'ports.test' }
const scope = { ...env, ...VARS } as Env

type Open = { stream: number; port: number; kind: string; headers: [string, string][]; path: string }
type Serve = (open: Open, line: Line) => void

/** A conversation whose runner says that something listens on 3000 and answers as it likes. */
async function shownConversation(serve: Serve, ports: unknown = [3000]) {
  const lent = await lentConversation(() => ({ output: 'x' }))
  const { chat, runner, owner } = lent
  runner.ports = (method, params, line) => {
    if (method === 'port/list') return { ports }
    if (method === 'port/open') serve(params as unknown as Open, line)
    return {}
  }
  await say(chat, 'true')
  await outcome(chat)
  const headers = { 'x-session-api-key': owner.key }
  const hosts = async () =>
    (await (await request(`${chat.path}/web-hosts`, { headers }, VARS)).json<{ hosts: Record<string, number> }>()).hosts
  return { ...lent, hosts, address: async () => Object.keys(await hosts())[0] ?? '' }
}

const visit = (address: string, init: RequestInit = {}) =>
  answer(new Request(address, init), scope, createExecutionContext())

const head = (line: Line, stream: number, status = 200, headers: [string, string][] = []) =>
  line.send({ jsonrpc: '2.0', method: 'port/head', params: { stream, status, headers } })
const frame = (line: Line, stream: number, seq: number, text: string, end = false) =>
  line.sendFrame({ t: 'port', stream, seq, end }, new TextEncoder().encode(text))

/** A whole answer. */
const says = (text: string, headers: [string, string][] = []): Serve => {
  return ({ stream }, line) => {
    head(line, stream, 200, headers)
    frame(line, stream, 0, text)
    frame(line, stream, 1, '', true)
  }
}

test('a port is listed with an address that opens it alone, to whoever has it, until it is taken back', async () => {
  const { address, owner, chat } = await shownConversation(says('hello'))
  const first = await address()
  expect(first).toMatch(/^http:\/\/[0-9a-z]{63}\.ports\.test$/)
  expect(await (await visit(first)).text()).toBe('hello')
  expect(await address()).toBe(first)
  const wrong = first.replace(/.(?=\.ports)/, (last) => (last === '0' ? '1' : '0'))
  const other = first.replace(/\/\/./, (start) => (start === '//0' ? '//1' : '//0'))
  for (const bad of [wrong, other, 'http://ports.test', 'http://x.ports.test', `http://${'z'.repeat(63)}.ports.test`])
    expect([bad, (await visit(bad)).status]).toEqual([bad, 404])
  const stranger = await client()
  const path = `${chat.path}/web-hosts/3000`
  expect((await stranger.ask(path, { method: 'DELETE' })).status).toBe(404)
  expect((await owner.ask(path, { method: 'DELETE' })).status).toBe(200)
  expect((await owner.ask(path, { method: 'DELETE' })).status).toBe(404)
  expect((await visit(first)).status).toBe(404)
  expect(await address()).not.toBe(first)
})

test('at these hosts there is no API, with a key or without', async () => {
  const { address, owner } = await shownConversation(says('of the server'))
  const at = await address()
  const headers = { 'x-session-api-key': owner.key }
  expect(await (await visit(`${at}/api/conversations`, { headers })).text()).toBe('of the server')
  for (const host of ['ports.test', 'x.ports.test', 'localhost.localhost', 'x.localhost.'])
    expect((await visit(`http://${host}/api/conversations`, { headers })).status).toBe(404)
  expect((await visit('http://bellwether.test/api/conversations', { headers })).status).toBe(200)
})

test('what goes to the server has nothing of the service in it', async () => {
  const seen: Open[] = []
  const { address } = await shownConversation((open, line) => {
    seen.push(open)
    says('')(open, line)
  })
  const at = await address()
  const headers = {
    cookie: 'bellwether_session=bws_x; a=1',
    'x-session-api-key': 'bw_x',
    'x-bellwether-front': 'word',
    'cf-connecting-ip': '1.2.3.4',
    'x-forwarded-for': '1.2.3.4',
    origin: at,
    accept: 'text/html',
  }
  await (await visit(`${at}/a?b=%20c`, { headers })).text()
  expect(seen[0]).toMatchObject({ port: 3000, kind: 'http', path: '/a?b=%20c' })
  expect(Object.fromEntries(seen[0]?.headers ?? [])).toEqual({
    cookie: 'a=1',
    origin: 'http://localhost',
    accept: 'text/html',
    'x-forwarded-host': new URL(at).host,
    'x-forwarded-proto': 'http',
  })
})

test('what comes from the server speaks for its own host alone', async () => {
  const { address } = await shownConversation(
    says('x', [
      ['Set-Cookie', 'a=1; Path=/; DOMAIN = test'],
      ['Set-Cookie', 'bellwether_session=forged'],
      ['Set-Cookie', 'ok=1'],
      ['Clear-Site-Data', '"*"'],
      ['Service-Worker-Allowed', '/'],
      ['Strict-Transport-Security', 'max-age=1; includeSubDomains'],
      ['Transfer-Encoding', 'chunked'],
      ['Content-Length', '1'],
      ['X-Split', 'a\r\nSet-Cookie: b=1'],
      ['bad name', 'x'],
      ['Location', 'http://127.0.0.1:3000/next?x=1'],
    ]),
  )
  const shown = await visit(await address())
  expect(await shown.text()).toBe('x')
  expect(Object.fromEntries(shown.headers)).toEqual({
    location: '/next?x=1',
    'referrer-policy': 'same-origin',
    'set-cookie': 'ok=1',
    'x-robots-tag': 'noindex',
  })
})

/** Each closes the connection of a runner that does it. */
const LIES: readonly (readonly [string, Serve])[] = [
  ['a piece that comes twice', ({ stream }, line) => [0, 0].map((seq) => frame(line, stream, seq, 'x'))],
  ['a piece that was left out', ({ stream }, line) => frame(line, stream, 1, 'x')],
  ['a piece after the end', ({ stream }, line) => [0, 1].map((seq) => frame(line, stream, seq, 'x', true))],
  [
    'more than the window',
    ({ stream }, line) => {
      for (let seq = 0; seq < 8; seq++) frame(line, stream, seq, 'x'.repeat(100_000))
    },
  ],
  ['a frame that is none', (_open, line) => line.sendFrame({ t: 'port', stream: 'x', seq: 0 })],
]

for (const [name, serve] of LIES) {
  test(`a runner that lies loses its connection: ${name}`, async () => {
    const { address, runner } = await shownConversation((open, line) => {
      serve(open, line)
    })
    const at = await address()
    const shown = await visit(at)
    expect([shown.status, await shown.text()]).toEqual([502, expect.stringContaining('The connection to the runner')])
    await expect.poll(() => (runner as StandInRunner).line?.closed?.code).toBe(1008)
  })
}

const ODD: readonly (readonly [string, Serve])[] = [
  [
    'a status that is none',
    ({ stream }, line) => {
      head(line, stream, 9999)
      line.send({ jsonrpc: '2.0', method: 'port/close', params: { stream, reason: 'gave up' } })
    },
  ],
  ['an upgrade that nobody asked for', ({ stream }, line) => head(line, stream, 101)],
  [
    'an end without a head',
    ({ stream }, line) => line.send({ jsonrpc: '2.0', method: 'port/close', params: { stream, reason: '<script>' } }),
  ],
]

for (const [name, serve] of ODD) {
  test(`an answer that is none is a 502: ${name}`, async () => {
    const { address, runner } = await shownConversation(serve)
    const shown = await visit(await address())
    expect(shown.status).toBe(502)
    expect(await shown.text()).not.toContain('<script>')
    expect(shown.headers.get('content-security-policy')).toBe("default-src 'none'")
    expect((runner as StandInRunner).line?.closed).toBeNull()
  })
}

test('a body that breaks off is no whole body, and streams of others are not touched by strange numbers', async () => {
  const { address } = await shownConversation(({ stream, path }, line) => {
    frame(line, stream + 1000, 0, 'for nobody')
    head(line, stream + 1000)
    head(line, stream)
    frame(line, stream, 0, 'half')
    if (path === '/whole') frame(line, stream, 1, ' and half', true)
    else line.send({ jsonrpc: '2.0', method: 'port/close', params: { stream, reason: 'gone' } })
  })
  const at = await address()
  expect(await (await visit(`${at}/whole`)).text()).toBe('half and half')
  await expect((await visit(at)).text()).rejects.toThrow()
})

test('a list that is none is an empty list', async () => {
  for (const ports of [[0], [70_000], ['3000'], 'all', Array.from({ length: 101 }, (_, i) => i + 1)]) {
    const { hosts } = await shownConversation(says(''), ports)
    expect(await hosts()).toEqual({})
  }
})
