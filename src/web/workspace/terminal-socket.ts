// The socket of a conversation's terminal: after a lost connection it resumes from the received position.

import { closeQuietly } from '../close-quietly.ts'
import { terminalAddress } from './workspace-api.ts'

export type TerminalNews = {
  /** Bytes to draw; with `reset` the screen is cleared first. Resolves when they are drawn. */
  draw(bytes: Uint8Array): Promise<void>
  reset(): void
  size(cols: number, rows: number): void
  people(count: number): void
  status(status: TerminalStatus): void
}

export type TerminalStatus =
  | { state: 'connecting' }
  | { state: 'open' }
  /** The connection is lost and will be retried. */
  | { state: 'lost'; message: string }
  /** The shell has ended; another one starts on request. */
  | { state: 'ended'; message: string }
  /** No further attempts. */
  | { state: 'closed'; message: string }

const ACK_BYTES = 64 * 1024
const FRAME_BYTES = 32 * 1024
const MOST_WAIT_MS = 8_000
/** Permanent: the conversation has ended, or the key is no longer valid. */
const FINAL = new Set([1000, 1008])

type TerminalMessage = { type: string; terminal?: string; reset?: boolean; cols?: number; rows?: number } & {
  viewers?: number
  count?: number
  message?: string
  position?: number
}

export class TerminalSocket {
  readonly #id: string
  readonly #news: TerminalNews
  #socket: WebSocket | null = null
  #size: { cols: number; rows: number }
  #terminal: string | null = null
  #position = 0
  #acked = 0
  #tries = 0
  #timer: ReturnType<typeof setTimeout> | null = null
  #isOver = false
  #drawn: Promise<void> = Promise.resolve()

  constructor(id: string, size: { cols: number; rows: number }, news: TerminalNews) {
    this.#id = id
    this.#size = size
    this.#news = news
    this.#connect()
  }

  type(text: string): void {
    const bytes = new TextEncoder().encode(text)
    for (let at = 0; at < bytes.length; at += FRAME_BYTES) this.#send(bytes.subarray(at, at + FRAME_BYTES))
  }

  /** The service removes control characters. */
  paste(text: string): void {
    for (let at = 0; at < text.length; at += FRAME_BYTES / 4)
      this.#say({ type: 'paste', text: text.slice(at, at + FRAME_BYTES / 4) })
  }

  resize(cols: number, rows: number): void {
    this.#size = { cols, rows }
    this.#say({ type: 'resize', cols, rows })
  }

  start(): void {
    this.#news.status({ state: 'connecting' })
    if (this.#socket === null) this.#connect()
    else this.#say({ type: 'start' })
  }

  close(): void {
    this.#isOver = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    if (this.#socket === null) return
    this.#socket.onmessage = null
    closeQuietly(this.#socket, 1000)
  }

  #connect(): void {
    const { cols, rows } = this.#size
    const had = this.#terminal === null ? {} : { terminal: this.#terminal, position: String(this.#position) }
    const socket = new WebSocket(terminalAddress(this.#id, { cols: String(cols), rows: String(rows), ...had }))
    socket.binaryType = 'arraybuffer'
    socket.onmessage = ({ data }) => this.#came(data as string | ArrayBuffer)
    socket.onclose = ({ code, reason }) => this.#lost(socket, code, reason)
    this.#socket = socket
  }

  #lost(socket: WebSocket, code: number, reason: string): void {
    if (this.#socket !== socket || this.#isOver) return
    this.#socket = null
    if (FINAL.has(code)) {
      this.#news.status({ state: 'closed', message: reason })
      return
    }
    this.#news.status({ state: 'lost', message: reason })
    this.#timer = setTimeout(() => this.#connect(), Math.min(MOST_WAIT_MS, 250 * 2 ** this.#tries++))
  }

  #came(data: string | ArrayBuffer): void {
    if (typeof data === 'string') {
      this.#told(JSON.parse(data) as TerminalMessage)
      return
    }
    const position = Number(new DataView(data).getBigUint64(0))
    const bytes = new Uint8Array(data, 8)
    this.#position = position
    this.#drawn = this.#drawn.then(() => this.#news.draw(bytes)).then(() => this.#arrived(position))
  }

  /** Only drawn bytes are acknowledged: a slow page slows the program. */
  #arrived(position: number): void {
    if (position - this.#acked < ACK_BYTES && position < this.#position) return
    this.#acked = position
    this.#say({ type: 'ack', position })
  }

  #told(said: TerminalMessage): void {
    const { type, cols = 80, rows = 24, message = '' } = said
    if (type === 'ready') {
      this.#tries = 0
      this.#terminal = said.terminal ?? null
      this.#position = said.position ?? 0
      this.#acked = this.#position
      if (said.reset === true) this.#news.reset()
      this.#news.people(said.viewers ?? 1)
      this.#news.status({ state: 'open' })
    }
    if (type === 'ready' || type === 'size') this.#news.size(cols, rows)
    if (type === 'viewers') this.#news.people(said.count ?? 1)
    if (type === 'lost') this.#news.status({ state: 'lost', message })
    if (type === 'ended') this.#news.status({ state: 'ended', message })
  }

  #say(message: Record<string, unknown>): void {
    this.#send(JSON.stringify(message))
  }

  #send(data: string | Uint8Array): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(data as string | Uint8Array<ArrayBuffer>)
  }
}
