// A runner that is gone for a moment: it is asked to come again, and what was to be begun is begun then.

import { abortAllDurableObjects } from 'cloudflare:test'
import { expect, test } from 'vitest'
import { client } from '../helpers/app.ts'
import { startConversation } from '../helpers/conversation.ts'
import { lentConversation, outcome, say } from '../helpers/lent-conversation.ts'
import { type Behaviour, joinedRunner } from '../helpers/stand-in-runner.ts'

const silent: Behaviour = () => null

test('without a runner that might come back the first command says at once that there is none', async () => {
  const chat = await startConversation({}, await client(), '?runtime=runner')
  await chat.settled()
  await say(chat, 'nobody')
  expect((await outcome(chat)).content).toMatch(/^No runner is connected/)
})

test('a runner that knows no ticket any more is asked to come, and the command goes on', async () => {
  const { chat, runner } = await lentConversation(silent)
  await say(chat, 'long')
  await expect.poll(() => runner.started.length).toBe(1)
  const key = runner.started[0]?.key ?? ''
  runner.welcome = null
  runner.line?.close()
  await expect.poll(() => runner.opened.length).toBeGreaterThan(1)
  await expect.poll(() => runner.welcome).not.toBe(null)
  await runner.finish(key, { output: 'asked to come' })
  expect((await outcome(chat)).content).toBe('asked to come')
  expect(runner.started.length).toBe(1)
})

test('a command for which a runner was still looked for when the service crashed is begun afterwards, once', async () => {
  const { chat, runner } = await lentConversation(({ text }) => ({ output: text }))
  await say(chat, 'first')
  expect((await outcome(chat)).content).toBe('first')
  runner.isWilling = false
  runner.line?.close()
  const runtime = async () => (await (await chat.owner.ask(`${chat.path}/config`)).json()) as { runtime_id: unknown }
  await expect.poll(async () => (await runtime()).runtime_id).toBe(null)
  await say(chat, 'second')
  await expect.poll(() => runner.opened.length).toBe(2)
  await abortAllDurableObjects()
  runner.isWilling = true
  await runner.connect()
  expect((await outcome(chat, 2)).content).toBe('second')
  expect(runner.started.map(({ text }) => text)).toEqual(['first', 'second'])
  await chat.settled()
})

test('the first command of a conversation waits for the runners that a restart of the service cut off', async () => {
  const owner = await client()
  const runner = await joinedRunner(owner.owner, ({ text }) => ({ output: text }))
  await abortAllDurableObjects()
  runner.pool?.close()
  const chat = await startConversation({}, owner, '?runtime=runner')
  await chat.settled()
  await say(chat, 'patient')
  const runners = async () => (await owner.json<{ runners: { state: string }[] }>('/api/runners')).runners
  expect((await runners()).map(({ state }) => state)).toEqual(['gone'])
  expect((await chat.events()).some(({ observation }) => observation === 'error')).toBe(false)
  await runner.connect()
  expect((await outcome(chat)).content).toBe('patient')
})

test('a conversation without labels leaves the runner with labels to those that need it, and who finds it full is told of the labels', async () => {
  const owner = await client()
  const special = await joinedRunner(owner.owner, () => ({ output: 'special' }), { labels: ['gpu'], capacity: 1 })
  await joinedRunner(owner.owner, () => ({ output: 'plain' }), { labels: [], capacity: 1 })
  const commands = ['', '', '?runtime=runner&labels=gpu']
  const outputs: string[] = []
  for (const query of commands) {
    const chat = await startConversation({}, owner, query)
    await say(chat, 'where')
    outputs.push(String((await outcome(chat)).content))
  }
  expect(outputs.slice(0, 2)).toEqual(['plain', 'special'])
  expect(outputs[2]).toMatch(/^All connected runners with the labels gpu are busy/)
  expect(special.started).toHaveLength(1)
})

test('a runner that was away tells the outcome that was given up, once and without its files, while another one has the conversation', async () => {
  const { chat, owner, runner } = await lentConversation(silent)
  await say(chat, 'npm test')
  await expect.poll(() => runner.started.length).toBe(1)
  const key = runner.started[0]?.key ?? ''
  runner.output(key, 'before\n')
  await expect.poll(() => runner.acks.length).toBe(1)
  const other = await joinedRunner(owner.owner, ({ text }) => ({ output: text }), { name: 'other' })
  runner.isWilling = false
  runner.pool?.close()
  runner.line?.close()
  expect((await outcome(chat)).content).toMatch(
    /^The runner stand-in was lost while this ran.* told then\. Its output until then:\nbefore\n$/s,
  )
  await say(chat, 'next')
  expect((await outcome(chat, 2)).content).toBe('next')
  expect(other.started.map(({ text }) => text)).toEqual(['next'])
  await runner.reconnect()
  expect(runner.welcome).toMatchObject({ stored: null })
  runner.tree.set('made-there', { kind: 'file', text: 'elsewhere' })
  const begin = { transfer: 1, epoch: '', base: 0, revision: 1 }
  expect(await runner.line?.ask('transfer/begin', begin)).toMatchObject({ error: { code: -32004 } })
  runner.tree.clear()
  await runner.finish(key, { output: 'after\n', exitCode: 3 })
  const late = async () =>
    (await chat.events()).filter(({ action, args }) => action === 'think' && /given up/.test(String(args?.thought)))
  await expect.poll(async () => (await late()).length).toBe(1)
  expect((await late())[0]).toMatchObject({ source: 'environment' })
  expect((await late())[0]?.args?.thought).toBe(
    'The runner stand-in is back and tells how this came out, which was given up: "npm test". It has ended with exit code 3. It was not run again. What it changed since then is not in the workspace, which went on without it.\nIt printed since then:\nafter',
  )
  await runner.finish(key, { exitCode: 3 })
  expect((await late()).length).toBe(1)
  expect(runner.started.length).toBe(1)
  // With nothing left to tell its ticket opens nothing.
  await expect(runner.reconnect()).rejects.toThrow('401')
})

