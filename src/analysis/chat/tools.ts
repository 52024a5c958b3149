// The tools of a talk about reports. Each describes itself for the model, and returns its results with their sources.
// They only read; text from other sources is in a marked section.

import { z } from 'zod'
import type { AnalysisItem } from '../../db/analyses.ts'
import type { Instrument } from '../../market/instruments.ts'
import { keyOf } from '../../market/names/labels.ts'
import type { NewsResult } from '../../news/search.ts'
import { type EvidenceRow, HORIZON } from '../evidence/vocabulary.ts'
import type { Judged } from '../judge/judge.ts'
import type { ReportLanguage } from '../schemas.ts'
import { adjustmentText, checksNotice } from '../texts/findings.ts'
import { sampleNotice } from '../texts/format.ts'
import { keyedFigures } from '../write/claims/keys.ts'
import { type FactName, type KnownFacts, knownOf } from '../write/claims/known.ts'
import type { Source } from './check-answer.ts'
import { CHAT_TEXTS, type ChatToolName } from './texts.ts'

/** The dependencies of the tools, for one owner. */
export type ChatWorld = {
  language: ReportLanguage
  /** The prices and the judgement of them, checked as for a report; a sentence when there are none. */
  facts(key: string): Promise<Judged | string>
  /** The owner's report with that row or task id, else the newest one of the listing, as Markdown; null when there is none. */
  report(
    key: string,
    id: string | null,
  ): Promise<{ id: number; queryId: string; createdAt: string; markdown: string } | null>
  /** The owner's newest reports, of one listing or of all. */
  reports(key: string | null, limit: number): Promise<AnalysisItem[]>
  /** Null when no search is configured. */
  news(key: string): Promise<NewsResult | null>
  evidence(instrument: Instrument, isSample: boolean): Promise<EvidenceRow[] | null>
}

export type ToolFindings = { text: string; sources: Source[]; known: KnownFacts[] }

type ChatTool = {
  readonly name: ChatToolName
  readonly description: string
  readonly schema: z.ZodType
  /** The codes in a call, as the model wrote them; a call for stocks outside of the talk is refused. */
  codesOf(args: unknown): readonly string[]
  run(args: unknown, world: ChatWorld): Promise<ToolFindings | string>
}

type Definition<Args> = {
  name: ChatToolName
  description: string
  schema: z.ZodType<Args>
  codesOf(args: Args): readonly string[]
  run(args: Args, world: ChatWorld): Promise<ToolFindings | string>
}

/** The arguments are validated before this. */
const tool = <Args>(definition: Definition<Args>): ChatTool => ({
  ...definition,
  codesOf: (args) => definition.codesOf(args as Args),
  run: (args, world) => definition.run(args as Args, world),
})

const code = z.string().min(1).max(20).describe('The code of a stock of this talk')
const OneStock = z.object({ code })

/** The lines after a report's heading repeat the rest. */
const MAX_REPORT_CHARS = 18_000

const READ_REPORT = tool({
  name: 'read_report',
  description: "Reads the user's stored report of a stock: the newest, or the one of an id from list_reports.",
  schema: z.object({ code, record_id: z.string().max(64).optional() }),
  codesOf: (args) => [args.code],
  run: async ({ code: asked, record_id: id = null }, world) => {
    const report = await world.report(asked, id)
    if (report === null) return `There is no such report of ${asked} in the user's history.`
    const { createdAt, queryId, markdown } = report
    const label = `${CHAT_TEXTS[world.language].report} #${report.id} ${asked}`
    return {
      text: `Report #${report.id}, made at ${createdAt}. Its figures are of that time.\n${external(markdown.slice(0, MAX_REPORT_CHARS))}`,
      sources: [{ label, at: createdAt, url: `/analysis/${encodeURIComponent(queryId)}` }],
      known: [],
    }
  },
})

const LIST_REPORTS = tool({
  name: 'list_reports',
  description: "Lists the user's newest reports, of one stock or of all: id, time, stock, score, advice, price.",
  schema: z.object({ code: code.optional(), limit: z.int().min(1).max(30).default(10) }),
  codesOf: (args) => (args.code === undefined ? [] : [args.code]),
  run: async ({ code: asked = null, limit }, world) => {
    const items = await world.reports(asked, limit)
    if (items.length === 0) return 'There are no reports.'
    const lines = items.map((item) => {
      const score = item.sentimentScore === null ? 'no score' : `score ${item.sentimentScore}`
      const price = item.currentPrice === null ? '' : `; price ${item.currentPrice}`
      return `#${item.id}; ${item.createdAt}; ${item.stockCode} ${item.stockName ?? ''}; ${score}; ${item.actionLabel ?? item.operationAdvice ?? ''}${price}`
    })
    const label = CHAT_TEXTS[world.language].tool.list_reports
    return { text: lines.join('\n'), sources: [{ label, at: items[0]?.createdAt ?? null, url: null }], known: [] }
  },
})

