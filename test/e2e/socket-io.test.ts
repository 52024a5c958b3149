// The real client of Socket.IO against the real service, as an existing web client would use it.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { io, type ManagerOptions, type Socket, type SocketOptions } from 'socket.io-client'
import { expect, onTestFinished, test } from 'vitest'
import { startService } from '../../scripts/start/service.ts'
import { VARIABLES } from '../../src/config.ts'

/** What the person who runs the tests has set must not decide them. */
const CLEAN = Object.fromEntries(VARIABLES.map(({ name }) => [name, undefined]))
const PATIENCE_MS = 60_000

type SocketEvent = {
  id?: number
  action?: string
  observation?: string
  content?: string
  error?: boolean
  message: string
  args?: { content?: string }
  extras?: { agent_state?: string }
}

type Follower = {
  socket: Socket
  seen: SocketEvent[]
  /** What happened to the connection, in order. */
  log: string[]
  until(what: string, condition: () => boolean): Promise<void>
}

/** A client that asks, on each reconnect, for what comes after the last frame that it got. */
function follow(url: string, query: Record<string, string>, options: Partial<ManagerOptions & SocketOptions> = {}) {
  const socket = io(url, { transports: ['websocket'], reconnectionDelay: 200, forceNew: true, query, ...options })
  onTestFinished(() => void socket.disconnect())
  const seen: SocketEvent[] = []
  const log: string[] = []
  let changed = () => {}
  const note = (line: string) => {
    log.push(line)
    changed()
  }
  socket.on('oh_event', (object: SocketEvent) => {
    seen.push(object)
    if (object.id !== undefined) socket.io.opts.query = { ...query, latest_event_id: String(object.id) }
    changed()
  })
  socket.on('connect', () => note('connect'))
  socket.on('disconnect', (reason) => note(`disconnect: ${reason}`))
  socket.on('connect_error', (error) => note(`connect_error: ${error.message}`))
  const until = async (what: string, condition: () => boolean) => {
    const deadline = Date.now() + PATIENCE_MS
    while (!condition()) {
      const left = deadline - Date.now()
      if (left <= 0) throw new Error(`waited in vain for ${what}; ${log.join(', ')}; ${JSON.stringify(seen.slice(-5))}`)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left)
        changed = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }
  return { socket, seen, log, until } satisfies Follower
}

const isWaiting = ({ seen }: Follower) =>
  seen.findLast(({ observation }) => observation === 'agent_state_changed')?.extras?.agent_state ===
  'awaiting_user_input'

const saw = ({ seen }: Follower, output: string) => seen.some(({ content }) => content === output)

test('the real client works, comes back after a crash to exactly what it missed, and hears every refusal', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-socket-io-'))
  const service = await startService({ stateDir, env: CLEAN })
  onTestFinished(() => service.stop())
  const post = async (path: string, body: object) => {
    const reply = await fetch(`${service.url}/api/conversations${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect(reply.status).toBe(200)
    return (await reply.json()) as { conversation_id: string }
  }
  const { conversation_id } = await post('', { initial_user_msg: 'echo one' })
  const query = { latest_event_id: '-1', conversation_id, providers_set: 'github,gitlab', session_api_key: 'null' }

  const follower = follow(service.url, query)
  await follower.until('the first answer', () => saw(follower, 'one') && isWaiting(follower))
  const ack: unknown = await follower.socket
    .timeout(PATIENCE_MS)
    .emitWithAck('oh_user_action', { action: 'message', args: { content: 'echo two', image_urls: [], file_urls: [] } })
  await follower.until('the second answer', () => saw(follower, 'two') && isWaiting(follower))
  const mine = follower.seen.find(({ action, args }) => action === 'message' && args?.content === 'echo two')
  expect(ack).toEqual({ success: true, event_id: mine?.id })

  follower.socket.emit('oh_user_action', new Uint8Array([1, 2, 3]))
  await follower.until('a refusal of the binary packet', () => follower.seen.some(({ error }) => error === true))

  expect(service.kill9Runtime()).toBeGreaterThan(0)
  await follower.until('the loss of the connection', () => follower.log.includes('disconnect: transport close'))
  await follower.until('the reconnect', () => follower.log.at(-1) === 'connect')
  follower.socket.emit('oh_user_action', { action: 'message', args: { content: 'echo three' } })
  await follower.until('the third answer', () => saw(follower, 'three') && isWaiting(follower))

  const page = await fetch(`${service.url}/api/conversations/${conversation_id}/events?limit=100`)
  const { events } = (await page.json()) as { events: SocketEvent[] }
  const ids = follower.seen.flatMap(({ id }) => id ?? [])
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b))
  const isInEveryView = ({ action, observation }: SocketEvent) =>
    ['message', 'run'].includes(action ?? observation ?? '')
  const expected = events.filter(isInEveryView).map(({ id }) => id)
  expect(expected.length).toBe(9)
  expect(ids).toEqual(expect.arrayContaining(expected))

  await refusals(service.url, query)

  await post(`/${conversation_id}/stop`, {})
  await follower.until('the dismissal', () => follower.log.at(-1) === 'disconnect: io server disconnect')
  expect(follower.seen.at(-1)?.extras?.agent_state).toBe('stopped')
  expect(follower.socket.active).toBe(false)
  await service.stop()
  rmSync(stateDir, { recursive: true })
})

/** Each client hears why it may not join; only the one that can expect better tries again by itself. */
async function refusals(url: string, query: Record<string, string>): Promise<void> {
  const unknown = follow(url, { ...query, conversation_id: 'nobody-made-this' })
  await unknown.until('a refusal', () => unknown.log.length > 0)
  expect(unknown.log).toEqual(['connect_error: Conversation not found'])
  expect(unknown.socket.active).toBe(false)

  const foreign = io(`${url}/admin`, { transports: ['websocket'], query, forceNew: true })
  onTestFinished(() => void foreign.disconnect())
  const refused = await new Promise<Error>((resolve) => foreign.on('connect_error', resolve))
  expect(refused.message).toBe('Invalid namespace')

  // The default options begin with polling.
  const polling = io(url, { query, forceNew: true, reconnection: false })
  onTestFinished(() => void polling.disconnect())
  const error = await new Promise<Error & { description?: unknown }>((resolve) => polling.on('connect_error', resolve))
  expect({ message: error.message, status: error.description }).toEqual({ message: 'xhr poll error', status: 400 })

  // With both, one after the other, it falls back to what works.
  const fallback = follow(url, query, { transports: ['polling', 'websocket'], tryAllTransports: true })
  await fallback.until('a fallback to the websocket', () => fallback.log.includes('connect'))
  fallback.socket.disconnect()
}
