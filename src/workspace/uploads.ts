// The files of one upload request. They are stored as they arrive, whatever their size, but become part of the
// workspace together when the request is complete: an interrupted request changes nothing. Each file is then accepted
// or refused separately; bytes are never changed.

import { giveWay } from '../lib/give-way.ts'
import { byteLength, type FileSystem, FileSystemError, isFileError, type StagedContents } from './file-system.ts'
import { regroup } from './parts.ts'
import { uploadName, WORKSPACE_ROOT } from './paths.ts'
import { type Unpacked, unpackZip } from './unpack.ts'
import type { IncomingFile } from './upload-form.ts'

export interface UploadLimits {
  maxFileBytes: number
  /** Of one request. */
  maxTotalBytes: number
  maxFiles: number
  /** Of all archives of one request. */
  maxEntries: number
  maxUnpackedBytes: number
}

/** The field names are those of the endpoint's answer. */
export interface UploadReport {
  /** Absolute paths of the stored files. */
  uploaded_files: string[]
  /** The names are those of the request; entries of an archive start with the archive's name. */
  skipped_files: { name: string; reason: string }[]
}

type Outcome =
  | { name: string; reason: string }
  | { name: string; path: string; staged: StagedContents; mode?: number | undefined }
  | { name: string; path: string; target: string }
  | { name: string; path: string; isFolder: true }

/** How many entries are stored before other work gets a turn. */
const REST_EVERY = 200

export class Upload {
  readonly #fs: FileSystem
  readonly #limits: UploadLimits
  readonly #unpacks: boolean
  readonly #outcomes: Outcome[] = []
  readonly #taken = new Set<string>()
  /** Folders that exist, valid until other code gets a turn. */
  readonly #folders = new Set<string>()
  #files = 0
  #totalBytes = 0
  #entries = 0
  #unpackedBytes = 0

  constructor(fs: FileSystem, { limits, unpacks }: { limits: UploadLimits; unpacks: boolean }) {
    this.#fs = fs
    this.#limits = limits
    this.#unpacks = unpacks
  }

  /** Stores a file; a refusal is added to the report. Throws only errors of the parts. */
  async receive({ name, parts }: IncomingFile): Promise<void> {
    const clean = uploadName(name)
    const path = `${WORKSPACE_ROOT}/${clean}`
    const reason = clean === null ? 'The file has no usable name' : this.#refusal(path)
    if (reason !== null) return this.#skip(name, reason)
    try {
      if (this.#unpacks && path.toLowerCase().endsWith('.zip')) {
        await this.#unpack(name, await this.#collected(parts))
      } else {
        const staged = await this.#fs.stage(this.#limited(parts))
        this.#outcomes.push({ name, path, staged })
        this.#taken.add(path)
      }
    } catch (error) {
      this.#skip(name, reasonOf(error))
    }
  }

  /** Moves all files into the workspace. */
  async finish(): Promise<UploadReport> {
    const report: UploadReport = { uploaded_files: [], skipped_files: [] }
    for (const [i, outcome] of this.#outcomes.entries()) {
      if (i % REST_EVERY === REST_EVERY - 1) {
        await giveWay()
        this.#folders.clear()
      }
      const reason = 'reason' in outcome ? outcome.reason : this.#store(outcome)
      if (reason !== null) report.skipped_files.push({ name: shown(outcome.name), reason })
      else if ('path' in outcome && !('isFolder' in outcome)) report.uploaded_files.push(outcome.path)
    }
    return report
  }

  /** Releases contents that have not become a file. Must be called in every case. */
  release(): void {
    for (const outcome of this.#outcomes) if ('staged' in outcome) outcome.staged.release()
  }

  #skip(name: string, reason: string): void {
    this.#outcomes.push({ name, reason })
  }

