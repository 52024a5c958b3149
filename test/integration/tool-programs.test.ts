// Tool servers that are programs, on a stand-in runner: started once, asked by turn after turn, and told of honestly when they or
// their runner are lost.

import { abortAllDurableObjects, evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { conversation } from '../../src/bindings.ts'
import { type AgentChat, inState, startAgent, untilSaid } from '../helpers/agent.ts'
import { client } from '../helpers/app.ts'
import { countingProgram, text } from '../helpers/stand-in-programs.ts'
import { joinedRunner, type StandInRunner } from '../helpers/stand-in-runner.ts'
import type { ScriptedReply } from '../support/scripted-model-orders.ts'

const KEY = 'key-of-the-counter-7351'
const COUNTER = { name: 'counter', command: 'npx', args: ['-y', 'counter'], env: { COUNTER_KEY: KEY } }
const only = (...stdio: unknown[]) => ({ sse_servers: [], stdio_servers: stdio, shttp_servers: [] })
const count = (id: string, args: Record<string, unknown> = {}): ScriptedReply => ({
  calls: [{ id, name: 'count', arguments: args }],
})

type Lent = { chat: AgentChat; runner: StandInRunner }

async function lentAgent(answers: (n: number, args: Record<string, unknown>) => unknown, replies: ScriptedReply[]) {
  const owner = await client()
  const runner = await joinedRunner(owner.owner, ({ text }) => ({ output: text }))
  runner.programs.program = countingProgram(answers)
  const body = { initial_user_msg: 'count', mcp_config: only(COUNTER) }
  return { runner, chat: await startAgent({ owner, replies, body }) } satisfies Lent
}

const results = async ({ chat }: Lent) =>
  (await chat.events()).flatMap(({ observation, content }) => (observation === 'mcp' ? [String(content)] : []))
const complaints = async (chat: AgentChat) =>
  (await chat.events()).flatMap(({ observation, content }) => (observation === 'error' ? [String(content)] : []))
const heard = ({ runner }: Lent, method: string) => runner.programs.heard.filter((message) => message.method === method)
const nameOf = ({ runner }: Lent) => String(runner.programs.started[0]?.name)
const line = ({ runner }: Lent) => {
  if (runner.line === null) throw new Error('not connected')
  return runner.line
}

test('a program is started once and keeps what it knows, from turn to turn and over evictions', async () => {
  const lent = await lentAgent((n) => text(`count ${n}`), [count('a'), { text: 'one' }, count('b'), { text: 'two' }])
  await untilSaid(lent.chat, 'one')
  await inState(lent.chat, 'awaiting_user_input')
  await evictDurableObject(conversation(env, lent.chat.owner.owner, lent.chat.id))
  await lent.chat.post('message', { content: 'again' })
  await untilSaid(lent.chat, 'two')
  expect(await results(lent)).toEqual([expect.stringContaining('count 1'), expect.stringContaining('count 2')])
  const { name, ...started } = lent.runner.programs.started[0] ?? {}
  expect(lent.runner.programs.started).toHaveLength(1)
  expect(started).toEqual({ command: 'npx', args: ['-y', 'counter'], env: { COUNTER_KEY: KEY } })
  expect(name).toMatch(/^stdio-[0-9a-f]{16}$/)
  expect(heard(lent, 'initialize')).toHaveLength(1)
  expect(heard(lent, 'notifications/initialized')).toHaveLength(1)
  expect(await complaints(lent.chat)).toEqual([])
})

test('several programs of one conversation are all started with its first message', async () => {
  const owner = await client()
  const runner = await joinedRunner(owner.owner, ({ text }) => ({ output: text }))
  runner.programs.program = countingProgram((n) => text(`count ${n}`))
  const named = ['first', 'second', 'third'].map((name) => ({ ...COUNTER, name, args: [name] }))
  const body = { initial_user_msg: 'count', mcp_config: only(...named) }
  const chat = await startAgent({ owner, replies: [{ text: 'done' }], body })
  await untilSaid(chat, 'done')
  expect(runner.programs.started.map(({ args }) => String(args)).sort()).toEqual(['first', 'second', 'third'])
  // Their one tool has one name, so only the first program's is offered.
  expect((await complaints(chat)).filter((told) => !told.includes('the name is taken'))).toEqual([])
})

test('a program that ends in a call is told of with its last words, without its secrets, and is started anew by the next', async () => {
  const lent = await lentAgent(
    (n, { dies }) => (dies === true ? undefined : text(`count ${n}`)),
    [count('a', { dies: true }), count('b'), { text: 'done' }],
  )
  await expect.poll(() => heard(lent, 'tools/call').length).toBe(1)
  lent.runner.programs.end(line(lent), { name: nameOf(lent), code: 3, stderr: `warning\nrefused ${KEY}\n` })
  await untilSaid(lent.chat, 'done')
  const [first, second] = await results(lent)
  expect(first).toContain('The program ended (exit code 3): warning')
  expect(first).toContain('"isError":true')
  expect(first).not.toContain(KEY)
  expect(second).toContain('count 1')
  expect(lent.runner.programs.started).toHaveLength(2)
  expect(heard(lent, 'initialize')).toHaveLength(2)
})

test('when the runner is started anew the call has an unknown outcome, and the next one a new program', async () => {
  const lent = await lentAgent(
    (n) => (n === 1 ? undefined : text(`count ${n}`)),
    [count('a'), count('b'), { text: 'done' }],
  )
  await expect.poll(() => heard(lent, 'tools/call').length).toBe(1)
  lent.runner.programs.program = countingProgram((n) => text(`anew ${n}`))
  lent.runner.life = 'two'
  line(lent).close()
  await lent.runner.reconnect()
  await untilSaid(lent.chat, 'done')
  const [first, second] = await results(lent)
  expect(first).toContain('What the call did is not known; it was not made again.')
  expect(second).toContain('anew 1')
  expect(lent.runner.programs.started).toHaveLength(2)
})

test('a runner that was started anew in a call and knows no ticket is asked to come, so that the call is over in seconds', async () => {
  const lent = await lentAgent(
    (n) => (n === 1 ? undefined : text(`count ${n}`)),
    [count('a'), count('b'), { text: 'done' }],
  )
  await expect.poll(() => heard(lent, 'tools/call').length).toBe(1)
  lent.runner.programs.program = countingProgram((n) => text(`anew ${n}`))
  lent.runner.life = 'two'
  line(lent).close()
  // The deadline of the call is 110 s.
  await untilSaid(lent.chat, 'done')
  const [first, second] = await results(lent)
  expect(first).toContain('What the call did is not known; it was not made again.')
  expect(second).toContain('anew 1')
})

test('a broken connection in a call costs nothing while the runner lives', async () => {
  const lent = await lentAgent((n) => (n === 1 ? undefined : text(`count ${n}`)), [count('a'), { text: 'done' }])
  await expect.poll(() => heard(lent, 'tools/call').length).toBe(1)
  line(lent).close()
  await lent.runner.reconnect()
  lent.runner.programs.print(line(lent), nameOf(lent), {
    jsonrpc: '2.0',
    id: heard(lent, 'tools/call')[0]?.id,
    result: text('kept'),
  })
  await untilSaid(lent.chat, 'done')
  expect(await results(lent)).toEqual([expect.stringContaining('kept')])
})

test('a call that the service crashes in is not made again, and its answer is learned, whenever it came', async () => {
  for (const when of ['before the crash', 'while nobody listens', 'afterwards']) {
    const lent = await lentAgent(
      (n) => (n === 1 ? undefined : text(`count ${n}`)),
      [count('a'), count('b'), { text: 'done' }],
    )
    await expect.poll(() => heard(lent, 'tools/call').length).toBe(1)
    const { programs } = lent.runner
    const answer = { jsonrpc: '2.0', id: heard(lent, 'tools/call')[0]?.id, result: text('kept') }
    const deaf = { send: () => undefined }
    // Told, and lost with the service that heard it.
    if (when === 'before the crash') programs.print(deaf, nameOf(lent), answer)
    await abortAllDurableObjects()
    if (when === 'while nobody listens') programs.print(deaf, nameOf(lent), answer)
    await lent.runner.reconnect()
    if (when === 'afterwards') programs.print(line(lent), nameOf(lent), answer)
    await untilSaid(lent.chat, 'done')
    expect([when, await results(lent)]).toEqual([
      when,
      [expect.stringContaining('kept'), expect.stringContaining('count 2')],
    ])
    expect(heard(lent, 'tools/call')).toHaveLength(2)
    expect(programs.started).toHaveLength(1)
    expect(await complaints(lent.chat)).toEqual([])
  }
})

test('a call that was lost on its way to the program is sent over the next connection, once', async () => {
  const lent = await lentAgent((n) => text(`count ${n}`), [count('a'), { text: 'one' }, count('b'), { text: 'two' }])
  await untilSaid(lent.chat, 'one')
  await inState(lent.chat, 'awaiting_user_input')
  const { programs } = lent.runner
  programs.isDeaf = true
  await lent.chat.post('message', { content: 'again' })
  await expect.poll(() => programs.missed).toBe(1)
  programs.isDeaf = false
  line(lent).close()
  await lent.runner.reconnect()
  await untilSaid(lent.chat, 'two')
  expect(await results(lent)).toEqual([expect.stringContaining('count 1'), expect.stringContaining('count 2')])
  expect(heard(lent, 'tools/call')).toHaveLength(2)
})

test('a program that a stop left in its call and that answers no ping is ended, and the next call starts it anew', async () => {
  const lent = await lentAgent(() => undefined, [count('a'), count('b'), { text: 'done' }])
  await expect.poll(() => heard(lent, 'tools/call').length).toBe(1)
  const { programs } = lent.runner
  programs.isDeaf = true
  programs.program = countingProgram((n) => text(`anew ${n}`))
  await lent.chat.post('change_agent_state', { agent_state: 'stopped' })
  await inState(lent.chat, 'stopped')
  await lent.chat.post('message', { content: 'again' })
  await untilSaid(lent.chat, 'done')
  expect(programs.stopped).toEqual([nameOf(lent)])
  expect(await results(lent)).toEqual([expect.stringContaining('anew 1')])
})

test('messages of megabytes arrive whole, both ways', async () => {
  const picture = 'iVBORw0K'.repeat(300_000)
  const long = 'é"\\\u{1f600}'.repeat(60_000)
  const lent = await lentAgent(
    (_, args) => ({
      content: [{ type: 'image', data: picture, mimeType: 'image/png' }, ...text(String(args.long === long)).content],
    }),
    [count('a', { long }), { text: 'done' }],
  )
  await untilSaid(lent.chat, 'done')
  const [result] = await results(lent)
  expect(result?.includes(picture)).toBe(true)
  expect(result?.slice(-200)).toContain('"text":"true"')
})

test('what a program prints beside the protocol does no harm, and it is answered when nobody waits for it', async () => {
  const lent = await lentAgent((n) => text(`count ${n}`), [count('a'), { text: 'one' }, count('b'), { text: 'two' }])
  const counting = lent.runner.programs.program
  lent.runner.programs.program = (message, print) => {
    for (const rubbish of ['Starting…', '{"half":', '[]', 'null', { jsonrpc: '2.0', id: 'other:1', result: {} }])
      print(rubbish)
    counting(message, print)
  }
  await untilSaid(lent.chat, 'one')
  await inState(lent.chat, 'awaiting_user_input')
  const { programs } = lent.runner
  programs.print(line(lent), nameOf(lent), { jsonrpc: '2.0', id: 71, method: 'ping' })
  programs.print(line(lent), nameOf(lent), { jsonrpc: '2.0', id: 72, method: 'sampling/createMessage', params: {} })
  await expect
    .poll(() => programs.heard.filter(({ id }) => id === 71 || id === 72))
    .toEqual([
      { jsonrpc: '2.0', id: 71, result: {} },
      { jsonrpc: '2.0', id: 72, error: { code: -32601, message: expect.any(String) } },
    ])
  await lent.chat.post('message', { content: 'again' })
  await untilSaid(lent.chat, 'two')
  expect(await results(lent)).toEqual([expect.stringContaining('count 1'), expect.stringContaining('count 2')])
})

test('a stop in a call tells the program by the id that it knows', async () => {
  const lent = await lentAgent(() => undefined, [count('a'), { text: 'never' }])
  await expect.poll(() => heard(lent, 'tools/call').length).toBe(1)
  await lent.chat.post('change_agent_state', { agent_state: 'stopped' })
  await inState(lent.chat, 'stopped')
  await expect
    .poll(() => heard(lent, 'notifications/cancelled')[0]?.params?.requestId)
    .toBe(heard(lent, 'tools/call')[0]?.id)
  expect(await results(lent)).toEqual([])
})

test('a program that the runner refuses is told of by name with the reason', async () => {
  const owner = await client()
  const runner = await joinedRunner(owner.owner, () => null)
  runner.programs.refusal = 'at most 16 tool servers'
  const body = { initial_user_msg: 'count', mcp_config: only(COUNTER) }
  const chat = await startAgent({ owner, replies: [{ text: 'done' }], body })
  await untilSaid(chat, 'done')
  expect((await complaints(chat))[0]).toBe(
    'The tool server counter: The runner does not start it: at most 16 tool servers',
  )
})

test('without a runner the clients are told how to get one, and when it came the tools are there with the next message', async () => {
  const owner = await client()
  const body = { initial_user_msg: 'count', mcp_config: only(COUNTER) }
  const replies = [{ text: 'one' }, { text: 'two' }, count('a'), { text: 'three' }]
  const chat = await startAgent({ owner, replies, body })
  await untilSaid(chat, 'one')
  await inState(chat, 'awaiting_user_input')
  const socket = await chat.connect()
  await socket.until((s) => s.frames.some(({ type }) => type === 'ready'))
  await chat.post('message', { content: 'still none' })
  await untilSaid(chat, 'two')
  await inState(chat, 'awaiting_user_input')
  const statuses = socket.frames.filter(({ id }) => id === 'STATUS$TOOL_SERVERS_NOT_RUN')
  expect(statuses).toEqual([expect.objectContaining({ message: expect.stringMatching(/counter.*npm run runner/) })])
  const runner = await joinedRunner(owner.owner, ({ text }) => ({ output: text }))
  runner.programs.program = countingProgram((n) => text(`count ${n}`))
  // That there is none is remembered for some seconds.
  await evictDurableObject(conversation(env, owner.owner, chat.id))
  await chat.post('message', { content: 'and now' })
  await untilSaid(chat, 'three')
  expect(await results({ chat, runner })).toEqual([expect.stringContaining('count 1')])
})

test('a program that the settings do not name any more is stopped; one whose variables changed is started again', async () => {
  const owner = await client()
  const runner = await joinedRunner(owner.owner, ({ text }) => ({ output: text }))
  runner.programs.program = countingProgram((n) => text(`count ${n}`))
  const other = { ...COUNTER, name: 'other' }
  const replies = [{ text: 'one' }, count('a'), { text: 'two' }]
  const settings = { mcp_config: only(COUNTER, other) }
  const chat = await startAgent({ owner, replies, settings, body: { initial_user_msg: 'hello' } })
  await untilSaid(chat, 'one')
  await inState(chat, 'awaiting_user_input')
  expect(runner.programs.started).toHaveLength(2)
  const changed = { mcp_config: only({ ...COUNTER, env: { COUNTER_KEY: 'another' } }) }
  expect((await owner.ask('/api/settings', { method: 'POST', body: changed })).status).toBe(200)
  await chat.post('message', { content: 'count' })
  await untilSaid(chat, 'two')
  expect(await results({ chat, runner })).toEqual([expect.stringContaining('count 1')])
  const [counter, second] = runner.programs.started
  await expect.poll(() => runner.programs.stopped).toEqual([second?.name])
  expect(runner.programs.started.slice(2)).toEqual([
    expect.objectContaining({ name: counter?.name, env: { COUNTER_KEY: 'another' } }),
  ])
})
