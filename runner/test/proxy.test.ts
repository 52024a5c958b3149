import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { isPublicAddress, permissionFor } from '../src/network/allow-list.ts'
import { DEFAULT_HOSTS } from '../src/network/default-hosts.ts'
import { HostProxy } from '../src/network/proxy.ts'
import { readOptions } from '../src/options.ts'
import { temporaryFolder } from './support/runner-process.ts'

test('the list is matched by whole names and ports', () => {
  const allow = [...DEFAULT_HOSTS, '*.example.com', 'git.lan:8443', '[fd00::1]:80', '10.0.0.7']
  const [listed = '', another = ''] = DEFAULT_HOSTS
  const read = readOptions(['--url', 'https://service.test', '--key', 'k', '--allow', listed], {})
  const named = typeof read === 'string' ? [] : read.allow
  expect(permissionFor(named, listed, 443)).toEqual({ mayBePrivate: true })
  expect(permissionFor(named, another, 443)).toEqual({ mayBePrivate: false })
  const row = (host: string, port: number) => permissionFor(allow, host, port)
  expect(row('github.com', 443)).toEqual({ mayBePrivate: false })
  expect(row('GitHub.com.', 443)).toEqual({ mayBePrivate: false })
  expect(row('a.example.com', 80)).toEqual({ mayBePrivate: false })
  expect(row('git.lan', 8443)).toEqual({ mayBePrivate: true })
  expect(row('fd00::1', 80)).toEqual({ mayBePrivate: true })
  expect(row('10.0.0.7', 443)).toEqual({ mayBePrivate: true })
  const refused: [string, number][] = [
    ['github.com', 22],
    ['github.com.evil.org', 443],
    ['evilgithub.com', 443],
    ['example.com', 443],
    ['git.lan', 443],
    ['127.0.0.1', 80],
    ['10.0.0.70', 443],
  ]
  for (const [host, port] of refused) expect({ host, port, is: row(host, port) }).toEqual({ host, port, is: null })
})

test('private, local, shared and carrier addresses are not public', () => {
  const inner = [
    '127.0.0.1',
    '10.1.1.1',
    '172.31.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.100.1.1',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
  ]
  const inner6 = [
    '::1',
    '::',
    'fe80::1',
    'fd00::1',
    '::ffff:127.0.0.1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '2001:0:1::',
  ]
  expect([...inner, ...inner6].filter(isPublicAddress)).toEqual([])
  expect(['93.184.216.34', '2606:4700::1111'].filter(isPublicAddress)).toHaveLength(2)
})

test('each network that is set apart ends where the registry of IANA says, and its neighbours are public', () => {
  const before = ['9.255.255.255', '100.63.255.255', '126.255.255.255', '169.253.255.255', '172.15.255.255']
  const more = ['191.255.255.255', '192.0.1.255', '192.88.98.255', '192.167.255.255', '198.17.255.255']
  const last = ['198.51.99.255', '203.0.112.255', '223.255.255.255', '1.0.0.0', '11.0.0.0', '100.128.0.0', '128.0.0.0']
  const after = ['169.255.0.0', '172.32.0.0', '192.0.1.0', '192.0.3.0', '192.88.100.0', '192.169.0.0', '198.20.0.0']
  const outside = [...before, ...more, ...last, ...after, '198.51.101.0', '203.0.114.0', '2000::', '3fff:ffff::']
  expect(outside.filter((address) => !isPublicAddress(address))).toEqual([])
  const first = [
    '0.0.0.0',
    '10.0.0.0',
    '100.64.0.0',
    '127.0.0.0',
    '169.254.0.0',
    '172.16.0.0',
    '192.0.0.0',
    '192.0.2.0',
  ]
  const ends = ['0.255.255.255', '10.255.255.255', '100.127.255.255', '127.255.255.255', '169.254.255.255']
  const rest = ['172.31.255.255', '192.0.0.255', '192.0.2.255', '192.88.99.0', '192.88.99.255', '192.168.0.0']
  const others = ['192.168.255.255', '198.18.0.0', '198.19.255.255', '198.51.100.0', '198.51.100.255', '203.0.113.0']
  const inside = [
    ...first,
    ...ends,
    ...rest,
    ...others,
    '203.0.113.255',
    '224.0.0.0',
    '1fff::',
    '4000::',
    '2001:db8::1',
  ]
  expect([...inside, '2001:1ff:ffff::', '2002::', 'localhost', ''].filter(isPublicAddress)).toEqual([])
})

test('without a list of its own a sandbox reaches the registries and git hosts that its tools ask, by their own names', () => {
  const npm = ['registry.npmjs.org', 'registry.yarnpkg.com']
  const python = ['pypi.org', 'files.pythonhosted.org']
  const rust = ['crates.io', 'index.crates.io', 'static.crates.io']
  const go = ['proxy.golang.org', 'sum.golang.org']
  const debian = ['deb.debian.org', 'security.debian.org']
  const github = ['github.com', 'codeload.github.com', 'objects.githubusercontent.com', 'raw.githubusercontent.com']
  const asked = [...npm, ...python, ...rust, ...go, ...debian, ...github, 'gitlab.com', 'bitbucket.org']
  const unreached = asked.filter((host) => permissionFor(DEFAULT_HOSTS, host, 443)?.mayBePrivate !== false)
  expect(unreached).toEqual([])
  // And nothing beside them.
  expect(DEFAULT_HOSTS).toHaveLength(asked.length)
})

