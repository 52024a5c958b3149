// `chmod`, like GNU's.

import { type Context, type Result, shellMessage } from '../../interpreter-command.ts'
import { type GnuOptions, type GnuSpec, misuse, readGnuOptions } from '../gnu-options.ts'
import { letters, type ModeChange, modeChange, octalMode } from './modes.ts'
import { joinedPath, lstatIfAny, quotedWord, Report, shownName, statIfAny } from './names.ts'

const SPEC: GnuSpec = {
  name: 'chmod',
  letters: 'Rcfv',
  long: {
    ...{ recursive: 'R', changes: 'c', silent: 'f', quiet: 'f', verbose: 'v', 'reference=': 'reference' },
    ...{ 'no-preserve-root': '', 'preserve-root': '' },
  },
}
/** `-x` is a mode, not an option. */
const MODE_LIKE = /^-[rwxXst,ugoa=+0-7-]+$/

export async function chmod(args: string[], context: Context): Promise<Result> {
  const at = args.findIndex((arg) => MODE_LIKE.test(arg) && arg !== '--' && /^-[rwxXstugoa0-7]/.test(arg))
  const end = args.indexOf('--')
  const removing = at >= 0 && (end < 0 || at < end) ? args[at] : undefined
  const read = readGnuOptions(removing === undefined ? args : args.filter((_, i) => i !== at), SPEC)
  if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
  const reference = read.value('reference')
  const [first, ...others] = removing === undefined ? read.operands : [removing, ...read.operands]
  const names = reference === undefined ? others : read.operands
  if (reference === undefined && first === undefined) return misuse(SPEC, 'missing operand')
  if (names.length === 0) return misuse(SPEC, `missing operand after ${quotedWord(first ?? reference ?? '')}`)
  const report = new Report('chmod')
  const change = reference === undefined ? modeChange(first ?? '') : await modeOf(reference, context)
  if (change === null) {
    if (reference === undefined) return misuse(SPEC, `invalid mode: ${quotedWord(first ?? '')}`)
    report.fail(`failed to get attributes of ${shownName(reference)}: No such file or directory`)
    return report.result
  }
  const whole = removing === undefined ? null : modeChange(removing, 0)
  for (const name of names) await changeOne(name, { change, whole, context, report, read }, true)
  return report.result
}

async function modeOf(name: string, context: Context): Promise<ModeChange | null> {
  const stat = await statIfAny(name, context)
  return stat ? () => stat.mode & 0o7777 : null
}

/** `whole` is the change without the umask. */
type Changing = { change: ModeChange; whole: ModeChange | null; context: Context; report: Report; read: GnuOptions }

async function changeOne(name: string, changing: Changing, isNamed: boolean): Promise<void> {
  const { change, context, report, read } = changing
  const { fs, cwd } = context
  const path = fs.resolvePath(cwd, name)
  const own = await lstatIfAny(name, context)
  if (!own) {
    if (!read.has('f')) report.fail(`cannot access ${shownName(name)}: No such file or directory`)
    report.exitCode = 1
    return
  }
  // Links found during recursion are not changed.
  if (own.isSymbolicLink && !isNamed) return
  const stat = await statIfAny(name, context)
  if (!stat) {
    if (!read.has('f')) report.fail(`cannot operate on dangling symlink ${shownName(name)}`)
    report.exitCode = 1
    return
  }
  try {
    const [before, after] = [stat.mode & 0o7777, change(stat.mode & 0o7777, stat.isDirectory) & 0o7777]
    if (before !== after) await fs.chmod(path, after)
    tell(name, { before, after }, changing)
    const meant = changing.whole?.(before, stat.isDirectory) ?? after
    if (meant !== after) report.fail(`${name}: new permissions are ${letters(after)}, not ${letters(meant)}`)
    if (!read.has('R') || !own.isDirectory) return
    for (const inside of await fs.readdir(path)) await changeOne(joinedPath(name, inside), changing, false)
  } catch (error) {
    report.fail(`changing permissions of ${shownName(name)}: ${shellMessage(error)}`)
  }
}

function tell(name: string, { before, after }: { before: number; after: number }, { report, read }: Changing): void {
  const described = (mode: number) => `${octalMode(mode)} (${letters(mode)})`
  if (before !== after && (read.has('v') || read.has('c'))) {
    report.say(`mode of ${shownName(name)} changed from ${described(before)} to ${described(after)}`)
  } else if (read.has('v')) report.say(`mode of ${shownName(name)} retained as ${described(after)}`)
}
