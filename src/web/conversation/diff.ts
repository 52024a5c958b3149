// Converts a unified diff to lines for display.

/** `was` and `is`: its line number in the old and new file, null if it is in only one. */
export type DiffLine = {
  kind: 'added' | 'removed' | 'same' | 'place'
  text: string
  was: number | null
  is: number | null
}

/** Without the file names, which are shown above. Text that is not a diff becomes unchanged lines. */
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
    // git's remark that a file has no newline at its end.
    if (line.startsWith('\\')) return [{ kind: 'place', text: line.slice(2), was: null, is: null }]
    return [{ kind: 'same', text: line.replace(/^ /, ''), was: next(0), is: next(1) }]
  })
}

/** Old and new lines side by side; replaced lines are next to their replacements. */
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
