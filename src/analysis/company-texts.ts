// What is known of a company, in sentences of code. A part without a value says which of its states it is in.

import type { Quote } from '../market/bars.ts'
import type { ChipDistribution } from '../market/indicators/chips.ts'
import type { NewsFound } from '../news/search.ts'
import { largeNumber, signedPct } from '../reports/format.ts'
import { fill, labelsOf } from '../reports/labels.ts'
import type { ReportLanguage } from '../reports/report.ts'
import type { FlowView } from './capital-flow.ts'
import type { Company, Part } from './company.ts'
import { type Phrases, phrasesOf } from './phrases.ts'

export type CompanyTexts = {
  fundamental: string | null
  flow: string | null
  sector: string | null
  chips: string | null
  newsSummary: string | null
  sentiment: string | null
}

export type CompanyTextInput = {
  company: Company
  flow: FlowView
  chips: ChipDistribution | null
  quote: Quote | null
  news: NewsFound | null
  decimals: number
  language: ReportLanguage
}

export function companyTexts(input: CompanyTextInput): CompanyTexts {
  const phrases = phrasesOf(input.language)
  return {
    fundamental: fundamentalText(input, phrases),
    flow: flowText(input, phrases),
    sector: sectorText(input, phrases),
    chips: chipText(input, phrases),
    newsSummary: newsText(input.news, phrases),
    sentiment: input.news?.social ? fill(phrases.news.social, { text: input.news.social.text }) : null,
  }
}

function absent(part: Part<unknown>, name: string, phrases: Phrases): string | null {
  const { state } = part
  return state === 'ok' ? null : fill(phrases.company.absent, { part: name, state: phrases.partState[state] })
}

function fundamentalText({ company, quote, language }: CompanyTextInput, phrases: Phrases): string | null {
  const { fundamentals } = company
  const report = fundamentals.value?.report
  const unknown = phrases.unknown
  const amount = (value: number | null) => (value === null ? unknown : largeNumber(value, language))
  const pct = (value: number | null) => (value === null ? unknown : signedPct(value))
  const results =
    report &&
    fill(phrases.company.results, {
      date: report.reportDate,
      revenue: amount(report.revenue),
      revenueYoy: pct(report.revenueYoyPct),
      profit: amount(report.netProfitParent),
      profitYoy: pct(report.netProfitYoyPct),
      roe: report.roePct === null ? unknown : `${report.roePct.toFixed(2)}%`,
    })
  const figure = (value: number | null) => value?.toFixed(2) ?? unknown
  const hasRatio = quote !== null && (quote.peRatio !== null || quote.pbRatio !== null)
  const valuation = hasRatio
    ? fill(phrases.company.valuation, { pe: figure(quote.peRatio), pb: figure(quote.pbRatio) })
    : null
  return joined([results, valuation, absent(fundamentals, phrases.part.results, phrases)], language)
}

function flowText({ company, flow, language }: CompanyTextInput, phrases: Phrases): string | null {
  if (company.flow.value === null) return absent(company.flow, phrases.part.flow, phrases)
  const amount = (value: number | null) => (value === null ? phrases.unknown : largeNumber(value, language))
  return fill(phrases.company.flow, {
    today: amount(flow.today),
    days5: amount(flow.days5),
    days10: amount(flow.days10),
  })
}

const MOST_BOARDS = 8

function sectorText({ company, language }: CompanyTextInput, phrases: Phrases): string | null {
  const { boards, rankings } = company
  if (boards.value === null) return absent(boards, phrases.part.boards, phrases)
  const { listComma } = labelsOf(language)
  const names = boards.value.slice(0, MOST_BOARDS).map(({ name }) => name)
  const codes = new Set(boards.value.map(({ code }) => code))
  const ranked = rankings.value ? [...rankings.value.industries.top, ...rankings.value.concepts.top] : []
  const best = ranked.filter(({ code }) => codes.has(code)).sort((a, b) => a.rank - b.rank)[0]
  const place =
    best &&
    fill(phrases.company.ranked, {
      board: best.name,
      rank: best.rank,
      change: best.changePct === null ? phrases.unknown : signedPct(best.changePct),
    })
  const list = names.length === 0 ? null : fill(phrases.company.boards, { boards: names.join(listComma) })
  return joined([list, place, absent(rankings, phrases.part.rankings, phrases)], language)
}

function chipText({ chips, decimals }: CompanyTextInput, phrases: Phrases): string | null {
  if (chips === null) return null
  return fill(phrases.company.chips, {
    cost: chips.averageCost.toFixed(decimals),
    profit: `${(chips.profitRatio * 100).toFixed(1)}%`,
    low: chips.cost90.low.toFixed(decimals),
    high: chips.cost90.high.toFixed(decimals),
  })
}

function newsText(news: NewsFound | null, phrases: Phrases): string | null {
  const newest = news?.items[0]
  if (!news || newest === undefined) return null
  return fill(news.isPooled ? phrases.news.pooled : phrases.news.found, {
    count: news.items.length,
    title: newest.title,
    source: newest.source ?? phrases.unknown,
    date: newest.publishedAt?.slice(0, 10) ?? phrases.news.undated,
  })
}

function joined(texts: (string | null | undefined)[], language: ReportLanguage): string | null {
  const told = texts.filter((text) => text !== null && text !== undefined && text !== '')
  return told.length === 0 ? null : told.join(labelsOf(language).clauseJoin)
}

/** An age in words, in its largest whole unit. */
export function ageText(seconds: number, { age }: Phrases): string {
  if (seconds < 60) return fill(age.seconds, { n: seconds })
  if (seconds < 3_600) return fill(age.minutes, { n: Math.floor(seconds / 60) })
  if (seconds < 172_800) return fill(age.hours, { n: Math.floor(seconds / 3_600) })
  return fill(age.days, { n: Math.floor(seconds / 86_400) })
}
