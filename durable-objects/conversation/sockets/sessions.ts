// The sockets of a conversation, of both protocols. A socket is live when it has been sent all events of the log. Until
// then it is catching up: it reads the log and gets no broadcasts. The change from catching up to live is synchronous,
// so no event is lost between replay and live.
//
// The runtime does not report how many sent bytes a client has not received yet. So each socket gets a probe after a
// number of bytes. A socket with too many unconfirmed bytes goes back to catching up, where it needs no memory, and
// continues from the log after its answer. A socket that does not answer is closed. No other client waits for it.

import type { Announcement, StoredEvent, StreamFrame } from '../../../src/agent/events.ts'
import type { SocketCredential } from '../../../src/bindings.ts'
import type { EventLog } from '../events/event-log.ts'
import { LiveTail } from './live-tail.ts'
import { Outgoing } from './outgoing.ts'
import { type Frame, frameOf, Session } from './session.ts'
import { Attachment, type Goodbye, KEY_EXPIRED, NO_SIGN } from './session-attachment.ts'
import { accepted } from './socket-io.ts'
import type { SocketProtocol } from './socket-protocol.ts'

/** Events in one read of the replay, and the number of reads between two pauses, in which other requests run. */
const REPLAY_EVENTS = 100
const REPLAY_READS = 8

type SessionsHost = {
  /** Requests a call of `ping` at that time at the latest, epoch ms. */
  wakeAt(at: number): void
  /** The number of clients may have changed. */
  countChanged(): void
  /** A socket of the key was closed. */
  left(key: string | null): void
  /** Requests a call of `expire` at that time at the latest, epoch ms. */
  expireAt(at: number): void
  /** Notes what was sent; returns for how many ms the next frames have to wait. */
  sent(what: 'frame' | 'replay', count: number): number
}

export type Newcomer = {
  protocol: Attachment['protocol']
  /** The id of the last event that the client has. */
  after: number
  credential: SocketCredential
}

