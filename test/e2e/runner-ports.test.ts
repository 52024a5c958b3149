// Servers in a workspace, looked at through the service: a real service, a real runner with its sandbox, real servers.

import { createHash } from 'node:crypto'
import { request } from 'node:http'
import { chromium } from 'playwright-core'
import { afterAll, beforeAll, expect, test as plain } from 'vitest'
import WebSocket from 'ws'
import { LentMachine, missingForSandbox } from '../support/lent-machine.ts'
import { browserOr, FLAGS } from './browser.ts'
import { ATTACKS, HOSTILE_PAGE, OWN, REBOUND, type Stage } from './port-page-attacks.ts'

/** Says why on standard error where something is missing, and fails there where everything is required. */
const missing = missingForSandbox()
const test = missing === null ? plain : plain.skip
let machine: LentMachine

beforeAll(async () => {
  if (missing === null) machine = await LentMachine.start()
})
afterAll(() => machine?.stop())

type Answer = { status: number; headers: Record<string, string | string[] | undefined>; body: Buffer }
type PageRequest = { method?: string; headers?: Record<string, string>; body?: string | Buffer }

/** Names below `localhost` are this machine for browsers, not for Node's resolver. */
function ask(address: string, { method = 'GET', headers = {}, body }: PageRequest = {}): Promise<Answer> {
  const { host, port, pathname, search } = new URL(address)
  return new Promise((resolve, reject) => {
    const out = request(
      { host: '127.0.0.1', port, method, path: `${pathname}${search}`, headers: { host, ...headers } },
      (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk) => chunks.push(chunk))
        answer.on('error', reject)
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) }),
        )
      },
    )
    out.on('error', reject)
    out.end(body)
  })
}

const page = async (address: string, asked: PageRequest = {}) => (await ask(address, asked)).body.toString()

function socketTo(address: string, protocols: string[] = []): WebSocket {
  const { host, port, pathname } = new URL(address)
  return new WebSocket(`ws://127.0.0.1:${port}${pathname}`, protocols, { headers: { host } })
}

const next = (socket: WebSocket) =>
  new Promise<string>((resolve, reject) => {
    socket.once('message', (data) => resolve(String(data)))
    socket.once('error', reject)
    socket.once('close', (code) => reject(new Error(`closed ${code}`)))
  })

/** Writes a program into the workspace and starts it in the background. */
async function serve(path: string, program: string, name = 'server.cjs'): Promise<void> {
  const text = Buffer.from(program).toString('base64')
  const started = await machine.run(
    path,
    `echo ${text} | base64 -d > ${name}; node ${name} > ${name}.log 2>&1 & sleep 0`,
  )
  expect(started.extras.metadata?.exit_code).toBe(0)
}

const ECHO = `require('node:http').createServer((q, s) => {
  if (q.url === '/head') { s.writeHead(200, { 'content-type': 'application/json' }); s.end(JSON.stringify({ url: q.url, headers: q.headers })); return }
  if (q.url === '/events') { s.writeHead(200, { 'content-type': 'text/event-stream' }); const t = setInterval(() => s.write('data: one\\n\\n'), 50); s.once('close', () => { clearInterval(t); require('node:fs').writeFileSync('left.txt', 'left') }); return }
  if (q.url === '/gzip') { s.writeHead(200, { 'content-encoding': 'gzip' }); s.end(require('node:zlib').gzipSync('packed')); return }
  if (q.url === '/over') { s.writeHead(302, { location: 'http://127.0.0.1:3001/there?x=1' }); s.end(); return }
  if (q.url === '/hang') return
  if (q.url === '/move') { s.writeHead(302, { location: 'http://localhost:3000/there' }); s.end(); return }
  const hash = require('node:crypto').createHash('sha256'); let n = 0
  q.on('data', (d) => { n += d.length; hash.update(d) }); q.on('end', () => s.end(n + ' ' + hash.digest('hex')))
}).listen(3000, '127.0.0.1')
require('node:http').createServer((q, s) => s.end('the other ' + q.url)).listen(3001, '127.0.0.2')`

