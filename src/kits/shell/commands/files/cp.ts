// `cp`, like GNU's. The interpreter's version supports few options, and shows files with their full paths.

import { type Context, type Result, shellMessage } from '../../interpreter-command.ts'
import { type GnuOptions, type GnuSpec, misuse, readGnuOptions } from '../gnu-options.ts'
import { type Backup, backupOf, moveAway } from './backup.ts'
import { isFolder, joinedPath, lstatIfAny, Report, shownName, statIfAny } from './names.ts'
import { type Pair, targetsOf } from './target.ts'

const SPEC: GnuSpec = {
  name: 'cp',
  letters: 'abdfHilLnpPrRst:TuvxS:Z',
  long: {
    ...{ archive: 'a', 'backup=?': 'b', force: 'f', interactive: 'i', link: 'l', dereference: 'L', 'no-clobber': 'n' },
    ...{
      'no-dereference': 'P',
      'preserve=?': 'preserve',
      'no-preserve=': 'no-preserve',
      parents: 'parents',
      recursive: 'R',
    },
    ...{ 'remove-destination': 'remove', 'symbolic-link': 's', 'suffix=': 'S', 'target-directory=': 't' },
    ...{
      'no-target-directory': 'T',
      update: 'u',
      verbose: 'v',
      'one-file-system': 'x',
      'strip-trailing-slashes': 'strip',
    },
    ...{
      'reflink=?': 'reflink',
      'sparse=': 'sparse',
      'attributes-only': 'attributes',
      'copy-contents': 'contents',
      'context=?': 'Z',
    },
  },
}
const ATTRIBUTES = new Set(['mode', 'timestamps', 'ownership', 'links', 'all', 'context', 'xattr'])

type Copying = {
  context: Context
  report: Report
  isRecursive: boolean
  follows: 'all' | 'named' | 'none'
  keepsTimes: boolean
  /** The original modes, the modes without the bits of `umask`, or those of any new file. */
  modes: 'kept' | 'masked' | 'new'
  backup: Backup | null
  has: (name: string) => boolean
}

export async function cp(args: string[], context: Context): Promise<Result> {
  const read = readGnuOptions(args, SPEC)
  if (!read.ok) return misused(read)
  const backup = backupOf(read)
  if (typeof backup === 'string') return misuse(SPEC, backup)
  const kept = preserved(read)
  if (typeof kept === 'string') return misuse(SPEC, kept)
  const wrong = wrongWord(read)
  if (wrong !== null) return misuse(SPEC, wrong)
  const strips = read.has('strip') && (read.has('t') || (await isFolder(read.operands.at(-1) ?? '', context)))
  const targets = await targetsOf(strips ? withoutSlashes(read) : read, context, read.has('parents'))
  if (!targets.ok) return targets.isUsage ? misuse(SPEC, targets.problem) : failed(targets.problem)
  const isRecursive = read.has('r') || read.has('R') || read.has('a')
  const copying: Copying = {
    context,
    report: reportOf(read),
    isRecursive,
    follows: followsOf(read, isRecursive),
    ...kept,
    backup,
    has: (name) => read.has(name),
  }
  for (const pair of targets.pairs) {
    if (read.has('parents') && !(await makeParents(pair, copying))) continue
    await copy(pair, copying, true)
  }
  return copying.report.result
}

const misused = ({ stderr, exitCode }: { stderr: string; exitCode: number }): Result => ({
  stdout: '',
  stderr,
  exitCode,
})
const failed = (problem: string): Result => ({ stdout: '', stderr: `cp: ${problem}\n`, exitCode: 1 })

/** There are no security contexts here, as on most systems: a given one is ignored with a warning. */
function reportOf(read: GnuOptions): Report {
  const report = new Report('cp')
  if (read.value('Z')) report.stderr = 'cp: warning: ignoring --context; it requires an SELinux-enabled kernel\n'
  return report
}

/** Copies with shared blocks are not available: `--reflink` alone is only a preference. */
function wrongWord(read: GnuOptions): string | null {
  const [reflink, sparse] = [read.value('reflink'), read.value('sparse')]
  if (reflink === '' || reflink === 'always') return '--reflink=always is not available here'
  if (reflink !== undefined && !['auto', 'never'].includes(reflink)) {
    return `invalid argument \u2018${reflink}\u2019 for \u2018--reflink\u2019`
  }
  if (sparse === undefined || ['auto', 'never', 'always'].includes(sparse)) return null
  return `invalid argument \u2018${sparse}\u2019 for \u2018--sparse\u2019`
}

/** For the entries copied into a folder, not for the folder. */
function withoutSlashes(read: GnuOptions): GnuOptions {
  const lastSource = read.operands.length - (read.has('t') ? 0 : 1)
  const operands = read.operands.map((name, i) => (i < lastSource ? name.replace(/(?<=.)\/+$/, '') : name))
  return { ...read, operands }
}

