// The statistics of a patch, computed from the patch alone.

import { numberTable, type Row, renameName, statSummary } from '../diffstat.ts'
import { quoted } from '../path-quoting.ts'
import type { FilePatch } from './parse-patch.ts'

const MAX_NAME = 50
const WIDTH = 70

export function patchNumbers(files: readonly FilePatch[]): string {
  return numberTable(files.map(rowOf))
}

export function patchStat(files: readonly FilePatch[]): string {
  const rows = files.map(rowOf)
  const width = Math.min(MAX_NAME, Math.max(0, ...rows.map(({ name }) => name.length)))
  const most = Math.max(0, ...rows.map(({ added, removed }) => added + removed))
  const bar = width + most > WIDTH ? WIDTH - width : most
  const scaled = (count: number) => (most === 0 ? 0 : Math.floor((count * bar + Math.floor(most / 2)) / most))
  const lines = rows.map((row) => {
    const name = shortened(row.name, width).padEnd(width)
    if (row.isBinary) return ` ${name} |  Bin\n`
    const [total, added] = [scaled(row.added + row.removed), scaled(row.added)]
    return ` ${name} |${String(row.added + row.removed).padStart(5)} ${'+'.repeat(added)}${'-'.repeat(total - added)}\n`
  })
  return lines.join('') + statSummary(rows)
}

function shortened(name: string, width: number): string {
  if (name.length <= width) return name
  const tail = name.slice(name.length + 3 - width)
  const slash = tail.indexOf('/')
  return `...${slash < 0 ? tail : tail.slice(slash)}`
}

function rowOf({ oldPath, newPath, isBinary, hunks }: FilePatch): Row {
  const count = (sign: string) =>
    hunks.reduce((sum, { lines }) => sum + lines.filter((line) => line.sign === sign).length, 0)
  return { name: quoted(newPath ?? oldPath ?? ''), added: count('+'), removed: count('-'), isBinary, sizes: [0, 0] }
}

export function patchSummary(files: readonly FilePatch[]): string {
  const octal = (mode: number | null) => (mode ?? 0o100644).toString(8).padStart(6, '0')
  const lines = files.map(({ oldPath, newPath, oldMode, newMode, isRename, isCopy, similarity }) => {
    if (oldPath === null) return ` create mode ${octal(newMode)} ${newPath}\n`
    if (newPath === null) return ` delete mode ${octal(oldMode)} ${oldPath}\n`
    if (isRename || isCopy)
      return ` ${isRename ? 'rename' : 'copy'} ${renameName(oldPath, newPath)} (${similarity ?? 100}%)\n`
    return newMode !== null && newMode !== oldMode
      ? ` mode change ${octal(oldMode)} => ${octal(newMode)} ${newPath}\n`
      : ''
  })
  return lines.join('')
}
