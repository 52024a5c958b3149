// A file compared with two or more earlier versions at once: for merges, and for unresolved conflicts. Each line has a
// sign for each version. Parts that equal one of the versions are left out.

import { linesOf } from '../../../workspace/diff.ts'
import { DEFAULT_CONTEXT } from './hunks.ts'
import { gitEdits } from './line-edits.ts'

interface LostLine {
  text: string
  /** A bit for each version that contained it. */
  from: number
}

interface Row {
  /** Null after the last line. */
  text: string | null
  /** A bit for each version that does not contain it. */
  newTo: number
  /** The removed lines before it. */
  lost: LostLine[]
  /** For each version the line number at which the row starts; counted from 1. */
  at: number[]
  isShown: boolean
  hidesLost: boolean
}

const MAX_COMMENT = 40

/** The hunks; empty if every part equals one of the versions. */
export function combinedHunks(versions: readonly string[], result: string, context = DEFAULT_CONTEXT): string {
  const rows: Row[] = [...linesOf(result), null].map((text) => ({
    text,
    newTo: 0,
    lost: [],
    at: [],
    isShown: false,
    hidesLost: false,
  }))
  for (const [i, version] of versions.entries()) addVersion(rows, linesOf(version), i)
  const all = 2 ** versions.length - 1
  for (const row of rows) row.isShown = row.newTo !== 0 || row.lost.length > 0
  dropOneSided(rows, { all, context })
  addContext(rows, { all, context })
  return print(rows, versions.length)
}

function addVersion(rows: Row[], lines: readonly string[], version: number): void {
  const bit = 1 << version
  const result = rows.flatMap(({ text }) => (text === null ? [] : [text]))
  for (const { start, end, from, to } of gitEdits(lines, result, { trimsTail: true })) {
    for (let i = from; i < to; i++) mark(rows[i], bit)
    // Removed lines without a replacement belong to the line after them, replaced ones to the first new line.
    const row = rows[from]
    if (row) row.lost = joinLost(row.lost, lines.slice(start, end), bit)
  }
  let at = 1
  for (const row of rows) {
    row.at[version] = at
    at += row.lost.filter((lost) => (lost.from & bit) !== 0).length
    if (row.text !== null && (row.newTo & bit) === 0) at++
  }
}

function mark(row: Row | undefined, bit: number): void {
  if (row) row.newTo |= bit
}

/** Lines removed from several versions are shown once, if they have the same order. */
function joinLost(known: readonly LostLine[], lines: readonly string[], bit: number): LostLine[] {
  const [m, n] = [known.length, lines.length]
  const common = Array.from({ length: m + 1 }, () => new Array<number>(n + 1).fill(0))
  const valueAt = (i: number, j: number) => common[i]?.[j] ?? 0
  for (let i = 1; i <= m; i++) {
    const row = common[i] ?? []
    for (let j = 1; j <= n; j++) {
      const isSame = known[i - 1]?.text === lines[j - 1]
      row[j] = isSame ? valueAt(i - 1, j - 1) + 1 : Math.max(valueAt(i, j - 1), valueAt(i - 1, j))
    }
  }
  const joined: LostLine[] = []
  let [i, j] = [m, n]
  while (i > 0 || j > 0) {
    const [old, text] = [known[i - 1], lines[j - 1]]
    if (i > 0 && j > 0 && old && old.text === text) {
      joined.push({ ...old, from: old.from | bit })
      i--
      j--
    } else if (j > 0 && text !== undefined && (i === 0 || valueAt(i, j - 1) >= valueAt(i - 1, j))) {
      joined.push({ text, from: bit })
      j--
    } else {
      if (old) joined.push(old)
      i--
    }
  }
  return joined.reverse()
}

type Limits = { all: number; context: number }

/** The row that ends a group need not be shown if only removed lines precede it. */
function tailOf(rows: readonly Row[], begin: number, end: number): number {
  return begin + 1 <= end && rows[end - 1]?.newTo === 0 ? end - 1 : end
}

