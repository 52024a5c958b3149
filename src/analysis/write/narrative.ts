// The text of a report, written by code. Every figure in it comes from the computed view; nothing is stated that was
// not computed.

import type { Touch } from '../../market/consistency/types.ts'
import type { ReasonCode } from '../codes.ts'
import { isOutdated, isUntraded } from '../judge/guardrails.ts'
import type { Judged } from '../judge/judge.ts'
import { isInFavour, type ScorePart } from '../judge/score.ts'
import { MIN_BARS } from '../judge/signals.ts'
import type { MarketPhaseSummary, ReportStrategy } from '../schemas.ts'
import { fill, textsOf } from '../texts/book.ts'
import { adjustmentText, checksNotice, markFor, withMark } from '../texts/findings.ts'
import { aside, fixed, sampleNotice, signedPct, withUnit } from '../texts/format.ts'
import type { AnalysisTexts, StayOutReason } from '../texts/texts.ts'
import { liveRatioText } from './beside-texts.ts'
import { type CompanyTexts, companyTexts } from './company-texts.ts'
import { withSeparator } from './sentences.ts'
import { sizeText, wireHorizons } from './strategy.ts'

type NarrativeInput = Judged & { strategy: ReportStrategy | null }

/** Texts that only a model writes. */
type Outlook = { shortTerm: string | null; mediumTerm: string | null; earningsOutlook: string | null }

export type Narrative = CompanyTexts &
  Outlook & {
    oneSentence: string
    summary: string
    guardReason: string | null
    averages: string | null
    volume: string | null
    momentum: string | null
    range: string | null
    /** A reason for every part of the score, in the order of the parts. */
    partReasons: string[]
    catalysts: string[]
    risks: string[]
    strongest: string | null
    weakest: string | null
    noPosition: string
    hasPosition: string
    size: string
    timing: string
    entryPlan: string | null
    riskControl: string | null
    immediate: string
    window: string
    watch: string[]
    nextCheck: string
    confidenceReason: string
    limitations: string[]
  }

export function narrate(input: NarrativeInput): Narrative {
  const { language, technical } = input
  const phrases = textsOf(language).analysis
  const parts = technical?.score.parts ?? []
  const reasons = parts.map((part) => ({ part, text: partReason(part, phrases) }))
  const good = reasons.filter(({ part }) => toneOf(part) === 'good').map(({ text }) => text)
  const bad = reasons.filter(({ part }) => toneOf(part) === 'bad').map(({ text }) => text)
  const guardReason = guardText(input)
  return {
    ...companyTexts(input),
    shortTerm: null,
    mediumTerm: null,
    earningsOutlook: null,
    oneSentence: fill(phrases.oneSentence, verdict(input)),
    summary: summaryOf(input, { good, bad, guardReason }),
    guardReason,
    ...technicalTexts(input, phrases),
    partReasons: reasons.map(({ text }) => text),
    catalysts: good,
    risks: [...bad, ...edgeOfRange(input, phrases), ...(guardReason === null ? [] : [guardReason])],
    strongest: extreme(reasons, 1),
    weakest: extreme(reasons, -1),
    ...planTexts(input, phrases),
    limitations: limitationsOf(input),
  }
}

function guardText({ language, decision, decimals }: NarrativeInput): string | null {
  const { guard, guardValues } = decision
  if (guard === null) return null
  const price = (value: string | number) => (typeof value === 'number' ? fixed(value, decimals) : value)
  const prices = Object.entries(guardValues).filter(([name]) => name === 'support' || name === 'resistance')
  const shown = Object.fromEntries(prices.map(([name, value]) => [name, price(value)]))
  return fill(textsOf(language).report.guard[guard], { ...guardValues, ...shown })
}

function partReason({ reason, value }: ScorePart, phrases: AnalysisTexts): string {
  return fill(phrases.reason[reason], value === null ? {} : { value: partValue(reason, value) })
}

function partValue(reason: ReasonCode, value: number): string {
  if (reason.startsWith('bias')) return signedPct(value, 1)
  return fixed(value, reason.startsWith('volume') ? 2 : 1)
}

