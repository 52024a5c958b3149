// A unified diff as lines for a reader.

export type DiffLine = { kind: 'added' | 'removed' | 'same' | 'place'; text: string }

/** Without the names of the files, which stand above. A text that is no diff is lines that are the same. */
export function diffLines(diff: string): DiffLine[] {
  const lines = diff.endsWith('\n') ? diff.slice(0, -1).split('\n') : diff.split('\n')
  let isInHunk = false
  return lines.flatMap((line): DiffLine[] => {
    if (line.startsWith('@@')) {
      isInHunk = true
      return [{ kind: 'place', text: line }]
    }
    if (
      !isInHunk &&
      /^(?:---|\+\+\+|diff |index |new file|deleted file|old mode|new mode|similarity|rename )/.test(line)
    )
      return []
    if (line.startsWith('+')) return [{ kind: 'added', text: line.slice(1) }]
    if (line.startsWith('-')) return [{ kind: 'removed', text: line.slice(1) }]
    // git's remark that a file has no end of line.
    if (line.startsWith('\\')) return [{ kind: 'place', text: line.slice(2) }]
    return [{ kind: 'same', text: line.replace(/^ /, '') }]
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
  const end = lines.findIndex((line, at) => at >= from && line.kind !== kind)
  return lines.slice(from, end === -1 ? lines.length : Math.max(from, end))
}
