import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { EventLog } from '../../durable-objects/conversation/events/event-log.ts'
import { runAction } from '../../src/agent/actions.ts'
import type { NewEvent } from '../../src/agent/events.ts'
import { runObservation } from '../../src/agent/observations.ts'
import { conversation } from '../../src/bindings.ts'
import { inState, lastPrompt, startAgent, untilSaid } from '../helpers/agent.ts'
import { client, request } from '../helpers/app.ts'
import { type Chat, startConversation } from '../helpers/conversation.ts'
import type { StoredEvent } from '../helpers/sockets.ts'

const stubOf = (chat: Chat) => conversation(env, chat.owner.owner, chat.id)

/** Puts events into the log as if the agent had made them. */
async function seed(chat: Chat, events: NewEvent[]): Promise<void> {
  await chat.settled()
  await runInDurableObject(stubOf(chat), (_, { storage }) => {
    new EventLog(storage.sql).append(events)
  })
  // The object must read its log again.
  await evictDurableObject(stubOf(chat))
}

const think = (thought: string): NewEvent => ({ source: 'agent', message: thought, action: 'think', args: { thought } })
const browsed: NewEvent = {
  source: 'agent',
  message: 'page',
  observation: 'browse',
  content: 'page',
  extras: { url: 'u', screenshot: 'x'.repeat(1000), tabs: [{ dom_object: {}, title: 't' }], error: false },
}

async function allEvents(chat: Chat): Promise<StoredEvent[]> {
  const events: StoredEvent[] = []
  for (;;) {
    const page = await chat.events(`?limit=100&start_id=${events.length}`)
    events.push(...page)
    if (page.length < 100) return events
  }
}

test('a trajectory is every visible event in order, without browser data, and the same after an eviction', async () => {
  const chat = await startConversation()
  const hidden = runAction('agent', 'cat secret', { hidden: true })
  const result = { command: 'cat secret', output: 'x', exitCode: 0, workingDir: '/workspace', hidden: true }
  await seed(chat, [think('one'), hidden, runObservation('agent', 5, result), browsed, think('two')])
  const response = await chat.owner.ask(`${chat.path}/trajectory`)
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json'])
  const { trajectory } = await response.json<{ trajectory: StoredEvent[] }>()
  const expected = (await allEvents(chat)).filter(({ args, extras }) => !args?.hidden && !extras?.hidden)
  expect(trajectory.map(({ id }) => id)).toEqual(expected.map(({ id }) => id))
  expect(trajectory.find(({ observation }) => observation === 'browse')?.extras).toEqual({
    url: 'u',
    tabs: [{ title: 't' }],
    error: false,
  })
  const others = ({ observation }: StoredEvent) => observation !== 'browse'
  expect(trajectory.filter(others)).toEqual(expected.filter(others))
  await evictDurableObject(stubOf(chat))
  expect(await chat.owner.json(`${chat.path}/trajectory`)).toEqual({ trajectory })
})

test('a conversation of 5,000 events comes in pieces, none of them large, each event once', async () => {
  const chat = await startConversation()
  await chat.settled()
  const before = (await chat.events()).length
  await seed(
    chat,
    Array.from({ length: 5_000 }, (_, i) => think(`thought ${i} ${'z'.repeat(400)}`)),
  )
  const response = await chat.owner.ask(`${chat.path}/trajectory`)
  const decoder = new TextDecoder()
  let text = ''
  let largest = 0
  let pieces = 0
  for await (const chunk of response.body ?? []) {
    largest = Math.max(largest, chunk.byteLength)
    pieces++
    text += decoder.decode(chunk, { stream: true })
  }
  const { trajectory } = JSON.parse(text) as { trajectory: StoredEvent[] }
  expect(trajectory.map(({ id }) => id)).toEqual(Array.from({ length: before + 5_000 }, (_, id) => id))
  expect(pieces).toBeGreaterThan(8)
  expect(largest).toBeLessThan(400_000)
})

/** The object's namespace, where readings of the log are counted and the nth fails. */
function failingAt(nth: number, counted = { reads: 0 }): Record<string, string> {
  const CONVERSATION = {
    idFromName: (name: string) => env.CONVERSATION.idFromName(name),
    get: (id: DurableObjectId) => {
      const stub = env.CONVERSATION.get(id)
      return {
        summary: () => stub.summary(),
        readEvents: (after: number) => {
          counted.reads += 1
          return counted.reads === nth ? Promise.reject(new Error('the disk is gone')) : stub.readEvents(after)
        },
      }
    },
  }
  return { CONVERSATION } as unknown as Record<string, string>
}

