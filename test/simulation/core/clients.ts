// Those who use the service: each keeps what it was told, comes back with its last number when its connection is gone, and asks again
// under the same name until it has an answer.

import type { TaskQueue } from '../../../durable-objects/task-queue/task-queue.ts'
import type { TaskRequest } from '../../../src/analysis/task.ts'
import { streamOf } from '../../../src/http/sse.ts'
import type { Chat } from './chat.ts'
import { Isolate } from './clock.ts'
import type { ObjectHost } from './object-host.ts'
import type { ClientEnd } from './sockets.ts'
import { type CoreWorld, sleep } from './world.ts'

const AGAIN_MS = 700

/** Follows a conversation and writes to it. */
export class ChatClient {
  readonly seen: string[] = []
  readonly acknowledged = new Map<string, number>()
  readonly #world: CoreWorld
  readonly #chat: Chat
  readonly #name: string
  readonly #open = new Map<string, string>()
  #made = 0
  #end: ClientEnd | null = null
  #isConnecting = false
  isReady = false

  constructor(world: CoreWorld, chat: Chat, name: string) {
    this.#world = world
    this.#chat = chat
    this.#name = name
  }

  get isAtRest(): boolean {
    return this.#open.size === 0
  }

  say(): void {
    const ref = `${this.#name}-${this.#made++}`
    const frame = JSON.stringify({ action: 'message', args: { content: `message ${ref}` }, ref })
    this.#open.set(ref, frame)
    this.#end?.send(frame)
  }

  leave(): void {
    this.#end?.server.cut()
  }

  connect(): void {
    if (this.#isConnecting || this.#end !== null) return
    this.#isConnecting = true
    this.#chat
      .call('accept', (object) => object.accept(this.seen.length - 1))
      .then(
        (end) => this.#opened(end),
        () => this.#lost(),
      )
  }

  #opened(end: ClientEnd): void {
    this.#isConnecting = false
    this.#end = end
    end.addEventListener('message', ({ data = '' }) => this.#heard(String(data)))
    end.addEventListener('close', () => {
      this.#end = null
      this.#lost()
    })
    end.accept()
    for (const frame of this.#open.values()) end.send(frame)
  }

  #lost(): void {
    this.#isConnecting = false
    this.isReady = false
    setTimeout(() => this.connect(), AGAIN_MS)
  }

  #heard(text: string): void {
    const frame = JSON.parse(text) as { type: string; ref?: string; event_id?: number; last_event_id?: number }
    if (frame.type === 'check') this.#end?.send('{"type":"check"}')
    else if (frame.type === 'events') this.#got(text)
    else if (frame.type === 'ack') this.#acknowledged(frame.ref ?? '', frame.event_id ?? -1)
    else if (frame.type === 'ready') {
      this.isReady = true
      if ((frame.last_event_id ?? -2) + 1 > this.seen.length)
        this.#world.fault(`${this.#name} is ready without all events`)
    } else this.#world.fault(`${this.#name} was told ${text}`)
  }

  #got(text: string): void {
    const { events } = JSON.parse(text) as { events: { id: number }[] }
    for (const event of events) {
      if (event.id !== this.seen.length)
        this.#world.fault(`${this.#name} was sent event ${event.id} after ${this.seen.length - 1}`)
      else this.seen.push(JSON.stringify(event))
    }
  }

  #acknowledged(ref: string, id: number): void {
    const before = this.acknowledged.get(ref)
    if (before !== undefined && before !== id) this.#world.fault(`${ref} was acknowledged as ${before} and ${id}`)
    this.acknowledged.set(ref, id)
    this.#open.delete(ref)
  }
}

/** Follows the tasks of an owner over the event stream. */
export class StreamClient {
  readonly owner: string
  /** The newest that was told of each task. */
  readonly tasks = new Map<string, { status: string; progress: number }>()
  readonly alerts: string[] = []
  last: number | null = null
  readonly #world: CoreWorld
  readonly #queue: ObjectHost<TaskQueue>
  #edge: Isolate | null = null
  #left: AbortController | null = null
  #isConnecting = false

  constructor(world: CoreWorld, queue: ObjectHost<TaskQueue>, owner: string) {
    this.#world = world
    this.#queue = queue
    this.owner = owner
  }

  /** The isolate that serves it is gone. */
  die(): void {
    this.#edge?.die()
    this.#left?.abort()
  }

  connect(): void {
    if (this.#isConnecting) return
    this.#isConnecting = true
    this.#follow().then(
      () => this.#again(),
      () => this.#again(),
    )
  }

