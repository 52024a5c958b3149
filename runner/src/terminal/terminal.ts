// The terminal of a conversation for users: a separate shell, in a sandbox like the agent's. It keeps running without
// viewers; a new viewer gets the stored output. At most one stream leads to it: the object's, which serves all viewers.

import type { Frame } from '../../../src/runners/frames.ts'
import { PortReader, PortWriter, streamName } from '../../../src/runners/port-streams.ts'
import type { TerminalOpen, TerminalOpened, TerminalSize } from '../../../src/runners/terminal-wire.ts'
import type { Peer } from '../connect/peer.ts'
import type { Log } from '../log.ts'
import type { Launch } from '../sandbox/launch.ts'
import type { Scrollback } from './scrollback.ts'
import { TerminalShell } from './terminal-shell.ts'

export type TerminalDeps = {
  readonly launch: () => Launch
  readonly log: Log
  /** A shell without use and without running programs is ended after this time; null for never. */
  readonly idleMs: number | null
}

type Stream = { readonly id: number; readonly writer: PortWriter; readonly reader: PortReader; sent: number }

const FRAME_BYTES = 32 * 1024
/** Unsent output; beyond this the programs are paused. */
const MAX_UNSENT_BYTES = 64 * 1024
/** Its file changes are synced for this long after its last use. */
const IN_USE_MS = 3_000

export class Terminal {
  readonly #deps: TerminalDeps
  #peer: Peer | null = null
  #running: TerminalShell | null = null
  #stream: Stream | null = null
  #idle: NodeJS.Timeout | null = null
  #usedAt = Number.NEGATIVE_INFINITY
  /** Why the last shell ended. */
  #reason = ''

  constructor(deps: TerminalDeps) {
    this.#deps = deps
  }

  /** Null while there is no shell. */
  get pid(): number | null {
    return this.#running?.pid ?? null
  }

  /** A program is running, or it was used recently: files may change. */
  get hasWork(): boolean {
    return this.#running !== null && (performance.now() - this.#usedAt < IN_USE_MS || this.#running.isBusy)
  }

  connect(peer: Peer): void {
    this.#peer = peer
  }

  /** Data in transit is lost; it is stored here, and sent again. */
  disconnect(): void {
    this.#peer = null
    this.close()
  }

  open({ stream: id, cols, rows, starts }: TerminalOpen): TerminalOpened {
    this.close()
    if (this.#running === null && starts) this.#start({ cols, rows })
    const running = this.#running
    if (running === null) return { terminal: null, from: 0, to: 0, reason: this.#reason }
    const from = running.output.from
    // A full-screen program redraws when its size changes, and only the program knows the contents.
    if (from > 0) running.resize({ cols, rows: rows + 1 })
    running.resize({ cols, rows })
    const reader = new PortReader()
    const writer = new PortWriter(id, (frame) => this.#peer?.sendFrame(frame), 'terminal')
    const stream = { id, writer, reader, sent: from }
    this.#stream = stream
    void this.#readInput(running, stream)
    // After the answer.
    setImmediate(() => this.#pump())
    return { terminal: running.id, from, to: running.output.end, reason: '' }
  }

  /** There are no viewers. The shell stays, and its output is not paused. */
  close(): void {
    const stream = this.#stream
    this.#stream = null
    stream?.reader.break()
    stream?.writer.over()
    this.#running?.flow(true)
  }

  resize(size: TerminalSize): void {
    this.#running?.resize(size)
  }

  received({ head, bytes }: Frame): void {
    if (head.t === 'terminal' && head.stream === this.#stream?.id) this.#stream.reader.take(head, bytes)
  }

  acknowledged(stream: number, seq: number): void {
    if (stream !== this.#stream?.id) return
    this.#stream.writer.acked(seq)
    this.#pump()
  }

  end(reason = 'The shell was ended.'): void {
    const running = this.#running
    if (running === null) return
    running.kill()
    this.#gone(running, reason)
  }

  #start(size: TerminalSize): void {
    const { launch, log } = this.#deps
    const running: TerminalShell = new TerminalShell(launch(), size, {
      log,
      onOutput: (bytes) => this.#printed(running, bytes),
      onExit: (how) => this.#gone(running, `The shell ended (${how}).`),
    })
    this.#running = running
    this.#reason = ''
    log('terminal.started')
    this.#used()
  }

  #printed(running: TerminalShell, bytes: Buffer): void {
    if (this.#running !== running) return
    this.#used()
    running.output.push(bytes, this.#stream?.sent ?? Number.POSITIVE_INFINITY)
    this.#pump()
  }

  /** Sends as much as fits: small amounts at once, large amounts in large pieces. */
  #pump(): void {
    const [running, stream] = [this.#running, this.#stream]
    if (running === null || stream === null) return
    while (stream.sent < running.output.end && !stream.writer.isFull) {
      const isLittle = running.output.end - stream.sent < FRAME_BYTES / 2
      if (isLittle && !stream.writer.isEmpty) break
      this.#send(running, stream)
    }
    running.flow(running.output.end - stream.sent <= MAX_UNSENT_BYTES)
  }

  /** Passes input on at the speed of the programs. */
  async #readInput(running: TerminalShell, stream: Stream): Promise<void> {
    for (let piece = await stream.reader.next(); piece !== null; piece = await stream.reader.next()) {
      this.#used()
      await running.type(piece.bytes, () => this.#running === running)
      if (this.#stream === stream)
        this.#peer?.notify('frame/ack', { stream: streamName('terminal', stream.id), seq: piece.seq })
    }
  }

  #used(): void {
    this.#usedAt = performance.now()
    const { idleMs } = this.#deps
    if (idleMs === null) return
    if (this.#idle !== null) {
      this.#idle.refresh()
      return
    }
    this.#idle = setTimeout(() => {
      if (this.#running?.isBusy === true) this.#idle?.refresh()
      else this.end(`The shell was ended after ${idleMs / 60_000} minutes without use.`)
    }, idleMs)
    this.#idle.unref()
  }

  #gone(running: TerminalShell, reason: string): void {
    if (this.#running !== running) return
    this.#pump()
    this.#running = null
    this.#reason = reason
    if (this.#idle !== null) clearTimeout(this.#idle)
    this.#idle = null
    this.#deps.log('terminal.gone', { reason })
    if (this.#stream !== null) void this.#finish(running, this.#stream)
  }

  /** Sends the last output, at the speed of the receiver, then the end. */
  async #finish(running: TerminalShell, stream: Stream): Promise<void> {
    for (let isLast = false; !isLast; ) {
      await stream.writer.room()
      if (this.#stream !== stream) return
      isLast = stream.sent === running.output.end
      if (isLast) stream.writer.end()
      else this.#send(running, stream)
    }
    this.#peer?.notify('terminal/ended', { stream: stream.id, reason: this.#reason })
    this.close()
  }

  #send({ output }: TerminalShell, stream: Stream): void {
    const bytes = gathered(output, stream.sent)
    stream.sent += bytes.byteLength
    stream.writer.push(bytes)
  }
}

function gathered(output: Scrollback, from: number): Buffer {
  const parts: Buffer[] = []
  let bytes = 0
  while (bytes < FRAME_BYTES) {
    const part = output.read(from + bytes, FRAME_BYTES - bytes)
    if (part.byteLength === 0) break
    parts.push(part)
    bytes += part.byteLength
  }
  return Buffer.concat(parts)
}
