// `ln`, like GNU's. There are no hard links here: the second name gets a copy.

import { type Context, type Result, shellMessage } from '../../interpreter-command.ts'
import { type GnuOptions, type GnuSpec, misuse, readGnuOptions } from '../gnu-options.ts'
import { type Backup, backupOf, moveAway } from './backup.ts'
import { baseName, isFolder, joinedPath, lstatIfAny, Report, shownName, statIfAny } from './names.ts'

const SPEC: GnuSpec = {
  name: 'ln',
  letters: 'bfinLPrst:TvS:',
  long: {
    ...{
      'backup=?': 'b',
      force: 'f',
      interactive: 'i',
      'no-dereference': 'n',
      relative: 'r',
      symbolic: 's',
      logical: 'L',
    },
    ...{ 'suffix=': 'S', 'target-directory=': 't', 'no-target-directory': 'T', verbose: 'v', physical: 'P' },
  },
}

type Linking = { context: Context; report: Report; read: GnuOptions; backup: Backup | null }

export async function ln(args: string[], context: Context): Promise<Result> {
  const read = readGnuOptions(args, SPEC)
  if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
  const backup = backupOf(read)
  if (typeof backup === 'string') return misuse(SPEC, backup)
  if (read.operands.length === 0) return misuse(SPEC, 'missing file operand')
  if (read.has('r') && !read.has('s'))
    return { stdout: '', stderr: 'ln: cannot do --relative without --symbolic\n', exitCode: 1 }
  const linking: Linking = { context, report: new Report('ln'), read, backup }
  const pairs = await pairsOf(linking)
  for (const [target, name] of pairs) await link(target, name, linking)
  return linking.report.result
}

async function pairsOf({ context, report, read }: Linking): Promise<[string, string][]> {
  const { operands } = read
  const into = (folder: string, targets: string[]) =>
    targets.map((target): [string, string] => [target, joinedPath(folder, baseName(target))])
  const folder = read.value('t')
  if (folder !== undefined) return into(folder, operands)
  const [first = '', second] = operands
  if (second === undefined) return into('.', [first])
  const last = operands.at(-1) ?? ''
  const isLink = (await lstatIfAny(last, context))?.isSymbolicLink ?? false
  if (!read.has('T') && !(read.has('n') && isLink) && (await isFolder(last, context))) {
    return into(last, operands.slice(0, -1))
  }
  if (operands.length === 2) return [[first, last]]
  report.fail(
    `target ${shownName(last)}: ${(await lstatIfAny(last, context)) ? 'Not a directory' : 'No such file or directory'}`,
  )
  return []
}

async function link(target: string, name: string, linking: Linking): Promise<void> {
  const { context, report, read, backup } = linking
  const { fs, cwd } = context
  const path = fs.resolvePath(cwd, name)
  const kind = read.has('s') ? 'symbolic' : 'hard'
  const source = fs.resolvePath(cwd, target)
  if (kind === 'hard') {
    const stat = await statIfAny(target, context)
    if (!stat) return report.fail(`failed to access ${shownName(target)}: No such file or directory`)
    if (stat.isDirectory) return report.fail(`${target}: hard link not allowed for directory`)
  }
  try {
    const there = await lstatIfAny(name, context)
    if (there?.isDirectory && read.has('f')) return report.fail(`${name}: cannot overwrite directory`)
    if (there && source === path && read.has('f')) {
      return report.fail(`${shownName(target)} and ${shownName(name)} are the same file`)
    }
    const kept = there && backup ? await moveAway(name, backup, context) : null
    if (there && kept === null && read.has('f')) await fs.rm(path)
    const shown = kind === 'symbolic' && read.has('r') ? await relativeTo(path, source, context) : target
    if (kind === 'symbolic') await fs.symlink(shown, path)
    else await fs.link(source, path)
    if (read.has('v')) report.say(`${shownName(name)} ${kind === 'symbolic' ? '->' : '=>'} ${shownName(shown)}`)
  } catch (error) {
    const arrow = kind === 'hard' ? ` => ${shownName(target)}` : ''
    report.fail(`failed to create ${kind} link ${shownName(name)}${arrow}: ${shellMessage(error)}`)
  }
}

/** Relative to the folder of the link, with links in its path resolved. */
async function relativeTo(linkPath: string, target: string, { fs }: Context): Promise<string> {
  const resolved = async (path: string): Promise<string> => {
    if (path === '/') return path
    if (await fs.exists(path)) return fs.realpath(path)
    return joinedPath(await resolved(fs.resolvePath(path, '..')), path.slice(path.lastIndexOf('/') + 1))
  }
  const from = (await resolved(fs.resolvePath(linkPath, '..'))).split('/').filter(Boolean)
  const to = (await resolved(target)).split('/').filter(Boolean)
  const different = from.findIndex((part, i) => part !== to[i])
  const common = different < 0 ? from.length : different
  return [...from.slice(common).map(() => '..'), ...to.slice(common)].join('/') || '.'
}
