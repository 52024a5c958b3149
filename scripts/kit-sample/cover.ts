// Chooses entries that together cover the same places as all entries, in little time (greedy set cover).

/** `favour` reduces the apparent cost of a candidate. */
export type Candidate = { cost: number; favour: number; reached: Uint32Array }

/**
 * Numbers of the candidates in greedy order: always the one with the most new places per time, until the
 * budget is used up or nothing is new. Candidates that later ones made redundant are removed.
 */
export function cover(candidates: readonly Candidate[], budget = Number.POSITIVE_INFINITY): number[] {
  const size = 1 + candidates.reduce((most, { reached }) => reached.reduce((a, b) => Math.max(a, b), most), 0)
  const times = new Uint32Array(size)
  const gain = ({ cost, favour, reached }: Candidate) =>
    reached.reduce((sum, place) => sum + (times[place] === 0 ? 1 : 0), 0) / (cost * favour)
  // The gain of a candidate can only decrease, so a candidate that is still first after an update is the best.
  const waiting = candidates.map((candidate, at) => ({ at, candidate, worth: gain(candidate) }))
  waiting.sort((a, b) => a.worth - b.worth || b.at - a.at)
  const chosen: number[] = []
  let spent = 0
  for (let next = waiting.pop(); next !== undefined && next.worth > 0; next = waiting.pop()) {
    next.worth = gain(next.candidate)
    if (next.worth < (waiting.at(-1)?.worth ?? 0)) {
      waiting.splice(placeOf(waiting, next.worth), 0, next)
      continue
    }
    if (next.worth === 0 || spent + next.candidate.cost > budget) continue
    spent += next.candidate.cost
    chosen.push(next.at)
    for (const place of next.candidate.reached) times[place] = (times[place] ?? 0) + 1
  }
  return withoutSuperfluous(chosen, candidates, times)
}

/** Where those begin that are worth as much. */
function placeOf(waiting: readonly { worth: number }[], worth: number): number {
  let [from, to] = [0, waiting.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((waiting[middle]?.worth ?? 0) < worth) from = middle + 1
    else to = middle
  }
  return from
}

function withoutSuperfluous(chosen: readonly number[], candidates: readonly Candidate[], times: Uint32Array): number[] {
  const byCost = [...chosen].sort((a, b) => (candidates[b]?.cost ?? 0) - (candidates[a]?.cost ?? 0))
  const left = new Set(chosen)
  for (const at of byCost) {
    const reached = candidates[at]?.reached ?? new Uint32Array(0)
    if (!reached.every((place) => (times[place] ?? 0) > 1)) continue
    left.delete(at)
    for (const place of reached) times[place] = (times[place] ?? 0) - 1
  }
  return [...left]
}
