// `date`, like GNU's, in UTC or in the time zone of `TZ`.

import { type Zone, zoneOf } from '../../../lib/clock.ts'
import { type Context, type Result, shellMessage } from '../interpreter-command.ts'
import { type Instant, timeOf } from './date-words.ts'
import { type GnuOptions, type GnuSpec, misuse, readGnuOptions } from './gnu-options.ts'
import { type Moment, strftime } from './strftime.ts'

const SPEC: GnuSpec = {
  name: 'date',
  letters: 'd:f:I::r:Rs:u',
  long: {
    ...{ 'date=': 'd', 'file=': 'f', 'iso-8601=?': 'I', 'reference=': 'r', 'rfc-email': 'R', 'rfc-2822': 'R' },
    resolution: 'resolution',
    ...{ 'rfc-822': 'R', 'rfc-3339=': 'rfc-3339', 'set=': 's', utc: 'u', universal: 'u', uct: 'u' },
  },
}
const DEFAULT = '%a %b %e %H:%M:%S %Z %Y'
const RFC_EMAIL = '%a, %d %b %Y %H:%M:%S %z'
const ISO: Readonly<Record<string, string>> = {
  ...{ '': '%Y-%m-%d', date: '%Y-%m-%d', hours: '%Y-%m-%dT%H%:z', minutes: '%Y-%m-%dT%H:%M%:z' },
  ...{ seconds: '%Y-%m-%dT%H:%M:%S%:z', ns: '%Y-%m-%dT%H:%M:%S,%N%:z' },
}
const RFC_3339: Readonly<Record<string, string>> = {
  ...{ date: '%Y-%m-%d', seconds: '%Y-%m-%d %H:%M:%S%:z', ns: '%Y-%m-%d %H:%M:%S.%N%:z' },
}

export async function date(args: string[], context: Context): Promise<Result> {
  const read = readGnuOptions(args, SPEC)
  if (!read.ok) return { stdout: '', stderr: read.stderr, exitCode: read.exitCode }
  const format = formatOf(read)
  if (typeof format !== 'string') return format.isUsage ? misuse(SPEC, format.problem) : failed(format.problem)
  if (read.has('resolution')) return { stdout: '0.000000001\n', stderr: '', exitCode: 0 }
  if (read.has('s')) return failed('cannot set date: Operation not permitted')
  const zone = zoneOf(read.has('u') ? 'UTC' : (context.exportedEnv?.TZ ?? ''))
  const times = await timesOf(read, zone, context)
  if (typeof times === 'string') return failed(times)
  const result: Result = { stdout: '', stderr: '', exitCode: 0 }
  for (const { words, instant } of times) {
    if (instant && Number.isFinite(instant.ms)) result.stdout += `${strftime(format, momentOf(instant, zone))}\n`
    else Object.assign(result, { stderr: `${result.stderr}date: invalid date ${quotedDate(words)}\n`, exitCode: 1 })
  }
  return result
}

const failed = (problem: string): Result => ({ stdout: '', stderr: `date: ${problem}\n`, exitCode: 1 })
const quotedDate = (words: string): string => `\u2018${words}\u2019`

function formatOf(read: GnuOptions): string | { problem: string; isUsage: boolean } {
  const formats: string[] = []
  const [operand, extra] = read.operands
  if (extra !== undefined) return { problem: `extra operand ${quotedDate(extra)}`, isUsage: true }
  if (operand !== undefined && !operand.startsWith('+')) {
    const isOther = read.given.some(({ name }) => 'drf'.includes(name))
    const advice =
      "lacks a leading '+';\nwhen using an option to specify date(s), any non-option\nargument must be a format string beginning with '+'"
    return isOther
      ? { problem: `the argument ${quotedDate(operand)} ${advice}`, isUsage: true }
      : { problem: `invalid date ${quotedDate(operand)}`, isUsage: false }
  }
  for (const { name, value } of read.given) {
    const table = name === 'I' ? ISO : name === 'rfc-3339' ? RFC_3339 : null
    if (name === 'R') formats.push(RFC_EMAIL)
    if (!table) continue
    const found = Object.keys(table).find((key) => (value === '' ? key === '' : key.startsWith(value)))
    if (found === undefined) {
      const what = value === '' ? 'ambiguous' : 'invalid'
      const option = quotedDate(name === 'I' ? '--iso-8601' : '--rfc-3339')
      const valid = (name === 'I' ? ['hours', 'minutes'] : []).concat('date', 'seconds', 'ns')
      const list = valid.map((one) => `\n  - ${quotedDate(one)}`).join('')
      return {
        problem: `${what} argument ${quotedDate(value)} for ${option}\nValid arguments are:${list}`,
        isUsage: true,
      }
    }
    formats.push(table[found] ?? '')
  }
  if (operand !== undefined) formats.push(operand.slice(1))
  if (formats.length > 1) return { problem: 'multiple output formats specified', isUsage: false }
  return formats[0] ?? DEFAULT
}

type RequestedTime = { words: string; instant: Instant | null }

async function timesOf(read: GnuOptions, zone: Zone, { fs, cwd, stdin }: Context): Promise<RequestedTime[] | string> {
  const now = { ms: Date.now(), nanoseconds: (Date.now() % 1000) * 1_000_000 }
  const inWords = (words: string): RequestedTime => ({ words, instant: timeOf(words, now, (ms) => zone.offsetAt(ms)) })
  const [words, reference, file] = [read.value('d'), read.value('r'), read.value('f')]
  if ([words, reference, file].filter((given) => given !== undefined).length > 1) {
    return 'the options to specify dates for printing are mutually exclusive'
  }
  try {
    if (reference !== undefined) {
      const { mtime } = await fs.stat(fs.resolvePath(cwd, reference))
      const ms = mtime.getTime()
      return [{ words: reference, instant: { ms, nanoseconds: (ms % 1000) * 1_000_000 } }]
    }
    if (file !== undefined) {
      const text = file === '-' ? String(stdin) : await fs.readFile(fs.resolvePath(cwd, file))
      return text === '' ? [] : text.replace(/\n$/, '').split('\n').map(inWords)
    }
  } catch (error) {
    return `${reference ?? file}: ${shellMessage(error)}`
  }
  return words === undefined ? [{ words: '', instant: now }] : [inWords(words)]
}

function momentOf({ ms, nanoseconds }: Instant, zone: Zone): Moment {
  return { ms, nanoseconds, offsetMinutes: zone.offsetAt(ms), zone: zone.nameAt(ms) }
}
