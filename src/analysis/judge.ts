// From the gathered figures to the judgement: levels, evidence, the score's decision, and every rule that may keep the advice
// from following it.

import { type ChipDistribution, chipDistribution, floatSharesOf } from '../market/indicators/chips.ts'
import { type Instrument, currencyOf as moneyOf } from '../market/instruments.ts'
import { type CompanyValue, companyValue } from '../market/valuation.ts'
import { isSerious } from '../news/relevance.ts'
import { currencyOf, priceDecimals, quotedCurrency } from '../reports/format.ts'
import type { CurrencyCode } from '../reports/labels.ts'
import type { ReportLanguage, ReportStrategy } from '../reports/report.ts'
import { namesDisagree } from '../reports/stock-name.ts'
import { strategyOf } from '../reports/strategy.ts'
import { type FlowView, flowView, UNKNOWN_FLOW } from './capital-flow.ts'
import { type Decision, decide } from './decision.ts'
import { type Evidence, evidenceOf, isCoreSound } from './evidence.ts'
import { guarded, type Structure, structureOf } from './guardrails.ts'
import { steadied } from './hysteresis.ts'
import { type StrategyLevels, strategyLevels } from './levels.ts'
import type { Gathering, MarketView } from './market-view.ts'
import type { PreviousReport } from './previous.ts'
import { chosenSkills, type SkillFinding, skillFindings, speaksAgainst } from './skills/catalogue.ts'

export type Judgement = {
  decimals: number
  currency: CurrencyCode
  priceCurrency: string
  value: CompanyValue | null
  levels: StrategyLevels
  strategy: ReportStrategy | null
  evidence: Evidence
  decision: Decision
  structure: Structure | null
  flow: FlowView
  chips: ChipDistribution | null
  skillFindings: SkillFinding[]
  unknownSkills: string[]
  /** The report before, if it may be compared with. */
  previous: PreviousReport | null
}

export function judge(gathering: Gathering, view: MarketView, language: ReportLanguage): Judgement {
  const { instrument } = gathering.input
  const price = view.price ?? 0
  const decimals = priceDecimals(instrument, price)
  const currency = quotedCurrency(instrument, view.quote?.currency ?? null)
  const levels = strategyLevels(view.technical, price, decimals)
  const flow = gathering.company.flow.value === null ? UNKNOWN_FLOW : flowView(gathering.company.flow.value)
  const chips = chipsOf(gathering, view)
  const value = companyValue(view.quote, gathering.company.fundamentals.value, view.bars.at(-1)?.date ?? null)
  const evidence = evidenceFor(gathering, view, { language, hasChips: chips !== null, hasValue: value !== null })
  const skills = skillsOf(gathering, view, { flow, value, language })
  const structure = view.technical && structureOf(view.technical, price)
  const previous = comparable(gathering, view)
  const scored = decide(view.technical, {
    coreIsSound: isCoreSound(evidence.blocks),
    flowKnown: flow.bias !== 'unavailable',
  })
  const seriousRisk = gathering.news?.items.some(isSerious) ?? false
  const situation = { price, structure, flow: flow.bias, seriousRisk, mood: view.provenance ? null : gathering.mood }
  const date = view.bars.at(-1)?.date ?? null
  const held = steadied(guarded(scored, situation), previous, { market: instrument.market, date, price })
  return {
    decimals,
    currency,
    priceCurrency: view.quote?.currency ?? moneyOf(instrument),
    value,
    levels,
    strategy: strategyOf(levels, { decimals, currency, language }),
    evidence,
    decision: doubted(held, skills.skillFindings),
    structure,
    flow,
    chips,
    ...skills,
    previous,
  }
}

/** Samples and real figures are not compared, and neither are reports from the future of these bars. */
function comparable({ previous }: Gathering, view: MarketView): PreviousReport | null {
  if (previous === null || previous.isSample !== (view.provenance !== null)) return null
  const date = view.bars.at(-1)?.date
  return previous.date !== null && date !== undefined && previous.date > date ? null : previous
}

/** A purchase that every chosen strategy speaks against loses a step of confidence. */
function doubted(decision: Decision, findings: readonly SkillFinding[]): Decision {
  if (decision.type !== 'buy' || !speaksAgainst(findings)) return decision
  return { ...decision, confidence: decision.confidence === 'high' ? 'medium' : 'low' }
}

function chipsOf({ input }: Gathering, { quote, bars, provenance }: MarketView): ChipDistribution | null {
  const { market, kind } = input.instrument
  if (market !== 'cn' || kind === 'index' || quote === null || provenance !== null) return null
  const shares = floatSharesOf(quote)
  return shares === null ? null : chipDistribution(bars, shares)
}

function skillsOf(
  { input, company, news }: Gathering,
  { technical, bars, price, quote }: MarketView,
  { flow, value, language }: { flow: FlowView; value: CompanyValue | null; language: ReportLanguage },
) {
  const { known, unknown } = chosenSkills(input.request.skills)
  const stockName = input.names.zh ?? input.names.en ?? ''
  const view = price !== null ? { technical, bars, price, quote, flow, value, company, news, stockName } : null
  return { skillFindings: skillFindings(known, view, language), unknownSkills: unknown }
}

function evidenceFor(
  { input, bars, quote, company, news }: Gathering,
  view: MarketView,
  { language, hasChips, hasValue }: { language: ReportLanguage; hasChips: boolean; hasValue: boolean },
): Evidence {
  const { instrument, names } = input
  const quoteName = quote.ok ? quote.value.name : null
  const disagrees = namesDisagree(names.zh, quoteName) || namesDisagree(names.en, quoteName)
  return evidenceOf({
    instrument,
    language,
    bars,
    quote,
    technical: view.technical,
    barCount: view.bars.length,
    staleSince: view.staleSince,
    quoteUnused: view.quoteUnused,
    partial: view.partial,
    otherName: disagrees ? quoteName : null,
    otherCurrency: otherCurrency(input.instrument, view),
    company,
    hasValuation: hasValue,
    hasChips,
    news,
  })
}

/** The money of a quote when it is not the market's own. */
function otherCurrency(instrument: Instrument, { quote }: MarketView): string | null {
  const quoted = quote?.currency ?? null
  return quoted === null || instrument.kind === 'index' || quoted === currencyOf(instrument) ? null : quoted
}
