// What is different from the report before: the figures for machines, the sentences for people.

import { fixed, signedPct } from '../reports/format.ts'
import { fill, labelsOf } from '../reports/labels.ts'
import type { ReportLanguage } from '../reports/report.ts'
import type { Decision } from './decision.ts'
import { phrasesOf } from './phrases.ts'
import type { PreviousReport } from './previous.ts'
import type { Technical } from './signals.ts'
import { TREND_STRENGTH, type TrendState } from './trend.ts'

export type Changes = {
  previous: { query_id: string; created_at: string; date: string | null; price: number | null; score: number }
  price_change_pct: number | null
  score_change: number
  /** Parts of the score that gained or lost points. */
  parts: { key: string; before: number; after: number }[]
  trend: { before: string; after: string } | null
  advice: { before: string; after: string } | null
  /** Levels of the report before that the price has passed since. */
  crossed: string[]
  sentences: string[]
}

export type ChangesInput = {
  previous: PreviousReport
  decision: Decision
  technical: Technical | null
  price: number | null
  decimals: number
  language: ReportLanguage
}

export function changesSince(input: ChangesInput): Changes {
  const { previous, decision, technical, price } = input
  const after = technical?.score.parts ?? []
  const changes = {
    previous: {
      query_id: previous.queryId,
      created_at: previous.createdAt,
      date: previous.date,
      price: previous.price,
      score: previous.score,
    },
    price_change_pct: changePct(previous.price, price),
    score_change: decision.score - previous.score,
    parts: after.flatMap(({ key, points }) => {
      const before = previous.parts[key]
      return before === undefined || before === points ? [] : [{ key, before, after: points }]
    }),
    trend: trendChange(input),
    advice: adviceChange(input),
    crossed: crossedLevels(previous, price),
  }
  return { ...changes, sentences: sentencesOf(changes, input) }
}

function changePct(before: number | null, after: number | null): number | null {
  if (before === null || after === null || before <= 0) return null
  return Math.round((after / before - 1) * 1e4) / 100 + 0
}

function trendChange({ previous, technical, language }: ChangesInput): Changes['trend'] {
  if (technical === null || previous.trend === null || previous.trend === technical.trend) return null
  const { trendState } = labelsOf(language)
  const before = Object.hasOwn(TREND_STRENGTH, previous.trend) ? trendState[previous.trend as TrendState] : null
  return before === null ? null : { before, after: trendState[technical.trend] }
}

function adviceChange({ previous, decision, language }: ChangesInput): Changes['advice'] {
  if (previous.advice === decision.advice) return null
  const { advice } = labelsOf(language)
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

type Told = Omit<Changes, 'sentences'>

function sentencesOf(changes: Told, { previous, decision, decimals, language }: ChangesInput): string[] {
  const { changes: phrases } = phrasesOf(language)
  const { level, scorePart, listComma } = labelsOf(language)
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
