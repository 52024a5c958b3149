// The terminal of a conversation, for the people who look at it: one shell on the runner, any number of viewers. Nothing of it
// is stored here: an instance that wakes asks the runner for what it keeps, and viewers say how far they are.

import { errorFields, log } from '../../../../src/lib/log.ts'
import { pastedBytes } from '../../../../src/lib/terminal-output.ts'
import type { Frame } from '../../../../src/runners/frames.ts'
import { RpcError } from '../../../../src/runners/rpc.ts'
import { type TerminalEnded, TerminalOpened, type TerminalSize } from '../../../../src/runners/terminal-wire.ts'
import { PORT_WINDOW_BYTES, RPC_ERRORS } from '../../../../src/runners/wire.ts'
import type { Goodbye } from '../../sockets/session-attachment.ts'
import {
  MAX_VIEWER_FRAME_BYTES,
  NO_MESSAGE,
  NOT_TAKEN,
  type TerminalViewer,
  TOO_LONG,
  TOO_MANY,
  TOO_SLOW,
  type ViewerAttachment,
  ViewerMessage,
} from '../../sockets/terminal-viewer.ts'
import { TerminalViewers } from '../../sockets/terminal-viewers.ts'
import type { PortLink } from './port-streams.ts'
import { TerminalStream } from './terminal-stream.ts'

export type TerminalDeps = {
  ctx: DurableObjectState
  maxViewers: number
  /** Null while no runner is connected. */
  link(): PortLink | null
  /** Why no runner is there, when one was looked for; null when one is. */
  whyNoRunner(): Promise<string | null>
  /** Whether the workspace changed here since the runner's copy was made. */
  isBehind(): boolean
  bringUp(): Promise<void>
  /** A viewer's socket of the key was closed. */
  left(key: string | null): void
  expireAt(at: number): void
}

/** Bytes typed that the runner has not taken. */
const MAX_TYPED_BYTES = 1024 * 1024
/** In which nobody takes anything of what was sent: then they are closed, and the programs go on. */
const STALLED_MS = 30_000
const LINE_END = 0x0d
const READS_ONLY = 'This viewer only reads.'
const LOST = 'The connection to the runner broke. The terminal is shown again when it is back.'

export class ConversationTerminal {
  readonly viewers: TerminalViewers
  readonly #deps: TerminalDeps
  #stream: TerminalStream | null = null
  /** Asked for, not answered. */
  #coming: TerminalStream | null = null
  #opening: Promise<TerminalStream | null> | null = null
  #toldSize: TerminalSize | null = null
  /** The shell is gone, and nobody asked for another one. */
  #isEnded = false
  #typed: Promise<void> = Promise.resolve()
  #typedBytes = 0
  #wakeRoom: (() => void) | null = null
  /** Not from 0: what an earlier instance of this object began may be under way. */
  #next = Math.floor(Math.random() * 2 ** 40)

  constructor(deps: TerminalDeps) {
    this.#deps = deps
    this.viewers = new TerminalViewers(deps.ctx, {
      left: deps.left,
      expireAt: deps.expireAt,
      changed: () => this.#viewersChanged(),
    })
  }

  get isFull(): boolean {
    return this.viewers.count >= this.#deps.maxViewers
  }

  /** Why there can be no terminal; null when there can. */
  whyNone(): Promise<string | null> {
    return this.#deps.whyNoRunner()
  }