test('a server in the workspace is listed, and answers at an address of its own, bodies of both directions whole', async () => {
  const path = await machine.conversation()
  expect(await machine.call(`${path}/web-hosts`)).toEqual({ hosts: {} })
  await serve(path, ECHO)
  const address = await machine.address(path, 3000)
  expect(address).toMatch(new RegExp(`^http://[0-9a-z]{63}\\.localhost:${machine.service.port}$`))
  const body = Buffer.alloc(20_000_000, 'some bytes of a body ')
  const sum = createHash('sha256').update(body).digest('hex')
  expect(await page(`${address}/sum`, { method: 'POST', body })).toBe(`${body.length} ${sum}`)
  const { headers } = JSON.parse(await page(`${address}/head`, { headers: { cookie: 'bellwether_session=x; mine=1' } }))
  expect(headers).toMatchObject({ host: 'localhost:3000', cookie: 'mine=1', 'x-forwarded-proto': 'http' })
  expect(JSON.stringify(headers)).not.toMatch(/bellwether_session|x-bellwether|cf-/)
  const packed = await ask(`${address}/gzip`)
  expect([packed.headers['content-encoding'], packed.body.subarray(0, 2).toString('hex')]).toEqual(['gzip', '1f8b'])
  expect((await ask(`${address}/move`)).headers.location).toBe('/there')
  // A redirect to another server of the workspace leads to its address.
  const other = await machine.address(path, 3001)
  expect((await ask(`${address}/over`)).headers.location).toBe(`${other}/there?x=1`)
  expect(await page(`${other}/there?x=1`)).toBe('the other /there?x=1')
})

test('a page is there while more requests hang than a conversation may have', async () => {
  const path = await machine.conversation()
  await serve(path, ECHO)
  const address = await machine.address(path, 3000)
  const hung = Array.from({ length: 120 }, () => ask(`${address}/hang`))
  // Twenty of them made room for others: all have reached the service by then.
  const ended = await Promise.race(hung)
  expect(ended.status).toBe(502)
  expect(await page(`${address}/head`)).toContain('"url":"/head"')
  await machine.call(`${path}/web-hosts/3000`, { method: 'DELETE' })
  for (const { status } of await Promise.all(hung)) expect(status).toBe(502)
})

/** A development server in small: it watches a file and tells open pages by a socket that it has changed. */
const LIVE = `const { createServer } = require('node:http'); const { createHash } = require('node:crypto'); const fs = require('node:fs')
fs.writeFileSync('page.html', 'first'); const open = new Set()
const server = createServer((q, s) => { s.writeHead(200, { 'content-type': 'text/html' }); s.end(fs.readFileSync('page.html')) })
const frame = (text) => Buffer.concat([Buffer.from([0x81, text.length]), Buffer.from(text)])
server.on('upgrade', (q, socket) => {
  const key = createHash('sha1').update(q.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64')
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Protocol: live\\r\\nSec-WebSocket-Accept: ' + key + '\\r\\n\\r\\n')
  open.add(socket); socket.on('error', () => {}); socket.on('close', () => open.delete(socket)); socket.write(frame('hello ' + q.headers.origin))
})
fs.watchFile('page.html', { interval: 50 }, () => { for (const socket of open) socket.write(frame('reload')) })
server.listen(5173, '::')`

test('a development server reloads its page, also after the service was killed; when the runner is killed the page says so', async () => {
  const path = await machine.conversation()
  await serve(path, LIVE)
  const address = await machine.address(path, 5173)
  expect(await page(address)).toBe('first')
  const socket = socketTo(address, ['live'])
  expect(await next(socket)).toBe('hello undefined')
  expect(socket.protocol).toBe('live')
  const told = next(socket)
  await machine.run(path, 'echo second > page.html')
  expect(await told).toBe('reload')
  expect(await page(address)).toBe('second\n')
  const ended = new Promise((resolve) => socket.once('close', resolve))
  await machine.restartService()
  await ended
  expect(await page(address)).toBe('second\n')
  expect(await machine.address(path, 5173)).toBe(address)
  const again = socketTo(address, ['live'])
  expect(await next(again)).toContain('hello')
  again.close()
  await machine.restartRunner()
  await expect.poll(async () => (await ask(address)).status).toBe(502)
  expect(await page(address)).toMatch(/runner|listens/)
  await machine.run(path, 'node server.cjs > again.log 2>&1 & sleep 0')
  expect(await machine.address(path, 5173)).toBe(address)
  expect(await page(address)).toBe('first')
})

test('events of a server come as it sends them, and it learns that the client left', async () => {
  const path = await machine.conversation()
  await serve(path, ECHO)
  const { host, port } = new URL(await machine.address(path, 3000))
  const first = await new Promise<string>((resolve, reject) => {
    const out = request({ host: '127.0.0.1', port, path: '/events', headers: { host } }, (answer) => {
      answer.once('data', (chunk) => {
        out.destroy()
        resolve(String(chunk))
      })
    })
    out.on('error', reject)
    out.end()
  })
  expect(first).toContain('data: one\n\n')
  await expect.poll(async () => (await machine.run(path, 'cat left.txt')).content).toBe('left')
})

