// `stat` like GNU's. Only the modification time is stored, so it is used for the others too.

import { type Zone, zoneOf } from '../../../lib/clock.ts'
import { type FileStat, FileSystemError, isFileError } from '../../../workspace/file-system.ts'
import { shellMessage } from '../interpreter-command.ts'
import type { ShellCall, ShellResult } from '../shell-extensions.ts'
import { diskBytes, modeText, OWNER, sizeOf } from './file-facts.ts'
import { fullTime } from './file-times.ts'
import { shownName } from './files/names.ts'
import { pathOf } from './inputs.ts'
import { readGnuOptions } from './search-options.ts'

const OPTIONS = {
  letters: 'c:Lft',
  long: {
    'format=': 'c',
    'printf=': 'printf',
    dereference: 'L',
    'file-system': 'f',
    terse: 't',
    'cached=': 'cached',
    help: 'help',
  },
}
const TERSE = '%n %s %b %f %u %g %D %i %h %t %T %X %Y %Z %W %o\n'
const WHOLE = `  File: %[name]
  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F
Device: 0,1\tInode: %-10i  Links: %h
Access: (%04a/%A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)
Access: %x
Modify: %y
Change: %z
 Birth: %w
`
const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
  e: '\x1b',
  '"': '"',
  '\\': '\\',
}

interface Looked {
  /** The time zone of the output. */
  zone: Zone
  name: string
  stat: FileStat
  target: string | null
  links: number
}

export async function runStat(args: readonly string[], call: ShellCall): Promise<ShellResult> {
  const read = readGnuOptions(args, OPTIONS)
  if (!read.ok) return refused(`stat: ${read.problem}\nTry 'stat --help' for more information.`)
  if (read.options.some(({ name }) => name === 'help'))
    return { stdout: 'Usage: stat [OPTION]... FILE...\n', stderr: '', exitCode: 0 }
  if (read.options.some(({ name }) => name === 'f')) return refused('stat: -f is not available here: there is no disk')
  if (read.operands.length === 0) return refused("stat: missing operand\nTry 'stat --help' for more information.")
  const cached = read.options.find(
    ({ name, value }) => name === 'cached' && !/^(always|never|default)$/.test(value ?? ''),
  )
  if (cached) {
    const valid =
      "Valid arguments are:\n  - ‘default’\n  - ‘never’\n  - ‘always’\nTry 'stat --help' for more information."
    return refused(`stat: invalid argument ‘${cached.value}’ for ‘--cached’\n${valid}`)
  }
  const last = (...names: string[]) => read.options.findLast(({ name }) => names.includes(name))
  const chosen = last('c', 'printf') ?? last('t')
  const warnings: string[] = []
  const format = formatOf(chosen, warnings)
  const follows = read.options.some(({ name }) => name === 'L')
  const result: ShellResult = { stdout: '', stderr: '', exitCode: 0 }
  // Warnings about the format are printed once for each file.
  result.stderr = warnings.map((warning) => `stat: warning: ${warning}\n`).join('')
  for (const name of read.operands) {
    try {
      result.stdout += formatted(format, look(call, name, follows))
    } catch (error) {
      if (error instanceof UnknownField) {
        result.stderr += `stat: ‘${error.message}’: invalid directive\n`
        result.exitCode = 1
        return result
      }
      if (!isFileError(error)) throw error
      result.stderr += `stat: cannot statx ${shownName(name)}: ${shellMessage(error)}\n`
      result.exitCode = 1
    }
  }
  return result
}

class UnknownField extends Error {}

const refused = (problem: string): ShellResult => ({ stdout: '', stderr: `${problem}\n`, exitCode: 1 })

/** With `--printf` backslash escapes are processed, and no line end is added. */
function formatOf(chosen: { name: string; value: string | null } | undefined, warnings: string[]): string {
  if (chosen?.name === 'c') return `${chosen.value ?? ''}\n`
  if (chosen?.name === 't') return TERSE
  if (chosen?.name !== 'printf') return WHOLE
  return (chosen.value ?? '').replace(
    /\\(?:x([0-9A-Fa-f]{1,2})|([0-7]{1,3})|([\s\S]))/g,
    (found, hex?: string, octal?: string, letter?: string) => {
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16))
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8))
      if (letter !== undefined && Object.hasOwn(ESCAPES, letter)) return ESCAPES[letter] ?? ''
      warnings.push(`unrecognized escape '${found}'`)
      return letter ?? found
    },
  )
}

function look(call: ShellCall, name: string, follows: boolean): Looked {
  const path = pathOf(call, name)
  const stat = follows || /[^/]\/+$/.test(name) ? call.fs.stat(path) : call.fs.lstat(path)
  const isFolder = stat.kind === 'directory'
  if (!isFolder && /[^/]\/+$/.test(name)) throw new FileSystemError('ENOTDIR', path)
  return {
    zone: zoneOf(call.env.TZ ?? ''),
    name,
    stat,
    target: stat.kind === 'symlink' ? call.fs.readLink(path) : null,
    links: isFolder ? 2 + call.fs.list(path).filter(({ kind }) => kind === 'directory').length : 1,
  }
}

