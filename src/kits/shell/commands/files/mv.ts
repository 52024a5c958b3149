// `mv`, like GNU's.

import { type Context, type Result, shellMessage } from '../../interpreter-command.ts'
import { type GnuOptions, type GnuSpec, misuse, readGnuOptions } from '../gnu-options.ts'
import { type Backup, backupOf, moveAway } from './backup.ts'
import { lstatIfAny, Report, shownName } from './names.ts'
import { type Pair, targetsOf } from './target.ts'

const SPEC: GnuSpec = {
  name: 'mv',
  letters: 'bfint:TuvS:Z',
  long: {
    ...{ 'backup=?': 'b', force: 'f', interactive: 'i', 'no-clobber': 'n', 'strip-trailing-slashes': 'strip' },
    ...{
      'suffix=': 'S',
      'target-directory=': 't',
      'no-target-directory': 'T',
      update: 'u',
      verbose: 'v',
      context: 'Z',
    },
  },
}

type Moving = { context: Context; report: Report; backup: Backup | null; read: GnuOptions }

export async function mv(args: string[], context: Context): Promise<Result> {
  const read = readGnuOptions(args, SPEC)
  if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
  const backup = backupOf(read)
  if (typeof backup === 'string') return misuse(SPEC, backup)
  const targets = await targetsOf(read, context)
  if (!targets.ok && targets.isUsage) return misuse(SPEC, targets.problem)
  const moving: Moving = { context, report: new Report('mv'), backup, read }
  if (!targets.ok) moving.report.fail(targets.problem)
  else for (const pair of targets.pairs) await move(pair, moving)
  return moving.report.result
}

async function move({ from, to }: Pair, { context, report, backup, read }: Moving): Promise<void> {
  const { fs, cwd } = context
  const stat = await lstatIfAny(from, context)
  if (!stat) return report.fail(`cannot stat ${shownName(from)}: No such file or directory`)
  const [source, goal] = [fs.resolvePath(cwd, from), fs.resolvePath(cwd, to)]
  if (source === goal) return report.fail(`${shownName(from)} and ${shownName(to)} are the same file`)
  if (stat.isDirectory && goal.startsWith(`${source}/`)) {
    return report.fail(`cannot move ${shownName(from)} to a subdirectory of itself, ${shownName(to)}`)
  }
  const there = await lstatIfAny(to, context)
  const lastWord = read.given.findLast(({ name }) => 'fin'.includes(name))?.name
  if (there && (lastWord === 'n' || (read.has('u') && there.mtime >= stat.mtime))) return
  if (there && lastWord === 'i') {
    // There is no user to answer, which counts as no.
    report.stderr += `mv: overwrite ${shownName(to)}? `
    report.exitCode = 1
    return
  }
  if (there && there.isDirectory !== stat.isDirectory && backup === null) {
    return report.fail(
      stat.isDirectory
        ? `cannot overwrite non-directory ${shownName(to)} with directory ${shownName(from)}`
        : `cannot overwrite directory ${shownName(to)} with non-directory`,
    )
  }
  if (!there && !stat.isDirectory && to.endsWith('/')) {
    return report.fail(`cannot move ${shownName(from)} to ${shownName(to)}: Not a directory`)
  }
  try {
    const kept = backup ? await moveAway(to, backup, context) : null
    await fs.mv(source, goal)
    if (!read.has('v')) return
    const line = `renamed ${shownName(from)} -> ${shownName(to)}`
    report.say(kept === null ? line : `${line} (backup: ${shownName(kept)})`)
  } catch (error) {
    report.fail(`cannot move ${shownName(from)} to ${shownName(to)}: ${shellMessage(error)}`)
  }
}
