// Where a run of changed lines is shown if equal lines are next to it: as in GNU's `diff`, joined with its neighbours
// and aligned with a change of the other text if there is one, otherwise as far down as possible.

/** Lines `start` to `end` of the old text became lines `from` to `to` of the new one; the ends are exclusive. */
export interface LineEdit {
  start: number
  end: number
  from: number
  to: number
}

type Lines = readonly string[]

export function shiftedEdits(edits: readonly LineEdit[], before: Lines, after: Lines): LineEdit[] {
  const [removed, added] = [before, after].map(({ length }) => new Array<boolean>(length).fill(false))
  if (!removed || !added) return []
  for (const { start, end, from, to } of edits) {
    removed.fill(true, start, end)
    added.fill(true, from, to)
  }
  shift(before, removed, added)
  shift(after, added, removed)
  return editsIn(removed, added)
}

/** `other` contains the changes of the other text; index `j` there corresponds to `i`. */
function shift(lines: Lines, changed: boolean[], other: readonly boolean[]): void {
  const last = lines.length
  let [i, j] = [0, 0]
  while (true) {
    for (; i < last && !changed[i]; i++) {
      while (other[j]) j++
      j++
    }
    if (i === last) return
    const run = { start: i, end: i, j }
    while (changed[run.end]) run.end++
    while (other[run.j]) run.j++
    const across = joinRuns(lines, { changed, other, run })
    while (across < run.end) moveBack(changed, other, run)
    i = run.end
    j = run.j
  }
}

type Run = { start: number; end: number; j: number }
type Side = { changed: boolean[]; other: readonly boolean[]; run: Run }

/**
 * Moves the run up and then down, joining it with each run it meets, until it meets none. Returns the last end that is
 * aligned with a change.
 */
function joinRuns(lines: Lines, { changed, other, run }: Side): number {
  const last = lines.length
  let across = last
  let length = -1
  while (length !== run.end - run.start) {
    length = run.end - run.start
    while (run.start > 0 && lines[run.start - 1] === lines[run.end - 1]) {
      moveBack(changed, other, run)
      while (changed[run.start - 1]) run.start--
    }
    across = other[run.j - 1] ? run.end : last
    while (run.end !== last && lines[run.start] === lines[run.end]) {
      changed[run.start++] = false
      changed[run.end++] = true
      while (changed[run.end]) run.end++
      run.j++
      for (; other[run.j]; run.j++) across = run.end
    }
  }
  return across
}

function moveBack(changed: boolean[], other: readonly boolean[], run: Run): void {
  changed[--run.start] = true
  changed[--run.end] = false
  run.j--
  while (other[run.j]) run.j--
}

function editsIn(removed: readonly boolean[], added: readonly boolean[]): LineEdit[] {
  const edits: LineEdit[] = []
  for (let [i, j] = [0, 0]; i < removed.length || j < added.length; i++, j++) {
    const [start, from] = [i, j]
    while (removed[i]) i++
    while (added[j]) j++
    if (i > start || j > from) edits.push({ start, end: i, from, to: j })
  }
  return edits
}
