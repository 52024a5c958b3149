// The whole of it: a service as `npm start` makes it, a runner beside it, and a conversation whose commands are real processes.

import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { ROOT } from '../../scripts/start/paths.ts'
import { listProcesses, signalIfThere } from '../../scripts/start/processes.ts'
import { type Service, startService } from '../../scripts/start/service.ts'
import { startScriptedModel } from '../support/scripted-model.ts'

type Event = {
  id: number
  observation?: string
  content: string
  message?: string
  extras: { agent_state?: string; metadata?: { exit_code: number; working_dir: string; hostname: string } }
}

let service: Service
let runner: ChildProcess
const folder = mkdtempSync(join(tmpdir(), 'bellwether-runner-'))
const lines: string[] = []

beforeAll(async () => {
  const stateDir = join(folder, 'state')
  service = await startService({ stateDir, env: { MARKET_DATA: 'sample' } })
  const key = join(stateDir, 'runner-token')
  const options = [
    '--url',
    service.url,
    '--key-file',
    key,
    '--isolation',
    'none',
    '--workspaces',
    join(folder, 'copies'),
  ]
  runner = spawn(process.execPath, [join(ROOT, 'runner/src/main.ts'), ...options], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  await new Promise<void>((resolve, reject) => {
    runner.once('exit', () => reject(new Error(`the runner ended: ${lines.join('')}`)))
    for (const stream of [runner.stdout, runner.stderr]) {
      stream?.on('data', (text) => {
        lines.push(String(text))
        if (lines.join('').includes('pool.connected')) resolve()
      })
    }
  })
})

afterAll(async () => {
  runner?.kill('SIGKILL')
  await service?.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function call<T>(path: string, init: { method?: string; body?: unknown } = {}): Promise<T> {
  const { method = 'GET', body } = init
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return (await response.json()) as T
}

const events = async (path: string) => (await call<{ events: Event[] }>(`${path}/events?limit=100`)).events

async function started(query = ''): Promise<string> {
  const { conversation_id: id } = await call<{ conversation_id: string }>(`/api/conversations${query}`, {
    method: 'POST',
    body: {},
  })
  const path = `/api/conversations/${id}`
  await expect.poll(async () => (await events(path)).at(-1)?.extras.agent_state).toBe('awaiting_user_input')
  return path
}

const outcomes = async (path: string) =>
  (await events(path)).filter(({ observation }) => observation === 'run' || observation === 'error')

/** Sends a command and waits for its observation. */
async function run(path: string, command: string, meanwhile: () => Promise<void> = async () => {}): Promise<Event> {
  const before = (await outcomes(path)).length
  await call(`${path}/events`, { method: 'POST', body: { action: 'message', args: { content: command } } })
  await meanwhile()
  await expect.poll(async () => (await outcomes(path)).length).toBe(before + 1)
  return (await outcomes(path)).at(-1) as Event
}

test('the list shows the runner with what it found', async () => {
  type Row = { state: string; tools: { name: string; version: string }[] }
  const { runners } = await call<{ runners: Row[] }>('/api/runners')
  expect(runners.map(({ state }) => state)).toEqual(['connected'])
  const found = { name: 'node', version: expect.stringMatching(/^\d+\.\d+/) }
  expect(runners[0]?.tools).toContainEqual(found)
})

test('a conversation has real processes, one lasting shell, and its files', async () => {
  const path = await started()
  expect((await run(path, 'printf "console.log(process.pid > 1)" > a.js && node a.js')).content).toBe('true')
  await run(path, 'mkdir -p deep && cd deep && export WORD=kept && say() { echo "said $1"; }')
  const said = await run(path, 'say $WORD | cat; exit 3')
  expect(said.content).toMatch(/^said kept\n\[The shell ended and a new one took its place, with its folder, /)
  expect(said.extras.metadata?.exit_code).toBe(3)
  expect((await run(path, 'basename $PWD; say again')).content).toBe('deep\nsaid again')
  expect(await call(`${path}/select-file?file=a.js`)).toEqual({ code: 'console.log(process.pid > 1)' })
  expect(await call(`${path}/config`)).toMatchObject({ runtime_id: expect.stringMatching(/^[0-9a-f]{32}$/) })
})

test('what was uploaded is there before a command, and what it deletes is gone', async () => {
  const path = await started()
  const form = new FormData()
  const large = `${'x'.repeat(1_500_000)}end`
  form.append('files', new File([large], 'large.txt'))
  form.append('files', new File(['bye'], 'gone.txt'))
  expect((await fetch(`${service.url}${path}/upload-files`, { method: 'POST', body: form })).status).toBe(200)
  expect((await run(path, 'tail -c 3 large.txt; wc -c < large.txt; rm gone.txt; cp large.txt copy.txt')).content).toBe(
    'end1500003',
  )
  expect(await call(`${path}/list-files`)).toEqual(['copy.txt', 'large.txt'])
})

test('names that differ in case or in how Unicode writes them are files of their own on both sides', async () => {
  const path = await started()
  const twins = ['Case', 'case', 'caf\u00e9', 'cafe\u0301', '\u212bngstrom', '\u00c5ngstrom']
  const made = await run(path, twins.map((name) => `printf %s '${name}' > 'twin-${name}'`).join('; '))
  expect(made.extras.metadata?.exit_code).toBe(0)
  for (const name of twins)
    expect(await call(`${path}/select-file?file=${encodeURIComponent(`twin-${name}`)}`)).toEqual({ code: name })
  expect((await run(path, 'rm twin-Case; ls twin-* | wc -l; cat twin-case')).content).toBe('5\ncase')
  expect(await call<string[]>(`${path}/list-files`)).not.toContain('twin-Case')
})

test('a kill of the service in a command costs neither the command nor a byte of its output', async () => {
  const path = await started()
  const command = 'touch begun.txt; for i in 1 2 3 4 5 6; do echo tick $i; sleep 0.5; done; echo ran >> times.txt'
  const { content, extras } = await run(path, command, async () => {
    // What a command changed comes while it runs.
    await expect.poll(() => call(`${path}/list-files`)).toContain('begun.txt')
    expect(service.kill9Runtime()).toBeGreaterThan(0)
    await expect.poll(async () => (await fetch(`${service.url}/alive`).catch(() => null))?.status).toBe(200)
  })
  const ticks = [1, 2, 3, 4, 5, 6].map((i) => `tick ${i}`).join('\n')
  expect([content, extras.metadata?.exit_code]).toEqual([ticks, 0])
  expect(await call(`${path}/select-file?file=times.txt`)).toEqual({ code: 'ran\n' })
})

test('a conversation that chose the edge stays there, and one that wants a label that nobody has is told so', async () => {
  expect((await run(await started('?runtime=edge'), 'python3 -V')).extras.metadata?.exit_code).toBe(127)
  const told = await run(await started('?runtime=runner&labels=nobody-has-this'), 'true')
  expect([told.observation, told.content]).toEqual(['error', expect.stringContaining('nobody-has-this')])
})

// It sets a model for everybody, so it is the last.
test('an official tool server runs as a program on the runner, keeps running over a death of the service, and is there again after one of its own', async () => {
  const model = await startScriptedModel()
  onTestFinished(() => model.close())
  const sum = (a: number) => ({ calls: [{ id: `c${a}`, name: 'get-sum', arguments: { a, b: 1 } }] })
  model.setScript('programs', {
    replies: [sum(1), { text: 'one' }, sum(2), { text: 'two' }, sum(3), sum(4), { text: 'three' }],
  })
  const settings = {
    llm_model: 'openai/scripted',
    llm_base_url: `${model.url}/programs/v1`,
    llm_api_key: 'sk-0123456789',
  }
  await call('/api/settings', { method: 'POST', body: settings })
  const everything = join(ROOT, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js')
  const program = { name: 'everything', command: process.execPath, args: [everything, 'stdio'], env: {} }
  const { conversation_id: id } = await call<{ conversation_id: string }>('/api/conversations?runtime=runner', {
    method: 'POST',
    body: { initial_user_msg: 'add', mcp_config: { sse_servers: [], shttp_servers: [], stdio_servers: [program] } },
  })
  const path = `/api/conversations/${id}`
  const said = (text: string) =>
    expect
      .poll(async () => (await events(path)).some(({ content, message }) => content === text || message === text))
      .toBe(true)
  const post = (content: string) =>
    call(`${path}/events`, { method: 'POST', body: { action: 'message', args: { content } } })
  const sums = async () =>
    (await events(path)).flatMap(({ observation, content }) => (observation === 'mcp' ? [content] : []))
  await said('one')
  const pids = () =>
    listProcesses().filter(({ command }) => command.includes('server-everything') && command.includes('stdio'))
  const before = pids().map(({ pid }) => pid)
  expect(before.length).toBeGreaterThan(0)
  expect(service.kill9Runtime()).toBeGreaterThan(0)
  await expect.poll(async () => (await fetch(`${service.url}/alive`).catch(() => null))?.status).toBe(200)
  await post('add again')
  await said('two')
  expect(pids().map(({ pid }) => pid)).toEqual(before)
  for (const pid of before) signalIfThere(pid, 'SIGKILL')
  await post('and again')
  await said('three')
  const answers = await sums()
  expect(answers.slice(0, 2)).toEqual([expect.stringContaining('is 2.'), expect.stringContaining('is 3.')])
  // The first after the kill may have been given to the one that died.
  expect(answers.at(-1)).toContain('is 5.')
})

/** Binary frames of a socket as RFC 6455 has them, masked with zeros; `written` of their bytes were taken before the other side left. */
async function flood(path: string, bearer: string, frames: Iterable<Buffer>) {
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  let answer = ''
  let isOver = false
  socket.on('data', (data) => {
    answer = `${answer}${data.toString('latin1')}`.slice(0, 2_000)
  })
  const over = Promise.withResolvers<void>()
  for (const event of ['error', 'close'])
    socket.on(event, () => {
      isOver = true
      over.resolve()
    })
  const key = randomBytes(16).toString('base64')
  const head = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', `Sec-WebSocket-Key: ${key}`]
  socket.write(
    [`GET ${path} HTTP/1.1`, `Host: ${hostname}:${port}`, `Authorization: Bearer ${bearer}`, ...head, '', ''].join(
      '\r\n',
    ),
  )
  await expect.poll(() => answer).toContain('101 Switching')
  let written = 0
  for (const frame of frames) {
    if (isOver) break
    await Promise.race([over.promise, new Promise((resolve) => socket.write(frame, resolve))])
    written += frame.byteLength
  }
  await over.promise
  return { written, answer }
}

const MiB = 1024 * 1024
const GiB = 1024 * MiB

function frameHead(first: number, length: number): Buffer {
  const head = Buffer.alloc(14)
  head[0] = first
  head[1] = 0xff
  head.writeBigUInt64BE(BigInt(length), 2)
  return head
}

function* oneOfAGigabyte(): Generator<Buffer> {
  yield frameHead(0x82, GiB)
  for (let sent = 0; sent < GiB; sent += MiB) yield Buffer.alloc(MiB)
}

function* manyOfOneMessage(): Generator<Buffer> {
  for (let sent = 0; sent < GiB; sent += MiB) {
    yield frameHead(sent === 0 ? 0x02 : 0x00, MiB)
    yield Buffer.alloc(MiB)
  }
}

test('a runner that sends a gigabyte in one message is cut off: the service grows by little, and others are served meanwhile', async () => {
  const bearer = readFileSync(join(folder, 'state', 'runner-token'), 'utf8').trim()
  const pool = new WebSocket(`${service.url.replace('http', 'ws')}/api/runners/socket`, {
    headers: { authorization: `Bearer ${bearer}` },
  } as never)
  const opened: { id: number; params: { path: string; ticket: string } }[] = []
  pool.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data))
    if (message.method !== 'conversation/open') return
    opened.push(message)
    pool.send(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: {} }))
  })
  onTestFinished(() => pool.close())
  await new Promise((resolve) => pool.addEventListener('open', resolve))
  const liar = {
    id: 'f'.repeat(32),
    name: 'liar',
    labels: ['liar'],
    version: '1',
    os: 'linux',
    arch: 'x64',
    capacity: 9,
    isolation: 'none',
    network: 'all',
    tools: [],
  }
  pool.send(
    JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'runner/hello',
      params: { wire: 1, runner: liar, holds: [], clock: Date.now() },
    }),
  )
  const other = await started('?agent=ShellAgent')
  await run(other, 'true')
  for (const frames of [oneOfAGigabyte, manyOfOneMessage]) {
    const before = opened.length
    const path = await started('?agent=ShellAgent&runtime=runner&labels=liar')
    await call(`${path}/events`, { method: 'POST', body: { action: 'message', args: { content: 'true' } } })
    await expect.poll(() => opened.length).toBeGreaterThan(before)
    const { params } = opened.at(-1) as (typeof opened)[number]
    const small = memoryOfService()
    let most = small
    const watching = setInterval(() => (most = Math.max(most, memoryOfService())), 50)
    onTestFinished(() => clearInterval(watching))
    const [{ written, answer }, meanwhile] = await Promise.all([
      flood(params.path, params.ticket, frames()),
      run(other, 'echo served'),
    ])
    clearInterval(watching)
    expect(meanwhile.content).toBe('served')
    // A goodbye with its reason.
    expect(answer).toContain('Message is too large')
    expect(written).toBeLessThan(128 * MiB)
    expect(most - small).toBeLessThan(128 * MiB)
  }
  expect((await run(other, 'echo still')).content).toBe('still')
})

/** What the processes of the service hold of the machine's memory, with the one in front. */
function memoryOfService(): number {
  const host = service.hostPid()
  const all = listProcesses()
  const front = all.find(({ pid }) => pid === host)?.parent
  const own = all.filter(({ pid, group }) => group === host || pid === front)
  return own.reduce((sum, { pid }) => sum + Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096, 0)
}