const GOOD: readonly ReasonCode[] = [
  'trend_strong_bull',
  'trend_bull',
  'bias_pullback',
  'bias_close',
  'volume_shrinking_down',
  'volume_heavy_up',
  'volume_live_heavy_up',
  'support_both',
  'macd_golden_above_zero',
  'macd_zero_up',
  'macd_golden',
  'macd_bull',
  'rsi_oversold',
  'rsi_strong',
]
const BAD: readonly ReasonCode[] = [
  'trend_weak_bear',
  'trend_bear',
  'trend_strong_bear',
  'bias_broken',
  'bias_chasing',
  'volume_heavy_down',
  'volume_live_heavy_down',
  'volume_shrinking_up',
  'macd_dead',
  'macd_zero_down',
  'macd_bear',
  'rsi_overbought',
  'rsi_weak',
]
const TONE: Partial<Record<ReasonCode, 'good' | 'bad'>> = Object.fromEntries([
  ...GOOD.map((reason) => [reason, 'good']),
  ...BAD.map((reason) => [reason, 'bad']),
])

/**
 * A positive reason with no more than the neutral points counts as neither good nor bad: a price just above its average
 * is near it, and a little late.
 */
function toneOf(part: ScorePart): 'good' | 'bad' | null {
  const tone = TONE[part.reason] ?? null
  return tone === 'good' && !isInFavour(part) ? null : tone
}

type Reasoned = { part: ScorePart; text: string }

/** The part nearest to its best (1) or its worst (−1) case, if its reason has that tone. */
function extreme(reasons: Reasoned[], sign: 1 | -1): string | null {
  const tone = sign === 1 ? 'good' : 'bad'
  const fitting = reasons.filter(({ part }) => toneOf(part) === tone)
  const weight = ({ part }: Reasoned) => (sign === 1 ? part.points : part.max - part.points)
  return fitting.sort((a, b) => weight(b) - weight(a))[0]?.text ?? null
}

function verdict({ language, technical, decision }: NarrativeInput): Record<string, string | number> {
  const { report: labels, outlook } = textsOf(language)
  const trend =
    technical === null
      ? labels.trendPrediction[decision.trend]
      : fill(outlook.ofShort, { trend: labels.trendState[technical.trend] })
  return { trend, score: decision.score, advice: labels.advice[decision.advice] }
}

type Findings = { good: string[]; bad: string[]; guardReason: string | null }

function summaryOf(input: NarrativeInput, { good, bad, guardReason }: Findings): string {
  const { language, technical, bars, provenance } = input
  const phrases = textsOf(language).analysis
  const labels = textsOf(language).report
  const joined = (texts: string[]) => texts.join(labels.clauseJoin)
  const notice = checksNotice(input.consistency, language)
  const sentences = [
    provenance === null ? '' : withSeparator(sampleNotice(provenance, language)),
    notice === null ? '' : withSeparator(notice),
    headline(input, phrases),
    technical === null ? fill(phrases.noTechnical, { count: bars.length, min: MIN_BARS }) : '',
    technical === null ? '' : fill(phrases.view, verdict(input)),
    horizonsSentence(input),
    good.length === 0 ? '' : fill(phrases.good, { text: joined(good) }),
    bad.length === 0 ? '' : fill(phrases.bad, { text: joined(bad) }),
    guardReason === null || technical === null ? '' : `${guardReason}${language === 'zh' ? '。' : '. '}`,
    labels.codeMade,
  ]
  return sentences.join('').trim()
}

/** How long the verdict is valid. */
function horizonsSentence(input: NarrativeInput): string {
  const { heading, colon } = textsOf(input.language).outlook
  const told = wireHorizons(input)
  return told === null ? '' : `${heading.horizons}${colon}${told.text}${input.language === 'zh' ? '。' : '. '}`
}

/** The sentence of price and change. */
export function headline(input: Judged, phrases: AnalysisTexts): string {
  const { displayName: name, today, phase, partial, price, changePct } = input
  const code = input.instrument.key
  const date = today?.date ?? phase.effective_daily_bar_date
  if (price === null) return fill(phrases.summaryNoPrice, { name, code })
  const change = changePct === null ? '' : aside(signedPct(changePct), input.language)
  const amount = withUnit(fixed(price, input.decimals), input.currency, input.language)
  const values = { name, code, date: date ?? phrases.unknown, price: amount, change }
  // For a phase from the request, that phase decides whether the market is open; the price may belong to another one.
  if (isAskedFor(phase) && OPEN_PHASES.includes(phase.phase) !== partial) return fill(phrases.summaryAt, values)
  return fill(partial ? phrases.summaryLive : phrases.summaryClosed, values)
}

