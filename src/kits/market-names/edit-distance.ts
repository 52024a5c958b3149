/**
 * The number of errors between two texts: a character added, missing or different, or two neighbors exchanged (optimal
 * string alignment). Above `most` the result is always `most + 1`.
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
    // A later row can only have a smaller value by an exchange, which uses the row before the previous one.
    if (least > most && Math.min(...above) > most) return most + 1
    twoAbove = above
    above = row
  }
  return Math.min(above[b.length] ?? 0, most + 1)
}