  /** Why a file is refused because of its path, before it is read. */
  #refusal(path: string): string | null {
    if (this.#taken.has(path)) return `Another file of this upload is stored as ${path}`
    if (this.#files++ >= this.#limits.maxFiles) return `The upload has more than ${this.#limits.maxFiles} files`
    return null
  }

  /** The same parts; throws when a limit is exceeded. */
  async *#limited(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const { maxFileBytes, maxTotalBytes } = this.#limits
    let size = 0
    for await (const part of parts) {
      size += part.byteLength
      if (size > maxFileBytes) throw new Refusal(`The file is larger than ${maxFileBytes} bytes`)
      if (this.#totalBytes + size > maxTotalBytes) throw new Refusal(`The upload is larger than ${maxTotalBytes} bytes`)
      yield part
    }
    this.#totalBytes += size
  }

  /** An archive must be complete before it is read, because its table of contents is at its end. */
  async #collected(parts: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
    const whole = regroup(this.#limited(parts), this.#limits.maxFileBytes + 1)
    return (await whole.next()).value ?? new Uint8Array()
  }

  async #unpack(archive: string, bytes: Uint8Array): Promise<void> {
    const { maxFileBytes, maxEntries, maxUnpackedBytes } = this.#limits
    const left = { maxEntries: maxEntries - this.#entries, maxTotalBytes: maxUnpackedBytes - this.#unpackedBytes }
    for await (const found of unpackZip(bytes, { maxFileBytes, ...left })) {
      const name = found.name === '' ? archive : `${archive}/${found.name}`
      this.#outcomes.push(await this.#unpacked(name, found))
      if (++this.#entries % REST_EVERY === 0) await giveWay()
    }
  }

  async #unpacked(name: string, found: Unpacked): Promise<Outcome> {
    if (found.kind === 'refused') return { name, reason: found.reason }
    const { path } = found
    if (found.kind === 'directory') return { name, path, isFolder: true }
    if (this.#taken.has(path)) return { name, reason: `Another file of this upload is stored as ${path}` }
    this.#taken.add(path)
    if (found.kind === 'symlink') return { name, path, target: found.target }
    this.#unpackedBytes += found.bytes.byteLength
    try {
      return { name, path, mode: found.mode, staged: await this.#fs.stage(only(found.bytes)) }
    } catch (error) {
      return { name, reason: reasonOf(error) }
    }
  }

  /** Null if it is stored, otherwise the reason. */
  #store(outcome: Exclude<Outcome, { reason: string }>): string | null {
    const { path } = outcome
    try {
      this.#makeFolders('isFolder' in outcome ? path : path.slice(0, path.lastIndexOf('/')))
      if ('isFolder' in outcome) return null
      const stands = this.#kindAt(path)
      if (stands === 'directory') throw new FileSystemError('EISDIR', path)
      if ('target' in outcome) this.#link(outcome.target, path, stands !== null)
      else if (stands === 'symlink') this.#insteadOfLink(outcome.staged, path, outcome.mode)
      else outcome.staged.place(path, outcome.mode)
      if (stands === 'file' && 'mode' in outcome && outcome.mode !== undefined) this.#fs.chmod(path, outcome.mode)
      return null
    } catch (error) {
      return reasonOf(error)
    }
  }

  /** Creates real folders only: a link to a folder could redirect the unpacked files. */
  #makeFolders(folder: string): void {
    for (let end = WORKSPACE_ROOT.length; end < folder.length; ) {
      const slash = folder.indexOf('/', end + 1)
      end = slash === -1 ? folder.length : slash
      const path = folder.slice(0, end)
      if (this.#folders.has(path)) continue
      const stands = this.#kindAt(path)
      if (stands === null) this.#fs.makeDirectory(path)
      else if (stands !== 'directory') throw new FileSystemError('ENOTDIR', path)
      this.#folders.add(path)
    }
  }

  #link(target: string, path: string, replaces: boolean): void {
    if (replaces) this.#fs.remove(path)
    this.#fs.symlink(target, path)
  }

  /** Writing would follow the link to its target; and the link must exist until the file is complete. */
  #insteadOfLink(staged: StagedContents, path: string, mode: number | undefined): void {
    const beside = `/tmp/.upload-${crypto.randomUUID()}`
    staged.place(beside, mode)
    this.#fs.rename(beside, path)
  }

  #kindAt(path: string): string | null {
    try {
      return this.#fs.lstat(path).kind
    } catch (error) {
      if (isFileError(error, 'ENOENT')) return null
      throw error
    }
  }
}

/** Why a file is refused, from the error when it was stored. */
class Refusal extends Error {
  override readonly name = 'Refusal'
}

function reasonOf(error: unknown): string {
  if (error instanceof Refusal) return error.message
  if (!isFileError(error)) throw error
  if (error.code === 'EISDIR') return 'A folder of this name is in the workspace'
  if (error.code === 'ENOTDIR') return `${error.path} is not a folder`
  if (error.code === 'ENOSPC') return 'There is no room left in the workspace'
  if (error.code === 'EIO') return 'The file could not be stored at the moment; try again'
  return `The file could not be stored (${error.code})`
}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/** A name of any length and content, as valid text of limited length for the answer. */
function shown(name: string): string {
  const text = name.toWellFormed()
  return byteLength(text) <= 1024 ? text : `${text.slice(0, 256).toWellFormed()}…`
}
