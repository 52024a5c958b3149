// `zip` and `unzip` of the shell.

import { isFileError } from '../file-system.ts'
import { resolvePath, WORKSPACE_ROOT } from '../paths.ts'
import type { ShellCall, ShellCommand, ShellResult } from '../shell-extensions.ts'
import { type Unpacked, unpackZip } from '../unpack.ts'
import { kindAt, MAX_ARCHIVE_BYTES, MAX_ARCHIVE_ENTRIES, placeBelow, walk } from './file-walk.ts'
import { readOptions } from './options.ts'
import { listed, wantedTest } from './zip-list.ts'

const ZIP_SPEC = {
  flags: {
    '-r': 'recursive',
    '-q': 'quiet',
    '-j': 'junk',
    '-9': 'best',
    '-y': 'links',
    '-X': 'plain',
    '-u': 'update',
    '-D': 'no-folders',
  },
  values: { '-x': 'exclude' },
}
const UNZIP_SPEC = {
  flags: { '-o': 'overwrite', '-n': 'never', '-q': 'quiet', '-l': 'list', '-p': 'pipe', '-j': 'junk', '-t': 'test' },
  values: { '-d': 'directory', '-x': 'exclude' },
}

type Run = ShellCommand['run']

export const runZip: Run = (args, call) => guarded('zip', () => zip(args, call))
export const runUnzip: Run = (args, call) => guarded('unzip', () => unzip(args, call))

async function guarded(name: string, run: () => Promise<ShellResult>): Promise<ShellResult> {
  try {
    return await run()
  } catch (error) {
    if (isFileError(error)) return failure(name, error.message)
    throw error
  }
}

function failure(name: string, message: string, exitCode = 12): ShellResult {
  return { stdout: '', stderr: `${name}: ${message}\n`, exitCode }
}

async function zip(args: readonly string[], call: ShellCall): Promise<ShellResult> {
  const read = readOptions(args, ZIP_SPEC)
  if (!read.ok) return failure('zip', read.problem, 16)
  const { fs, cwd } = call
  const [archiveName, ...operands] = read.operands
  if (archiveName === undefined || operands.length === 0) return failure('zip', 'usage: zip [-r] archive.zip files', 16)
  const target = resolvePath(cwd, /\.\w+$/.test(archiveName) ? archiveName : `${archiveName}.zip`)
  const files: Record<string, [Uint8Array, { mtime: Date; attrs: number; os: number }]> = {}
  let total = 0
  for (const { name, path, stat } of walk(fs, cwd, operands)) {
    await call.pause()
    // Without -r only what is named, and what a link leads to is not packed.
    const isNamed = operands.some((operand) => resolvePath(cwd, operand) === path)
    if (path === target || stat.kind === 'symlink' || !(isNamed || read.flags.has('recursive'))) continue
    if (stat.kind === 'directory' && (read.flags.has('no-folders') || read.flags.has('junk'))) continue
    total += stat.sizeBytes
    if (total > MAX_ARCHIVE_BYTES)
      return failure('zip', `the files are larger than ${MAX_ARCHIVE_BYTES} bytes together`)
    const stored = read.flags.has('junk') ? (name.split('/').at(-1) ?? name) : name
    const bytes = stat.kind === 'file' ? await fs.read(path) : new Uint8Array()
    const about = { mtime: new Date(Math.max(stat.mtimeMs, Date.UTC(1980, 0, 2))), attrs: attributesOf(stat), os: 3 }
    Object.defineProperty(files, stat.kind === 'directory' ? `${stored}/` : stored, {
      value: [bytes, about],
      enumerable: true,
    })
  }
  if (Object.keys(files).length === 0) return failure('zip', 'nothing to do')
  const { zipSync } = await import('../lazy/fflate.ts')
  await fs.write(target, zipSync(files, { level: read.flags.has('best') ? 9 : 6 }))
  const lines = read.flags.has('quiet') ? [] : Object.keys(files).map((name) => `  adding: ${name}\n`)
  return { stdout: lines.join(''), stderr: '', exitCode: 0 }
}

/** Where Unix keeps kind and permissions. */
function attributesOf({ kind, mode }: { kind: string; mode: number }): number {
  return (((kind === 'directory' ? 0o040000 : 0o100000) | mode) << 16) >>> 0
}

