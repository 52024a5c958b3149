// The stream of an owner's analysis tasks: server-sent events, resumed with the number of the last one.

import type { TaskInfo } from './api.generated.ts'
import { BellwetherError, ServiceError, StreamClosed, Unreachable } from './errors.ts'
import { backoff, type Http, sleep } from './http.ts'

export type TaskEvent = {
  /** `task_created`, `task_started`, `task_progress`, `task_completed`, `task_failed`, `alert_triggered`, `connected`. */
  event: string
  /** Its number; null if it has none. */
  id: number | null
  /** The task, for a `task_…` event. */
  data: TaskInfo & Record<string, unknown>
}

export type StreamOptions = {
  /** The number of the last known event; without one the stream starts now, with the open tasks. */
  after?: number
  signal?: AbortSignal
  /** How long a lost connection is retried without success; two minutes by default. */
  patienceMs?: number
  /** Called once for each interruption. */
  onLost?: (error: Error) => void
}

/** The service sends a heartbeat every 30 s. */
const SILENCE_MS = 75_000

export async function* taskStream(http: Http, options: StreamOptions = {}): AsyncGenerator<TaskEvent, void> {
  const { signal, patienceMs = 120_000 } = options
  const seen = { last: options.after ?? null }
  let brokenAt: number | null = null
  for (let tries = 0; !signal?.aborted; tries += 1) {
    try {
      for await (const one of connection(http, seen, signal)) {
        tries = 0
        brokenAt = null
        if (one.event !== 'heartbeat') yield one
      }
    } catch (error) {
      if (signal?.aborted) return
      const isFirst = brokenAt === null
      brokenAt ??= Date.now()
      if (!isPassing(error) || Date.now() - brokenAt > patienceMs) throw error
      if (isFirst) options.onLost?.(error as Error)
    }
    await sleep(backoff(tries), signal).catch(() => {})
  }
}

async function* connection(http: Http, seen: { last: number | null }, signal?: AbortSignal): AsyncGenerator<TaskEvent> {
  const silence = new AbortController()
  const ends = signal === undefined ? silence.signal : AbortSignal.any([silence.signal, signal])
  let timer = setTimeout(() => silence.abort(), SILENCE_MS)
  try {
    const query = seen.last === null ? {} : { after: seen.last }
    const response = await http.send('GET /api/v1/analysis/tasks/stream', {
      query,
      signal: ends,
      timeoutMs: 2 ** 31 - 1,
    })
    for await (const { event, id, data } of eventsIn(response)) {
      clearTimeout(timer)
      timer = setTimeout(() => silence.abort(), SILENCE_MS)
      if (event === 'closing') throw new StreamClosed(String(data.reason))
      if (id !== null) seen.last = id
      yield { event, id, data }
    }
  } catch (error) {
    if (error instanceof BellwetherError || signal?.aborted) throw error
    throw new Unreachable(http.url, silence.signal.aborted ? new Error('nothing came for too long') : error)
  } finally {
    clearTimeout(timer)
    silence.abort()
  }
}

async function* eventsIn({ body }: Response): AsyncGenerator<TaskEvent> {
  if (body === null) return
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
    // An incomplete block; it is sent again after an interruption, because its number was not received.
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const one = eventOf(block)
      if (one !== null) yield one
    }
  }
}

function eventOf(block: string): TaskEvent | null {
  const fields = new Map(block.split('\n').map((line) => line.split(/: ?(.*)/s, 2) as [string, string]))
  const data = fields.get('data')
  if (data === undefined) return null
  const id = fields.get('id')
  return { event: fields.get('event') ?? 'message', id: id === undefined ? null : Number(id), data: JSON.parse(data) }
}

function isPassing(error: unknown): boolean {
  if (error instanceof ServiceError) return error.status >= 500
  return error instanceof BellwetherError && !(error instanceof StreamClosed)
}
