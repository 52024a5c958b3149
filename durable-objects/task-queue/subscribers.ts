// The open event streams: one hibernatable socket for each Worker that serves a stream, tagged with its owner. The text
// of the stream is made here once and sent to all of them; events of one tick share a frame. A new socket gets its
// position in the log, the open tasks and the live events in one synchronous pass, so no event is missed.
//
// A Worker notices a disconnected client only at the next write. So when the limit is reached, a heartbeat is written
// to all streams.
//
// A socket is closed with its key: at once when the key is revoked, by the object's alarm when it expires, and before
// anything more is sent in any case.

import { z } from 'zod'
import { type Task, taskInfo } from '../../src/analysis/task.ts'
import type { SocketCredential } from '../../src/bindings.ts'
import { isoMicros } from '../../src/lib/clock.ts'
import { errorFields, log } from '../../src/lib/log.ts'
import { sseFrame } from '../../src/lib/sse-frame.ts'
import { firstRow } from '../sql.ts'
import type { StreamLog } from './stream-log.ts'

export type TaskEvent = 'task_created' | 'task_started' | 'task_progress' | 'task_completed' | 'task_failed'
/** Events that do not belong to a task. */
export type OwnEvent = 'alert_triggered' | 'screen_matched'

type Asker = { owner: string; credential: SocketCredential }

type Newcomer = Asker & {
  /** The number of the client's last event; null for none. */
  after: number | null
  greeting: string
  /** The owner's open tasks at this moment. */
  open: Task[]
}

/** The limits on open streams. */
export type StreamLimits = { perOwner: number; perKey: number }

/** Why there is no stream. */
export type StreamRefusal = { reason: 'ended' } | Full | { reason: 'crowded' }
type Full = { reason: 'full'; limit: 'streams' | 'streams_per_key'; used: number; allowed: number }

type Deps = {
  ctx: DurableObjectState
  streamLog: StreamLog
  limits: StreamLimits
  /** Requests a call of `expire` at that time at the latest, epoch ms. */
  expireAt(at: number): void
}

const Attachment = z.object({ until: z.number().nullable() })

const MAX_MESSAGE_CHARS = 200_000

const encoder = new TextEncoder()
/** Streams of all owners: well below what one object can hold. */
const MAX_SUBSCRIBERS = 20_000
/** Longer than any isolate may believe that a revoked key is valid. */
const KEEP_ENDED_MS = 24 * 3600 * 1000
/** How long to wait for disconnected clients to be found; then a new stream is refused. */
const ASK_WAIT_MS = 500
/** The shortest time between two checks of the same clients. */
const ASK_EVERY_MS = 2_000
/** The close code for a policy violation, as for sockets of conversations. */
const POLICY = 1008

export class Subscribers {
  readonly #ctx: DurableObjectState
  readonly #log: StreamLog
  readonly #limits: StreamLimits
  readonly #expireAt: (at: number) => void
  readonly #waiting = new Map<string, string[]>()
  /** When the streams of an owner or key were last checked, epoch ms, and the requests that wait for one to close. */
  readonly #asked = new Map<string, number>()
  readonly #freed = new Set<() => void>()
  /** When the first socket must be closed, epoch ms; 0 when that has to be computed. */
  #nextEnd = 0

  constructor({ ctx, streamLog, limits, expireAt }: Deps) {
    this.#ctx = ctx
    this.#log = streamLog
    this.#limits = limits
    this.#expireAt = expireAt
  }

  /** Stores the event and sends it to the owner's streams at the end of this tick. */
  publish(event: TaskEvent, task: Task, flowEvent: string | null = null): void {
    this.tell(task.owner, event, taskJson(task, flowEvent))
  }

  /** Like `publish`, for an event that does not belong to a task. */
  tell(owner: string, event: TaskEvent | OwnEvent, json: string): void {
    const frame = this.#log.append(owner, { event, json, at: Date.now() })
    const waiting = this.#waiting.get(owner)
    if (waiting) waiting.push(frame)
    else {
      this.#waiting.set(owner, [frame])
      queueMicrotask(() => this.#flush(owner))
    }
  }

  /** A socket for a new stream. It starts after `after` if the log still has those events, else with the open tasks. */
  accept({ owner, credential, after, greeting, open }: Newcomer): Response | StreamRefusal {
    const refusal = this.#refusal(owner, credential.key)
    if (refusal !== null) return refusal
    this.#flush(owner)
    const [client, server] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket]
    const { key, until } = credential
    this.#ctx.acceptWebSocket(server, key === null ? [owner] : [owner, tagOf(key)])
    server.serializeAttachment({ until } satisfies z.infer<typeof Attachment>)
    if (until !== null) {
      this.#nextEnd = Math.min(this.#nextEnd, until)
      this.#expireAt(until)
    }
    const json = JSON.stringify({ message: greeting })
    const missed = after === null ? null : this.#log.since(owner, after)
    if (missed !== null) sendAll(server, messagesOf([sseFrame({ event: 'connected', json }), ...missed]))
    else {
      const id = this.#log.last(owner)
      const snapshot = open.map((task) => sseFrame({ id, event: 'task_created', json: taskJson(task, null) }))
      sendAll(server, messagesOf([sseFrame({ id, event: 'connected', json }), ...snapshot]))
    }
    return new Response(null, { status: 101, webSocket: client })
  }

