// A region's review as Markdown: prose and tables of each part under its heading. Third-party text is escaped; an
// address becomes a link only when it is a web address.

import { REVIEW_PARTS, type ReviewPart } from '../codes.ts'
import { commentMarkdown, escapeMarkdown, list, table } from '../report/render/markdown-text.ts'
import { fill, textsOf } from '../texts/book.ts'
import { largeNumber, sampleNotice, signedPct } from '../texts/format.ts'
import { indexChart, svgAddress } from './chart.ts'
import type { Comment } from './comment.ts'
import type { IndexFact, RegionFacts } from './facts.ts'
import type { MarketLight } from './judge.ts'
import { REGION_SPECS } from './regions.ts'
import type { Narrative } from './write.ts'

export type Reviewed = {
  facts: RegionFacts
  light: MarketLight | null
  narrative: Narrative
  comment: Comment
}

/** The whole review of one region; its title is a second-level heading, its parts are third-level headings. */
export function regionMarkdown(reviewed: Reviewed): string {
  const { facts, comment } = reviewed
  const words = textsOf(facts.language).review
  const parts = REVIEW_PARTS.map((part) => `### ${words.part[part]}\n\n${bodyOf(part, reviewed)}`)
  const made =
    comment.model === null
      ? `${failed(comment, facts.language)}${words.codeMade}`
      : words.modelMade(escapeMarkdown(comment.model))
  return [title(facts), notices(facts), ...parts, commentPart(comment, facts.language), `*${made} ${words.disclaimer}*`]
    .filter((block) => block !== '')
    .join('\n\n')
}

/** The model's text in a part of its own, with the number of marked and omitted sentences; empty without a text. */
function commentPart({ box }: Comment, language: RegionFacts['language']): string {
  if (box === null) return ''
  const { analysis, report } = textsOf(language)
  const { checked, marked, dropped } = box.counts
  const counts = marked + dropped > 0 ? [fill(analysis.modelCounts, { checked, marked, dropped })] : []
  return [`### ${report.heading.model_words}`, commentMarkdown(box, language), ...counts].join('\n\n')
}

/** Why a model wrote nothing; empty when none was asked. */
function failed({ fault }: Comment, language: RegionFacts['language']): string {
  if (fault === null) return ''
  const { modelFailed, modelFault } = textsOf(language).analysis
  return fill(modelFailed, { fault: modelFault[fault] })
}

function title({ date, region, language }: Pick<RegionFacts, 'date' | 'region' | 'language'>): string {
  const words = textsOf(language).review
  return `## ${words.dated(date)} · ${REGION_SPECS[region].scope[language]}`
}

function notices({ provenance, gaps, language, indices, overnight }: RegionFacts): string {
  const words = textsOf(language).review
  const sample = provenance && `> ${sampleNotice(provenance, language)}`
  const missing =
    gaps.length > 0 && `> ${words.missing}${words.colon}${gaps.map(({ what }) => words.gap[what]).join(words.comma)}`
  const doubts = [...indices, ...overnight].flatMap(({ name, checks }) =>
    checks === null ? [] : [`> ${escapeMarkdown(`${name}${words.colon}${checks}`)}`],
  )
  return [sample, missing, ...doubts].filter(Boolean).join('\n>\n')
}

function bodyOf(part: ReviewPart, { facts, light, narrative }: Reviewed): string {
  const blocks: Record<ReviewPart, (string | null)[]> = {
    overview: [lightLine(light, facts), breadthTable(facts)],
    indices: [indexTable(facts.indices, facts), chart(facts), overnightTable(facts)],
    sectors: [boardTable('industry', facts), boardTable('concept', facts)],
    funds: [flowTable(facts)],
    news: [newsList(facts)],
    plan: [],
    risks: [],
  }
  return [prose(narrative.texts[part]), ...blocks[part]].filter(Boolean).join('\n\n')
}

/** Paragraphs of plain text; a line that looks like a list item stays text. */
function prose(text: string): string {
  const lines = text.split('\n').map((line) => line.trim())
  return lines
    .filter((line) => line !== '')
    .map((line) => {
      const item = /^[-*•]\s+(.*)$/.exec(line)
      return item ? `- ${escapeMarkdown(item[1] ?? '')}` : escapeMarkdown(line)
    })
    .join('\n\n')
}

