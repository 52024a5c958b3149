// The event streams that are open: one hibernatable socket for each edge Worker that serves one, tagged with its owner.
// The text of the stream is made here once and sent to all of them; frames of one tick travel together. A new socket
// gets its place in the log, the open tasks and everything live in one synchronous pass, so nothing falls between.

import { type Task, taskInfo } from '../../src/analysis/task.ts'
import { errorFields, log } from '../../src/lib/log.ts'
import { sseFrame } from '../../src/lib/sse-frame.ts'
import type { StreamLog } from './stream-log.ts'

export type TaskEvent = 'task_created' | 'task_started' | 'task_progress' | 'task_completed' | 'task_failed'

type Newcomer = {
  owner: string
  /** The number of the last event it has; null for none. */
  after: number | null
  greeting: string
  /** The owner's open tasks at this moment. */
  open: Task[]
}

const MAX_MESSAGE_CHARS = 200_000
/** Well below what one object can hold. */
const MAX_SUBSCRIBERS = 20_000

export class Subscribers {
  readonly #ctx: DurableObjectState
  readonly #log: StreamLog
  readonly #waiting = new Map<string, string[]>()

  constructor(ctx: DurableObjectState, streamLog: StreamLog) {
    this.#ctx = ctx
    this.#log = streamLog
  }

  /** Stores the event and sends it to the owner's streams at the end of this tick. */
  publish(event: TaskEvent, task: Task, flowEvent: string | null = null): void {
    const at = Date.now()
    const frame = this.#log.append(task.owner, { event, json: taskJson(task, flowEvent), at })
    const waiting = this.#waiting.get(task.owner)
    if (waiting) waiting.push(frame)
    else {
      this.#waiting.set(task.owner, [frame])
      queueMicrotask(() => this.#flush(task.owner))
    }
  }

  /** A socket for a new stream. It starts behind `after` when the log still reaches there, else with the open tasks. */
  accept({ owner, after, greeting, open }: Newcomer): Response {
    if (this.#ctx.getWebSockets().length >= MAX_SUBSCRIBERS) return new Response(null, { status: 503 })
    this.#flush(owner)
    const [client, server] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket]
    this.#ctx.acceptWebSocket(server, [owner])
    const json = JSON.stringify({ message: greeting })
    const missed = after === null ? null : this.#log.since(owner, after)
    if (missed !== null) sendAll(server, [sseFrame({ event: 'connected', json }), ...missed])
    else {
      const id = this.#log.last(owner)
      const snapshot = open.map((task) => sseFrame({ id, event: 'task_created', json: taskJson(task, null) }))
      sendAll(server, [sseFrame({ id, event: 'connected', json }), ...snapshot])
    }
    return new Response(null, { status: 101, webSocket: client })
  }

  #flush(owner: string): void {
    const frames = this.#waiting.get(owner)
    if (frames === undefined) return
    this.#waiting.delete(owner)
    for (const socket of this.#ctx.getWebSockets(owner)) sendAll(socket, frames)
  }
}

function taskJson(task: Task, flowEvent: string | null): string {
  const text = JSON.stringify(taskInfo(task))
  return flowEvent === null ? text : `${text.slice(0, -1)},"flow_event":${flowEvent}}`
}

function sendAll(socket: WebSocket, frames: readonly string[]): void {
  let text = ''
  try {
    for (const frame of frames) {
      if (text.length + frame.length > MAX_MESSAGE_CHARS && text !== '') {
        socket.send(text)
        text = ''
      }
      text += frame
    }
    socket.send(text)
  } catch (error) {
    // The stream's Worker has gone; its client comes back with the number of the last event it saw.
    log.debug('task_stream.send_failed', errorFields(error))
  }
}
