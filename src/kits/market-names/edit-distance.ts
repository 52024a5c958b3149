/**
 * How many errors make one text of the other: a character more, less, another one, or two neighbours that changed places
 * (optimal string alignment). Above `most` the answer is `most + 1`, whatever it would be.
 */
export function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1
  let twoAbove: number[] = []
  let above = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    let least = i
    for (let j = 1; j <= b.length; j++) {
      const isSame = a.charCodeAt(i - 1) === b.charCodeAt(j - 1)
      let cost = Math.min((above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (above[j - 1] ?? 0) + (isSame ? 0 : 1))
      const isSwapped =
        i > 1 && j > 1 && a.charCodeAt(i - 1) === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === b.charCodeAt(j - 1)
      if (isSwapped) cost = Math.min(cost, (twoAbove[j - 2] ?? 0) + 1)
      row.push(cost)
      if (cost < least) least = cost
    }
    // A later row can only be shorter by a swap, which looks back two rows.
    if (least > most && Math.min(...above) > most) return most + 1
    twoAbove = above
    above = row
  }
  return Math.min(above[b.length] ?? 0, most + 1)
}
