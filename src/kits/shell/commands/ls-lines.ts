// The output of `ls` for the files of one group.

import type { Zone } from '../../../lib/clock.ts'
import type { Context } from '../interpreter-command.ts'
import { diskBytes, FOLDER_BYTES, humanSize, modeText, OWNER } from './file-facts.ts'
import { formatTime, fullTime, listTime } from './file-times.ts'
import { columns } from './ls-columns.ts'
import type { LsOptions } from './ls-options.ts'
import { compareVersions } from './version-order.ts'

type Stat = Awaited<ReturnType<Context['fs']['lstat']>>

export interface Listed {
  name: string
  stat: Stat
  /** Of a link. */
  target: string | null
  /** The target of a link, otherwise the file itself; null for a broken link. */
  end: Stat | null
  links: number
}

/** In the order of the output. */
export function groupOf(files: readonly Listed[], { flags }: LsOptions): Listed[] {
  const group = [...files]
  if (!flags.has('U')) group.sort(orderOf(flags))
  if (flags.has('r')) group.reverse()
  if (!flags.has('first')) return group
  const isFolder = ({ end }: Listed) => end?.isDirectory ?? false
  return [...group.filter(isFolder), ...group.filter((file) => !isFolder(file))]
}

type Compare = (a: Listed, b: Listed) => number

function orderOf(flags: ReadonlySet<string>): Compare {
  const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
  const byName: Compare = (a, b) => byText(a.name, b.name)
  const orders: Record<string, Compare> = {
    t: (a, b) => b.stat.mtime.getTime() - a.stat.mtime.getTime(),
    S: (a, b) => sizeOf(b.stat) - sizeOf(a.stat),
    X: (a, b) => byText(extensionOf(a.name), extensionOf(b.name)),
    v: (a, b) => compareVersions(a.name, b.name),
  }
  const first = orders[['t', 'S', 'X', 'v'].find((flag) => flags.has(flag)) ?? '']
  return first ? (a, b) => first(a, b) || byName(a, b) : byName
}

function extensionOf(name: string): string {
  const dot = name.lastIndexOf('.')
  return dot < 0 ? '' : name.slice(dot)
}

export function shownLines(group: readonly Listed[], options: LsOptions): string {
  const { flags, width } = options
  const end = flags.has('zero') ? '\0' : '\n'
  const rows = group.map((file) => [
    ...(flags.has('i') ? [String(file.stat.ino ?? 0)] : []),
    ...(flags.has('s') ? [blocksOf(file.stat, flags)] : []),
    ...(flags.has('l') ? longColumns(file, options) : []),
  ])
  const names = group.map((file) => nameOf(file, flags))
  if (group.length > 0 && !flags.has('l') && (flags.has('m') || flags.has('C') || flags.has('x'))) {
    const cells = names.map((name, i) => [...(rows[i] ?? []), name].join(' '))
    return columns(cells, { width, kind: flags.has('m') ? 'commas' : flags.has('x') ? 'across' : 'down' })
  }
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  // Owner and group are left-aligned, numbers right-aligned.
  const pad = (text: string, column: number) =>
    /^\D/.test(text) && !/^[-cdl]/.test(text) ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0)
  return names.map((name, i) => [...(rows[i] ?? []).map(pad), name].join(' ') + end).join('')
}

function longColumns({ stat, links }: Listed, { flags, timeStyle, zone }: LsOptions): string[] {
  const owner = flags.has('n') ? String(OWNER.id) : OWNER.name
  return [
    (isDevice(stat) ? 'c' : '') + modeText(kindOf(stat)).slice(isDevice(stat) ? 1 : 0),
    String(links),
    ...(flags.has('g') ? [] : [owner]),
    ...(flags.has('o') || flags.has('G') ? [] : [owner]),
    ...(flags.has('author') ? [owner] : []),
    isDevice(stat) ? deviceNumbers(stat) : shownSize(sizeOf(stat), flags),
    timeOf(stat.mtime.getTime(), timeStyle, zone),
  ]
}