  #again(): void {
    this.#isConnecting = false
    setTimeout(() => this.connect(), AGAIN_MS)
  }

  async #follow(): Promise<void> {
    const after = this.last === null ? '' : `&after=${this.last}`
    const headers = { get: () => 'websocket' }
    const request = { url: `http://queue/stream?owner=${this.owner}${after}`, headers } as unknown as Request
    const answer = await this.#queue.call('stream', (queue) => queue.fetch(request))
    if (answer.status !== 101 || answer.webSocket === null) throw new Error(`a stream was refused: ${answer.status}`)
    const edge = new Isolate('edge')
    const left = new AbortController()
    this.#edge = edge
    this.#left = left
    const socket = answer.webSocket
    const options = { signal: left.signal, mayStay: async () => true, heartbeatMs: 3_600_000 }
    const { body } = await edge.enter(() => streamOf(socket, options))
    await this.#read(body as ReadableStream<Uint8Array>, left.signal)
  }

  async #read(body: ReadableStream<Uint8Array>, left: AbortSignal): Promise<void> {
    const reader = body.getReader()
    const gone = new Promise<never>((_, reject) => left.addEventListener('abort', () => reject(new Error('left'))))
    const decoder = new TextDecoder()
    let rest = ''
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), gone])
      if (done) return
      const frames = (rest + decoder.decode(value, { stream: true })).split('\n\n')
      rest = frames.pop() ?? ''
      for (const frame of frames) this.#got(frame)
    }
  }

  #got(frame: string): void {
    const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(frame)?.[1] ?? null
    const [id, event, data] = [field('id'), field('event'), JSON.parse(field('data') ?? '{}') as TaskProgress]
    if (event === 'heartbeat' || event === null) return
    if (id !== null) this.#count(Number(id), event)
    if (data.task_id !== undefined) this.#progressed(data.task_id, data)
    if (event === 'alert_triggered') this.alerts.push(JSON.stringify(data))
  }

  /** Each number once, in order; the open tasks at the beginning have the number from which it goes on. */
  #count(id: number, event: string): void {
    const isBeginning = event === 'connected' || (event === 'task_created' && id === this.last)
    if (this.last !== null && id !== this.last + 1 && !isBeginning)
      this.#world.fault(`the stream of ${this.owner} has ${id} after ${this.last}`)
    if (isBeginning && this.last !== null && id < this.last)
      this.#world.fault(`the stream of ${this.owner} begins at ${id} after ${this.last}`)
    this.last = id
  }

  #progressed(id: string, { status, progress }: TaskProgress): void {
    const before = this.tasks.get(id)
    if (before !== undefined && before.progress > progress) this.#world.fault(`the progress of ${id} fell`)
    if (before !== undefined && OVER.has(before.status))
      this.#world.fault(`${id} was ${before.status} and is ${status}`)
    this.tasks.set(id, { status, progress })
  }
}

type TaskProgress = { task_id?: string; status: string; progress: number }
export const OVER: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled'])

const CODES = ['600519', '000001', '600000', '601318']

export type AcceptedBatch = { owner: string; key: string; tasks: string[]; batch: string | null; isTold: boolean }

/** Submits analyses, each submission under a key of its own until it is answered. */
export class Submitter {
  readonly taken: AcceptedBatch[] = []
  waiting = 0
  readonly #world: CoreWorld
  readonly #queue: ObjectHost<TaskQueue>
  #made = 0

  constructor(world: CoreWorld, queue: ObjectHost<TaskQueue>) {
    this.#world = world
    this.#queue = queue
  }

  async submit(owner: string): Promise<void> {
    const { random } = this.#world
    const codes = CODES.filter(() => random.chance(0.4))
    if (codes.length === 0) return
    const key = `submission-${this.#made++}`
    const batch = codes.length > 1 ? `batch-${key}` : null
    const isTold = random.chance(0.7)
    const requests = codes.map((code) => requestFor(code, { batch, notify: isTold }))
    const ask = () =>
      this.#queue.call('submit', (queue) => queue.submit(owner, requests, null, { key, digest: codes.join() }))
    this.waiting += 1
    for (;;) {
      const answer = await ask().catch(() => null)
      if (answer === null) {
        await sleep(AGAIN_MS)
        continue
      }
      this.waiting -= 1
      if (!answer.ok) this.#world.fault(`${key} was refused: ${answer.reason}`)
      else
        this.taken.push({
          ...{ owner, key, batch, isTold },
          tasks: answer.results.flatMap(({ accepted, taskId }) => (accepted ? [taskId] : [])),
        })
      // Whoever did not hear it asks again, and is answered alike.
      if (random.chance(0.2)) await this.#askAgain(key, answer, ask)
      return
    }
  }

  async cancel(): Promise<void> {
    // Also when its runner died some time ago.
    await sleep(this.#world.random.pick([0, 0, 15_000, 45_000]))
    const { owner = '', tasks = [] } = this.taken.at(-1) ?? {}
    if (tasks.length === 0) return
    const id = this.#world.random.pick(tasks)
    await this.#queue.call('cancel', (queue) => queue.cancel(owner, id)).catch(() => null)
  }

  async #askAgain(key: string, first: object, ask: () => Promise<object>): Promise<void> {
    const again = await ask().catch(() => null)
    if (again !== null && JSON.stringify(again) !== JSON.stringify(first))
      this.#world.fault(`${key} was answered ${JSON.stringify(first)} and ${JSON.stringify(again)}`)
  }
}

function requestFor(code: string, { batch, notify }: { batch: string | null; notify: boolean }): TaskRequest {
  return {
    ...{ kind: 'analysis', key: code, stockCode: code, stockName: null, reportType: 'brief', analysisPhase: 'auto' },
    ...{
      language: 'en',
      reportLanguage: null,
      skills: null,
      originalQuery: null,
      reading: null,
      selectionSource: null,
    },
    ...{ forceRefresh: false, region: null, priority: batch === null ? 'interactive' : 'batch', channels: null },
    ...{ notify, batch },
  }
}