const HOSTILE = `const { createServer } = require('node:net')
const { createHash } = require('node:crypto')
const SAY = {
  '/cookie': 'HTTP/1.1 200 OK\\r\\nSet-Cookie: a=1; Domain=localhost\\r\\nSet-Cookie: bellwether_session=forged; Path=/\\r\\nSet-Cookie: fine=1\\r\\nClear-Site-Data: "*"\\r\\nService-Worker-Allowed: /\\r\\nStrict-Transport-Security: max-age=9; includeSubDomains\\r\\nAlt-Svc: h3=":1"\\r\\nX-Port-Failure: x\\r\\nContent-Length: 2\\r\\n\\r\\nok',
  '/short': 'HTTP/1.1 200 OK\\r\\nContent-Length: 100\\r\\n\\r\\nshort',
  '/both': 'HTTP/1.1 200 OK\\r\\nContent-Length: 3\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\nHTTP/1.1 200 OK\\r\\n\\r\\n',
  '/garbage': 'no http at all\\r\\n\\r\\n',
  '/upgrade': 'HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n\\r\\n',
  '/status': 'HTTP/1.1 999 Odd\\r\\nContent-Length: 0\\r\\n\\r\\n',
  '/split': 'HTTP/1.1 200 OK\\r\\nX-A: a\\rSet-Cookie: b=1\\r\\nContent-Length: 0\\r\\n\\r\\n',
}
createServer((s) => { s.on('error', () => {}); s.once('data', (d) => {
  const url = String(d).split(' ')[1]
  if (url === '/headers') { s.write('HTTP/1.1 200 OK\\r\\n'); const more = () => { while (!s.destroyed && s.write('X-More: ' + 'x'.repeat(1000) + '\\r\\n')); }; s.on('drain', more); more() }
  else if (url.startsWith('/big')) { const n = 1e9; s.write('HTTP/1.1 200 OK\\r\\nContent-Length: ' + n + '\\r\\n\\r\\n'); let sent = 0; const piece = Buffer.alloc(1e6); const more = () => { while (sent < n) { sent += 1e6; if (!s.write(piece)) return } }; s.on('drain', more); more() }
  else if (url === '/api/keys') s.end('HTTP/1.1 200 OK\\r\\nContent-Length: 3\\r\\n\\r\\nown')
  else s.end(SAY[url] ?? 'HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nhi')
}) }).listen(4000, '127.0.0.1')`

/** The bytes of an answer to bytes. */
async function raw(bytes: string): Promise<string> {
  const { connect } = await import('node:net')
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(machine.service.port, '127.0.0.1', () => socket.write(bytes))
    socket.on('data', (data) => {
      text += data
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
  })
}

test('a hostile server reaches nothing but its own page', async () => {
  const path = await machine.conversation()
  await serve(path, HOSTILE)
  const address = await machine.address(path, 4000)
  const { host } = new URL(address)
  const { headers } = await ask(`${address}/cookie`)
  expect(headers['set-cookie']).toEqual(['fine=1'])
  for (const name of [
    'clear-site-data',
    'service-worker-allowed',
    'strict-transport-security',
    'alt-svc',
    'x-port-failure',
  ])
    expect(headers[name]).toBeUndefined()
  await expect(ask(`${address}/short`)).rejects.toThrow(/aborted|reset|hang up/)
  for (const lie of ['both', 'garbage', 'upgrade', 'headers', 'status', 'split'])
    expect([lie, (await ask(`${address}/${lie}`)).status]).toEqual([lie, 502])
  // The API is not there, whatever the path, and neither is the console.
  expect(await page(`${address}/api/keys`)).toBe('own')
  for (const other of ['x.localhost', 'x.localhost.', `${'0'.repeat(63)}.localhost`, `${'z'.repeat(63)}.localhost`]) {
    const at = `Host: ${other}:${machine.service.port}\r\nConnection: close\r\n\r\n`
    expect(await raw(`GET / HTTP/1.1\r\n${at}`)).toMatch(/^HTTP\/1.1 404/)
    expect(await raw(`GET /api/keys HTTP/1.1\r\n${at}`)).toMatch(/^HTTP\/1.1 404/)
  }
  const wrong = address.replace(/.(?=\.localhost)/, (last) => (last === '0' ? '1' : '0'))
  expect((await ask(wrong)).status).toBe(404)
  // Requests that mean two things.
  const twice = `GET / HTTP/1.1\r\nHost: ${host}\r\nHost: localhost:${machine.service.port}\r\nConnection: close\r\n\r\n`
  const coded = `POST / HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: gzip, chunked\r\nConnection: close\r\n\r\n0\r\n\r\n`
  const doubled = `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n`
  const absolute = `GET http://localhost:${machine.service.port}/api/keys HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
  for (const smuggled of [twice, coded, doubled, absolute]) expect(await raw(smuggled)).toMatch(/^HTTP\/1.1 400/)
  // Its pages may not call the API, by a request or by a socket; and nobody may frame the console.
  const from = { origin: address }
  expect((await fetch(`${machine.service.url}/api/keys`, { headers: from })).status).toBe(403)
  const id = path.split('/').at(-1)
  for (const way of [`/api/conversations/${id}/ws`, `/socket.io/?conversation_id=${id}&EIO=4&transport=websocket`]) {
    const socket = new WebSocket(`ws://127.0.0.1:${machine.service.port}${way}`, { headers: from })
    const status = await new Promise((resolve) => {
      socket.on('unexpected-response', (_request, answer) => resolve(answer.statusCode))
      socket.on('error', () => {})
    })
    expect(status).toBe(403)
  }
  expect((await ask(machine.service.url)).headers['x-frame-options']).toBe('DENY')
  // Taken back: gone at once, and another address next time.
  await machine.call(`${path}/web-hosts/4000`, { method: 'DELETE' })
  expect((await ask(address)).status).toBe(404)
  const fresh = await machine.address(path, 4000)
  expect([fresh === address, await page(fresh)]).toEqual([false, 'hi'])
})

