// What was begun and how it ended, on the disk before anybody is told: a key is never begun twice, whatever dies in between.

import { closeSync, existsSync, fdatasyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { CallKey, CallOutcome } from '../../../src/runners/wire.ts'

const Line = z.discriminatedUnion('state', [
  z.object({ key: CallKey, state: z.literal('started') }),
  z.object({ key: CallKey, state: z.literal('ended'), outcome: CallOutcome }),
  z.object({ key: CallKey, state: z.literal('acknowledged') }),
])
type Line = z.infer<typeof Line>

export type JournalEntry = { readonly outcome: CallOutcome | null; readonly isAcknowledged: boolean }

/** Calls whose outcome the object has are remembered so far back: it asks for none that is older. */
const REMEMBERED = 10_000

export class Journal {
  readonly #entries = new Map<string, JournalEntry>()
  readonly #fd: number

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const file = join(folder, 'calls.jsonl')
    if (existsSync(file)) this.#read(readFileSync(file, 'utf8'))
    this.#rewrite(file)
    this.#fd = openSync(file, 'a', 0o600)
  }

  get(key: string): JournalEntry | null {
    return this.#entries.get(key) ?? null
  }

  /** Calls with an outcome that the object has not acknowledged. */
  unacknowledged(): { key: string; outcome: CallOutcome }[] {
    return [...this.#entries].flatMap(([key, { outcome, isAcknowledged }]) =>
      outcome === null || isAcknowledged ? [] : [{ key, outcome }],
    )
  }

  /** Calls that were begun and never ended: their runner died in them. Told once; their outcome stays unknown. */
  takeLost(): string[] {
    const lost = [...this.#entries].flatMap(([key, { outcome, isAcknowledged }]) =>
      outcome === null && !isAcknowledged ? [key] : [],
    )
    for (const key of lost) this.acknowledged(key)
    return lost
  }

  started(key: string): void {
    this.#append({ key, state: 'started' })
  }

  ended(key: string, outcome: CallOutcome): void {
    this.#append({ key, state: 'ended', outcome })
  }

  /** Not waited for until it is on the disk: where a crash of the machine takes it, the object is told once more, and knows. */
  acknowledged(key: string): void {
    const line = { key, state: 'acknowledged' } as const
    this.#write(line)
    this.#apply(line)
  }

  close(): void {
    closeSync(this.#fd)
  }

  #append(line: Line): void {
    this.#write(line)
    fdatasyncSync(this.#fd)
    this.#apply(line)
  }

  #write(line: Line): void {
    writeAll(this.#fd, `${JSON.stringify(line)}\n`)
  }

  #apply(line: Line): void {
    const before = this.#entries.get(line.key)
    if (line.state === 'started') this.#entries.set(line.key, { outcome: null, isAcknowledged: false })
    else if (line.state === 'ended') this.#entries.set(line.key, { outcome: line.outcome, isAcknowledged: false })
    else this.#entries.set(line.key, { outcome: before?.outcome ?? null, isAcknowledged: true })
  }

  #read(text: string): void {
    const lines = text.split('\n')
    // The last line is whole only with its end: one that was being written was not told to anybody.
    lines.pop()
    for (const line of lines) this.#apply(Line.parse(JSON.parse(line)))
  }

  #rewrite(file: string): void {
    const entries = [...this.#entries].slice(-REMEMBERED)
    const lines = entries.flatMap(([key, { outcome, isAcknowledged }]): Line[] => [
      { key, state: 'started' },
      ...(outcome === null ? [] : [{ key, state: 'ended' as const, outcome }]),
      ...(isAcknowledged ? [{ key, state: 'acknowledged' as const }] : []),
    ])
    const fd = openSync(`${file}.new`, 'w', 0o600)
    writeAll(fd, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    fdatasyncSync(fd)
    closeSync(fd)
    renameSync(`${file}.new`, file)
  }
}

function writeAll(fd: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.byteLength; ) at += writeSync(fd, bytes, at, bytes.byteLength - at)
}
