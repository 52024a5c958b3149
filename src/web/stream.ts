// The live connection to one conversation. The log on the server is authoritative and its ids are consecutive, so the
// stream stores a single number, the last id that it has passed on, and requests everything after it whenever a socket
// is lost: no event is lost or shown twice. Messages of the user stay in the outbox under their own `ref` until the
// server has acknowledged them; after a reconnect they are sent again with the same `ref`, which the server treats as
// the same message.

import { ApiError, messageOf, SIGNED_IN } from './api.ts'
import { closeQuietly } from './close-quietly.ts'
import { say } from './texts.ts'
import type { Command, Delta, ServerFrame, StoredEvent } from './wire.ts'

// Waits longer after each failure. The wait ends at once when the network is back, the page becomes visible, or the
// user has signed in again.

const DELAYS_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000]
const JITTER = 0.2

type Wait = { attempt: number; retryAt: number }

export class Retry {
  readonly #again: () => void
  #attempt = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(again: () => void) {
    this.#again = again
  }

  schedule(): Wait {
    this.cancel()
    const base = DELAYS_MS[Math.min(this.#attempt, DELAYS_MS.length - 1)] ?? 0
    const delayMs = base * (1 + JITTER * (Math.random() * 2 - 1))
    this.#attempt += 1
    this.#timer = setTimeout(this.now, delayMs)
    addEventListener('online', this.now)
    addEventListener(SIGNED_IN, this.now)
    document.addEventListener('visibilitychange', this.#seen)
    return { attempt: this.#attempt, retryAt: Date.now() + delayMs }
  }

  /** Ends the wait, if there is one. */
  now = (): void => {
    if (this.#timer === undefined) return
    this.cancel()
    this.#again()
  }

  succeeded(): void {
    this.cancel()
    this.#attempt = 0
  }

  cancel(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    removeEventListener('online', this.now)
    removeEventListener(SIGNED_IN, this.now)
    document.removeEventListener('visibilitychange', this.#seen)
  }

  #seen = (): void => {
    if (document.visibilityState === 'visible') this.now()
  }
}

const PING_EVERY_MS = 25_000
const MOST_LENGTH = 4 * 1024 * 1024

export type Connection =
  | { state: 'connecting' }
  | { state: 'live' }
  | { state: 'waiting'; attempt: number; retryAt: number }
  | { state: 'ended'; reason: string }

/**
 * A command in progress. `eventId` is the resulting event, `error` the reason of a refusal; `isShown` after that event
 * has arrived.
 */
export type Outgoing = { ref: string; command: Command; eventId: number | null; error: string | null; isShown: boolean }

type Listener = {
  events: (events: StoredEvent[]) => void
  connection: (connection: Connection) => void
  outbox: (outbox: Outgoing[]) => void
  status: (frame: { message: string; conversation_title?: string }) => void
  delta: (delta: Delta) => void
  /** A piece of a running command's output, with color codes. */
  output: (frame: { action_id: number; text: string }) => void
  trouble: (message: string) => void
  /**
   * Called after a socket that never opened, because a browser does not report the reason: false if the conversation
   * does not exist.
   */
  stillThere: () => Promise<boolean>
}

export class ConversationStream {
  readonly #id: string
  readonly #on: Listener
  readonly #retry = new Retry(() => this.#open())
  #lastId: number
  #socket: WebSocket | null = null
  #ready = false
  #outbox: Outgoing[] = []
  #heard = true
  #pings: ReturnType<typeof setInterval> | undefined

  constructor(id: string, after: number, on: Listener) {
    this.#id = id
    this.#lastId = after
    this.#on = on
    this.#open()
  }

  send(command: Command): void {
    const outgoing = { ref: makeRef(), command, eventId: null, error: null, isShown: false }
    this.#setOutbox([...this.#outbox, outgoing])
    if (this.#ready) this.#transmit(outgoing)
  }

  /** Over a new connection, because connecting also starts a conversation that was stopped. */
  sendAgain(ref: string): void {
    this.#setOutbox(this.#outbox.map((outgoing) => (outgoing.ref === ref ? { ...outgoing, error: null } : outgoing)))
    this.#drop()
    this.#open()
  }

  discard(ref: string): void {
    this.#setOutbox(this.#outbox.filter((outgoing) => outgoing.ref !== ref))
  }

  reconnectNow(): void {
    this.#retry.now()
  }

  close(): void {
    this.#retry.cancel()
    this.#drop()
  }

  #open(): void {
    this.#on.connection({ state: 'connecting' })
    const scheme = location.protocol === 'https:' ? 'wss:' : 'ws:'
    const path = `/api/conversations/${encodeURIComponent(this.#id)}/ws?after=${this.#lastId}`
    const socket = new WebSocket(`${scheme}//${location.host}${path}`)
    let opened = false
    this.#socket = socket
    socket.addEventListener('open', () => {
      if (socket !== this.#socket) return
      opened = true
      this.#heard = true
      this.#pings = setInterval(() => this.#ping(), PING_EVERY_MS)
    })
    socket.addEventListener('message', ({ data }) => {
      if (socket === this.#socket) this.#receive(JSON.parse(String(data)) as ServerFrame)
    })
    socket.addEventListener('close', () => {
      if (socket === this.#socket) this.#lost(opened)
    })
  }

  #receive(frame: ServerFrame): void {
    this.#heard = true
    if (frame.type === 'events') this.#take(frame.events)
    else if (frame.type === 'ready') this.#goLive(frame.last_event_id)
    else if (frame.type === 'ack') this.#settle(frame.ref, { eventId: frame.event_id })
    else if (frame.type === 'status') this.#on.status(frame)
    else if (frame.type === 'delta') this.#on.delta(frame)
    else if (frame.type === 'output') this.#on.output(frame)
    // The server checks that everything before this has arrived.
    else if (frame.type === 'check') this.#socket?.send('{"type":"check"}')
    else if (frame.type === 'error') {
      const said = [frame.message, ...(frame.detail ?? [])].join('; ')
      if (frame.ref === undefined) this.#on.trouble(said)
      else this.#settle(frame.ref, { error: said })
    }
  }

  #take(events: StoredEvent[]): void {
    const fresh = events.filter((event) => event.id > this.#lastId)
    const [first] = fresh
    const last = fresh.at(-1)
    if (!first || !last) return
    // A gap in the live events means that a frame was lost. The replay contains it, so the rest of the frame is
    // ignored.
    if (this.#ready && first.id > this.#lastId + 1) {
      this.#drop()
      this.#open()
      return
    }
    this.#lastId = last.id
    this.#on.events(fresh)
    const open = this.#outbox.filter(({ eventId }) => eventId === null || eventId > last.id)
    this.#setOutbox(fresh.reduce(withShown, open))
  }

  #goLive(newestId: number): void {
    if (newestId < this.#lastId) {
      this.#end(say('The service holds an older state of this conversation than this page. Reload the page.'))
      return
    }
    this.#ready = true
    this.#retry.succeeded()
    this.#on.connection({ state: 'live' })
    for (const outgoing of this.#outbox) if (isOpen(outgoing)) this.#transmit(outgoing)
  }

  #settle(ref: string, outcome: { eventId: number } | { error: string }): void {
    const settled = this.#outbox.map((outgoing) => (outgoing.ref === ref ? { ...outgoing, ...outcome } : outgoing))
    this.#setOutbox(settled.filter(({ eventId }) => eventId === null || eventId > this.#lastId))
  }

  #setOutbox(outbox: Outgoing[]): void {
    this.#outbox = outbox
    this.#on.outbox(outbox)
  }

  #transmit({ ref, command }: Outgoing): void {
    const frame = JSON.stringify({ ref, ...command })
    // The service refuses a longer one without parsing it, so the answer has no `ref`.
    if (frame.length > MOST_LENGTH) this.#settle(ref, { error: say('It is longer than a message may be.') })
    else this.#socket?.send(frame)
  }

  /** A connection can fail without an error: it counts as lost after a whole interval without any frame following a ping. */
  #ping(): void {
    if (!this.#heard) {
      this.#drop()
      this.#lost(true)
      return
    }
    this.#heard = false
    this.#socket?.send('{"type":"ping"}')
  }

  #lost(opened: boolean): void {
    this.#drop()
    this.#on.connection({ state: 'waiting', ...this.#retry.schedule() })
    if (!opened) void this.#askWhy()
  }

  async #askWhy(): Promise<void> {
    try {
      if (!(await this.#on.stillThere())) this.#end(say('This conversation does not exist any more.'))
    } catch (error) {
      // The reconnect notice already reports a missing answer, and the sign-in dialog a missing key.
      if (!(error instanceof ApiError && (error.status === 0 || error.status === 401)))
        this.#on.trouble(messageOf(error))
    }
  }

  #end(reason: string): void {
    this.close()
    this.#on.connection({ state: 'ended', reason })
  }

  #drop(): void {
    clearInterval(this.#pings)
    const socket = this.#socket
    this.#socket = null
    this.#ready = false
    if (socket !== null) closeQuietly(socket)
  }
}

const isOpen = ({ eventId, error }: Outgoing): boolean => eventId === null && error === null

/** `randomUUID` is not available on pages from an insecure origin. */
const makeRef = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, '0')).join('')

/**
 * An event arrives before its acknowledgement, which is the only certain match: until then, equal texts are matched in
 * order.
 */
function withShown(outbox: Outgoing[], event: StoredEvent): Outgoing[] {
  if (event.source !== 'user' || event.action !== 'message') return outbox
  const at = outbox.findIndex(
    ({ command, eventId, isShown }) =>
      eventId === null && !isShown && command.action === 'message' && command.args.content === event.args?.content,
  )
  return outbox.map((outgoing, i) => (i === at ? { ...outgoing, isShown: true } : outgoing))
}
