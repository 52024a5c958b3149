// Writes a folder as one ZIP while it is read. Apart from the archive's table of contents, only a part of one file is
// in memory at a time, and the next part is read after the client has received the previous one. Existing libraries
// that stream either stop at 65,535 entries or compress in JavaScript, which is much slower than the runtime.

import {
  type Compression,
  centralHeader,
  compression,
  DEFLATED,
  dataDescriptor,
  endOfArchive,
  localHeader,
  STORED,
  storedParts,
} from '../kits/zip/index.ts'
import { giveWay } from '../lib/give-way.ts'
import { errorFields, log } from '../lib/log.ts'
import { type FileSystem, isFileError, type Pack, type PackedFile, type ScannedEntry } from './file-system.ts'
import { ByteBlocks, wakeCollector } from './parts.ts'

const S_IFREG = 0o100000
const S_IFLNK = 0o120000
/** Takes half the time of level 6; archives of source code are 3 % larger. */
const LEVEL = 2
/** Already compressed; compressing them again takes time and saves nothing. */
const COMPRESSED = /\.(zip|gz|tgz|bz2|xz|zst|7z|png|jpe?g|gif|webp|mp[34]|pdf|woff2?|pack)$/i
/** If a part shrinks less than this, it and the rest of the file are not compressed. */
const WORTH_WHILE = 0.97
/** How many bytes are packed before other work gets a turn: some tens of milliseconds. */
const REST_EVERY_BYTES = 1024 * 1024
const EMPTY = new Uint8Array()
const encoder = new TextEncoder()

/**
 * All files and links below the folder, with paths relative to it; empty directories have no entry. Throws if the first
 * part cannot be read. A file that is deleted while the archive is written is left out; any other failure breaks the
 * stream, so that no incomplete archive looks complete. An abort ends the reading.
 */
export async function zipFolder(
  fs: FileSystem,
  folder: string,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const blocks = new Archive(fs, folder, await compression()).blocks()
  const first = await blocks.next()
  // The runtime's own pipe: a write ends when the client has received the block, which can then be reused.
  const { readable, writable } = new IdentityTransformStream()
  const writer = writable.getWriter()
  signal.addEventListener('abort', () => void breakOff(writer, signal.reason))
  void pump(blocks, first, writer)
  return readable
}

type Blocks = AsyncGenerator<Uint8Array, undefined>

async function pump(
  blocks: Blocks,
  first: IteratorResult<Uint8Array>,
  writer: WritableStreamDefaultWriter,
): Promise<void> {
  try {
    for (let next = first; !next.done; next = await blocks.next()) await writer.write(next.value)
    await writer.close()
  } catch (error) {
    log.info('archive.unfinished', errorFields(error))
    await breakOff(writer, error)
    await blocks.return(undefined)
  }
}

async function breakOff(writer: WritableStreamDefaultWriter, reason: unknown): Promise<void> {
  await writer.abort(reason).catch((error: unknown) => log.debug('archive.broken_off', errorFields(error)))
}

type ArchiveEntry = Omit<ScannedEntry, 'name'> & { path: string }

class Archive {
  readonly #fs: FileSystem
  readonly #folder: string
  readonly #zlib: Compression
  readonly #out = new ByteBlocks()
  readonly #directory = new ByteBlocks()
  #entries = 0
  #isBegun = false
  /** Since the last pause, before compression. */
  #packedBytes = 0

  constructor(fs: FileSystem, folder: string, zlib: Compression) {
    this.#fs = fs
    this.#folder = folder
    this.#zlib = zlib
  }

