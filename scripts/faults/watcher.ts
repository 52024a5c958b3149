// A client that follows a conversation over restarts of the server: it reconnects with its last id, and
// stores every event as first received.

export type SeenEvent = {
  id: number
  source: string
  cause?: number
  message?: string
  action?: string
  observation?: string
  content?: string
  args?: Record<string, unknown>
  extras?: { agent_state?: string; reason?: string; metadata?: { exit_code?: number } }
}

type Frame = { type: string; events?: SeenEvent[]; last_event_id?: number }

const COME_BACK_MS = 100

export class Watcher {
  readonly events: SeenEvent[] = []
  /** Violations of an append-only log. */
  readonly faults: string[] = []
  /** The number of `delta` and `output` frames. */
  deltas = 0
  connections = 0
  readonly #url: string
  readonly #onEvent: (event: SeenEvent) => void
  #socket: WebSocket | null = null
  #over = false

  constructor(url: string, onEvent: (event: SeenEvent) => void, key: string | null = null) {
    const query = key === null ? '?' : `?session_api_key=${encodeURIComponent(key)}&`
    this.#url = `${url.replace(/^http/, 'ws')}${query}`
    this.#onEvent = onEvent
    this.#connect()
  }

  get lastId(): number {
    return this.events.at(-1)?.id ?? -1
  }

  close(): void {
    this.#over = true
    this.#socket?.close()
  }

  #connect(): void {
    if (this.#over) return
    const socket = new WebSocket(`${this.#url}after=${this.lastId}`)
    this.#socket = socket
    socket.addEventListener('message', ({ data }) => this.#take(socket, JSON.parse(String(data)) as Frame))
    socket.addEventListener('open', () => {
      this.connections += 1
    })
    // A refused socket closes, too.
    socket.addEventListener('close', () => setTimeout(() => this.#connect(), COME_BACK_MS))
  }

  #take(socket: WebSocket, { type, events = [], last_event_id: last }: Frame): void {
    if (type === 'check') socket.send(JSON.stringify({ type: 'check' }))
    if (type === 'delta' || type === 'output') this.deltas += 1
    if (type === 'ready' && last !== undefined && last < this.lastId) {
      this.faults.push(`the log ends at ${last}, but event ${this.lastId} was shown before`)
    }
    for (const event of events) {
      if (event.id !== this.lastId + 1) this.faults.push(`event ${event.id} came after event ${this.lastId}`)
      this.events.push(event)
      this.#onEvent(event)
    }
  }
}
