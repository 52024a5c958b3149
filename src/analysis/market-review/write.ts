// The text of a review: code writes all of it from the figures. A model's text is in a separate box.

import type { LightState, ReviewPart, ReviewTone } from '../codes.ts'
import { textsOf } from '../texts/book.ts'
import { signedPct } from '../texts/format.ts'
import type { IndexFact, RegionFacts } from './facts.ts'
import { averageChange, marketLight } from './judge.ts'

/** The prose of each part, as plain text, one paragraph per line. */
export type Narrative = { texts: Record<ReviewPart, string> }

const WIDE_SWING_PCT = 3

export function codeNarrative(facts: RegionFacts): Narrative {
  const words = textsOf(facts.language).review
  const state = stateOf(facts)
  const [main] = facts.indices
  const stop = words.colon === '：' ? '。' : '. '
  const opening = [words.tone[toneOf(main?.changePct ?? 0)], main && words.reason.main(main.name, pct(main))]
  const breadth = facts.breadth && [
    words.reason.breadth(facts.breadth.up, facts.breadth.down),
    words.reason.limits(facts.breadth.limitUp, facts.breadth.limitDown),
  ]
  const sentences = (parts: (string | null | undefined)[]) => `${parts.filter(Boolean).join(stop)}${stop.trim()}`
  return {
    texts: {
      overview: lines(sentences(opening), breadth && sentences(breadth), facts.isPartial ? words.partial : null),
      indices: lines(spreadOf(facts), placeOf(facts)),
      sectors: sectorsOf(facts),
      funds: facts.flows.length === 0 ? words.noFunds : words.fundsLine(inflows(facts)),
      news: facts.news.length === 0 ? words.noNews : '',
      plan: words.plan[state],
      risks: lines(words.risk[state], swingOf(facts)),
    },
  }
}

const lines = (...parts: (string | null)[]): string => parts.filter(Boolean).join('\n')
const pct = ({ changePct }: Pick<IndexFact, 'changePct'>): string => signedPct(changePct)

function toneOf(changePct: number): ReviewTone {
  if (changePct > 1) return 'strong'
  if (changePct > 0) return 'firm'
  return changePct > -1 ? 'soft' : 'weak'
}

/** The light's state; for a market without one, the state that its indices alone show. */
export function stateOf(facts: RegionFacts): LightState {
  const light = marketLight(facts)
  if (light !== null) return light.status
  const average = averageChange(facts) ?? 0
  return average >= 0.8 ? 'green' : average >= -0.8 ? 'yellow' : 'red'
}

function spreadOf({ indices, language }: RegionFacts): string | null {
  const sorted = indices.filter(({ key }) => key !== 'VIX').sort((a, b) => b.changePct - a.changePct)
  const [best, worst] = [sorted[0], sorted.at(-1)]
  if (best === undefined || worst === undefined || best === worst) return null
  return textsOf(language).review.indexSpread(`${best.name} ${pct(best)}`, `${worst.name} ${pct(worst)}`)
}

function placeOf({ indices: [main], language }: RegionFacts): string | null {
  const closes = main?.closes ?? []
  const last = closes.at(-1)
  if (main === undefined || last === undefined || closes.length < 20) return null
  const [low, high] = [Math.min(...closes), Math.max(...closes)]
  if (high === low) return null
  return textsOf(language).review.place(main.name, Math.round(((last - low) / (high - low)) * 100), closes.length)
}

function sectorsOf({ boards, language }: RegionFacts): string {
  const words = textsOf(language).review
  if (boards === null) return words.noSectors
  const named = (rows: readonly { name: string; changePct: number | null }[]) =>
    rows
      .slice(0, 3)
      .map(({ name, changePct }) => `${name}${changePct === null ? '' : ` ${signedPct(changePct)}`}`)
      .join(words.comma)
  const { industries } = boards
  return `${words.board.top}${words.colon}${named(industries.top)}\n${words.board.bottom}${words.colon}${named(industries.bottom)}`
}

function inflows({ flows, language }: RegionFacts): string {
  return flows
    .slice(0, 3)
    .map(({ name }) => name)
    .join(textsOf(language).review.comma)
}

function swingOf({ indices, language }: RegionFacts): string | null {
  const wild = indices.find(({ amplitude, key }) => key !== 'VIX' && (amplitude ?? 0) >= WIDE_SWING_PCT)
  return wild === undefined
    ? null
    : textsOf(language).review.volatile(wild.name, `${(wild.amplitude ?? 0).toFixed(2)}%`)
}
