// What stands behind a report, block by block: had, had from elsewhere, old, failed, not there, or not to be had for this
// kind of instrument. Those are different things and are never told as one.

import type { Instrument } from '../market/instruments.ts'
import type { Fetched } from '../market/provider-run.ts'
import type { NewsFound } from '../news/search.ts'
import { hasFundamentals } from '../reports/company.ts'
import type { Block } from '../reports/context-pack.ts'
import { sanitize } from '../reports/diagnostics.ts'
import { currencyOf } from '../reports/format.ts'
import { fill, labelsOf } from '../reports/labels.ts'
import type { ReportLanguage } from '../reports/report.ts'
import type { Company, Part } from './company.ts'
import { ageText } from './company-texts.ts'
import { phrasesOf } from './phrases.ts'
import { MIN_BARS, type Technical } from './signals.ts'

export type EvidenceInput = {
  instrument: Instrument
  language: ReportLanguage
  bars: Fetched<unknown>
  quote: Fetched<unknown>
  technical: Technical | null
  barCount: number
  /** The last complete bar when it is older than the last completed session. */
  staleSince: string | null
  /** Why a quote that came was not used. */
  quoteUnused: 'stale' | 'mixed' | null
  partial: boolean
  /** What a quote source calls the listing, when that differs from its name. */
  otherName: string | null
  /** What a quote is counted in, when that is not the market's money. */
  otherCurrency: string | null
  company: Company
  /** The quote tells ratios of the company. */
  hasValuation: boolean
  hasChips: boolean
  news: NewsFound | null
}

export type Evidence = { blocks: Block[]; notes: string[] }

export function evidenceOf(input: EvidenceInput): Evidence {
  const phrases = phrasesOf(input.language)
  const quoteNotes = [
    ...(input.quoteUnused === 'stale' ? [phrases.staleQuote] : []),
    ...(input.quoteUnused === 'mixed' ? [phrases.mixedSources] : []),
    ...(input.otherCurrency === null
      ? []
      : [fill(phrases.otherCurrency, { currency: input.otherCurrency, usual: currencyOf(input.instrument) })]),
    ...(input.otherName === null ? [] : [fill(phrases.nameMismatch, { other: input.otherName })]),
  ]
  const barNotes = [
    ...(input.staleSince === null ? [] : [fill(phrases.staleBars, { date: input.staleSince })]),
    ...(input.partial ? [phrases.partialBar] : []),
    ...keptNote(input),
  ]
  return {
    blocks: [
      { ...quoteBlock(input), warnings: quoteNotes },
      { ...barsBlock(input), warnings: barNotes },
      technicalBlock(input),
      chipBlock(input),
      fundamentalsBlock(input),
      newsBlock(input.news),
    ],
    notes: [...quoteNotes, ...barNotes],
  }
}

type Status = Block['status']

function block(key: Block['key'], status: Status, source: string | null, reasons: string[] = []): Block {
  return { key, status, source, warnings: [], missing_reasons: reasons }
}

const absent = (key: Block['key'], status: Status, reason: string): Block => block(key, status, null, [reason])

function quoteBlock({ quote, quoteUnused }: EvidenceInput): Block {
  if (!quote.ok) return block('quote', 'fetch_failed', null, failureReasons(quote))
  if (quoteUnused === 'mixed') return absent('quote', 'missing', 'sample and market figures are not mixed')
  return block('quote', quoteUnused === 'stale' ? 'stale' : fetchedStatus(quote), quote.provider)
}

function barsBlock({ bars, staleSince, barCount }: EvidenceInput): Block {
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

function technicalBlock({ technical, barCount, partial }: EvidenceInput): Block {
  if (technical === null) return absent('technical', 'missing', `${barCount} bars, ${MIN_BARS} needed`)
  const unripe = technical.indicators.dea === null
  return block('technical', partial || unripe ? 'partial' : 'available', 'computed')
}

/** Bars that were kept from before tell how old they are. */
function keptNote({ bars, language }: EvidenceInput): string[] {
  const age = bars.ok ? bars.runs.findLast(({ success }) => success)?.staleSeconds : undefined
  if (age === undefined) return []
  const phrases = phrasesOf(language)
  return [fill(phrases.kept, { block: labelsOf(language).block.daily_bars, age: ageText(age, phrases) })]
}

function chipBlock({ instrument: { market, kind }, hasChips }: EvidenceInput): Block {
  if (market !== 'cn' || kind === 'index') return absent('chip', 'not_supported', 'mainland shares only')
  return hasChips ? block('chip', 'available', 'computed') : absent('chip', 'missing', 'the quote tells no float')
}

function fundamentalsBlock({ instrument: { kind }, company, hasValuation }: EvidenceInput): Block {
  if (kind !== 'stock') return absent('fundamentals', 'not_supported', 'companies only')
  const { fundamentals } = company
  if (fundamentals.state !== 'ok') {
    if (hasValuation) return block('fundamentals', 'partial', 'quote', fundamentals.reasons.map(sanitize))
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

/** Kept from before, because nobody answers now. */
const isOldAnswer = ({ ageSeconds, runs }: Part<unknown>): boolean =>
  ageSeconds !== null && runs.some(({ success }) => !success)

function newsBlock(news: NewsFound | null): Block {
  if (news === null || (news.count === null && news.items.length === 0 && news.social === null)) {
    return absent('news', 'missing', 'no news search is configured')
  }
  const source = news.items[0]?.provider ?? news.social?.provider ?? null
  if ((news.count ?? 0) > 0) return block('news', 'available', source)
  if (news.isPooled || news.social !== null) return block('news', news.isPooled ? 'fallback' : 'partial', source)
  const searches = news.runs.filter(({ dataType }) => dataType === 'news_search')
  const failed = searches.filter(({ success }) => !success)
  if (searches.length > 0 && failed.length === searches.length) {
    const reasons = [...new Set(failed.map((run) => sanitize(run.errorMessage ?? run.provider)))]
    return block('news', 'fetch_failed', null, reasons)
  }
  return absent('news', 'missing', 'the search found nothing')
}

const SOUND: readonly Status[] = ['available', 'fallback']

/** Whether quote, bars and indicators are all fresh, complete and of a real market. */
export function isCoreSound(blocks: readonly Block[]): boolean {
  const core = blocks.filter(({ key }) => key === 'quote' || key === 'daily_bars' || key === 'technical')
  return core.every(({ status }) => SOUND.includes(status))
}
