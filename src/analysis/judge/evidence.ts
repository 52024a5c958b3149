// The state of each block of evidence of a report: available, available from another source, old, failed, missing, or
// not available for this kind of instrument. These states differ and are never reported as the same.

import { isoMicros } from '../../lib/clock.ts'
import type { Fetched } from '../../market/bars.ts'
import type { CompanyValue } from '../../market/company.ts'
import { alarms, CHECKS, type CheckKey, type Finding } from '../../market/consistency/types.ts'
import type { ChipDistribution } from '../../market/indicators/chips.ts'
import { isAboutListing, type NewsItem } from '../../news/article.ts'
import type { NewsResult } from '../../news/search.ts'
import { sanitize } from '../diagnostics.ts'
import { hasFundamentals, type Part } from '../gather/company.ts'
import type { Inputs } from '../gather/gather.ts'
import { namesDisagree } from '../gather/stock-name.ts'
import { ContextBlock as BlockSchema, type ContextBlock, type ContextPackOverview } from '../schemas.ts'
import { TRIGGER_SOURCE } from '../task.ts'
import { fill, textsOf } from '../texts/book.ts'
import { findingText } from '../texts/findings.ts'
import { ageText, currencyOf } from '../texts/format.ts'
import { MIN_BARS, type Technical } from './signals.ts'

/** The input: all fetched data, and what could be computed from it. */
type EvidenceInput = Inputs & {
  technical: Technical | null
  value: CompanyValue | null
  chips: ChipDistribution | null
}

/** The news about the listing itself; news about its industry is only background. */
export const newsOfListing = (news: NewsResult | null): NewsItem[] => news?.items.filter(isAboutListing) ?? []

export type Evidence = { blocks: Block[]; notes: string[] }

export function evidenceOf(input: EvidenceInput): Evidence {
  const phrases = textsOf(input.language).analysis
  const [currency, name] = [otherCurrency(input), otherName(input)]
  const quoteNotes = [
    ...(input.quoteUnused === 'stale' ? [phrases.staleQuote] : []),
    ...(input.quoteUnused === 'mixed' ? [phrases.mixedSources] : []),
    ...(currency === null ? [] : [fill(phrases.otherCurrency, { currency, usual: currencyOf(input.instrument) })]),
    ...(name === null ? [] : [fill(phrases.nameMismatch, { other: name })]),
  ]
  const barNotes = [
    ...(input.staleSince === null ? [] : [fill(phrases.staleBars, { date: input.staleSince })]),
    ...(input.partial ? [phrases.partialBar] : []),
    ...(input.phase.warnings.includes('phase_against_calendar') ? [phrases.phaseAgainstCalendar] : []),
    ...keptNote(input),
  ]
  return {
    blocks: [
      { ...quoteBlock(input), warnings: [...quoteNotes, ...checkNotes(input, QUOTE_CHECKS)] },
      { ...barsBlock(input), warnings: [...barNotes, ...checkNotes(input, BAR_CHECKS)] },
      technicalBlock(input),
      chipBlock(input),
      fundamentalsBlock(input),
      newsBlock(input.news),
    ],
    notes: [...quoteNotes, ...barNotes],
  }
}

const QUOTE_CHECKS = CHECKS.filter((check) => /quote|close|currency/.test(check))
const BAR_CHECKS = CHECKS.filter((check) => !QUOTE_CHECKS.includes(check))

/** Notes about checks that failed or warn. */
function checkNotes({ consistency, language }: EvidenceInput, checks: readonly CheckKey[]): string[] {
  const found = alarms(consistency).filter(({ check }) => checks.includes(check))
  return found.map((finding) => findingText(finding, language))
}

type Status = Block['status']

function block(key: Block['key'], status: Status, source: string | null, reasons: string[] = []): Block {
  return { key, status, source, warnings: [], missing_reasons: reasons }
}

const absent = (key: Block['key'], status: Status, reason: string): Block => block(key, status, null, [reason])

function quoteBlock({ fetched: { quote }, quoteUnused }: EvidenceInput): Block {
  if (!quote.ok) return block('quote', 'fetch_failed', null, failureReasons(quote))
  if (quoteUnused === 'mixed') return absent('quote', 'missing', 'sample and market figures are not mixed')
  return block('quote', quoteUnused === 'stale' ? 'stale' : fetchedStatus(quote), quote.provider)
}

function barsBlock({ fetched: { bars }, barCount, staleSince }: EvidenceInput): Block {
  if (!bars.ok) return block('daily_bars', 'fetch_failed', null, failureReasons(bars))
  if (staleSince !== null) return block('daily_bars', 'stale', bars.provider)
  const status = fetchedStatus(bars)
  return block('daily_bars', barCount < MIN_BARS && status === 'available' ? 'partial' : status, bars.provider)
}