async function unzip(args: readonly string[], call: ShellCall): Promise<ShellResult> {
  const read = readOptions(args, UNZIP_SPEC)
  if (!read.ok) return failure('unzip', read.problem, 10)
  const { fs, cwd } = call
  const [archiveName, ...wanted] = read.operands
  if (archiveName === undefined) return failure('unzip', 'usage: unzip archive.zip [files] [-d folder]', 10)
  const given = resolvePath(cwd, archiveName)
  const path = kindAt(fs, given) === null ? `${given}.zip` : given
  if (kindAt(fs, path) === null) return failure('unzip', `cannot find ${archiveName} or ${archiveName}.zip`, 9)
  const asked = resolvePath(cwd, read.values.get('directory')?.at(-1) ?? '.')
  if (read.flags.has('list')) {
    const isQuiet = read.flags.has('quiet')
    const bytes = await fs.read(path)
    return listed({ name: shownArchive(archiveName, path), bytes, wanted, isQuiet, maxEntries: MAX_ARCHIVE_ENTRIES })
  }
  const onlyShows = ['pipe', 'test'].some((flag) => read.flags.has(flag))
  if (!onlyShows) fs.makeDirectory(asked, { recursive: true })
  const limits = {
    maxEntries: MAX_ARCHIVE_ENTRIES,
    maxFileBytes: MAX_ARCHIVE_BYTES,
    maxTotalBytes: 4 * MAX_ARCHIVE_BYTES,
  }
  const result = { stdout: '', stderr: '', exitCode: 0 }
  const chosen = wantedTest(wanted)
  const folder = onlyShows ? asked : fs.realPath(asked)
  for await (const entry of unpackZip(await fs.read(path), limits)) {
    await call.pause()
    if (!chosen(entry.name)) continue
    const { line, problem } = await take(entry, { folder, flags: read.flags, call })
    if (!read.flags.has('quiet') || read.flags.has('pipe')) result.stdout += line
    if (problem !== null)
      Object.assign(result, { stderr: `${result.stderr}unzip: ${entry.name}: ${problem}\n`, exitCode: 1 })
  }
  return result
}

const shownArchive = (given: string, path: string): string =>
  path.endsWith('.zip') && !given.endsWith('.zip') ? `${given}.zip` : given

type Taking = { folder: string; flags: ReadonlySet<string>; call: ShellCall }
type Taken = { line: string; problem: string | null }

async function take(entry: Unpacked, { folder, flags, call: { fs } }: Taking): Promise<Taken> {
  if (entry.kind === 'refused') return { line: '', problem: entry.reason }
  if (flags.has('pipe'))
    return { line: entry.kind === 'file' ? new TextDecoder().decode(entry.bytes) : '', problem: null }
  if (flags.has('test')) return { line: `    testing: ${entry.name}   OK\n`, problem: null }
  // The reader places entries below the workspace; here they belong below the folder.
  const relative = entry.path.slice(WORKSPACE_ROOT.length + 1)
  const name = flags.has('junk') ? (relative.split('/').at(-1) ?? '') : relative
  const placed = placeBelow(fs, folder, name)
  if (!placed.ok) return { line: '', problem: placed.reason }
  const there = kindAt(fs, placed.path)
  if (entry.kind === 'directory') {
    if (there !== 'directory' && !flags.has('junk')) fs.makeDirectory(placed.path, { recursive: true })
    return { line: '', problem: null }
  }
  if (there !== null && !flags.has('overwrite')) {
    return flags.has('never')
      ? { line: '', problem: null }
      : { line: '', problem: 'is there already; -o overwrites it, -n leaves it' }
  }
  fs.makeDirectory(placed.path.slice(0, placed.path.lastIndexOf('/')) || '/', { recursive: true })
  if (there === 'symlink') fs.remove(placed.path)
  if (entry.kind === 'symlink') fs.symlink(entry.target, placed.path)
  else {
    await fs.write(placed.path, entry.bytes)
    if (entry.mode !== undefined) fs.chmod(placed.path, entry.mode)
  }
  return { line: `  inflating: ${name}\n`, problem: null }
}
