// The tests of `find`: each is built once from its arguments, and applied to each file.

import { zoneOf } from '../../../../lib/clock.ts'
import { type FileStat, isFileError } from '../../../../workspace/file-system.ts'
import { byteText, isByteLocale } from '../../byte-locale.ts'
import { shellMessage } from '../../interpreter-command.ts'
import type { ShellCall } from '../../shell-extensions.ts'
import { timeOf } from '../date-words.ts'
import { kindLetter, OWNER, sizeOf } from '../file-facts.ts'
import { DAY_MS } from '../file-times.ts'
import { globExpression } from '../globs.ts'
import { pathOf, statOrLink } from '../inputs.ts'
import { parseMode } from '../modes.ts'
import { Matcher } from '../regex/matcher.ts'
import { BadPattern } from '../regex/syntax.ts'
import type { Entry } from './entry.ts'
import { FindMisuse } from './misuse.ts'
import { flavourOf, translated } from './regex-types.ts'

export type Test = (entry: Entry) => boolean

export interface TestSetting {
  call: ShellCall
  nowMs: number
  regexType: string
}

type Maker = (value: string, setting: TestSetting, name: string) => Test

const byName: Maker = (value, setting, name) => {
  const matches = globTest(value, setting, name)
  return (entry) => matches(entry.name)
}
const byPath: Maker = (value, setting, name) => {
  const matches = globTest(value, setting, name)
  return (entry) => matches(entry.shown)
}
const byLink: Maker = (value, setting, name) => {
  const matches = globTest(value, setting, name)
  return (entry) => entry.kind === 'symlink' && matches(entry.linkTarget)
}

/** In the locale `C`, a wildcard of the pattern matches a byte. */
function globTest(glob: string, { call }: TestSetting, name: string): (text: string) => boolean {
  const textOf = isByteLocale((variable) => call.env[variable]) ? byteText : (text: string) => text
  const expression = globExpression(textOf(glob), { ignoresCase: name.startsWith('-i') })
  return (text) => expression.test(textOf(text))
}

/** Tests with one argument. */
export const VALUED_TESTS: Readonly<Record<string, Maker>> = {
  '-name': byName,
  '-iname': byName,
  '-path': byPath,
  '-ipath': byPath,
  '-wholename': byPath,
  '-iwholename': byPath,
  '-lname': byLink,
  '-ilname': byLink,
  '-regex': byExpression,
  '-iregex': byExpression,
  '-type': (value) => {
    const letters = kindLetters(value, '-type')
    return (entry) => letters.has(entry.letter)
  },
  '-xtype': (value) => {
    const letters = kindLetters(value, '-xtype')
    return (entry) => letters.has(kindLetter(entry.target ?? entry.stat))
  },
  '-size': bySize,
  '-mtime': (value, { nowMs }) => {
    const isRight = counted(value, '-mtime')
    return (entry) => isRight(Math.floor((nowMs - entry.stat.mtimeMs) / DAY_MS))
  },
  '-mmin': (value, { nowMs }) => {
    const isRight = counted(value, '-mmin')
    // A file changed just now is less than one minute old, not zero.
    return (entry) => isRight(Math.ceil((nowMs - entry.stat.mtimeMs) / 60_000))
  },
  '-newer': (value, { call }) => {
    const { mtimeMs } = referenced(value, call)
    return (entry) => entry.stat.mtimeMs > mtimeMs
  },
  '-anewer': unkept,
  '-cnewer': unkept,
  '-perm': byMode,
  '-links': (value) => {
    const isRight = counted(value, '-links')
    return (entry) => isRight(entry.links)
  },
  '-inum': (value) => {
    const isRight = counted(value, '-inum')
    return (entry) => isRight(entry.stat.inode)
  },
  '-samefile': (value, { call }) => {
    const { inode } = referenced(value, call)
    return (entry) => entry.stat.inode === inode
  },
  '-user': (value) => byOwner(value, 'is not the name of a known user'),
  '-group': (value) => byOwner(value, 'is not the name of an existing group'),
  '-uid': (value) => {
    const isRight = counted(value, '-uid')
    return () => isRight(OWNER.id)
  },
  '-gid': (value) => {
    const isRight = counted(value, '-gid')
    return () => isRight(OWNER.id)
  },
}

/** For the target of a link; a broken link has no permissions. */
function allows(bits: number): Test {
  return (entry) => {
    const stat = entry.ownKind === 'symlink' ? entry.target : entry.stat
    return stat !== null && (stat.mode & bits) !== 0
  }
}

