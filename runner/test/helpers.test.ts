// Credentials that git asks for, and tool servers, both in the sandbox.

import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { piecesOf } from '../../src/runners/server-messages.ts'
import type { Peer } from '../src/connect/peer.ts'
import { type ToolProgram, ToolServers } from '../src/tool-servers.ts'
import { startRunner } from './support/runner-process.ts'
import { sandboxed } from './support/sandboxed.ts'
import { Session } from './support/stand-in-session.ts'

const ECHO_SERVER = `import sys
print("ready", file=sys.stderr, flush=True)
for line in sys.stdin:
    if "die" in line: sys.exit(3)
    print(line.strip()[::-1], flush=True)
`

sandboxed('git gets a credential of the object for a configured host, and none is on the disk', async () => {
  const asked: unknown[] = []
  const seen: (string | undefined)[] = []
  const host = createServer((incoming, response) => {
    seen.push(incoming.headers.authorization)
    response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
  })
  host.listen(0, '127.0.0.1')
  await once(host, 'listening')
  onTestFinished(() => void host.close())
  const { port } = host.address() as AddressInfo
  const { service, folder } = await startRunner([
    '--isolation',
    'bwrap',
    '--network',
    'list',
    '--allow',
    `127.0.0.1:${port}`,
  ])
  const session = new Session('c1')
  session.extra['credential/ask'] = (wanted) => {
    asked.push(wanted)
    return String(wanted.host).startsWith('127.')
      ? { username: 'bot', password: 'top-secret-1' }
      : { username: null, password: null }
  }
  await service.open('c1', session)
  await session.push()
  const { output } = await session.run(
    `printf 'protocol=https\\nhost=127.0.0.1\\npath=a/b.git\\n\\n' | git credential fill; printf 'protocol=https\\nhost=other.test\\n\\n' | GIT_TERMINAL_PROMPT=0 git credential fill; echo "status $?"; no_proxy= NO_PROXY= GIT_TERMINAL_PROMPT=0 git ls-remote http://127.0.0.1:${port}/a/b.git`,
  )
  expect(output).toContain('password=top-secret-1\n')
  expect(output).toContain('status 128')
  expect(asked[0]).toEqual({ protocol: 'https', host: '127.0.0.1', path: 'a/b.git' })
  expect(asked.at(-1)).toEqual({ protocol: 'http', host: `127.0.0.1:${port}`, path: 'a/b.git' })
  expect(seen.at(-1)).toBe(`Basic ${Buffer.from('bot:top-secret-1').toString('base64')}`)
  // Of several packs each is a file that the workspace takes.
  expect((await session.run('git config pack.packSizeLimit')).output).toBe(`${20 * 1024 * 1024}\n`)
  await session.run('echo "$TOKEN" | wc -c', { env: { TOKEN: 'top-secret-2' } })
  expect((await session.run('echo "$TOKEN"')).output).toBe('top-secret-2\n')
  // What a command printed waits on the disk until the service has acknowledged its end.
  await expect.poll(() => filesWith('top-secret-2', folder)).toBe('')
})