export class Sessions {
  readonly #ctx: DurableObjectState
  readonly #log: EventLog
  readonly #sessions = new Map<WebSocket, Session>()
  readonly #host: SessionsHost
  readonly #tail = new LiveTail()
  #held: StoredEvent[] | null = null
  readonly outgoing = new Outgoing({
    send: (events) => {
      this.expireDue()
      const frames = sendToAll(this.#sessions.values(), events)
      return frames === 0 ? 0 : this.#host.sent('frame', frames)
    },
  })
  /** When the first socket must be closed, epoch ms. */
  #nextEnd = Number.POSITIVE_INFINITY

  /** Takes over the sockets that survived the last instance; those that were catching up go on. */
  constructor(ctx: DurableObjectState, log: EventLog, host: SessionsHost) {
    this.#ctx = ctx
    this.#log = log
    this.#host = host
    for (const socket of ctx.getWebSockets()) {
      // A closed socket is still listed until the other side has answered.
      if (socket.readyState !== WebSocket.READY_STATE_OPEN || ctx.getTags(socket).length > 0) continue
      const session = this.#open(socket, Attachment.parse(socket.deserializeAttachment()))
      this.#nextEnd = Math.min(this.#nextEnd, session.attachment.until ?? Number.POSITIVE_INFINITY)
      // A socket with an open probe may have many unconfirmed bytes; its answer starts it again.
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

  /** Whether a client is live: only live clients get frames that are not stored. */
  get hasListener(): boolean {
    return [...this.#sessions.values()].some(({ isLive }) => isLive)
  }

  /** Accepts a client that has everything up to `after`, and returns its end of the socket. */
  accept({ protocol, after, credential }: Newcomer): WebSocket {
    const { 0: client, 1: server } = new WebSocketPair()
    this.#ctx.acceptWebSocket(server)
    const sid = crypto.randomUUID()
    const joined = protocol === 'plain'
    const fresh = { protocol, sid, sent: after, joined, askedAt: null, heardAt: Date.now() }
    const session = this.#open(server, { ...fresh, ...credential })
    session.attach({})
    if (credential.until !== null) {
      this.#nextEnd = Math.min(this.#nextEnd, credential.until)
      this.#host.expireAt(credential.until)
    }
    for (const text of session.protocol.greeting(sid)) session.deliver(frameOf(text))
    this.#catchUp(session)
    this.#host.wakeAt(session.nextLook(Date.now()))
    if (joined) this.#host.countChanged()
    return client
  }

  /** Null for an unknown socket. */
  of(socket: WebSocket): Session | null {
    return this.#sessions.get(socket) ?? null
  }

  /** How many sockets there are of each key. */
  countByKey(): Map<string | null, number> {
    const counts = new Map<string | null, number>()
    for (const { attachment } of this.#sessions.values()) {
      counts.set(attachment.key, (counts.get(attachment.key) ?? 0) + 1)
    }
    return counts
  }

  /** A Socket.IO client joins; asking a second time changes nothing. */
  join(socket: WebSocket): void {
    const session = this.#sessions.get(socket)
    if (session === undefined || session.attachment.joined) return
    session.attach({ joined: true })
    session.deliver(frameOf(accepted(session.attachment.sid)))
    this.#catchUp(session)
    this.#host.countChanged()
  }

  /** Sends everything that is broadcast while `run` runs in one frame. */
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

  /** Sends stored events to every live socket. */
  broadcast(events: readonly StoredEvent[]): void {
    if (this.#held !== null) {
      this.#held.push(...events)
      return
    }
    if (events.length === 0) return
    this.#tail.stored(events)
    this.outgoing.add(events)
  }

  /** Sends a frame that is no event to everyone who is live: it is not stored and never replayed. */
  announce(announcement: Announcement): void {
    this.outgoing.flush()
    this.expireDue()
    for (const session of this.#sessions.values()) {
      if (!session.isLive) continue
      for (const text of session.protocol.announcement(announcement)) session.deliver(frameOf(text))
    }
  }

  /** Sends a frame that is useful only now, to clients of the plain protocol that are live. */
  stream(shown: StreamFrame): void {
    this.#tail.sent(shown)
    this.outgoing.flush()
    this.expireDue()
    const frame = frameOf(JSON.stringify(shown))
    for (const session of this.#sessions.values()) {
      if (session.attachment.protocol === 'plain' && session.isLive) session.deliver(frame)
    }
  }

  /** The client answers a probe: everything sent before it has arrived. False when there was no probe. */
  signOfLife(socket: WebSocket): boolean {
    const session = this.of(socket)
    if (session === null || session.attachment.askedAt === null) return false
    // A client that has not joined is not kept open by its answers.
    if (!session.attachment.joined) return true
    session.answered(Date.now())
    this.#catchUp(session)
    // For what was sent after the answered probe: without a new probe its arrival would not be known.
    session.probeIfDue()
    return true
  }

  /** Sends the probes that are due, and closes sockets that did not answer the last one. */
  ping(now: number): void {
    this.close((session) => session.isSilent(now), NO_SIGN)
    let next = Number.POSITIVE_INFINITY
    for (const session of [...this.#sessions.values()]) {
      if (session.isToBeAsked(now)) session.ask(now)
      next = Math.min(next, session.nextLook(now))
    }
    if (next < Number.POSITIVE_INFINITY) this.#host.wakeAt(next)
    // There were sockets when the alarm was set; they may have closed without an event.
    else this.#host.countChanged()
  }

  /** To be called when a socket was closed. */
  forget(socket: WebSocket): void {
    const isKnown = this.#sessions.delete(socket)
    if (isKnown) this.#host.countChanged()
    // A socket that closed while the object slept is unknown here, but its key's count still includes it.
    this.#host.left(Attachment.parse(socket.deserializeAttachment()).key)
  }

  /** Nothing is sent to an expired socket and nothing is taken from it, even if the alarm is late. */
  expireDue(): void {
    if (Date.now() >= this.#nextEnd) this.expire(Date.now())
  }

  /** Closes expired sockets, and requests a call for the next one. */
  expire(now: number): void {
    const isOver = ({ attachment: { until } }: Session) => until !== null && until <= now
    this.close(isOver, KEY_EXPIRED)
    const ends = [...this.#sessions.values()].flatMap(({ attachment: { until } }) => until ?? [])
    this.#nextEnd = Math.min(Number.POSITIVE_INFINITY, ...ends)
    if (ends.length > 0) this.#host.expireAt(this.#nextEnd)
  }

  /** Closes some of the sockets. */
  close(which: (session: Session) => boolean, goodbye: Goodbye): void {
    this.outgoing.flush()
    for (const session of [...this.#sessions.values()].filter(which)) {
      this.forget(session.socket)
      session.end(goodbye)
    }
  }

  #open(socket: WebSocket, attachment: Attachment): Session {
    const session = new Session(socket, attachment, {
      wakeAt: this.#host.wakeAt,
      gone: (closed) => this.forget(closed),
      pingedAt: (asked) => this.#ctx.getWebSocketAutoResponseTimestamp(asked)?.getTime() ?? 0,
    })
    this.#sessions.set(socket, session)
    return session
  }

  /**
   * Sends the events after the last one that was sent, until none is left or the client has too many unconfirmed bytes.
   */
  #catchUp(session: Session): void {
    const { sent, joined } = session.attachment
    if (session.isReplaying || sent === null || !joined) return
    session.isReplaying = true
    this.#ctx.waitUntil(
      this.#replay(session, sent).finally(() => {
        session.isReplaying = false
      }),
    )
  }

  async #replay(session: Session, after: number): Promise<void> {
    const newestState = this.#log.newestOf('observation:agent_state_changed')
    let sent = after
    for (let reads = 1; !session.owesTooMuch; reads++) {
      const events = this.#log.since(sent, REPLAY_EVENTS)
      const newest = events.at(-1)
      if (newest === undefined) {
        // Events that wait for the other sockets were read from the log here, so they are sent now to keep the order.
        this.outgoing.flush()
        session.attach({ sent: null })
        for (const text of session.protocol.ready(this.#log.last)) session.deliver(frameOf(text))
        // What the current step streamed before this client was live.
        if (session.attachment.protocol !== 'plain') return
        for (const frame of this.#tail.frames()) session.deliver(frameOf(JSON.stringify(frame)))
        return
      }
      for (const text of session.protocol.replayed(events, newestState)) {
        if (!session.deliver(frameOf(text))) return
      }
      sent = newest.id
      session.reached(sent)
      const waitMs = this.#host.sent('replay', 1)
      if (waitMs > 0 || reads % REPLAY_READS === 0) {
        session.attach({})
        await scheduler.wait(waitMs)
        if (!this.#sessions.has(session.socket)) return
      }
    }
    session.attach({})
  }
}

/** Sends to the live sockets and returns the number of frames. The text of each protocol is made once. */
function sendToAll(sessions: Iterable<Session>, events: readonly StoredEvent[]): number {
  const last = events.at(-1)?.id ?? null
  let sent = 0
  const made = new Map<SocketProtocol, Frame[]>()
  for (const session of sessions) {
    if (!session.isLive) continue
    let frames = made.get(session.protocol)
    if (frames === undefined) {
      frames = session.protocol.live(events).map(frameOf)
      made.set(session.protocol, frames)
    }
    const isThere = frames.every((frame) => session.deliver(frame))
    sent += frames.length
    if (isThere && session.owesTooMuch) session.attach({ sent: last })
  }
  return sent
}