function lightLine(light: MarketLight | null, { language }: RegionFacts): string | null {
  if (light === null) return null
  const { label, temperature_label: temperature, score, guidance } = light
  return `${textsOf(language).review.lightLine({ label, temperature, score })}\n\n${guidance}`
}

function breadthTable({ breadth, region, language }: RegionFacts): string | null {
  if (breadth === null) return null
  const head = textsOf(language).review.breadthTable
  const { up, down, flat, limitUp, limitDown, totalAmount } = breadth
  const unit = REGION_SPECS[region].turnover.unit[language]
  return table(
    [head.up, head.down, head.flat, head.limitUp, head.limitDown, `${head.turnover} (${unit})`],
    [[up, down, flat, limitUp, limitDown, totalAmount].map(String)],
  )
}

/** A name, followed by a sign when a check warns about its figures; the notice at the top explains it. */
const markedName = ({ name, checks }: Pick<IndexFact, 'name' | 'checks'>): string =>
  `${escapeMarkdown(name)}${checks === null ? '' : ' ⚠'}`

const figure = (value: number | null): string => (value === null ? '–' : value.toFixed(2))

function indexTable(indices: readonly IndexFact[], { region, language }: RegionFacts): string {
  const { name, current, change, high, low, amplitude, amount } = textsOf(language).review.column
  const { unit, size } = REGION_SPECS[region].turnover
  const rows = indices.map((fact) => [
    markedName(fact),
    figure(fact.current),
    signedPct(fact.changePct),
    figure(fact.high),
    figure(fact.low),
    fact.amplitude === null ? '–' : `${fact.amplitude.toFixed(2)}%`,
    fact.amount === null ? '–' : (fact.amount / size).toFixed(2),
  ])
  return table([name, current, change, high, low, amplitude, `${amount} (${unit[language]})`], rows)
}

function chart({ indices, language }: RegionFacts): string | null {
  const words = textsOf(language).review
  const svg = indexChart(indices, words.chartTitle)
  return svg && `![${escapeMarkdown(words.chartTitle)}](${svgAddress(svg)})`
}

/** The review for a channel without pictures. */
export function withoutPictures(markdown: string): string {
  return markdown.replace(/!\[[^\]]*\]\(data:[^)]*\)\n*/g, '')
}

function overnightTable(facts: RegionFacts): string | null {
  const { overnight, language } = facts
  if (overnight.length === 0) return null
  const words = textsOf(language).review
  const rows = overnight.map(({ name, checks, current, changePct, date }) => {
    return [markedName({ name, checks }), figure(current), signedPct(changePct), date]
  })
  return `**${words.overnightTitle}**\n\n${table([words.column.name, words.column.current, words.column.change, words.column.date], rows)}`
}

function boardTable(kind: 'industry' | 'concept', { boards, language }: RegionFacts): string | null {
  if (boards === null) return null
  const words = textsOf(language).review.board
  const { top, bottom } = kind === 'industry' ? boards.industries : boards.concepts
  const row = (end: string) => (board: (typeof top)[number]) => [
    end,
    escapeMarkdown(board.name),
    board.changePct === null ? '–' : signedPct(board.changePct),
    escapeMarkdown(board.leader ?? '–'),
  ]
  const rows = [...top.map(row(words.top)), ...bottom.map(row(words.bottom))]
  return rows.length === 0 ? null : table(['', words[kind], words.change, words.leader], rows)
}

function flowTable({ flows, language }: RegionFacts): string | null {
  if (flows.length === 0) return null
  const words = textsOf(language).review.board
  return table(
    [words.industry, words.netInflow],
    flows.map(({ name, mainNet }) => [escapeMarkdown(name), largeNumber(mainNet, language)]),
  )
}

function newsList({ news }: RegionFacts): string | null {
  if (news.length === 0) return null
  return list(
    news.map(({ title: headline, source, publishedDate, url }) => {
      const told = [source, publishedDate ?? ''].filter((part) => part !== '').map(escapeMarkdown)
      const name = escapeMarkdown(headline)
      return `${isWebAddress(url) ? `[${name}](<${url}>)` : name}${told.length === 0 ? '' : ` (${told.join(', ')})`}`
    }),
  )
}

/** Nothing in the address can end the link early. */
const isWebAddress = (url: string): boolean => /^https?:\/\/[^\s<>()[\]\\"'`]+$/.test(url)
