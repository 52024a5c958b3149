// The editor's undo: the fragments that its last changes replaced. A change is undone only if the file still has exactly the
// text that the change left, so later changes by others are never lost.

import { createHash } from 'node:crypto'
import { z } from 'zod'
import { applied, type Change } from './edit-text.ts'
import type { ToolContext } from './tool.ts'

const UNDO = 'editor.undo'
/** The list is one value in a row, so its length is limited. */
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

/** `text` is null for a file that was not there before the change. */
export type Undone = { ok: true; text: string | null; change: Change } | { ok: false; problem: string }

/** The text before the last change of that file, and the change that leads back to it. */
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
