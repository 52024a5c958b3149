// A runner that lies, or is wrong: what it says is refused by name, nothing is lost, and the turn goes on.

import { describe, expect, test } from 'vitest'
import { client, request } from '../helpers/app.ts'
import { type Chat, startConversation } from '../helpers/conversation.ts'
import { lentConversation, outcome, say } from '../helpers/lent-conversation.ts'
import { type Behaviour, joinedRunner, Line, StandInRunner } from '../helpers/stand-in-runner.ts'

const silent: Behaviour = () => null
const INVALID = -32602
const REFUSED = -32003
const WRONG_REVISION = -32004

const file = async (chat: Chat, name: string) => (await chat.owner.ask(`${chat.path}/select-file?file=${name}`)).json()

const description = (more: Record<string, unknown> = {}) => ({
  ...{ id: 'a'.repeat(32), name: 'n', labels: [], version: '1', os: 'linux', arch: 'x64', capacity: 1 },
  ...{ isolation: 'none', network: 'all', tools: [], ...more },
})

/** A conversation whose command has begun on the runner and goes on. */
async function begun(behaviour: Behaviour = silent) {
  const lent = await lentConversation(behaviour)
  await say(lent.chat, 'long')
  await expect.poll(() => lent.runner.started.length).toBe(1)
  const key = lent.runner.started[0]?.key ?? ''
  return { ...lent, key }
}

/** The command that was under way ends as if nothing had been, and so does another one. */
async function endsAsUsual({ chat, runner, key }: Awaited<ReturnType<typeof begun>>): Promise<void> {
  await runner.finish(key, { output: 'the end' })
  expect((await outcome(chat)).content).toBe('the end')
  runner.behaviour = () => ({ output: 'another' })
  await say(chat, 'another')
  expect((await outcome(chat, 2)).content).toBe('another')
  expect(runner.started.map(({ text }) => text)).toEqual(['long', 'another'])
}

