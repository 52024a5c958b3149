// Records what a client knows about its tasks: the accepted ones, and the events of the stream, which it resumes after each disconnect
// with the number of the last event.

import { setTimeout as sleep } from 'node:timers/promises'
import { createParser } from 'eventsource-parser'

const RECONNECT_MS = 20
const ASK_TIMEOUT_MS = 10_000
const LOOK_EVERY_MS = 50
const PAGE = 100

type SeenTask = { status: string; ends: number; why: string }
type Answer<T> = { status: number; body: T }

export class TaskBooks {
  readonly #base: string
  readonly #accepted = new Set<string>()
  readonly #told = new Map<string, SeenTask>()
  #cursor = 0
  #gaps = 0
  #repeats = 0
  readonly batches: string[][] = []
  reconnects = -1
  cancels = 0

  readonly #key: Record<string, string>

  /** The owner's key; null if no key is needed. */
  constructor(base: string, key: string | null = null) {
    this.#base = base
    this.#key = key === null ? {} : { 'x-session-api-key': key }
  }

  get accepted(): number {
    return this.#accepted.size
  }

  /** Including tasks of submissions whose response was lost. */
  get seen(): number {
    return this.#told.size
  }

  /** The tasks accepted in one response. */
  accept(...ids: string[]): void {
    for (const id of ids) this.#accepted.add(id)
    this.batches.push(ids)
  }

  /** Those that ended like this. */
  having(status: string): string[] {
    return [...this.#told].filter(([, told]) => told.status === status).map(([id]) => id)
  }

  /** Tasks that did not end correctly: the stock, its state, and its events in the stream. */
  notCompleted(): string[] {
    const isWell = (id: string) => this.#told.get(id)?.status === 'completed'
    return [...this.#accepted].filter((id) => !isWell(id)).map((id) => this.#told.get(id)?.why ?? `${id}: never told`)
  }

  open(): string[] {
    return [...this.#told].filter(([, { ends }]) => ends === 0).map(([id]) => id)
  }

  /** The response, or null without one: then it is unknown whether the request was accepted. */
  async post<T>(path: string, body: unknown): Promise<Answer<T> | null> {
    try {
      const response = await fetch(`${this.#base}${path}`, {
        method: 'POST',
        signal: AbortSignal.timeout(ASK_TIMEOUT_MS),
        headers: { ...this.#key, ...(body === null ? {} : { 'content-type': 'application/json' }) },
        ...(body === null ? {} : { body: JSON.stringify(body) }),
      })
      return { status: response.status, body: (await response.json()) as T }
    } catch {
      // Interrupted by the kill, as intended.
      return null
    }
  }

  async follow(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      this.reconnects += 1
      await this.#readUntilBroken(over)
      await sleep(RECONNECT_MS)
    }
  }

  async #readUntilBroken(over: AbortSignal): Promise<void> {
    const parser = createParser({ onEvent: ({ id, event, data }) => this.#take(id, event, data) })
    try {
      const headers = { ...this.#key, 'last-event-id': String(this.#cursor) }
      const { body } = await fetch(`${this.#base}/tasks/stream`, { headers, signal: over })
      for await (const chunk of body ?? []) parser.feed(new TextDecoder().decode(chunk))
    } catch {
      // The runtime was killed during the stream, or reading has ended.
    }
  }

  #take(id: string | undefined, event: string | undefined, data: string): void {
    if (id === undefined || event === 'connected' || event === undefined) return
    const number = Number(id)
    if (number <= this.#cursor) this.#repeats += 1
    else if (number > this.#cursor + 1) this.#gaps += 1
    this.#cursor = Math.max(this.#cursor, number)
    const task = JSON.parse(data) as { task_id: string; stock_code: string; status: string; error: string | null }
    const told = this.#told.get(task.task_id) ?? { status: '', ends: 0, why: '' }
    told.status = task.status
    told.why = `${task.stock_code}: ${task.status}, ${task.error ?? 'no error told'}`
    if (event === 'task_completed' || event === 'task_failed') told.ends += 1
    this.#told.set(task.task_id, told)
  }

  /** Settles when every known task has ended, or at the timeout. */
  async allEnded(patienceMs: number): Promise<void> {
    const deadline = performance.now() + patienceMs
    const isOpen = () =>
      [...this.#accepted].some((id) => (this.#told.get(id)?.ends ?? 0) === 0) || this.open().length > 0
    while (isOpen() && performance.now() < deadline) await sleep(LOOK_EVERY_MS)
  }

  audit() {
    const ids = new Set([...this.#accepted, ...this.#told.keys()])
    const endsOf = (id: string) => this.#told.get(id)?.ends ?? 0
    const ends = new Map<string, number>()
    for (const { status } of this.#told.values()) ends.set(status, (ends.get(status) ?? 0) + 1)
    return {
      lost: [...ids].filter((id) => endsOf(id) === 0).length,
      twice: [...ids].filter((id) => endsOf(id) > 1).length,
      gaps: this.#gaps,
      repeats: this.#repeats,
      ends,
    }
  }

  /** Compares the history with the ends of the tasks. */
  async auditReports() {
    const stored = await this.#storedIds()
    const unique = new Set(stored)
    return {
      missing: this.having('completed').filter((id) => !unique.has(id)).length,
      unwanted: this.having('cancelled').filter((id) => unique.has(id)).length,
      doubled: stored.length - unique.size,
      stored: stored.length,
      /** Those that no task made. */
      atOnce: [...unique].filter((id) => !this.#told.has(id)),
    }
  }

  async #storedIds(): Promise<string[]> {
    const ids: string[] = []
    for (let page = 1; ; page++) {
      const response = await fetch(`${this.#base.replace(/analysis$/, 'history')}?page=${page}&limit=${PAGE}`, {
        headers: this.#key,
      })
      const { items } = (await response.json()) as { items: { query_id: string }[] }
      ids.push(...items.map(({ query_id }) => query_id))
      if (items.length < PAGE) return ids
    }
  }
}
