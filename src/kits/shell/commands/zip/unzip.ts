// `unzip` of the shell.

import { joinBytes } from '../../../../lib/bytes.ts'
import { zoneOf } from '../../../../lib/clock.ts'
import { isFileError, replaceContents } from '../../../../workspace/file-system.ts'
import { WORKSPACE_ROOT } from '../../../../workspace/paths.ts'
import { kindAt } from '../../../../workspace/stat.ts'
import { type Unpacked, unpackZip } from '../../../../workspace/unpack.ts'
import { readZipDirectory, STORED, type ZipEntry } from '../../../zip/index.ts'
import { shellMessage } from '../../interpreter-command.ts'
import { resolvePath } from '../../named-path.ts'
import type { ShellCall, ShellResult } from '../../shell-extensions.ts'
import { isLinkInside, MAX_ARCHIVE_BYTES, MAX_ARCHIVE_ENTRIES, placeBelow } from '../file-walk.ts'
import { inZone, type Listing, listArchive, namesOf, titleOf, wantedTest } from './list.ts'
import { type ZipOptions, type ZipSpec, zipOptions } from './options.ts'

const SPEC: ZipSpec = { flags: 'onqlpcjtufCvZ1', lists: 'x', values: 'd', long: {} }
const EXIT_WARNING = 1
const EXIT_NO_ARCHIVE = 9
const EXIT_USAGE = 10
const EXIT_NOTHING = 11
const NAME_WIDTH = 22
const LIMITS = {
  maxEntries: MAX_ARCHIVE_ENTRIES,
  maxFileBytes: MAX_ARCHIVE_BYTES,
  maxTotalBytes: 4 * MAX_ARCHIVE_BYTES,
}

export async function runUnzip(args: readonly string[], call: ShellCall): Promise<ShellResult> {
  const options = zipOptions(args, SPEC)
  if (typeof options === 'string') return failure(options, EXIT_USAGE)
  try {
    return await unzip(options, call)
  } catch (error) {
    if (isFileError(error)) return failure(`${error.path}: ${shellMessage(error)}`, EXIT_WARNING)
    throw error
  }
}

function failure(message: string, exitCode: number): ShellResult {
  return { stdout: '', stderr: `unzip: ${message}\n`, exitCode }
}

async function unzip(options: ZipOptions, call: ShellCall): Promise<ShellResult> {
  const { fs, cwd } = call
  const { flags, operands } = options
  const [given, ...wanted] = operands
  if (given === undefined) return failure('usage: unzip archive.zip [files] [-x files] [-d folder]', EXIT_USAGE)
  if (flags.has('Z') !== flags.has('1')) {
    return failure(`option ${flags.has('Z') ? '-Z without -1' : '-1 without -Z'} is not available here`, EXIT_USAGE)
  }
  const name = [given, `${given}.zip`, `${given}.ZIP`].find((one) => kindAt(fs, resolvePath(cwd, one)) !== null)
  if (name === undefined) {
    return failure(` cannot find or open ${given}, ${given}.zip or ${given}.ZIP.`, EXIT_NO_ARCHIVE)
  }
  const bytes = await fs.read(resolvePath(cwd, name))
  const zone = zoneOf(call.env.TZ ?? '')
  const listing: Listing = {
    ...{ name, bytes, wanted, excluded: options.lists.get('x') ?? [], maxEntries: MAX_ARCHIVE_ENTRIES, zone },
    ...{ isQuiet: flags.has('q'), ignoresCase: flags.has('C') },
  }
  const directory = readZipDirectory(bytes, MAX_ARCHIVE_ENTRIES)
  if (!directory.ok) return failure(`${name}: ${directory.reason}`, EXIT_NO_ARCHIVE)
  if (directory.entries.length === 0) return nothingIn(name, flags)
  if (flags.has('Z')) return namesOf(listing)
  if (flags.has('l') || flags.has('v')) return listArchive(listing, flags.has('v'))
  return new Unzipping(options, call, listing).run(directory.entries.map((entry) => inZone(entry, zone)))
}

