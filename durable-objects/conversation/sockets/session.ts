// One socket of a conversation: which events it was sent, how many bytes are not confirmed yet, and how to write to it.
//
// The attachment of the socket holds what must survive hibernation; the counters are lost and begin again at zero.

import { Buffer } from 'node:buffer'
import { errorFields, log as logger } from '../../../src/lib/log.ts'
import { CHECK_INTERVAL_MS, plain } from './plain-socket.ts'
import type { Attachment, Goodbye } from './session-attachment.ts'
import { PING_INTERVAL_MS, PING_TIMEOUT_MS, socketIo } from './socket-io.ts'
import type { SocketProtocol } from './socket-protocol.ts'

/** Bytes after which a probe is sent, and the most bytes that may be unconfirmed. */
const PROBE_EVERY = 128 * 1024
const MAX_OWED = 1024 * 1024

const PROTOCOLS = { plain, 'socket.io': socketIo } as const

type SessionHost = {
  /** Requests a call that looks after all sockets at that time at the latest, epoch ms. */
  wakeAt(at: number): void
  /** The socket turned out to be closed. */
  gone(socket: WebSocket): void
  /** When the runtime last answered a ping of the client's by itself, epoch ms; 0 for never. */
  pingedAt(socket: WebSocket): number
}

/** A text with its size in bytes, computed once for all clients. */
export type Frame = { text: string; bytes: number }
export const frameOf = (text: string): Frame => ({ text, bytes: Buffer.byteLength(text) })

export class Session {
  readonly socket: WebSocket
  readonly protocol: SocketProtocol
  /** Whether the log is being read for this socket. */
  isReplaying = false
  readonly #host: SessionHost
  #attachment: Attachment
  /** Bytes sent since the last answered probe, and how many of them were sent before the open probe. */
  #owed = 0
  #asked: number | null = null

  constructor(socket: WebSocket, attachment: Attachment, host: SessionHost) {
    this.socket = socket
    this.protocol = PROTOCOLS[attachment.protocol]
    this.#attachment = attachment
    this.#host = host
  }

  get attachment(): Readonly<Attachment> {
    return this.#attachment
  }

  /** A socket is live when it has been sent all events of the log. */
  get isLive(): boolean {
    return this.#attachment.sent === null
  }

  get owesTooMuch(): boolean {
    return this.#owed > MAX_OWED
  }

  /** Is stored in the attachment, so it survives the instance. */
  attach(changes: Partial<Attachment>): void {
    this.#attachment = { ...this.#attachment, ...changes }
    this.socket.serializeAttachment(this.#attachment)
  }

  /** The replay has reached this event. The next `attach` stores it. */
  reached(sent: number): void {
    this.#attachment = { ...this.#attachment, sent }
  }

  /** False when the socket was already closed; its client connects again with its last id and misses nothing. */
  deliver({ text, bytes }: Frame): boolean {
    if (!this.#write(text)) return false
    this.#owed += bytes
    this.probeIfDue()
    return true
  }

  /** The client answered a probe: everything sent before it has arrived. */
  answered(now: number): void {
    this.#owed -= this.#asked ?? 0
    this.#asked = null
    this.attach({ askedAt: null, heardAt: now })
  }

  probeIfDue(): void {
    if (this.#owed <= PROBE_EVERY || this.#asked !== null) return
    const now = Date.now()
    this.ask(now)
    this.#host.wakeAt(now + PING_TIMEOUT_MS)
  }

  /** Sends a probe. */
  ask(now: number): void {
    if (!this.#write(this.protocol.probe())) return
    this.#asked = this.#owed
    this.attach({ askedAt: this.#attachment.askedAt ?? now })
  }

  isToBeAsked(now: number): boolean {
    const { protocol, heardAt, askedAt } = this.#attachment
    if (askedAt !== null) return false
    if (protocol === 'socket.io') return true
    // A ping that the runtime answered by itself shows that the client is alive, too.
    return now - Math.max(heardAt, this.#host.pingedAt(this.socket)) >= CHECK_INTERVAL_MS
  }

  /** A probe was sent and not answered in time. */
  isSilent(now: number): boolean {
    const { askedAt } = this.#attachment
    return askedAt !== null && now - askedAt >= PING_TIMEOUT_MS
  }

  /**
   * When the socket must be checked next. One wake-up in 25 s is enough for all Socket.IO clients: for their pings and for
   * silent ones.
   */
  nextLook(now: number): number {
    const { protocol, askedAt } = this.#attachment
    if (protocol === 'socket.io') return now + PING_INTERVAL_MS
    return askedAt === null ? now + CHECK_INTERVAL_MS : askedAt + PING_TIMEOUT_MS
  }

  /** Closes the socket, with the last frame of its protocol or without. */
  end({ code, reason, farewell }: Goodbye): void {
    try {
      if (farewell) for (const text of this.protocol.farewell(reason)) this.socket.send(text)
      this.socket.close(code, reason)
    } catch (error) {
      // The client closed it first.
      logger.debug('socket.close_failed', errorFields(error))
    }
  }

  #write(text: string): boolean {
    try {
      this.socket.send(text)
      return true
    } catch (error) {
      logger.debug('socket.send_failed', errorFields(error))
      this.#host.gone(this.socket)
      return false
    }
  }
}
