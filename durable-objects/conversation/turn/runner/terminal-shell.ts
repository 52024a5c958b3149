// The shell behind a conversation's terminal. The stream to it is opened when a viewer looks or types, gets a size that
// fits all viewers, and is closed when there are no viewers.

import { errorFields, log } from '../../../../src/lib/log.ts'
import type { PortFrameHead } from '../../../../src/runners/frames.ts'
import { RpcError } from '../../../../src/runners/rpc.ts'
import { type TerminalEnded, TerminalOpened, type TerminalSize } from '../../../../src/runners/terminal-wire.ts'
import { RPC_ERRORS } from '../../../../src/runners/wire.ts'
import type { TerminalViewer } from '../../sockets/terminal-viewer.ts'
import type { TerminalViewers } from '../../sockets/terminal-viewers.ts'
import type { PortLink } from './port-streams.ts'
import { TerminalStream } from './terminal-stream.ts'

type Deps = {
  viewers: TerminalViewers
  /** Null while no runner is connected. */
  link(): PortLink | null
  /** Brings the runner's copy of the workspace up to date. */
  bringUp(): Promise<void>
}

const LOST = 'The connection to the runner broke. The terminal is shown again when it is back.'

export class TerminalShell {
  readonly #deps: Deps
  #stream: TerminalStream | null = null
  /** A stream that was requested and not answered yet. */
  #coming: TerminalStream | null = null
  #opening: Promise<TerminalStream | null> | null = null
  #toldSize: TerminalSize | null = null
  /** The shell has ended, and nobody has requested another one. */
  #isEnded = false
  /** Not from 0: streams that an earlier instance of this object began may still be open. */
  #next = Math.floor(Math.random() * 2 ** 40)

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Null while no shell is reached. */
  get stream(): TerminalStream | null {
    return this.#stream
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  /**
   * Whether the frame belongs to a stream of this instance. Throws a `BadFrame` for a frame that does not fit the
   * stream.
   */
  took(head: PortFrameHead, bytes: Uint8Array): boolean {
    const stream = [this.#stream, this.#coming].find((one) => one?.id === head.stream)
    stream?.reader.take(head, bytes)
    return stream != null
  }

  acked(stream: number, seq: number): void {
    if (this.#stream?.id === stream) this.#stream.writer.acked(seq)
  }

  ended({ stream, reason }: TerminalEnded): void {
    for (const one of [this.#stream, this.#coming]) if (one?.id === stream) one.ended(reason)
  }

  /** The connection to the runner is lost. */
  lost(): void {
    this.#coming?.close()
    if (this.#stream === null) return
    this.#leave()
    this.#deps.viewers.tell({ type: 'lost', message: LOST })
  }

  /** A runner has said hello: if it has a shell, the viewers see it. */
  forgetEnd(): void {
    this.#isEnded = false
  }

  /**
   * The stream to the shell; null when there is none, which the viewers are told. `starts`: starts a shell if there is
   * none.
   */
  async open(starts: boolean): Promise<TerminalStream | null> {
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
    const { viewers } = this.#deps
    const link = this.#deps.link()
    if (link === null) {
      viewers.tell({ type: 'lost', message: LOST })
      return null
    }
    const stream = this.#newStream(link)
    this.#coming = stream
    try {
      if (starts) await this.#deps.bringUp()
      const { size } = viewers
      const opened = await link.peer.call('terminal/open', { ...size, stream: stream.id, starts }, TerminalOpened)
      if (this.#coming !== stream || this.#deps.link()?.peer !== link.peer) return null
      const { terminal } = opened
      if (terminal === null) {
        this.tellEnded(opened.reason || 'The shell is gone with its runner.')
        return null
      }
      this.#toldSize = size
      this.#stream = stream
      this.#isEnded = false
      stream.begin({ ...opened, terminal })
      for (const viewer of viewers.all) this.show(viewer, stream)
      viewers.changed()
      return stream
    } catch (error) {
      log.info('terminal.not_opened', errorFields(error))
      if (this.#deps.link() !== null) this.tellEnded(whyNotOpened(error))
      return null
    } finally {
      this.#coming = null
      if (this.#stream !== stream) stream.close()
    }
  }

  #newStream(link: PortLink): TerminalStream {
    const { viewers } = this.#deps
    const stream = new TerminalStream(this.#next++, link, {
      show: ({ bytes, from, to }) => viewers.show(bytes, { terminal: stream.terminal, from, to }),
      places: () =>
        viewers.all.flatMap(({ attachment: { terminal, position } }) =>
          terminal === stream.terminal ? [position] : [],
        ),
      room: () => viewers.room(),
      over: (reason) => {
        if (this.#stream !== stream) return
        this.#leave()
        this.tellEnded(reason)
      },
    })
    return stream
  }

  /** The viewer continues from its position, or begins again with the kept output. */
  show(viewer: TerminalViewer, stream: TerminalStream): void {
    const { terminal, position, isReader } = viewer.attachment
    const { viewers } = this.#deps
    const goesOn = terminal === stream.terminal && stream.continuesAt(position)
    const from = goesOn ? position : stream.first
    viewer.begins(stream.terminal, from)
    viewer.tell({
      type: 'ready',
      terminal: stream.terminal,
      position: from,
      reset: !goesOn,
      ...viewers.size,
      viewers: viewers.count,
      read_only: isReader,
    })
    for (const { bytes, to } of stream.since(from)) viewer.show(bytes, to)
  }

  tellEnded(reason: string): void {
    this.#isEnded = true
    this.#deps.viewers.tell({ type: 'ended', message: reason })
  }

  /** Sets the size that fits all viewers. */
  resize(): void {
    const { size } = this.#deps.viewers
    if (this.#stream === null || (size.cols === this.#toldSize?.cols && size.rows === this.#toldSize.rows)) return
    this.#toldSize = size
    tellRunner(this.#deps.link(), 'terminal/resize', size)
    this.#deps.viewers.tell({ type: 'size', ...size })
  }

  /** There are no viewers any more. */
  close(): void {
    this.#leave()
    tellRunner(this.#deps.link(), 'terminal/close', {})
  }

  #leave(): void {
    const stream = this.#stream
    this.#stream = null
    this.#deps.viewers.wake()
    stream?.close()
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
