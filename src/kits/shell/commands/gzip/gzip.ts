// `gzip`, `gunzip` and `zcat` of the shell.

import { joinBytes } from '../../../../lib/bytes.ts'
import { type FileStat, isFileError } from '../../../../workspace/file-system.ts'
import { kindAt } from '../../../../workspace/stat.ts'
import { shellMessage } from '../../interpreter-command.ts'
import { resolvePath } from '../../named-path.ts'
import type { ShellCall, ShellCommand, ShellResult } from '../../shell-extensions.ts'
import { MAX_ARCHIVE_BYTES, UnpackError } from '../file-walk.ts'
import type { GnuOptions } from '../gnu-options.ts'
import { type Header, headerOf, isGzip, packed, sizesOf, unpacked } from './format.ts'
import { ratioText, SizeTable } from './listing.ts'
import { gzipOptions, levelOf } from './options.ts'

type Run = ShellCommand['run']

export const runGzip: Run = (args, call) => gzip(args, call)
export const runGunzip: Run = (args, call) => gzip(['-d', ...args], call)
export const runZcat: Run = (args, call) => gzip(['-dc', ...args], call)

const UNNAMED: Header = { name: null, mtimeMs: 0 }
const EXIT_TROUBLE = 1
const EXIT_WARNING = 2
const SUFFIXES = /(\.gz|[-_.]z|-gz|\.taz|\.tgz)$/i

async function gzip(args: readonly string[], call: ShellCall): Promise<ShellResult> {
  const options = gzipOptions(args)
  if (!options.ok) return { stdout: '', stderr: options.stderr, exitCode: options.exitCode }
  const run = new GzipRun(options.read, call)
  const { operands } = options.read
  for (const operand of operands.length === 0 ? ['-'] : operands) await run.operand(operand)
  return run.result()
}

/** A file was skipped. */
class Warning extends Error {}

/** The same, without an effect on the exit code. */
class Notice extends Error {}

class GzipRun {
  readonly #read: GnuOptions
  readonly #call: ShellCall
  readonly #unpacks: boolean
  readonly #table: SizeTable
  readonly #shown: Uint8Array[] = []
  #stderr = ''
  #exitCode = 0

  constructor(read: GnuOptions, call: ShellCall) {
    this.#read = read
    this.#call = call
    this.#unpacks = ['d', 't', 'l'].some((letter) => read.has(letter))
    this.#table = new SizeTable(read.has('v'), read.has('q'))
  }

