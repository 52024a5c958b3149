// A client of the plain protocol that remembers the last id it saw, loses its socket, reconnects and checks that the
// received events together are every event once, in order.

export type SeenEvent = {
  id: number
  source: string
  action?: string
  observation?: string
  content?: string
  args?: { command?: string; content?: string; path?: string; final_thought?: string }
  extras?: { agent_state?: string; reason?: string; diff?: string | null; metadata?: { exit_code: number } }
}

/** Called with each piece of the model's answer. */
export type SeenDelta = { kind: 'text' | 'reasoning' | 'call'; text: string }

type Frame = { type: string; events?: SeenEvent[]; message?: string } & Partial<SeenDelta>

const PATIENCE_MS = 30_000

export class Follower {
  readonly seen: SeenEvent[] = []
  readonly #url: string
  readonly #onEvent: (event: SeenEvent) => void
  readonly #onDelta: (delta: SeenDelta) => void
  #socket: WebSocket | null = null
  #changed: () => void = () => {}

  constructor(url: string, onEvent: (event: SeenEvent) => void, onDelta: (delta: SeenDelta) => void = () => {}) {
    this.#url = url.replace(/^http/, 'ws')
    this.#onEvent = onEvent
    this.#onDelta = onDelta
  }

  get lastId(): number {
    return this.seen.at(-1)?.id ?? -1
  }

  async connect(): Promise<void> {
    const socket = new WebSocket(`${this.#url}?after=${this.lastId}`)
    socket.addEventListener('message', ({ data }) => {
      if (this.#socket === socket) this.#take(JSON.parse(String(data)))
    })
    this.#socket = socket
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener('open', () => resolve())
      socket.addEventListener('error', () => reject(new Error('the socket was refused')))
    })
  }

  /** Drops the socket without a close frame; frames in transit are lost. */
  drop(): void {
    const socket = this.#socket
    this.#socket = null
    socket?.close()
  }

  send(frame: object): void {
    this.#socket?.send(JSON.stringify(frame))
  }

  async until(what: string, condition: (seen: SeenEvent[]) => boolean, withinMs = PATIENCE_MS): Promise<void> {
    const deadline = Date.now() + withinMs
    while (!condition(this.seen)) {
      const left = deadline - Date.now()
      if (left <= 0) throw new Error(`waited in vain for ${what}`)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left)
        this.#changed = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }

  #take(frame: Frame): void {
    // Confirms that everything before this has arrived; the server disconnects a client that does not answer.
    if (frame.type === 'check') this.send({ type: 'check' })
    if (frame.type === 'error') throw new Error(`the server refused a frame: ${frame.message}`)
    if (frame.type === 'delta') this.#onDelta({ kind: frame.kind ?? 'text', text: frame.text ?? '' })
    for (const event of frame.events ?? []) {
      if (event.id !== this.lastId + 1) throw new Error(`event ${event.id} came after event ${this.lastId}`)
      this.seen.push(event)
      this.#onEvent(event)
    }
    this.#changed()
  }
}
