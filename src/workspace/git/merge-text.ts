// Joins two sets of changes to one text, and marks where they contradict each other.

import { lineEdits, linesOf } from '../diff.ts'

export interface MergeLabels {
  ours: string
  theirs: string
}

export interface MergedText {
  text: string
  conflicts: number
}

/** A stretch of the base, and what one side has in its place. */
interface Hunk {
  start: number
  end: number
  lines: string[]
}

interface Region {
  start: number
  end: number
  ours: Hunk[]
  theirs: Hunk[]
}

/** Lines are compared with their ends, so a missing end of the last line is a change like any other. */
export function mergeText(base: string, [ours, theirs]: readonly [string, string], labels: MergeLabels): MergedText {
  const [baseLines, ourLines, theirLines] = [linesOf(base), linesOf(ours), linesOf(theirs)]
  const regions = regionsOf(hunksOf(baseLines, ourLines), hunksOf(baseLines, theirLines))
  const merged: string[] = []
  let at = 0
  let conflicts = 0
  for (const region of regions) {
    merged.push(...baseLines.slice(at, region.start))
    at = region.end
    const [mine, yours] = [sideOf(baseLines, region, region.ours), sideOf(baseLines, region, region.theirs)]
    if (region.theirs.length === 0 || sameLines(mine, yours)) merged.push(...mine)
    else if (region.ours.length === 0) merged.push(...yours)
    else conflicts += addConflict(merged, [mine, yours], labels)
  }
  merged.push(...baseLines.slice(at))
  return { text: merged.join(''), conflicts }
}

function hunksOf(base: string[], side: string[]): Hunk[] {
  return lineEdits(base, side).map(({ start, end, from, to }) => ({ start, end, lines: side.slice(from, to) }))
}

/** Hunks of both sides that touch belong together. */
function regionsOf(ours: Hunk[], theirs: Hunk[]): Region[] {
  const all = [...ours.map((hunk) => ({ hunk, isOurs: true })), ...theirs.map((hunk) => ({ hunk, isOurs: false }))]
  all.sort((a, b) => a.hunk.start - b.hunk.start || a.hunk.end - b.hunk.end)
  const regions: Region[] = []
  for (const { hunk, isOurs } of all) {
    let region = regions.at(-1)
    if (!region || hunk.start > region.end) {
      region = { start: hunk.start, end: hunk.end, ours: [], theirs: [] }
      regions.push(region)
    }
    region.end = Math.max(region.end, hunk.end)
    region[isOurs ? 'ours' : 'theirs'].push(hunk)
  }
  return regions
}

/** What one side has for the whole region: its own hunks, and the base between them. */
function sideOf(base: string[], region: Region, hunks: Hunk[]): string[] {
  const lines: string[] = []
  let at = region.start
  for (const hunk of hunks) {
    lines.push(...base.slice(at, hunk.start), ...hunk.lines)
    at = hunk.end
  }
  return [...lines, ...base.slice(at, region.end)]
}

/** What both sides begin and end with is not part of the conflict. Answers with the number of conflicts. */
function addConflict(merged: string[], [ours, theirs]: readonly [string[], string[]], labels: MergeLabels): number {
  let head = 0
  while (head < ours.length && head < theirs.length && ours[head] === theirs[head]) head++
  let tail = 0
  while (
    tail < ours.length - head &&
    tail < theirs.length - head &&
    ours[ours.length - 1 - tail] === theirs[theirs.length - 1 - tail]
  ) {
    tail++
  }
  merged.push(...ours.slice(0, head))
  merged.push(`<<<<<<< ${labels.ours}\n`, ...ended(ours.slice(head, ours.length - tail)))
  merged.push('=======\n', ...ended(theirs.slice(head, theirs.length - tail)), `>>>>>>> ${labels.theirs}\n`)
  merged.push(...ours.slice(ours.length - tail))
  return 1
}

function ended(lines: string[]): string[] {
  return lines.map((line) => (line.endsWith('\n') ? line : `${line}\n`))
}

function sameLines(a: string[], b: string[]): boolean {
  return a.length === b.length && a.every((line, i) => line === b[i])
}
