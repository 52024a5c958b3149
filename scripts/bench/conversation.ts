// A conversation of the benchmark's own, over HTTP as any client makes one.

import type { Stage } from './stage.ts'

export type Conversation = {
  readonly path: string
  post(action: string, args: object): Promise<void>
  newest(): Promise<string>
}

export async function startConversation({ worker }: Stage): Promise<Conversation> {
  const ask = async (path: string, body?: object): Promise<string> => {
    const answer = await fetch(`http://127.0.0.1:${worker.port}${path}`, {
      headers: { 'x-session-api-key': worker.key, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`)
    return text
  }
  const made = JSON.parse(await ask('/api/conversations', {})) as { conversation_id: string }
  const path = `/api/conversations/${made.conversation_id}`
  return {
    path,
    post: async (action, args) => void (await ask(`${path}/events`, { action, args })),
    newest: async () => {
      const page = JSON.parse(await ask(`${path}/events?reverse=true&limit=1`)) as { events: unknown[] }
      return JSON.stringify(page.events[0])
    },
  }
}