function fetchedStatus(fetched: Extract<Fetched<unknown>, { ok: true }>): Status {
  if (fetched.provenance !== null) return fetched.provenance.kind === 'historical' ? 'stale' : 'estimated'
  return fetched.runs.some((run) => !run.success) ? 'fallback' : 'available'
}

function failureReasons({ runs }: Fetched<unknown>): string[] {
  return runs.map((run) => sanitize(run.errorMessage ?? `${run.provider}: ${run.errorType ?? 'failed'}`))
}

function technicalBlock({ technical, bars, partial, consistency }: EvidenceInput): Block {
  if (consistency.isBlocked) return absent('technical', 'missing', 'the bars failed a consistency check')
  if (technical === null) return absent('technical', 'missing', `${bars.length} bars, ${MIN_BARS} needed`)
  const unripe = technical.indicators.dea === null
  return block('technical', partial || unripe ? 'partial' : 'available', 'computed')
}

/** The age of cached bars. */
function keptNote({ fetched: { bars }, language }: EvidenceInput): string[] {
  const age = bars.ok ? bars.runs.findLast(({ success }) => success)?.staleSeconds : undefined
  if (age === undefined) return []
  const phrases = textsOf(language).analysis
  return [fill(phrases.kept, { block: textsOf(language).report.block.daily_bars, age: ageText(age, phrases) })]
}

function chipBlock({ instrument: { market, kind }, chips }: EvidenceInput): Block {
  if (market !== 'cn' || kind === 'index') return absent('chip', 'not_supported', 'mainland shares only')
  return chips !== null ? block('chip', 'available', 'computed') : absent('chip', 'missing', 'the quote tells no float')
}

function fundamentalsBlock({ instrument: { kind }, company, value }: EvidenceInput): Block {
  if (kind !== 'stock') return absent('fundamentals', 'not_supported', 'companies only')
  const { fundamentals } = company
  if (fundamentals.state !== 'ok') {
    if (value !== null) return block('fundamentals', 'partial', 'quote', fundamentals.reasons.map(sanitize))
    return {
      ...absent('fundamentals', BLOCK_STATE[fundamentals.state], ''),
      missing_reasons: fundamentals.reasons.map(sanitize),
    }
  }
  const isWhole = fundamentals.value?.report !== null && hasFundamentals(fundamentals.value)
  const status = isOldAnswer(fundamentals) ? 'stale' : isWhole ? 'available' : 'partial'
  return block('fundamentals', status, fundamentals.source)
}

const BLOCK_STATE = { no_data: 'missing', not_supported: 'not_supported', failed: 'fetch_failed' } as const

/** Cached data, used because no source answers now. */
const isOldAnswer = ({ ageSeconds, runs }: Part<unknown>): boolean =>
  ageSeconds !== null && runs.some(({ success }) => !success)

function newsBlock(news: NewsResult | null): Block {
  if (news === null || (news.count === null && news.items.length === 0 && news.social === null)) {
    return absent('news', 'missing', 'no news search is configured')
  }
  const source = newsOfListing(news)[0]?.provider ?? news.social?.provider ?? null
  if ((news.count ?? 0) > 0) return block('news', 'available', source)
  if (news.isPooled || news.social !== null) return block('news', news.isPooled ? 'fallback' : 'partial', source)
  const searches = news.runs.filter(({ dataType }) => dataType === 'news_search')
  const failed = searches.filter(({ success }) => !success)
  if (searches.length > 0 && failed.length === searches.length) {
    const reasons = [...new Set(failed.map((run) => sanitize(run.errorMessage ?? run.provider)))]
    return block('news', 'fetch_failed', null, reasons)
  }
  const isBackground = news.items.length > 0
  return absent('news', 'missing', isBackground ? 'only news of the industry was found' : 'the search found nothing')
}

/** The quote's currency if it is not the market's own. */
function otherCurrency({ instrument, quote }: EvidenceInput): string | null {
  const quoted = quote?.currency ?? null
  return quoted === null || instrument.kind === 'index' || quoted === currencyOf(instrument) ? null : quoted
}

/** The listing's name at the source of the quote, if it differs from its own. */
function otherName({ names, fetched: { quote } }: EvidenceInput): string | null {
  const name = quote.ok ? quote.value.name : null
  return namesDisagree(names.zh, name) || namesDisagree(names.en, name) ? name : null
}

const SOUND: readonly Status[] = ['available', 'fallback']

/** Whether quote, bars and indicators are all recent, complete and market data. */
export function isCoreSound(blocks: readonly Block[]): boolean {
  const core = blocks.filter(({ key }) => key === 'quote' || key === 'daily_bars' || key === 'technical')
  return core.every(({ status }) => SOUND.includes(status))
}

