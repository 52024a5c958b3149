// The bars of `--stat` and related options, in git's layout for a terminal of 80 columns.

import type { Whitespace } from './diffing/hunks.ts'
import { MODE } from './objects.ts'
import { countsOf, type LineCounts } from './patch.ts'
import { quoted } from './path-quoting.ts'
import type { PairedChange } from './renames.ts'
import type { Repository } from './repository.ts'

const WIDTH = 80
const MIN_BAR = 6

export interface Row extends LineCounts {
  name: string
  isUnmerged?: boolean
}

export interface StatOptions {
  whitespace?: Whitespace | undefined
  /** Of the whole table. */
  width?: number | undefined
  /** Whether names include creations, deletions and mode changes. */
  isCompact?: boolean
  /** Whether names are unquoted, with a NUL after them. */
  isBare?: boolean
}

export async function diffstat(
  repo: Repository,
  changes: readonly PairedChange[],
  options: StatOptions = {},
): Promise<string> {
  return statTable(await rowsOf(repo, changes, options), options.width)
}

function statTable(rows: readonly Row[], width = WIDTH): string {
  if (rows.length === 0) return ''
  const { nameWidth, numberWidth, barWidth, most } = layout(rows, width)
  const lines = rows.map((row) => {
    const name = shortened(row.name, nameWidth).padEnd(nameWidth)
    if (row.isUnmerged) return ` ${name} | Unmerged`
    if (row.isBinary) return ` ${name} | ${'Bin'.padStart(numberWidth)}${sizesText(row)}`
    const total = row.added + row.removed
    return ` ${name} | ${String(total).padStart(numberWidth)}${total > 0 ? ' ' : ''}${bar(row, barWidth, most)}`
  })
  // After an unmerged path git writes no line end.
  return lines.map((line, i) => (rows[i]?.isUnmerged ? line : `${line}\n`)).join('') + statSummary(rows)
}

/** Only the last line. */
export async function shortstat(
  repo: Repository,
  changes: readonly PairedChange[],
  options: StatOptions = {},
): Promise<string> {
  const rows = await rowsOf(repo, changes, options)
  return rows.length === 0 ? '' : statSummary(rows)
}

export async function numstat(
  repo: Repository,
  changes: readonly PairedChange[],
  options: StatOptions = {},
): Promise<string> {
  if (!options.isBare) return numberTable(await rowsOf(repo, changes, options))
  let text = ''
  for (const change of changes) {
    const [row] = await rowsOf(repo, [change], options)
    const names = change.from === undefined ? change.path : `\0${change.from}\0${change.path}`
    if (row) text += `${row.isBinary ? '-\t-' : `${row.added}\t${row.removed}`}\t${names}\0`
  }
  return text
}

export function numberTable(rows: readonly Row[]): string {
  const lines = rows.map(
    ({ added, removed, isBinary, name }) => `${isBinary ? '-\t-' : `${added}\t${removed}`}\t${name}\n`,
  )
  return lines.join('')
}

/** File-level changes: created, deleted, renamed, mode changed. */
export function changeSummary(repo: Repository, changes: readonly PairedChange[]): string {
  const octal = (mode: number) => mode.toString(8).padStart(6, '0')
  const lines = changes.flatMap((change) => {
    const { path, before, after, from, similarity } = change
    if (change.isUnmerged) return []
    if (!before && after) return ` create mode ${octal(after.mode)} ${repo.quoted(path)}\n`
    if (before && !after) return ` delete mode ${octal(before.mode)} ${repo.quoted(path)}\n`
    if (from !== undefined) return ` rename ${renameName(from, path, repo)} (${similarity ?? 100}%)\n`
    return before && after && before.mode !== after.mode
      ? ` mode change ${octal(before.mode)} => ${octal(after.mode)} ${repo.quoted(path)}\n`
      : []
  })
  return lines.join('')
}

async function rowsOf(
  repo: Repository,
  changes: readonly PairedChange[],
  { whitespace, isCompact }: StatOptions,
): Promise<Row[]> {
  const rows: Row[] = []
  for (const change of changes) {
    const plain = change.from === undefined ? repo.quoted(change.path) : renameName(change.from, change.path, repo)
    const name = isCompact ? `${plain}${compactMark(change)}` : plain
    if (change.isUnmerged) {
      rows.push({ name, isUnmerged: true, added: 0, removed: 0, isBinary: false, sizes: [0, 0] })
      continue
    }
    const counts = await countsOf(repo, change, whitespace)
    // A file with only whitespace changes is left out if those are ignored.
    const isSilent = whitespace !== undefined && !counts.isBinary && counts.added + counts.removed === 0
    if (!(isSilent && change.before?.mode === change.after?.mode && change.from === undefined))
      rows.push({ ...counts, name })
  }
  return rows
}

