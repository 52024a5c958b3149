// Unpacks an archive.

import { joinBytes } from '../../../../lib/bytes.ts'
import { type FileSystem, replaceContents } from '../../../../workspace/file-system.ts'
import { resolvePath } from '../../../../workspace/paths.ts'
import { kindAt } from '../../../../workspace/stat.ts'
import type { ShellCall, ShellResult } from '../../shell-extensions.ts'
import { isLinkInside, placeBelow } from '../file-walk.ts'
import { readInput } from '../inputs.ts'
import { membersOf, type TarEntry, type TarRecord } from './format.ts'
import { EntryLines } from './lines.ts'
import { EntryOperands, exclusion, stripped, type Transform, transformation } from './names.ts'
import type { TarOptions } from './options.ts'

export const FAILED = 'tar: Exiting with failure status due to previous errors\n'
const EXIT_TROUBLE = 2

export class Unpacking {
  readonly #options: TarOptions
  readonly #call: ShellCall
  readonly #lines: EntryLines
  readonly #transform: Transform
  #stdout = ''
  #stderr = ''
  #hasFailed = false
  /** Files for the standard output. */
  readonly #shown: Uint8Array[] = []
  /** Of folders, whose times change while they are filled. */
  readonly #times: { path: string; mtimeMs: number; mode: number }[] = []

  constructor(options: TarOptions, call: ShellCall) {
    this.#options = options
    this.#call = call
    this.#lines = new EntryLines(options, call.env)
    this.#transform = transformation(options)
  }

