// The sockets of a conversation, whatever protocol they speak. A socket is live when it has been sent everything the log
// holds; until then it is catching up, reads the log itself and is left out of broadcasts. The step from one to the
// other is synchronous, so nothing falls between replay and live.
//
// The runtime does not tell how much of what was sent still waits for a client. So each socket is asked for a sign of
// life after so many bytes; one that owes too many of them falls back to catching up, where it costs no memory, and
// goes on from the log when the sign comes. One that stays silent is closed. Nobody else waits for it.
//
// What must outlive hibernation is in the attachment of each socket; the counters are not, and begin again at zero.

import { Buffer } from 'node:buffer'
import type { SocketCredential } from '../../src/bindings.ts'
import { errorFields, log as logger } from '../../src/lib/log.ts'
import type { EventLog, StoredEvent } from './event-log.ts'
import { CHECK_INTERVAL_MS, plain } from './plain-socket.ts'
import { Attachment, type Goodbye, KEY_EXPIRED } from './session-attachment.ts'
import { accepted, PING_INTERVAL_MS, PING_TIMEOUT_MS, socketIo } from './socket-io.ts'
import type { Announcement, SocketProtocol } from './socket-protocol.ts'

/** Events of one read of the replay, and reads between two pauses: other requests get their turn. */
const REPLAY_EVENTS = 100
const REPLAY_READS = 8
/** Bytes after which a client is asked for a sign of life, and those it may owe at most. */
const PROBE_EVERY = 128 * 1024
const MAX_OWED = 1024 * 1024

const PROTOCOLS = { plain, 'socket.io': socketIo } as const

type Session = {
  readonly socket: WebSocket
  readonly protocol: SocketProtocol
  attachment: Attachment
  /** Bytes sent since the last sign of life, and those of them that were sent before the probe that is out. */
  owed: number
  asked: number | null
  replaying: boolean
}

type Surroundings = {
  /** To have `ping` called at that time at the latest, epoch ms. */
  wakeAt(at: number): void
  /** The number of clients may be another now. */
  countChanged(): void
  /** A socket of the key has gone. */
  left(key: string | null): void
  /** To have `expire` called at that time at the latest, epoch ms. */
  expireAt(at: number): void
}

export type Newcomer = {
  protocol: Attachment['protocol']
  /** The id of the last event that it has. */
  after: number
  credential: SocketCredential
}

/** A text with its size, which is the same for everyone who gets it. */
type Frame = { text: string; bytes: number }

export class Sessions {
  readonly #ctx: DurableObjectState
  readonly #log: EventLog
  readonly #sessions = new Map<WebSocket, Session>()
  readonly #around: Surroundings
  #held: StoredEvent[] | null = null
  /** When the first of the sockets must be gone, epoch ms. */
  #nextEnd = Number.POSITIVE_INFINITY

  /** Takes over the sockets that outlived the last instance; those that were catching up go on. */
  constructor(ctx: DurableObjectState, log: EventLog, around: Surroundings) {
    this.#ctx = ctx
    this.#log = log
    this.#around = around
    for (const socket of ctx.getWebSockets()) {
      // One that was closed is still listed until the other side has answered.
      if (socket.readyState !== WebSocket.READY_STATE_OPEN) continue
      const session = this.#open(socket, Attachment.parse(socket.deserializeAttachment()))
      this.#nextEnd = Math.min(this.#nextEnd, session.attachment.until ?? Number.POSITIVE_INFINITY)
      // Whoever owes a sign of life may owe a lot; the sign sets it going again.
      if (session.attachment.askedAt === null) this.#catchUp(session)
    }
  }

  /** How many clients have joined. */
  get count(): number {
    let joined = 0
    for (const { socket, attachment } of this.#sessions.values()) {
      if (attachment.joined && socket.readyState === WebSocket.READY_STATE_OPEN) joined += 1
    }
    return joined
  }

