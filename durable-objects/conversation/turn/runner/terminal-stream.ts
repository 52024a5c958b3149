// The stream to and from the shell of a runner's terminal. Output is filtered here, and the newest output is kept for
// viewers who connect later. Positions in the output count the runner's bytes. Output is sent only up to a position
// where no escape sequence is open, so a viewer can continue from any position that it was sent.

import { errorFields, log } from '../../../../src/lib/log.ts'
import { TerminalOutput } from '../../../../src/lib/terminal-output.ts'
import { PortReader, PortWriter, streamName } from '../../../../src/runners/port-streams.ts'
import { SCROLLBACK_BYTES, type TerminalOpened } from '../../../../src/runners/terminal-wire.ts'
import type { PortLink } from './port-streams.ts'

/** The most pieces that are kept: output that comes letter by letter is also kept letter by letter. */
const MAX_KEPT = 4000
const NOTHING = new Uint8Array()

export type OutputSlice = { readonly from: number; readonly to: number; readonly bytes: Uint8Array }

type Host = {
  /** Sends filtered output to all viewers that have everything before it. */
  show(shown: OutputSlice): void
  /** The positions of the viewers: no escape sequence was open there when they got it. */
  places(): number[]
  /** Resolves when a viewer has room for more. */
  room(): Promise<void>
  /** The shell has ended. */
  over(reason: string): void
}

export class TerminalStream {
  readonly id: number
  readonly reader = new PortReader()
  readonly writer: PortWriter
  terminal = ''
  readonly #link: PortLink
  readonly #host: Host
  readonly #output = new TerminalOutput()
  readonly #kept: OutputSlice[] = []
  readonly #reason = Promise.withResolvers<string>()
  readonly #caughtUp = Promise.withResolvers<void>()
  #keptBytes = 0
  #first = 0
  /** Counts of the runner's bytes: received, and shown to viewers. */
  #came = 0
  #shown = 0
  #oldBytes = 0
  #isOver = false

  constructor(id: number, link: PortLink, host: Host) {
    this.id = id
    this.#link = link
    this.#host = host
    this.writer = new PortWriter(id, (frame) => !this.#isOver && link.sendFrame(frame), 'terminal')
  }

  /** The position where the kept output begins. */
  get first(): number {
    return this.#first
  }

  /**
   * Whether the program in the terminal has enabled bracketed paste. Waits until the output from before this stream has
   * been read, because the program may have enabled it there.
   */
  async isPasteMarked(): Promise<boolean> {
    await this.#caughtUp.promise
    return this.#output.isPasteMarked
  }

  /** The stream is open; the arguments are the runner's answer. */
  begin({ terminal, from, to }: TerminalOpened & { terminal: string }): void {
    this.terminal = terminal
    this.#first = from
    this.#came = from
    this.#shown = from
    this.#oldBytes = to
    this.#noteCaughtUp()
    void this.#follow()
  }

  /** Whether a viewer at this position can continue. */
  continuesAt(place: number): boolean {
    const isToCome = place >= this.#shown && place <= this.#oldBytes
    return place === this.#shown || isToCome || this.#kept.some(({ from }) => from === place)
  }

  /** The kept output from a position on. */
  since(place: number): OutputSlice[] {
    return this.#kept.filter(({ from }) => from >= place)
  }

  ended(reason: string): void {
    this.#reason.resolve(reason)
  }

  /** The connection is lost, or there are no viewers. */
  close(): void {
    this.#isOver = true
    this.reader.break()
    this.writer.over()
    this.#caughtUp.resolve()
  }

  async #follow(): Promise<void> {
    try {
      for (let piece = await this.reader.next(); piece !== null; piece = await this.reader.next()) {
        this.#take(piece.bytes)
        await this.#host.room()
        if (this.#isOver) return
        this.#link.peer.tell('frame/ack', { stream: streamName('terminal', this.id), seq: piece.seq })
        if (!piece.end) continue
        this.#caughtUp.resolve()
        this.#host.over(await this.#reason.promise)
      }
    } catch (error) {
      // The connection was lost during a write; its end follows.
      log.debug('terminal.broken', errorFields(error))
    }
  }

  #take(bytes: Uint8Array): void {
    const end = this.#came + bytes.byteLength
    const places = this.#host.places().filter((place) => place > this.#came && place < end)
    let at = 0
    for (const place of [...new Set(places)].sort((a, b) => a - b)) {
      const upTo = at + place - this.#came
      this.#show(bytes.subarray(at, upTo))
      // For the viewer's terminal no sequence is open here, although it may look so when read from an earlier position.
      this.#output.reset()
      this.#shownUpTo(this.#came, NOTHING)
      at = upTo
    }
    this.#show(bytes.subarray(at))
    this.#noteCaughtUp()
  }

  #show(raw: Uint8Array): void {
    if (raw.byteLength === 0) return
    // A copy, because the filter reuses its memory.
    const bytes = this.#output.push(raw).slice()
    this.#came += raw.byteLength
    this.#shownUpTo(this.#came - this.#output.held, bytes)
  }

  #shownUpTo(to: number, bytes: Uint8Array): void {
    if (to <= this.#shown) return
    const shown = { from: this.#shown, to, bytes }
    this.#shown = to
    this.#keep(shown)
    this.#host.show(shown)
  }

  #keep(shown: OutputSlice): void {
    this.#kept.push(shown)
    this.#keptBytes += shown.bytes.byteLength
    for (let first = this.#kept[0]; first !== undefined; first = this.#kept[0]) {
      const isMuch = this.#keptBytes - first.bytes.byteLength >= SCROLLBACK_BYTES || this.#kept.length > MAX_KEPT
      if (!isMuch) break
      this.#kept.shift()
      this.#keptBytes -= first.bytes.byteLength
      this.#first = first.to
    }
  }

  #noteCaughtUp(): void {
    if (this.#came >= this.#oldBytes) this.#caughtUp.resolve()
  }
}
