// `tar` of the shell: creates, lists and unpacks archives, plain or compressed with gzip.

import { gzipSync } from 'node:zlib'
import { isFileError } from '../file-system.ts'
import { resolvePath } from '../paths.ts'
import type { ShellCall, ShellResult } from '../shell-extensions.ts'
import { gunzipped, isLinkInside, kindAt, MAX_ARCHIVE_BYTES, placeBelow, UnpackError, walk } from './file-walk.ts'
import { type OptionSpec, type ReadOptions, readOptions } from './options.ts'
import { readTar, type TarEntry, tarOf } from './tar-format.ts'

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
      '-h': 'help',
      '--help': 'help',
    },
  },
  values: {
    ...{ '-f': 'file', '--file': 'file', '-C': 'directory', '--directory': 'directory', '--exclude': 'exclude' },
    ...{ '--strip-components': 'strip', '--strip': 'strip', '-T': 'files-from', '--files-from': 'files-from' },
  },
}

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
  const operands = [...options.operands, ...(listed === undefined ? [] : await linesIn(listed, call))]
  if (operands.length === 0) return failure(2, 'Cowardly refusing to create an empty archive')
  const file = fileOf(options)
  const target = file === '-' ? null : resolvePath(cwd, file)
  const excluded = patternsOf(options)
  const entries: TarEntry[] = []
  let total = 0
  for (const { name, path, stat } of walk(fs, folder, operands)) {
    await call.pause()
    if (path === target || excluded.some((pattern) => pattern.test(name))) continue
    const { kind, mode, mtimeMs } = stat
    total += stat.sizeBytes
    if (total > MAX_ARCHIVE_BYTES) return failure(2, `The files are larger than ${MAX_ARCHIVE_BYTES} bytes together`)
    const bytes = kind === 'file' ? await fs.read(path) : new Uint8Array()
    entries.push({ name, kind, mode, mtimeMs, bytes, target: kind === 'symlink' ? fs.readLink(path) : '' })
  }
  const plain = tarOf(entries)
  const compresses = options.flags.has('gzip') || (options.flags.has('auto') && /\.t?gz$/.test(file))
  const archive = compresses ? new Uint8Array(gzipSync(plain)) : plain
  const shown = options.flags.has('verbose') ? entries.map(({ name }) => `${name}\n`).join('') : ''
  if (target === null) return { stdout: '', bytes: archive, stderr: shown, exitCode: 0 }
  await fs.write(target, archive)
  return { stdout: shown, stderr: '', exitCode: 0 }
}

async function unpack(options: Options, call: ShellCall): Promise<ShellResult> {
  const { fs, cwd } = call
  const folder = fs.realPath(resolvePath(cwd, options.values.get('directory')?.at(-1) ?? '.'))
  const file = fileOf(options)
  const packed = file === '-' ? call.stdinBytes : await fs.read(resolvePath(cwd, file))
  const isGzip = packed[0] === 0x1f && packed[1] === 0x8b
  const archive = isGzip ? gunzipped(packed, 2 * MAX_ARCHIVE_BYTES) : packed
  const strip = Number(options.values.get('strip')?.at(-1) ?? 0)
  const result = { stdout: '', stderr: '', exitCode: 0 }
  const excluded = patternsOf(options)
  for (const entry of readTar(archive)) {
    await call.pause()
    const name = entry.name.split('/').slice(strip).join('/')
    if (name === '' || !isWanted(entry.name, options.operands) || excluded.some((pattern) => pattern.test(entry.name)))
      continue
    if (options.flags.has('list')) result.stdout += `${entry.name}\n`
    else {
      const problem =
        entry.kind === 'other'
          ? entry.reason
          : await place({ ...entry, name }, { folder, call, keepsOld: options.flags.has('keep-old') })
      if (problem === null && options.flags.has('verbose')) result.stdout += `${entry.name}\n`
      if (problem !== null)
        Object.assign(result, { stderr: `${result.stderr}tar: ${entry.name}: ${problem}\n`, exitCode: 2 })
    }
  }
  return result
}

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

function isWanted(name: string, operands: readonly string[]): boolean {
  const plain = name.replace(/^\.\/|\/$/g, '')
  return (
    operands.length === 0 ||
    operands.some((one) => {
      const wanted = one.replace(/^\.\/|\/$/g, '')
      return plain === wanted || plain.startsWith(`${wanted}/`)
    })
  )
}

function fileOf({ values }: Options): string {
  return values.get('file')?.at(-1) ?? '-'
}

/** `*` and `?` in a name; a pattern without a slash holds for every part. */
function patternsOf({ values }: Options): RegExp[] {
  return (values.get('exclude') ?? []).map((glob) => {
    const body = glob
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replace(/\*+/g, '.*')
      .replace(/\?/g, '.')
    return new RegExp(`(^|/)${body}(/|$)`)
  })
}

async function linesIn(name: string, { fs, cwd, stdin }: ShellCall): Promise<string[]> {
  const text = name === '-' ? stdin : new TextDecoder().decode(await fs.read(resolvePath(cwd, name)))
  return text.split('\n').filter((line) => line !== '')
}

function failure(exitCode: number, message: string): ShellResult {
  return { stdout: '', stderr: `tar: ${message}\n`, exitCode }
}
