// The model's part of a report: requested once, and again when its answer is malformed; checked sentence by sentence.
// The result is in a box of its own; every other field of the report is made by code.

import type { Ctx } from '../ctx.ts'
import type { ModelRun } from '../diagnostics.ts'
import type { Inputs } from '../gather/gather.ts'
import type { Judged } from '../judge/judge.ts'
import { PERCENT_INDICATORS } from '../judge/signals.ts'
import type { Action } from '../schemas.ts'
import { adjustmentText, checksNotice } from '../texts/findings.ts'
import { figure, keptDecimals, round } from '../texts/format.ts'
import {
  answerSchema,
  askModel,
  type ModelAnswer,
  type Narration,
  parseAnswer,
  systemPrompt,
  userPrompt,
} from './ask-model.ts'
import type { Changes } from './changes.ts'
import { keyedFigures } from './claims/keys.ts'
import { knownOf } from './claims/known.ts'
import { type ModelBox, modelBox } from './model-box.ts'
import type { Narrative } from './narrative.ts'
import { withoutRecap } from './sentences.ts'
import { levelRows } from './strategy.ts'

export type ModelWords = {
  /** Null: there is no usable answer. */
  box: ModelBox | null
  model: string | null
  action: Action | null
  runs: ModelRun[]
  /** The number of sentences that were removed because they mention a close that has not happened yet. */
  recaps: number
}

export async function modelNarrative(facts: WordedByCode, narration: Narration, ctx: Ctx): Promise<ModelWords> {
  const pack = evidencePack(facts)
  const news = newsLines(facts)
  const strategies = facts.skillFindings.map(({ name, description }) => `${name}: ${description}`)
  const known = knownOf(facts)
  const figures = keyedFigures(known, ctx.language)
  const prompt = userPrompt({ pack, figures, news, strategies })
  const system = systemPrompt(ctx.language)
  const { answered, runs } = await askModel(
    { system, prompt, schema: answerSchema(), parse: parseAnswer },
    narration,
    ctx,
  )
  if (answered === null) return { box: null, model: null, action: null, runs, recaps: 0 }
  const { action, ...written } = answered.answer
  const { texts, recaps } = openTexts(written, facts)
  const author = { model: answered.model, action, advised: facts.decision.action, language: facts.language }
  return { box: modelBox(texts, known, author), model: answered.model, action, runs, recaps }
}

/** Every text of the answer, the conclusion first; while the session runs, without sentences about a close. */
function openTexts(written: Omit<ModelAnswer, 'action'>, { phase }: Judged): { texts: string[]; recaps: number } {
  const told = Object.values(written).flatMap((value) => value ?? [])
  const open = told.map((text) => withoutRecap(text, phase))
  return {
    texts: open.map(({ text }) => text).filter((text) => text !== ''),
    recaps: open.reduce((sum, { struck }) => sum + struck, 0),
  }
}

// The data for a model, and the figures that it may therefore quote. Both come from the same object, so that no given
// figure can be rejected, and no other figure accepted.

/** The judgement with the texts written by code. */
type WordedByCode = Judged & { narrative: Narrative; changes: Changes | null }

type Json = Record<string, unknown>

/**
 * The facts of an analysis as plain data, with figures not finer than in reports. Keys that end in `_pct` contain
 * percentages.
 */
const evidencePack = (facts: WordedByCode): Json =>
  JSON.parse(JSON.stringify(packOf(facts)), (_key, value: unknown) => (typeof value === 'number' ? tidy(value) : value))

/** Four decimals, and four digits for values below one: 1811.384000000001 is 1811.384. */
const tidy = (value: number) =>
  Number.isInteger(value) ? value : Number(Math.abs(value) < 1 ? value.toPrecision(4) : value.toFixed(4))