const DEVICE_KIND = 0o020000
const MODE_KINDS = { file: 0o100000, directory: 0o040000, symlink: 0o120000 }

const seconds = ({ stat }: Looked): string => String(Math.floor(stat.mtimeMs / 1000))
const time = ({ stat, zone }: Looked): string => fullTime(stat.mtimeMs, zone)

const FIELDS: Readonly<Record<string, (file: Looked) => string>> = {
  n: ({ name }) => name,
  N: ({ name, target }) => (target === null ? inQuotes(name) : `${inQuotes(name)} -> ${inQuotes(target)}`),
  F: ({ stat }) => kindOf(stat),
  a: ({ stat }) => (stat.kind === 'symlink' ? 0o777 : stat.mode).toString(8),
  A: ({ stat }) => modeText(stat),
  f: ({ stat }) =>
    ((stat.device ? DEVICE_KIND : MODE_KINDS[stat.kind]) | (stat.kind === 'symlink' ? 0o777 : stat.mode)).toString(16),
  s: ({ stat }) => String(sizeOf(stat)),
  b: ({ stat }) => String(diskBytes(stat) / 512),
  B: () => '512',
  o: () => '4096',
  h: ({ links }) => String(links),
  i: ({ stat }) => String(stat.inode),
  d: () => '1',
  D: () => '1',
  t: ({ stat }) => (stat.device?.[0] ?? 0).toString(16),
  T: ({ stat }) => (stat.device?.[1] ?? 0).toString(16),
  r: ({ stat }) => String(((stat.device?.[0] ?? 0) << 8) | (stat.device?.[1] ?? 0)),
  m: () => '/',
  u: () => String(OWNER.id),
  U: () => OWNER.name,
  g: () => String(OWNER.id),
  G: () => OWNER.name,
  w: () => '-',
  W: () => '0',
  x: time,
  y: time,
  z: time,
  X: seconds,
  Y: seconds,
  Z: seconds,
}

function formatted(format: string, file: Looked): string {
  const pattern = /%(?:\[name\]|([-0+ #']*)(\d*)(?:\.(\d*))?([^\n]?))/g
  return format.replace(pattern, (found, flags = '', width = '', precision?: string, letter = '') => {
    if (found === '%[name]') return file.target === null ? file.name : `${file.name} -> ${file.target}`
    if (letter === '%' || letter === '') {
      if (found.length > letter.length + 1) throw new UnknownField(found)
      return '%'
    }
    const field = Object.hasOwn(FIELDS, letter) ? FIELDS[letter] : undefined
    if (!field) return '?'
    const text = signed(precised(field(file), letter, { precision, stat: file.stat }), letter, flags)
    if (flags.includes('-')) return text.padEnd(Number(width))
    return text.padStart(Number(width), flags.includes('0') && NUMBERS.includes(letter) && !precision ? '0' : ' ')
  })
}

const NUMBERS = 'abBdfghiorsuDTtWXYZ'
const SIGNED = 'sW'

/** Like C's `printf`: `%#a` with a leading zero, `%#f` with a base prefix, `%+s` with a sign. */
function signed(text: string, letter: string, flags: string): string {
  if (flags.includes('#') && letter === 'a' && !text.startsWith('0')) return `0${text}`
  if (flags.includes('#') && 'fDtT'.includes(letter) && text !== '0') return `0x${text}`
  if (!SIGNED.includes(letter)) return text
  return (flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '') + text
}

/** `%.3Y` has fractions of the second, `%.10n` a part of the name. */
function precised(
  text: string,
  letter: string,
  { precision, stat }: { precision: string | undefined; stat: FileStat },
): string {
  if (precision === undefined) return text
  if ('XYZ'.includes(letter)) {
    const places = precision === '' ? 9 : Number(precision)
    const fraction = String(stat.mtimeMs % 1000)
      .padStart(3, '0')
      .padEnd(places, '0')
      .slice(0, places)
    return fraction === '' ? text : `${text}.${fraction}`
  }
  return NUMBERS.includes(letter) ? text.padStart(Number(precision), '0') : text.slice(0, Number(precision))
}

function kindOf({ kind, sizeBytes, device }: FileStat): string {
  if (device) return 'character special file'
  if (kind === 'directory') return 'directory'
  if (kind === 'symlink') return 'symbolic link'
  return sizeBytes === 0 ? 'regular empty file' : 'regular file'
}

function inQuotes(name: string): string {
  return name.includes("'") && !/["\\$`!]/.test(name) ? `"${name}"` : `'${name.replaceAll("'", "'\\''")}'`
}
