// The forms of `node:fs` that go through a file or a folder piece by piece.

import { EventEmitter } from 'node:events'
import { Readable, Writable } from 'node:stream'
import { appendFile, readFile, writeFile } from './fs-content.ts'
import { close, fstat, ftruncate, read, write } from './fs-descriptors.ts'
import { readdir } from './fs-entries.ts'
import type { Dirent, Stats } from './fs-stats.ts'
import { bytesOf, encodingOf, type Options, pathOf, settingsOf } from './given.ts'

export class FileHandle extends EventEmitter {
  readonly fd: number
  constructor(fd: number) {
    super()
    this.fd = fd
  }
  async readFile(options?: Options): Promise<string | Buffer> {
    return readFile(this.fd, options)
  }
  async writeFile(data: unknown, options?: Options): Promise<void> {
    write(this.fd, bytesOf(data, options))
  }
  async appendFile(data: unknown, options?: Options): Promise<void> {
    write(this.fd, bytesOf(data, options))
  }
  async read<T extends Uint8Array>(buffer: T, ...rest: [offset?: number, length?: number, position?: number | null]) {
    return { bytesRead: read(this.fd, buffer, ...rest), buffer }
  }
  async write<T extends string | Uint8Array>(data: T, ...rest: readonly unknown[]) {
    return { bytesWritten: write(this.fd, data, ...rest), buffer: data }
  }
  async stat(options?: Options): Promise<Stats> {
    return fstat(this.fd, options)
  }
  async truncate(length?: number): Promise<void> {
    ftruncate(this.fd, length)
  }
  async close(): Promise<void> {
    close(this.fd)
  }
}

export class Dir {
  readonly path: string
  readonly #entries: (string | Dirent)[]
  constructor(path: unknown) {
    this.path = pathOf(path)
    this.#entries = readdir(path, { withFileTypes: true })
  }
  readSync(): string | Dirent | null {
    return this.#entries.shift() ?? null
  }
  closeSync(): void {}
  async read(): Promise<string | Dirent | null> {
    return this.readSync()
  }
  async close(): Promise<void> {}
  async *[Symbol.asyncIterator]() {
    for (let entry = this.readSync(); entry !== null; entry = this.readSync()) yield entry
  }
  [Symbol.dispose](): void {}
  async [Symbol.asyncDispose](): Promise<void> {}
}

export function createReadStream(path: unknown, options?: Options): Readable {
  const encoding = encodingOf(options)
  const { start = 0, end } = settingsOf(options)
  const stream = new Readable({
    ...(encoding && encoding !== 'buffer' ? { encoding } : {}),
    read() {
      try {
        const bytes = Buffer.from(readFile(path))
        this.push(bytes.subarray(start, end === undefined ? undefined : end + 1))
        this.push(null)
      } catch (error) {
        this.destroy(asError(error))
      }
    },
  })
  return Object.assign(stream, { path })
}

export function createWriteStream(path: unknown, options?: Options): Writable {
  const { flags = 'w' } = settingsOf(options)
  if (flags.startsWith('w')) writeFile(path, '')
  const stream = Object.assign(
    new Writable({
      decodeStrings: true,
      write(chunk: Uint8Array, _encoding, done) {
        try {
          appendFile(path, chunk)
          stream.bytesWritten += chunk.length
          done()
        } catch (error) {
          done(asError(error))
        }
      },
    }),
    { path, bytesWritten: 0 },
  )
  return stream
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