test('a runner whose disk is full is told of, gets nothing to run, and the whole tree when there is room again', async () => {
  const { chat, owner, runner } = await lentConversation(({ text }) => ({ output: text }))
  await say(chat, 'one')
  expect((await outcome(chat)).content).toBe('one')
  runner.isFull = true
  const body = new FormData()
  body.append('files', new File(['added'], 'added.txt'))
  expect((await chat.owner.ask(`${chat.path}/upload-files`, { method: 'POST', body })).status).toBe(200)
  for (const [count, command] of [
    [2, 'two'],
    [3, 'three'],
  ] as const) {
    await say(chat, command)
    expect((await outcome(chat, count)).content).toMatch(/^The disk of the runner takes nothing more/)
  }
  runner.isFull = false
  await say(chat, 'four')
  expect((await outcome(chat, 4)).content).toBe('four')
  expect(runner.started.map(({ text }) => text)).toEqual(['one', 'four'])
  expect([runner.tree.get('added.txt')?.text, runner.transfers.at(-1)?.whole]).toEqual(['added', true])

  runner.isFull = true
  const second = await startConversation({}, owner, '?runtime=runner')
  await say(second, 'where')
  expect((await outcome(second)).content).toMatch(/^The disk of the runner that is free is full\. Make room/)
})

test('a runner that is ending keeps what it runs, is shown with how many that are, and what is new goes to another one', async () => {
  const { chat, owner, runner } = await lentConversation(({ text }) => (text === 'long' ? null : { output: text }))
  const second = await startConversation({}, owner)
  await say(second, 'short')
  expect((await outcome(second)).content).toBe('short')
  await say(chat, 'long')
  await expect.poll(() => runner.started.length).toBe(2)
  type Row = { id: string; state: string; conversations: number; capacity: number }
  const row = async () =>
    (await owner.json<{ runners: Row[] }>('/api/runners')).runners.find(({ id }) => id === runner.id)
  expect(await row()).toMatchObject({ state: 'connected', conversations: 2, capacity: 2 })
  runner.pool?.send({ jsonrpc: '2.0', method: 'runner/draining', params: { conversations: 2 } })
  await expect.poll(row).toMatchObject({ state: 'draining', conversations: 2, capacity: 2 })
  // It has let the idle one go.
  runner.pool?.send({ jsonrpc: '2.0', method: 'runner/draining', params: { conversations: 1 } })
  await expect.poll(row).toMatchObject({ state: 'draining', conversations: 1, capacity: 2 })
  const other = await joinedRunner(owner.owner, ({ text }) => ({ output: text }), { name: 'other' })
  const third = await startConversation({}, owner)
  await say(third, 'new')
  expect((await outcome(third)).content).toBe('new')
  expect(other.started.map(({ text }) => text)).toEqual(['new'])
  await runner.finish(runner.started[1]?.key ?? '', { output: 'came to its end' })
  expect((await outcome(chat)).content).toBe('came to its end')
  // It comes again as what it was.
  await runner.connect()
  expect(await row()).toMatchObject({ state: 'connected', conversations: 2 })
})

test('a pool whose only runner is ending has none, and is not busy', async () => {
  const owner = await client()
  const runner = await joinedRunner(owner.owner, silent)
  runner.pool?.send({ jsonrpc: '2.0', method: 'runner/draining', params: {} })
  const states = async () =>
    (await owner.json<{ runners: { state: string }[] }>('/api/runners')).runners.map(({ state }) => state)
  await expect.poll(states).toEqual(['draining'])
  const chat = await startConversation({}, owner, '?runtime=runner')
  await say(chat, 'where')
  expect((await outcome(chat)).content).toMatch(/^No runner is connected/)
})

test('a long command whose connection breaks again and again, and is back each time, is followed to its end', async () => {
  const { chat, runner } = await lentConversation(silent)
  await say(chat, 'long')
  await expect.poll(() => runner.started.length).toBe(1)
  const key = runner.started[0]?.key ?? ''
  for (let times = 0; times < 8; times++) {
    runner.output(key, `${times}\n`)
    await expect.poll(() => runner.acks).toContain(`output:${key} ${times}`)
    runner.line?.close()
    await runner.reconnect()
  }
  await runner.finish(key, { output: 'the end' })
  expect((await outcome(chat)).content).toBe('0\n1\n2\n3\n4\n5\n6\n7\nthe end')
  expect(runner.started.length).toBe(1)
})