const isAskedFor = ({ analysis_intent: intent }: MarketPhaseSummary): boolean => intent !== null && intent !== 'auto'

type TechnicalTexts = Pick<Narrative, 'averages' | 'volume' | 'momentum' | 'range'>

function technicalTexts(input: NarrativeInput, phrases: AnalysisTexts): TechnicalTexts {
  const { technical, decimals, consistency, language } = input
  if (technical === null) return { averages: null, volume: null, momentum: null, range: null }
  const { indicators, score } = technical
  const isLive = input.sameTime?.isKnown === true
  const told = (text: string, touches: Touch[]) => withMark(text, markFor(consistency, touches, language))
  const basis = aside(adjustmentText(consistency.adjustment, language), language)
  const shown = (digits: number) => (value: number | null) => (value === null ? phrases.unknown : fixed(value, digits))
  const [price, plain] = [shown(decimals), shown(1)]
  const reason = (key: ScorePart['key']) =>
    score.parts
      .filter((part) => part.key === key)
      .map((part) => partReason(part, phrases))
      .join('')
  return {
    averages: told(
      fill(phrases.averages, {
        ma5: price(indicators.ma5),
        ma10: price(indicators.ma10),
        ma20: price(indicators.ma20),
        ma60: indicators.ma60 === null ? '' : `${textsOf(language).report.comma}MA60 ${price(indicators.ma60)}`,
        reason: reason('trend'),
      }) + basis,
      ['averages'],
    ),
    volume: told(reason('volume') + (isLive ? aside(liveRatioText(input) ?? '', language) : ''), ['volume']),
    momentum: told(
      fill(phrases.momentum, {
        macd: reason('macd'),
        rsi: reason('rsi'),
        k: plain(indicators.k),
        d: plain(indicators.d),
        j: plain(indicators.j),
      }),
      ['averages'],
    ),
    range: rangeText(input, phrases),
  }
}

/** The range of a year; its name says so if the bars are adjusted. */
function rangeText({ technical, decimals, consistency, language }: NarrativeInput, phrases: AnalysisTexts) {
  const { yearRange = null } = technical ?? {}
  if (yearRange === null) return null
  const isAdjusted = consistency.adjustment.kind === 'forward'
  const text = fill(isAdjusted ? textsOf(language).consistency.adjustedRangeText : phrases.range, {
    low: fixed(yearRange.low, decimals),
    high: fixed(yearRange.high, decimals),
    position: fixed(yearRange.positionPct, 0),
  })
  const basis = aside(adjustmentText(consistency.adjustment, language), language)
  return withMark(text + basis, markFor(consistency, ['range'], language))
}

const EDGE_PCT = 3

function edgeOfRange({ technical, consistency, language }: Judged, phrases: AnalysisTexts): string[] {
  const position = technical?.yearRange?.positionPct
  if (position === undefined) return []
  const { nearAdjustedHigh, nearAdjustedLow } = textsOf(language).consistency
  const isAdjusted = consistency.adjustment.kind === 'forward'
  if (position >= 100 - EDGE_PCT) return [isAdjusted ? nearAdjustedHigh : phrases.nearYearHigh]
  return position <= EDGE_PCT ? [isAdjusted ? nearAdjustedLow : phrases.nearYearLow] : []
}

type PlanTexts = Pick<
  Narrative,
  | 'noPosition'
  | 'hasPosition'
  | 'size'
  | 'timing'
  | 'entryPlan'
  | 'riskControl'
  | 'immediate'
  | 'window'
  | 'watch'
  | 'nextCheck'
  | 'confidenceReason'
>

const OPEN_PHASES: readonly MarketPhaseSummary['phase'][] = ['intraday', 'lunch_break', 'closing_auction']