function nothingIn(name: string, flags: ReadonlySet<string>): ShellResult {
  if (flags.has('Z')) return { stdout: 'Empty zipfile.\n', stderr: '', exitCode: EXIT_WARNING }
  const isNamed = !flags.has('p') && !flags.has('q')
  const stdout = isNamed ? `Archive:  ${name}\n` : ''
  return { stdout, stderr: `warning [${name}]:  zipfile is empty\n`, exitCode: EXIT_WARNING }
}

type Entry = Exclude<Unpacked, { kind: 'refused' }>

class Unzipping {
  readonly #flags: ReadonlySet<string>
  readonly #call: ShellCall
  readonly #listing: Listing
  /** As given, and the resolved path. */
  readonly #given: string | null
  readonly #folder: string
  readonly #parts: (string | Uint8Array)[] = []
  readonly #links: string[] = []
  readonly #folderTimes: { path: string; ms: number }[] = []
  #stderr = ''
  #exitCode = 0
  /** There is no user to answer the question: no existing file is replaced. */
  #keepsAll = false

  constructor({ flags, values }: ZipOptions, call: ShellCall, listing: Listing) {
    this.#flags = flags
    this.#call = call
    this.#listing = listing
    this.#given = values.get('d')?.replace(/(?<=.)\/+$/, '') ?? null
    this.#folder = resolvePath(call.cwd, this.#given ?? '.')
  }