test('a body of a gigabyte passes without being kept', async () => {
  const path = await machine.conversation()
  await serve(path, HOSTILE)
  const { host, port } = new URL(await machine.address(path, 4000))
  const resident = () => machine.residentBytes()
  const before = resident()
  let most = 0
  const bytes = await new Promise<number>((resolve, reject) => {
    let sum = 0
    request({ host: '127.0.0.1', port, path: '/big', headers: { host } }, (answer) => {
      answer.on('data', ({ length }) => {
        if (Math.floor(sum / 1e8) !== Math.floor((sum + length) / 1e8)) most = Math.max(most, resident())
        sum += length
      })
      answer.on('end', () => resolve(sum))
      answer.on('error', reject)
    })
      .on('error', reject)
      .end()
  })
  expect(bytes).toBe(1e9)
  expect(most - before).toBeLessThan(bytes / 2)
})

/** A browser with the console and the hostile page open, and something of the owner's to take. */
async function staged(executablePath: string): Promise<{ stage: Stage; close: () => Promise<void> }> {
  const path = await machine.conversation()
  const conversation = path.split('/').at(-1) ?? ''
  await serve(path, HOSTILE_PAGE)
  const [address, sibling] = [await machine.address(path, 4100), await machine.address(path, 4200)]
  const origin = `http://localhost:${machine.service.port}`
  const rules = `--host-resolver-rules=${REBOUND.map((name) => `MAP ${name} 127.0.0.1`).join(',')}`
  const browser = await chromium.launch({ executablePath, args: [...FLAGS, rules] })
  const context = await browser.newContext()
  await context.addCookies([
    { name: 'bellwether_session', value: 'owner', url: origin, httpOnly: true },
    { name: 'plain', value: 'owner', url: origin },
  ])
  const [owner, page] = [await context.newPage(), await context.newPage()]
  await owner.goto(origin)
  await page.goto(address)
  const state = async () => {
    const list = await machine.call<{ results: unknown[] }>('/api/conversations?limit=100')
    return JSON.stringify([list.results.length, (await machine.events(path)).length])
  }
  return {
    stage: { page, owner, context, console: origin, conversation, sibling, state },
    close: () => browser.close(),
  }
}

test('in a real browser a page of a server in the workspace does nothing as the owner of the console', async ({
  skip,
}) => {
  const { stage, close } = await staged(browserOr(skip))
  const succeeded: string[] = []
  for (const [name, attack] of Object.entries(ATTACKS)) {
    // What an attack before it left in the page, a service worker among it, is not there for this one.
    await stage.page.goto(`${new URL(stage.page.url()).origin}/?${encodeURIComponent(name)}`)
    if (await attack(stage)) succeeded.push(name)
  }
  for (const name of REBOUND) {
    const page = await stage.context.newPage()
    const answer = await page.goto(`http://${name}:${machine.service.port}/api/conversations`)
    if (answer === null || answer.ok()) succeeded.push(`is reached as ${name}`)
    if ((await page.content()).includes(stage.conversation)) succeeded.push(`is read as ${name}`)
    await page.close()
  }
  expect(succeeded).toEqual([])
  for (const name of OWN) expect([name, await ATTACKS[name]?.({ ...stage, page: stage.owner })]).toEqual([name, true])
  await close()
})
