// The terminal of a conversation: it brings what its viewers type to the one shell on the runner. Nothing is stored
// here: after a wake-up this object asks the runner for the kept output, and viewers send their positions.

import { errorFields, log } from '../../../../src/lib/log.ts'
import { pastedBytes } from '../../../../src/lib/terminal-output.ts'
import type { Frame } from '../../../../src/runners/frames.ts'
import type { TerminalEnded } from '../../../../src/runners/terminal-wire.ts'
import type { Goodbye } from '../../sockets/session-attachment.ts'
import {
  MAX_VIEWER_FRAME_BYTES,
  NO_MESSAGE,
  NOT_TAKEN,
  type TerminalViewer,
  TOO_LONG,
  TOO_MANY,
  type ViewerAttachment,
  ViewerMessage,
} from '../../sockets/terminal-viewer.ts'
import { TerminalViewers } from '../../sockets/terminal-viewers.ts'
import type { PortLink } from './port-streams.ts'
import { TerminalShell } from './terminal-shell.ts'

export type TerminalDeps = {
  ctx: DurableObjectState
  maxViewers: number
  /** Null while no runner is connected. */
  link(): PortLink | null
  /** Searches for a runner; returns why there is none, or null. */
  whyNoRunner(): Promise<string | null>
  /** Whether the workspace has changed here since the runner's copy was made. */
  isBehind(): boolean
  bringUp(): Promise<void>
  /** A viewer's socket of the key was closed. */
  left(key: string | null): void
  expireAt(at: number): void
}

/** Typed bytes that may wait for the runner. */
const MAX_TYPED_BYTES = 1024 * 1024
const LINE_END = 0x0d
const READS_ONLY = 'This viewer only reads.'

export class ConversationTerminal {
  readonly viewers: TerminalViewers
  readonly #deps: TerminalDeps
  readonly #shell: TerminalShell
  #typed: Promise<void> = Promise.resolve()
  #typedBytes = 0

  constructor(deps: TerminalDeps) {
    this.#deps = deps
    this.viewers = new TerminalViewers(deps.ctx, {
      left: deps.left,
      expireAt: deps.expireAt,
      changed: () => this.#viewersChanged(),
    })
    this.#shell = new TerminalShell({ viewers: this.viewers, link: deps.link, bringUp: deps.bringUp })
  }

  get isFull(): boolean {
    return this.viewers.count >= this.#deps.maxViewers
  }

  /** Why a terminal is not possible; null when it is. */
  whyNone(): Promise<string | null> {
    return this.#deps.whyNoRunner()
  }

  /**
   * Returns the viewer's end of its socket. A viewer that had a shell before gets a new one only when it asks for it.
   */
  accept(fresh: ViewerAttachment): WebSocket {
    const { viewer, client } = this.viewers.accept(fresh)
    const { stream } = this.#shell
    if (stream !== null) this.#shell.show(viewer, stream)
    else this.#deps.ctx.waitUntil(this.#shell.open(fresh.terminal === null))
    return client
  }

  /** Processes a frame of a viewer whose key is valid. */
  said(socket: WebSocket, data: string | ArrayBuffer): void {
    const viewer = this.viewers.of(socket)
    if (viewer === null) return
    this.viewers.expire(Date.now())
    const length = typeof data === 'string' ? data.length : data.byteLength
    if (length > MAX_VIEWER_FRAME_BYTES) {
      this.#close(viewer, TOO_LONG)
      return
    }
    const message = typeof data === 'string' ? messageIn(data) : null
    const isFree = message?.type === 'ack' && viewer.acked(message.position)
    if (!isFree && !this.viewers.mayGoOn(viewer)) this.#close(viewer, TOO_MANY)
    else if (typeof data === 'string') this.#told(viewer, message)
    else this.#type(viewer, length, () => Promise.resolve(new Uint8Array(data)))
  }