  /** How many streams the owner has open. */
  countOf(owner: string): number {
    return openOnes(this.#ctx.getWebSockets(owner)).length
  }

  /** How many streams are open with the key. */
  countOfKey(key: string): number {
    return this.countOf(tagOf(key))
  }

  /**
   * Writes to the streams that use up the limit, so that those without a client close; waits until one does, for a
   * limited time.
   */
  async findGone({ limit }: Full, { owner, credential: { key } }: Asker): Promise<void> {
    const tag = limit === 'streams' || key === null ? owner : tagOf(key)
    const now = Date.now()
    for (const [other, at] of this.#asked) if (now - at >= ASK_EVERY_MS) this.#asked.delete(other)
    if (this.#asked.has(tag)) return
    this.#asked.set(tag, now)
    const beat = sseFrame({ event: 'heartbeat', json: JSON.stringify({ timestamp: isoMicros(now) }) })
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#freed.add(resolve)
    const messages = messagesOf([beat])
    for (const socket of openOnes(this.#ctx.getWebSockets(tag))) sendAll(socket, messages)
    await Promise.race([promise, scheduler.wait(ASK_WAIT_MS)])
    this.#freed.delete(resolve)
  }

  /** To be called when a socket was closed. */
  left(): void {
    for (const wake of this.#freed) wake()
  }

  /** The key was revoked: its streams end, and no new one begins. */
  endKey(key: string, now: number): void {
    const { sql } = this.#ctx.storage
    sql.exec('DELETE FROM ended_keys WHERE at < ?', now - KEEP_ENDED_MS)
    sql.exec('INSERT OR IGNORE INTO ended_keys (key, at) VALUES (?, ?)', key, now)
    for (const socket of this.#ctx.getWebSockets(tagOf(key))) close(socket, 'the key was revoked')
  }

  /** The owner is deleted: their streams end, and unsent events are dropped. */
  endOwner(owner: string): void {
    this.#waiting.delete(owner)
    for (const socket of this.#ctx.getWebSockets(owner)) close(socket, 'the owner is being deleted')
  }

  /** Ends expired streams, and requests a call for the next one. */
  expire(now: number): void {
    let next = Number.POSITIVE_INFINITY
    for (const socket of openOnes(this.#ctx.getWebSockets())) {
      const { until } = Attachment.parse(socket.deserializeAttachment())
      if (until !== null && until <= now) close(socket, 'the key has expired')
      else next = Math.min(next, until ?? next)
    }
    this.#nextEnd = next
    if (next < Number.POSITIVE_INFINITY) this.#expireAt(next)
  }

  #refusal(owner: string, key: string | null): StreamRefusal | null {
    const { perOwner, perKey } = this.#limits
    const isEnded = key !== null && firstRow(this.#ctx.storage.sql, 'SELECT 1 FROM ended_keys WHERE key = ?', key)
    if (isEnded) return { reason: 'ended' }
    const used = this.countOf(owner)
    if (used >= perOwner) return { reason: 'full', limit: 'streams', used, allowed: perOwner }
    const ofKey = key === null ? 0 : this.countOfKey(key)
    if (key !== null && ofKey >= perKey) {
      return { reason: 'full', limit: 'streams_per_key', used: ofKey, allowed: perKey }
    }
    return this.#ctx.getWebSockets().length >= MAX_SUBSCRIBERS ? { reason: 'crowded' } : null
  }

  #flush(owner: string): void {
    const frames = this.#waiting.get(owner)
    if (frames === undefined) return
    this.#waiting.delete(owner)
    const now = Date.now()
    // In case the alarm is late.
    if (now >= this.#nextEnd) this.expire(now)
    const messages = messagesOf(frames)
    for (const socket of this.#ctx.getWebSockets(owner)) sendAll(socket, messages)
  }
}

/** Owners have no colon in their names. */
const tagOf = (key: string): string => `key:${key}`

/** A closed socket is still listed until the other side has answered. */
function openOnes(sockets: readonly WebSocket[]): WebSocket[] {
  return sockets.filter(({ readyState }) => readyState === WebSocket.READY_STATE_OPEN)
}

function close(socket: WebSocket, why: string): void {
  try {
    socket.close(POLICY, why)
  } catch (error) {
    // The client closed it first.
    log.debug('task_stream.close_failed', errorFields(error))
  }
}

function taskJson(task: Task, flowEvent: string | null): string {
  const text = JSON.stringify(taskInfo(task))
  return flowEvent === null ? text : `${text.slice(0, -1)},"flow_event":${flowEvent}}`
}

/**
 * The messages for these frames, as bytes: encoded once for all sockets; the streams' Workers forward them unchanged.
 */
function messagesOf(frames: readonly string[]): Uint8Array[] {
  const texts: string[] = []
  let text = ''
  for (const frame of frames) {
    if (text.length + frame.length > MAX_MESSAGE_CHARS && text !== '') {
      texts.push(text)
      text = ''
    }
    text += frame
  }
  return [...texts, text].map((each) => encoder.encode(each))
}

function sendAll(socket: WebSocket, messages: readonly Uint8Array[]): void {
  try {
    for (const message of messages) socket.send(message)
  } catch (error) {
    // The stream's Worker is gone; its client reconnects with the number of its last event.
    log.debug('task_stream.send_failed', errorFields(error))
  }
}