  result(): ShellResult {
    const table = new TextEncoder().encode(this.#table.end())
    return { stdout: '', bytes: joinBytes([...this.#shown, table]), stderr: this.#stderr, exitCode: this.#exitCode }
  }

  async operand(given: string): Promise<void> {
    await this.#call.pause()
    try {
      await this.#one(given)
    } catch (error) {
      const shown = given === '-' ? 'stdin' : this.#named(given)
      if (error instanceof Warning) this.#warn(error.message)
      else if (error instanceof Notice) this.#stderr += this.#read.has('q') ? '' : `${error.message}\n`
      else if (error instanceof UnpackError) this.#fail(`\ngzip: ${shown}: ${error.message}`)
      else if (isFileError(error)) this.#fail(`gzip: ${shown}: ${shellMessage(error)}`)
      else throw error
    }
  }

  #warn(message: string): void {
    if (!this.#read.has('q')) this.#stderr += `${message}\n`
    this.#exitCode ||= EXIT_WARNING
  }

  #fail(message: string): void {
    this.#stderr += `${message}\n`
    this.#exitCode = EXIT_TROUBLE
  }

  async #one(given: string): Promise<void> {
    const { fs, cwd } = this.#call
    if (given === '-') return this.#toOutput(this.#call.stdinBytes, 'stdin', UNNAMED)
    const name = this.#named(given)
    const path = resolvePath(cwd, name)
    const stat = fs.lstat(path)
    if (stat.kind === 'directory') return this.#folder(name, path)
    const isWritten = !['c', 't', 'l'].some((letter) => this.#read.has(letter))
    if (stat.kind === 'symlink' && isWritten && !this.#read.has('f')) {
      this.#fail(`gzip: ${name}: Too many levels of symbolic links`)
      return
    }
    if (this.#read.has('l')) return this.#table.add(name.replace(SUFFIXES, ''), await fs.read(path))
    const target = isWritten ? this.#targetOf(name) : null
    if (target === null) {
      return this.#toOutput(await fs.read(path), name, this.#about(name, fs.stat(path)))
    }
    await this.#toFile({ name, path, stat, target })
  }

  /** A file to unpack may be given without its extension. */
  #named(given: string): string {
    const { fs, cwd } = this.#call
    const isWhole = !this.#unpacks || given.endsWith(this.#suffix) || SUFFIXES.test(given)
    if (isWhole || kindAt(fs, resolvePath(cwd, given)) !== null) return given
    return `${given}${this.#suffix}`
  }

  get #suffix(): string {
    return this.#read.value('S') ?? '.gz'
  }

  async #folder(name: string, path: string): Promise<void> {
    if (!this.#read.has('r')) throw new Warning(`gzip: ${name} is a directory -- ignored`)
    for (const entry of this.#call.fs.list(path)) {
      const child = `${name.replace(/\/$/, '')}/${entry.name}`
      // Files that are not packed, or packed already, are skipped silently.
      const isFitting = this.#unpacks === (entry.name.endsWith(this.#suffix) || SUFFIXES.test(entry.name))
      if (entry.kind === 'directory' || isFitting) await this.operand(child)
    }
  }

  #targetOf(name: string): string {
    if (!this.#unpacks) {
      const ending = SUFFIXES.exec(name)?.[0]
      if (ending !== undefined) throw new Notice(`gzip: ${name} already has ${ending} suffix -- unchanged`)
      return name + this.#suffix
    }
    if (name.endsWith(this.#suffix) && name.length > this.#suffix.length) return name.slice(0, -this.#suffix.length)
    if (!SUFFIXES.test(name)) throw new Warning(`gzip: ${name}: unknown suffix -- ignored`)
    return name.replace(/\.t[ag]z$/i, '.tar').replace(SUFFIXES, '')
  }

  /** The file's metadata for the header. */
  #about(name: string, { mtimeMs }: FileStat): Header {
    return this.#read.has('n') ? UNNAMED : { name: name.slice(name.lastIndexOf('/') + 1), mtimeMs }
  }

  #toOutput(bytes: Uint8Array, name: string, about: Header): void {
    if (this.#read.has('l')) {
      this.#table.add('stdout', bytes)
      return
    }
    if (!this.#unpacks) {
      const made = packed(bytes, levelOf(this.#read), about)
      this.#shown.push(made)
      this.#tell(name, ratioOf(made, bytes), 'stdout')
      return
    }
    // With -f an uncompressed file is copied unchanged.
    const isPlain = this.#read.has('f') && this.#read.has('c') && !isGzip(bytes)
    const plain = isPlain ? bytes : unpacked(bytes, MAX_ARCHIVE_BYTES)
    if (this.#read.has('t')) {
      if (this.#read.has('v')) this.#stderr += `${name}:\t OK\n`
    } else {
      this.#shown.push(plain)
      if (!isPlain) this.#tell(name, ratioOf(bytes, plain), 'stdout')
    }
  }

  #tell(name: string, ratio: string, target: string): void {
    if (!this.#read.has('v')) return
    const verb = target !== 'stdout' && this.#read.has('k') ? 'created' : 'replaced with'
    this.#stderr += `${name}:\t${ratio} -- ${verb} ${target}\n`
  }

  async #toFile({ name, path, stat, target }: { name: string; path: string; stat: FileStat; target: string }) {
    const { fs, cwd } = this.#call
    const bytes = await fs.read(path)
    const plain = this.#unpacks ? unpacked(bytes, MAX_ARCHIVE_BYTES) : bytes
    const header = this.#unpacks ? headerOf(bytes) : null
    const isNamed = header !== null && this.#read.has('N') && header.name !== null
    const folder = target.slice(0, target.lastIndexOf('/') + 1)
    const base = header?.name?.slice(header.name.lastIndexOf('/') + 1) ?? ''
    const goal = isNamed ? folder + base : target
    if (kindAt(fs, resolvePath(cwd, goal)) !== null && !this.#read.has('f')) {
      throw new Warning(`gzip: ${goal} already exists;\tnot overwritten`)
    }
    const made = this.#unpacks ? plain : packed(bytes, levelOf(this.#read), this.#about(name, stat))
    const to = resolvePath(cwd, goal)
    const { mode, mtimeMs } = fs.stat(path)
    await fs.write(to, made, { mode })
    fs.chmod(to, mode)
    fs.utimes(to, isNamed && header.mtimeMs > 0 ? header.mtimeMs : mtimeMs)
    if (!this.#read.has('k')) fs.remove(path)
    const [small, large] = this.#unpacks ? [bytes, plain] : [made, bytes]
    this.#tell(name, ratioOf(small, large), goal)
  }
}

function ratioOf(small: Uint8Array, large: Uint8Array): string {
  return ratioText(small.byteLength, large.byteLength, sizesOf(small).overhead)
}
