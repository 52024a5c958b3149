// The part of the tar format that a backup needs: regular files with a path, a mode and a size. Any `tar` reads what is
// written here. Input is not trusted: everything that a backup does not contain is refused. Why it is our own:
// docs/decisions/0046-the-tar-of-backups.md.

import { Fault } from '../start/fault.ts'

const BLOCK = 512
const NAME_BYTES = 100
const PREFIX_BYTES = 155
/** The maximum of eleven octal digits; larger numbers are written in binary. */
const MOST_OCTAL = 8 ** 11
const [NAME, MODE, OWNERS, SIZE, TIME, CHECKSUM, TYPE, MAGIC, PREFIX] = [0, 100, 108, 124, 136, 148, 156, 257, 345]

export type TarEntry = { readonly path: string; readonly mode: number; readonly size: number }

export const END_OF_TAR = Buffer.alloc(2 * BLOCK)

/** The padding after contents of this size, so that the next header begins a block. */
export function paddingAfter(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK)
}

export function tarHeader({ path, mode, size }: TarEntry): Buffer {
  const header = Buffer.alloc(BLOCK)
  const { prefix, name } = placesOf(path)
  header.write(name, NAME)
  header.write(octal(mode & 0o777, 8), MODE)
  header.write(octal(0, 8) + octal(0, 8), OWNERS)
  if (size < MOST_OCTAL) header.write(octal(size, 12), SIZE)
  else {
    header[SIZE] = 0x80
    header.writeBigUInt64BE(BigInt(size), SIZE + 4)
  }
  header.write(octal(0, 12), TIME)
  header.write('0', TYPE)
  header.write('ustar\x0000', MAGIC)
  header.write(prefix, PREFIX)
  header.write(`${octal(checksumOf(header), 7)} `, CHECKSUM)
  return header
}

/** A long path is split at a slash into two fields. */
function placesOf(path: string): { prefix: string; name: string } {
  if (Buffer.byteLength(path) <= NAME_BYTES) return { prefix: '', name: path }
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)]
    if (Buffer.byteLength(name) <= NAME_BYTES && Buffer.byteLength(prefix) <= PREFIX_BYTES) return { prefix, name }
  }
  throw new Fault(`The name of ${path} is too long for a backup.`)
}

const octal = (value: number, width: number) => `${value.toString(8).padStart(width - 1, '0')}\0`

/** The checksum of a header: the sum of its bytes, with blanks in the checksum field. */
function checksumOf(header: Buffer): number {
  let sum = 0
  for (const [at, byte] of header.entries()) sum += at >= CHECKSUM && at < TYPE ? 0x20 : byte
  return sum
}

/** Reads the entries of a streamed archive; the contents of each must be read before `next` is called. */
export class TarReader {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** Null at the archive's end marker. */
  async next(): Promise<TarEntry | null> {
    const header = await this.#block()
    if (header.every((byte) => byte === 0)) return null
    if (
      header.toString('latin1', MAGIC, MAGIC + 5) !== 'ustar' ||
      numberIn(header, CHECKSUM, 8) !== checksumOf(header)
    ) {
      throw new Fault('it is no archive of a backup')
    }
    const [prefix, name] = [textIn(header, PREFIX, PREFIX_BYTES), textIn(header, NAME, NAME_BYTES)]
    const path = prefix === '' ? name : `${prefix}/${name}`
    if (header.toString('latin1', TYPE, TYPE + 1) !== '0') throw new Fault(`${JSON.stringify(path)} in it is no file`)
    return { path, mode: numberIn(header, MODE, 8) & 0o777, size: sizeIn(header) }
  }

  /** Reads the rest after `next` returned null; only padding is allowed there. */
  async end(): Promise<void> {
    let bytes = BLOCK
    for await (const piece of this.#left()) {
      bytes += piece.length
      if (bytes > END_OF_TAR.length || piece.some((byte) => byte !== 0)) throw new Fault('something follows its end')
    }
    if (bytes !== END_OF_TAR.length) throw new Fault('it ends too early')
  }

  async *#left(): AsyncGenerator<Buffer> {
    yield this.#rest
    for (;;) {
      const { done, value } = await this.#chunks.next()
      if (done === true) return
      yield value
    }
  }

  /** The contents of the entry that `next` returned, in pieces. */
  async *contents({ size }: TarEntry): AsyncGenerator<Buffer> {
    for (let left = size; left > 0; ) {
      const piece = await this.#piece(left)
      left -= piece.length
      yield piece
    }
    for (let left = paddingAfter(size).length; left > 0; ) left -= (await this.#piece(left)).length
  }

  async #block(): Promise<Buffer> {
    const pieces: Buffer[] = []
    for (let left = BLOCK; left > 0; ) {
      const piece = await this.#piece(left)
      left -= piece.length
      pieces.push(piece)
    }
    return Buffer.concat(pieces)
  }

  /** At least one byte, and at most this number. */
  async #piece(most: number): Promise<Buffer> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#chunks.next()
      if (done === true) throw new Fault('it ends too early')
      this.#rest = value
    }
    const piece = this.#rest.subarray(0, most)
    this.#rest = this.#rest.subarray(piece.length)
    return piece
  }
}

function textIn(header: Buffer, at: number, most: number): string {
  const [text = ''] = header.toString('utf8', at, at + most).split('\0')
  return text
}

function numberIn(header: Buffer, at: number, most: number): number {
  const text = textIn(header, at, most).trim()
  if (!/^[0-7]+$/.test(text)) throw new Fault('it is no archive of a backup')
  return Number.parseInt(text, 8)
}

function sizeIn(header: Buffer): number {
  if (header[SIZE] !== 0x80) return numberIn(header, SIZE, 12)
  const size = Number(header.readBigUInt64BE(SIZE + 4))
  if (!Number.isSafeInteger(size)) throw new Fault('it is no archive of a backup')
  return size
}
