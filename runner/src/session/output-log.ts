// The output of one call, sent to the object. A frame is kept until it is acknowledged, and is sent again after a
// reconnection with its old number. Unacknowledged output is in memory up to a window, then in a file while there is no
// receiver; then the terminal is paused. So nothing is lost, nothing is received twice and memory is bounded.

import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Frame } from '../../../src/runners/frames.ts'
import { MAX_FRAME_BYTES, WINDOW_BYTES } from '../../../src/runners/wire.ts'
import { Disconnected } from '../connect/peer.ts'
import { cannotWrite } from '../sync/folder.ts'

export type OutputWire = { readonly isOpen: boolean; sendFrame(frame: Frame): void }
type StoredPiece = { readonly seq: number; readonly bytes: Buffer }

/**
 * Frames are sent in batches: the first at once, so that a short command is visible soon, the others at an interval
 * that suits the object.
 */
const BATCH_MS = 50
const FRAME_BYTES = MAX_FRAME_BYTES - 1024
const FILE_LIMIT_BYTES = 256 * 1024 * 1024

export class OutputLog {
  readonly #key: string
  readonly #file: string
  readonly #onFlow: (isFlowing: boolean) => void
  #wire: OutputWire | null = null
  #batch: Buffer[] = []
  #batchBytes = 0
  #timer: NodeJS.Timeout | null = null
  #lastFlushAt = Number.NEGATIVE_INFINITY
  #nextSeq = 0
  #kept: StoredPiece[] = []
  #keptBytes = 0
  #sentSeq = -1
  #spill: { fd: number; from: number; to: number } | null = null
  /** Pieces after the file, for which the disk had no space: only a few, because the terminal is paused then. */
  #unspilled: StoredPiece[] = []
  #isFlowing = true
  #total = 0
  #onSent: (() => void)[] = []

  constructor(options: { key: string; file: string; onFlow: (isFlowing: boolean) => void }) {
    this.#key = options.key
    this.#file = options.file
    this.#onFlow = options.onFlow
  }

  get totalBytes(): number {
    return this.#total
  }

  get isDrained(): boolean {
    return this.#batchBytes === 0 && this.#kept.length === 0 && this.#spill === null && this.#unspilled.length === 0
  }