  /** Throws a `BadFrame` for a frame that does not fit the stream. Late frames of an earlier stream are ignored. */
  received({ head, bytes }: Frame): void {
    if (head.t !== 'terminal') return
    if (this.#shell.took(head, bytes)) return
    // This instance has just woken: it opens the stream again for its viewers.
    if (this.#shell.stream === null && this.viewers.count > 0) this.#deps.ctx.waitUntil(this.#shell.open(false))
  }

  acked(stream: number, seq: number): void {
    this.#shell.acked(stream, seq)
  }

  ended(ended: TerminalEnded): void {
    this.#shell.ended(ended)
  }

  /** The connection to the runner is lost. */
  lost(): void {
    this.#shell.lost()
  }

  /** A runner has said hello, or its connection is lost. */
  linkChanged(): void {
    if (this.#deps.link() === null || this.viewers.count === 0 || this.#shell.stream !== null) return
    this.#shell.forgetEnd()
    this.#deps.ctx.waitUntil(this.#shell.open(false))
  }

  close(goodbye: Goodbye): void {
    this.viewers.close(() => true, goodbye)
  }

  #close(viewer: TerminalViewer, goodbye: Goodbye): void {
    this.viewers.close((one) => one === viewer, goodbye)
  }

  #told(viewer: TerminalViewer, message: ViewerMessage | null): void {
    if (message === null) this.#close(viewer, NO_MESSAGE)
    else if (message.type === 'ack') this.viewers.wake()
    else if (viewer.attachment.isReader) viewer.tell({ type: 'error', message: READS_ONLY })
    else if (message.type === 'resize') {
      viewer.attach({ size: { cols: message.cols, rows: message.rows } })
      this.#shell.resize()
    } else if (message.type === 'start') this.#deps.ctx.waitUntil(this.#start())
    else {
      const marked = async () => pastedBytes(message.text, (await this.#shell.stream?.isPasteMarked()) ?? false)
      this.#type(viewer, message.text.length, marked)
    }
  }

  /** Writes typed input, in the order in which it arrived. */
  #type(viewer: TerminalViewer, length: number, bytes: () => Promise<Uint8Array>): void {
    if (viewer.attachment.isReader) {
      viewer.tell({ type: 'error', message: READS_ONLY })
      return
    }
    this.#typedBytes += length
    if (this.#typedBytes > MAX_TYPED_BYTES) {
      this.#typedBytes -= length
      this.#close(viewer, NOT_TAKEN)
      return
    }
    const written = this.#typed.then(() => this.#write(bytes))
    this.#typed = written.catch((error) => log.debug('terminal.not_typed', errorFields(error)))
    const done = this.#typed.then(() => {
      this.#typedBytes -= length
    })
    this.#deps.ctx.waitUntil(done)
  }

  async #write(bytes: () => Promise<Uint8Array>): Promise<void> {
    const stream = this.#shell.isEnded ? null : await this.#shell.open(false)
    if (stream === null) return
    const typed = await bytes()
    // Changes of the workspace must be on the runner before a command that may need them.
    if (typed.includes(LINE_END) && this.#deps.isBehind()) await this.#deps.bringUp().catch(notBrought)
    await stream.writer.write(typed)
  }

  async #start(): Promise<void> {
    if (this.#shell.stream !== null) return
    const why = await this.#deps.whyNoRunner()
    if (why === null) await this.#shell.open(true)
    else this.#shell.tellEnded(why)
  }

  #viewersChanged(): void {
    if (this.viewers.count === 0) {
      this.#shell.close()
      return
    }
    this.viewers.tell({ type: 'viewers', count: this.viewers.count })
    this.#shell.resize()
  }
}

function messageIn(text: string): ViewerMessage | null {
  try {
    return ViewerMessage.safeParse(JSON.parse(text)).data ?? null
  } catch {
    // Not JSON: the caller treats it as an invalid message.
    return null
  }
}

const notBrought = (error: unknown): void => log.info('terminal.files_not_brought', errorFields(error))
