// The places of the kits that no entry of any corpus covers, by file, sorted by their number.

import type { FilePlaces } from './places.ts'
import { type Recorded, reachedBy } from './reading.ts'

export function printGaps(places: readonly FilePlaces[], recorded: readonly Recorded[]): void {
  const reached = reachedBy(recorded)
  const files = places.map(({ path, first, lines }) => {
    const missed = lines.filter((_, at) => !reached.has(first + at))
    return { path, all: lines.length, missed }
  })
  for (const { path, all, missed } of files.toSorted((a, b) => b.missed.length - a.missed.length)) {
    if (missed.length > 0) console.log(`${missed.length} of ${all}  ${path}: ${[...new Set(missed)].join(' ')}`)
  }
}
