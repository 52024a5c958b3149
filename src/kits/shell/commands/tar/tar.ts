// `tar` of the shell: creates, changes, compares, lists and unpacks archives, plain or compressed with gzip.

import { gzipSync } from 'node:zlib'
import { isFileError } from '../../../../workspace/file-system.ts'
import { kindAt } from '../../../../workspace/stat.ts'
import { shellMessage } from '../../interpreter-command.ts'
import { resolvePath } from '../../named-path.ts'
import type { ShellCall, ShellResult } from '../../shell-extensions.ts'
import { gunzipped, MAX_ARCHIVE_BYTES, UnpackError } from '../file-walk.ts'
import { compareArchive } from './compare.ts'
import { membersOf, tarOf } from './format.ts'
import { EntryLines } from './lines.ts'
import { listedNames } from './listed-names.ts'
import { EntryOperands } from './names.ts'
import { type TarOptions, tarOptions } from './options.ts'
import { Packing } from './pack.ts'
import { FAILED, topFolder, Unpacking } from './unpack.ts'

const EXIT_TROUBLE = 2
const FORMATS = new Set(['gnu', 'oldgnu', 'ustar', 'pax', 'posix'])
const FATAL = '\ntar: Error is not recoverable: exiting now'

export async function runTar(words: readonly string[], call: ShellCall): Promise<ShellResult> {
  const read = tarOptions(words)
  if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
  const { options } = read
  try {
    const refused = refusalOf(options)
    if (refused !== null) return failure(refused)
    if (options.mode === 'c') return await create(options, call)
    if (options.mode === 'r' || options.mode === 'u') return await add(options, call)
    if (options.mode === 'delete') return await remove(options, call)
    return await readOut(options, call)
  } catch (error) {
    if (isFileError(error)) return failure(`${error.path}: ${shellMessage(error)}`)
    if (error instanceof RangeError || error instanceof UnpackError) return failure(error.message)
    throw error
  }
}

/** Known requests that are not supported. */
function refusalOf({ mode, read, file }: TarOptions): string | null {
  const format = read.value('format')
  if (format !== undefined && !FORMATS.has(format)) return `--format=${format} is not available here`
  const sort = read.value('sort')
  if (sort !== undefined && sort !== 'name' && sort !== 'none') return `--sort=${sort} is not available here`
  if (read.has('quoting')) return '--quoting-style is not available here'
  if (read.has('P') && mode === 'x') return '--absolute-names is not available here when files are taken out'
  if (mode === 'c' && read.has('a') && /\.(t?xz|t?bz2?|zst|lz\w*|Z)$/.test(file)) {
    return `${file}: compression other than that of gzip is not available here`
  }
  return null
}

const failure = (message: string): ShellResult => ({ stdout: '', stderr: `tar: ${message}\n`, exitCode: EXIT_TROUBLE })

async function create(options: TarOptions, call: ShellCall): Promise<ShellResult> {
  const { fs, cwd } = call
  const { file } = options
  if (options.operands.length === 0 && !options.has('T')) return failure(EMPTY)
  const target = file === '-' ? null : resolvePath(cwd, file)
  // It is created before files are searched, like elsewhere.
  if (target !== null) await fs.write(target, new Uint8Array())
  const { entries, problems, hasFailed } = await new Packing(options, call, target).gather(() => true)
  const plain = tarOf(entries.map(({ entry }) => entry))
  const compresses = options.has('z') || (options.has('a') && /\.t?gz$/.test(file))
  const archive = compresses ? new Uint8Array(gzipSync(plain)) : plain
  const lines = linesOf(entries, options, call)
  if (target !== null) await fs.write(target, archive)
  takeAway(entries, options, call)
  const ended = { stderr: problems + (hasFailed ? FAILED : ''), exitCode: hasFailed ? EXIT_TROUBLE : 0 }
  if (target !== null) return { stdout: lines, ...ended }
  return { stdout: '', bytes: archive, stderr: lines + ended.stderr, exitCode: ended.exitCode }
}

const EMPTY = `Cowardly refusing to create an empty archive
Try 'tar --help' or 'tar --usage' for more information.`

type Entries = Awaited<ReturnType<Packing['gather']>>['entries']

function linesOf(entries: Entries, options: TarOptions, { env }: ShellCall): string {
  if (options.verbose === 0) return ''
  const lines = new EntryLines(options, env)
  return entries.map(({ entry, given }) => lines.line(entry, options.has('show') ? entry.name : given)).join('')
}

/** `--remove-files`: packed files are removed, and folders if they are empty. */
function takeAway(entries: Entries, options: TarOptions, { fs }: ShellCall): void {
  if (!options.has('remove')) return
  for (const { path, entry } of entries.toReversed()) {
    if (entry.kind !== 'directory' || fs.list(path).length === 0) fs.remove(path)
  }
}

