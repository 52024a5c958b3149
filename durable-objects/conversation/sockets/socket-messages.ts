// What clients send over their sockets, and the answers. Each client has a rate limit, and so have all clients of a key together; a
// client above one gets errors, and is disconnected when it goes on.
//
// A commit takes as long as writing dozens of events. So messages that are there at the same time are processed in one turn
// of the object, in their order: they share a commit. The runtime holds the acknowledgements back until that commit is
// durable, and they follow the events.

import type { ActionEvent } from '../../../src/agent/events.ts'
import type { RateLimit } from '../../../src/config/limits.ts'
import { errorFields, log } from '../../../src/lib/log.ts'
import { type Bucket, spend } from '../../../src/limits/bucket.ts'
import { type PlainFrame, readPlainFrame } from './plain-socket.ts'
import { frameOf } from './session.ts'
import type { Sessions } from './sessions.ts'
import { acknowledged, type IoFrame, readIoFrame, refused, socketIo } from './socket-io.ts'
import type { SocketPermits } from './socket-permits.ts'
import { bytesOf } from './socket-protocol.ts'

/** The burst is two seconds of the rate, and at least this many messages. */
const LEAST_BURST = 100
/** Refused messages after which a socket is closed. */
const MAX_REFUSED = 200
/** A longer message counts as several, because its cost depends on its length. */
const MESSAGE_LENGTH = 32 * 1024
/** Messages that are processed in one turn; other requests run between two turns. */
const MAX_TURN_MESSAGES = 250
/**
 * The same limit, and the longest wait between two turns, while the owner has used more than a fair share of a busy
 * service.
 */
const MAX_TURN_BEHIND = 25
const MAX_WAIT_MS = 250
/** Bytes that may wait for the next turn. */
const MAX_WAITING_LENGTH = 1024 * 1024

/** The usual spelling of an answer to a probe; other spellings are parsed like any message. */
const SIGNS: ReadonlySet<unknown> = new Set(['{"type":"check"}', '3'])

const STOPPED = 'The conversation is stopped; start it first'
const TOO_FAST = 'Too many messages at once; send again after a second'
const OTHER_EVENT =
  'This ref names another action: send the same action to repeat that one, or a new ref for a new action'
const NOT_STORED = 'The service could not store this; send it again'
const JOIN_FIRST = 'Join the default namespace first'
const NO_BINARY = 'Binary packets are not supported'

/** Bytes that the owner stores, and the limit. */
type StorageUsage = { used: number; allowed: number }

/** The part of the conversation that messages are given to. */
type Receiver = {
  readonly sessions: Sessions
  readonly permits: SocketPermits
  readonly opening: { readonly isRunning: boolean }
  readonly usage: { readonly full: StorageUsage | null; lookAgain(): void }
  receive(event: ActionEvent, ref: string | null): number | 'other_event'
}

export type SocketLimits = {
  /** Messages a second of one socket. */
  perSecond: number
  /** The limit for all sockets of a key together. */
  ofKey: RateLimit | null
  /** Notes that this many messages were processed; returns for how many ms the next ones have to wait. */
  processed(count: number): number
}

type Allowance = { left: number; at: number; refused: number }

/** A message that waits for its turn; `takeUp` processes it and returns the answer for the sender. */
type Waiting = { socket: WebSocket; length: number; takeUp: () => string[] }

type IoEvent = Extract<IoFrame, { ack: number | null }>

export class SocketMessages {
  readonly #conversation: Receiver
  readonly #limits: SocketLimits
  readonly #allowances = new WeakMap<WebSocket, Allowance>()
  readonly #ofKeys = new Map<string | null, Bucket>()
  /** The number of binary frames that will follow a packet that was refused. */
  readonly #attachments = new WeakMap<WebSocket, number>()
  #waiting: Waiting[] = []
  #waitingLength = 0

  constructor(conversation: Receiver, limits: SocketLimits) {
    this.#conversation = conversation
    this.#limits = limits
  }

  /** No message is processed unless its key is valid. */
  receive(socket: WebSocket, data: string | ArrayBuffer): void {
    const { sessions, permits } = this.#conversation
    sessions.expireDue()
    // An answer to a probe carries nothing else, and must be on time.
    if (SIGNS.has(data) && sessions.signOfLife(socket)) return
    permits.pass(sessions.of(socket)?.attachment.key ?? null, bytesOf(data), () => this.#take(socket, data))
  }

  #take(socket: WebSocket, data: string | ArrayBuffer): void {
    const protocol = this.#conversation.sessions.of(socket)?.attachment.protocol
    if (protocol === 'plain') this.#receivePlain(socket, data)
    else if (protocol === 'socket.io') this.#receiveIo(socket, data)
  }

