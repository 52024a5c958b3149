// What `ls` writes about the files of one group.

import type { Context } from '../interpreter-command.ts'
import type { LsOptions } from './ls.ts'

export interface Listed {
  name: string
  stat: Awaited<ReturnType<Context['fs']['lstat']>>
  /** Of a link. */
  target: string | null
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const SIX_MONTHS_MS = (31_556_952 / 2) * 1000
const BLOCK_BYTES = 4096
const OWNER_ID = '1000'

/** In the order in which they are shown. */
export function groupOf(files: readonly Listed[], { flags }: LsOptions): Listed[] {
  const group = [...files]
  if (!flags.has('U')) group.sort(orderOf(flags))
  if (flags.has('r')) group.reverse()
  if (!flags.has('first')) return group
  return [...group.filter(({ stat }) => stat.isDirectory), ...group.filter(({ stat }) => !stat.isDirectory)]
}

type Compare = (a: Listed, b: Listed) => number

function orderOf(flags: ReadonlySet<string>): Compare {
  const byName: Compare = (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)
  const orders: Record<string, Compare> = {
    t: (a, b) => b.stat.mtime.getTime() - a.stat.mtime.getTime(),
    S: (a, b) => sizeOf(b.stat) - sizeOf(a.stat),
    X: (a, b) => extensionOf(a.name).localeCompare(extensionOf(b.name), 'en'),
    v: (a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }),
  }
  const first = orders[['t', 'S', 'X', 'v'].find((flag) => flags.has(flag)) ?? '']
  return first ? (a, b) => first(a, b) || byName(a, b) : byName
}

function extensionOf(name: string): string {
  return /[^.]\.([^.]*)$/.exec(name)?.[1] ?? ''
}

export function shownLines(group: readonly Listed[], options: LsOptions): string {
  const { flags } = options
  const rows = group.map((file) => [
    ...(flags.has('i') ? [String(file.stat.ino ?? 0)] : []),
    ...(flags.has('l') ? longColumns(file, options) : []),
  ])
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  // Owner and group are to the left of their columns, figures to the right.
  const pad = (text: string, column: number) =>
    /^\D/.test(text) && !/^[-dl]/.test(text) ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0)
  return group
    .map((file, i) => [...(rows[i] ?? []).map(pad), nameOf(file, flags)].join(' '))
    .map((line) => `${line}\n`)
    .join('')
}

function longColumns({ stat }: Listed, { flags, timeStyle }: LsOptions): string[] {
  const [user, group] = flags.has('n') ? [OWNER_ID, OWNER_ID] : ['user', 'user']
  return [
    modeOf(stat),
    '1',
    ...(flags.has('g') ? [] : [user]),
    ...(flags.has('o') || flags.has('G') ? [] : [group]),
    flags.has('h') ? humanSize(sizeOf(stat)) : String(sizeOf(stat)),
    timeOf(stat.mtime, timeStyle),
  ]
}

function sizeOf({ isDirectory, size }: Listed['stat']): number {
  return isDirectory ? BLOCK_BYTES : size
}

function modeOf({ mode, isDirectory, isSymbolicLink }: Listed['stat']): string {
  if (isSymbolicLink) return 'lrwxrwxrwx'
  const bits = [...'rwxrwxrwx'].map((letter, i) => ((mode >> (8 - i)) & 1 ? letter : '-')).join('')
  return (isDirectory ? 'd' : '-') + bits
}

function nameOf({ name, stat, target }: Listed, flags: ReadonlySet<string>): string {
  const isMarked = flags.has('F') || flags.has('p')
  const link = flags.has('l') && target !== null ? ` -> ${target}` : ''
  if (stat.isDirectory) return `${name}${isMarked && !name.endsWith('/') ? '/' : ''}`
  if (!flags.has('F') || link !== '') return name + link
  return name + (stat.isSymbolicLink ? '@' : stat.mode & 0o111 ? '*' : '')
}

/** As a disk with the usual blocks would count. */
export function sizedTotal(group: readonly Listed[], { flags }: LsOptions): string {
  const bytes = group.reduce((sum, { stat }) => {
    if (stat.isSymbolicLink) return sum
    return sum + (stat.isDirectory ? BLOCK_BYTES : Math.ceil(stat.size / BLOCK_BYTES) * BLOCK_BYTES)
  }, 0)
  return flags.has('h') ? humanSize(bytes) : String(bytes / 1024)
}

/** Rounded up, with one decimal below ten. */
function humanSize(bytes: number): string {
  if (bytes < 1024) return String(bytes)
  let value = bytes
  for (const unit of ['K', 'M', 'G']) {
    value /= 1024
    if (Math.ceil(value * 10) / 10 < 10) return `${(Math.ceil(value * 10) / 10).toFixed(1)}${unit}`
    if (Math.ceil(value) < 1024 || unit === 'G') return `${Math.ceil(value)}${unit}`
  }
  return String(bytes)
}

function timeOf(time: Date, style: string): string {
  const iso = time.toISOString()
  const [date, clock] = [iso.slice(0, 10), iso.slice(11, 16)]
  if (style === 'full-iso') return `${date} ${iso.slice(11, 23)}000000 +0000`
  if (style === 'long-iso') return `${date} ${clock}`
  const age = Date.now() - time.getTime()
  const isRecent = age >= 0 && age < SIX_MONTHS_MS
  if (style === 'iso') return isRecent ? `${iso.slice(5, 10)} ${clock}` : `${date} `
  const day = `${MONTHS[time.getUTCMonth()]} ${String(time.getUTCDate()).padStart(2)}`
  return isRecent ? `${day} ${clock}` : `${day}  ${time.getUTCFullYear()}`
}