type Preserved = Pick<Copying, 'keepsTimes' | 'modes'>

function preserved(read: GnuOptions): Preserved | string {
  let keepsTimes = false
  let modes: Preserved['modes'] = 'masked'
  for (const { name, value } of read.given) {
    const isKeeping = name !== 'no-preserve'
    if (!['p', 'a', 'preserve', 'no-preserve'].includes(name)) continue
    const attributes = value === '' ? ['mode', 'timestamps'] : value.split(',')
    const unknown = attributes.find((one) => !ATTRIBUTES.has(one))
    if (unknown !== undefined) return `invalid argument '${unknown}' for '--${name}'`
    if (attributes.includes('timestamps') || attributes.includes('all')) keepsTimes = isKeeping
    if (attributes.includes('mode') || attributes.includes('all')) modes = isKeeping ? 'kept' : 'new'
  }
  return { keepsTimes, modes }
}

function followsOf(read: GnuOptions, isRecursive: boolean): Copying['follows'] {
  const last = read.given.findLast(({ name }) => 'LPHda'.includes(name))?.name
  if (last === 'L') return 'all'
  if (last === 'H') return 'named'
  if (last !== undefined) return 'none'
  return isRecursive ? 'none' : 'all'
}

async function makeParents({ from, to }: Pair, { context, report }: Copying): Promise<boolean> {
  const { fs, cwd } = context
  try {
    if (!(await lstatIfAny(from, context))) {
      report.fail(`cannot stat ${shownName(from)}: No such file or directory`)
      return false
    }
    await fs.mkdir(fs.resolvePath(cwd, `${to.replace(/\/+$/, '')}/..`), { recursive: true })
    return true
  } catch (error) {
    report.fail(`cannot make directory for ${shownName(to)}: ${shellMessage(error)}`)
    return false
  }
}

async function copy(pair: Pair, copying: Copying, isNamed: boolean): Promise<void> {
  const { context, report, follows } = copying
  const looksThrough = follows === 'all' || (follows === 'named' && isNamed)
  const { fs, cwd } = context
  try {
    const path = fs.resolvePath(cwd, pair.from)
    const stat = looksThrough || pair.from.endsWith('/') ? await fs.stat(path) : await fs.lstat(path)
    if (!stat.isDirectory && pair.from.endsWith('/')) {
      return report.fail(`cannot stat ${shownName(pair.from)}: Not a directory`)
    }
    if (stat.isDirectory) await copyFolder(pair, stat, copying)
    else await copyOne(pair, stat, copying)
  } catch (error) {
    report.fail(`cannot stat ${shownName(pair.from)}: ${shellMessage(error)}`)
  }
}

type Stat = NonNullable<Awaited<ReturnType<typeof lstatIfAny>>>

async function copyFolder({ from, to }: Pair, stat: Stat, copying: Copying): Promise<void> {
  const { context, report, keepsTimes } = copying
  const { fs, cwd } = context
  if (!copying.isRecursive) return report.fail(`-r not specified; omitting directory ${shownName(from)}`)
  const [source, goal] = [fs.resolvePath(cwd, from), fs.resolvePath(cwd, to)]
  const realGoal = await realOrSame(goal, context)
  if (`${realGoal}/`.startsWith(`${await fs.realpath(source)}/`)) {
    return report.fail(`cannot copy a directory, ${shownName(from)}, into itself, ${shownName(to)}`)
  }
  const there = await statIfAny(to, context)
  if (there && !there.isDirectory) {
    return report.fail(`cannot overwrite non-directory ${shownName(to)} with directory ${shownName(from)}`)
  }
  try {
    let madeMode: number | null = null
    if (!there) {
      await fs.mkdir(goal)
      madeMode = (await fs.stat(goal)).mode
      if (copying.has('v')) report.say(`${shownName(from)} -> ${shownName(to)}`)
    }
    for (const name of await fs.readdir(source)) {
      await copy({ from: joinedPath(from, name), to: joinedPath(to, name) }, copying, false)
    }
    const made = madeMode ?? 0
    if (copying.modes === 'kept') await fs.chmod(goal, stat.mode)
    else if (!there && copying.modes === 'masked') await fs.chmod(goal, stat.mode & made)
    if (keepsTimes) await fs.utimes(goal, stat.mtime, stat.mtime)
  } catch (error) {
    report.fail(`cannot create directory ${shownName(to)}: ${shellMessage(error)}`)
  }
}

async function realOrSame(path: string, { fs }: Context): Promise<string> {
  const parent = fs.resolvePath(path, '..')
  if (await fs.exists(path)) return fs.realpath(path)
  return (await fs.exists(parent)) ? joinedPath(await fs.realpath(parent), path.slice(path.lastIndexOf('/') + 1)) : path
}

