// The second step, from the gathered data to the judgement: levels, evidence, the score's decision, and every rule that
// may keep the advice from following it.

import { type CompanyValue, companyValue } from '../../market/company.ts'
import type { Consistency } from '../../market/consistency/examine.ts'
import { limitShare } from '../../market/consistency/limits.ts'
import { type ChipDistribution, chipDistribution, floatSharesOf } from '../../market/indicators/chips.ts'
import { columns, indicatorSeries } from '../../market/indicators/index.ts'
import { currencyOf as moneyOf } from '../../market/instruments.ts'
import { isSerious } from '../../news/relevance.ts'
import type { NewsResult } from '../../news/search.ts'
import type { Confidence, CurrencyCode, PartState } from '../codes.ts'
import { type FlowView, flowView, UNKNOWN_FLOW, type YearOfDividends, yearOfDividends } from '../gather/company.ts'
import type { Inputs } from '../gather/gather.ts'
import { isWithoutTrade } from '../gather/market-view.ts'
import type { PreviousReport } from '../gather/previous.ts'
import type { ContextPackOverview } from '../schemas.ts'
import { type NewsEvidence, priceDecimals, quotedCurrency } from '../texts/format.ts'
import { type Decision, decide, NO_DECISION } from './decision.ts'
import { contextPackOverview, type Evidence, evidenceOf, isCoreSound, newsOfListing } from './evidence.ts'
import {
  guarded,
  heldToPlan,
  isOutdated,
  isUntraded,
  outdatedHeld,
  type Structure,
  steadied,
  structureOf,
  untradedHeld,
} from './guardrails.ts'
import { type PeriodTrends, periodTrends } from './horizons.ts'
import {
  type Costs,
  costsOf,
  hasPlan,
  type NearbyLevels,
  nearbyLevels,
  type StrategyLevels,
  shownLevels,
  strategyLevels,
  type TradePlan,
  tradePlan,
} from './levels.ts'
import {
  type Liquidity,
  liquidityOf,
  type MarketComparison,
  marketComparison,
  type PeerMultiples,
  peerMultiples,
} from './market-comparison.ts'
import { type Technical, technicalView } from './signals.ts'
import { chosenSkills, type SkillFinding, skillFindings, speaksAgainst } from './skills.ts'

export type Judgement = {
  technical: Technical | null
  /** Trends of whole weeks and months. */
  periods: PeriodTrends | null
  /** The comparison with the index of its market. */
  comparison: MarketComparison
  liquidity: Liquidity
  dates: CompanyDates
  peers: PeerMultiples
  nearby: NearbyLevels | null
  decimals: number
  currency: CurrencyCode
  /** The currency of the price, even if reports have no name for it. */
  priceCurrency: string
  /** Ratios and size of the company; null when no source has them. */
  value: CompanyValue | null
  dividends: YearOfDividends | null
  /** Without buying prices when nothing should be bought. */
  levels: StrategyLevels
  /**
   * What a purchase could win and lose, whatever is advised; null when it could not win enough, and for outdated bars
   * and untraded shares.
   */
  plan: TradePlan | null
  evidence: Evidence
  newsEvidence: NewsEvidence
  overview: ContextPackOverview
  decision: Decision
  structure: Structure | null
  flow: FlowView
  chips: ChipDistribution | null
  skillFindings: SkillFinding[]
  unknownSkills: string[]
  /** The previous report, if it may be compared. */
  compared: PreviousReport | null
}

/** The input of the later steps. */
export type Judged = Inputs & Judgement

