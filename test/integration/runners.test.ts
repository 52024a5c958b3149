// A conversation whose commands run on a runner: the copy of its files, its calls, and what is left when something is lost.

import { abortAllDurableObjects } from 'cloudflare:test'
import { describe, expect, test } from 'vitest'
import { startAgent, untilSaid } from '../helpers/agent.ts'
import { client, request } from '../helpers/app.ts'
import { type Chat, startConversation } from '../helpers/conversation.ts'
import { lentConversation, outcome, say } from '../helpers/lent-conversation.ts'
import { type Behaviour, joinedRunner, StandInRunner } from '../helpers/stand-in-runner.ts'
import type { ScriptedReply } from '../support/scripted-model-orders.ts'

const silent: Behaviour = () => null

const file = async (chat: Chat, name: string) => (await chat.owner.ask(`${chat.path}/select-file?file=${name}`)).json()

describe('who may connect', () => {
  test('a key of another scope, no key, a web page and a request that is no upgrade are refused', async () => {
    const { key } = await client()
    const runnerKey = (await client({ scopes: ['runner'] })).key
    const open = async (headers: Record<string, string>) => (await request('/api/runners/socket', { headers })).status
    const upgrade = { upgrade: 'websocket' }
    expect(await open(upgrade)).toBe(401)
    expect(await open({ ...upgrade, authorization: `Bearer ${key}` })).toBe(403)
    expect(await open({ ...upgrade, authorization: `Bearer ${runnerKey}`, origin: 'https://evil.test' })).toBe(403)
    expect(await open({ authorization: `Bearer ${runnerKey}` })).toBe(426)
  })

  test('a runner key opens nothing else, and stands alone', async () => {
    const { ask } = await client({ scopes: ['runner'] })
    for (const path of [
      '/api/conversations',
      '/api/usage',
      '/api/runners',
      '/api/v1/analysis/tasks',
      '/api/session',
      '/api/options/models',
    ]) {
      expect([path, (await ask(path)).status]).toEqual([path, 403])
    }
    await expect(client({ scopes: ['runner', 'conversations'] })).rejects.toThrow(/422/)
  })

  test('a ticket opens its own conversation alone, and a wrong one nothing', async () => {
    const { chat, runner, owner } = await lentConversation(() => ({ output: 'x' }))
    await say(chat, 'true')
    await outcome(chat)
    const other = await startConversation({}, owner)
    const ticket = String(runner.opened[0]?.ticket)
    const open = async (path: string, bearer: string) =>
      (await request(`${path}/runner`, { headers: { upgrade: 'websocket', authorization: `Bearer ${bearer}` } })).status
    expect(await open(other.path, ticket)).toBe(401)
    expect(await open(chat.path, `${ticket.slice(0, -1)}${ticket.endsWith('A') ? 'B' : 'A'}`)).toBe(401)
    expect(await open(chat.path, 'bwr_x.y')).toBe(401)
  })

  test('the list tells what a runner can do, and one that is let go is closed and forgotten', async () => {
    const owner = await client()
    const runner = await joinedRunner(owner.owner, silent, { name: 'laptop', labels: ['gpu'] })
    const list = () => owner.json<{ runners: Record<string, unknown>[] }>('/api/runners')
    expect((await list()).runners).toMatchObject([
      {
        id: runner.id,
        name: 'laptop',
        labels: ['gpu'],
        state: 'connected',
        conversations: 0,
        tools: [{ name: 'bash' }],
      },
    ])
    expect((await owner.ask(`/api/runners/${runner.id}`, { method: 'DELETE' })).status).toBe(200)
    await expect.poll(() => runner.pool?.closed?.code).toBe(1008)
    expect((await list()).runners).toEqual([])
    expect((await owner.ask(`/api/runners/${runner.id}`, { method: 'DELETE' })).status).toBe(404)
    const stranger = await client()
    expect(await stranger.json('/api/runners')).toEqual({ runners: [] })
  })

  test('the copy of a deleted conversation is erased, also when its runner was away', async () => {
    const { chat, runner, owner } = await lentConversation(() => ({ output: '' }))
    await say(chat, 'true')
    await outcome(chat)
    expect((await owner.ask(chat.path, { method: 'DELETE' })).status).toBe(200)
    await expect.poll(() => runner.closings.at(-1)).toEqual({ conversation: chat.id, erase: true })
    const away = await joinedRunner(owner.owner, silent, {}, [chat.id])
    await expect.poll(() => away.closings).toEqual([{ conversation: chat.id, erase: true }])
  })

  test('a copy that a runner kept when it let the conversation go is erased with the conversation', async () => {
    const { chat, runner, owner } = await lentConversation(() => ({ output: '' }))
    await say(chat, 'true')
    await outcome(chat)
    expect((await owner.ask(`${chat.path}/stop`, { method: 'POST' })).status).toBe(200)
    await expect.poll(() => runner.closings).toEqual([{ conversation: chat.id, erase: false }])
    expect((await owner.ask(chat.path, { method: 'DELETE' })).status).toBe(200)
    await expect.poll(() => runner.closings.at(-1)).toEqual({ conversation: chat.id, erase: true })
  })

  test('another version of the wire is refused by name', async () => {
    const { key } = await client({ scopes: ['runner'] })
    const runner = new StandInRunner(key, silent)
    await runner.connect()
    const answer = await runner.pool?.ask('runner/hello', { wire: 1, runner: {}, holds: [], clock: 0 })
    expect(answer).toMatchObject({ error: { code: -32602 } })
    // Its description may be one that this version does not know.
    for (const wire of [0, 99]) {
      expect(await runner.pool?.ask('runner/hello', { wire, machine: 'new' })).toMatchObject({
        error: {
          code: -32001,
          message: `this service speaks version 1 of the wire and the runner ${wire}: install the release that belongs to it`,
          data: { supported: [1] },
        },
      })
    }
    expect(await runner.pool?.ask('no/method', {})).toMatchObject({ error: { code: -32601 } })
  })

  test('a revoked key closes its runner and the conversations that it had', async () => {
    const owner = await client()
    const { key, keyId } = await client({ owner: owner.owner, scopes: ['runner'] })
    const runner = new StandInRunner(key, () => ({ output: 'ok' }))
    await runner.connect()
    const chat = await startConversation({}, owner)
    await say(chat, 'true')
    await outcome(chat)
    const root = { 'x-session-api-key': 'root-key-for-tests-0123456789abcdef' }
    expect((await request(`/api/keys/${keyId}`, { method: 'DELETE', headers: root })).status).toBe(200)
    await expect.poll(() => [runner.pool?.closed?.code, runner.line?.closed?.code]).toEqual([1008, 1008])
  })
})