  /**
   * Yields at least one block, and the first as soon as there are bytes. Each is overwritten when the next one is
   * requested.
   */
  async *blocks(): Blocks {
    for (const found of filesBelow(this.#fs, this.#folder, this.#pack)) {
      if (found.packed) this.#whole(found, found.packed)
      else if (found.bytes !== null) this.#whole(found, this.#pack(found.path, found.bytes))
      else {
        for await (const _ of this.#inParts(found)) {
          if (this.#isDue) yield* this.#due()
        }
      }
      if (this.#isDue) yield* this.#due()
    }
    const offset = this.#out.sizeBytes
    const sizeBytes = this.#directory.sizeBytes
    for (const block of this.#directory.takeAll()) this.#out.add(block)
    this.#out.add(endOfArchive({ entries: this.#entries, sizeBytes, offset }))
    yield* this.#out.takeAll()
  }

  get #isDue(): boolean {
    return !this.#isBegun || this.#out.hasFull
  }

  /** Pauses regularly: with a client that reads at once, no write would ever wait, and other requests would get no turn. */
  async *#due(): AsyncGenerator<Uint8Array> {
    const isFirst = !this.#isBegun
    this.#isBegun = true
    yield* isFirst ? this.#out.takeAll() : this.#out.take()
    if (!isFirst && this.#packedBytes < REST_EVERY_BYTES) return
    this.#packedBytes = 0
    wakeCollector()
    await giveWay()
  }

  readonly #pack: Pack = (name, bytes) => {
    const deflated = COMPRESSED.test(name) ? null : this.#zlib.deflatePart(bytes, LEVEL, true)
    const isSmaller = deflated !== null && deflated.byteLength < bytes.byteLength
    this.#packedBytes += bytes.byteLength
    return {
      crc: this.#zlib.crc32(bytes),
      sizeBytes: bytes.byteLength,
      deflated: isSmaller ? deflated : null,
    }
  }

  #whole(found: ArchiveEntry, { crc, sizeBytes, deflated }: PackedFile): void {
    const packed = deflated ?? found.bytes ?? EMPTY
    const method = deflated === null ? STORED : DEFLATED
    const entry = { ...this.#entry(found), method, crc, packedBytes: packed.byteLength, sizeBytes }
    this.#out.add(localHeader(entry))
    this.#out.add(packed)
    this.#packedBytes += packed.byteLength
    this.#list(entry)
  }

  /** The size and checksum of the file are known only at its end, so both are written after the contents. */
  async *#inParts(found: ArchiveEntry): AsyncGenerator<void> {
    const { path } = found
    const entry = { ...this.#entry(found), method: DEFLATED, describedLater: true }
    let isCompressible = !COMPRESSED.test(path)
    let start = 0
    try {
      for await (const part of this.#fs.readParts(path)) {
        if (start === 0) {
          this.#out.add(localHeader(entry))
          start = this.#out.sizeBytes
        }
        entry.crc = this.#zlib.crc32(part, entry.crc)
        entry.sizeBytes += part.byteLength
        this.#packedBytes += part.byteLength
        isCompressible = this.#part(part, isCompressible)
        yield
      }
    } catch (error) {
      if (start === 0 && isGone(error)) return
      throw error
    }
    if (start === 0) return this.#whole(found, this.#pack(path, EMPTY))
    this.#out.add(this.#zlib.deflatePart(EMPTY, LEVEL, true))
    entry.packedBytes = this.#out.sizeBytes - start
    this.#out.add(dataDescriptor(entry))
    this.#list(entry)
  }

  /** Whether the next part should be compressed too. */
  #part(part: Uint8Array, isCompressible: boolean): boolean {
    const deflated = isCompressible ? this.#zlib.deflatePart(part, LEVEL, false) : null
    const isSmaller = deflated !== null && deflated.byteLength < part.byteLength * WORTH_WHILE
    if (isSmaller) this.#out.add(deflated)
    else for (const piece of storedParts(part)) this.#out.add(piece)
    return isSmaller
  }

  #entry({ path, stat: { kind, mode, mtimeMs } }: ArchiveEntry) {
    return {
      name: encoder.encode(path.slice(this.#folder.length + 1)),
      describedLater: false,
      crc: 0,
      packedBytes: 0,
      sizeBytes: 0,
      modifiedMs: mtimeMs,
      unixMode: kind === 'symlink' ? S_IFLNK | 0o777 : S_IFREG | mode,
      offset: this.#out.sizeBytes,
    }
  }

  #list(entry: Parameters<typeof centralHeader>[0]): void {
    this.#directory.add(centralHeader(entry))
    this.#entries++
  }
}

/** Everything except directories. Links are not followed. */
function* filesBelow(fs: FileSystem, top: string, pack: Pack): Generator<ArchiveEntry> {
  const folders = [top]
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entries of scanIfThere(fs, folder, pack)) {
      for (const { name, ...found } of entries) {
        const path = `${folder}/${name}`
        if (found.stat.kind === 'directory') folders.push(path)
        else yield { path, ...found }
      }
    }
  }
}

function* scanIfThere(fs: FileSystem, folder: string, pack: Pack): Generator<ScannedEntry[]> {
  try {
    yield* fs.scan(folder, pack)
  } catch (error) {
    if (!isGone(error)) throw error
  }
}

/** The folder or the file may have been replaced in the meantime. */
function isGone(error: unknown): boolean {
  return isFileError(error, 'ENOENT') || isFileError(error, 'ENOTDIR') || isFileError(error, 'EISDIR')
}