/** The facts about one kind of evidence, before they are put into words. */
export type Block = Omit<ContextBlock, 'label'>

type Weighted = Exclude<Block['key'], 'portfolio'>

const WEIGHT: Record<Weighted, number> = {
  quote: 25,
  daily_bars: 25,
  technical: 25,
  chip: 5,
  fundamentals: 10,
  news: 10,
}

const STATUS_SCORE: Record<Block['status'], number> = {
  available: 100,
  partial: 75,
  estimated: 75,
  not_supported: 70,
  fallback: 65,
  stale: 50,
  missing: 35,
  fetch_failed: 25,
}

const MAX_WARNINGS = 5
const MAX_REASONS = 3
const MAX_LIMITATIONS = 5

type Subject = Pick<Inputs, 'instrument' | 'displayName' | 'now' | 'language' | 'consistency'>

/** The overview of all evidence with its quality. */
export function contextPackOverview(
  { instrument, displayName, now, language, consistency }: Subject,
  blocks: readonly Block[],
  newsCount: number | null,
): ContextPackOverview {
  const labels = textsOf(language).report.block
  return {
    pack_version: '1.0',
    created_at: isoMicros(now),
    subject: { code: instrument.key, stock_name: displayName, market: instrument.market },
    blocks: blocks.map((block) => ({
      ...block,
      label: labels[block.key],
      warnings: block.warnings.slice(0, MAX_WARNINGS),
      missing_reasons: block.missing_reasons.slice(0, MAX_REASONS),
    })),
    counts: countByStatus(blocks),
    data_quality: dataQuality(blocks, consistency.findings),
    warnings: blocks.flatMap((block) => block.warnings).slice(0, MAX_WARNINGS),
    metadata: { trigger_source: TRIGGER_SOURCE, news_result_count: newsCount },
  }
}

/** The deduction for a check that warns, and the rest when a check failed. */
const WARNED_OFF = 20
const WARNED_LEAST = 40
const FAILED_VOLUME = 40
/** Figures that could not be compared with other data are never called good. */
const UNCOMPARED_MOST = 84

/** The plausibility of the figures, 0 to 100: 0 when a check of prices failed. */
function plausibility(findings: readonly Finding[]): number {
  const failed = findings.filter(({ verdict }) => verdict === 'fail')
  if (failed.some(({ touches }) => touches.some((touch) => touch !== 'volume'))) return 0
  if (failed.length > 0) return FAILED_VOLUME
  const warned = findings.filter(({ verdict }) => verdict === 'warn').length
  if (warned > 0) return Math.max(WARNED_LEAST, 100 - WARNED_OFF * warned)
  const isCompared = findings.some(({ check, verdict }) => COMPARING.includes(check) && verdict === 'pass')
  return isCompared ? 100 : UNCOMPARED_MOST
}

const COMPARING: readonly CheckKey[] = ['previous_close', 'same_day_close']

/**
 * The quality of the evidence, 0 to 100, with what limits it. Implausible data is not evidence, however complete it is:
 * the completeness (the weighted mean of the block states) is limited by the plausibility.
 */
export function dataQuality(
  blocks: readonly Block[],
  findings: readonly Finding[],
): ContextPackOverview['data_quality'] {
  const scored = blocks.flatMap(({ key, status }) =>
    key === 'portfolio' ? [] : [{ key, score: STATUS_SCORE[status] }],
  )
  const total = scored.reduce((sum, { key }) => sum + WEIGHT[key], 0)
  const points = scored.reduce((sum, { key, score }) => sum + WEIGHT[key] * score, 0)
  const presence = total === 0 ? 0 : Math.round(points / total)
  const plausible = plausibility(findings)
  const overall = Math.min(presence, plausible)
  const alarms = findings.filter(({ verdict }) => verdict === 'fail' || verdict === 'warn')
  const short = blocks.filter(({ status }) => status !== 'available')
  return {
    overall_score: overall,
    plausibility: plausible,
    presence,
    level: levelOf(overall),
    block_scores: Object.fromEntries(scored.map(({ key, score }) => [key, score])),
    limitations: [
      ...alarms.map(({ check, verdict }) => `${check}: ${verdict}`),
      ...short.map(({ key, status }) => `${key}: ${status}`),
    ].slice(0, MAX_LIMITATIONS),
  }
}

function levelOf(score: number): ContextPackOverview['data_quality']['level'] {
  if (score >= 85) return 'good'
  if (score >= 70) return 'usable'
  return score >= 55 ? 'limited' : 'poor'
}

function countByStatus(blocks: readonly Block[]): Record<string, number> {
  const states = BlockSchema.shape.status.options
  return Object.fromEntries(states.map((state) => [state, blocks.filter(({ status }) => status === state).length]))
}
