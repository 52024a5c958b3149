// What a figure is about: where a text names a fact.

import type { FactName } from './known.ts'
import { TABLE } from './name-table.ts'

export type Mention = {
  readonly kind: 'mention'
  readonly facts: readonly FactName[]
  readonly at: number
  readonly end: number
}

const RULES = TABLE.map(([facts, pattern]) => ({
  facts: typeof facts === 'string' ? [facts] : facts,
  pattern: new RegExp(pattern, 'gi'),
}))

/** Every place of a text that names a fact, in order. */
export function mentionsIn(text: string): Mention[] {
  const found: Mention[] = []
  for (const { facts, pattern } of RULES) {
    for (const match of text.matchAll(pattern)) {
      const [at, end] = [match.index, match.index + match[0].length]
      if (end > at && !found.some((other) => at < other.end && other.at < end))
        found.push({ kind: 'mention', facts, at, end })
    }
  }
  found.sort((a, b) => a.at - b.at)
  // 주당순이익(EPS): a second name of the same fact in brackets is no second fact.
  return found.filter(
    ({ at, facts }, i) =>
      i === 0 || `${found[i - 1]?.facts}` !== `${facts}` || !/^\s?[(（]$/.test(text.slice(found[i - 1]?.end, at)),
  )
}
