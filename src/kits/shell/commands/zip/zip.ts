// `zip` of the shell.

import { type FileStat, isFileError } from '../../../../workspace/file-system.ts'
import { kindAt } from '../../../../workspace/stat.ts'
import { STORED } from '../../../zip/index.ts'
import { shellMessage } from '../../interpreter-command.ts'
import { resolvePath } from '../../named-path.ts'
import type { ShellCall, ShellResult } from '../../shell-extensions.ts'
import { MAX_ARCHIVE_BYTES, MAX_ARCHIVE_ENTRIES } from '../file-walk.ts'
import { readInput } from '../inputs.ts'
import { archiveOf, entriesOf, type PackedEntry, packedEntry, percent } from './archive.ts'
import { wantedTest } from './list.ts'
import { type ZipOptions, type ZipSpec, zipOptions } from './options.ts'

const SPEC: ZipSpec = {
  flags: 'rqjyXufdmD@TSgo0123456789',
  lists: 'xi',
  pairs:
    'AC AS Bn C2 C5 db dc dd df dg ds du dv DF FF FI FS h2 ic jj la lf li ll MM nw RE sb sc sd sf so sp su sU sv TT tt UN VV ws ww'.split(
      ' ',
    ),
  values: '',
  long: {
    ...{ 'recurse-paths': 'r', quiet: 'q', 'junk-paths': 'j', symlinks: 'y', 'no-extra': 'X', update: 'u' },
    ...{ freshen: 'f', delete: 'd', move: 'm', 'no-dir-entries': 'D', exclude: 'x', include: 'i', 'names-stdin': '@' },
    ...{ test: 'T', 'latest-time': 'o' },
  },
}
/** The archive cannot be written. */
const EXIT_NOT_MADE = 15
const EXIT_NOTHING = 12
const EXIT_USAGE = 16
const EXIT_NOT_A_ZIP = 3
const S_IFLNK = 0o120000
const S_IFDIR = 0o040000
const S_IFREG = 0o100000

export async function runZip(args: readonly string[], call: ShellCall): Promise<ShellResult> {
  const options = zipOptions(args, SPEC)
  if (typeof options === 'string') return failure(options, EXIT_USAGE)
  try {
    return await new ZipRun(options, call).run()
  } catch (error) {
    if (isFileError(error)) return failure(`${error.path}: ${shellMessage(error)}`, EXIT_NOTHING)
    if (error instanceof RangeError) return failure(error.message, EXIT_NOT_A_ZIP)
    throw error
  }
}

function failure(message: string, exitCode: number): ShellResult {
  return { stdout: '', stderr: `zip: ${message}\n`, exitCode }
}

interface InputFile {
  /** The name in the archive, with a slash after a folder. */
  name: string
  path: string
  stat: FileStat
}

class ZipRun {
  readonly #options: ZipOptions
  readonly #call: ShellCall
  /** Messages go to stdout, or to stderr if the archive goes to stdout. `-q` leaves out all but the error. */
  #warnings = ''
  #lines = ''
  #error = ''

  constructor(options: ZipOptions, call: ShellCall) {
    this.#options = options
    this.#call = call
  }

