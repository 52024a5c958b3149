// `install`, like GNU's: copies with a mode, and creates the folders.

import { type Context, type Result, shellMessage } from '../../interpreter-command.ts'
import { type GnuOptions, type GnuSpec, misuse, readGnuOptions } from '../gnu-options.ts'
import { type Backup, backupOf, moveAway } from './backup.ts'
import { makeAll } from './mkdir.ts'
import { modeChange } from './modes.ts'
import { quotedWord, Report, shownName, statIfAny } from './names.ts'
import { type Pair, targetsOf } from './target.ts'

const SPEC: GnuSpec = {
  name: 'install',
  letters: 'bcCdDg:m:o:pS:t:Tv',
  long: {
    ...{ 'backup=?': 'b', compare: 'C', directory: 'd', 'mode=': 'm', 'preserve-timestamps': 'p', 'suffix=': 'S' },
    ...{ 'target-directory=': 't', 'no-target-directory': 'T', verbose: 'v', 'group=': 'g', 'owner=': 'o' },
  },
}

type Installing = { context: Context; report: Report; read: GnuOptions; mode: number; backup: Backup | null }

export async function install(args: string[], context: Context): Promise<Result> {
  const read = readGnuOptions(args, SPEC)
  if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
  if (read.has('o') || read.has('g'))
    return misuse(SPEC, 'options -o and -g are not available here: every file is of one user')
  const backup = backupOf(read)
  if (typeof backup === 'string') return misuse(SPEC, backup)
  const asked = read.value('m')
  const mode = asked === undefined ? 0o755 : modeChange(asked)?.(0, false)
  if (mode === undefined)
    return { stdout: '', stderr: `install: invalid mode ${quotedWord(asked ?? '')}\n`, exitCode: 1 }
  const installing: Installing = { context, report: new Report('install'), read, mode, backup }
  if (read.has('d')) {
    if (read.operands.length === 0) return misuse(SPEC, 'missing file operand')
    if (read.has('t')) {
      installing.report.fail('target directory not allowed when installing a directory')
      return installing.report.result
    }
    for (const name of read.operands) await makeFolder(name, installing)
    return installing.report.result
  }
  if (read.has('D')) await makeFor(installing)
  const targets = await targetsOf(read, context)
  if (!targets.ok && targets.isUsage) return misuse(SPEC, targets.problem)
  if (!targets.ok) installing.report.fail(targets.problem)
  else for (const pair of targets.pairs) await installOne(pair, installing)
  return installing.report.result
}

async function makeFolder(name: string, { context, report, read, mode }: Installing): Promise<void> {
  const { fs, cwd } = context
  try {
    const made = await makeAll(name, context)
    await fs.chmod(fs.resolvePath(cwd, name), mode)
    if (read.has('v')) for (const one of made) report.say(`install: creating directory ${shownName(one)}`)
  } catch (error) {
    report.fail(`cannot create directory ${quotedWord(name)}: ${shellMessage(error)}`)
  }
}

/** With `-D` the parent folders of the target are created first. */
async function makeFor({ context, report, read }: Installing): Promise<void> {
  const last = read.operands.at(-1) ?? ''
  const folder = read.value('t') ?? (last.includes('/') ? last.slice(0, last.lastIndexOf('/')) : '')
  if (folder === '') return
  try {
    const made = await makeAll(folder, context)
    if (read.has('v')) for (const one of made) report.say(`install: creating directory ${shownName(one)}`)
  } catch (error) {
    report.fail(`cannot create directory ${shownName(folder)}: ${shellMessage(error)}`)
  }
}

async function installOne({ from, to }: Pair, { context, report, read, mode, backup }: Installing): Promise<void> {
  const { fs, cwd } = context
  const stat = await statIfAny(from, context)
  if (!stat) return report.fail(`cannot stat ${shownName(from)}: No such file or directory`)
  if (stat.isDirectory) return report.fail(`omitting directory ${shownName(from)}`)
  try {
    const path = fs.resolvePath(cwd, to)
    const bytes = await fs.readFileBuffer(fs.resolvePath(cwd, from))
    if (fs.resolvePath(cwd, from) === path)
      return report.fail(`${shownName(from)} and ${shownName(to)} are the same file`)
    const kept = backup ? await moveAway(to, backup, context) : null
    const there = await statIfAny(to, context)
    if (there?.isDirectory) return report.fail(`cannot overwrite directory ${shownName(to)} with non-directory`)
    const isThere = there !== null
    if (isThere) await fs.rm(path)
    await fs.writeFile(path, bytes)
    await fs.chmod(path, mode)
    if (read.has('p')) await fs.utimes(path, stat.mtime, stat.mtime)
    if (!read.has('v')) return
    if (isThere) report.say(`removed ${shownName(to)}`)
    report.say(`${shownName(from)} -> ${shownName(to)}${kept === null ? '' : ` (backup: ${shownName(kept)})`}`)
  } catch (error) {
    report.fail(`cannot create regular file ${shownName(to)}: ${shellMessage(error)}`)
  }
}