/** At the end of an archive; with `-u` only files newer than those in it. */
async function add(options: TarOptions, call: ShellCall): Promise<ShellResult> {
  const { fs, cwd } = call
  const { file } = options
  if (file === '-') return failure(`Options '-Aru' are incompatible with '-f -'${FATAL}`)
  const target = resolvePath(cwd, file)
  const before = kindAt(fs, target) === null ? new Uint8Array() : await fs.read(target)
  if (options.has('z') || isGzip(before)) return failure(`Cannot update compressed archives${FATAL}`)
  const kept: Uint8Array[] = []
  const times = new Map<string, number>()
  for (const { found, blocks } of membersOf(before)) {
    kept.push(blocks)
    if (found.kind !== 'other') times.set(plainName(found.name), found.mtimeMs)
  }
  const isNews = (name: string, mtimeMs: number) =>
    options.mode === 'r' || Math.floor(mtimeMs / 1000) > (times.get(plainName(name)) ?? Number.NEGATIVE_INFINITY) / 1000
  const { entries, problems, hasFailed } = await new Packing(options, call, target).gather(isNews)
  await fs.write(
    target,
    tarOf(
      entries.map(({ entry }) => entry),
      kept,
    ),
  )
  takeAway(entries, options, call)
  const stderr = problems + (hasFailed ? FAILED : '')
  return { stdout: linesOf(entries, options, call), stderr, exitCode: hasFailed ? EXIT_TROUBLE : 0 }
}

const plainName = (name: string): string => name.replace(/(?<=.)\/+$/, '')

/** With the operands from files (`-T`). */
async function withListed(given: TarOptions, call: ShellCall): Promise<TarOptions> {
  const listed = await listedNames(given, 'T', call)
  return { ...given, operands: [...given.operands, ...listed.map((name) => ({ name, folder: given.folder }))] }
}

async function remove(given: TarOptions, call: ShellCall): Promise<ShellResult> {
  const options = await withListed(given, call)
  const read = await archiveOf(options, call)
  if (typeof read === 'string') return failure(read)
  if (read.isPacked) return failure(`Cannot update compressed archives${FATAL}`)
  const wanted = new EntryOperands(options)
  const kept: Uint8Array[] = []
  for (const { found, blocks } of membersOf(read.bytes)) {
    if (wanted.areAll || wanted.by(found.name) === null) kept.push(blocks)
  }
  const left = tarOf([], kept)
  const missing = wanted.problems()
  const ended = { stderr: missing === '' ? '' : missing + FAILED, exitCode: missing === '' ? 0 : EXIT_TROUBLE }
  if (options.file === '-') return { stdout: '', bytes: left, ...ended }
  await call.fs.write(resolvePath(call.cwd, options.file), left)
  return { stdout: '', ...ended }
}

async function readOut(given: TarOptions, call: ShellCall): Promise<ShellResult> {
  const { fs, cwd } = call
  const options = await withListed(given, call)
  const read = await archiveOf(options, call)
  if (typeof read === 'string') return failure(read)
  const folders = new Set([options.folder, ...options.operands.map(({ folder }) => folder)])
  for (const folder of folders) {
    const path = resolvePath(cwd, folder)
    if (!fs.exists(path))
      return failure(`${folder.replace(/^\.\//, '')}: Cannot open: No such file or directory${FATAL}`)
    if (options.has('top') && options.mode === 'x')
      fs.makeDirectory(resolvePath(cwd, topFolder(options, folder)), { recursive: true })
  }
  return options.mode === 'd' ? compareArchive(read.bytes, options, call) : new Unpacking(options, call).run(read.bytes)
}

type Archive = { bytes: Uint8Array; isPacked: boolean }

/** A text is the error. */
async function archiveOf({ file, has }: TarOptions, call: ShellCall): Promise<Archive | string> {
  const { fs, cwd } = call
  let packed = file === '-' ? call.stdinBytes : new Uint8Array()
  if (file !== '-') {
    try {
      packed = await fs.read(resolvePath(cwd, file))
    } catch (error) {
      return `${file}: Cannot open: ${shellMessage(error)}${FATAL}`
    }
  }
  const other = OTHER_FORMATS.find(({ magic }) => magic.every((byte, i) => packed[i] === byte))
  if (other) return `${file}: an archive in the format of ${other.name} is not available here`
  if (isGzip(packed)) {
    // Piped input cannot be read twice.
    if (file === '-' && !has('z')) return `Archive is compressed. Use -z option${FATAL}`
    return { bytes: gunzipped(packed, 2 * MAX_ARCHIVE_BYTES), isPacked: true }
  }
  if (has('z') && packed.byteLength > 0) return `${file}: not in gzip format${FATAL}`
  return { bytes: packed, isPacked: false }
}

const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b

const OTHER_FORMATS = [
  { name: 'xz', magic: [0xfd, 0x37, 0x7a, 0x58, 0x5a] },
  { name: 'bzip2', magic: [0x42, 0x5a, 0x68] },
  { name: 'zstd', magic: [0x28, 0xb5, 0x2f, 0xfd] },
  { name: 'lzip', magic: [0x4c, 0x5a, 0x49, 0x50] },
]