/** A group whose result equals one of the versions is left out. */
function dropOneSided(rows: Row[], { all, context }: Limits): void {
  for (let i = 0; i < rows.length; ) {
    if (!rows[i]?.isShown) {
      i++
      continue
    }
    const begin = i
    let end = begin + 1
    for (; end < rows.length; end++) {
      if (rows[end]?.isShown) continue
      const limit = Math.min(tailOf(rows, begin, end) + context, rows.length)
      let next = limit - 1
      while (next >= end && !rows[next]?.isShown) next--
      if (next < end) break
      end = next
    }
    const group = rows.slice(begin, end)
    const kinds = new Set(
      group.flatMap(({ newTo, lost }) => [...(newTo ? [newTo] : []), ...lost.map(({ from }) => from)]),
    )
    if (kinds.size < 2 && !kinds.has(all)) for (const row of group) row.isShown = false
    i = end
  }
}

function addContext(rows: Row[], { context }: Limits): void {
  const find = (from: number, isShown: boolean) => {
    let at = from
    while (at < rows.length && (rows[at]?.isShown ?? false) !== isShown) at++
    return at
  }
  const paint = (from: number, to: number) => {
    for (const row of rows.slice(from, to)) row.isShown = true
  }
  for (let i = find(0, true); i < rows.length; ) {
    const first = Math.max(0, i - context)
    for (const row of rows.slice(first, i)) if (!row.isShown) row.hidesLost = true
    paint(first, i)
    for (;;) {
      const end = find(i, false)
      if (end >= rows.length) return
      const next = find(end, true)
      const tail = tailOf(rows, i, end)
      if (next < tail + context) {
        paint(tail, next)
        i = next
        continue
      }
      paint(tail, Math.min(tail + context, rows.length))
      i = next
      break
    }
  }
}

function print(rows: readonly Row[], count: number): string {
  let text = ''
  for (let i = 0; i < rows.length; ) {
    let comment = ''
    for (; i < rows.length && !rows[i]?.isShown; i++) {
      if (/^[A-Za-z_$]/.test(rows[i]?.text ?? '')) comment = rows[i]?.text ?? ''
    }
    if (i >= rows.length) break
    let end = i
    while (end < rows.length && rows[end]?.isShown) end++
    text += hunkHeader(rows, { from: i, to: end, count }) + commentOf(comment)
    for (const row of rows.slice(i, end)) text += printRow(row, count)
    i = end
  }
  return text
}

function hunkHeader(rows: readonly Row[], { from, to, count }: { from: number; to: number; count: number }): string {
  const lines = to === rows.length ? to - from - 1 : to - from
  const last = rows.at(-1)
  const ranges = Array.from({ length: count }, (_, version) => {
    const start = rows[from]?.at[version] ?? 1
    const after = rows[to]?.at[version] ?? (last?.at[version] ?? 1) + lostBy(last, version)
    return `-${start},${after - start}`
  })
  const marks = '@'.repeat(count + 1)
  return `${marks} ${ranges.join(' ')} +${from + 1},${lines} ${marks}`
}

function lostBy(row: Row | undefined, version: number): number {
  return row?.lost.filter(({ from }) => (from & (1 << version)) !== 0).length ?? 0
}

/** The last letter is cut off, like in git. */
function commentOf(line: string): string {
  const text = line.replace(/\n$/, '').slice(0, MAX_COMMENT).trimEnd()
  return text.length > 1 ? ` ${text.slice(0, -1)}\n` : '\n'
}

function printRow({ text, newTo, lost, hidesLost }: Row, count: number): string {
  const signs = (bits: number, sign: string) =>
    Array.from({ length: count }, (_, version) => ((bits & (1 << version)) !== 0 ? sign : ' ')).join('')
  const gone = hidesLost ? [] : lost.map((line) => signs(line.from, '-') + ended(line.text))
  return gone.join('') + (text === null ? '' : signs(newTo, '+') + ended(text))
}

function ended(line: string): string {
  return line.endsWith('\n') ? line : `${line}\n`
}
