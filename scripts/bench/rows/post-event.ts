// P3: a message to a conversation that ten clients watch. Its agent is at work, so that the message is stored, sent and
// answered, and waits; what a command costs is no part of this.

import { setTimeout as sleep } from 'node:timers/promises'
import { type Conversation, startConversation } from '../conversation.ts'
import { keyHeader, rawRequest } from '../requests.ts'
import type { Measurement } from '../rounds.ts'
import type { Side, Stage } from '../stage.ts'
import { latency, throughput } from './http.ts'

const SOCKETS = 10
const MESSAGE = { content: 'grep -rn "a word" docs | sort | head -20', image_urls: null, file_urls: null }
/** A state that the agent reaches at once, with room for a slow machine. */
const PATIENCE_MS = 10_000

export async function postEvent(stage: Stage): Promise<Measurement[]> {
  const conversation = await startConversation(stage)
  await occupy(conversation)
  await conversation.post('message', MESSAGE)
  const body = JSON.stringify({ action: 'message', args: MESSAGE })
  const { worker, small } = stage
  const ours = watched(stage, worker, {
    request: rawRequest(worker, { method: 'POST', path: `${conversation.path}/events`, body }, worker.key),
    socket: { path: `${conversation.path}/ws?after=1000000000`, headers: keyHeader(worker.key) },
  })
  // The text that our sockets get is the text that this side inserts and sends.
  const text = `{"type":"events","events":[${await conversation.newest()}]}`
  const raw = small['raw-log']
  const baseline = watched(stage, raw, {
    request: rawRequest(raw, { method: 'POST', path: '/insert', body: text }, null),
    socket: { path: '/ws', headers: '' },
  })
  const routes = { row: 'P3', what: `POST of an event, ${SOCKETS} sockets`, ours, baseline }
  return [throughput(stage, routes), latency(stage, routes)]
}

async function occupy(conversation: Conversation): Promise<void> {
  await conversation.post('message', { content: 'sleep 600' })
  const deadline = performance.now() + PATIENCE_MS
  while (!(await conversation.newest()).includes('"action":"run"')) {
    if (performance.now() > deadline) throw new Error(`the agent did not begin: ${await conversation.newest()}`)
    await sleep(50)
  }
}

type Watched = { readonly request: string; readonly socket: { readonly path: string; readonly headers: string } }

/** A route whose every request must arrive at every socket, once, before the slice is over. */
function watched({ client }: Stage, side: Side, { request, socket }: Watched) {
  const group = `${side.port}`
  let expected: number | null = null
  return {
    side,
    request,
    prepare: async () => {
      if (expected !== null) return
      await client.call('watch', { group, target: { port: side.port, ...socket, protocol: 'plain' }, count: SOCKETS })
      expected = 0
    },
    settle: async (requests: number) => {
      expected = (expected ?? 0) + requests
      await client.call('settled', { group, events: expected })
    },
  }
}
