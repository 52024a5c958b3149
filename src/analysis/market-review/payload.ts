// A review in its wire form, version 1. Missing parts are left out, as readers of this object expect.

import { isoMicros } from '../../lib/clock.ts'
import type { Provenance, ProviderRun } from '../../market/bars.ts'
import type { RankedEnds } from '../../market/company.ts'
import type { ModelRun } from '../diagnostics.ts'
import type { ReportLanguage } from '../schemas.ts'
import { textsOf } from '../texts/book.ts'
import type { ModelBox } from '../write/model-box.ts'
import { indexChart } from './chart.ts'
import type { IndexFact, RegionFacts, ReviewNews } from './facts.ts'
import type { MarketLight } from './judge.ts'
import { type Reviewed, regionMarkdown } from './markdown.ts'
import { REGION_SPECS, type Region } from './regions.ts'

type Json = Record<string, unknown>

export type MarketPayload = {
  version: 1
  kind: 'market_review'
  region: Region
  language: ReportLanguage
  color_scheme: 'green_up' | 'red_up'
  title: string
  root_title: string
  generated_at: string
  date: string
  market_scope: string
  indices: Json[]
  sectors: { top: Json[]; bottom: Json[] }
  concepts: { top: Json[]; bottom: Json[] }
  news: Json[]
  sections: Section[]
  market_light?: Json
  breadth?: Json
  flows?: Json[]
  overnight?: Json[]
  missing: Json[]
  data_notice: string | null
  model_used: string | null
  /** Why a model gave no text; null when it did, or when none is configured. */
  model_fault: string | null
  /** The model's text, checked sentence by sentence; null when there is none. */
  model_comment: ModelBox | null
  chart_svg: string | null
  markdown_report: string
}

export type ReviewPayload =
  | MarketPayload
  | {
      version: 1
      kind: 'market_review'
      region: string
      language: ReportLanguage
      title: string
      root_title: string
      markets: Record<string, MarketPayload>
      missing_regions: Json[]
      markdown_report: string
    }

/** A whole review. */
export type Review = {
  text: string
  payload: ReviewPayload
  lights: Record<string, MarketLight>
  /** The summary of the first region. */
  summary: string
  /** The warnings of the checks, index by index, as text; null when there are none. */
  checks: string | null
  /** Set when figures are sample data. */
  provenance: Provenance | null
  notice: string | null
  model: string | null
  modelRuns: ModelRun[]
  runs: ProviderRun[]
}

export type PayloadOptions = { colorScheme: 'green_up' | 'red_up'; generatedAt: number; notice: string | null }

const LIMITS = { title: 120, snippet: 260, source: 80, published_date: 40, url: 240 }
const EMPTY = { top: [], bottom: [] }

export function marketPayload(reviewed: Reviewed, options: PayloadOptions): MarketPayload {
  const { facts, light, comment } = reviewed
  const { region, language, date } = facts
  const words = textsOf(language).review
  const markdown = regionMarkdown(reviewed)
  const { turnover, scope } = REGION_SPECS[region]
  return {
    version: 1,
    kind: 'market_review',
    region,
    language,
    color_scheme: options.colorScheme,
    title: words.dated(date),
    root_title: words.title,
    generated_at: isoMicros(options.generatedAt),
    date,
    market_scope: scope[language],
    indices: facts.indices.map(wireIndex),
    sectors: facts.boards === null ? EMPTY : wireEnds(facts.boards.industries),
    concepts: facts.boards === null ? EMPTY : wireEnds(facts.boards.concepts),
    news: facts.news.map(wireNews),
    sections: sectionsOf(markdown, { before: textsOf(language).report.heading.data_quality, whole: words.title }),
    ...(light === null ? {} : { market_light: light }),
    ...(facts.breadth === null ? {} : { breadth: wireBreadth(facts, turnover.unit[language]) }),
    ...(facts.flows.length === 0
      ? {}
      : { flows: facts.flows.map(({ name, mainNet }) => ({ name, main_net: mainNet })) }),
    ...(facts.overnight.length === 0 ? {} : { overnight: facts.overnight.map(wireIndex) }),
    missing: facts.gaps.map(({ what, detail }) => ({ what, label: words.gap[what], detail })),
    data_notice: options.notice,
    model_used: comment.model,
    model_fault: comment.fault,
    model_comment: comment.box,
    chart_svg: indexChart(facts.indices, words.chartTitle),
    markdown_report: markdown,
  }
}

function wireNews({ title, snippet, source, publishedDate, url }: ReviewNews): Json {
  return {
    title: title.slice(0, LIMITS.title),
    snippet: snippet.slice(0, LIMITS.snippet),
    source: source.slice(0, LIMITS.source),
    published_date: publishedDate?.slice(0, LIMITS.published_date) ?? null,
    url: url.slice(0, LIMITS.url),
  }
}

function wireIndex(fact: IndexFact): Json {
  return {
    code: fact.code,
    name: fact.name,
    current: fact.current,
    change: rounded(fact.change, 4),
    change_pct: rounded(fact.changePct, 4),
    open: fact.open,
    high: fact.high,
    low: fact.low,
    volume: fact.volume,
    amount: fact.amount,
    amplitude: fact.amplitude === null ? null : rounded(fact.amplitude, 4),
    date: fact.date,
    ...(fact.checks === null ? {} : { checks: fact.checks }),
  }
}

const wireEnds = ({ top, bottom }: RankedEnds) => ({ top: top.map(wireBoard), bottom: bottom.map(wireBoard) })

function wireBoard(board: RankedEnds['top'][number]): Json {
  return {
    code: board.code,
    name: board.name,
    change_pct: board.changePct,
    rank: board.rank,
    leader: board.leader,
    main_net: board.mainNet,
  }
}

function wireBreadth({ breadth }: RegionFacts, unit: string): Json {
  return {
    up_count: breadth?.up,
    down_count: breadth?.down,
    flat_count: breadth?.flat,
    limit_up_count: breadth?.limitUp,
    limit_down_count: breadth?.limitDown,
    total_amount: breadth?.totalAmount,
    turnover_unit: unit,
  }
}

const rounded = (value: number, decimals: number): number => Math.round(value * 10 ** decimals) / 10 ** decimals

/** One part of a review's Markdown, for paging. */
export type Section = { key: string; title: string; markdown: string }

/**
 * Splits at second- and third-level headings. A second-level heading at the very start is the title; text before the
 * first part describes the data; a text without headings is one part.
 */
export function sectionsOf(markdown: string, titles: { before: string; whole: string }): Section[] {
  const body = markdown.trim().replace(/^## [^\n]*\n*/, '')
  const parts = body.split(/^(?=#{2,3} )/m).filter((part) => part.trim() !== '')
  if (parts.every((part) => !/^#{2,3} /.test(part))) {
    return body === '' ? [] : [{ key: 'full_review', title: titles.whole, markdown: body.trim() }]
  }
  return parts.map((part) => {
    const heading = /^#{2,3} ([^\n]*)\n*/.exec(part)
    if (heading === null) return { key: 'overview', title: titles.before, markdown: part.trim() }
    const title = (heading[1] ?? '').trim()
    return { key: keyOf(title), title, markdown: part.slice(heading[0].length).trim() }
  })
}

const keyOf = (title: string): string =>
  title
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '')
    .toLowerCase()
