// Changes in git's formats: patches, statistics and lists of names.

import { linesOf } from '../../workspace/diff.ts'
import { isBinary, textOf, utf8 } from './bytes.ts'
import { type HunkOptions, hunksOf, lineKey, type Whitespace } from './diffing/hunks.ts'
import { gitEdits } from './diffing/line-edits.ts'
import { type FileState, MODE, NULL_ID } from './objects.ts'
import { contentsOf, type PairedChange } from './renames.ts'
import type { Repository } from './repository.ts'
import { abbreviate } from './revisions.ts'
import { changeKind } from './status.ts'

export interface PatchOptions extends HunkOptions {
  /** Instead of `a/` and `b/`. */
  prefixes?: readonly [string, string]
  fullIndex?: boolean
  /** The number of displayed digits of an id. */
  idLength?: number
  /** Whether binary contents are shown as text. */
  isText?: boolean
}

/** The numbers of changed lines of a file. Binary files have no lines. */
export interface LineCounts {
  added: number
  removed: number
  isBinary: boolean
  /** For binary files. */
  sizes: readonly [number, number]
}

export async function patchOf(repo: Repository, change: PairedChange, options: PatchOptions): Promise<string> {
  if (change.isUnmerged) return `* Unmerged path ${repo.quoted(change.path)}\n`
  const [a, b] = options.prefixes ?? ['a/', 'b/']
  const [oldPath, newPath] = [change.from ?? change.path, change.path]
  const header = [
    `diff --git ${repo.quoted(a + oldPath)} ${repo.quoted(b + newPath)}`,
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
  if (
    !options.isText &&
    ((await isShownBinary(repo, oldPath, before)) || (await isShownBinary(repo, newPath, after)))
  ) {
    const shown = names.map((name) => (name === '/dev/null' ? name : repo.quoted(name)))
    return `${header.join('\n')}\nBinary files ${shown[0]} and ${shown[1]} differ\n`
  }
  const hunks = hunksOf(textOf(before), textOf(after), options)
  const isSame = change.from === undefined && change.before?.mode === change.after?.mode
  if (hunks === '') return options.whitespace !== undefined && isSame ? '' : `${header.join('\n')}\n`
  return `${header.join('\n')}\n--- ${named(repo, names[0])}\n+++ ${named(repo, names[1])}\n${hunks}`
}

/** After a name with a blank, a tab marks its end. */
function named(repo: Repository, name: string): string {
  const shown = name === '/dev/null' ? name : repo.quoted(name)
  return withTab(shown)
}

export const withTab = (shown: string): string => (shown.includes(' ') ? `${shown}\t` : shown)

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
    lines.push(
      `similarity index ${similarity ?? 100}%`,
      `rename from ${repo.quoted(from)}`,
      `rename to ${repo.quoted(path)}`,
    )
  }
  if (before?.oid === after?.oid) return lines
  const ids = [before?.oid ?? NULL_ID, after?.oid ?? NULL_ID]
  const shown = options.fullIndex ? ids : await Promise.all(ids.map((oid) => abbreviate(repo, oid, options.idLength)))
  const mode = before && after && before.mode === after.mode ? ` ${octal(after.mode)}` : ''
  return [...lines, `index ${shown[0]}..${shown[1]}${mode}`]
}

async function sideOf(repo: Repository, path: string, state: FileState | null): Promise<Uint8Array> {
  if (!state) return utf8('')
  if (state.mode === MODE.gitlink) return utf8(`Subproject commit ${state.oid}\n`)
  return (await contentsOf(repo, path, state.oid)) ?? utf8('')
}

export async function countsOf(repo: Repository, change: PairedChange, whitespace?: Whitespace): Promise<LineCounts> {
  const before = await sideOf(repo, change.from ?? change.path, change.before)
  const after = await sideOf(repo, change.path, change.after)
  const sizes = [before.byteLength, after.byteLength] as const
  const isSame = change.before?.oid === change.after?.oid
  const isEither = await isShownBinary(repo, change.from ?? change.path, before)
  if (isEither || (await isShownBinary(repo, change.path, after)))
    return { added: 0, removed: 0, isBinary: true, sizes: isSame ? [0, 0] : sizes }
  if (isSame) return { added: 0, removed: 0, isBinary: false, sizes }
  const edits = gitEdits(linesOf(textOf(before)), linesOf(textOf(after)), { key: lineKey(whitespace) })
  const added = edits.reduce((sum, { from, to }) => sum + to - from, 0)
  const removed = edits.reduce((sum, { start, end }) => sum + end - start, 0)
  return { added, removed, isBinary: false, sizes }
}

/** By the attribute `diff`, and otherwise by the contents. */
async function isShownBinary(repo: Repository, path: string, bytes: Uint8Array): Promise<boolean> {
  const said = (await repo.attributes.of(path)).get('diff')
  return said === false || (said === undefined && isBinary(bytes))
}

/** `A`, `D`, `M`, `T` or `R087`. */
export function statusLetter(change: PairedChange): string {
  if (change.isUnmerged) return 'U'
  return change.from === undefined ? changeKind(change) : `R${String(change.similarity ?? 100).padStart(3, '0')}`
}