  async run(): Promise<ShellResult> {
    const [given, ...operands] = this.#options.operands
    if (given === undefined) return failure('usage: zip [-r] archive.zip files', EXIT_USAGE)
    const shown = given === '-' || given.slice(given.lastIndexOf('/') + 1).includes('.') ? given : `${given}.zip`
    const target = given === '-' ? null : resolvePath(this.#call.cwd, shown)
    const before = target === null || kindAt(this.#call.fs, target) === null ? [] : await this.#entries(target)
    if (before.length === 0 && (this.#has('d') || this.#has('f')))
      this.#warnings += `\tzip warning: ${shown} not found or empty\n`
    const names = this.#has('@') ? [...operands, ...(await this.#namesPiped())] : operands
    if (names.length === 0 && this.#has('T') && target !== null) return this.#tested(shown)
    if (this.#has('d')) return this.#delete(before, names, { target, shown })
    const listed = names.length === 0 && this.#has('f') ? before.map(({ name }) => name) : names
    if (listed.length === 0) return failure('usage: zip [-r] archive.zip files', EXIT_USAGE)
    const found = await this.#find(listed, target)
    const added = await this.#added(found, before)
    if (added.length === 0) return this.#nothing(shown)
    const bytes = archiveOf(merged(before, added))
    if (target === null) return { stdout: '', bytes, stderr: this.#said, exitCode: 0 }
    if (kindAt(this.#call.fs, target.slice(0, target.lastIndexOf('/')) || '/') !== 'directory') {
      this.#error = `zip I/O error: No such file or directory\nzip error: Could not create output file (${shown})\n`
      return { stdout: this.#error, stderr: '', exitCode: EXIT_NOT_MADE }
    }
    await this.#call.fs.write(target, bytes)
    if (this.#has('m')) this.#takeAway(found)
    if (this.#has('T')) this.#lines += `test of ${shown} OK\n`
    return this.#result(0)
  }

  #has(flag: string): boolean {
    return this.#options.flags.has(flag)
  }

  #result(exitCode: number): ShellResult {
    return { stdout: this.#said, stderr: '', exitCode }
  }

  get #said(): string {
    return (this.#has('q') ? '' : this.#warnings + this.#lines) + this.#error
  }

  async #entries(path: string): Promise<PackedEntry[]> {
    const bytes = await this.#call.fs.read(path)
    const entries = entriesOf(bytes)
    if (typeof entries === 'string') throw new RangeError(`${path}: ${entries}`)
    return entries
  }

  async #namesPiped(): Promise<string[]> {
    return this.#call.stdin.split('\n').filter((line) => line !== '')
  }

  /** An archive written here was checked when it was created; one from elsewhere must be readable. */
  #tested(shown: string): ShellResult {
    this.#lines = `test of ${shown} OK\n`
    return this.#result(0)
  }

  /** An update without newer files prints nothing. */
  #nothing(shown: string): ShellResult {
    const isUpdate = this.#has('u') || this.#has('f')
    if (!isUpdate) this.#error = `\nzip error: Nothing to do! (${shown})\n`
    return this.#result(EXIT_NOTHING)
  }

  async #delete(
    before: readonly PackedEntry[],
    names: readonly string[],
    { target, shown }: { target: string | null; shown: string },
  ): Promise<ShellResult> {
    for (const name of names) {
      const isMeant = wantedTest([name])
      if (!before.some((entry) => isMeant(entry.name))) this.#warnings += `\tzip warning: name not matched: ${name}\n`
    }
    const isDeleted = names.length === 0 ? () => false : wantedTest(names)
    const gone = before.filter(({ name }) => isDeleted(name))
    if (gone.length === 0 || target === null) {
      this.#error = `\nzip error: Nothing to do! (${shown})\n`
      return this.#result(EXIT_NOTHING)
    }
    this.#lines += gone.map(({ name }) => `deleting: ${name}\n`).join('')
    const left = before.filter((entry) => !gone.includes(entry))
    await this.#call.fs.write(target, archiveOf(left))
    if (left.length === 0) this.#lines += `\tzip warning: zip file empty\n`
    return this.#result(0)
  }

  async #find(operands: readonly string[], target: string | null): Promise<InputFile[]> {
    const { fs, cwd } = this.#call
    const [isLeftOut, isTaken] = [await this.#listTest('x'), await this.#listTest('i')]
    const found: InputFile[] = []
    const waiting = operands.map((name) => ({ name, path: resolvePath(cwd, name), isNamed: true })).reverse()
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      await this.#call.pause()
      if (next.name === '-') {
        const size = this.#call.stdinBytes.byteLength
        found.push({ name: '-', path: '-', stat: pipedStat(size) })
        continue
      }
      const stat = this.#statOf(next.path)
      if (stat === null) {
        if (next.isNamed && !this.#has('f')) this.#warnings += `\tzip warning: name not matched: ${next.name}\n`
        continue
      }
      const name = storedName(next.name, stat)
      const isWanted = name !== '' && next.path !== target && !isLeftOut?.(name) && (isTaken?.(name) ?? true)
      const isFolder = stat.kind === 'directory'
      if (isWanted && !(isFolder && (this.#has('D') || this.#has('j'))))
        found.push({ name: this.#junked(name), path: next.path, stat })
      if (found.length > MAX_ARCHIVE_ENTRIES) throw new RangeError(`there are more than ${MAX_ARCHIVE_ENTRIES} files`)
      if (!isFolder || !this.#has('r')) continue
      const { name: above, path } = next
      const children = fs.list(path).map((entry) => ({
        name: `${above.replace(/\/+$/, '')}/${entry.name}`,
        path: `${path === '/' ? '' : path}/${entry.name}`,
        isNamed: false,
      }))
      waiting.push(...children.reverse())
    }
    return found
  }

  #junked(name: string): string {
    return this.#has('j') ? name.slice(name.lastIndexOf('/') + 1) : name
  }

  /** Links are followed unless they are stored as links. */
  #statOf(path: string): FileStat | null {
    const { fs } = this.#call
    try {
      return this.#has('y') ? fs.lstat(path) : fs.stat(path)
    } catch (error) {
      if (isFileError(error)) return null
      throw error
    }
  }

  /** Patterns of `-x` or `-i`; `@file` contains one per line. Null if there are none. */
  async #listTest(letter: 'x' | 'i'): Promise<((name: string) => boolean) | null> {
    const given = this.#options.lists.get(letter)
    if (given === undefined) return null
    const patterns: string[] = []
    for (const word of given) {
      if (!word.startsWith('@')) patterns.push(word)
      else {
        const text = new TextDecoder().decode(await readInput(this.#call, word.slice(1)))
        patterns.push(...text.split('\n').filter((line) => line !== ''))
      }
    }
    if (patterns.length === 0) return letter === 'x' ? () => false : () => false
    return wantedTest(patterns.map((pattern) => pattern.replace(/^(?:\.\/)+/, '')))
  }

  async #added(found: readonly InputFile[], before: readonly PackedEntry[]): Promise<PackedEntry[]> {
    const known = new Map(before.map((entry) => [entry.name, entry]))
    const added = new Map<string, PackedEntry>()
    let total = 0
    for (const { name, path, stat } of found) {
      await this.#call.pause()
      const old = known.get(name)
      const isNewer = old === undefined || Math.floor(stat.mtimeMs / 1000) > Math.floor(old.modifiedMs / 1000)
      if ((this.#has('u') && !isNewer) || (this.#has('f') && (old === undefined || !isNewer))) continue
      total += stat.sizeBytes
      if (total > MAX_ARCHIVE_BYTES)
        throw new RangeError(`the files are larger than ${MAX_ARCHIVE_BYTES} bytes together`)
      const about = { name, modifiedMs: stat.mtimeMs, unixMode: typeBits(stat) | stat.mode }
      added.set(name, packedEntry(about, await this.#contents(path, stat), this.#level))
    }
    // Replaced entries are reported before new ones.
    const entries = [...added.values()]
    const lines = (isOld: boolean, verb: string) =>
      entries.filter(({ name }) => known.has(name) === isOld).map((entry) => lineOf(verb, entry))
    this.#lines += [...lines(true, this.#has('f') ? 'freshening: ' : 'updating: '), ...lines(false, '  adding: ')].join(
      '',
    )
    return entries
  }

  get #level(): number {
    return Number([...this.#options.flags].findLast((flag) => /^\d$/.test(flag)) ?? 6)
  }

  async #contents(path: string, { kind }: FileStat): Promise<Uint8Array> {
    const { fs } = this.#call
    if (path === '-') return this.#call.stdinBytes
    if (kind === 'symlink') return new TextEncoder().encode(fs.readLink(path))
    return kind === 'directory' ? new Uint8Array() : fs.read(path)
  }

  #takeAway(found: readonly InputFile[]): void {
    const { fs } = this.#call
    for (const { path, stat } of found.toReversed()) {
      if (path !== '-' && (stat.kind !== 'directory' || fs.list(path).length === 0)) fs.remove(path)
    }
  }
}

function pipedStat(sizeBytes: number): FileStat {
  return { kind: 'file', mode: 0o600, mtimeMs: Date.now(), inode: 0, sizeBytes }
}

function typeBits({ kind }: FileStat): number {
  return kind === 'directory' ? S_IFDIR : kind === 'symlink' ? S_IFLNK : S_IFREG
}

/** Removes a leading slash and everything up to the last `..`, like other tools. */
function storedName(given: string, { kind }: FileStat): string {
  const names = given.split('/').filter((name) => name !== '' && name !== '.')
  const name = names.slice(names.lastIndexOf('..') + 1).join('/')
  return kind === 'directory' && name !== '' ? `${name}/` : name
}

function lineOf(verb: string, entry: PackedEntry): string {
  return `${verb}${entry.name} (${entry.method === STORED ? 'stored' : 'deflated'} ${percent(entry)}%)\n`
}

/** Replaced entries keep their position. */
function merged(before: readonly PackedEntry[], added: readonly PackedEntry[]): PackedEntry[] {
  const news = new Map(added.map((entry) => [entry.name, entry]))
  const kept = before.map((entry) => news.get(entry.name) ?? entry)
  const known = new Set(before.map(({ name }) => name))
  return [...kept, ...added.filter(({ name }) => !known.has(name))]
}
