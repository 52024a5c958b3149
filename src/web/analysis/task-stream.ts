// The live view of all tasks. EventSource reconnects by itself after a dropped connection and then names the last event
// that it saw; when the service answers with an error it gives up, and this opens a new one that asks for the rest.

import { Retry } from '../stream.ts'
import type { TaskInfo } from '../wire.ts'

const TASK_EVENTS = ['task_created', 'task_started', 'task_progress', 'task_completed', 'task_failed']
// The service sends a heartbeat every 30 s; a silence of two and a half of them is a dead connection.
const SILENCE_MS = 75_000

type Listener = {
  task: (task: TaskInfo) => void
  /** After every connect. What ended unseen is in no snapshot, so the list has to be read again. */
  connected: () => void
  disconnected: () => void
  /** After an answer that was no stream. Why is told only to a plain request, such as the list's. */
  refused: () => void
}

export class TaskStream {
  readonly #on: Listener
  readonly #retry = new Retry(() => this.#open())
  #source: EventSource | null = null
  #lastEventId = ''
  #silence: ReturnType<typeof setTimeout> | undefined

  constructor(on: Listener) {
    this.#on = on
    this.#open()
  }

  close(): void {
    this.#retry.cancel()
    this.#drop()
  }

  #open(): void {
    const after = this.#lastEventId === '' ? '' : `?after=${encodeURIComponent(this.#lastEventId)}`
    const source = new EventSource(`/api/v1/analysis/tasks/stream${after}`)
    this.#source = source
    source.addEventListener('connected', () => {
      this.#heard()
      this.#retry.succeeded()
      this.#on.connected()
    })
    source.addEventListener('heartbeat', () => this.#heard())
    for (const type of TASK_EVENTS) source.addEventListener(type, (event) => this.#receive(event))
    source.addEventListener('error', () => {
      this.#on.disconnected()
      if (source.readyState !== EventSource.CLOSED) return
      this.#reopen()
      this.#on.refused()
    })
  }

  #receive(event: MessageEvent<string>): void {
    this.#heard()
    if (event.lastEventId !== '') this.#lastEventId = event.lastEventId
    this.#on.task(JSON.parse(event.data) as TaskInfo)
  }

  #heard(): void {
    clearTimeout(this.#silence)
    this.#silence = setTimeout(() => {
      this.#on.disconnected()
      this.#reopen()
    }, SILENCE_MS)
  }

  #reopen(): void {
    this.#drop()
    this.#retry.schedule()
  }

  #drop(): void {
    clearTimeout(this.#silence)
    this.#source?.close()
    this.#source = null
  }
}