  /** Whether a client is live: others are not sent what is not stored. */
  get hasListener(): boolean {
    return [...this.#sessions.values()].some(({ attachment }) => attachment.sent === null)
  }

  /** Accepts a client that has everything up to `after`, and returns its end of the socket. */
  accept({ protocol, after, credential }: Newcomer): WebSocket {
    const { 0: client, 1: server } = new WebSocketPair()
    this.#ctx.acceptWebSocket(server)
    const sid = crypto.randomUUID()
    const joined = protocol === 'plain'
    const fresh = { protocol, sid, sent: after, joined, askedAt: null, heardAt: Date.now() }
    const session = this.#open(server, { ...fresh, ...credential })
    this.#attach(session, {})
    if (credential.until !== null) {
      this.#nextEnd = Math.min(this.#nextEnd, credential.until)
      this.#around.expireAt(credential.until)
    }
    for (const text of session.protocol.greeting(sid)) this.#deliver(session, frameOf(text))
    this.#catchUp(session)
    this.#around.wakeAt(nextLook(session, Date.now()))
    if (joined) this.#around.countChanged()
    return client
  }

  protocolOf(socket: WebSocket): Attachment['protocol'] | null {
    return this.#sessions.get(socket)?.attachment.protocol ?? null
  }

  /** Null also for a socket that is not known any more. */
  keyOf(socket: WebSocket): string | null {
    return this.#sessions.get(socket)?.attachment.key ?? null
  }

  /** How many sockets there are of each key. */
  countByKey(): Map<string | null, number> {
    const counts = new Map<string | null, number>()
    for (const { attachment } of this.#sessions.values()) {
      counts.set(attachment.key, (counts.get(attachment.key) ?? 0) + 1)
    }
    return counts
  }

  hasJoined(socket: WebSocket): boolean {
    return this.#sessions.get(socket)?.attachment.joined ?? false
  }

  /** A Socket.IO client joins; asking a second time changes nothing. */
  join(socket: WebSocket): void {
    const session = this.#sessions.get(socket)
    if (session === undefined || session.attachment.joined) return
    this.#attach(session, { joined: true })
    this.#deliver(session, frameOf(accepted(session.attachment.sid)))
    this.#catchUp(session)
    this.#around.countChanged()
  }

  /** Has everything that is broadcast while `run` runs leave together. */
  together(run: () => void): void {
    const held: StoredEvent[] = []
    this.#held = held
    try {
      run()
    } finally {
      this.#held = null
      this.broadcast(held)
    }
  }

  /** Sends stored events to every live socket. Each protocol's text is made once. */
  broadcast(events: readonly StoredEvent[]): void {
    if (this.#held !== null) {
      this.#held.push(...events)
      return
    }
    const last = events.at(-1)?.id
    if (last === undefined) return
    this.expireDue()
    const made = new Map<SocketProtocol, Frame[]>()
    for (const session of this.#sessions.values()) {
      if (session.attachment.sent !== null) continue
      let frames = made.get(session.protocol)
      if (frames === undefined) {
        frames = session.protocol.live(events).map(frameOf)
        made.set(session.protocol, frames)
      }
      const isThere = frames.every((frame) => this.#deliver(session, frame))
      if (isThere && session.owed > MAX_OWED) this.#attach(session, { sent: last })
    }
  }

  /** Sends a frame that is no event to everyone who is live: it is not stored and never replayed. */
  announce(announcement: Announcement): void {
    this.expireDue()
    for (const session of this.#sessions.values()) {
      if (session.attachment.sent !== null) continue
      for (const text of session.protocol.announcement(announcement)) this.#deliver(session, frameOf(text))
    }
  }

  /** Sends what is only worth something now: to clients of the plain protocol that keep up with the events. */
  stream(text: string): void {
    this.expireDue()
    const frame = frameOf(text)
    for (const session of this.#sessions.values()) {
      if (session.attachment.protocol === 'plain' && session.attachment.sent === null) this.#deliver(session, frame)
    }
  }

  /** Sends one text to one client as it is. */
  send(socket: WebSocket, text: string): void {
    const session = this.#sessions.get(socket)
    if (session !== undefined) this.#deliver(session, frameOf(text))
  }

  /** The client answers a probe: everything sent before it has arrived. False when nobody asked. */
  signOfLife(socket: WebSocket): boolean {
    const session = this.#sessions.get(socket)
    if (session === undefined || session.attachment.askedAt === null) return false
    // Whoever does not join is not kept for saying that it is there.
    if (!session.attachment.joined) return true
    session.owed -= session.asked ?? 0
    session.asked = null
    this.#attach(session, { askedAt: null, heardAt: Date.now() })
    this.#catchUp(session)
    // Covers what was sent after the probe that was answered: nobody would hear that it arrived.
    this.#probeIfDue(session)
    return true
  }

  /** Asks everyone who must be asked, and closes those who did not answer the last time. */
  ping(now: number): void {
    let next = Number.POSITIVE_INFINITY
    for (const session of [...this.#sessions.values()]) {
      const { askedAt } = session.attachment
      if (askedAt !== null && now - askedAt >= PING_TIMEOUT_MS) {
        // No farewell: a Socket.IO client takes it for a dismissal and does not come back.
        this.#drop(session, { code: 1013, reason: 'no sign of life', farewell: false })
      } else {
        if (askedAt === null && this.#isToBeAsked(session, now)) this.#ask(session, now)
        next = Math.min(next, nextLook(session, now))
      }
    }
    if (next < Number.POSITIVE_INFINITY) this.#around.wakeAt(next)
    // There were sockets when the alarm was set: whoever took them away may not have told anybody.
    else this.#around.countChanged()
  }

  /** To be called when a socket has gone. */
  forget(socket: WebSocket): void {
    const isKnown = this.#sessions.delete(socket)
    if (isKnown) this.#around.countChanged()
    // One that was closed while the object slept is not known, but whoever counts sockets has it still.
    this.#around.left(Attachment.parse(socket.deserializeAttachment()).key)
  }

  /** Closes the sockets of a key. */
  closeKey(key: string, goodbye: Goodbye): void {
    for (const session of [...this.#sessions.values()]) {
      if (session.attachment.key === key) this.#drop(session, goodbye)
    }
  }

  /** Nothing is sent to a socket whose time is over, and nothing is taken from it, should the alarm be late. */
  expireDue(): void {
    if (Date.now() >= this.#nextEnd) this.expire(Date.now())
  }

  /** Closes the sockets whose time is over, and asks to be called for the next. */
  expire(now: number): void {
    const ends: number[] = []
    for (const session of [...this.#sessions.values()]) {
      const { until } = session.attachment
      if (until === null) continue
      if (until <= now) this.#drop(session, KEY_EXPIRED)
      else ends.push(until)
    }
    this.#nextEnd = ends.length === 0 ? Number.POSITIVE_INFINITY : Math.min(...ends)
    if (ends.length > 0) this.#around.expireAt(this.#nextEnd)
  }

  /** Says farewell to everyone and closes. */
  closeAll(reason: string): void {
    for (const session of [...this.#sessions.values()]) this.#drop(session, { code: 1000, reason, farewell: true })
  }

  /** Closes one socket, with the protocol's farewell or without. */
  close(socket: WebSocket, goodbye: Goodbye): void {
    const session = this.#sessions.get(socket)
    if (session !== undefined) this.#drop(session, goodbye)
  }

  #open(socket: WebSocket, attachment: Attachment): Session {
    const protocol = PROTOCOLS[attachment.protocol]
    const session: Session = { socket, protocol, attachment, owed: 0, asked: null, replaying: false }
    this.#sessions.set(socket, session)
    return session
  }

  /** Sends what the log holds beyond the last event sent, until nothing is left or the client owes too much. */
  #catchUp(session: Session): void {
    if (session.replaying || session.attachment.sent === null || !session.attachment.joined) return
    session.replaying = true
    this.#ctx.waitUntil(
      this.#replay(session, session.attachment.sent).finally(() => {
        session.replaying = false
      }),
    )
  }

  async #replay(session: Session, after: number): Promise<void> {
    const newestState = this.#log.newestOf('observation:agent_state_changed')
    let sent = after
    for (let reads = 1; session.owed <= MAX_OWED; reads++) {
      const events = this.#log.since(sent, REPLAY_EVENTS)
      const newest = events.at(-1)
      if (newest === undefined) {
        this.#attach(session, { sent: null })
        for (const text of session.protocol.ready(this.#log.last)) this.#deliver(session, frameOf(text))
        return
      }
      for (const text of session.protocol.replayed(events, newestState)) {
        if (!this.#deliver(session, frameOf(text))) return
      }
      sent = newest.id
      session.attachment = { ...session.attachment, sent }
      if (reads % REPLAY_READS === 0) {
        this.#attach(session, {})
        await scheduler.wait(0)
        if (!this.#sessions.has(session.socket)) return
      }
    }
    this.#attach(session, {})
  }

  /** False when the socket turned out to be closed; its client comes back with its last id and misses nothing. */
  #deliver(session: Session, { text, bytes }: Frame): boolean {
    if (!this.#write(session, text)) return false
    session.owed += bytes
    this.#probeIfDue(session)
    return true
  }

  #probeIfDue(session: Session): void {
    if (session.owed <= PROBE_EVERY || session.asked !== null) return
    const now = Date.now()
    this.#ask(session, now)
    this.#around.wakeAt(now + PING_TIMEOUT_MS)
  }

  #ask(session: Session, now: number): void {
    if (!this.#write(session, session.protocol.probe())) return
    session.asked = session.owed
    this.#attach(session, { askedAt: session.attachment.askedAt ?? now })
  }

  #isToBeAsked({ socket, attachment }: Session, now: number): boolean {
    if (attachment.protocol === 'socket.io') return true
    // A ping that the runtime answered by itself is a sign of life too.
    const pingedAt = this.#ctx.getWebSocketAutoResponseTimestamp(socket)?.getTime() ?? 0
    return now - Math.max(attachment.heardAt, pingedAt) >= CHECK_INTERVAL_MS
  }

  #write(session: Session, text: string): boolean {
    try {
      session.socket.send(text)
      return true
    } catch (error) {
      logger.debug('socket.send_failed', errorFields(error))
      this.forget(session.socket)
      return false
    }
  }

  #drop({ socket, protocol }: Session, { code, reason, farewell }: Goodbye): void {
    this.forget(socket)
    try {
      if (farewell) for (const text of protocol.farewell(reason)) socket.send(text)
      socket.close(code, reason)
    } catch (error) {
      // The other side was faster.
      logger.debug('socket.close_failed', errorFields(error))
    }
  }

  #attach(session: Session, changes: Partial<Attachment>): void {
    session.attachment = { ...session.attachment, ...changes }
    session.socket.serializeAttachment(session.attachment)
  }
}

const frameOf = (text: string): Frame => ({ text, bytes: Buffer.byteLength(text) })

/** When this socket must be looked after next. One wake-up in 25 s serves all Socket.IO clients: both their pings and silence. */
function nextLook({ attachment: { protocol, askedAt } }: Session, now: number): number {
  if (protocol === 'socket.io') return now + PING_INTERVAL_MS
  return askedAt === null ? now + CHECK_INTERVAL_MS : askedAt + PING_TIMEOUT_MS
}
