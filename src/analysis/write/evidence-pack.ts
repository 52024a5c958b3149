// What a model is told, and the figures that it may therefore quote. Both come from the same object, so that nothing can be
// told and then struck, or quoted without having been told.

import type { Inputs } from '../gather/gather.ts'
import type { Judged } from '../judge/judge.ts'
import { PERCENT_INDICATORS } from '../judge/signals.ts'
import { adjustmentText, checksNotice } from '../texts/findings.ts'
import { round } from '../texts/format.ts'
import type { Changes } from './changes.ts'
import type { KnownFigure, KnownFigures, NamedFigure } from './figures.ts'
import type { Narrative } from './narrative.ts'
import { levelRows } from './strategy.ts'

/** The judgement with the words that code has for it. */
export type WordedByCode = Judged & { narrative: Narrative; changes: Changes | null }

type Json = Record<string, unknown>

/** The facts of an analysis as plain data. Keys that end in `_pct` hold percentages. */
export function evidencePack(facts: WordedByCode): Json {
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

function indicatorFigures({ technical }: Judged): Json {
  const { indicators, yearRange } = technical ?? { indicators: {}, yearRange: null }
  const rows = Object.entries(indicators).map(([name, value]) => {
    return [PERCENT_INDICATORS.has(name) ? `${name}_pct` : name, value === null ? null : round(value)]
  })
  return {
    ...Object.fromEntries(rows),
    year_high: yearRange?.high ?? null,
    year_low: yearRange?.low ?? null,
    year_position_pct: yearRange && round(yearRange.positionPct),
  }
}

function chipFigures({ chips }: Judged): Json | null {
  if (chips === null) return null
  return {
    profit_pct: round(chips.profitRatio * 100),
    average_cost: round(chips.averageCost),
    cost_90_low: round(chips.cost90.low),
    cost_90_high: round(chips.cost90.high),
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

/** The news as the model gets them: apart from the data, because others wrote them. */
export function newsLines({ news }: Inputs): string[] {
  const items = news?.items ?? []
  const lines = items.map(({ title, snippet, source, publishedAt, dimension }, i) => {
    return `[${i + 1}] (${dimension}; ${source ?? 'unknown source'}; ${publishedAt?.slice(0, 10) ?? 'undated'}) ${title} — ${snippet}`
  })
  return news?.social ? [...lines, `[social] ${news.social.text}`] : lines
}

/** Every figure in the pack and in the news. */
export function knownFigures(pack: Json, news: readonly string[], facts: Judged): KnownFigures {
  const named = namedFigures(facts)
  const text = [JSON.stringify(pack), ...news].join('\n')
  const inNews = figuresIn([...news, ...stringsOf(pack)].join('\n'))
  const code = facts.instrument.code
  return {
    figures: [...numbersOf(pack), ...inNews, ...named.map(({ value, isPercent }) => ({ value, isPercent }))],
    named,
    dates: new Set(text.match(/20\d\d-\d\d-\d\d/g) ?? []),
    words: [facts.instrument.key, code, facts.displayName].filter((word) => /\d/.test(word)),
  }
}

const PERCENT_KEY = /pct$|rate$/i

function numbersOf(value: unknown, key = ''): KnownFigure[] {
  if (typeof value === 'number') return [{ value, isPercent: PERCENT_KEY.test(key) }]
  if (Array.isArray(value)) return value.flatMap((item) => numbersOf(item, key))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, item]) => numbersOf(item, name))
}

function stringsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsOf) : []
}

const QUOTED = /[-+−]?\d[\d,]*(?:\.\d+)?\s?(%|％|percent|万亿|亿|億|万|萬|억|만|조|trillion|billion|million|bn|mn)?/gi
const SCALE: Record<string, number> = {
  万亿: 1e12,
  조: 1e12,
  trillion: 1e12,
  亿: 1e8,
  億: 1e8,
  억: 1e8,
  万: 1e4,
  萬: 1e4,
  만: 1e4,
  billion: 1e9,
  bn: 1e9,
  million: 1e6,
  mn: 1e6,
}

/** Figures as others wrote them. */
function figuresIn(text: string): KnownFigure[] {
  return [...text.matchAll(QUOTED)].flatMap(([whole, unit = '']) => {
    const digits = whole
      .slice(0, whole.length - unit.length)
      .replaceAll(',', '')
      .replace('−', '-')
    const value = Number.parseFloat(digits) * (SCALE[unit.toLowerCase()] ?? 1)
    return Number.isNaN(value) ? [] : [{ value, isPercent: /%|％|percent/i.test(unit) }]
  })
}

/** Figures that texts call by a name of their own. */
function namedFigures({ technical, price, levels, decimals, decision, value: worth }: Judged): NamedFigure[] {
  const { indicators } = technical ?? { indicators: null }
  const level = (value: number | undefined) => ({ value: value ?? null, decimals })
  const rows: [string[], { value: number | null | undefined; decimals: number }][] = [
    ...([5, 10, 20, 60, 120, 250] as const).map(
      (n): [string[], { value: number | null | undefined; decimals: number }] => [
        [`MA${n}`, `${n}日均线`, `${n}-day average`],
        { value: indicators?.[`ma${n}`], decimals },
      ],
    ),
    ...([6, 12, 24] as const).map((n): [string[], { value: number | null | undefined; decimals: number }] => [
      [`RSI${n}`, `RSI(${n})`],
      { value: indicators?.[`rsi${n}`], decimals: 1 },
    ]),
    [
      ['现价', '收盘价', '最新价', 'closed', 'closing price', 'current price', '현재가', '종가'],
      { value: price, decimals },
    ],
    [['止损', '止损位', '止损价', 'stop loss', 'stop-loss', '손절'], level(levels.stopLoss?.price)],
    [['止盈', '目标价', '目标位', 'take profit', 'price target', '목표가', '익절'], level(levels.takeProfit?.price)],
    [['理想买点', '理想买入', 'ideal buy', '이상적 매수'], level(levels.idealBuy?.price)],
    [['评分', '综合评分', 'score', '점수'], { value: decision.score, decimals: 0 }],
    [['市盈率', 'PE', 'P/E'], { value: worth?.peRatio, decimals: 2 }],
    [['市净率', 'PB', 'P/B'], { value: worth?.pbRatio, decimals: 2 }],
  ]
  return rows.flatMap(([names, { value, decimals: digits }]) =>
    value === null || value === undefined ? [] : [{ names, value, decimals: digits, isPercent: false }],
  )
}
