// A conversation of the benchmark's own, over HTTP as any client makes one.

import { setTimeout as sleep } from 'node:timers/promises'
import type { WorkerSide } from './stage.ts'

type Served = Pick<WorkerSide, 'port' | 'key'>

export type Conversation = {
  readonly path: string
  post(action: string, args: object): Promise<void>
  newest(): Promise<string>
}

/** The text of the answer; a POST when there is a body. */
export async function ask(worker: Served, path: string, body?: object): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${worker.port}${path}`, {
    headers: { 'x-session-api-key': worker.key, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`)
  return text
}

export async function startConversation({ worker }: { worker: Served }): Promise<Conversation> {
  const made = JSON.parse(await ask(worker, '/api/conversations', {})) as { conversation_id: string }
  const path = `/api/conversations/${made.conversation_id}`
  return {
    path,
    post: async (action, args) => void (await ask(worker, `${path}/events`, { action, args })),
    newest: async () => {
      const page = JSON.parse(await ask(worker, `${path}/events?reverse=true&limit=1`)) as { events: unknown[] }
      return JSON.stringify(page.events[0])
    },
  }
}

const COMMAND_TIMEOUT_MS = 300_000
const POLL_MS = 5

/** The command's observation, once it is there. */
export async function runCommand(conversation: Conversation, command: string): Promise<string> {
  await conversation.post('run', { command })
  const until = performance.now() + COMMAND_TIMEOUT_MS
  while (performance.now() < until) {
    const newest = await conversation.newest()
    if (newest.includes('"observation":"run"')) {
      if (!newest.includes('"exit_code":0')) throw new Error(`${command}: ${newest.slice(0, 500)}`)
      return newest
    }
    await sleep(POLL_MS)
  }
  throw new Error(`${command} did not end`)
}