describe('commands', () => {
  test('a command gets the files, runs once, and its output and changes are the conversation’s', async () => {
    const { chat, runner } = await lentConversation((call, tree) => {
      tree.set('made', { kind: 'directory' })
      tree.set('made/by.txt', { kind: 'file', text: `by ${call.text}`, mode: 0o755 })
      tree.set('link', { kind: 'symlink', target: 'made/by.txt' })
      tree.delete('old.txt')
      return { output: '\u001b[32mgreen\u001b[0m\r\n10%\r50%\r100%\n', exitCode: 3, cwd: '/workspace/made' }
    })
    await chat.owner.ask(`${chat.path}/upload-files`, {
      method: 'POST',
      body: uploaded({ 'old.txt': 'old', 'kept.txt': 'kept' }),
    })
    await say(chat, 'make it')
    const run = await outcome(chat)
    expect(run.content).toBe('green\n100%')
    expect(run.extras?.metadata).toMatchObject({
      exit_code: 3,
      username: 'agent',
      hostname: 'sandbox',
      working_dir: '/workspace/made',
      py_interpreter_path: '/usr/bin/python3',
    })
    expect(runner.started.map(({ text, kind }) => [kind, text])).toEqual([['run', 'make it']])
    expect(runner.tree.get('kept.txt')).toMatchObject({ kind: 'file', text: 'kept' })
    expect(await file(chat, 'made/by.txt')).toMatchObject({ code: 'by make it' })
    expect(await file(chat, 'link')).toMatchObject({ code: 'by make it' })
    expect((await chat.owner.ask(`${chat.path}/select-file?file=old.txt`)).status).not.toBe(200)
  })

  test('only what changed goes down before the next command', async () => {
    const { chat, runner } = await lentConversation(() => ({ output: 'ok' }))
    const files = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`f${i}.txt`, `content ${i}`]))
    await chat.owner.ask(`${chat.path}/upload-files`, { method: 'POST', body: uploaded(files) })
    await say(chat, 'one')
    await outcome(chat, 1)
    await chat.owner.ask(`${chat.path}/upload-files`, { method: 'POST', body: uploaded({ 'f7.txt': 'changed' }) })
    await say(chat, 'two')
    await outcome(chat, 2)
    await say(chat, 'three')
    await outcome(chat, 3)
    expect(runner.transfers[0]).toEqual({ whole: true, entries: 300 })
    expect(runner.transfers.slice(1).map(({ whole, entries }) => whole || entries > 3)).toEqual([false])
    expect(runner.tree.get('f7.txt')?.text).toBe('changed')
  })

  test('a runner that is at the conversation before the answer of the pool is waited for', async () => {
    const owner = await client()
    const runner = await joinedRunner(owner.owner, () => ({ output: 'on the runner' }))
    runner.isHasty = true
    const chat = await startConversation({}, owner)
    await say(chat, 'where')
    expect((await outcome(chat)).content).toBe('on the runner')
    expect(runner.opened.length).toBe(1)
  })

  test('a file of many frames arrives whole in both directions', async () => {
    // More than two windows of frames.
    const large = 'x'.repeat(700_000) + 'y'.repeat(9_300_000)
    const { chat, runner } = await lentConversation((_, tree) => {
      tree.set('copy.txt', { kind: 'file', text: `${tree.get('big.txt')?.text?.length}` })
      return { output: '' }
    })
    await chat.owner.ask(`${chat.path}/upload-files`, { method: 'POST', body: uploaded({ 'big.txt': large }) })
    await say(chat, 'copy')
    const { observation, message } = await outcome(chat)
    expect([observation, message, runner.transfers.map(({ whole }) => whole)]).toMatchObject([
      'run',
      expect.any(String),
      [true],
    ])
    const came = runner.tree.get('big.txt')?.text ?? ''
    expect([came.length, came.slice(0, 5), came.slice(-5)]).toEqual([large.length, 'xxxxx', 'yyyyy'])
    expect(came === large).toBe(true)
    expect(await file(chat, 'copy.txt')).toMatchObject({ code: String(large.length) })
  })

  test('a command that goes on answers with what there is, and the next call follows it', async () => {
    const { chat, runner } = await lentConversation((call) =>
      call.kind === 'run' ? { output: 'begun', exitCode: -1, state: 'quiet' } : { output: 'done' },
    )
    await say(chat, 'sleep 60')
    const first = await outcome(chat)
    expect(first.extras?.metadata).toMatchObject({ exit_code: -1, suffix: expect.stringContaining('no new output') })
    await say(chat, 'C-c')
    expect((await outcome(chat, 2)).content).toBe('done')
    expect(runner.started.map(({ kind, text }) => [kind, text])).toEqual([
      ['run', 'sleep 60'],
      ['input', 'C-c'],
    ])
  })

  test('a call that names no time ends when its command is quiet; one that names one waits for so long, ten minutes at most', async () => {
    const owner = await client()
    const runner = await joinedRunner(owner.owner, () => ({ output: 'ok' }))
    const bash = (id: string, timeout?: number): ScriptedReply => ({
      calls: [{ id, name: 'execute_bash', arguments: { command: id, ...(timeout === undefined ? {} : { timeout }) } }],
    })
    const replies = [bash('none'), bash('short', 5), bash('long', 100_000), { text: 'done' }]
    const chat = await startAgent({ owner, replies, body: { initial_user_msg: 'go' } })
    await untilSaid(chat, 'done')
    expect(runner.started.map(({ text, quietMs, softMs }) => [text, quietMs < softMs, softMs])).toEqual([
      ['none', true, 120_000],
      ['short', false, 5_000],
      ['long', false, 600_000],
    ])
  })

  test('secrets go along as environment and are masked in what comes back', async () => {
    const owner = await client()
    await owner.ask('/api/secrets', { method: 'POST', body: { name: 'TOKEN', value: 'very-secret-value' } })
    const runner = await joinedRunner(owner.owner, ({ env: given }) => ({ output: `token ${given.TOKEN}` }))
    const chat = await startConversation({}, owner)
    await say(chat, 'echo $TOKEN')
    const run = await outcome(chat)
    expect(runner.started[0]?.env.TOKEN).toBe('very-secret-value')
    expect(run.content).not.toContain('very-secret-value')
  })

  test('stop interrupts the command on the runner', async () => {
    const { chat, runner } = await lentConversation(silent)
    await say(chat, 'sleep 1000')
    await expect.poll(() => runner.started.length).toBe(1)
    const key = runner.started[0]?.key ?? ''
    await chat.post('change_agent_state', { agent_state: 'stopped' })
    await expect.poll(() => runner.stopped).toEqual([key])
    await runner.finish(key, { output: 'interrupted', exitCode: 130 })
    expect((await outcome(chat)).content).toContain('stopped')
  })
})

