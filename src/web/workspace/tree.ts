// The tree of a workspace as rows: folders are read when they are opened, and only open folders have rows for their
// contents.

export type Row = { path: string; name: string; depth: number; isFolder: boolean; isOpen: boolean }
/** By path, without a slash at the end; '' is the workspace. */
export type Folders = ReadonlyMap<string, readonly string[]>

/** `file-2` is sorted before `file-10`. */
const BY_NAME = new Intl.Collator('en', { numeric: true })
const isFolder = (entry: string): boolean => entry.endsWith('/')

/** Folders first. */
export const inOrder = (entries: readonly string[]): string[] =>
  entries.toSorted((a, b) => Number(isFolder(b)) - Number(isFolder(a)) || BY_NAME.compare(a, b))

/** The names in a listing are paths; a folder's ends with a slash. */
export function rowsOf(folders: Folders, open: ReadonlySet<string>): Row[] {
  const rows: Row[] = []
  const add = (folder: string, depth: number) => {
    for (const entry of folders.get(folder) ?? []) {
      const isFolder = entry.endsWith('/')
      const path = isFolder ? entry.slice(0, -1) : entry
      const isOpen = isFolder && open.has(path)
      rows.push({ path, name: path.slice(path.lastIndexOf('/') + 1), depth, isFolder, isOpen })
      if (isOpen) add(path, depth + 1)
    }
  }
  add('', 0)
  return rows
}

/** The rendered rows: the visible ones and some above and below. */
export function rowsInSight(count: number, { top, height, row }: { top: number; height: number; row: number }) {
  const from = Math.max(0, Math.floor(top / row) - 8)
  return { from, to: Math.min(count, Math.ceil((top + height) / row) + 8) }
}

/** The row after a key press; null for other keys. */
export function rowAfterKey(rows: readonly Row[], at: number, key: string): number | null {
  const row = rows[at]
  if (key === 'ArrowDown') return Math.min(rows.length - 1, at + 1)
  if (key === 'ArrowUp') return Math.max(0, at - 1)
  if (key === 'Home') return 0
  if (key === 'End') return rows.length - 1
  if (key === 'ArrowLeft' && row !== undefined && !row.isOpen) {
    const parent = rows.findLastIndex(({ depth }, index) => index < at && depth < row.depth)
    return parent === -1 ? at : parent
  }
  return key === 'ArrowRight' && row?.isOpen ? Math.min(rows.length - 1, at + 1) : null
}
