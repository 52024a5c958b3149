// The viewers of a conversation's terminal. Output goes to all of them at once. A viewer that is too slow is
// disconnected, and connects again from the position that it has reached; the programs run at the speed of the fastest
// viewer.

import { type Bucket, spend } from '../../../src/limits/bucket.ts'
import { PORT_WINDOW_BYTES } from '../../../src/runners/port-wire.ts'
import type { TerminalSize } from '../../../src/runners/terminal-wire.ts'
import type { Goodbye } from './session-attachment.ts'
import { KEY_EXPIRED } from './session-attachment.ts'
import { TERMINAL_TAG, TerminalViewer, TOO_SLOW, type ViewerAttachment } from './terminal-viewer.ts'

const SIZE_OF_NOBODY: TerminalSize = { cols: 80, rows: 24 }
/** The message limit of a viewer, 200 a second in the long run: moving the mouse sends many. */
const MESSAGES = { count: 1000, windowMs: 5_000 }
/** If no viewer acknowledges anything within this time, the viewers are closed, and the programs go on. */
const STALLED_MS = 30_000

type Host = {
  /** A socket of the key was closed. */
  left(key: string | null): void
  /** Requests a call of `expire` at that time at the latest, epoch ms. */
  expireAt(at: number): void
  /** A viewer came or left, or a shell is there for the viewers. */
  changed(): void
}

export class TerminalViewers {
  readonly #ctx: DurableObjectState
  readonly #host: Host
  readonly #viewers = new Map<WebSocket, TerminalViewer>()
  readonly #buckets = new WeakMap<TerminalViewer, Bucket>()
  #wakeRoom: (() => void) | null = null

  /** Takes over the sockets that survived the last instance. */
  constructor(ctx: DurableObjectState, host: Host) {
    this.#ctx = ctx
    this.#host = host
    for (const socket of ctx.getWebSockets(TERMINAL_TAG)) {
      if (socket.readyState === WebSocket.READY_STATE_OPEN) this.#viewers.set(socket, new TerminalViewer(socket))
    }
  }

  get count(): number {
    return this.#viewers.size
  }

  get all(): TerminalViewer[] {
    return [...this.#viewers.values()]
  }

  /** The smallest size among viewers that may type, so that none of them sees a cut-off screen. */
  get size(): TerminalSize {
    const sizes = this.all.flatMap(({ attachment: { isReader, size } }) => (isReader || size === null ? [] : [size]))
    if (sizes.length === 0) return SIZE_OF_NOBODY
    return { cols: Math.min(...sizes.map(({ cols }) => cols)), rows: Math.min(...sizes.map(({ rows }) => rows)) }
  }

  /** Unacknowledged bytes of the fastest viewer. */
  get #leastBehind(): number {
    return this.#viewers.size === 0 ? 0 : Math.min(...this.all.map(({ behind }) => behind))
  }

  accept(fresh: ViewerAttachment): { viewer: TerminalViewer; client: WebSocket } {
    const { 0: client, 1: server } = new WebSocketPair()
    this.#ctx.acceptWebSocket(server, [TERMINAL_TAG])
    const viewer = new TerminalViewer(server, fresh)
    this.#viewers.set(server, viewer)
    if (fresh.until !== null) this.#host.expireAt(fresh.until)
    this.changed()
    return { viewer, client }
  }

  of(socket: WebSocket): TerminalViewer | null {
    return this.#viewers.get(socket) ?? null
  }

  countOf(key: string | null): number {
    return this.all.filter(({ attachment }) => attachment.key === key).length
  }

  /** Whether one more message of the viewer is taken. */
  mayGoOn(viewer: TerminalViewer): boolean {
    const now = Date.now()
    const bucket = this.#buckets.get(viewer) ?? { tokens: MESSAGES.count, at: now }
    this.#buckets.set(viewer, bucket)
    return spend(bucket, MESSAGES, { spent: 0, now }).ok
  }

  tell(message: Record<string, unknown>): void {
    for (const viewer of this.all) viewer.tell(message)
  }

  /** Sends output to the viewers that have everything before it; the others get it from the kept output. */
  show(bytes: Uint8Array, { terminal, from, to }: { terminal: string; from: number; to: number }): void {
    this.expire(Date.now())
    for (const viewer of this.all) {
      const { attachment } = viewer
      if (attachment.terminal !== terminal || attachment.position !== from) continue
      viewer.show(bytes, to)
      if (viewer.isTooSlow) this.close((one) => one === viewer, TOO_SLOW)
    }
  }

  /** Nothing is sent to an expired socket and nothing is taken from it. */
  expire(now: number): void {
    this.close((viewer) => viewer.isOver(now), KEY_EXPIRED)
    const ends = this.all.flatMap(({ attachment: { until } }) => until ?? [])
    if (ends.length > 0) this.#host.expireAt(Math.min(...ends))
  }

  close(which: (viewer: TerminalViewer) => boolean, goodbye: Goodbye): void {
    for (const viewer of this.all.filter(which)) {
      viewer.end(goodbye)
      this.forget(viewer.socket)
    }
  }

  forget(socket: WebSocket): void {
    const viewer = this.#viewers.get(socket) ?? new TerminalViewer(socket)
    this.#viewers.delete(socket)
    this.#host.left(viewer.attachment.key)
    this.changed()
  }

  changed(): void {
    this.wake()
    this.#host.changed()
  }

  /** Resolves when the fastest viewer has room, or when there are no viewers. */
  async room(): Promise<void> {
    while (this.#leastBehind > PORT_WINDOW_BYTES) {
      const before = this.#leastBehind
      const isWoken = await new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => resolve(false), STALLED_MS)
        this.#wakeRoom = () => {
          clearTimeout(timer)
          resolve(true)
        }
      })
      this.#wakeRoom = null
      if (!isWoken && this.#leastBehind >= before) this.close(({ behind }) => behind > 0, TOO_SLOW)
    }
  }

  /** Makes `room` check again. */
  wake(): void {
    this.#wakeRoom?.()
  }
}