  push(bytes: Buffer): void {
    this.#total += bytes.byteLength
    this.#batch.push(bytes)
    this.#batchBytes += bytes.byteLength
    if (this.#batchBytes >= FRAME_BYTES) this.flush()
    else if (this.#timer === null) {
      const waitMs = Math.max(0, BATCH_MS - (performance.now() - this.#lastFlushAt))
      if (waitMs === 0) this.flush()
      else this.#timer = setTimeout(() => this.flush(), waitMs)
    }
  }

  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#batchBytes === 0) return
    this.#lastFlushAt = performance.now()
    const bytes = Buffer.concat(this.#batch)
    this.#batch = []
    this.#batchBytes = 0
    for (let at = 0; at < bytes.byteLength; at += FRAME_BYTES) {
      this.#keep({ seq: this.#nextSeq++, bytes: bytes.subarray(at, at + FRAME_BYTES) })
    }
    this.#send()
  }

  /** All unacknowledged output is sent again, in order. */
  connect(wire: OutputWire): void {
    this.#wire = wire
    this.#sentSeq = (this.#kept[0]?.seq ?? this.#nextSeq) - 1
    this.#send()
  }

  disconnect(): void {
    this.#wire = null
    for (const done of this.#onSent.splice(0)) done()
  }

  acknowledge(seq: number): void {
    if (seq > this.#sentSeq) return
    while (this.#kept[0] !== undefined && this.#kept[0].seq <= seq) {
      this.#keptBytes -= this.#kept.shift()?.bytes.byteLength ?? 0
    }
    this.#readBack()
    this.#send()
    this.#flow()
  }

  /** Resolves when everything was sent on this connection; rejects if the connection ended. */
  async sent(wire: OutputWire): Promise<void> {
    this.flush()
    while (this.#wire === wire && (this.#spill !== null || this.#sentSeq < this.#nextSeq - 1)) {
      await new Promise<void>((resolve) => this.#onSent.push(resolve))
    }
    if (this.#wire !== wire) throw new Disconnected('the connection ended')
  }

  /**
   * Writes unacknowledged output to the disk, so that the next runner can send it after a kill. Throws if there is no
   * space.
   */
  persist(): void {
    this.flush()
    if (this.isDrained) return
    for (let [next] = this.#unspilled; next !== undefined; [next] = this.#unspilled) {
      this.#toFile(next)
      this.#unspilled.shift()
    }
    if (this.#spill !== null) fsyncSync(this.#spill.fd)
    const fd = openSync(this.#file, 'w', 0o600)
    try {
      let at = 0
      for (const kept of this.#kept) at += writeKept(fd, kept, at)
      fsyncSync(fd)
    } catch (error) {
      // A part of it would be mistaken for the whole.
      rmSync(this.#file, { force: true })
      throw error
    } finally {
      closeSync(fd)
    }
  }

  /** Output stored by an earlier process of the runner. */
  restore(totalBytes: number): void {
    const stored = readFileSync(this.#file)
    for (let at = 0; at + 8 <= stored.byteLength; ) {
      const length = stored.readUInt32BE(at + 4)
      this.#kept.push({ seq: stored.readUInt32BE(at), bytes: stored.subarray(at + 8, at + 8 + length) })
      this.#keptBytes += length
      at += 8 + length
    }
    this.#nextSeq = (this.#kept.at(-1)?.seq ?? -1) + 1
    this.#total = totalBytes
    this.#restoreSpill()
  }

  /** The file with the output that exceeded the memory: from the first frame that is not known yet. */
  #restoreSpill(): void {
    const file = `${this.#file}.spill`
    if (!existsSync(file)) return
    const fd = openSync(file, 'r+')
    const spill = { fd, from: 0, to: fstatSync(fd).size }
    const head = Buffer.alloc(8)
    let isKnown = true
    for (let at = 0; at + 8 <= spill.to; at += 8 + head.readUInt32BE(4)) {
      readSync(fd, head, 0, 8, at)
      if (isKnown && head.readUInt32BE(0) >= this.#nextSeq) {
        isKnown = false
        spill.from = at
      }
      this.#nextSeq = Math.max(this.#nextSeq, head.readUInt32BE(0) + 1)
    }
    if (isKnown) spill.from = spill.to
    this.#spill = spill
    this.#readBack()
  }

  end(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#spill !== null) closeSync(this.#spill.fd)
    this.#spill = null
    rmSync(this.#file, { force: true })
    rmSync(`${this.#file}.spill`, { force: true })
  }

  #keep(kept: StoredPiece): void {
    const isWaiting = this.#spill !== null || this.#unspilled.length > 0
    const isTooMuch = this.#wire === null && this.#keptBytes + kept.bytes.byteLength > WINDOW_BYTES
    if (!isWaiting && !isTooMuch) this.#remember(kept)
    else if (this.#unspilled.length > 0 || !this.#tryToFile(kept)) this.#unspilled.push(kept)
    this.#flow()
  }

  #remember(kept: StoredPiece): void {
    this.#kept.push(kept)
    this.#keptBytes += kept.bytes.byteLength
  }

  #tryToFile(kept: StoredPiece): boolean {
    try {
      this.#toFile(kept)
      return true
    } catch (error) {
      if (!cannotWrite(error)) throw error
      return false
    }
  }

  /** Completely or not at all. */
  #toFile(kept: StoredPiece): void {
    this.#spill ??= { fd: openSync(`${this.#file}.spill`, 'w+', 0o600), from: 0, to: 0 }
    const { fd, to } = this.#spill
    try {
      this.#spill.to += writeKept(fd, kept, to)
    } catch (error) {
      ftruncateSync(fd, to)
      throw error
    }
  }

  #send(): void {
    const wire = this.#wire
    if (wire === null || !wire.isOpen) return
    let inFlight = 0
    for (const { seq, bytes } of this.#kept) {
      inFlight += bytes.byteLength
      if (inFlight > WINDOW_BYTES) return
      if (seq <= this.#sentSeq) continue
      wire.sendFrame({ head: { t: 'output', key: this.#key, seq }, bytes })
      this.#sentSeq = seq
    }
    for (const done of this.#onSent.splice(0)) done()
  }

  #readBack(): void {
    while (this.#spill !== null && this.#keptBytes < WINDOW_BYTES) {
      const { fd, from, to } = this.#spill
      if (from >= to) {
        closeSync(fd)
        rmSync(`${this.#file}.spill`, { force: true })
        this.#spill = null
        break
      }
      const kept = readKept(fd, from)
      this.#remember(kept)
      this.#spill.from += 8 + kept.bytes.byteLength
    }
    while (this.#spill === null && this.#keptBytes < WINDOW_BYTES) {
      const next = this.#unspilled.shift()
      if (next === undefined) return
      this.#remember(next)
    }
  }

  #flow(): void {
    const waiting = this.#spill === null ? 0 : this.#spill.to - this.#spill.from
    const hasRoom = this.#wire === null ? waiting < FILE_LIMIT_BYTES : this.#keptBytes < WINDOW_BYTES && waiting === 0
    const isFlowing = hasRoom && this.#unspilled.length === 0
    if (isFlowing === this.#isFlowing) return
    this.#isFlowing = isFlowing
    this.#onFlow(isFlowing)
  }
}

function writeKept(fd: number, { seq, bytes }: StoredPiece, at: number): number {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(seq)
  head.writeUInt32BE(bytes.byteLength, 4)
  const record = Buffer.concat([head, bytes])
  for (let done = 0; done < record.byteLength; )
    done += writeSync(fd, record, done, record.byteLength - done, at + done)
  return record.byteLength
}

function readKept(fd: number, at: number): StoredPiece {
  const head = Buffer.alloc(8)
  readSync(fd, head, 0, 8, at)
  const bytes = Buffer.alloc(head.readUInt32BE(4))
  for (let got = 0; got < bytes.byteLength; ) {
    const read = readSync(fd, bytes, got, bytes.byteLength - got, at + 8 + got)
    if (read === 0) throw new Error('the file of an output is shorter than it was')
    got += read
  }
  return { seq: head.readUInt32BE(0), bytes }
}

/** The outputs of the calls that the object has not acknowledged. */
export class CallOutputs {
  readonly #folder: string
  readonly #onFlow: (isFlowing: boolean) => void
  readonly #logs = new Map<string, OutputLog>()
  #wire: OutputWire | null = null

  constructor(folder: string, onFlow: (isFlowing: boolean) => void) {
    this.#folder = folder
    this.#onFlow = onFlow
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  }

  get(key: string): OutputLog | null {
    return this.#logs.get(key) ?? null
  }

  open(key: string): OutputLog {
    const log = new OutputLog({ key, file: this.#fileOf(key), onFlow: this.#onFlow })
    if (this.#wire !== null) log.connect(this.#wire)
    this.#logs.set(key, log)
    return log
  }

  /** From an earlier process of the runner. */
  restore(key: string, totalBytes: number): void {
    const log = this.open(key)
    if (existsSync(this.#fileOf(key))) log.restore(totalBytes)
  }

  acknowledged(key: string): void {
    this.#logs.get(key)?.end()
    this.#logs.delete(key)
  }

  connect(wire: OutputWire): void {
    this.#wire = wire
    for (const log of this.#logs.values()) log.connect(wire)
  }

  disconnect(): void {
    this.#wire = null
    for (const log of this.#logs.values()) log.disconnect()
  }

  #fileOf(key: string): string {
    return join(this.#folder, `${key}.output`)
  }
}