for (const isolation of ['none', 'bwrap']) {
  const run = isolation === 'none' ? test : sandboxed
  run(`a tool server is started, spoken to, told when it ends, started again and stopped: ${isolation}`, async () => {
    const { service, folder } = await startRunner(['--isolation', isolation, '--network', 'none'])
    const session = new Session('c1')
    const heard: string[] = []
    const exits: Record<string, unknown>[] = []
    let wake: () => void = () => {}
    const until = async (isTrue: () => boolean) => {
      while (!isTrue()) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
    session.extra['server/message'] = ({ message }) => {
      heard.push(String(message))
      wake()
    }
    session.extra['server/exited'] = (exit) => {
      exits.push(exit)
      wake()
    }
    await service.open('c1', session)
    session.tree.write('echo.py', ECHO_SERVER)
    await session.push()
    const start = { name: 'echo', command: 'python3', args: ['echo.py'], env: { A: 'b' } }
    await session.rpc?.call('server/start', start)
    session.rpc?.notify('server/message', { name: 'echo', message: '{"id":1}' })
    await until(() => heard.length === 1)
    expect(heard).toEqual(['}1:"di"{'])
    session.rpc?.notify('server/message', { name: 'echo', message: 'die' })
    await until(() => exits.length === 1)
    expect(exits[0]).toMatchObject({ name: 'echo', code: 3, signal: null, stderr: 'ready\n' })
    await session.rpc?.call('server/start', start)
    await session.rpc?.call('server/start', {
      ...start,
      name: 'long',
      command: 'sh',
      args: ['-c', 'head -c 20000000 /dev/zero; echo; sleep 100'],
    })
    await until(() => exits.length === 2)
    expect(exits[1]).toMatchObject({ name: 'long', stderr: expect.stringContaining('8388608 bytes') })
    // Whichever of the sandbox's processes is gone first: killed itself, or telling that its child was.
    expect([exits[1]?.signal, exits[1]?.code]).toEqual(exits[1]?.signal === null ? [null, 137] : ['SIGKILL', null])
    const large = 'é"'.repeat(200_000)
    for (const piece of piecesOf('echo', large)) session.rpc?.notify('server/message', piece)
    await until(() => exits.length > 2 || heard.slice(1).join('').length === large.length)
    expect(heard.slice(1).join('') === [...large].reverse().join('')).toBe(true)
    expect(heard.length).toBeGreaterThan(2)
    await session.rpc?.call('server/stop', { name: 'echo' })
    expect(exits).toHaveLength(2)
    session.rpc?.notify('server/message', { name: 'echo', message: 'anybody?' })
    await until(() => exits.length === 3)
    expect(exits[2]).toMatchObject({ name: 'echo', stderr: 'It does not run.' })
    expect(existsSync(`${folder}/c1/workspace/echo.py`)).toBe(true)
  })
}

/** Only what hangs is to fail by the clock. */
const PATIENTLY = { timeout: 60_000 }

const CALLED_SERVER = `import json, sys
for line in sys.stdin:
    said = json.loads(line)
    if said["method"] == "die": sys.exit(3)
    if said["method"] == "go": print(json.dumps({"jsonrpc": "2.0", "id": asked, "result": {"n": 1}}), flush=True)
    else: asked = said["id"]
`

test('what became of the newest call of a tool is told whenever it is asked: never heard, open, answered, or ended with its program', async () => {
  const { service } = await startRunner()
  const session = new Session('c1')
  const heard: string[] = []
  session.extra['server/message'] = ({ message }) => heard.push(String(message))
  session.extra['server/exited'] = () => ({})
  await service.open('c1', session)
  session.tree.write('called.py', CALLED_SERVER)
  await session.push()
  const say = (said: object) =>
    session.rpc?.notify('server/message', { name: 'one', message: JSON.stringify({ jsonrpc: '2.0', ...said }) })
  const state = (id: string, name = 'one') => session.rpc?.call('server/query', { name, id })
  await session.rpc?.call('server/start', { name: 'one', command: 'python3', args: ['called.py'], env: {} })
  expect(await state('effect:a')).toEqual({ state: 'unknown', end: null })
  say({ id: 'effect:a', method: 'tools/call' })
  expect(await state('effect:a')).toEqual({ state: 'open', end: null })
  expect(await state('effect:a', 'other')).toEqual({ state: 'unknown', end: null })
  say({ method: 'go' })
  await expect.poll(() => heard.length, PATIENTLY).toBe(1)
  // Whoever heard it was lost.
  session.cut()
  await service.open('c1', session)
  expect(await state('effect:a')).toEqual({ state: 'answered', end: null })
  await expect.poll(() => heard.length, PATIENTLY).toBe(2)
  expect(heard[1]).toBe(heard[0])
  say({ id: 'effect:b', method: 'tools/call' })
  expect(await state('effect:a')).toEqual({ state: 'unknown', end: null })
  say({ method: 'die' })
  await expect
    .poll(() => state('effect:b'), PATIENTLY)
    .toEqual({ state: 'ended', end: { name: 'one', code: 3, signal: null, stderr: '' } })
})

/** Empty when no file below the folder has the text. */
function filesWith(text: string, folder: string): string {
  try {
    return execFileSync('grep', ['-rlaD', 'skip', text, folder], { encoding: 'utf8' })
  } catch (error) {
    if (error instanceof Error && 'status' in error && error.status === 1) return ''
    throw error
  }
}

test('a tool server that prints more than the network takes stands still until it has left, and nothing of it is lost', async () => {
  const stdout = new PassThrough()
  const child = { stdin: new PassThrough(), stdout, stderr: new PassThrough(), pid: undefined, on: () => child }
  const launch = () => ({ command: 'server', args: [], env: {}, cwd: '/' })
  const servers = new ToolServers({ launch, log: () => {}, startProgram: () => child as unknown as ToolProgram })
  const leaving: (() => void)[] = []
  let bytes = 0
  const peer = {
    notify: (_: string, { message }: { message: string }, onLeft: () => void) => {
      bytes += message.length
      leaving.push(onLeft)
    },
  }
  servers.connect(peer as unknown as Peer)
  servers.start({ name: 'loud', command: 'server', args: [], env: {} })
  const line = JSON.stringify({ jsonrpc: '2.0', method: 'news', params: 'x'.repeat(1024 * 1024) })
  for (let count = 0; count < 60; count++) stdout.write(`${line}\n`)
  await expect.poll(() => stdout.isPaused(), PATIENTLY).toBe(true)
  expect(bytes).toBeLessThan(20 * line.length)
  const leave = () => {
    for (const left of leaving.splice(0)) left()
    return bytes
  }
  await expect.poll(leave, PATIENTLY).toBe(60 * line.length)
})