function planTexts(input: NarrativeInput, phrases: AnalysisTexts): PlanTexts {
  const { decision, strategy, phase, overview } = input
  const { type, score } = decision
  const isOpen = OPEN_PHASES.includes(phase.phase)
  const when = isOpen ? 'open' : 'next'
  const { ideal_buy, secondary_buy, stop_loss, take_profit } = strategy ?? NO_STRATEGY
  return {
    ...positionTexts(input, phrases),
    timing: phrases.timing[type],
    entryPlan:
      type === 'buy' && ideal_buy && secondary_buy
        ? fill(phrases.entryPlan, { ideal: ideal_buy, secondary: secondary_buy })
        : null,
    riskControl: riskText(input, phrases),
    // While the market is closed, no immediate action may be advised.
    immediate: isOpen ? phrases.immediate[type] : phrases.notNow,
    window: phrases.window[when],
    watch: [
      ...(stop_loss ? [fill(phrases.watchBelow, { price: stop_loss })] : []),
      ...(take_profit ? [fill(phrases.watchAbove, { price: take_profit })] : []),
    ],
    nextCheck: phrases.nextCheck[when],
    confidenceReason: fill(phrases.confidence, { score, quality: overview.data_quality.overall_score }),
  }
}

type PositionTexts = Pick<Narrative, 'noPosition' | 'hasPosition' | 'size'>

/** What to do with and without a position. If nothing is bought, the decisive reason is given. */
function positionTexts(input: NarrativeInput, phrases: AnalysisTexts): PositionTexts {
  const {
    decision: { type },
    strategy,
    technical,
    plan,
  } = input
  const { ideal_buy, stop_loss } = strategy ?? NO_STRATEGY
  const bare = { noPosition: phrases.noPositionBare[type], hasPosition: phrases.hasPositionBare[type] }
  const hasPosition = stop_loss ? phrases.hasPosition[type] : bare.hasPosition
  if (type === 'hold') {
    const size = phrases.size.hold
    if (technical === null) return { ...bare, size }
    const keep = stop_loss ? hasPosition : phrases.keepUnstopped
    return { noPosition: phrases.stayOut[stayOutReason(input)], hasPosition: keep, size }
  }
  const noPosition = stop_loss && ideal_buy ? phrases.noPosition[type] : bare.noPosition
  if (type === 'sell') return { noPosition, hasPosition, size: phrases.size.sell }
  const size = plan === null ? phrases.size.hold : fill(phrases.buySize, { size: sizeText(plan) })
  return { noPosition, hasPosition, size }
}

function stayOutReason(input: NarrativeInput): StayOutReason {
  if (isUntraded(input.consistency)) return 'untraded'
  if (isOutdated(input)) return 'outdated'
  return input.plan === null ? 'unplanned' : 'unsignalled'
}

/** Stop and target, with the distance of the price from each, so that risk and reward can be compared. */
function riskText({ strategy, levels, price, language }: NarrativeInput, phrases: AnalysisTexts): string | null {
  const { stop_loss: stop, take_profit: target } = strategy ?? NO_STRATEGY
  if (!stop || !target) return null
  const text = fill(phrases.riskControl, { stop, target })
  const { stopLoss, takeProfit } = levels
  if (price === null || price <= 0 || stopLoss === null || takeProfit === null) return text
  const away = (level: number) => signedPct((level / price - 1) * 100, 1)
  const far = fill(phrases.riskReward, { down: away(stopLoss.price), up: away(takeProfit.price) })
  return text + textsOf(language).report.comma + far
}

const NO_STRATEGY: ReportStrategy = { ideal_buy: null, secondary_buy: null, stop_loss: null, take_profit: null }

/** Missing or doubtful data. */
export function limitationsOf(judged: Judged): string[] {
  const { evidence, unknownSkills, skillFindings, decision, language } = judged
  const phrases = textsOf(language).analysis
  const isAgainst = decision.type === 'buy' && skillFindings.some(({ verdict }) => verdict === 'not')
  const allAgainst = isAgainst && skillFindings.every(({ verdict }) => verdict === 'not' || verdict === 'unknown')
  return [
    ...evidence.notes,
    ...(unknownSkills.length > 0 ? [fill(phrases.unknownSkills, { names: unknownSkills.join(', ') })] : []),
    ...(allAgainst ? [phrases.skillsAgainst] : []),
    ...oldResults(judged, phrases),
  ]
}

/** With two reports a year and half a year of delay, newer results have been published after this time. */
const OLD_RESULTS_DAYS = 300
const DAY_MS = 86_400_000

function oldResults({ dates, asOf }: Judged, { oldResults: told }: AnalysisTexts): string[] {
  if (dates.resultsFor === null) return []
  const days = Math.round((Date.parse(asOf) - Date.parse(dates.resultsFor)) / DAY_MS)
  return days > OLD_RESULTS_DAYS ? [fill(told, { date: dates.resultsFor, days })] : []
}