  /** Lists or unpacks every selected entry. */
  async run(archive: Uint8Array): Promise<ShellResult> {
    const wanted = new EntryOperands(this.#options)
    const isExcluded = exclusion(this.#options, await this.#patterns())
    try {
      for (const { found } of membersOf(archive)) {
        await this.#call.pause()
        const operand = wanted.areAll ? { name: '', folder: this.#options.folder } : wanted.by(found.name)
        if (operand === null || isExcluded(found.name.replace(/(?<=.)\/+$/, ''))) continue
        await this.#one(found, operand.folder)
      }
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      this.#fail(`tar: ${error.message}\n`)
      const isCut = error.message.startsWith('Unexpected')
      return this.#result(isCut ? 'tar: Error is not recoverable: exiting now\n' : FAILED)
    }
    for (const { path, mtimeMs, mode } of this.#times.reverse()) {
      this.#call.fs.chmod(path, mode)
      if (!this.#options.has('m')) this.#call.fs.utimes(path, mtimeMs)
    }
    const missing = wanted.problems()
    if (missing !== '') this.#fail(missing)
    return this.#result(FAILED)
  }

  async #patterns(): Promise<string[]> {
    const texts = []
    for (const file of this.#options.values('X')) {
      texts.push(new TextDecoder().decode(await readInput(this.#call, file)))
    }
    return texts.flatMap((text) => text.split('\n')).filter((line) => line !== '')
  }

  #result(ending: string): ShellResult {
    const stderr = this.#hasFailed ? this.#stderr + ending : this.#stderr
    const exitCode = this.#hasFailed ? EXIT_TROUBLE : 0
    if (!this.#options.has('O')) return { stdout: this.#stdout, stderr, exitCode }
    return { stdout: '', bytes: joinBytes(this.#shown), stderr, exitCode }
  }

  #fail(text: string): void {
    this.#stderr += text
    this.#hasFailed = true
  }

  async #one(found: TarRecord, folder: string): Promise<void> {
    const { mode, verbose, strip } = this.#options
    const short = stripped(found.name, strip)
    if (mode === 't') {
      if (found.kind === 'other') return this.#fail(`tar: ${found.name}: ${found.reason}\n`)
      this.#stdout += this.#lines.line(found, this.#options.has('show') ? this.#named(short ?? '') : found.name)
      return
    }
    const name = short === null ? '' : this.#named(short)
    if (name === '') return
    const problem = await this.#takeOut(found, name, folder)
    if (problem?.isFailure) return this.#fail(`tar: ${problem.text}\n`)
    if (problem !== null) this.#stderr += `tar: ${problem.text}\n`
    else if (verbose > 0 && found.kind !== 'other') {
      const line = this.#lines.line(found, this.#options.has('show') ? name : found.name)
      // If files are unpacked to the standard output, names go elsewhere.
      if (this.#options.has('O')) this.#stderr += line
      else this.#stdout += line
    }
  }

  #named(name: string): string {
    return this.#transform(name, 'r')
  }

  /** Null if it was unpacked, otherwise the reason. */
  async #takeOut(found: TarRecord, name: string, below: string): Promise<Problem | null> {
    if (found.kind === 'other') return failure(`${found.name}: ${found.reason}`)
    if (this.#options.has('O')) {
      if (found.kind === 'file') this.#shown.push(found.bytes)
      return null
    }
    const { fs, cwd } = this.#call
    const folder = fs.realPath(resolvePath(cwd, topFolder(this.#options, below)))
    const placed = placeBelow(fs, folder, name)
    if (!placed.ok) return failure(`${found.name}: ${placed.reason}`)
    const kept = this.#kept(placed.path, found, name)
    if (kept !== undefined) return kept
    return this.#place({ ...found, name }, placed.path, folder)
  }

  /** Whether an existing file is kept; undefined if there is none. */
  #kept(path: string, { kind, mtimeMs }: TarEntry, name: string): Problem | null | undefined {
    const { fs } = this.#call
    if (kind === 'directory' || kindAt(fs, path) === null) return undefined
    if (this.#options.has('k')) return failure(`${name}: Cannot open: File exists`)
    if (this.#options.has('skip-old')) return null
    const isNewer = Math.floor(fs.lstat(path).mtimeMs / 1000) >= Math.floor(mtimeMs / 1000)
    if (!this.#options.has('keep-newer') || !isNewer) return undefined
    return { text: `Current \u2018${name}\u2019 is newer or same age`, isFailure: false }
  }

  async #place(entry: TarEntry, path: string, folder: string): Promise<Problem | null> {
    const { fs } = this.#call
    const { kind, mode, mtimeMs, name } = entry
    const there = kindAt(fs, path)
    if (kind === 'directory') {
      if (there !== 'directory') fs.makeDirectory(path, { recursive: true })
      const isKept = there === 'directory' && /^\.?\/?$/.test(name)
      if (!isKept) this.#times.push({ path, mtimeMs, mode: mode === 0 ? 0o755 : mode })
      return null
    }
    if (there === 'directory') return failure(`${name}: Cannot open: File exists`)
    if (kind === 'symlink' && !isLinkInside(folder, path, entry.target)) {
      return failure(`${name}: the link leads elsewhere`)
    }
    makeParent(fs, path)
    if (kind === 'link') return this.#copy(entry, path, folder)
    if (there === 'symlink' || (there !== null && kind === 'symlink')) fs.remove(path)
    if (kind === 'symlink') {
      fs.symlink(this.#transform(entry.target, 's'), path)
      return null
    }
    // A copy, because the unpacked bytes are a view of a larger buffer.
    await replaceContents(fs, path, { bytes: new Uint8Array(entry.bytes) })
    fs.chmod(path, mode === 0 ? 0o644 : mode)
    if (!this.#options.has('m')) fs.utimes(path, mtimeMs)
    return null
  }

  /** There are no hard links: the original file is copied. */
  async #copy({ name, target, mode, mtimeMs }: TarEntry, path: string, folder: string): Promise<Problem | null> {
    const { fs } = this.#call
    const meant = this.#transform(stripped(target, this.#options.strip) ?? '', 'h')
    const source = placeBelow(fs, folder, meant)
    if (!source.ok || kindAt(fs, source.path) !== 'file') {
      return failure(`${name}: Cannot hard link to \u2018${meant}\u2019: No such file or directory`)
    }
    if (source.path !== path) await fs.write(path, new Uint8Array(await fs.read(source.path)))
    fs.chmod(path, mode)
    fs.utimes(path, mtimeMs)
    return null
  }
}

type Problem = { text: string; isFailure: boolean }

const failure = (text: string): Problem => ({ text, isFailure: true })

function makeParent(fs: FileSystem, path: string): void {
  const parent = path.slice(0, path.lastIndexOf('/')) || '/'
  if (kindAt(fs, parent) === null) fs.makeDirectory(parent, { recursive: true })
}

/** `--one-top-level` without a name uses the archive's name. */
export function topFolder({ read, file }: TarOptions, folder: string): string {
  const top = read.value('top')
  if (top === undefined) return folder
  const base = file.slice(file.lastIndexOf('/') + 1).replace(/\.(tar(\.\w+)?|tgz|tbz2?|txz)$/, '')
  return `${folder}/${top === '' ? base : top}`
}