describe('what is lost on the way', () => {
  test('a connection that breaks in a command costs neither the command nor a byte of its output', async () => {
    const { chat, runner } = await lentConversation(silent)
    await say(chat, 'long')
    await expect.poll(() => runner.started.length).toBe(1)
    const key = runner.started[0]?.key ?? ''
    runner.output(key, 'one ')
    // What was not acknowledged a runner would send again.
    await expect.poll(() => runner.acks).toContain(`output:${key} 0`)
    runner.line?.close()
    await runner.reconnect()
    runner.output(key, 'two')
    await runner.finish(key, {})
    expect((await outcome(chat)).content).toBe('one two')
    expect(runner.started.length).toBe(1)
  })

  test('a crash of the service in a command costs nothing, and its end is told once', async () => {
    const { chat, runner } = await lentConversation(silent)
    await say(chat, 'long')
    await expect.poll(() => runner.started.length).toBe(1)
    const key = runner.started[0]?.key ?? ''
    runner.output(key, 'before ')
    await expect.poll(() => runner.acks).toContain(`output:${key} 0`)
    await abortAllDurableObjects()
    await runner.reconnect()
    runner.output(key, 'after')
    runner.tree.set('late.txt', { kind: 'file', text: 'late' })
    await runner.finish(key, { exitCode: 7 })
    const run = await outcome(chat)
    expect(run.content).toBe('before after')
    expect(run.extras?.metadata).toMatchObject({ exit_code: 7 })
    expect(runner.started.length).toBe(1)
    expect(await file(chat, 'late.txt')).toMatchObject({ code: 'late' })
    await chat.settled()
  })

  test('a call that the runner does not know any more has an unknown outcome and is not run again', async () => {
    const { chat, runner } = await lentConversation(silent)
    await say(chat, 'long')
    await expect.poll(() => runner.started.length).toBe(1)
    runner.forgets = true
    runner.line?.close()
    await runner.reconnect()
    const run = await outcome(chat)
    expect(run.content).toMatch(/outcome is unknown/i)
    expect(runner.started.length).toBe(1)
  })

  test('an answer that was lost after an upward transfer does not undo a later edit', async () => {
    const { chat, runner } = await lentConversation((call, tree) => {
      if (call.text === 'write') tree.set('a.txt', { kind: 'file', text: 'from the runner' })
      return { output: '' }
    })
    await say(chat, 'write')
    await outcome(chat)
    const before = runner.state
    // As if the runner had not heard: it is one revision behind and is told so.
    runner.state = before && { ...before, revision: before.revision - 1 }
    runner.line?.close()
    await chat.owner.ask(`${chat.path}/upload-files`, { method: 'POST', body: uploaded({ 'a.txt': 'edited' }) })
    await runner.reconnect()
    expect(runner.welcome?.stored).toMatchObject({ revision: before?.revision })
    await say(chat, 'again')
    await outcome(chat, 2)
    expect(await file(chat, 'a.txt')).toMatchObject({ code: 'edited' })
    expect(runner.tree.get('a.txt')?.text).toBe('edited')
  })
})

