// The facts about a company, in sentences written by code. A part without a value says which state it has.

import type { NewsResult } from '../../news/search.ts'
import type { Part } from '../gather/company.ts'
import { newsOfListing } from '../judge/evidence.ts'
import type { Judged } from '../judge/judge.ts'
import type { ReportLanguage } from '../schemas.ts'
import { fill, textsOf } from '../texts/book.ts'
import { aside, fixed, largeNumber, signedPct, withUnit } from '../texts/format.ts'
import type { AnalysisTexts } from '../texts/texts.ts'

export type CompanyTexts = {
  fundamental: string | null
  flow: string | null
  sector: string | null
  chips: string | null
  newsSummary: string | null
  sentiment: string | null
}

export function companyTexts(input: Judged): CompanyTexts {
  const phrases = textsOf(input.language).analysis
  return {
    ...aboutCompany(input, phrases),
    chips: chipText(input, phrases),
    newsSummary: newsText(input.news, phrases),
    sentiment: input.news?.social ? fill(phrases.news.social, { text: input.news.social.text }) : null,
  }
}

/** Empty for an instrument without a company. */
function aboutCompany(input: Judged, phrases: AnalysisTexts): Pick<CompanyTexts, 'fundamental' | 'flow' | 'sector'> {
  if (input.instrument.kind !== 'stock') return { fundamental: null, flow: null, sector: null }
  if (input.provenance !== null) return { fundamental: phrases.company.notAsked, flow: null, sector: null }
  return {
    fundamental: fundamentalText(input, phrases),
    flow: flowText(input, phrases),
    sector: sectorText(input, phrases),
  }
}

function absent(part: Part<unknown>, name: string, phrases: AnalysisTexts): string | null {
  const { state } = part
  return state === 'ok' ? null : fill(phrases.company.absent, { part: name, state: phrases.partState[state] })
}

function fundamentalText(input: Judged, phrases: AnalysisTexts): string | null {
  const { fundamentals } = input.company
  return joined(
    [
      resultsText(input, phrases),
      valuationText(input, phrases),
      dividendText(input, phrases),
      absent(fundamentals, phrases.part.results, phrases),
    ],
    input.language,
  )
}

/** Renminbi of a company that is listed elsewhere must not be taken for the listing's currency: it is named in full. */
function inMoney(amount: string, currency: string, { instrument, language }: Judged): string {
  const isForeign = currency === 'CNY' && instrument.market !== 'cn'
  return withUnit(amount, isForeign ? 'renminbi' : currency, language)
}

const money = (amount: number, currency: string, input: Judged): string =>
  inMoney(largeNumber(amount, input.language), currency, input)

function resultsText(input: Judged, phrases: AnalysisTexts): string | null {
  const { report = null } = input.company.fundamentals.value ?? {}
  if (report === null) return null
  const { resultFigure: words } = phrases
  const pct = (value: number | null, template: string) =>
    value === null ? null : fill(template, { pct: `${fixed(value, 2)}%` })
  const amount = (value: number | null, template: string, yoyPct: number | null = null) => {
    if (value === null) return null
    const onYear = yoyPct === null ? '' : aside(fill(words.onYear, { pct: signedPct(yoyPct) }), input.language)
    return fill(template, { amount: money(value, report.currency, input) }) + onYear
  }
  const figures = [
    amount(report.revenue, words.revenue, report.revenueYoyPct),
    amount(report.netProfitParent, words.profit, report.netProfitYoyPct),
    amount(report.operatingCashFlow, words.cashFlow),
    pct(report.grossMarginPct, words.margin),
    pct(report.roePct, report.period === 'quarter' ? words.roeTrailing : words.roe),
  ].filter((figure) => figure !== null)
  if (figures.length === 0) return null
  const told = figures.join(textsOf(input.language).report.comma)
  return fill(phrases.results[report.period], { date: report.reportDate, figures: told })
}

function valuationText(input: Judged, phrases: AnalysisTexts): string | null {
  const { value, language } = input
  if (value === null) return null
  const { pe, pb, size, on } = phrases.valuation
  const figure = (number: number | null, template: string) =>
    number === null ? null : fill(template, { value: fixed(number, 2) })
  const { totalMarketValue: worth, currency } = value
  const figures = [
    figure(value.peRatio, pe),
    figure(value.pbRatio, pb),
    worth === null || currency === null ? null : fill(size, { value: money(worth, currency, input) }),
  ].filter((text) => text !== null)
  const told = figures.join(textsOf(language).report.comma)
  return value.asOf === null || told === '' ? told : fill(on, { figures: told, date: value.asOf })
}

function dividendText(input: Judged, phrases: AnalysisTexts): string | null {
  const year = input.dividends
  if (year === null) return null
  const { paid, none, mixed, yield: share } = phrases.dividends
  if (year.count === 0) return none
  if (year.cash === null || year.currency === null) return mixed
  const cash = inMoney(String(year.cash), year.currency, input)
  const yieldText = year.yieldPct === null ? null : fill(share, { pct: `${fixed(year.yieldPct, 2)}%` })
  return [fill(paid, { cash }), yieldText].filter((text) => text !== null).join(textsOf(input.language).report.comma)
}

function flowText(input: Judged, phrases: AnalysisTexts): string | null {
  const { company, flow } = input
  if (company.flow.value === null) return absent(company.flow, phrases.part.flow, phrases)
  const amount = (value: number | null) => (value === null ? phrases.unknown : money(value, 'CNY', input))
  return fill(phrases.company.flow, {
    today: amount(flow.today),
    days5: amount(flow.days5),
    days10: amount(flow.days10),
  })
}

const MOST_BOARDS = 8

function sectorText({ company, language }: Judged, phrases: AnalysisTexts): string | null {
  const { boards, rankings } = company
  if (boards.value === null) return absent(boards, phrases.part.boards, phrases)
  const { listComma } = textsOf(language).report
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

function chipText({ chips, decimals }: Judged, phrases: AnalysisTexts): string | null {
  if (chips === null) return null
  return fill(phrases.company.chips, {
    cost: fixed(chips.averageCost, decimals),
    profit: `${fixed(chips.profitRatio * 100, 1)}%`,
    low: fixed(chips.cost90.low, decimals),
    high: fixed(chips.cost90.high, decimals),
  })
}

/** Third-party text is only quoted in the list of news: here it would look like the report's own text. */
function newsText(news: NewsResult | null, phrases: AnalysisTexts): string | null {
  const items = newsOfListing(news)
  const [newest] = items
  if (!news || newest === undefined) return null
  return fill(news.isPooled ? phrases.news.pooled : phrases.news.found, {
    count: items.length,
    source: newest.source ?? phrases.unknown,
    date: newest.publishedAt?.slice(0, 10) ?? phrases.news.undated,
  })
}

function joined(texts: (string | null | undefined)[], language: ReportLanguage): string | null {
  const told = texts.filter((text) => text !== null && text !== undefined && text !== '')
  return told.length === 0 ? null : told.join(textsOf(language).report.clauseJoin)
}
