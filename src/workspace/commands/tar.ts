// `tar` of the shell: creates, lists and unpacks archives, plain or compressed with gzip.

import { gzipSync } from 'node:zlib'
import { isFileError } from '../file-system.ts'
import { joinBytes } from '../parts.ts'
import { resolvePath } from '../paths.ts'
import type { ShellCall, ShellResult } from '../shell-extensions.ts'
import { gunzipped, isLinkInside, kindAt, MAX_ARCHIVE_BYTES, placeBelow, UnpackError, walk } from './file-walk.ts'
import { letters } from './files/modes.ts'
import { type OptionSpec, type ReadOptions, readOptions } from './options.ts'
import { strftime, utcMoment } from './strftime.ts'
import { readTar, type TarEntry, type TarFound, tarOf } from './tar-format.ts'

const SPEC: OptionSpec = {
  flags: {
    ...{
      '-c': 'create',
      '--create': 'create',
      '-x': 'extract',
      '--extract': 'extract',
      '--get': 'extract',
      '-t': 'list',
    },
    ...{
      '--list': 'list',
      '-z': 'gzip',
      '--gzip': 'gzip',
      '-v': 'verbose',
      '--verbose': 'verbose',
      '-p': 'keep',
      '-k': 'keep-old',
    },
    ...{
      '--keep-old-files': 'keep-old',
      '-a': 'auto',
      '--auto-compress': 'auto',
      '--no-same-owner': 'keep',
      '-O': 'stdout',
      '--to-stdout': 'stdout',
      '--preserve-permissions': 'keep',
      '--overwrite': 'overwrite',
      '--no-recursion': 'flat',
      '--wildcards': 'wildcards',
      '--numeric-owner': 'numeric',
    },
  },
  values: {
    ...{ '-f': 'file', '--file': 'file', '-C': 'directory', '--directory': 'directory', '--exclude': 'exclude' },
    ...{ '--strip-components': 'strip', '--strip': 'strip', '-T': 'files-from', '--files-from': 'files-from' },
  },
}

const FAILED = 'tar: Exiting with failure status due to previous errors\n'

type Options = Extract<ReadOptions, { ok: true }>

export async function runTar([first = '', ...others]: readonly string[], call: ShellCall): Promise<ShellResult> {
  // The old way to write options: `tar xzf name`.
  const args = /^[a-zA-Z]+$/.test(first) ? [`-${oldStyle(first)}`, ...others] : [first, ...others]
  const read = readOptions(
    args.filter((arg) => arg !== ''),
    SPEC,
  )
  if (!read.ok) return failure(2, read.problem)
  try {
    if (read.flags.has('create')) return await create(read, call)
    if (read.flags.has('extract') || read.flags.has('list')) return await unpack(read, call)
    return failure(2, 'You must specify one of -c, -x or -t')
  } catch (error) {
    if (isFileError(error)) return failure(2, error.message)
    if (error instanceof RangeError || error instanceof UnpackError) return failure(2, error.message)
    throw error
  }
}

/** The letter that takes a value comes last, as its value comes next. */
function oldStyle(letters: string): string {
  return letters.includes('f') ? `${letters.replace('f', '')}f` : letters
}

