// `touch`, like GNU's. Only the modification time of a file is stored here: requests for another time are refused.

import { utcOf, type Zone, zoneOf } from '../../../../lib/clock.ts'
import { type Context, type Result, shellMessage } from '../../interpreter-command.ts'
import { timeOf } from '../date-words.ts'
import { type GnuOptions, type GnuSpec, misuse, readGnuOptions } from '../gnu-options.ts'
import { lstatIfAny, quotedWord, Report, shownName, statIfAny } from './names.ts'

const SPEC: GnuSpec = {
  name: 'touch',
  letters: 'acd:fhmr:t:',
  long: { 'no-create': 'c', 'date=': 'd', 'no-dereference': 'h', 'reference=': 'r', 'time=': 'time' },
}

export async function touch(args: string[], context: Context): Promise<Result> {
  const read = readGnuOptions(args, SPEC)
  if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
  const which = read.value('time')
  if (which !== undefined && !/^(access|atime|use|modify|mtime)$/.test(which)) {
    return misuse(SPEC, `invalid argument ${quotedWord(which)} for '--time'`)
  }
  if (read.operands.length === 0) return misuse(SPEC, 'missing file operand')
  const report = new Report('touch')
  const time = await timeFor(read, context)
  if (typeof time === 'string') {
    report.fail(time)
    return report.result
  }
  const asksAccess = read.has('a') || /^(access|atime|use)$/.test(which ?? '')
  const asksChange = read.has('m') || /^(modify|mtime)$/.test(which ?? '')
  for (const name of read.operands) {
    await touchOne(name, { time, context, report, read, setsChange: asksChange || !asksAccess })
  }
  return report.result
}

/** The error, or the time to set; null for now. */
async function timeFor(read: GnuOptions, context: Context): Promise<Date | null | string> {
  const zone = zoneOf(context.exportedEnv?.TZ ?? '')
  const [words, stamp, reference] = [read.value('d'), read.value('t'), read.value('r')]
  if (stamp !== undefined) {
    if (words !== undefined || reference !== undefined) return 'cannot specify times from more than one source'
    return stampTime(stamp, zone) ?? `invalid date format ${quotedWord(stamp)}`
  }
  let now = Date.now()
  if (reference !== undefined) {
    const stat = await statIfAny(reference, context)
    if (!stat) return `failed to get attributes of ${shownName(reference)}: No such file or directory`
    if (words === undefined) return stat.mtime
    now = stat.mtime.getTime()
  }
  if (words === undefined) return null
  const found = timeOf(words, { ms: now, nanoseconds: 0 }, zone.offsetAt)
  if (!found) return `invalid date format ${quotedWord(words)}`
  return new Date(found.ms + Math.floor(found.nanoseconds / 1_000_000) * (found.ms % 1000 === 0 ? 1 : 0))
}

/** `[[CC]YY]MMDDhhmm[.ss]`. */
function stampTime(text: string, zone: Zone): Date | null {
  const match = /^(\d\d)?(\d\d)?(\d\d)(\d\d)(\d\d)(\d\d)(?:\.(\d\d))?$/.exec(text)
  if (!match) return null
  const [, first, second, month, day, hour, minute, seconds = '0'] = match
  const short = second ?? first
  const year =
    second !== undefined && first !== undefined
      ? Number(first + second)
      : short === undefined
        ? new Date(Date.now() + zone.offsetAt(Date.now()) * 60_000).getUTCFullYear()
        : Number(short) + (Number(short) < 69 ? 2000 : 1900)
  const date = new Date(Date.UTC(year, Number(month) - 1, Number(day), Number(hour), Number(minute), Number(seconds)))
  const isReal = date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day) && Number(hour) < 24
  const ms = isReal && Number(minute) < 60 ? utcOf(date.getTime(), zone.offsetAt) : null
  return ms === null ? null : new Date(ms)
}

type Touching = { time: Date | null; context: Context; report: Report; read: GnuOptions; setsChange: boolean }

async function touchOne(name: string, { time, context, report, read, setsChange }: Touching): Promise<void> {
  const { fs, cwd } = context
  const path = fs.resolvePath(cwd, name)
  try {
    const own = await lstatIfAny(name, context)
    if (read.has('h') && own?.isSymbolicLink) {
      return report.fail(`${shownName(name)}: -h is not available here: a link's own time cannot be set`)
    }
    if (!(await fs.exists(path))) {
      if (read.has('c') || read.has('h')) return
      if (name.endsWith('/')) return report.fail(`cannot touch ${shownName(name)}: No such file or directory`)
      await fs.writeFile(path, '')
    } else if (!setsChange) {
      const why = 'of a file only the time of its last change is kept'
      return report.fail(`${shownName(name)}: -a is not available here: ${why}`)
    }
    const set = time ?? new Date()
    await fs.utimes(path, set, set)
  } catch (error) {
    report.fail(`cannot touch ${shownName(name)}: ${shellMessage(error)}`)
  }
}
