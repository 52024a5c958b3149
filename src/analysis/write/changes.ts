// The differences from the previous report: figures for programs, sentences for users.

import type { TrendState } from '../codes.ts'
import type { PreviousReport } from '../gather/previous.ts'
import type { Judged } from '../judge/judge.ts'
import { TREND_STRENGTH } from '../judge/signals.ts'
import { fill, textsOf } from '../texts/book.ts'
import { fixed, signedPct } from '../texts/format.ts'

export type Changes = {
  previous: { query_id: string; created_at: string; date: string | null; price: number | null; score: number }
  price_change_pct: number | null
  score_change: number
  /** Parts of the score that gained or lost points. */
  parts: { key: string; before: number; after: number }[]
  trend: { before: string; after: string } | null
  advice: { before: string; after: string } | null
  /** Levels of the previous report that the price has crossed since. */
  crossed: string[]
  sentences: string[]
}

type ChangesInput = Judged & { compared: PreviousReport }

/** Null when there is no report to compare with. */
export function changesSince(judged: Judged): Changes | null {
  const { compared, decision, technical, price } = judged
  if (compared === null) return null
  const input = { ...judged, compared }
  const after = technical?.score.parts ?? []
  const changes = {
    previous: {
      query_id: compared.queryId,
      created_at: compared.createdAt,
      date: compared.date,
      price: compared.price,
      score: compared.score,
    },
    price_change_pct: changePct(compared.price, price),
    score_change: decision.score - compared.score,
    parts: after.flatMap(({ key, points }) => {
      const before = compared.parts[key]
      return before === undefined || before === points ? [] : [{ key, before, after: points }]
    }),
    trend: trendChange(input),
    advice: adviceChange(input),
    crossed: crossedLevels(compared, price),
  }
  return { ...changes, sentences: sentencesOf(changes, input) }
}

function changePct(before: number | null, after: number | null): number | null {
  if (before === null || after === null || before <= 0) return null
  return Math.round((after / before - 1) * 1e4) / 100 + 0
}

function trendChange({ compared: previous, technical, language }: ChangesInput): Changes['trend'] {
  if (technical === null || previous.trend === null || previous.trend === technical.trend) return null
  const { trendState } = textsOf(language).report
  const before = Object.hasOwn(TREND_STRENGTH, previous.trend) ? trendState[previous.trend as TrendState] : null
  return before === null ? null : { before, after: trendState[technical.trend] }
}

function adviceChange({ compared: previous, decision, language }: ChangesInput): Changes['advice'] {
  if (previous.advice === decision.advice) return null
  const { advice } = textsOf(language).report
  return { before: advice[previous.advice], after: advice[decision.advice] }
}

/** Below an entry or the stop, above the target. */
function crossedLevels({ levels, price: before }: PreviousReport, price: number | null): string[] {
  if (price === null || before === null) return []
  return Object.entries(levels).flatMap(([key, level]) => {
    const isAbove = key === 'take_profit'
    return (isAbove ? price > level : price < level) ? [key] : []
  })
}

function sentencesOf(
  changes: Omit<Changes, 'sentences'>,
  { compared: previous, decision, decimals, language }: ChangesInput,
): string[] {
  const { changes: phrases } = textsOf(language).analysis
  const { level, scorePart, listComma } = textsOf(language).report
  const parts = changes.parts.map(({ key, before, after }) => {
    const name = Object.hasOwn(scorePart, key) ? scorePart[key as keyof typeof scorePart] : key
    return `${name} ${before} → ${after}`
  })
  const names = changes.crossed.flatMap((key) => {
    const price = previous.levels[key]
    const name = Object.hasOwn(level, key) ? level[key as keyof typeof level] : key
    return price === undefined ? [] : [`${name} ${fixed(price, decimals)}`]
  })
  const when = previous.date ?? previous.createdAt.slice(0, 10)
  const { price_change_pct: pct } = changes
  return [
    pct === null ? '' : fill(pct === 0 ? phrases.samePrice : phrases.price, { date: when, change: signedPct(pct) }),
    fill(changes.score_change === 0 ? phrases.sameScore : phrases.score, {
      before: previous.score,
      after: decision.score,
    }),
    parts.length === 0 ? '' : fill(phrases.parts, { parts: parts.join(listComma) }),
    changes.trend === null ? '' : fill(phrases.trend, changes.trend),
    changes.advice === null ? '' : fill(phrases.advice, changes.advice),
    names.length === 0 ? '' : fill(phrases.crossed, { levels: names.join(listComma) }),
  ].filter((sentence) => sentence !== '')
}