  #receivePlain(socket: WebSocket, data: string | ArrayBuffer): void {
    const frame = readPlainFrame(data)
    if (frame.kind === 'check') this.#receiveSign(socket, bytesOf(data))
    else if (!this.#mayGoOn(socket, bytesOf(data))) this.#say(socket, plainError(frame, TOO_FAST))
    else if (frame.kind === 'ping') this.#say(socket, [JSON.stringify({ type: 'pong' })])
    else this.#wait({ socket, length: bytesOf(data), takeUp: () => this.#plainAnswers(frame) })
  }

  #plainAnswers(frame: Extract<PlainFrame, { kind: 'action' | 'invalid' }>): string[] {
    if (frame.kind === 'invalid') return [JSON.stringify(frame.answer)]
    const { event, ref } = frame
    const outcome = this.#store(event, ref)
    if (typeof outcome === 'string') return plainError(frame, outcome)
    return ref === null ? [] : [JSON.stringify({ type: 'ack', ref, event_id: outcome })]
  }

  #receiveIo(socket: WebSocket, data: string | ArrayBuffer): void {
    const { sessions } = this.#conversation
    const frame = readIoFrame(data)
    if (frame.kind === 'pong') this.#receiveSign(socket, bytesOf(data))
    else if (frame.kind === 'attachment') this.#receiveAttachment(socket, bytesOf(data))
    else if (frame.kind === 'leave') {
      // What the client sent before it closed is still processed.
      this.#takeUp(this.#waiting.length)
      sessions.close((session) => session.socket === socket, { code: 1000, reason: 'left', farewell: false })
    } else if ('ack' in frame) this.#receiveIoEvent(socket, bytesOf(data), frame)
    else if (!this.#mayGoOn(socket, bytesOf(data))) this.#say(socket, ioError(TOO_FAST))
    else if (frame.kind === 'join') sessions.join(socket)
    else if (frame.kind === 'foreign-namespace') this.#say(socket, [refused('Invalid namespace', frame.nsp)])
    else this.#say(socket, [`3${frame.data}`])
  }

  #receiveIoEvent(socket: WebSocket, length: number, frame: IoEvent): void {
    if (frame.kind === 'binary') this.#attachments.set(socket, frame.attachments)
    if (!this.#mayGoOn(socket, length)) this.#say(socket, ioAnswers(frame.ack, TOO_FAST))
    else if (!this.#conversation.sessions.of(socket)?.attachment.joined)
      this.#say(socket, ioAnswers(frame.ack, JOIN_FIRST))
    else this.#wait({ socket, length, takeUp: () => ioAnswers(frame.ack, this.#ioOutcome(frame)) })
  }

  /** The packet that announced the binary frame came first, and was refused. */
  #receiveAttachment(socket: WebSocket, length: number): void {
    const expected = this.#attachments.get(socket) ?? 0
    this.#attachments.set(socket, Math.max(expected - 1, 0))
    if (!this.#mayGoOn(socket, length)) this.#say(socket, ioError(TOO_FAST))
    else if (expected === 0) this.#say(socket, ioError(NO_BINARY))
  }

  /** An answer without a probe is processed like any other message. */
  #receiveSign(socket: WebSocket, length: number): void {
    if (!this.#conversation.sessions.signOfLife(socket)) this.#mayGoOn(socket, length)
  }

  #ioOutcome(frame: IoEvent): number | string {
    if (frame.kind === 'binary') return NO_BINARY
    return frame.kind === 'invalid' ? frame.message : this.#store(frame.event, null)
  }

  /** The id of the stored event, or why no event was stored. */
  #store(event: ActionEvent, ref: string | null): number | string {
    const { opening, usage } = this.#conversation
    if (!opening.isRunning) return STOPPED
    if (usage.full !== null) return this.#refuseFull(usage.full)
    try {
      const stored = this.#conversation.receive(event, ref)
      return stored === 'other_event' ? OTHER_EVENT : stored
    } catch (error) {
      log.error('socket.message_failed', errorFields(error))
      return NOT_STORED
    }
  }

  /** Asks again whether the owner is still over the limit, for the next message. */
  #refuseFull({ used, allowed }: StorageUsage): string {
    this.#conversation.usage.lookAgain()
    return `The limit "stored_bytes" is reached: ${used} of ${allowed} are used. Delete conversations, or files in their workspaces.`
  }

  #wait(message: Waiting): void {
    if (this.#waiting.length === 0) this.#takeUpSoon()
    this.#waiting.push(message)
    this.#waitingLength += message.length
    if (this.#waitingLength > MAX_WAITING_LENGTH) this.#takeUp(this.#waiting.length)
  }

  #takeUpSoon(): void {
    const waitMs = this.#limits.processed(0)
    setTimeout(
      () => {
        this.#takeUp(waitMs > 0 ? MAX_TURN_BEHIND : MAX_TURN_MESSAGES)
        if (this.#waiting.length > 0) this.#takeUpSoon()
      },
      Math.min(waitMs, MAX_WAIT_MS),
    )
  }

  #takeUp(count: number): void {
    const answers: { socket: WebSocket; texts: string[] }[] = []
    this.#limits.processed(Math.min(count, this.#waiting.length))
    this.#conversation.sessions.together(() => {
      for (const { socket, length, takeUp } of this.#waiting.splice(0, count)) {
        this.#waitingLength -= length
        answers.push({ socket, texts: takeUp() })
      }
    })
    this.#conversation.sessions.outgoing.after(() => {
      for (const { socket, texts } of answers) this.#say(socket, texts)
    })
  }

  #say(socket: WebSocket, texts: string[]): void {
    for (const text of texts) this.#conversation.sessions.of(socket)?.deliver(frameOf(text))
  }

  /**
   * Charges the message to the client's allowance, which may become negative; a client that is refused too often is
   * disconnected.
   */
  #mayGoOn(socket: WebSocket, length: number): boolean {
    const now = Date.now()
    const { perSecond } = this.#limits
    const burst = Math.max(LEAST_BURST, 2 * perSecond)
    const known = this.#allowances.get(socket) ?? { left: burst, at: now, refused: 0 }
    const left = Math.min(burst, known.left + ((now - known.at) / 1000) * perSecond)
    const more = Math.floor(length / MESSAGE_LENGTH)
    const isAllowed = left >= 1 && this.#hasKeyRoom(socket, more, now)
    const refusals = isAllowed ? Math.max(known.refused - 1, 0) : known.refused + 1
    this.#allowances.set(socket, {
      left: isAllowed ? left - 1 - more : left,
      at: now,
      refused: refusals,
    })
    if (refusals > MAX_REFUSED) {
      // Messages within the limit are answered first.
      this.#takeUp(this.#waiting.length)
      const goodbye = { code: 1008, reason: 'too many messages', farewell: true }
      this.#conversation.sessions.close((session) => session.socket === socket, goodbye)
    }
    return isAllowed
  }

  /** Many sockets of one key together may send no more than the requests of the key may write. */
  #hasKeyRoom(socket: WebSocket, more: number, now: number): boolean {
    const { ofKey } = this.#limits
    if (ofKey === null) return true
    const key = this.#conversation.sessions.of(socket)?.attachment.key ?? null
    const bucket = this.#ofKeys.get(key) ?? { tokens: ofKey.count, at: now }
    this.#ofKeys.set(key, bucket)
    const { ok } = spend(bucket, ofKey, { spent: 0, now })
    if (ok) bucket.tokens -= more
    return ok
  }
}

function plainError(frame: PlainFrame, message: string): string[] {
  return [JSON.stringify({ type: 'error', ...refOf(frame), message })]
}

function refOf(frame: PlainFrame): { ref?: string } {
  if (frame.kind === 'action' && frame.ref !== null) return { ref: frame.ref }
  return frame.kind === 'invalid' && frame.answer.ref !== undefined ? { ref: frame.answer.ref } : {}
}

const ioError = (message: string): string[] => socketIo.announcement({ error: true, message })

/** The answer for a Socket.IO client: a frame with the error, and the acknowledgement if the client asked for one. */
function ioAnswers(ack: number | null, outcome: number | string): string[] {
  const isError = typeof outcome === 'string'
  const answer = isError ? { error: true, message: outcome } : { success: true, event_id: outcome }
  return [...(isError ? ioError(outcome) : []), ...(ack === null ? [] : [acknowledged(ack, answer)])]
}