  async run(entries: readonly ZipEntry[]): Promise<ShellResult> {
    const { name, bytes, wanted, excluded, ignoresCase } = this.#listing
    const { fs } = this.#call
    const isChosen = wantedTest(wanted, ignoresCase)
    const isLeftOut = excluded.length === 0 ? () => false : wantedTest(excluded, ignoresCase)
    if (!this.#flags.has('p')) this.#say(titleOf({ name, bytes }))
    if (!this.#onlyShows) fs.makeDirectory(this.#folder, { recursive: true })
    let index = 0
    for await (const entry of unpackZip(bytes, LIMITS)) {
      await this.#call.pause()
      const about = entries[index++]
      if (!isChosen(entry.name) || isLeftOut(entry.name) || about === undefined) continue
      if (entry.kind === 'refused') this.#refuse(entry.name, entry.reason)
      else if (this.#onlyShows) this.#show(entry, about)
      else await this.#place(entry, about)
    }
    for (const { path, ms } of this.#folderTimes.reverse()) fs.utimes(path, ms)
    this.#finish(entries)
    const encoder = new TextEncoder()
    const out = joinBytes(this.#parts.map((part) => (typeof part === 'string' ? encoder.encode(part) : part)))
    return { stdout: '', bytes: out, stderr: this.#stderr, exitCode: this.#exitCode }
  }

  get #onlyShows(): boolean {
    return ['p', 'c', 't'].some((flag) => this.#flags.has(flag))
  }

  #say(line: string): void {
    if (!this.#flags.has('q')) this.#parts.push(line)
  }

  #refuse(name: string, reason: string): void {
    this.#stderr += `unzip: ${name}: ${reason}\n`
    this.#exitCode ||= EXIT_WARNING
  }

  #finish(entries: readonly ZipEntry[]): void {
    const { wanted, ignoresCase, name } = this.#listing
    for (const pattern of wanted) {
      const isMeant = wantedTest([pattern], ignoresCase)
      if (entries.some((entry) => isMeant(entry.name ?? ''))) continue
      this.#stderr += `caution: filename not matched:  ${pattern}\n`
      this.#exitCode = EXIT_NOTHING
    }
    if (this.#links.length > 0) this.#say(`finishing deferred symbolic links:\n${this.#links.join('')}`)
    if (this.#flags.has('t') && this.#exitCode === 0) {
      this.#parts.push(`No errors detected in compressed data of ${name}.\n`)
    }
  }

  #show(entry: Entry, { method }: ZipEntry): void {
    const shown = entry.name.padEnd(NAME_WIDTH)
    if (this.#flags.has('t')) {
      this.#say(`    testing: ${shown}   OK\n`)
      return
    }
    if (entry.kind === 'directory') return
    const contents = entry.kind === 'file' ? entry.bytes : new TextEncoder().encode(entry.target)
    if (this.#flags.has('c')) this.#say(`${verbOf(method)}: ${shown}  \n`)
    this.#parts.push(contents)
    if (this.#flags.has('c') && !this.#flags.has('q')) this.#parts.push('\n')
  }

  async #place(entry: Entry, about: ZipEntry): Promise<void> {
    const { fs } = this.#call
    const folder = fs.realPath(this.#folder)
    // The reader places entries below the workspace; here they belong below the target folder.
    const relative = entry.path.slice(WORKSPACE_ROOT.length + 1)
    const isJunked = this.#flags.has('j')
    const name = isJunked ? relative.slice(relative.lastIndexOf('/') + 1) : relative
    const placed = placeBelow(fs, folder, name)
    if (!placed.ok) return this.#refuse(entry.name, placed.reason)
    const there = kindAt(fs, placed.path)
    const shown = this.#given === null ? name : `${this.#given}/${name}`
    if (entry.kind === 'directory') {
      if (isJunked || there === 'directory') return
      fs.makeDirectory(placed.path, { recursive: true })
      this.#folderTimes.push({ path: placed.path, ms: about.modifiedMs })
      return this.#say(`   creating: ${shown}/\n`)
    }
    if (!this.#isToBeWritten(placed.path, shown, about)) return
    fs.makeDirectory(placed.path.slice(0, placed.path.lastIndexOf('/')) || '/', { recursive: true })
    if (entry.kind === 'symlink') return this.#link(entry, { path: placed.path, folder, shown })
    if (there === 'symlink') fs.remove(placed.path)
    await replaceContents(fs, placed.path, { bytes: entry.bytes })
    if (entry.mode !== undefined) fs.chmod(placed.path, entry.mode)
    fs.utimes(placed.path, about.modifiedMs)
    this.#say(`${verbOf(about.method)}: ${shown.padEnd(NAME_WIDTH)}  \n`)
  }

  #link(
    { name, target }: Extract<Entry, { kind: 'symlink' }>,
    { path, folder, shown }: { path: string; folder: string; shown: string },
  ): void {
    const { fs } = this.#call
    if (!isLinkInside(folder, path, target)) {
      this.#refuse(name, 'the link leads elsewhere')
      return
    }
    if (kindAt(fs, path) !== null) fs.remove(path)
    fs.symlink(target, path)
    this.#say(`    linking: ${shown.padEnd(NAME_WIDTH)}  -> ${target} \n`)
    this.#links.push(`  ${shown.padEnd(NAME_WIDTH)} -> ${target}\n`)
  }

  #isToBeWritten(path: string, shown: string, { modifiedMs }: ZipEntry): boolean {
    const { fs } = this.#call
    if (kindAt(fs, path) === null) return !this.#flags.has('f')
    const isNewer = Math.floor(modifiedMs / 1000) > Math.floor(fs.lstat(path).mtimeMs / 1000)
    if ((this.#flags.has('u') || this.#flags.has('f')) && !isNewer) return false
    if (this.#flags.has('o')) return true
    if (this.#flags.has('n') || this.#keepsAll) return false
    this.#stderr += `replace ${shown}? [y]es, [n]o, [A]ll, [N]one, [r]ename:  NULL\n${NO_ANSWER}`
    this.#keepsAll = true
    this.#exitCode ||= EXIT_WARNING
    return false
  }
}

const NO_ANSWER = '(EOF or read error, treating as "[N]one" ...)\n'

const verbOf = (method: number): string => (method === STORED ? ' extracting' : '  inflating')
