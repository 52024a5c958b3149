// The terminal of a conversation for people: a shell of its own, in a sandbox like that of the agent's. It goes on while
// nobody looks; who comes is given what is kept of its output. At most one stream leads to it: the object's, which has all
// the viewers.

import { randomUUID } from 'node:crypto'
import { writeSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { type IPty, spawn } from '@lydell/node-pty'
import type { Frame } from '../../../src/runners/frames.ts'
import { PortReader, PortWriter, streamName } from '../../../src/runners/port-streams.ts'
import {
  SCROLLBACK_BYTES,
  type TerminalOpen,
  type TerminalOpened,
  type TerminalSize,
} from '../../../src/runners/terminal-wire.ts'
import type { Peer } from '../connect/peer.ts'
import { type Log, messageOf } from '../log.ts'
import type { Launch } from '../sandbox/launch.ts'
import { countDescendants, killTree } from '../session/processes.ts'
import { isCode } from '../sync/folder.ts'
import { Scrollback } from './scrollback.ts'

export type TerminalDeps = {
  readonly launch: () => Launch
  readonly log: Log
  /** A shell that nobody uses and that runs nothing is ended after so long; null for never. */
  readonly idleMs: number | null
}

type Running = {
  readonly id: string
  readonly pty: IPty
  readonly output: Scrollback
  /** Processes that it has when it does nothing; null until it was first asked something. */
  atRest: number | null
  isPaused: boolean
}
type Stream = { readonly id: number; readonly writer: PortWriter; readonly reader: PortReader; sent: number }

const FRAME_BYTES = 32 * 1024
/** Output that is not sent: beyond it the programs stand still. */
const MAX_UNSENT_BYTES = 64 * 1024
/** A program that does not read: its terminal is asked again. */
const UNREAD_MS = 10
/** Its files are looked at for so long after it was last used. */
const IN_USE_MS = 3_000

export class Terminal {
  readonly #deps: TerminalDeps
  #peer: Peer | null = null
  #running: Running | null = null
  #stream: Stream | null = null
  #idle: NodeJS.Timeout | null = null
  #usedAt = Number.NEGATIVE_INFINITY
  /** Why the last shell is gone. */
  #reason = ''

  constructor(deps: TerminalDeps) {
    this.#deps = deps
  }

  /** Null while there is no shell. */
  get pid(): number | null {
    return this.#running?.pty.pid ?? null
  }

  /** A program runs in it, or it was used just now: files may change. */
  get hasWork(): boolean {
    return this.#running !== null && (performance.now() - this.#usedAt < IN_USE_MS || this.#isBusy)
  }

  get #isBusy(): boolean {
    if (this.#running === null) return false
    const { pty, atRest } = this.#running
    return atRest !== null && countDescendants(pty.pid) > atRest
  }

  connect(peer: Peer): void {
    this.#peer = peer
  }

  /** What is under way is lost; it is kept here, and given out again. */
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
    // A program that fills the screen draws it anew when its size changes, and nobody else knows what is there.
    if (from > 0) this.resize({ cols, rows: rows + 1 })
    this.resize({ cols, rows })
    const reader = new PortReader()
    const writer = new PortWriter(id, (frame) => this.#peer?.sendFrame(frame), 'terminal')
    const stream = { id, writer, reader, sent: from }
    this.#stream = stream
    void this.#readInput(running, stream)
    // After the answer.
    setImmediate(() => this.#pump())
    return { terminal: running.id, from, to: running.output.end, reason: '' }
  }

  /** Nobody looks. The shell stays, and goes on without waiting for anybody. */
  close(): void {
    const stream = this.#stream
    this.#stream = null
    stream?.reader.break()
    stream?.writer.over()
    this.#flow(true)
  }

  resize({ cols, rows }: TerminalSize): void {
    const pty = this.#running?.pty
    if (pty === undefined || (pty.cols === cols && pty.rows === rows)) return
    try {
      pty.resize(cols, rows)
    } catch (error) {
      // It has ended and is about to say so.
      this.#deps.log('terminal.not_resized', { message: messageOf(error) })
    }
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
    killTree(running.pty.pid)
    this.#gone(running, reason)
  }

  #start({ cols, rows }: TerminalSize): void {
    const { command, args, env, cwd } = this.#deps.launch()
    const pty = spawn(command, args, { name: 'xterm-256color', cols, rows, cwd, env, encoding: null })
    const running: Running = {
      id: randomUUID(),
      pty,
      output: new Scrollback(SCROLLBACK_BYTES),
      atRest: null,
      isPaused: false,
    }
    this.#running = running
    this.#reason = ''
    this.#deps.log('terminal.started')
    // Without an encoding the terminal gives bytes, which its types do not know.
    pty.onData((data) => this.#printed(running, data as unknown as Buffer))
    pty.onExit(({ exitCode, signal }) => {
      const how = signal === undefined || signal === 0 ? `exit code ${exitCode}` : `signal ${signal}`
      this.#gone(running, `The shell ended (${how}).`)
    })
    this.#used()
  }

  #printed(running: Running, bytes: Buffer): void {
    if (this.#running !== running) return
    this.#used()
    running.output.push(bytes, this.#stream?.sent ?? Number.POSITIVE_INFINITY)
    this.#pump()
  }

  /** Sends what there is room for: little by little at once, much in large pieces. */
  #pump(): void {
    const [running, stream] = [this.#running, this.#stream]
    if (running === null || stream === null) return
    while (stream.sent < running.output.end && !stream.writer.isFull) {
      const isLittle = running.output.end - stream.sent < FRAME_BYTES / 2
      if (isLittle && !stream.writer.isEmpty) break
      this.#send(running, stream)
    }
    this.#flow(running.output.end - stream.sent <= MAX_UNSENT_BYTES)
  }

  #flow(isFlowing: boolean): void {
    const running = this.#running
    if (running === null || running.isPaused === !isFlowing) return
    running.isPaused = !isFlowing
    if (isFlowing) running.pty.resume()
    else running.pty.pause()
  }

  /** What is typed, as fast as the programs take it. */
  async #readInput(running: Running, stream: Stream): Promise<void> {
    for (let piece = await stream.reader.next(); piece !== null; piece = await stream.reader.next()) {
      running.atRest ??= countDescendants(running.pty.pid)
      this.#used()
      await this.#type(running, piece.bytes)
      if (this.#stream === stream)
        this.#peer?.notify('frame/ack', { stream: streamName('terminal', stream.id), seq: piece.seq })
    }
  }

  async #type(running: Running, bytes: Uint8Array): Promise<void> {
    // Not in its types: the only way to learn how much was taken.
    const { fd } = running.pty as IPty & { readonly fd: number }
    for (let at = 0; at < bytes.byteLength && this.#running === running; ) {
      try {
        at += writeSync(fd, bytes, at)
      } catch (error) {
        if (isCode(error, 'EAGAIN')) await delay(UNREAD_MS)
        else if (isCode(error, 'EIO') || isCode(error, 'EBADF')) return
        else throw error
      }
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
      if (this.#isBusy) this.#idle?.refresh()
      else this.end(`The shell was ended after ${idleMs / 60_000} minutes without use.`)
    }, idleMs)
    this.#idle.unref()
  }

  #gone(running: Running, reason: string): void {
    if (this.#running !== running) return
    this.#pump()
    this.#running = null
    this.#reason = reason
    if (this.#idle !== null) clearTimeout(this.#idle)
    this.#idle = null
    this.#deps.log('terminal.gone', { reason })
    if (this.#stream !== null) void this.#finish(running, this.#stream)
  }

  /** The last words, as fast as they are taken, then that there are no more. */
  async #finish(running: Running, stream: Stream): Promise<void> {
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

  #send({ output }: Running, stream: Stream): void {
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