  /** Returns the viewer's end of its socket. One that had a shell before gets no other one until it asks. */
  accept(fresh: ViewerAttachment): WebSocket {
    const { viewer, client } = this.viewers.accept(fresh)
    this.#viewersChanged()
    if (this.#stream !== null) this.#join(viewer, this.#stream)
    else this.#deps.ctx.waitUntil(this.#opened(fresh.terminal === null))
    return client
  }

  /** A frame of a viewer, whose key is good. */
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

  /** Throws a `BadFrame` for what does not fit the stream. What is left of an earlier stream is passed by. */
  received({ head, bytes }: Frame): void {
    if (head.t !== 'terminal') return
    const stream = [this.#stream, this.#coming].find((one) => one?.id === head.stream)
    if (stream != null) stream.reader.take(head, bytes)
    // This instance has just woken: it begins anew with what its viewers have.
    else if (this.#stream === null && this.viewers.count > 0) this.#deps.ctx.waitUntil(this.#opened(false))
  }

  acked(stream: number, seq: number): void {
    if (this.#stream?.id === stream) this.#stream.writer.acked(seq)
  }

  ended({ stream, reason }: TerminalEnded): void {
    for (const one of [this.#stream, this.#coming]) if (one?.id === stream) one.ended(reason)
  }

  /** The connection to the runner is gone. */
  lost(): void {
    this.#coming?.close()
    if (this.#stream === null) return
    this.#leaveStream()
    this.viewers.tell({ type: 'lost', message: LOST })
  }

  /** A runner has said hello, or its connection is gone. */
  linkChanged(): void {
    if (this.#deps.link() === null || this.viewers.count === 0 || this.#stream !== null) return
    this.#isEnded = false
    this.#deps.ctx.waitUntil(this.#opened(false))
  }

  close(goodbye: Goodbye): void {
    this.viewers.close(() => true, goodbye)
  }

  #close(viewer: TerminalViewer, goodbye: Goodbye): void {
    this.viewers.close((one) => one === viewer, goodbye)
  }

  #told(viewer: TerminalViewer, message: ViewerMessage | null): void {
    if (message === null) this.#close(viewer, NO_MESSAGE)
    else if (message.type === 'ack') this.#wakeRoom?.()
    else if (viewer.attachment.isReader) viewer.tell({ type: 'error', message: READS_ONLY })
    else if (message.type === 'resize') {
      viewer.attach({ size: { cols: message.cols, rows: message.rows } })
      this.#resize()
    } else if (message.type === 'start') this.#deps.ctx.waitUntil(this.#start())
    else {
      const marked = async () => pastedBytes(message.text, (await this.#stream?.isPasteMarked()) ?? false)
      this.#type(viewer, message.text.length, marked)
    }
  }

  /** One after the other, in the order in which it came. */
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
    const stream = this.#isEnded ? null : await this.#opened(false)
    if (stream === null) return
    const typed = await bytes()
    // What was changed here is there before the command that may need it.
    if (typed.includes(LINE_END) && this.#deps.isBehind()) await this.#deps.bringUp().catch(notBrought)
    await stream.writer.write(typed)
  }

  async #start(): Promise<void> {
    if (this.#stream !== null) return
    const why = await this.#deps.whyNoRunner()
    if (why === null) await this.#opened(true)
    else this.#tellEnded(why)
  }

  /** The stream to the shell; null when there is none, which the viewers are told. `starts`: a shell, if there is none. */
  async #opened(starts: boolean): Promise<TerminalStream | null> {
    while (this.#opening !== null) {
      const stream = await this.#opening
      if (stream !== null || !starts) return stream
    }
    if (this.#stream !== null) return this.#stream
    this.#opening = this.#open(starts).finally(() => {
      this.#opening = null
    })
    return this.#opening
  }

  async #open(starts: boolean): Promise<TerminalStream | null> {
    const link = this.#deps.link()
    if (link === null) {
      this.viewers.tell({ type: 'lost', message: LOST })
      return null
    }
    const stream = this.#newStream(link)
    this.#coming = stream
    try {
      if (starts) await this.#deps.bringUp()
      const size = this.viewers.size
      const opened = await link.peer.call('terminal/open', { ...size, stream: stream.id, starts }, TerminalOpened)
      if (this.#coming !== stream || this.#deps.link()?.peer !== link.peer) return null
      const { terminal } = opened
      if (terminal === null) {
        this.#tellEnded(opened.reason || 'The shell is gone with its runner.')
        return null
      }
      this.#toldSize = size
      this.#stream = stream
      this.#isEnded = false
      stream.begin({ ...opened, terminal })
      for (const viewer of this.viewers.all) this.#join(viewer, stream)
      this.#viewersChanged()
      return stream
    } catch (error) {
      log.info('terminal.not_opened', errorFields(error))
      if (this.#deps.link() !== null) this.#tellEnded(whyNotOpened(error))
      return null
    } finally {
      this.#coming = null
      if (this.#stream !== stream) stream.close()
    }
  }

  #newStream(link: PortLink): TerminalStream {
    const stream = new TerminalStream(this.#next++, link, {
      show: ({ bytes, from, to }) => this.viewers.show(bytes, { terminal: stream.terminal, from, to }),
      places: () =>
        this.viewers.all.flatMap(({ attachment: { terminal, position } }) =>
          terminal === stream.terminal ? [position] : [],
        ),
      room: () => this.#room(),
      over: (reason) => {
        if (this.#stream !== stream) return
        this.#leaveStream()
        this.#tellEnded(reason)
      },
    })
    return stream
  }

  #join(viewer: TerminalViewer, stream: TerminalStream): void {
    const { terminal, position, isReader } = viewer.attachment
    const goesOn = terminal === stream.terminal && stream.continuesAt(position)
    const from = goesOn ? position : stream.first
    viewer.begins(stream.terminal, from)
    viewer.tell({
      type: 'ready',
      terminal: stream.terminal,
      position: from,
      reset: !goesOn,
      ...this.viewers.size,
      viewers: this.viewers.count,
      read_only: isReader,
    })
    for (const { bytes, to } of stream.since(from)) viewer.show(bytes, to)
  }

  #tellEnded(reason: string): void {
    this.#isEnded = true
    this.viewers.tell({ type: 'ended', message: reason })
  }

  /** Resolves when the viewer that is best off has room, or nobody is there. */
  async #room(): Promise<void> {
    while (this.viewers.leastBehind > PORT_WINDOW_BYTES) {
      const before = this.viewers.leastBehind
      const isWoken = await new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => resolve(false), STALLED_MS)
        this.#wakeRoom = () => {
          clearTimeout(timer)
          resolve(true)
        }
      })
      this.#wakeRoom = null
      if (!isWoken && this.viewers.leastBehind >= before) this.viewers.close(({ behind }) => behind > 0, TOO_SLOW)
    }
  }