async function create(options: Options, call: ShellCall): Promise<ShellResult> {
  const { fs, cwd } = call
  const folder = resolvePath(cwd, options.values.get('directory')?.at(-1) ?? '.')
  const listed = options.values.get('files-from')?.at(-1)
  const asked = [...options.operands, ...(listed === undefined ? [] : await linesIn(listed, call))]
  const operands = asked.filter((name) => kindAt(fs, resolvePath(folder, name)) !== null)
  const missing = asked.filter((name) => !operands.includes(name))
  const problems = missing.map((name) => `tar: ${name}: Cannot stat: No such file or directory\n`).join('')
  const ended = problems === '' ? { problems, exitCode: 0 } : { problems: problems + FAILED, exitCode: 2 }
  if (asked.length === 0) return failure(2, 'Cowardly refusing to create an empty archive')
  const file = fileOf(options)
  const target = file === '-' ? null : resolvePath(cwd, file)
  const excluded = patternsOf(options)
  const entries: TarEntry[] = []
  let total = 0
  for (const { name, path, stat } of walk(fs, folder, operands)) {
    await call.pause()
    if (
      path === target ||
      (options.flags.has('flat') && !isNamed(name, operands)) ||
      excluded.some((pattern) => pattern.test(name))
    )
      continue
    const { kind, mode, mtimeMs } = stat
    total += stat.sizeBytes
    if (total > MAX_ARCHIVE_BYTES) return failure(2, `The files are larger than ${MAX_ARCHIVE_BYTES} bytes together`)
    const bytes = kind === 'file' ? await fs.read(path) : new Uint8Array()
    entries.push({ name, kind, mode, mtimeMs, bytes, target: kind === 'symlink' ? fs.readLink(path) : '' })
  }
  const plain = tarOf(entries)
  const compresses = options.flags.has('gzip') || (options.flags.has('auto') && /\.t?gz$/.test(file))
  const archive = compresses ? new Uint8Array(gzipSync(plain)) : plain
  const shown = options.flags.has('verbose') ? entries.map(lineOf).join('') : ''
  if (target === null) return { stdout: '', bytes: archive, stderr: shown + ended.problems, exitCode: ended.exitCode }
  await fs.write(target, archive)
  return { stdout: shown, stderr: ended.problems, exitCode: ended.exitCode }
}

async function unpack(options: Options, call: ShellCall): Promise<ShellResult> {
  const { fs, cwd } = call
  const folder = fs.realPath(resolvePath(cwd, options.values.get('directory')?.at(-1) ?? '.'))
  const file = fileOf(options)
  if (file !== '-' && kindAt(fs, resolvePath(cwd, file)) === null) {
    return failure(2, `${file}: Cannot open: No such file or directory\ntar: Error is not recoverable: exiting now`)
  }
  const packed = file === '-' ? call.stdinBytes : await fs.read(resolvePath(cwd, file))
  const isGzip = packed[0] === 0x1f && packed[1] === 0x8b
  const archive = isGzip ? gunzipped(packed, 2 * MAX_ARCHIVE_BYTES) : packed
  const strip = Number(options.values.get('strip')?.at(-1) ?? 0)
  const result = { stdout: '', stderr: '', exitCode: 0 }
  const shown: Uint8Array[] = []
  const found = new Set<string>()
  const excluded = patternsOf(options)
  for (const entry of readTar(archive)) {
    await call.pause()
    const name = entry.name.split('/').slice(strip).join('/')
    const wanted = wantedBy(entry.name, options)
    if (wanted === null || name === '' || excluded.some((pattern) => pattern.test(entry.name))) continue
    found.add(wanted)
    if (options.flags.has('list')) {
      result.stdout += options.flags.has('verbose') && entry.kind !== 'other' ? longLineOf(entry) : lineOf(entry)
      continue
    }
    const problem = await takeOut(entry, name, { folder, call, options, shown })
    if (problem === null && options.flags.has('verbose')) {
      // What is unpacked to the standard output leaves no room there for names.
      if (options.flags.has('stdout')) result.stderr += lineOf(entry)
      else result.stdout += lineOf(entry)
    }
    if (problem !== null)
      Object.assign(result, { stderr: `${result.stderr}tar: ${entry.name}: ${problem}\n`, exitCode: 2 })
  }
  const missing = options.operands.filter((operand) => !found.has(operand))
  if (missing.length > 0) result.exitCode = 2
  result.stderr += missing.map((operand) => `tar: ${operand}: Not found in archive\n`).join('')
  if (result.exitCode !== 0) result.stderr += FAILED
  return options.flags.has('stdout') ? { ...result, bytes: joinBytes(shown) } : result
}

type Taking = { folder: string; call: ShellCall; options: Options; shown: Uint8Array[] }

/** Null when it is there, else why not. */
async function takeOut(
  entry: TarFound,
  name: string,
  { folder, call, options, shown }: Taking,
): Promise<string | null> {
  if (entry.kind === 'other') return entry.reason
  if (!options.flags.has('stdout'))
    return place({ ...entry, name }, { folder, call, keepsOld: options.flags.has('keep-old') })
  if (entry.kind === 'file') shown.push(entry.bytes)
  return null
}

