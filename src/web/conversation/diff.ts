// A unified diff as lines for a reader.

/** `was` and `is`: its number in the file before and after, null where it is none. */
export type DiffLine = {
  kind: 'added' | 'removed' | 'same' | 'place'
  text: string
  was: number | null
  is: number | null
}

/** Without the names of the files, which stand above. A text that is no diff is lines that are the same. */
export function diffLines(diff: string): DiffLine[] {
  const lines = diff.endsWith('\n') ? diff.slice(0, -1).split('\n') : diff.split('\n')
  let isInHunk = false
  const at: [number, number] = [0, 0]
  const next = (side: 0 | 1): number | null => (isInHunk ? at[side]++ : null)
  return lines.flatMap((line): DiffLine[] => {
    if (line.startsWith('@@')) {
      isInHunk = true
      const [, first, second] = /^@@ -(\d+)\S* \+(\d+)/.exec(line) ?? []
      at[0] = Number(first ?? 1)
      at[1] = Number(second ?? 1)
      return [{ kind: 'place', text: line, was: null, is: null }]
    }
    if (
      !isInHunk &&
      /^(?:---|\+\+\+|diff |index |new file|deleted file|old mode|new mode|similarity|rename )/.test(line)
    )
      return []
    if (line.startsWith('+')) return [{ kind: 'added', text: line.slice(1), was: null, is: next(1) }]
    if (line.startsWith('-')) return [{ kind: 'removed', text: line.slice(1), was: next(0), is: null }]
    // git's remark that a file has no end of line.
    if (line.startsWith('\\')) return [{ kind: 'place', text: line.slice(2), was: null, is: null }]
    return [{ kind: 'same', text: line.replace(/^ /, ''), was: next(0), is: next(1) }]
  })
}

/** What was beside what is; lines that were replaced stand beside those that replaced them. */
export function sideBySide(lines: DiffLine[]): [DiffLine | null, DiffLine | null][] {
  const rows: [DiffLine | null, DiffLine | null][] = []
  for (let at = 0; at < lines.length; ) {
    const removed = runOf(lines, at, 'removed')
    const added = runOf(lines, at + removed.length, 'added')
    if (removed.length + added.length === 0) {
      const line = lines[at] ?? null
      rows.push([line, line])
      at += 1
      continue
    }
    for (let i = 0; i < Math.max(removed.length, added.length); i++) rows.push([removed[i] ?? null, added[i] ?? null])
    at += removed.length + added.length
  }
  return rows
}

function runOf(lines: DiffLine[], from: number, kind: DiffLine['kind']): DiffLine[] {
  let end = from
  while (lines[end]?.kind === kind) end += 1
  return lines.slice(from, end)
}
