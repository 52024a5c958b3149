// The live events of a conversation: every stored event exactly once and in order, even if the connection breaks. The
// next connection starts after the highest received id.

import { BellwetherError, isRecord, ServiceError, StreamClosed, Unreachable } from './errors.ts'
import { backoff, type Http, sleep } from './http.ts'
import { openSocket, type TextSocket } from './socket.ts'

export type Event = {
  id: number
  timestamp: string
  source: 'agent' | 'user' | 'environment'
  message: string
  action?: string
  args?: Record<string, unknown>
  observation?: string
  content?: string
  extras?: Record<string, unknown>
  cause?: number
  success?: boolean
}

/** The contents of a conversation: its events, and between them what the service only sends to live viewers. */
export type Frame =
  | { type: 'event'; event: Event }
  /** The following frames are live. */
  | { type: 'ready'; last_event_id: number }
  /** A piece of the model's text. A higher `attempt` starts the answer again. */
  | { type: 'delta'; kind: 'text' | 'reasoning' | 'call'; text: string; answer: number; attempt: number; name?: string }
  /** A piece of a command's output. */
  | { type: 'output'; action_id: number; text: string }
  | { type: 'status'; level?: string; id?: string; message: string }
  /** The connection broke and is being restored. */
  | { type: 'lost'; message: string }

export type FollowOptions = {
  /** The id of the last known event; -1, the default, for none. */
  after?: number
  /** Whether a stopped conversation is started; false by default. */
  start?: boolean
  signal?: AbortSignal
  /** How long a lost connection is retried without success; two minutes by default. */
  patienceMs?: number
}

const SHOWN: ReadonlySet<unknown> = new Set(['ready', 'delta', 'output', 'status'])
/** A connection without data for this time is checked, and dropped after the same time again. */
const QUIET_MS = 20_000

/** Follows the conversation until it ends, the caller leaves the loop, or `signal` is aborted. */
export async function* follow(http: Http, id: string, options: FollowOptions = {}): AsyncGenerator<Frame, void> {
  const { after = -1, signal, patienceMs = 120_000 } = options
  const left = new AbortController()
  const stop = signal === undefined ? left.signal : AbortSignal.any([signal, left.signal])
  const seen = { last: after }
  let brokenAt: number | null = null
  try {
    for (let tries = 0; !stop.aborted; tries += 1) {
      try {
        const socket = await openSocket(targetOf(http, id, { after: seen.last, start: options.start ?? false, stop }))
        for await (const frame of framesOf(socket, seen)) {
          tries = 0
          brokenAt = null
          yield frame
        }
        throw new Unreachable(http.url, new Error('connection lost'))
      } catch (error) {
        if (stop.aborted) return
        const isFirst = brokenAt === null
        brokenAt ??= Date.now()
        if (!isPassing(error) || Date.now() - brokenAt > patienceMs) throw error
        if (isFirst) yield { type: 'lost', message: error instanceof Error ? error.message : String(error) }
      }
      if (stop.aborted) return
      await sleep(backoff(tries), stop).catch(() => {})
    }
  } finally {
    left.abort()
  }
}

type StreamPosition = { after: number; start: boolean; stop: AbortSignal }

function targetOf(http: Http, id: string, { after, start, stop }: StreamPosition) {
  const query = new URLSearchParams({ after: String(after), start: String(start) })
  const url = `${http.url.replace(/^http/, 'ws')}/api/conversations/${encodeURIComponent(id)}/ws?${query}`
  return { url, headers: http.headers, key: http.key, signal: stop }
}

/** Ends with the connection; throws if another connection would fail too. */
async function* framesOf(socket: TextSocket, seen: { last: number }): AsyncGenerator<Frame, void> {
  const watch = watchOver(socket)
  try {
    for await (const text of socket.texts) {
      watch.heard()
      const frame: unknown = JSON.parse(text)
      if (!isRecord(frame)) continue
      if (frame.type === 'check') socket.send(text)
      else if (frame.type === 'closing') throw new StreamClosed(String(frame.reason))
      else if (SHOWN.has(frame.type)) yield frame as Frame
      else if (frame.type === 'events') {
        for (const event of frame.events as Event[]) {
          if (event.id <= seen.last) continue
          // A gap should not occur; if it does, a new connection sends the missing events.
          if (event.id !== seen.last + 1) return
          seen.last = event.id
          yield { type: 'event', event }
        }
      }
    }
  } finally {
    watch.end()
    socket.close()
  }
}

function watchOver(socket: TextSocket) {
  let quiet = 0
  const timer = setInterval(() => {
    quiet += 1
    if (quiet === 1) socket.send('{"type":"ping"}')
    if (quiet > 1) socket.close()
  }, QUIET_MS)
  return {
    heard: () => {
      quiet = 0
    },
    end: () => clearInterval(timer),
  }
}

function isPassing(error: unknown): boolean {
  if (error instanceof ServiceError) return error.status >= 500 || error.status === 429
  if (error instanceof StreamClosed) return /could not be checked|said too much/.test(error.message)
  return error instanceof BellwetherError || error instanceof SyntaxError
}