const QUOTE_FACTS: readonly FactName[] = [
  ...(['price', 'changePct', 'change', 'prevClose', 'open', 'high', 'low', 'amplitudePct'] as const),
  ...(['volume', 'amount', 'turnoverRatePct', 'marketCap', 'pe', 'pb'] as const),
]

const GET_QUOTE = tool({
  name: 'get_quote',
  description: 'The latest checked price of a stock with the day, its move, volume, value and ratios.',
  schema: OneStock,
  codesOf: (args) => [args.code],
  run: (args, world) => factsFound(args.code, { world, names: QUOTE_FACTS, label: 'get_quote' }),
})

const GET_INDICATORS = tool({
  name: 'get_indicators',
  description:
    'Computed figures of a stock: price, averages, RSI, KDJ, MACD, bands, range of the year, returns, levels, score and advice.',
  schema: OneStock,
  codesOf: (args) => [args.code],
  run: (args, world) => factsFound(args.code, { world, names: null, label: 'get_indicators' }),
})

const GET_DAILY_BARS = tool({
  name: 'get_daily_bars',
  description: 'Daily bars of a stock, the newest last: date, open, high, low, close, volume.',
  schema: z.object({ code, days: z.int().min(1).max(120).default(20) }),
  codesOf: (args) => [args.code],
  run: async ({ code: asked, days }, world) => {
    const facts = await world.facts(asked)
    if (typeof facts === 'string') return facts
    if (facts.consistency.isBlocked) return withheld(facts)
    const lines = facts.bars
      .slice(-days)
      .map(({ date, open, high, low, close, volume }) => [date, open, high, low, close, volume].join(' '))
    return {
      text: [...headOf(facts), 'date open high low close volume', ...lines].join('\n'),
      sources: [sourceOf(facts, CHAT_TEXTS[world.language].tool.get_daily_bars)],
      known: [],
    }
  },
})

const SEARCH_NEWS = tool({
  name: 'search_news',
  description: 'News about a stock of the last days: title, source, day, address. Others wrote them.',
  schema: OneStock,
  codesOf: (args) => [args.code],
  run: async ({ code: asked }, world) => {
    const news = await world.news(asked)
    if (news === null) return 'No news search is configured here.'
    if (news.items.length === 0) return `Nothing was found about ${asked}.`
    const lines = news.items.map(
      ({ title, snippet, source, publishedAt, url }, i) =>
        `[${i + 1}] ${publishedAt?.slice(0, 10) ?? 'undated'} ${source ?? ''} ${title} — ${snippet} (${url})`,
    )
    const sources = news.items.map(({ title, publishedAt, url }) => {
      return { label: title, at: publishedAt?.slice(0, 10) ?? null, url: webAddress(url) }
    })
    return { text: external(lines.join('\n')), sources, known: [] }
  },
})

const COMPARED: readonly FactName[] = [
  ...(['price', 'changePct', 'change5Pct', 'change20Pct', 'change60Pct', 'change250Pct', 'pe', 'pb'] as const),
  ...(['marketCap', 'roePct', 'dividendYieldPct', 'rsi12', 'position52Pct', 'volatility60Pct', 'score'] as const),
]

const COMPARE_STOCKS = tool({
  name: 'compare_stocks',
  description: 'The same figures of two to five stocks of this talk, side by side.',
  schema: z.object({ codes: z.array(code).min(2).max(5) }),
  codesOf: (args) => args.codes,
  run: async ({ codes }, world) => {
    const found = await Promise.all(
      codes.map((one) => factsFound(one, { world, names: COMPARED, label: 'compare_stocks' })),
    )
    const parts = found.map((one) => (typeof one === 'string' ? { text: one, sources: [], known: [] } : one))
    if (found.every((one) => typeof one === 'string')) return parts.map(({ text }) => text).join('\n')
    return {
      text: parts.map(({ text }) => text).join('\n\n'),
      sources: parts.flatMap(({ sources }) => sources),
      known: parts.flatMap(({ known }) => known),
    }
  },
})

const METHOD_EVIDENCE = tool({
  name: 'method_evidence',
  description:
    'What the advice of this method was worth in the past in the market of a stock, after costs, beside holding all the time.',
  schema: OneStock,
  codesOf: (args) => [args.code],
  run: async ({ code: asked }, world) => {
    const facts = await world.facts(asked)
    if (typeof facts === 'string') return facts
    const rows = await world.evidence(facts.instrument, facts.provenance !== null)
    if (rows === null) return 'Nothing has been computed for this market.'
    const lines = rows.filter(({ regime }) => regime === 'all').map((row) => evidenceLine(row))
    const label = CHAT_TEXTS[world.language].tool.method_evidence
    return { text: lines.join('\n'), sources: [{ label, at: null, url: null }], known: [] }
  },
})

export const CHAT_TOOL_UNITS: readonly ChatTool[] = [
  READ_REPORT,
  LIST_REPORTS,
  GET_QUOTE,
  GET_DAILY_BARS,
  GET_INDICATORS,
  SEARCH_NEWS,
  COMPARE_STOCKS,
  METHOD_EVIDENCE,
]