describe('at the pool', () => {
  test('a description that cannot be is refused by the name of its part, and a true one on the same connection is taken', async () => {
    const owner = await client()
    const { key } = await client({ owner: owner.owner, scopes: ['runner'] })
    const socket = await request('/api/runners/socket', {
      headers: { upgrade: 'websocket', authorization: `Bearer ${key}` },
    })
    const line = new Line(socket, () => ({}))
    const hello = (more: Record<string, unknown>, rest: Record<string, unknown> = {}) =>
      line.ask('runner/hello', { wire: 1, runner: description(more), holds: [], clock: 0, ...rest })
    for (const [part, lie] of Object.entries({
      id: { id: '../../etc' },
      name: { name: '' },
      'name ': { name: 'turned\u202e' },
      labels: { labels: ['a b'] },
      'labels ': { labels: Array.from({ length: 33 }, (_, at) => `l${at}`) },
      capacity: { capacity: 0 },
      'capacity ': { capacity: 1e9 },
      isolation: { isolation: 'perfect' },
      tools: { tools: Array.from({ length: 65 }, () => ({ name: 'x', version: '1' })) },
    }))
      expect(await hello(lie)).toMatchObject({
        error: { code: INVALID, message: expect.stringContaining(part.trim()) },
      })
    for (const holds of [['x'.repeat(65)], Array.from({ length: 10_001 }, () => 'c')])
      expect(await hello({}, { holds })).toMatchObject({ error: { code: INVALID } })
    expect(await owner.json('/api/runners')).toEqual({ runners: [] })
    expect(await hello({})).toMatchObject({ result: { wire: 1 } })
    // The same once more is the same; another one is not.
    expect(await hello({ name: 'renamed' })).toMatchObject({ result: { wire: 1 } })
    expect(await hello({ id: 'b'.repeat(32) })).toMatchObject({ error: { code: REFUSED } })
    expect(await owner.json('/api/runners')).toMatchObject({ runners: [{ name: 'renamed', state: 'connected' }] })
  })

  test('one that says too much loses its connection, and one that names conversations which nobody has and goes is asked once', async () => {
    const owner = await client()
    const { key } = await client({ owner: owner.owner, scopes: ['runner'] })
    const open = async (asked: string[]) =>
      new Line(
        await request('/api/runners/socket', { headers: { upgrade: 'websocket', authorization: `Bearer ${key}` } }),
        (method) => {
          asked.push(method)
          return null
        },
      )
    const asked: string[] = []
    const line = await open(asked)
    const holds = Array.from({ length: 5_000 }, (_, at) => `made-up-${at}`)
    const hello = () => line.ask('runner/hello', { wire: 1, runner: description(), holds, clock: 0 })
    expect(await hello()).toMatchObject({ result: { wire: 1 } })
    for (let at = 0; at < 300; at++) void hello()
    await expect.poll(() => line.closed?.code).toBe(1008)
    expect(asked.length).toBeLessThan(100)
    // The owner's other machine notices nothing of it.
    expect(
      await (await open([])).ask('runner/hello', {
        wire: 1,
        runner: description({ id: 'b'.repeat(32) }),
        holds: [],
        clock: 0,
      }),
    ).toMatchObject({
      result: { wire: 1 },
    })
  })

  test('an older and a newer runner are told which version is spoken here, and their command that there is none', async () => {
    const owner = await client()
    const { key } = await client({ owner: owner.owner, scopes: ['runner'] })
    for (const wire of [0, 2]) {
      const runner = new StandInRunner(key, silent)
      runner.wire = wire
      expect(await runner.connect()).toMatchObject({
        error: { code: -32001, message: expect.stringContaining('install the release'), data: { supported: [1] } },
      })
    }
    const chat = await startConversation({}, owner, '?runtime=runner')
    await say(chat, 'true')
    expect((await outcome(chat)).content).toMatch(/^No runner is connected/)
  })

  test('of two processes with one id the later one is refused by name while the first one answers, and is let in afterwards', async () => {
    const { owner, runner, chat } = await lentConversation(({ text }) => ({ output: text }))
    const { key } = await client({ owner: owner.owner, scopes: ['runner'] })
    const twin = new StandInRunner(key, silent, { id: runner.id })
    twin.life = 'two'
    expect(await twin.connect()).toMatchObject({
      error: { code: REFUSED, message: expect.stringContaining('runner-id') },
    })
    expect(runner.pool?.closed).toBe(null)
    await say(chat, 'still here')
    expect((await outcome(chat)).content).toBe('still here')
    // The same process once more is no other one, and one that is dead makes way.
    expect(await runner.connect()).toMatchObject({ result: { wire: 1 } })
    if (runner.pool !== null) runner.pool.send = () => {}
    expect(await twin.connect()).toMatchObject({ result: { wire: 1 } })
    await expect.poll(() => runner.pool?.closed?.code).toBe(4001)
  })

  test('a full pool is told to the conversation that needs it, and one that becomes free is taken', async () => {
    const owner = await client()
    const runner = await joinedRunner(owner.owner, ({ text }) => ({ output: text }), { capacity: 1 })
    const first = await startConversation({}, owner)
    await say(first, 'first')
    expect((await outcome(first)).content).toBe('first')
    const second = await startConversation({}, owner, '?runtime=runner')
    await say(second, 'second')
    expect((await outcome(second)).content).toMatch(/^All connected runners are busy/)
    expect((await owner.ask(first.path, { method: 'DELETE' })).status).toBe(200)
    await expect.poll(() => runner.closings.length).toBe(1)
    await say(second, 'third')
    expect((await outcome(second, 2)).content).toBe('third')
  })

  for (const hours of [-8766, 30])
    test(`a clock that is ${hours} hours off changes nothing but the times of files`, async () => {
      const owner = await client()
      const { key } = await client({ owner: owner.owner, scopes: ['runner'] })
      const runner = new StandInRunner(key, (_, tree) => {
        for (const [name, mtime] of Object.entries({ off: hours * 3600_000, far: 1e300 * hours, odd: 0.5 }))
          tree.set(name, { kind: 'file', text: name, mtime: mtime + Date.now() })
        return { output: 'done' }
      })
      runner.clockOffMs = hours * 3600_000
      expect(await runner.connect()).toMatchObject({ result: { now: expect.any(Number) } })
      const chat = await startConversation({}, owner)
      await say(chat, 'touch')
      expect((await outcome(chat)).content).toBe('done')
      for (const name of ['off', 'far', 'odd']) expect(await file(chat, name)).toMatchObject({ code: name })
      expect((await chat.owner.ask(`${chat.path}/zip-directory`)).status).toBe(200)
      await chat.owner.ask(`/api/runners/${runner.id}`, { method: 'DELETE' })
      await expect.poll(() => runner.line?.closed).not.toBeNull()
      // The interpreter shows their times.
      await say(chat, 'ls -l --full-time; stat -c %y far')
      expect((await outcome(chat, 2)).extras?.metadata).toMatchObject({ exit_code: 0 })
    })
})

