// Where a run of changed lines is shown when lines like its own stand beside it: as GNU's `diff` does, joined with its neighbours
// and across from a change of the other text if there is one, or else as far down as it can be.

/** Lines `start` to `end` of the old text became lines `from` to `to` of the new one; ends are not part of it. */
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

/** `other` is what has changed in the other text, at whose place `j` stands across from `i`. */
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

/** Moves the run up and then down, with each run that it meets, until it meets none. Answers with the last end that is across from a change. */
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