export function judge(inputs: Inputs): Judgement {
  const { instrument, quote, news, consistency } = inputs
  const price = inputs.price ?? 0
  const figures = figuresOf(inputs)
  const { technical, decimals, priceCurrency } = figures
  const evidence = evidenceOf({ ...inputs, ...figures })
  const newsEvidence = newsEvidenceOf(news)
  const skills = skillsOf({ ...inputs, ...figures })
  const structure = technical && structureOf(technical, price)
  const compared = comparable(inputs)
  const costs = costsOf(instrument, inputs.asOf)
  const levels = strategyLevels(technical, price, decimals)
  const plan = isOutdated(inputs) || isUntraded(consistency) ? null : tradePlan(levels, costs, decimals)
  const scored = decisionOf(inputs, { ...figures, evidence, structure, compared, costs })
  const decision = doubted(scored, skills.skillFindings, consistency)
  return {
    ...figures,
    periods: technical && periodTrends(inputs.bars, technical.indicators.atr),
    comparison: marketComparison(inputs),
    liquidity: liquidityOf({ ...inputs, priceCurrency }),
    dates: companyDates(inputs),
    peers: peerMultiples(inputs),
    nearby: technical && nearbyLevels(technical, price),
    currency: quotedCurrency(instrument, quote?.currency ?? null),
    dividends: yearOfDividends({ ...inputs, priceCurrency }),
    levels: shownLevels(levels, plan, decision.type === 'sell'),
    plan,
    evidence,
    newsEvidence,
    overview: contextPackOverview(inputs, evidence.blocks, newsEvidence.count),
    decision,
    structure,
    ...skills,
    compared,
  }
}

/** Values that are computed from the inputs alone. */
function figuresOf(inputs: Inputs) {
  const { instrument, company, quote } = inputs
  return {
    technical: technicalView(inputs.bars, {
      ...inputs,
      sameTimeRatio: inputs.sameTime?.isKnown ? inputs.sameTime.ratio : null,
    }),
    value: companyValue(quote, company.fundamentals.value, inputs.today?.date ?? null),
    chips: chipsOf(inputs),
    flow: company.flow.value === null ? UNKNOWN_FLOW : flowView(company.flow.value),
    decimals: priceDecimals(instrument, inputs.price ?? 0),
    priceCurrency: quote?.currency ?? moneyOf(instrument),
  }
}

type Material = Pick<Judgement, 'technical' | 'evidence' | 'flow' | 'structure' | 'compared' | 'decimals'> & {
  costs: Costs
}

/** The score's decision after all rules; none when a check has withheld the figures. */
function decisionOf(inputs: Inputs, material: Material): Decision {
  if (inputs.consistency.isBlocked) return NO_DECISION
  const { technical, evidence, flow, structure, compared, decimals, costs } = material
  const { news, provenance, mood, today, instrument, consistency } = inputs
  const price = inputs.price ?? 0
  const decided = decide(technical, {
    coreIsSound: isCoreSound(evidence.blocks),
    flowKnown: flow.bias !== 'unavailable',
  })
  const inPlan = (some: Decision) =>
    heldToPlan(some, (side) => technical !== null && hasPlan({ side, technical, price, decimals }, costs))
  const scored = inPlan(outdatedHeld(untradedHeld(decided, consistency), inputs))
  const seriousRisk = newsOfListing(news).some(isSerious)
  const situation = { price, structure, flow: flow.bias, seriousRisk, mood: provenance ? null : mood }
  const moment = { market: instrument.market, date: today?.date ?? null, price }
  // The previous report's advice, too, is only kept while a plan can win enough.
  return inPlan(steadied(guarded(scored, situation), compared, moment))
}

/**
 * Only what was really found counts as evidence: hits, posts from social platforms, items of the pool. A search without
 * results differs from no configured search.
 */
function newsEvidenceOf(news: NewsResult | null): NewsEvidence {
  if (news === null) return { known: true, count: null, evidencePresent: false }
  const evidencePresent = (news.count ?? 0) > 0 || news.isPooled || news.social !== null
  return { known: true, count: news.count, evidencePresent }
}

