// An object may be put to sleep between any two requests. A whole conversation, told twice: left alone, and evicted before
// every step of it. Both have to be the same, answer for answer, with sockets open all the while.

import { evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { conversation } from '../../src/bindings.ts'
import { type Client, client } from '../helpers/app.ts'
import { openIo } from '../helpers/conversation.ts'
import { ioSocket, testSocket } from '../helpers/sockets.ts'

const ID = 'journey'
const PATH = `/api/conversations/${ID}`

/** What an answer says, without what is another every time. */
function told(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d\.\d{6}Z)?/g, '<date>')
    .replaceAll(/"(session_api_key|password|feedback_id)":"[^"]*"/g, '"$1":"<secret>"')
}

type Step = (by: Client) => Promise<unknown>

function call(method: string, tail: string, body?: unknown): Step {
  return async (by) => {
    const answer = await by.ask(`${PATH}${tail}`, { method, ...(body === undefined ? {} : { body }) })
    const type = answer.headers.get('content-type')
    const bytes = await answer.arrayBuffer()
    // An archive carries times, and is as long every time.
    const said = type === 'application/zip' ? bytes.byteLength : told(new TextDecoder().decode(bytes))
    return [tail, answer.status, type, said]
  }
}

const say = (content: string): Step => call('POST', '/events', { action: 'message', args: { content } })

/** Waits until the agent does nothing any more. */
const settled: Step = async (by) => {
  const states = async () => {
    const { events } = await by.json<{ events: { extras: { agent_state: string } }[] }>(
      `${PATH}/events?include_types=observation:agent_state_changed&reverse=true&limit=1`,
    )
    return events[0]?.extras.agent_state
  }
  await expect.poll(states).toBe('awaiting_user_input')
}

/** A command of the client's own changes no state that could tell of its end. */
const ran: Step = async (by) => {
  const outputs = async () => {
    const { events } = await by.json<{ events: { content: string }[] }>(`${PATH}/events?include_types=observation:run`)
    return events.map(({ content }) => content)
  }
  await expect.poll(outputs).toContain('once')
}

const upload: Step = async (by) => {
  const form = new FormData()
  form.append('files', new File(['one\ntwo\n'], 'notes.txt'))
  form.append('files', new File([new Uint8Array(1_200_000).fill(7)], 'large.bin'))
  const answer = await by.ask(`${PATH}/upload-files`, { method: 'POST', body: form })
  return [answer.status, await answer.text()]
}

/** The same action twice, as by a client that did not hear the first answer. */
const asked = { method: 'POST', body: { action: 'run', args: { command: 'echo once' } } }
const onceOnly: Step = async (by) => {
  const answer = await by.ask(`${PATH}/events`, { ...asked, headers: { 'idempotency-key': 'once' } })
  return [answer.status, await answer.text()]
}

const STEPS: readonly Step[] = [
  call('GET', ''),
  upload,
  call('GET', '/list-files'),
  call('GET', '/select-file?file=notes.txt'),
  say('mkdir -p src && echo "print(1)" > src/a.py && cd src && export WHERE=here && wc -l ../notes.txt'),
  settled,
  // What the shell remembers from one command to the next.
  say('pwd; echo $WHERE; cat a.py'),
  settled,
  call('GET', '/list-files?path=src'),
  call('GET', '/select-file?file=large.bin'),
  call('PATCH', '', { title: 'A journey' }),
  onceOnly,
  ran,
  onceOnly,
  ran,
  call('GET', '/events?limit=100'),
  call('GET', '/events?limit=3&reverse=true&exclude_types=agent_state_changed'),
  call('GET', '/events?query=PRINT(1)'),
  call('GET', '/remember-prompt?event_id=3'),
  call('GET', '/trajectory'),
  call('GET', '/zip-directory'),
  call('POST', '/submit-feedback', { polarity: 'positive' }),
  call('POST', '/events', { action: 'change_agent_state', args: { agent_state: 'paused' } }),
  call('POST', '/events', { action: 'change_agent_state', args: { agent_state: 'running' } }),
  settled,
  call('POST', '/events', { action: 'nonsense' }),
  call('POST', '/stop'),
  say('nobody listens'),
  call('GET', ''),
  call('POST', '/start', {}),
  settled,
  say('pwd; ls'),
  settled,
  call('GET', '/events?limit=100'),
]

async function journey(between: (by: Client) => Promise<void>): Promise<unknown[]> {
  const by = await client()
  const body = { conversation_id: ID, initial_user_msg: 'echo hello' }
  const transcript: unknown[] = [await by.json('/api/conversations', { method: 'POST', body })]
  // What the view of a Socket.IO client begins with depends on how far the agent is.
  await settled(by)
  const upgrade = { headers: { upgrade: 'websocket' } }
  const plain = testSocket(await by.ask(`${PATH}/ws`, upgrade))
  const io = ioSocket(await openIo(by, { conversation_id: ID, latest_event_id: '-1' }))
  io.send('40')
  for (const step of STEPS) {
    await between(by)
    transcript.push(await step(by))
  }
  await between(by)
  // Stopping has closed both; until then each has seen all of its view.
  await plain.until((s) => s.frames.at(-1)?.type === 'closed')
  await io.until(({ closed }) => closed !== null)
  transcript.push(
    told(JSON.stringify(plain.events())),
    io.events().map(({ id }) => id),
  )
  const back = testSocket(await by.ask(`${PATH}/ws?after=${plain.events().at(-1)?.id}`, upgrade))
  await back.until((s) => s.frames.some(({ type }) => type === 'ready'))
  await between(by)
  back.send({ ref: 'mine', action: 'run', args: { command: 'echo over the socket' } })
  await back.until((s) => s.frames.some(({ type }) => type === 'ack'))
  // A command of the client's own changes no state that could tell of its end.
  await back.until((s) => s.events().some(({ content }) => content === 'over the socket'))
  await between(by)
  back.send({ ref: 'mine', action: 'run', args: { command: 'echo over the socket' } })
  await back.until((s) => s.frames.filter(({ type }) => type === 'ack').length === 2)
  transcript.push(told(JSON.stringify(back.events())))
  for (const step of [call('DELETE', ''), call('DELETE', ''), call('GET', ''), call('GET', '/events')]) {
    await between(by)
    transcript.push(await step(by))
  }
  return transcript
}

test('a conversation that is evicted before every request answers like one that is left alone', async () => {
  const alone = await journey(async () => {})
  const evicted = await journey(async (by) => {
    const stub = conversation(env, by.owner, ID)
    // Some requests never reach it, and only what is awake can be evicted.
    await stub.summary()
    await evictDurableObject(stub)
  })
  expect(evicted.length).toBeGreaterThan(STEPS.length)
  for (const [i, answer] of evicted.entries()) expect(answer, `step ${i}`).toEqual(alone[i])
})
