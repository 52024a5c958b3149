// The output formats of `find`: `-printf` and `-ls`.

import type { Zone } from '../../../../lib/clock.ts'
import { diskBytes, kindLetter, modeText, OWNER, sizeOf } from '../file-facts.ts'
import { DAY_MS, formatTime, listTime, timeField } from '../file-times.ts'
import type { Entry } from './entry.ts'
import { FindMisuse } from './misuse.ts'

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
  '\\': '\\',
  '"': '"',
}

const FIELDS: Readonly<Record<string, (entry: Entry) => string>> = {
  p: ({ shown }) => shown,
  f: ({ name }) => name,
  h: folderOf,
  P: ({ shown, root }) => (shown === root ? '' : shown.slice(root.length).replace(/^\//, '')),
  H: ({ root }) => root,
  d: ({ depth }) => String(depth),
  s: ({ stat }) => String(sizeOf(stat)),
  b: ({ stat }) => String(diskBytes(stat) / 512),
  k: ({ stat }) => String(diskBytes(stat) / 1024),
  m: ({ stat }) => (stat.kind === 'symlink' ? 0o777 : stat.mode).toString(8),
  M: ({ stat }) => modeText(stat),
  y: ({ letter }) => letter,
  Y: (entry) => (entry.ownKind !== 'symlink' ? entry.letter : entry.target ? kindLetter(entry.target) : 'N'),
  l: (entry) => entry.linkTarget,
  i: ({ stat }) => String(stat.inode),
  n: ({ links }) => String(links),
  u: () => OWNER.name,
  U: () => String(OWNER.id),
  g: () => OWNER.name,
  G: () => String(OWNER.id),
  D: () => '1',
}

type Part = (entry: Entry) => string

/** `%10s` and `%-20p` pad as usual. */
export function formatted(format: string, zone: Zone): Part {
  const parts: Part[] = []
  const pattern = /\\([0-7]{1,3}|[\s\S])|%([-0+ #]*)(\d*)(?:\.(\d+))?(?:T([\s\S])|([\s\S]))|([^\\%]+)|([\s\S])/g
  for (const [found, escapeCode, flags = '', width = '', precision, timeLetter, letter, plain] of format.matchAll(
    pattern,
  )) {
    if (escapeCode === 'c') break
    if (escapeCode !== undefined) parts.push(constant(fromEscape(escapeCode)))
    else if (letter === '%') parts.push(constant('%'))
    else if (timeLetter !== undefined || letter !== undefined) {
      const isPrefixed = letter === 'm' && flags.includes('#')
      const plain = () => (isPrefixed ? prefixedMode : plainField(letter ?? '', zone))
      const field = timeLetter === undefined ? plain() : timePart(timeLetter, zone)
      const fills = letter !== undefined && 'dm'.includes(letter) && flags.includes('0') ? '0' : ' '
      parts.push(filled(field, { isLeft: flags.includes('-'), fills, width: Number(width), precision }))
    } else parts.push(constant(plain ?? found))
  }
  return (entry) => parts.map((part) => part(entry)).join('')
}

const constant =
  (text: string): Part =>
  () =>
    text

function fromEscape(escapeCode: string): string {
  if (/^[0-7]/.test(escapeCode)) return String.fromCharCode(Number.parseInt(escapeCode, 8) & 0xff)
  return Object.hasOwn(ESCAPES, escapeCode) ? (ESCAPES[escapeCode] ?? '') : `\\${escapeCode}`
}

/** `%#m`: with a leading zero. */
const prefixedMode: Part = ({ stat }) => `0${(stat.kind === 'symlink' ? 0o777 : stat.mode).toString(8)}`

function plainField(letter: string, zone: Zone): Part {
  if (letter === 't') return ({ stat }) => centuryTime(stat.mtimeMs, zone)
  const field = Object.hasOwn(FIELDS, letter) ? FIELDS[letter] : undefined
  if (field) return field
  throw new FindMisuse(`-printf %${letter} is not available here`)
}

function timePart(letter: string, zone: Zone): Part {
  const field = (name: string, ms: number) => timeField(name, ms, zone) ?? ''
  if (letter === '@') return ({ stat }) => `${Math.floor(stat.mtimeMs / 1000)}.${fraction(stat.mtimeMs)}`
  if (letter === '+')
    return ({ stat }) => `${field('F', stat.mtimeMs)}+${field('T', stat.mtimeMs)}.${fraction(stat.mtimeMs)}`
  if (timeField(letter, 0, zone) === null) throw new FindMisuse(`-printf %T${letter} is not available here`)
  // Seconds are printed with their fraction.
  const hasFraction = ['S', 'T', 'X'].includes(letter)
  return ({ stat }) => field(letter, stat.mtimeMs) + (hasFraction ? `.${fraction(stat.mtimeMs)}` : '')
}

interface Filling {
  isLeft: boolean
  fills: '0' | ' '
  width: number
  precision: string | undefined
}

function filled(field: Part, { isLeft, fills, width, precision }: Filling): Part {
  if (width === 0 && precision === undefined) return field
  return (entry) => {
    const text = precision === undefined ? field(entry) : field(entry).slice(0, Number(precision))
    return isLeft ? text.padEnd(width) : text.padStart(width, fills)
  }
}

const fraction = (ms: number): string => `${String(((ms % 1000) + 1000) % 1000).padStart(3, '0')}0000000`

function centuryTime(ms: number, zone: Zone): string {
  return `${formatTime('%a %b %e %T', ms, zone)}.${fraction(ms)} ${timeField('Y', ms, zone)}`
}

function folderOf({ shown }: Entry): string {
  const bare = shown.replace(/(?<=[^/])\/+$/, '')
  const slash = bare.lastIndexOf('/')
  return slash < 0 ? '.' : bare.slice(0, slash)
}

/** A line in the format of `ls -dils`. */
export function listingLine(entry: Entry, nowMs: number, zone: Zone): string {
  const { stat, links, shown, linkTarget } = entry
  const arrow = stat.kind === 'symlink' ? ` -> ${linkTarget}` : ''
  const columns = [
    String(stat.inode).padStart(9),
    String(diskBytes(stat) / 1024).padStart(6),
    modeText(stat),
    String(links).padStart(3),
    OWNER.name.padEnd(8),
    OWNER.name.padEnd(8),
    String(sizeOf(stat)).padStart(8),
    stat.mtimeMs > nowMs + DAY_MS ? listTime(stat.mtimeMs, stat.mtimeMs, zone) : listTime(stat.mtimeMs, nowMs, zone),
  ]
  return `${columns.join(' ')} ${shown}${arrow}\n`
}