test('the proxy reaches what is listed and refuses the rest at once, names that lead inside as well', async () => {
  const target = createServer((incoming, response) =>
    response.end(`${incoming.method} ${incoming.url} ${incoming.headers['proxy-connection']}`),
  )
  target.listen(0, '127.0.0.1')
  await once(target, 'listening')
  onTestFinished(() => void target.close())
  const { port } = target.address() as AddressInfo
  const folder = temporaryFolder()
  const path = join(folder, 'proxy.sock')
  const events: string[] = []
  const proxy = await HostProxy.listen(folder, 'proxy.sock', {
    allow: [`listed.test:${port}`, 'github.com', `127.0.0.1:${port}`],
    log: (event) => events.push(event),
    lookup: async () => [{ address: '127.0.0.1' }],
  })
  onTestFinished(() => proxy.close())
  const through = (url: string) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const outgoing = request({ socketPath: path, path: url, headers: { 'proxy-connection': 'x' } }, (answer) => {
        let text = ''
        answer.on('data', (chunk) => {
          text += chunk
        })
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
      })
      outgoing.on('error', reject)
      outgoing.end()
    })
  const tunnel = (to: string) =>
    new Promise<number>((resolve, reject) => {
      const outgoing = request({ socketPath: path, method: 'CONNECT', path: to })
      outgoing.on('connect', (answer, socket) => {
        socket.destroy()
        resolve(answer.statusCode ?? 0)
      })
      outgoing.on('error', reject)
      outgoing.end()
    })
  expect(await through(`http://listed.test:${port}/a?b=c`)).toEqual({ status: 200, text: 'GET /a?b=c undefined' })
  expect(await through(`http://other.test:${port}/`)).toMatchObject({
    status: 403,
    text: expect.stringContaining('list of hosts'),
  })
  expect(await through('http://github.com/')).toMatchObject({ status: 403, text: expect.stringContaining('private') })
  expect(await through('/relative')).toMatchObject({ status: 403 })
  expect(await tunnel(`listed.test:${port}`)).toBe(200)
  expect(await tunnel(`127.0.0.1:${port}`)).toBe(200)
  expect(await tunnel('github.com:443')).toBe(403)
  expect(await tunnel('169.254.169.254:80')).toBe(403)
  expect(await tunnel('localhost:80')).toBe(403)
  expect(events.every((event) => event === 'network.refused')).toBe(true)
})

test('a redirect, another protocol and a name with words in it lead nowhere, and no name that is not listed is looked up', async () => {
  const upgrades: (string | undefined)[] = []
  const target = createServer((incoming, response) => {
    upgrades.push(incoming.headers.upgrade)
    response.writeHead(302, { location: 'http://169.254.169.254/latest/' }).end()
  })
  target.on('upgrade', (_, socket) => {
    upgrades.push('upgraded')
    socket.destroy()
  })
  target.listen(0, '127.0.0.1')
  await once(target, 'listening')
  onTestFinished(() => void target.close())
  const { port } = target.address() as AddressInfo
  const folder = temporaryFolder()
  const looked: string[] = []
  const proxy = await HostProxy.listen(folder, 'proxy.sock', {
    allow: [`listed.test:${port}`],
    log: () => {},
    lookup: async (host) => {
      looked.push(host)
      return [{ address: '127.0.0.1' }]
    },
  })
  onTestFinished(() => proxy.close())
  const through = async (url: string, headers: Record<string, string> = {}) => {
    const outgoing = request({ socketPath: join(folder, 'proxy.sock'), path: url, headers })
    outgoing.end()
    const [answer] = await once(outgoing, 'response')
    answer.resume()
    return { status: answer.statusCode, location: answer.headers.location }
  }
  // It does not follow: the program inside does, and is refused.
  expect(await through(`http://listed.test:${port}/`)).toEqual({
    status: 302,
    location: 'http://169.254.169.254/latest/',
  })
  expect(await through('http://169.254.169.254/latest/')).toMatchObject({ status: 403 })
  await through(`http://listed.test:${port}/`, { connection: 'upgrade', upgrade: 'websocket', host: 'service.test' })
  expect(upgrades).toEqual([undefined, undefined])
  const inner = [
    '0x7f.1',
    '2130706433',
    '0177.0.0.1',
    '127。0。0。1',
    '１２７.0.0.1',
    '[::ffff:7f00:1]',
    'listed.test@127.0.0.1',
  ]
  for (const host of [...inner, 'secret.attacker.test', 'secret.listed.test', 'listed.test.'.repeat(2)]) {
    expect([host, (await through(`http://${host.replace(/[^ -~]/g, encodeURIComponent)}:${port}/`)).status]).toEqual([
      host,
      403,
    ])
  }
  expect([...new Set(looked)]).toEqual(['listed.test'])
})

test('what a host sent before it closed its end arrives whole at a program that reads late', async () => {
  let answer = Buffer.alloc(0)
  const target = createTcpServer((socket) => socket.resume().end(answer))
  target.listen(0, '127.0.0.1')
  await once(target, 'listening')
  onTestFinished(() => void target.close())
  const { port } = target.address() as AddressInfo
  const folder = temporaryFolder()
  const allow = [`127.0.0.1:${port}`]
  const proxy = await HostProxy.listen(folder, 'proxy.sock', { allow, log: () => {} })
  onTestFinished(() => proxy.close())
  // Around what the system's buffers take, so that the rest is the proxy's to keep.
  for (let size = 150_000; size <= 450_000; size += 30_000) {
    answer = Buffer.alloc(size, 'x')
    const outgoing = request({ socketPath: join(folder, 'proxy.sock'), method: 'CONNECT', path: allow[0] })
    outgoing.end()
    const [, socket, first] = (await once(outgoing, 'connect')) as [unknown, Socket, Buffer]
    await delay(30)
    let got = first.byteLength
    socket.on('data', (piece) => {
      got += piece.byteLength
    })
    await once(socket, 'end')
    socket.destroy()
    expect([size, got]).toEqual([size, size])
  }
})
