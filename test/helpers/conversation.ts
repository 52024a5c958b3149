import { expect } from 'vitest'
import { type Client, client, request } from './app.ts'
import { type IoSocket, ioSocket, type StoredEvent, type TestSocket, testSocket } from './sockets.ts'

export type Chat = {
  id: string
  owner: Client
  path: string
  connect(query?: string, options?: { answersChecks?: boolean }): Promise<TestSocket>
  /** Over Socket.IO; joins if `after` is given. `query` is added to the client's usual parameters. */
  connectIo(after?: number, query?: Record<string, string>): Promise<IoSocket>
  events(query?: string): Promise<StoredEvent[]>
  /** Resolves when the agent waits for the user. */
  settled(): Promise<void>
  post(action: string, args: Record<string, unknown>): Promise<Response>
}

/** A conversation of a new owner. `query` is that of the request, such as `?runtime=edge`. */
export async function startConversation(body: Record<string, unknown> = {}, owner?: Client, query = ''): Promise<Chat> {
  const by = owner ?? (await client())
  const made = await by.json<{ conversation_id: string }>(`/api/conversations${query}`, { method: 'POST', body })
  const id = made.conversation_id
  if (id === undefined) throw new Error(`not created: ${JSON.stringify(made)}`)
  const path = `/api/conversations/${id}`
  const events = async (query = '?limit=100') => {
    const page = await by.json<{ events: StoredEvent[] }>(`${path}/events${query}`)
    return page.events
  }
  return {
    id,
    owner: by,
    path,
    settled: () =>
      // The first command of a run loads the shell, which is slow on a busy machine.
      expect.poll(async () => isInState(await events(), 'awaiting_user_input')).toBe(true),
    connect: async (query = '', options) =>
      testSocket(await by.ask(`${path}/ws${query}`, { headers: { upgrade: 'websocket' } }), options),
    connectIo: async (after, query = {}) => {
      const socket = ioSocket(await openIo(by, { conversation_id: id, latest_event_id: String(after ?? -1), ...query }))
      if (after !== undefined) socket.send('40')
      return socket
    },
    events,
    post: (action, args) => by.ask(`${path}/events`, { method: 'POST', body: { action, args } }),
  }
}

/** The response to a Socket.IO client that opens its socket with this query. */
export function openIo(by: Client, query: Record<string, string>): Promise<Response> {
  const all = new URLSearchParams({ session_api_key: by.key, EIO: '4', transport: 'websocket', ...query })
  return request(`/socket.io/?${all}`, { headers: { upgrade: 'websocket' } })
}

/** Whether the newest state among the events is this one. */
export function isInState(events: StoredEvent[], state: string): boolean {
  return events.findLast(({ observation }) => observation === 'agent_state_changed')?.extras?.agent_state === state
}
