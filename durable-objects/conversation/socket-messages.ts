// What clients say over their sockets, and what they are told. Every client may say so much at a time; whoever says more
// is asked to slow down, and cut off when that does not help.
//
// A commit takes as long as writing dozens of events. So messages that are there at the same time are taken up in one
// turn of the object, in the order in which they came: they share a commit, and the acknowledgements, which the runtime
// holds back until that commit is durable, follow the events.

import type { ActionEvent } from '../../src/agent/events.ts'
import { errorFields, log } from '../../src/lib/log.ts'
import { type PlainFrame, readPlainFrame } from './plain-socket.ts'
import type { Room } from './room.ts'
import { acknowledged, type IoFrame, readIoFrame, refused, socketIo } from './socket-io.ts'
import type { Storage } from './usage-report.ts'

/** A client may say as much as two seconds' worth at once, and this much in any case. */
const LEAST_BURST = 100
/** Refused messages after which a socket is closed. */
const MAX_REFUSED = 200
/** What is taken up in one turn; other requests get theirs between. */
const MAX_TURN_MESSAGES = 250
/** Characters that may wait for the next turn. */
const MAX_WAITING_LENGTH = 1024 * 1024

/** As clients write their answers to a probe; other spellings are read like any message. */
const SIGNS: ReadonlySet<unknown> = new Set(['{"type":"check"}', '3'])

const STOPPED = 'The conversation is stopped; start it first'
const TOO_FAST = 'Too many messages at once; send again after a second'
const NOT_STORED = 'The service could not store this; send it again'
const JOIN_FIRST = 'Join the default namespace first'
const NO_BINARY = 'Binary packets are not supported'

type Allowance = { left: number; at: number; refused: number }

/** A message that waits for its turn; taking it up yields what its sender is told. */
type Waiting = { socket: WebSocket; length: number; takeUp: () => string[] }

type IoEvent = Extract<IoFrame, { ack: number | null }>

export class SocketMessages {
  readonly #room: Room
  readonly #perSecond: number
  readonly #allowances = new WeakMap<WebSocket, Allowance>()
  /** Binary frames that belong to a packet which has been refused already. */
  readonly #attachments = new WeakMap<WebSocket, number>()
  #waiting: Waiting[] = []
  #waitingLength = 0

  constructor(room: Room, perSecond: number) {
    this.#room = room
    this.#perSecond = perSecond
  }

  /** Nothing that a key says is taken up unless the key is good. */
  receive(socket: WebSocket, data: string | ArrayBuffer): void {
    const { sessions, permits } = this.#room
    sessions.expireDue()
    // A sign of life that was asked for says nothing else, and is due in time.
    if (SIGNS.has(data) && sessions.signOfLife(socket)) return
    permits.pass(sessions.keyOf(socket), lengthOf(data), () => this.#take(socket, data))
  }

  #take(socket: WebSocket, data: string | ArrayBuffer): void {
    const protocol = this.#room.sessions.protocolOf(socket)
    if (protocol === 'plain') this.#receivePlain(socket, data)
    else if (protocol === 'socket.io') this.#receiveIo(socket, data)
  }

  #receivePlain(socket: WebSocket, data: string | ArrayBuffer): void {
    const frame = readPlainFrame(data)
    if (frame.kind === 'check') this.#receiveSign(socket)
    else if (!this.#mayGoOn(socket)) this.#say(socket, plainError(frame, TOO_FAST))
    else if (frame.kind === 'ping') this.#say(socket, [JSON.stringify({ type: 'pong' })])
    else this.#wait({ socket, length: lengthOf(data), takeUp: () => this.#plainAnswers(frame) })
  }