function shownSize(bytes: number, flags: ReadonlySet<string>): string {
  if (flags.has('si')) return humanSize(bytes, 1000)
  return flags.has('h') ? humanSize(bytes) : String(bytes)
}

function kindOf({ mode, isDirectory, isSymbolicLink }: Stat): { kind: 'file' | 'directory' | 'symlink'; mode: number } {
  return { kind: isSymbolicLink ? 'symlink' : isDirectory ? 'directory' : 'file', mode }
}

/** Neither file nor folder nor link. */
const isDevice = ({ isFile, isDirectory, isSymbolicLink }: Stat): boolean => !isFile && !isDirectory && !isSymbolicLink

const deviceNumbers = ({ dev = 0 }: Stat): string => `${Math.floor(Number(dev) / 256)}, ${Number(dev) % 256}`

function sizeOf({ isDirectory, size }: Stat): number {
  return isDirectory ? FOLDER_BYTES : size
}

function blocksOf(stat: Stat, flags: ReadonlySet<string>): string {
  const bytes = bytesOnDisk(stat)
  return flags.has('h') || flags.has('si') ? shownSize(bytes, flags) : String(bytes / 1024)
}

function bytesOnDisk(stat: Stat): number {
  // A link is stored in its inode.
  if (stat.isSymbolicLink) return 0
  return diskBytes({ ...kindOf(stat), sizeBytes: stat.size, mtimeMs: 0, inode: 0 })
}

function nameOf({ name, stat, target, end }: Listed, flags: ReadonlySet<string>): string {
  const shown = quotedName(name, flags)
  const isLong = flags.has('l') && target !== null
  const signOf = (file: Stat | null): string => {
    if (!file || !['F', 'p', 'file-type'].some((flag) => flags.has(flag))) return ''
    if (file.isDirectory) return '/'
    if (flags.has('p')) return ''
    if (file.isSymbolicLink) return '@'
    return flags.has('F') && (file.mode & 0o111) !== 0 ? '*' : ''
  }
  if (isLong) return `${shown} -> ${quotedName(target, flags)}${flags.has('p') ? '' : signOf(end)}`
  const sign = signOf(stat)
  return sign === '/' && name.endsWith('/') ? shown : shown + sign
}

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ '\u0007': '\\a', '\b': '\\b', '\f': '\\f', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\v': '\\v' },
  ...{ '"': '\\"', '\\': '\\\\', ' ': '\\ ' },
}

const escaped = (char: string): string =>
  ESCAPES[char] ?? `\\${char.codePointAt(0)?.toString(8).padStart(3, '0') ?? ''}`

/** With the quoting of `-Q`, `-b` or `-q`. */
export function quotedName(name: string, flags: ReadonlySet<string>): string {
  if (flags.has('Q')) return `"${name.replace(/[\p{Cc}"\\]/gu, escaped)}"`
  if (flags.has('b')) return name.replace(/[\p{Cc}\\ ]/gu, escaped)
  return flags.has('q') ? name.replace(/\p{Cc}/gu, '?') : name
}

/** Like a disk with the usual block size. */
export function sizedTotal(group: readonly Listed[], { flags }: LsOptions): string {
  const bytes = group.reduce((sum, { stat }) => sum + bytesOnDisk(stat), 0)
  return flags.has('h') || flags.has('si') ? shownSize(bytes, flags) : String(bytes / 1024)
}

const HALF_YEAR_MS = (31_556_952 / 2) * 1000

function timeOf(ms: number, style: string, zone: Zone): string {
  const now = Date.now()
  const isRecent = ms <= now && now - ms < HALF_YEAR_MS
  if (style.startsWith('+')) {
    // A second line is for recent times.
    const [older = '', recent = older] = style.slice(1).split('\n')
    return formatTime(isRecent ? recent : older, ms, zone)
  }
  if (style === 'full-iso') return fullTime(ms, zone)
  if (style === 'long-iso') return formatTime('%Y-%m-%d %H:%M', ms, zone)
  if (style === 'iso') return formatTime(isRecent ? '%m-%d %H:%M' : '%Y-%m-%d ', ms, zone)
  return listTime(ms, now, zone)
}