/** Tests without arguments. */
export const PLAIN_TESTS: Readonly<Record<string, Test>> = {
  '-true': () => true,
  '-false': () => false,
  '-empty': (entry) => entry.isEmpty,
  '-executable': allows(0o111),
  '-readable': allows(0o400),
  '-writable': allows(0o200),
  '-nouser': () => false,
  '-nogroup': () => false,
}

/** `-newermt` and `-newermm`: only the modification time is stored. */
export function newerTest(name: string, value: string, { call, nowMs }: TestSetting): Test {
  if (name === '-newermm')
    return VALUED_TESTS['-newer']?.(value, { call, nowMs, regexType: '' }, '-newer') ?? (() => false)
  if (name !== '-newermt') return unkept(value, { call, nowMs, regexType: '' }, name)
  const zone = zoneOf(call.env.TZ ?? '')
  const time = timeOf(value, { ms: nowMs, nanoseconds: 0 }, zone.offsetAt)?.ms
  if (time === undefined) throw new FindMisuse(`I cannot figure out how to interpret ‘${value}’ as a date or time`)
  return (entry) => entry.stat.mtimeMs > time
}

function unkept(_: string, __: TestSetting, name: string): Test {
  throw new FindMisuse(`${name} is not available here: of a file only the time of its last change is kept`)
}

function byExpression(value: string, { regexType }: TestSetting, name: string): Test {
  try {
    const options = { flavour: flavourOf(regexType), ignoresCase: name === '-iregex', separator: 0, wholeLines: true }
    const matcher = new Matcher([translated(value, regexType)], options)
    return (entry) => matcher.find(entry.shown, 0, entry.shown.length) >= 0
  } catch (error) {
    if (!(error instanceof BadPattern)) throw error
    throw new FindMisuse(`failed to compile regular expression '${value}': ${error.message}`)
  }
}

function kindLetters(value: string, name: string): Set<string> {
  const letters = value.split(',')
  for (const letter of letters) {
    if (letter === '')
      throw new FindMisuse(`Last file type in list argument to ${name} is missing, i.e., list is ending on: ','`)
    if (letter.length > 1) throw new FindMisuse(`Must separate multiple arguments to ${name} using: ','`)
    if (!/^[bcdpflsD]$/.test(letter)) throw new FindMisuse(`Unknown argument to ${name}: ${letter}`)
  }
  return new Set(letters)
}

const SIZE_UNITS: Readonly<Record<string, number>> = { b: 512, c: 1, w: 2, k: 1024, M: 1024 ** 2, G: 1024 ** 3 }

function bySize(value: string): Test {
  const [, count = '', unit = ''] = /^([+-]?\d+)([bcwkMG]?)$/.exec(value) ?? []
  const bytes = SIZE_UNITS[unit || 'b']
  if (count === '' || bytes === undefined) throw new FindMisuse(`Invalid argument \`${value}' to -size`)
  const isRight = counted(count, '-size')
  return (entry) => isRight(Math.ceil(sizeOf(entry.stat) / bytes))
}

/** `n`, `+n` for more, `-n` for less. */
function counted(value: string, name: string): (count: number) => boolean {
  const [, sign, digits] = /^([+-]?)(\d+(?:\.\d+)?)$/.exec(value) ?? []
  if (digits === undefined) throw new FindMisuse(`invalid argument \`${value}' to \`${name}'`)
  const wanted = Number(digits)
  if (sign === '+') return (count) => count > wanted
  return sign === '-' ? (count) => count < wanted : (count) => count === wanted
}

function byMode(value: string): Test {
  const kind = /^[-/]/.exec(value)?.[0] ?? ''
  const mode = parseMode(value.slice(kind.length), 0, { umask: 0, isFolder: true })
  if (mode === null) throw new FindMisuse(`invalid mode ‘${value}’`)
  if (kind === '-') return ({ stat }) => (stat.mode & mode) === mode
  if (kind === '/') return ({ stat }) => mode === 0 || (stat.mode & mode) !== 0
  return ({ stat }) => (stat.kind === 'symlink' ? 0o777 : stat.mode) === mode
}

function byOwner(value: string, problem: string): Test {
  const isNumber = /^\d+$/.test(value)
  if (!isNumber && value !== OWNER.name && value !== 'root') throw new FindMisuse(`‘${value}’ ${problem}`)
  const isOwner = value === OWNER.name || value === String(OWNER.id)
  return () => isOwner
}

function referenced(name: string, call: ShellCall): FileStat {
  try {
    return statOrLink(call, pathOf(call, name))
  } catch (error) {
    if (!isFileError(error)) throw error
    throw new FindMisuse(`‘${name}’: ${shellMessage(error)}`)
  }
}