function packOf(facts: WordedByCode): Json {
  const { instrument, decision, technical, price, changePct, currency, narrative } = facts
  return {
    subject: { code: instrument.key, name: facts.displayName, market: instrument.market, kind: instrument.kind },
    session: {
      date: facts.today?.date ?? null,
      phase: facts.phase.phase,
      bar_is_incomplete: facts.partial,
      data_notice: facts.provenance?.label ?? null,
      bars_adjusted: adjustmentText(facts.consistency.adjustment, facts.language),
      checks: checksNotice(facts.consistency, facts.language),
    },
    price: { last: price, change_pct: changePct, currency, day: facts.today, day_before: facts.yesterday },
    decision: {
      score: decision.score,
      advice: decision.advice,
      confidence: decision.confidence,
      reason_against_the_score: narrative.guardReason,
    },
    trend: technical && { state: technical.trend, strength: technical.trendStrength },
    score_parts: technical?.score.parts.map(({ key, points, max }, i) => {
      return { key, points, max, reason: narrative.partReasons[i] }
    }),
    indicators: technical && indicatorFigures(facts),
    levels: levelRows(facts.levels).map(({ key, price: at, basis }) => ({ key, price: at, basis })),
    supports: facts.nearby?.supports,
    resistances: facts.nearby?.resistances,
    chips: facts.chips && chipFigures(facts),
    company: companyFigures(facts),
    changes_since_last_report: facts.changes?.sentences ?? null,
    strategies: facts.skillFindings.map(({ id, verdict, met, unmet }) => ({ id, verdict, met, unmet })),
    limitations: narrative.limitations,
  }
}

function indicatorFigures({ technical, decimals }: Judged): Json {
  const { indicators, yearRange } = technical ?? { indicators: {}, yearRange: null }
  const rows = Object.entries(indicators).map(([name, value]) => {
    const isPercent = PERCENT_INDICATORS.has(name)
    return [isPercent ? `${name}_pct` : name, figure(value, isPercent ? undefined : keptDecimals(decimals))]
  })
  return {
    ...Object.fromEntries(rows),
    year_high: yearRange?.high ?? null,
    year_low: yearRange?.low ?? null,
    year_position_pct: yearRange && round(yearRange.positionPct),
  }
}

function chipFigures({ chips, decimals }: Judged): Json | null {
  if (chips === null) return null
  const price = (value: number) => round(value, keptDecimals(decimals))
  return {
    profit_pct: round(chips.profitRatio * 100),
    average_cost: price(chips.averageCost),
    cost_90_low: price(chips.cost90.low),
    cost_90_high: price(chips.cost90.high),
    concentration_90_pct: round(chips.cost90.concentration * 100),
  }
}

function companyFigures(facts: Judged): Json {
  const { company, flow, quote, value, dividends: year } = facts
  const { fundamentals, boards, rankings } = company
  return {
    results: fundamentals.value?.report ?? fundamentals.state,
    dividends: fundamentals.value?.dividends.slice(0, 5) ?? fundamentals.state,
    dividends_last_year: year && { cash_per_share: year.cash, currency: year.currency, yield_pct: year.yieldPct },
    pe: value?.peRatio ?? null,
    pb: value?.pbRatio ?? null,
    market_value: value?.totalMarketValue ?? null,
    market_value_currency: value?.currency ?? null,
    valuation_date: value?.asOf ?? null,
    turnover_rate_pct: quote?.turnoverRatePct ?? null,
    capital_flow: company.flow.value === null ? company.flow.state : flow,
    boards: boards.value?.slice(0, 12).map(({ name, changePct }) => ({ name, change_pct: changePct })) ?? boards.state,
    strongest_boards: rankings.value?.industries.top.map(({ name, changePct }) => ({ name, change_pct: changePct })),
  }
}

/** The news for the model: separate from the data, because they are third-party text. */
function newsLines({ news }: Inputs): string[] {
  const items = news?.items ?? []
  const lines = items.map(({ title, snippet, source, publishedAt, dimension }, i) => {
    return `[${i + 1}] (${dimension}; ${source ?? 'unknown source'}; ${publishedAt?.slice(0, 10) ?? 'undated'}) ${title} — ${snippet}`
  })
  return news?.social ? [...lines, `[social] ${news.social.text}`] : lines
}
