// Changes as git shows them: patches, statistics and lists of names.

import { lineEdits, linesOf } from '../diff.ts'
import { isBinary, textOf, utf8 } from './bytes.ts'
import { type FileState, MODE, NULL_ID } from './objects.ts'
import { quoted } from './pathspec.ts'
import { contentsOf, type PairedChange } from './renames.ts'
import type { Repository } from './repository.ts'
import { abbreviate } from './revisions.ts'
import { changeKind } from './status.ts'

export interface PatchOptions {
  context: number
  /** Instead of `a/` and `b/`. */
  prefixes?: readonly [string, string]
  fullIndex?: boolean
  ignoreWhitespace?: boolean
}

export const DEFAULT_CONTEXT = 3
const FUNCTION_LINE = /^[A-Za-z_$]/
const MAX_FUNCTION_CHARS = 80

/** What a change did to the lines of a file. Binary files have no lines. */
export interface LineCounts {
  added: number
  removed: number
  isBinary: boolean
  /** For binary files. */
  sizes: readonly [number, number]
}

export async function patchOf(repo: Repository, change: PairedChange, options: PatchOptions): Promise<string> {
  const [a, b] = options.prefixes ?? ['a/', 'b/']
  const [oldPath, newPath] = [change.from ?? change.path, change.path]
  const header = [
    `diff --git ${quoted(a + oldPath)} ${quoted(b + newPath)}`,
    ...(await extendedHeader(repo, change, options)),
  ]
  const before = await sideOf(repo, oldPath, change.before)
  const after = await sideOf(repo, newPath, change.after)
  const isTypeChange = changeKind(change) === 'T'
  if (isTypeChange) {
    const removed = await patchOf(repo, { path: oldPath, before: change.before, after: null }, options)
    return removed + (await patchOf(repo, { path: newPath, before: null, after: change.after }, options))
  }
  if (change.before?.oid === change.after?.oid) return `${header.join('\n')}\n`
  const names = [change.before ? a + oldPath : '/dev/null', change.after ? b + newPath : '/dev/null'] as const
  if (isBinary(before) || isBinary(after)) {
    const shown = names.map((name) => (name === '/dev/null' ? name : quoted(name)))
    return `${header.join('\n')}\nBinary files ${shown[0]} and ${shown[1]} differ\n`
  }
  const hunks = hunksOf(textOf(before), textOf(after), options)
  if (hunks === '') return `${header.join('\n')}\n`
  return `${header.join('\n')}\n--- ${named(names[0])}\n+++ ${named(names[1])}\n${hunks}`
}

/** A blank in a name is told from the end of the name by a tab. */
function named(name: string): string {
  const shown = name === '/dev/null' ? name : quoted(name)
  return shown.includes(' ') && !shown.startsWith('"') ? `${shown}\t` : shown
}

async function extendedHeader(repo: Repository, change: PairedChange, options: PatchOptions): Promise<string[]> {
  const { before, after, from, similarity, path } = change
  const lines: string[] = []
  const octal = (mode: number) => mode.toString(8).padStart(6, '0')
  if (!before && after) lines.push(`new file mode ${octal(after.mode)}`)
  if (before && !after) lines.push(`deleted file mode ${octal(before.mode)}`)
  if (before && after && before.mode !== after.mode) {
    lines.push(`old mode ${octal(before.mode)}`, `new mode ${octal(after.mode)}`)
  }
  if (from !== undefined) {
    lines.push(`similarity index ${similarity ?? 100}%`, `rename from ${quoted(from)}`, `rename to ${quoted(path)}`)
  }
  if (before?.oid === after?.oid) return lines
  const ids = [before?.oid ?? NULL_ID, after?.oid ?? NULL_ID]
  const shown = options.fullIndex ? ids : await Promise.all(ids.map((oid) => abbreviate(repo, oid)))
  const mode = before && after && before.mode === after.mode ? ` ${octal(after.mode)}` : ''
  return [...lines, `index ${shown[0]}..${shown[1]}${mode}`]
}

async function sideOf(repo: Repository, path: string, state: FileState | null): Promise<Uint8Array> {
  if (!state) return utf8('')
  if (state.mode === MODE.gitlink) return utf8(`Subproject commit ${state.oid}\n`)
  return (await contentsOf(repo, path, state.oid)) ?? utf8('')
}

export function hunksOf(before: string, after: string, { context, ignoreWhitespace = false }: PatchOptions): string {
  const [old, now] = [linesOf(before), linesOf(after)]
  const plain = (lines: string[]) => (ignoreWhitespace ? lines.map((line) => line.replace(/\s+/g, '')) : lines)
  const edits = lineEdits(plain(old), plain(now))
  let text = ''
  let functionFrom = 0
  let functionLine = ''
  for (let i = 0; i < edits.length; ) {
    const first = edits[i]
    if (!first) break
    let last = first
    let next = i + 1
    for (let edit = edits[next]; edit && edit.start - last.end <= 2 * context; edit = edits[++next]) last = edit
    const start = Math.max(0, first.start - context)
    const end = Math.min(old.length, last.end + context)
    const from = first.from - (first.start - start)
    const to = last.to + (end - last.end)
    for (; functionFrom < start; functionFrom++) {
      const line = old[functionFrom] ?? ''
      if (FUNCTION_LINE.test(line)) functionLine = ` ${line.slice(0, MAX_FUNCTION_CHARS).trimEnd()}`
    }
    text += `@@ -${spanOf(start, end)} +${spanOf(from, to)} @@${functionLine}\n`
    let at = start
    for (const edit of edits.slice(i, next)) {
      text += old
        .slice(at, edit.start)
        .map((line) => ended(` ${line}`))
        .join('')
      text += old
        .slice(edit.start, edit.end)
        .map((line) => ended(`-${line}`))
        .join('')
      text += now
        .slice(edit.from, edit.to)
        .map((line) => ended(`+${line}`))
        .join('')
      at = edit.end
    }
    text += old
      .slice(at, end)
      .map((line) => ended(` ${line}`))
      .join('')
    i = next
  }
  return text
}

function spanOf(start: number, end: number): string {
  const count = end - start
  return count === 1 ? String(start + 1) : `${count === 0 ? start : start + 1},${count}`
}

function ended(line: string): string {
  return line.endsWith('\n') ? line : `${line}\n\\ No newline at end of file\n`
}

export async function countsOf(repo: Repository, change: PairedChange): Promise<LineCounts> {
  const before = await sideOf(repo, change.from ?? change.path, change.before)
  const after = await sideOf(repo, change.path, change.after)
  const sizes = [before.byteLength, after.byteLength] as const
  if (change.before?.oid === change.after?.oid) return { added: 0, removed: 0, isBinary: false, sizes }
  if (isBinary(before) || isBinary(after)) return { added: 0, removed: 0, isBinary: true, sizes }
  const edits = lineEdits(linesOf(textOf(before)), linesOf(textOf(after)))
  const added = edits.reduce((sum, { from, to }) => sum + to - from, 0)
  const removed = edits.reduce((sum, { start, end }) => sum + end - start, 0)
  return { added, removed, isBinary: false, sizes }
}

/** `A`, `D`, `M`, `T` or `R087`. */
export function statusLetter(change: PairedChange): string {
  return change.from === undefined ? changeKind(change) : `R${String(change.similarity ?? 100).padStart(3, '0')}`
}