/** The tools in the form that a model is offered; the parameters are JSON. */
export const offeredTools = (): { name: string; description: string; parameters: string }[] =>
  CHAT_TOOL_UNITS.map(({ name, description, schema }) => {
    const { $schema: _dialect, ...parameters } = z.toJSONSchema(schema, { io: 'input' })
    return { name, description, parameters: JSON.stringify(parameters) }
  })

/** Runs a call of the model; a sentence explains why nothing was found. */
export async function callTool(
  call: { tool: string; args: string; codes: readonly string[] },
  world: ChatWorld,
): Promise<ToolFindings | string> {
  const unit = CHAT_TOOL_UNITS.find(({ name }) => name === call.tool)
  if (unit === undefined) return `There is no tool ${call.tool}.`
  // The conversation made this text from a value.
  const read = unit.schema.safeParse(JSON.parse(call.args))
  if (!read.success) return `The arguments do not fit: ${z.prettifyError(read.error)}`
  const wanted = unit.codesOf(read.data)
  const keys = new Map(wanted.map((text) => [text, keyOf(text) ?? text.trim().toUpperCase()]))
  const strange = wanted.filter((text) => !call.codes.includes(keys.get(text) ?? ''))
  if (strange.length > 0) {
    const talk = call.codes.length === 0 ? 'No stock was named yet.' : `It is about ${call.codes.join(', ')}.`
    return `Refused: ${strange.join(', ')} is no stock of this talk. ${talk} Ask the user to name the stock.`
  }
  return unit.run(withKeys(read.data, keys), world)
}

/** The arguments with each code replaced by its listing's key. */
function withKeys(args: unknown, keys: ReadonlyMap<string, string>): unknown {
  const { code: one, codes: some, ...rest } = args as { code?: string; codes?: string[] }
  const key = (text: string) => keys.get(text) ?? text
  return {
    ...rest,
    ...(one === undefined ? {} : { code: key(one) }),
    ...(some === undefined ? {} : { codes: some.map(key) }),
  }
}

type FactQuery = { world: ChatWorld; names: readonly FactName[] | null; label: ChatToolName }

async function factsFound(key: string, { world, names, label }: FactQuery): Promise<ToolFindings | string> {
  const facts = await world.facts(key)
  if (typeof facts === 'string') return facts
  if (facts.consistency.isBlocked) return withheld(facts)
  const known = knownOf(facts)
  const { language } = world
  const told = keyedFigures(known, language)
    .filter(({ fact }) => names?.includes(fact) ?? true)
    .map(({ label: name, text }) => `${name}: ${text}`)
  const advice = names === null ? [`advice: ${facts.decision.advice}; confidence: ${facts.decision.confidence}`] : []
  return {
    text: [...headOf(facts), ...told, ...advice].join('\n'),
    sources: [sourceOf(facts, CHAT_TEXTS[language].tool[label])],
    known: [known],
  }
}

/** What must be known before any figure. */
function headOf(facts: Judged): string[] {
  const { language, provenance, consistency, instrument, displayName, asOf, priceCurrency } = facts
  const sample = provenance === null ? null : sampleNotice(provenance, language)
  const checks = checksNotice(consistency, language)
  const adjustment = adjustmentText(consistency.adjustment, language)
  const session = `${displayName} (${instrument.key}); session ${asOf}; prices in ${priceCurrency}`
  return [session, sample, checks, adjustment].filter((line): line is string => typeof line === 'string' && line !== '')
}

const withheld = (facts: Judged): string => ['The checks withheld the figures.', ...headOf(facts)].join('\n')

function sourceOf({ instrument, displayName, fetched, asOf, quote }: Judged, label: string): Source {
  const { bars, quote: asked } = fetched
  const provider = asked.ok ? asked.provider : bars.ok ? bars.provider : null
  const at = quote?.quotedAt == null ? asOf : new Date(quote.quotedAt).toISOString()
  return {
    label: `${label} ${displayName} ${instrument.key}${provider === null ? '' : ` · ${provider}`}`,
    at,
    url: null,
  }
}

function evidenceLine(row: EvidenceRow): string {
  const pct = (value: number | null) => (value === null ? 'not known' : `${value.toFixed(2)}%`)
  return [
    `${row.group}; ${row.market}; held ${HORIZON[row.measure]} sessions; ${row.count} cases`,
    `mean ${pct(row.mean_return_pct)} after costs; random entry ${pct(row.random_entry_pct)}; holding ${pct(row.buy_and_hold_pct)}`,
    `better by ${pct(row.excess_pct)}; verdict ${row.verdict}`,
  ].join('; ')
}

/** Text from other sources, escaped so that it cannot close its own section. */
const external = (text: string): string => `<EXTERNAL>\n${text.replaceAll('</EXTERNAL', '<\\/EXTERNAL')}\n</EXTERNAL>`

const webAddress = (url: string): string | null => (/^https?:\/\//i.test(url) ? url : null)