test('a failure before the first byte is told, and one after it breaks the answer off', async () => {
  const chat = await startConversation()
  await seed(
    chat,
    Array.from({ length: 2_000 }, (_, i) => think(`thought ${i} ${'z'.repeat(400)}`)),
  )
  const headers = { 'x-session-api-key': chat.owner.key }
  const refused = await request(`${chat.path}/trajectory`, { headers }, failingAt(1))
  expect([refused.status, await refused.json()]).toEqual([
    500,
    { error: 'The events cannot be read', trajectory: null },
  ])
  const broken = await request(`${chat.path}/trajectory`, { headers }, failingAt(2))
  expect(broken.status).toBe(200)
  await expect(broken.text()).rejects.toThrow()
})

test('a log is read only as far as somebody takes it', async () => {
  const chat = await startConversation()
  await seed(
    chat,
    Array.from({ length: 3_000 }, (_, i) => think(`thought ${i} ${'z'.repeat(900)}`)),
  )
  const counted = { reads: 0 }
  const headers = { 'x-session-api-key': chat.owner.key }
  const response = await request(`${chat.path}/trajectory`, { headers }, failingAt(Number.NaN, counted))
  const reader = response.body?.getReader()
  await reader?.read()
  await scheduler.wait(200)
  expect(counted.reads).toBeLessThan(4)
  await reader?.cancel()
  const whole = await request(`${chat.path}/trajectory`, { headers }, failingAt(Number.NaN, counted))
  await whole.text()
  expect(counted.reads).toBeGreaterThan(10)
})

test('the remember prompt is made of up to four events ending at the one that is named and five after it', async () => {
  const chat = await startConversation()
  await chat.settled()
  const first = (await chat.events()).length
  const state = (agent_state: string): NewEvent => ({
    source: 'environment',
    message: '',
    observation: 'agent_state_changed',
    content: '',
    extras: { agent_state, reason: '' },
  })
  const nothing: NewEvent = { source: 'environment', message: '', observation: 'null', content: '', extras: {} }
  const hidden = runAction('agent', 'hidden', { hidden: true })
  const steps = Array.from({ length: 14 }, (_, i) => think(`thought ${i}`))
  await seed(chat, [...steps.slice(0, 6), state('running'), nothing, hidden, ...steps.slice(6)])
  const ask = async (id: number | string) => {
    const response = await chat.owner.ask(`${chat.path}/remember-prompt?event_id=${id}`)
    return [response.status, await response.json<{ prompt: string }>()] as const
  }
  const thoughts = async (id: number) => (await ask(id))[1].prompt.match(/(?<=")thought \d+(?=")/g) ?? []
  const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => `thought ${from + i}`)
  expect(await thoughts(first + 5)).toEqual(range(2, 10))
  // The state change, the null and the hidden event count for nothing, also when they are named.
  for (const id of [6, 7, 8]) expect(await thoughts(first + id)).toEqual(range(2, 10))
  expect(await thoughts(first + 9)).toEqual(range(3, 11))
  expect(await thoughts(first + 16)).toEqual(range(10, 13))
  const [status, answer] = await ask(first + 5)
  expect([status, Object.keys(answer)]).toEqual([200, ['status', 'prompt']])
  expect(answer).toMatchObject({ status: 'success' })
  await evictDurableObject(stubOf(chat))
  expect(await ask(first + 5)).toEqual([200, answer])

  for (const id of [first + 17, -1, '99999999999999999999']) {
    const [code, body] = await ask(id)
    expect([code, Object.keys(body)]).toEqual([404, ['error']])
  }
  for (const id of ['', 'five', '1.5']) expect((await ask(id))[0]).toBe(422)
  expect((await chat.owner.ask(`${chat.path}/remember-prompt`)).status).toBe(422)
})

test('a model writes the remember prompt where there is one; where it gives none, it is made by code', async () => {
  const owner = await client()
  await owner.ask('/api/secrets', { method: 'POST', body: { name: 'KEY', value: 'hush-canary-7c1e' } })
  const chat = await startAgent({
    owner,
    replies: [
      { text: 'The tests run with make check.' },
      { text: 'Well.\n<update_prompt>\nNote: make check, not hush-canary-7c1e.\n</update_prompt>' },
      { text: 'I would rather not.' },
      { status: 400, body: { error: { message: 'no' } } },
    ],
    body: { initial_user_msg: 'how are tests run?', conversation_id: 'remembered' },
  })
  await untilSaid(chat, 'The tests run with make check.')
  await inState(chat, 'awaiting_user_input')
  const { id } = (await chat.events()).find(({ message }) => message === 'The tests run with make check.') ?? { id: -1 }
  const prompt = async () =>
    (await owner.json<{ prompt: string }>(`${chat.path}/remember-prompt?event_id=${id}`)).prompt
  expect(await prompt()).toBe('Note: make check, not <secret_hidden>.')
  const question = JSON.stringify(await lastPrompt(chat))
  expect(question).toMatch(/update_prompt.*how are tests run.*make check/s)
  for (let i = 0; i < 2; i++) expect(await prompt()).toMatch(/^Update the notes of this project.*make check/s)
  // Nobody else sees anything of it.
  expect(JSON.stringify(await chat.events())).not.toContain('rather not')
})