  #viewersChanged(): void {
    this.#wakeRoom?.()
    if (this.viewers.count === 0) {
      this.#leaveStream()
      tellRunner(this.#deps.link(), 'terminal/close', {})
      return
    }
    this.viewers.tell({ type: 'viewers', count: this.viewers.count })
    this.#resize()
  }

  #resize(): void {
    const { size } = this.viewers
    if (this.#stream === null || (size.cols === this.#toldSize?.cols && size.rows === this.#toldSize.rows)) return
    this.#toldSize = size
    tellRunner(this.#deps.link(), 'terminal/resize', size)
    this.viewers.tell({ type: 'size', ...size })
  }

  #leaveStream(): void {
    const stream = this.#stream
    this.#stream = null
    this.#wakeRoom?.()
    stream?.close()
  }
}

function messageIn(text: string): ViewerMessage | null {
  try {
    return ViewerMessage.safeParse(JSON.parse(text)).data ?? null
  } catch {
    // No JSON: no message either.
    return null
  }
}

function whyNotOpened(error: unknown): string {
  if (error instanceof RpcError && error.code === RPC_ERRORS.methodNotFound)
    return "The runner is of an earlier release and has no terminal. Install the runner of the service's release."
  return 'The runner did not open a terminal. Its log says why; start it again.'
}

function tellRunner(link: PortLink | null, method: 'terminal/resize', size: TerminalSize): void
function tellRunner(link: PortLink | null, method: 'terminal/close', nothing: Record<string, never>): void
function tellRunner(
  link: PortLink | null,
  method: 'terminal/resize' | 'terminal/close',
  params: TerminalSize | Record<string, never>,
): void {
  try {
    // The overloads say which belong together.
    link?.peer.tell(method as 'terminal/resize', params as TerminalSize)
  } catch (error) {
    log.debug('terminal.runner_gone', errorFields(error))
  }
}

const notBrought = (error: unknown): void => log.info('terminal.files_not_brought', errorFields(error))