async function copyOne(pair: Pair, stat: Stat, copying: Copying): Promise<void> {
  const { from, to } = pair
  const { context, report } = copying
  const { fs, cwd } = context
  const [source, goal] = [fs.resolvePath(cwd, from), fs.resolvePath(cwd, to)]
  const there = await lstatIfAny(to, context)
  if (there?.isDirectory) {
    return report.fail(`cannot overwrite directory ${shownName(to)} with non-directory`)
  }
  if (there && (copying.has('n') || (copying.has('u') && there.mtime >= stat.mtime))) return
  // There is no user to answer, which counts as no.
  if (there && copying.has('i') && !copying.has('f')) {
    report.stderr += `cp: overwrite ${shownName(to)}? `
    report.exitCode = 1
    return
  }
  const isSame = there !== null && (await sameFile(source, goal, context))
  if (isSame && copying.backup === null && !stat.isSymbolicLink) {
    return report.fail(`${shownName(from)} and ${shownName(to)} are the same file`)
  }
  if (copying.has('s') && !from.startsWith('/') && fs.resolvePath(goal, '..') !== cwd) {
    return report.fail(`${to}: can make relative symbolic links only in current directory`)
  }
  if (to.endsWith('/')) return report.fail(`cannot create regular file ${shownName(to)}: Not a directory`)
  try {
    const kept = copying.backup ? await moveAway(to, copying.backup, context) : null
    await put({ source, goal, from }, { stat, there: kept === null ? there : null }, copying)
    if (copying.has('v')) {
      report.say(`${shownName(from)} -> ${shownName(to)}${kept === null ? '' : ` (backup: ${shownName(kept)})`}`)
    }
  } catch (error) {
    if (error instanceof Unlinked) {
      report.fail(`cannot create ${error.kind} link ${shownName(to)} to ${shownName(from)}: File exists`)
    } else if (error instanceof Unreadable) report.fail(`cannot open ${shownName(from)} for reading: ${error.message}`)
    else report.fail(`cannot create regular file ${shownName(to)}: ${shellMessage(error)}`)
  }
}

async function sameFile(source: string, goal: string, { fs }: Context): Promise<boolean> {
  if (source === goal) return true
  return (
    (await fs.exists(source)) && (await fs.exists(goal)) && (await fs.realpath(source)) === (await fs.realpath(goal))
  )
}

/** A link does not replace a file unless requested. */
class Unlinked extends Error {
  readonly kind: 'symbolic' | 'hard'

  constructor(kind: 'symbolic' | 'hard') {
    super()
    this.kind = kind
  }
}

/** A read error, as opposed to a write error. */
class Unreadable extends Error {}

async function readSource(source: string, fs: Context['fs']): Promise<Uint8Array> {
  try {
    return await fs.readFileBuffer(source)
  } catch (error) {
    throw new Unreadable(shellMessage(error))
  }
}

/** With `-f` a file that cannot be written is removed and created again. */
async function isCleared(goal: string, fs: Context['fs']): Promise<boolean> {
  const { isFile, mode } = await fs.stat(goal)
  if (!isFile || (mode & 0o200) !== 0) return false
  await fs.rm(goal)
  return true
}

/**
 * The permissions that `umask` leaves for a new program, derived from a new file: if it may not be read, it may not be
 * executed either.
 */
function allowedBy(fileMode: number): number {
  return fileMode | ((fileMode & 0o444) >> 2)
}

type CopyPaths = { source: string; goal: string; from: string }

async function put(
  { source, goal, from }: CopyPaths,
  { stat, there }: { stat: Stat; there: Stat | null },
  copying: Copying,
) {
  const { fs } = copying.context
  const mayReplace = copying.has('f') || copying.has('remove')
  if (there && !mayReplace && !stat.isSymbolicLink && (copying.has('s') || copying.has('l'))) {
    throw new Unlinked(copying.has('s') ? 'symbolic' : 'hard')
  }
  if (copying.has('s') || stat.isSymbolicLink) {
    if (there) await fs.rm(goal)
    return fs.symlink(copying.has('s') ? from : await fs.readlink(source), goal)
  }
  if (there && (copying.has('remove') || copying.has('l'))) await fs.rm(goal)
  // An existing file keeps its own permissions. With `--attributes-only` a new file is empty, and an existing one keeps
  // its contents.
  const goalBytes = copying.has('attributes') && there ? await fs.readFileBuffer(goal) : new Uint8Array()
  const bytes = copying.has('attributes') ? goalBytes : await readSource(source, fs)
  const isNew = !(await fs.exists(goal))
  const isAnew = isNew || !copying.has('f') ? isNew : await isCleared(goal, fs)
  await fs.writeFile(goal, bytes)
  // A copy of a device is a normal new file.
  if (stat.isFile && copying.modes === 'kept') await fs.chmod(goal, stat.mode)
  else if (stat.isFile && isAnew && copying.modes === 'masked') {
    await fs.chmod(goal, stat.mode & allowedBy((await fs.stat(goal)).mode))
  }
  if (copying.keepsTimes) await fs.utimes(goal, stat.mtime, stat.mtime)
}
