// The starts and results of calls, written to disk before they are reported: a call is never started twice, whatever
// crashes in between.

import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { CallKey, CallOutcome } from '../../../src/runners/wire.ts'
import { type Log, logToStderr, messageOf } from '../log.ts'
import { cannotWrite, isDiskFailure } from '../sync/folder.ts'

const Line = z.discriminatedUnion('state', [
  z.object({ key: CallKey, state: z.literal('started') }),
  z.object({ key: CallKey, state: z.literal('ended'), outcome: CallOutcome }),
  z.object({ key: CallKey, state: z.literal('acknowledged') }),
])
type Line = z.infer<typeof Line>

export type JournalEntry = { readonly outcome: CallOutcome | null; readonly isAcknowledged: boolean }

/** The number of acknowledged calls that are remembered: the object requests none that is older. */
const REMEMBERED = 10_000
/** Reserved for the lines of commands that free space. */
const RESERVE_BYTES = 16 * 1024

export class Journal {
  readonly #entries = new Map<string, JournalEntry>()
  readonly #file: string
  readonly #reserve: string
  readonly #log: Log
  readonly #fd: number
  #bytes: number
  /** Lines that a full disk rejected: they are written before any other line. */
  #unwritten: Line[] = []

  constructor(folder: string, log: Log = logToStderr) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.#file = join(folder, 'calls.jsonl')
    this.#reserve = join(folder, 'reserve')
    this.#log = log
    if (existsSync(this.#file)) this.#read(readFileSync(this.#file))
    this.#tryTo(() => this.#rewrite())
    this.#fd = openSync(this.#file, 'a', 0o600)
    this.#bytes = fstatSync(this.#fd).size
    this.#tryTo(() => this.#keepReserve())
  }

  get(key: string): JournalEntry | null {
    return this.#entries.get(key) ?? null
  }

  /** Whether a shell was started in this folder, also by an earlier program. For a call without a result it is unknown. */
  get hadShell(): boolean {
    return [...this.#entries.values()].some(({ outcome }) => outcome === null || outcome.user !== '')
  }

  /** Calls with a result that the object has not acknowledged. */
  unacknowledged(): { key: string; outcome: CallOutcome }[] {
    return [...this.#entries].flatMap(([key, { outcome, isAcknowledged }]) =>
      outcome === null || isAcknowledged ? [] : [{ key, outcome }],
    )
  }

  /** Calls that were started and never ended, because their runner died. Returned once; their result remains unknown. */
  takeLost(): string[] {
    const lost = [...this.#entries].flatMap(([key, { outcome, isAcknowledged }]) =>
      outcome === null && !isAcknowledged ? [key] : [],
    )
    for (const key of lost) this.acknowledged(key)
    return lost
  }

  /** Throws if the disk cannot be written: a call must not be started without its line. */
  started(key: string): void {
    const line = { key, state: 'started' } as const
    this.#write(line)
    this.#apply(line)
    if (!existsSync(this.#reserve)) this.#tryTo(() => this.#keepReserve())
  }

  /** If the disk cannot be written, the result is sent anyway. If the runner dies before that, the result is unknown. */
  ended(key: string, outcome: CallOutcome): void {
    this.#note({ key, state: 'ended', outcome })
  }

  acknowledged(key: string): void {
    this.#note({ key, state: 'acknowledged' })
  }

  close(): void {
    closeSync(this.#fd)
  }

  #note(line: Line): void {
    this.#apply(line)
    if (!this.#tryTo(() => this.#write(line))) this.#unwritten.push(line)
  }

  /** False, and a log line, if the disk is full or fails. */
  #tryTo(action: () => void): boolean {
    try {
      action()
      return true
    } catch (error) {
      if (!cannotWrite(error)) throw error
      this.#log('journal.not_written', { message: messageOf(error) })
      return false
    }
  }

  #write(line: Line): void {
    const lines = [...this.#unwritten, line]
    // An acknowledgement is not synced: if a crash of the machine loses it, the result is sent again, which the object
    // ignores.
    const isUrgent = lines.some(({ state }) => state !== 'acknowledged')
    try {
      this.#append(lines, isUrgent)
    } catch (error) {
      if (!isDiskFailure(error) || !existsSync(this.#reserve)) throw error
      // Otherwise nobody could delete the files that fill the disk: the command that deletes them needs its line here.
      rmSync(this.#reserve, { force: true })
      this.#append(lines, isUrgent)
    }
    this.#unwritten = []
  }

  /** Completely or not at all: half a line would make the next one unreadable. */
  #append(lines: readonly Line[], isUrgent: boolean): void {
    const bytes = bytesOf(lines)
    try {
      writeAll(this.#fd, bytes)
      if (isUrgent) fdatasyncSync(this.#fd)
      this.#bytes += bytes.byteLength
    } catch (error) {
      ftruncateSync(this.#fd, this.#bytes)
      throw error
    }
  }

  #keepReserve(): void {
    // Not zeros, because some file systems use no space for those.
    writeWhole(this.#reserve, randomBytes(RESERVE_BYTES))
  }

  #apply(line: Line): void {
    const before = this.#entries.get(line.key)
    if (line.state === 'started') this.#entries.set(line.key, { outcome: null, isAcknowledged: false })
    else if (line.state === 'ended') this.#entries.set(line.key, { outcome: line.outcome, isAcknowledged: false })
    else this.#entries.set(line.key, { outcome: before?.outcome ?? null, isAcknowledged: true })
  }

  #read(bytes: Buffer): void {
    // A line without its end is incomplete; its call was not reported to anyone.
    const whole = bytes.subarray(0, bytes.lastIndexOf('\n') + 1)
    for (const line of whole.toString('utf8').split('\n').slice(0, -1)) this.#apply(Line.parse(JSON.parse(line)))
    if (whole.byteLength < bytes.byteLength) truncateSync(this.#file, whole.byteLength)
  }

  #rewrite(): void {
    const entries = [...this.#entries].slice(-REMEMBERED)
    const lines = entries.flatMap(([key, { outcome, isAcknowledged }]): Line[] => [
      { key, state: 'started' },
      ...(outcome === null ? [] : [{ key, state: 'ended' as const, outcome }]),
      ...(isAcknowledged ? [{ key, state: 'acknowledged' as const }] : []),
    ])
    const written = `${this.#file}.new`
    try {
      writeWhole(written, bytesOf(lines))
      renameSync(written, this.#file)
    } catch (error) {
      rmSync(written, { force: true })
      throw error
    }
  }
}

const bytesOf = (lines: readonly Line[]): Buffer =>
  Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))

function writeWhole(file: string, bytes: Buffer): void {
  const fd = openSync(file, 'w', 0o600)
  try {
    writeAll(fd, bytes)
    fdatasyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

function writeAll(fd: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.byteLength; ) at += writeSync(fd, bytes, at, bytes.byteLength - at)
}
