// Text changes of the editor: a fragment at a position is replaced by another. A model writes plain line ends; a file
// with other line ends keeps its own.

import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { ToolContext } from './tool.ts'

export type Change = {
  /** The position in the old text, and the fragment that was there. */
  at: number
  removed: string
  inserted: string
}
export type Changed = { ok: true; change: Change } | { ok: false; problem: string }

const MAX_LINES_NAMED = 10

export function applied(text: string, { at, removed, inserted }: Change): string {
  return text.slice(0, at) + inserted + text.slice(at + removed.length)
}

/** Replaces the old fragment, which must occur exactly once. */
export function replaceOnce(text: string, old: string, now: string): Changed {
  const places = placesOf(text, old)
  const [at] = places
  if (at === undefined) return replaceWithEnds(text, old, now)
  if (places.length > 1) {
    const lines = places.slice(0, MAX_LINES_NAMED).map((place) => lineAt(text, place))
    const more = places.length > MAX_LINES_NAMED ? ' and more' : ''
    return refuse(
      `old_str occurs ${places.length} times, in lines ${lines.join(', ')}${more}. Add lines around it until it occurs once.`,
    )
  }
  return { ok: true, change: { at, removed: old, inserted: withEnds(now, endOf(text)) } }
}

/** The same with the line ends of the file. */
function replaceWithEnds(text: string, old: string, now: string): Changed {
  const end = endOf(text)
  const inFile = withEnds(old, end)
  if (inFile !== old && text.includes(inFile)) return replaceOnce(text, inFile, withEnds(now, end))
  const near = nearestLine(text, old)
  const hint = near === null ? '' : ` Apart from blanks, line ${near} is alike: copy it exactly, with its indentation.`
  return refuse(`old_str does not occur in the file. Nothing was changed.${hint}`)
}

/** Inserts after the line with this number; 0 is the beginning of the file. */
export function insertAfter(text: string, line: number, inserted: string): Changed {
  const starts = lineStarts(text)
  const count = starts.length - 1
  if (line < 0 || line > count)
    return refuse(`insert_line has to be from 0 to ${count}, the number of lines in the file.`)
  const end = endOf(text)
  const lines = withEnds(inserted, end)
  const at = line === 0 && text.startsWith('\uFEFF') ? 1 : (starts[line] ?? text.length)
  const afterOpenLine = at === text.length && text !== '' && !text.endsWith('\n')
  if (afterOpenLine) return { ok: true, change: { at, removed: '', inserted: end + lines } }
  const closed = lines.endsWith('\n') ? lines : lines + end
  return { ok: true, change: { at, removed: '', inserted: closed } }
}

export function lineAt(text: string, at: number): number {
  let line = 1
  for (let i = text.indexOf('\n'); i >= 0 && i < at; i = text.indexOf('\n', i + 1)) line++
  return line
}

/** The position where each line begins, and where a line after the last would begin. */
function lineStarts(text: string): number[] {
  const starts = [0]
  for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) starts.push(i + 1)
  if (starts.at(-1) !== text.length) starts.push(text.length)
  return starts
}

function placesOf(text: string, fragment: string): number[] {
  const places: number[] = []
  // Overlapping occurrences count: replacing either gives another text.
  for (let at = text.indexOf(fragment); at >= 0; at = text.indexOf(fragment, at + 1)) places.push(at)
  return places
}

/** The line end that most lines of the text have. */
function endOf(text: string): '\r\n' | '\n' {
  const all = text.split('\n').length - 1
  const withReturn = text.split('\r\n').length - 1
  return withReturn * 2 > all ? '\r\n' : '\n'
}

function withEnds(text: string, end: '\r\n' | '\n'): string {
  return end === '\n' ? text : text.replace(/\r?\n/g, end)
}

/** The line where the fragment would be if blanks were ignored. */
function nearestLine(text: string, fragment: string): number | null {
  const bare = (line: string) => line.replace(/\s+/g, '')
  const wanted = fragment
    .split('\n')
    .map(bare)
    .filter((line) => line !== '')
  const [first] = wanted
  if (first === undefined) return null
  const lines = text.split('\n').map(bare)
  const at = lines.findIndex((line, i) => {
    if (line !== first) return false
    const rest = lines.slice(i).filter((other) => other !== '')
    return wanted.every((other, k) => rest[k] === other)
  })
  return at < 0 ? null : at + 1
}

function refuse(problem: string): Changed {
  return { ok: false, problem }
}

// The editor's undo: the fragments that its last changes replaced. A change is undone only if the file still has
// exactly the text that the change left, so later changes by others are never lost.

const UNDO = 'editor.undo'
/** The list is stored as one value in a row, so its length is limited. */
const MAX_ENTRIES = 50
const MAX_CHARS = 400_000

const Entry = z.object({
  path: z.string(),
  /** Null for a file that the change created. */
  change: z.object({ at: z.number(), removed: z.string(), inserted: z.number() }).nullable(),
  /** A hash of the text that the change left. */
  digest: z.string(),
})
type Entry = z.infer<typeof Entry>

type Store = Pick<ToolContext, 'recall' | 'remember'>

export function rememberChange(
  store: Store,
  path: string,
  { change, after }: { change: Change | null; after: string },
): void {
  const kept = change && { at: change.at, removed: change.removed, inserted: change.inserted.length }
  const entries = [...entriesOf(store), { path, change: kept, digest: digestOf(after) }].slice(-MAX_ENTRIES)
  while (entries.length > 0 && sizeOf(entries) > MAX_CHARS) entries.shift()
  store.remember(UNDO, entries)
}

/** `text` is null for a file that did not exist before the change. */
export type Undone = { ok: true; text: string | null; change: Change } | { ok: false; problem: string }

/** The text before the file's last change, and the change that restores it. */
export function takeBack(store: Store, path: string, text: string | null): Undone {
  const entry = entriesOf(store).findLast((one) => one.path === path)
  if (entry === undefined)
    return { ok: false, problem: `There is no change of ${path} by this tool that could be taken back.` }
  if (text === null || digestOf(text) !== entry.digest) {
    return {
      ok: false,
      problem: `${path} has been changed since by other means, so the last change cannot be taken back.`,
    }
  }
  if (entry.change === null) return { ok: true, text: null, change: { at: 0, removed: text, inserted: '' } }
  const { at, removed, inserted } = entry.change
  const change = { at, removed: text.slice(at, at + inserted), inserted: removed }
  return { ok: true, text: applied(text, change), change }
}

export function forgetLast(store: Store, path: string): void {
  const entries = entriesOf(store)
  const last = entries.findLastIndex((one) => one.path === path)
  store.remember(
    UNDO,
    entries.filter((_, i) => i !== last),
  )
}

function entriesOf(store: Store): Entry[] {
  return z.array(Entry).safeParse(store.recall(UNDO)).data ?? []
}

function sizeOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, { path, change }) => sum + path.length + (change?.removed.length ?? 0) + 100, 0)
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}