/** The file-level change in a few letters. */
function compactMark({ before, after, isUnmerged }: PairedChange): string {
  if (isUnmerged) return ''
  if (!after) return before ? ' (gone)' : ''
  const isExecutable = after.mode === MODE.executable
  if (!before) return after.mode === MODE.link ? ' (new +l)' : isExecutable ? ' (new +x)' : ' (new)'
  if (before.mode === after.mode) return ''
  if (before.mode === MODE.link || after.mode === MODE.link)
    return after.mode === MODE.link ? ' (mode +l)' : ' (mode -l)'
  return isExecutable ? ' (mode +x)' : ' (mode -x)'
}

function layout(rows: readonly Row[], wanted: number) {
  const most = Math.max(...rows.map(({ added, removed }) => added + removed))
  const longest = Math.max(...rows.map(({ name }) => name.length))
  const hasBinary = rows.some(({ isBinary }) => isBinary)
  const numberWidth = Math.max(String(most).length, hasBinary ? 3 : 0)
  // The minimum for a name and a bar.
  const width = Math.max(wanted, numberWidth + 22)
  let nameWidth = longest
  let barWidth = Math.max(most, ...rows.map(wordsWidth))
  if (nameWidth + numberWidth + 6 + barWidth > width) {
    const share = Math.floor((width * 3) / 8) - numberWidth - 6
    if (barWidth > share) barWidth = Math.max(share, MIN_BAR)
    if (nameWidth > width - numberWidth - 6 - barWidth) nameWidth = width - numberWidth - 6 - barWidth
    else barWidth = width - numberWidth - 6 - nameWidth
  }
  return { nameWidth, numberWidth, barWidth, most }
}

/** Empty for an unchanged file. */
function sizesText({ sizes: [before, after] }: Row): string {
  return before === 0 && after === 0 ? '' : ` ${before} -> ${after} bytes`
}

/** The width of a text that replaces the number and bar. */
function wordsWidth({ isBinary, isUnmerged, sizes }: Row): number {
  if (isUnmerged) return 'Unmerged'.length - 4
  return isBinary ? `Bin ${sizes[0]} -> ${sizes[1]} bytes`.length - 4 : 0
}

function shortened(name: string, width: number): string {
  if (name.length <= width) return name
  const tail = name.slice(name.length - (width - 3))
  const slash = tail.indexOf('/')
  return `...${slash < 0 ? tail : tail.slice(slash)}`
}

function bar({ added, removed }: Row, width: number, most: number): string {
  if (width > most) return '+'.repeat(added) + '-'.repeat(removed)
  let total = scaled(added + removed, width, most)
  if (total < 2 && added > 0 && removed > 0) total = 2
  const pluses = added < removed ? scaled(added, width, most) : total - scaled(removed, width, most)
  return '+'.repeat(pluses) + '-'.repeat(total - pluses)
}

function scaled(count: number, width: number, most: number): number {
  return count === 0 ? 0 : 1 + Math.floor((count * (width - 1)) / most)
}

export function statSummary(all: readonly Row[]): string {
  const rows = all.filter(({ isUnmerged }) => !isUnmerged)
  if (rows.length === 0) return ' 0 files changed\n'
  const added = rows.reduce((sum, row) => sum + row.added, 0)
  const removed = rows.reduce((sum, row) => sum + row.removed, 0)
  const parts = [` ${rows.length} file${rows.length === 1 ? '' : 's'} changed`]
  if (added > 0 || removed === 0) parts.push(` ${added} insertion${added === 1 ? '' : 's'}(+)`)
  if (removed > 0 || added === 0) parts.push(` ${removed} deletion${removed === 1 ? '' : 's'}(-)`)
  return `${parts.join(',')}\n`
}

/** `{old => new}/name`: the common part is shown once. */
export function renameName(from: string, to: string, shows: Pick<Repository, 'quoted'> = { quoted }): string {
  const [old, now] = [shows.quoted(from), shows.quoted(to)]
  if (old !== from || now !== to) return `${old} => ${now}`
  let head = 0
  for (let i = 0; i < from.length && i < to.length && from[i] === to[i]; i++) if (from[i] === '/') head = i + 1
  let tail = 0
  const limit = Math.min(from.length, to.length) - (head > 0 ? head - 1 : 0)
  for (let i = 1; i <= limit && from[from.length - i] === to[to.length - i]; i++)
    if (from[from.length - i] === '/') tail = i
  if (head === 0 && tail === 0) return `${from} => ${to}`
  const middle = (path: string) => path.slice(head, Math.max(head, path.length - tail))
  return `${from.slice(0, head)}{${middle(from)} => ${middle(to)}}${tail > 0 ? from.slice(from.length - tail) : ''}`
}