const lineOf = ({ name, kind }: TarFound): string =>
  `${kind === 'directory' && !name.endsWith('/') ? `${name}/` : name}\n`

/** As GNU's shows it, the size as wide as it needs to be behind the owner. */
function longLineOf(entry: TarEntry): string {
  const { name, kind, mode, mtimeMs, bytes, target } = entry
  const type = kind === 'directory' ? 'd' : kind === 'symlink' ? 'l' : '-'
  const size = String(bytes.byteLength)
  const owner = 'user/user'
  const when = strftime('%Y-%m-%d %H:%M', utcMoment(mtimeMs))
  const shown = lineOf({ ...entry, name }).trimEnd()
  const middle = `${owner} ${size.padStart(Math.max(0, OWNER_AND_SIZE - owner.length - 1))}`
  return `${type}${letters(mode)} ${middle} ${when} ${shown}${kind === 'symlink' ? ` -> ${target}` : ''}\n`
}

/** How wide both are together, with the blank between them. */
const OWNER_AND_SIZE = 19

type Where = { folder: string; call: ShellCall; keepsOld: boolean }

/** Null when it is there. */
async function place(
  { name, kind, mode, bytes, target }: TarEntry,
  { folder, call, keepsOld }: Where,
): Promise<string | null> {
  const { fs } = call
  const placed = placeBelow(fs, folder, name)
  if (!placed.ok) return placed.reason
  const { path } = placed
  const there = kindAt(fs, path)
  if (keepsOld && there !== null && kind !== 'directory') return 'File exists'
  if (kind === 'directory') {
    if (there !== 'directory') fs.makeDirectory(path, { recursive: true })
    return null
  }
  if (there === 'directory') return 'There is a folder of that name'
  if (kind === 'symlink' && !isLinkInside(folder, path, target)) return 'the link leads elsewhere'
  fs.makeDirectory(path.slice(0, path.lastIndexOf('/')) || '/', { recursive: true })
  if (there === 'symlink' || (there !== null && kind === 'symlink')) fs.remove(path)
  if (kind === 'symlink') fs.symlink(target, path)
  else {
    // A copy: what was unpacked is a view into something larger.
    await fs.write(path, new Uint8Array(bytes))
    fs.chmod(path, mode === 0 ? 0o644 : mode)
  }
  return null
}

/** The operand that asks for the entry; null when none does. */
function wantedBy(name: string, { operands, flags }: Options): string | null {
  const plain = name.replace(/^\.\/|\/$/g, '')
  if (operands.length === 0) return ''
  const isWanted = (operand: string) => {
    const wanted = operand.replace(/^\.\/|\/$/g, '')
    if (flags.has('wildcards')) return patternOf(wanted).test(plain)
    return plain === wanted || plain.startsWith(`${wanted}/`)
  }
  return operands.find(isWanted) ?? null
}

function isNamed(name: string, operands: readonly string[]): boolean {
  return operands.some((operand) => operand.replace(/^\.\/|\/$/g, '') === name)
}

function fileOf({ values }: Options): string {
  return values.get('file')?.at(-1) ?? '-'
}

/** `*` and `?` in a name; a pattern without a slash holds for every part. */
function patternsOf({ values }: Options): RegExp[] {
  return (values.get('exclude') ?? []).map(patternOf)
}

function patternOf(glob: string): RegExp {
  const body = glob
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*+/g, '.*')
    .replace(/\?/g, '.')
  return new RegExp(`(^|/)${body}(/|$)`)
}

async function linesIn(name: string, { fs, cwd, stdin }: ShellCall): Promise<string[]> {
  const text = name === '-' ? stdin : new TextDecoder().decode(await fs.read(resolvePath(cwd, name)))
  return text.split('\n').filter((line) => line !== '')
}

function failure(exitCode: number, message: string): ShellResult {
  return { stdout: '', stderr: `tar: ${message}\n`, exitCode }
}