/** Samples and market data are not compared, and neither are reports that are newer than these bars. */
function comparable({ previous, provenance, today, consistency }: Inputs): PreviousReport | null {
  if (previous === null || consistency.isBlocked || previous.isSample !== (provenance !== null)) return null
  return previous.date !== null && today !== null && previous.date > today.date ? null : previous
}

/** The confidence of a purchase is reduced when every chosen strategy contradicts it, and when a check warns. */
function doubted(decision: Decision, findings: readonly SkillFinding[], consistency: Consistency): Decision {
  const { findings: checks, isBlocked } = consistency
  if (isBlocked) return decision
  const isAgainst = decision.type === 'buy' && speaksAgainst(findings)
  const isWarned = checks.some(({ verdict }) => verdict === 'warn' || verdict === 'fail')
  const after = isAgainst ? lower(decision.confidence) : decision.confidence
  return { ...decision, confidence: isWarned ? lower(after) : after }
}

const lower = (confidence: Confidence): Confidence => (confidence === 'high' ? 'medium' : 'low')

function chipsOf({ instrument, quote, bars, provenance, consistency }: Inputs): ChipDistribution | null {
  const { market, kind } = instrument
  if (market !== 'cn' || kind === 'index' || quote === null || provenance !== null || bars.length === 0) return null
  if (consistency.withheld.includes('volume')) return null
  const shares = floatSharesOf(quote)
  return shares === null ? null : chipDistribution(bars, shares)
}

function skillsOf(view: Inputs & Pick<Judgement, 'technical' | 'flow' | 'value'>) {
  const { request, names, language, consistency } = view
  const price = consistency.isBlocked ? null : view.price
  const { known, unknown } = chosenSkills(request.skills)
  const stockName = names.zh ?? names.en ?? ''
  const findings = skillFindings(known, price === null ? null : { ...view, price, stockName }, language)
  return { skillFindings: findings, unknownSkills: unknown }
}

// Data for claims about days before the last one: crosses, a lost average, the limit of a session.

export function recentSeries(facts: Judged) {
  const { dif, dea, ma60 } = indicatorSeries(columns(facts.bars))
  return { difs: listOf(dif), deas: listOf(dea), ma60s: listOf(ma60), limitPct: limitOf(facts) }
}

const listOf = (series: ArrayLike<number>) => Array.from(series, (value) => (Number.isNaN(value) ? null : value))

function limitOf({ instrument, asOf, quote, yesterday, displayName }: Judged): number | null {
  // A quote without a trade belongs to no session of the bars.
  const previousClose = quote && !isWithoutTrade(quote) ? quote.prevClose : yesterday?.close
  if (previousClose === undefined) return null
  const limit = limitShare({ instrument, date: asOf, previousClose, isAdjusted: true, name: displayName })
  return limit === null ? null : limit * 100
}

// The last report of results and the ex-dividend dates, as far as a source has them.

type CompanyDates = {
  /** `sample`: not requested, because a sample has another date. */
  status: PartState | 'sample'
  /** The last day of the period of the newest results, and the day of their publication. */
  resultsFor: string | null
  resultsToldOn: string | null
  /** Among the known dates: the last one up to the report's session, and the first one after it. */
  lastExDividend: string | null
  nextExDividend: string | null
}

type Subject = Pick<Inputs, 'company' | 'provenance' | 'instrument' | 'asOf'>

function companyDates({ company, provenance, instrument, asOf }: Subject): CompanyDates {
  const { state, value } = company.fundamentals
  const isSample = provenance !== null && instrument.kind === 'stock'
  const exDates = (value?.dividends ?? []).flatMap(({ exDate }) => exDate ?? []).sort()
  return {
    status: isSample ? 'sample' : state,
    resultsFor: value?.report?.reportDate ?? null,
    resultsToldOn: value?.report?.announcedOn ?? null,
    lastExDividend: exDates.findLast((date) => date <= asOf) ?? null,
    nextExDividend: exDates.find((date) => date > asOf) ?? null,
  }
}