describe('in a command', () => {
  test('a hello of another version, of another runner and a second one are refused, and the command goes on', async () => {
    const lent = await begun()
    const { runner, chat } = lent
    const hello = (more: object) => ({ wire: 1, runner: runner.id, life: 'x', tree: null, calls: [], ...more })
    expect(await runner.line?.ask('session/hello', hello({}))).toMatchObject({ error: { code: -32600 } })
    for (const [more, code] of [
      [{ wire: 0 }, -32001],
      [{ wire: 2 }, -32001],
      [{ runner: 'f'.repeat(32) }, REFUSED],
      [{ tree: { epoch: 'e', revision: -1 } }, INVALID],
      [{ calls: Array.from({ length: 1001 }, () => ({ key: 'k', state: 'running' })) }, INVALID],
    ] as const) {
      const line = new Line(await opened(chat, String(runner.opened[0]?.ticket)), () => ({}))
      expect(await line.ask('session/hello', hello(more))).toMatchObject({ error: { code } })
    }
    await runner.reconnect()
    await endsAsUsual(lent)
  })

  test('of two connections with one ticket the later one counts; one that says nothing is replaced', async () => {
    const lent = await begun()
    const { chat, runner } = lent
    const first = runner.line
    const mute = new Line(await opened(chat, String(runner.opened[0]?.ticket)), () => ({}))
    await expect.poll(() => first?.closed?.code).toBe(1000)
    // The command waits for its runner, which is asked to come.
    await expect.poll(() => runner.opened.length).toBeGreaterThan(1)
    await expect.poll(() => mute.closed?.code).toBe(1000)
    await expect.poll(() => runner.line !== first && runner.welcome !== null).toBe(true)
    await endsAsUsual(lent)
  })

  test('wrong counts, revisions and sizes of a transfer are refused, and nothing of it is stored', async () => {
    const lent = await begun()
    const { chat, runner } = lent
    const { epoch = '', revision = 0 } = runner.state ?? {}
    const begin = (transfer: number, more: object = {}) =>
      runner.line?.ask('transfer/begin', { transfer, epoch, base: revision, revision: revision + 1, ...more })
    const commit = (transfer: number, frames: number, entries: number) =>
      runner.line?.ask('transfer/commit', { transfer, frames, entries })
    const one = { path: 'planted', kind: 'file', size: 1, offset: 0, length: 1 }
    const put = (transfer: number, entry: object, bytes = 1) =>
      runner.line?.sendFrame({ t: 'files', transfer, seq: 0, entries: [entry] }, new Uint8Array(bytes).fill(104))
    expect(await begin(50, { epoch: 'another' })).toMatchObject({ error: { code: WRONG_REVISION } })
    expect(await begin(50, { revision: -1 })).toMatchObject({ error: { code: INVALID } })
    expect(await commit(50, 0, 0)).toMatchObject({ error: { code: WRONG_REVISION } })
    await begin(51)
    put(51, one)
    for (const [frames, entries] of [
      [2, 1],
      [1, 2],
      [0, 0],
    ] as const)
      expect(await commit(51, frames, entries)).toMatchObject({ error: { code: INVALID } })
    expect(await commit(51, 1, 1_000_000)).toMatchObject({ error: { code: INVALID } })
    // Begun anew, it forgets what came before.
    await begin(52)
    put(52, { ...one, size: 1_000_000 })
    expect(await commit(52, 1, 0)).toMatchObject({
      error: { code: INVALID, message: 'this transfer ends within a file' },
    })
    await begin(53)
    put(53, { ...one, size: 2 ** 50 })
    expect(await commit(53, 1, 1)).toMatchObject({
      result: { refused: [{ path: 'planted', reason: 'the file is too large' }] },
    })
    await begin(54)
    put(54, { ...one, path: 'honest' })
    const stored = (await commit(54, 1, 1))?.result as { revision: number }
    // Told once more, it is what it was.
    expect((await commit(54, 1, 1))?.result).toMatchObject({ revision: stored.revision, refused: [] })
    if (runner.state !== null) runner.state = { epoch, revision: stored.revision }
    await endsAsUsual(lent)
    expect(await file(chat, 'honest')).toMatchObject({ code: 'h' })
    expect((await chat.owner.ask(`${chat.path}/select-file?file=planted`)).status).not.toBe(200)
  })

  test('ends of commands that were never begun, ends told twice and ends that are none change nothing', async () => {
    const lent = await begun()
    const { runner, key, chat } = lent
    const end = (more: object, of: object = {}) =>
      runner.line?.ask('call/ended', {
        key,
        transfer: null,
        outcome: {
          ...{ state: 'ended', text: '', exitCode: 0, cwd: '/workspace', user: 'u', host: 'h', interpreter: '' },
          ...{ outputBytes: 0, remarks: [], ...of },
        },
        ...more,
      })
    for (const of of [
      { state: 'perfect' },
      { exitCode: 0.5 },
      { text: 'x'.repeat(2001) },
      { cwd: 'x'.repeat(5000) },
      { outputBytes: -1 },
      { remarks: Array.from({ length: 21 }, () => '') },
      { left: Array.from({ length: 51 }, () => '') },
    ])
      expect([of, await end({}, of)]).toMatchObject([of, { error: { code: INVALID } }])
    expect(await end({ key: '../x' })).toMatchObject({ error: { code: INVALID } })
    expect(await end({ transfer: 77 })).toMatchObject({ error: { code: WRONG_REVISION } })
    const before = (await chat.events()).length
    for (const never of ['never-begun', `${key}0`])
      expect(await end({ key: never })).toMatchObject({ result: { refused: [] } })
    // Output of what was never begun is taken from the wire, and is nobody's.
    runner.output('never-begun', 'nobody asked')
    await expect.poll(() => runner.acks).toContain('output:never-begun 0')
    expect((await chat.events()).length).toBe(before)
    await endsAsUsual(lent)
    const told = (await chat.events()).length
    expect(await end({})).toMatchObject({ result: { refused: [] } })
    expect((await chat.events()).length).toBe(told)
  })

  test('what a machine says of its folder, user and programs is shown without characters that nobody sees', async () => {
    const lent = await begun()
    const { runner, key, chat } = lent
    const strange = '/etc/../../root\u001b]0;x\u0007\u202e'
    const outcomeOf = { state: 'ended', text: '', exitCode: 0, outputBytes: 0, remarks: [] }
    await runner.line?.ask('call/ended', {
      key,
      transfer: null,
      outcome: { ...outcomeOf, cwd: strange, user: 'u\nroot', host: 'h\u2028', interpreter: `\0${strange}` },
    })
    expect((await outcome(chat)).extras).toMatchObject({
      metadata: {
        working_dir: '/etc/../../root\uFFFD]0;x\uFFFD\uFFFD',
        username: 'u\uFFFDroot',
        hostname: 'h\uFFFD',
        py_interpreter_path: '\uFFFD/etc/../../root\uFFFD]0;x\uFFFD\uFFFD',
      },
    })
  })

  test('a runner that breaks the rules whenever it is asked is told of by name, with the rule, and the turn goes on', async () => {
    const lent = await begun()
    const { runner, key, chat } = lent
    for (let times = 0; times < 4; times++) {
      // A gap: pieces before it are missing.
      runner.line?.sendFrame({ t: 'output', key, seq: 70 }, new Uint8Array(3))
      await expect.poll(() => runner.line?.closed?.code).toBe(1008)
      if (times < 3) await runner.reconnect()
    }
    expect((await outcome(chat)).content).toMatch(
      /^The runner stand-in cannot be relied on: .*output with a gap.*outcome of this is unknown and it was not run again/,
    )
    expect(runner.started).toHaveLength(1)
  })

  const large: Record<string, (runner: StandInRunner) => void> = {
    'a frame of two megabytes': ({ line }) => line?.sendRaw(new Uint8Array(2 * 2 ** 20)),
    'a frame of 31 megabytes, the most that the platform takes': ({ line }) =>
      line?.sendRaw(new Uint8Array(31 * 2 ** 20)),
  }
  for (const [name, send] of Object.entries(large))
    test(`${name} closes the connection, and the command goes on over the next one`, async () => {
      const lent = await begun()
      send(lent.runner)
      await expect.poll(() => lent.runner.line?.closed?.code).toBe(1008)
      await lent.runner.reconnect()
      await endsAsUsual(lent)
    })

  test('texts that are too long or no messages are answered with an error, and the command goes on', async () => {
    const lent = await begun()
    const { line } = lent.runner
    for (const text of ['x'.repeat(2 * 2 ** 20), '{', '[]', '{"jsonrpc":"1.0","id":1,"method":"call/ended"}', 'null'])
      line?.sendRaw(text)
    await expect.poll(() => line?.errors.length).toBe(5)
    expect(line?.errors.every(({ code }) => code === -32600)).toBe(true)
    // Answers to what nobody asked.
    line?.send({ jsonrpc: '2.0', id: 999_999, result: {} })
    await endsAsUsual(lent)
  })
})

test('frames that are acknowledged before they are sent close the connection, and an honest runner gets the command or the next', async () => {
  const { chat, runner } = await lentConversation(({ text }) => ({ output: text }))
  runner.acknowledges = 'ahead'
  const form = new FormData()
  form.append('files', new File(['x'.repeat(3_000_000)], 'big.txt'))
  await chat.owner.ask(`${chat.path}/upload-files`, { method: 'POST', body: form })
  await say(chat, 'first')
  await expect.poll(() => runner.line?.closed).toMatchObject({ code: 1008 })
  runner.acknowledges = 'what came'
  await outcome(chat)
  await say(chat, 'second')
  expect((await outcome(chat, 2)).content).toBe('second')
  expect(runner.tree.get('big.txt')?.text?.length).toBe(3_000_000)
})

async function opened(chat: Chat, ticket: string): Promise<Response> {
  const headers = { upgrade: 'websocket', authorization: `Bearer ${ticket}` }
  return request(`${chat.path}/runner`, { headers })
}