  #plainAnswers(frame: Extract<PlainFrame, { kind: 'action' | 'invalid' }>): string[] {
    if (frame.kind === 'invalid') return [JSON.stringify(frame.answer)]
    const { event, ref } = frame
    const outcome = this.#store(event, ref)
    if (typeof outcome === 'string') return plainError(frame, outcome)
    return ref === null ? [] : [JSON.stringify({ type: 'ack', ref, event_id: outcome })]
  }

  #receiveIo(socket: WebSocket, data: string | ArrayBuffer): void {
    const { sessions } = this.#room
    const frame = readIoFrame(data)
    if (frame.kind === 'pong') this.#receiveSign(socket)
    else if (frame.kind === 'attachment') this.#receiveAttachment(socket)
    else if (frame.kind === 'leave') {
      // What it said before it left counts.
      this.#takeUp(this.#waiting.length)
      sessions.close(socket, { code: 1000, reason: 'left', farewell: false })
    } else if ('ack' in frame) this.#receiveIoEvent(socket, lengthOf(data), frame)
    else if (!this.#mayGoOn(socket)) this.#say(socket, ioError(TOO_FAST))
    else if (frame.kind === 'join') sessions.join(socket)
    else if (frame.kind === 'foreign-namespace') this.#say(socket, [refused('Invalid namespace', frame.nsp)])
    else this.#say(socket, [`3${frame.data}`])
  }

  #receiveIoEvent(socket: WebSocket, length: number, frame: IoEvent): void {
    if (frame.kind === 'binary') this.#attachments.set(socket, frame.attachments)
    if (!this.#mayGoOn(socket)) this.#say(socket, ioAnswers(frame.ack, TOO_FAST))
    else if (!this.#room.sessions.hasJoined(socket)) this.#say(socket, ioAnswers(frame.ack, JOIN_FIRST))
    else this.#wait({ socket, length, takeUp: () => ioAnswers(frame.ack, this.#ioOutcome(frame)) })
  }

  /** The packet that a binary frame belongs to came before it and has been refused. */
  #receiveAttachment(socket: WebSocket): void {
    const expected = this.#attachments.get(socket) ?? 0
    this.#attachments.set(socket, Math.max(expected - 1, 0))
    if (!this.#mayGoOn(socket)) this.#say(socket, ioError(TOO_FAST))
    else if (expected === 0) this.#say(socket, ioError(NO_BINARY))
  }

  /** One that nobody asked for is a message like any other. */
  #receiveSign(socket: WebSocket): void {
    if (!this.#room.sessions.signOfLife(socket)) this.#mayGoOn(socket)
  }

  #ioOutcome(frame: IoEvent): number | string {
    if (frame.kind === 'binary') return NO_BINARY
    return frame.kind === 'invalid' ? frame.message : this.#store(frame.event, null)
  }

  /** The id of the stored event, or why there is none. */
  #store(event: ActionEvent, ref: string | null): number | string {
    const { running, usage } = this.#room
    if (!running) return STOPPED
    if (usage.full !== null) return this.#refuseFull(usage.full)
    try {
      return this.#room.receive(event, ref)
    } catch (error) {
      log.error('socket.message_failed', errorFields(error))
      return NOT_STORED
    }
  }

  /** Asks whether it is still so, for the next time. */
  #refuseFull({ used, allowed }: Storage): string {
    this.#room.usage.lookAgain()
    return `The limit "stored_bytes" is reached: ${used} of ${allowed} are used. Delete conversations, or files in their workspaces.`
  }

  #wait(message: Waiting): void {
    if (this.#waiting.length === 0) this.#takeUpSoon()
    this.#waiting.push(message)
    this.#waitingLength += message.length
    if (this.#waitingLength > MAX_WAITING_LENGTH) this.#takeUp(this.#waiting.length)
  }

  #takeUpSoon(): void {
    setTimeout(() => {
      this.#takeUp(MAX_TURN_MESSAGES)
      if (this.#waiting.length > 0) this.#takeUpSoon()
    }, 0)
  }

  #takeUp(count: number): void {
    const answers: { socket: WebSocket; texts: string[] }[] = []
    this.#room.sessions.together(() => {
      for (const { socket, length, takeUp } of this.#waiting.splice(0, count)) {
        this.#waitingLength -= length
        answers.push({ socket, texts: takeUp() })
      }
    })
    for (const { socket, texts } of answers) this.#say(socket, texts)
  }

  #say(socket: WebSocket, texts: string[]): void {
    for (const text of texts) this.#room.sessions.send(socket, text)
  }

  /** Takes one message off what the client may still say now; whoever is refused more often than not is cut off. */
  #mayGoOn(socket: WebSocket): boolean {
    const now = Date.now()
    const burst = Math.max(LEAST_BURST, 2 * this.#perSecond)
    const known = this.#allowances.get(socket) ?? { left: burst, at: now, refused: 0 }
    const left = Math.min(burst, known.left + ((now - known.at) / 1000) * this.#perSecond)
    const isAllowed = left >= 1
    const refusals = isAllowed ? Math.max(known.refused - 1, 0) : known.refused + 1
    this.#allowances.set(socket, { left: isAllowed ? left - 1 : left, at: now, refused: refusals })
    if (refusals > MAX_REFUSED) {
      // What it said within its limits is answered first.
      this.#takeUp(this.#waiting.length)
      this.#room.sessions.close(socket, { code: 1008, reason: 'too many messages', farewell: true })
    }
    return isAllowed
  }
}

const lengthOf = (data: string | ArrayBuffer): number => (typeof data === 'string' ? data.length : data.byteLength)

function plainError(frame: PlainFrame, message: string): string[] {
  return [JSON.stringify({ type: 'error', ...refOf(frame), message })]
}

function refOf(frame: PlainFrame): { ref?: string } {
  if (frame.kind === 'action' && frame.ref !== null) return { ref: frame.ref }
  return frame.kind === 'invalid' && frame.answer.ref !== undefined ? { ref: frame.answer.ref } : {}
}

const ioError = (message: string): string[] => socketIo.announcement({ error: true, message })

/** What a Socket.IO client hears about its event: what was wrong as a frame, and the outcome when it asked for one. */
function ioAnswers(ack: number | null, outcome: number | string): string[] {
  const isError = typeof outcome === 'string'
  const answer = isError ? { error: true, message: outcome } : { success: true, event_id: outcome }
  return [...(isError ? ioError(outcome) : []), ...(ack === null ? [] : [acknowledged(ack, answer)])]
}
