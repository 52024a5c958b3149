// P21: a conversation of a million events against one of a hundred, in the same Worker; and the replay of ten thousand.

import { ask, type Conversation, startConversation } from '../conversation.ts'
import { rawRequest } from '../requests.ts'
import type { Measurement } from '../rounds.ts'
import type { Stage } from '../stage.ts'
import { latency } from './http.ts'
import { PLAIN_MESSAGE, plainTarget } from './sockets.ts'

const LONG = 1_000_000
const SHORT = 100
/** Events of one call that fills. */
const STEP = 10_000
const NEWEST = 20
const OPENINGS = 40
const TAIL_MS = 500

type Filled = { conversation: Conversation; events: number }

export async function longConversation(stage: Stage): Promise<Measurement[]> {
  const worker = await stage.startWorker({ isSeeded: true })
  const on = { ...stage, worker }
  const [long, short] = [await filled(on, LONG), await filled(on, SHORT)]
  for (const { conversation } of [long, short]) {
    const target = plainTarget(worker, conversation)
    await stage.client.call('watch', { group: conversation.path, target, count: 1 })
  }
  return [opening(on, long, short), page(on, long, short), tail(on, long, short)]
}

/** Fills it and has it opened anew. Its text index is filled in the background once it is written to again. */
async function filled({ worker }: Stage, events: number): Promise<Filled> {
  const conversation = await startConversation({ worker })
  await conversation.post('change_agent_state', { agent_state: 'paused' })
  const id = conversation.path.split('/').at(-1)
  for (let done = 0; done < events; done += STEP) {
    await ask(worker, `/bench/events?id=${id}&count=${Math.min(STEP, events - done)}`)
  }
  await ask(worker, `/bench/reopen?id=${id}`)
  const newest = JSON.parse(await conversation.newest()) as { id: number }
  if (newest.id < events) throw new Error(`${events} events were to be stored, the newest is ${newest.id}`)
  return { conversation, events: newest.id + 1 }
}

function opening({ client, worker, measured }: Stage, long: Filled, short: Filled): Measurement {
  const open = ({ conversation, events }: Filled) =>
    measured(worker, async () => {
      const target = plainTarget(worker, conversation, String(events - NEWEST - 1))
      const { perSecond, clientCpu } = await client.call('replay', { target, events: NEWEST, times: OPENINGS })
      return { value: (NEWEST / perSecond) * 1000, requests: OPENINGS, clientCpu }
    })
  const what = `a socket that gets the newest ${NEWEST} of ${LONG} events, mean`
  return { row: 'P21', what, unit: 'ms', ours: () => open(long), baseline: () => open(short) }
}

function page(stage: Stage, long: Filled, short: Filled): Measurement {
  const { worker } = stage
  const middle = ({ conversation: { path }, events }: Filled) => ({
    side: worker,
    request: rawRequest(
      worker,
      { method: 'GET', path: `${path}/events?start_id=${Math.floor(events / 2)}` },
      worker.key,
    ),
  })
  return latency(stage, { row: 'P21', what: 'a page from the middle', ours: middle(long), baseline: middle(short) })
}

function tail({ client, worker, measured }: Stage, long: Filled, short: Filled): Measurement {
  const hear = ({ conversation }: Filled) =>
    measured(worker, async () => {
      const said = { group: conversation.path, publisher: plainTarget(worker, conversation), message: PLAIN_MESSAGE }
      const result = await client.call('fanOut', { ...said, burst: 1, durationMs: TAIL_MS })
      return { value: result.p50Ms, requests: result.bursts, clientCpu: result.clientCpu }
    })
  const what = 'an event from one socket to another, p50'
  return { row: 'P21', what, unit: 'ms', ours: () => hear(long), baseline: () => hear(short) }
}

const REPLAYED = 10_000
const REPLAYS = 5
const PAGE = 100

/** A client that connects again, against an object that sends its rows as stored and tracks no clients. */
export async function replayed(stage: Stage): Promise<Measurement[]> {
  const worker = await stage.startWorker({ isSeeded: true })
  const { conversation } = await filled({ ...stage, worker }, REPLAYED)
  const raw = stage.small['raw-log']
  for (let first = 0; first < REPLAYED; first += PAGE) {
    const path = `${conversation.path}/events?start_id=${first}&limit=${PAGE}`
    const { events } = JSON.parse(await ask(worker, path)) as { events: unknown[] }
    const body = JSON.stringify(events.map((event) => JSON.stringify(event)))
    const request = rawRequest(raw, { method: 'POST', path: '/fill', body }, null)
    await stage.client.call('ask', { port: raw.port, request })
  }
  const last = JSON.parse(await conversation.newest()) as { id: number }
  const target = plainTarget(worker, conversation, String(last.id - REPLAYED))
  const theirs = { port: raw.port, path: '/ws?replay', headers: '', protocol: 'plain' } as const
  const job = { events: REPLAYED, times: REPLAYS }
  const measure = (side: typeof raw, to: typeof target) =>
    stage.measured(side, async () => {
      const { perSecond, clientCpu } = await stage.client.call('replay', { target: to, ...job })
      return { value: perSecond, requests: REPLAYED * REPLAYS, clientCpu }
    })
  return [
    {
      row: 'replay',
      what: `${REPLAYED} events to a client that comes back`,
      unit: '/s',
      ours: () => measure(worker, target),
      baseline: () => measure(raw, theirs),
    },
  ]
}