test('an end that is told again does not undo what was edited meanwhile', async () => {
  const { chat, runner } = await lentConversation((_, tree) => {
    tree.set('a.txt', { kind: 'file', text: 'from the runner' })
    return { output: '' }
  })
  await say(chat, 'write')
  await outcome(chat)
  await chat.owner.ask(`${chat.path}/upload-files`, { method: 'POST', body: uploaded({ 'a.txt': 'edited' }) })
  runner.forgetSent('a.txt')
  const again = await runner.finish(runner.started[0]?.key ?? '', {})
  expect(again.error).toBeUndefined()
  expect(await file(chat, 'a.txt')).toMatchObject({ code: 'edited' })
})

describe('a runner that lies', () => {
  const frames: Record<string, (runner: StandInRunner) => void> = {
    'a path outside': (runner) =>
      send(runner, [{ path: '../../etc/passwd', kind: 'file', size: 1, offset: 0, length: 1 }], 1),
    'an absolute path': (runner) =>
      send(runner, [{ path: '/etc/passwd', kind: 'file', size: 1, offset: 0, length: 1 }], 1),
    'more bytes than its entries': (runner) =>
      send(runner, [{ path: 'a', kind: 'file', size: 1, offset: 0, length: 1 }], 9),
    'a piece beyond the end': (runner) => send(runner, [{ path: 'a', kind: 'file', size: 1, offset: 1, length: 1 }], 1),
    'a gap in its frames': (runner) => runner.line?.sendFrame({ t: 'files', transfer: 9, seq: 4, entries: [] }),
    'output with a gap': (runner) => runner.line?.sendFrame({ t: 'output', key: runner.started[0]?.key, seq: 44 }),
    'no head': (runner) => runner.line?.sendFrame({ t: 'nothing' }),
  }
  for (const [name, lie] of Object.entries(frames)) {
    test(`is let go: ${name}`, async () => {
      const { chat, runner } = await lentConversation(silent)
      await say(chat, 'true')
      await expect.poll(() => runner.started.length).toBe(1)
      const { epoch = '', revision = 0 } = runner.state ?? {}
      await runner.line?.ask('transfer/begin', { transfer: 9, epoch, base: revision, revision: revision + 1 })
      lie(runner)
      await expect.poll(() => runner.line?.closed?.code).toBe(1008)
    })
  }

  test('a file below a link is refused by name and nothing is written through it', async () => {
    const { chat } = await lentConversation((call, tree) => {
      if (call.text === 'link') tree.set('out', { kind: 'symlink', target: '/home/user' })
      else tree.set('out/planted.txt', { kind: 'file', text: 'planted' })
      return { output: '' }
    })
    await say(chat, 'link')
    await outcome(chat, 1)
    await say(chat, 'plant')
    const run = await outcome(chat, 2)
    expect(run.extras?.metadata).toMatchObject({ suffix: expect.stringContaining('out/planted.txt') })
  })
})

function send(runner: StandInRunner, entries: Record<string, unknown>[], bytes: number): void {
  runner.line?.sendFrame({ t: 'files', transfer: 9, seq: 0, entries }, new Uint8Array(bytes))
}

function uploaded(files: Record<string, string>): FormData {
  const form = new FormData()
  for (const [name, text] of Object.entries(files)) form.append('files', new File([text], name))
  return form
}
