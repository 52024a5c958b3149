import type { Quote } from '../../market/bars.ts'
import { chipHealth } from '../../market/indicators/chips.ts'
import type { Action } from '../schemas.ts'
import { textsOf } from '../texts/book.ts'
import { figure, fixed, keptDecimals, largeNumber, sampleLabelled, signedPct } from '../texts/format.ts'
import { besideMembers } from '../write/beside-texts.ts'
import { figureCheck } from '../write/model-box.ts'
import { levelRows, wireHorizons, wirePlan } from '../write/strategy.ts'
import { wireConsistency } from './consistency.ts'
import { evidenceMembers } from './evidence.ts'
import { type Facts, quoteSource, type Verdict } from './facts.ts'

type Json = Record<string, unknown>

/**
 * The result in the fields that readers of a model's answer know, filled by code. Fields that code cannot fill are left
 * out.
 */
export function rawResult(facts: Facts, verdict: Verdict): Json {
  return {
    code: facts.instrument.key,
    name: facts.displayName,
    ...verdictMembers(facts, verdict),
    dashboard: dashboard(facts, verdict),
    ...sections(facts),
    market_snapshot: marketSnapshot(facts),
    search_performed: facts.newsEvidence.count !== null,
    success: true,
    error_message: null,
    current_price: pricedIn(facts)(facts.price),
    change_pct: facts.changePct,
    ...authorship(facts),
    advice_code: facts.decision.advice,
    data_provenance: facts.provenance?.label ?? null,
    ...interventions(facts),
    changes_since_previous: facts.changes,
    horizons: wireHorizons(facts),
    trade_plan: wirePlan(facts),
    ...besideMembers(facts),
    strategy_synthesis: synthesis(facts),
    news_result_count: facts.newsEvidence.count,
    news_result_count_known: facts.newsEvidence.known,
    news_evidence_present: facts.newsEvidence.evidencePresent,
    consistency: wireConsistency(facts.consistency, facts.language),
  }
}

/** Prices in the stored precision, next to those that are shown. */
const pricedIn =
  ({ decimals }: Pick<Facts, 'decimals'>) =>
  (price: number | null | undefined) =>
    figure(price, keptDecimals(decimals))

/** The recommendation and its language. A report whose figures failed a check has no score. */
function verdictMembers(facts: Facts, verdict: Verdict): Json {
  const { decision, language, consistency } = facts
  const hasScore = !consistency.isBlocked
  return {
    sentiment_score: hasScore ? decision.score : null,
    trend_prediction: verdict.trend,
    operation_advice: verdict.advice,
    decision_type: hasScore ? decision.type : null,
    confidence_level: textsOf(language).report.confidence[decision.confidence],
    ...evidenceMembers(facts),
    report_language: language,
    action: verdict.action,
    action_label: verdict.actionLabel,
  }
}

/** The sections of the text. */
function sections({ narrative, technical, language }: Facts): Json {
  const labels = textsOf(language).report
  return {
    trend_analysis: technical && labels.trendState[technical.trend],
    short_term_outlook: narrative.shortTerm,
    medium_term_outlook: narrative.mediumTerm,
    technical_analysis: narrative.momentum,
    ma_analysis: narrative.averages,
    volume_analysis: narrative.volume,
    fundamental_analysis: narrative.fundamental,
    capital_flow_summary: narrative.flow,
    sector_position: narrative.sector,
    chip_summary: narrative.chips,
    news_summary: narrative.newsSummary,
    market_sentiment: narrative.sentiment,
    analysis_summary: narrative.summary,
    key_points: narrative.catalysts.join(labels.clauseJoin),
    risk_warning: narrative.risks.join(labels.clauseJoin),
    buy_reason: narrative.strongest,
  }
}

/** The changes by rules after the score, with the reasons. */
function interventions({ decision, narrative }: Facts): Json {
  return {
    guardrail_reason: narrative.guardReason,
    guardrail_interventions: decision.interventions.map(({ guard, from, to, rawScore, score }) => {
      return {
        guard,
        from,
        to,
        raw_score: rawScore,
        score,
        reason: guard === decision.guard ? narrative.guardReason : null,
      }
    }),
  }
}

/** Who wrote texts of the report, and their state. The model's text is in `model_comment` and nowhere else. */
function authorship({ told }: Facts): Json {
  const isTold = told !== null && told.box !== null
  return {
    model_used: told?.model ?? null,
    // Also with a model, because it only comments and fills no other field.
    generated_by: 'rules',
    model_fault: isTold ? null : (told?.runs.at(-1)?.error_type ?? null),
    model_action: told?.action ?? null,
    figure_check: figureCheck(told),
    phase_wording_struck: told?.recaps ?? 0,
    model_comment: told?.box ?? null,
  }
}

function synthesis({ skillFindings, unknownSkills }: Facts): Json | null {
  if (skillFindings.length + unknownSkills.length === 0) return null
  const findings = skillFindings.map(({ verdictLabel, ...finding }) => ({ ...finding, verdict_label: verdictLabel }))
  return { findings, unknown: unknownSkills }
}

function dashboard(facts: Facts, verdict: Verdict): Json {
  const { narrative } = facts
  return {
    core_conclusion: {
      one_sentence: sampleLabelled(narrative.oneSentence, facts.provenance, facts.language),
      signal_type: verdict.advice,
      time_sensitivity: narrative.timing,
      position_advice: { no_position: narrative.noPosition, has_position: narrative.hasPosition },
    },
    data_perspective: dataPerspective(facts),
    intelligence: {
      latest_news: narrative.newsSummary,
      risk_alerts: narrative.risks,
      positive_catalysts: narrative.catalysts,
      earnings_outlook: narrative.earningsOutlook,
      sentiment_summary: narrative.sentiment,
    },
    battle_plan: battlePlan(facts),
    phase_decision: {
      phase_context: { phase: facts.phase.phase, session_date: facts.phase.session_date },
      action_window: narrative.window,
      immediate_action: narrative.immediate,
      watch_conditions: narrative.watch,
      next_check_time: narrative.nextCheck,
      confidence_reason: narrative.confidenceReason,
      data_limitations: narrative.limitations,
    },
    signal_attribution: {
      technical_indicators: facts.consistency.isBlocked ? 0 : 100,
      news_sentiment: 0,
      fundamentals: 0,
      market_conditions: 0,
      strongest_bullish_signal: narrative.strongest,
      strongest_bearish_signal: narrative.weakest,
    },
    decision_stability: stability(facts, verdict.action),
    decision_score_calibration: facts.consistency.isBlocked ? null : calibration(facts, verdict.action),
  }
}

function dataPerspective(facts: Facts): Json {
  const { technical, price, nearby, quote, narrative, overview, chips } = facts
  const indicators = technical?.indicators
  const priced = pricedIn(facts)
  return {
    trend_status: {
      ma_alignment: narrative.averages,
      is_bullish: technical?.trend.endsWith('bull') ?? false,
      trend_score: technical?.trendStrength ?? null,
    },
    price_position: {
      current_price: priced(price),
      ma5: priced(indicators?.ma5),
      ma10: priced(indicators?.ma10),
      ma20: priced(indicators?.ma20),
      bias_ma5: figure(indicators?.bias5),
      bias_status: narrative.partReasons[1] ?? null,
      support_level: priced(nearby?.supports[0]?.price),
      resistance_level: priced(nearby?.resistances[0]?.price),
    },
    volume_analysis: {
      volume_ratio: figure(indicators?.volumeRatio),
      volume_status: narrative.volume,
      turnover_rate: quote?.turnoverRatePct ?? null,
      volume_meaning: narrative.volume,
    },
    chip_structure: chipStructure(facts),
    ...(chips === null ? { chip_unavailable_reason: chipReason(overview) } : {}),
  }
}

function chipStructure({ chips, language, decimals }: Facts): Json | null {
  if (chips === null) return null
  return {
    profit_ratio: `${fixed(chips.profitRatio * 100, 1)}%`,
    avg_cost: pricedIn({ decimals })(chips.averageCost),
    concentration: `${fixed(chips.cost90.concentration * 100, 2)}%`,
    chip_health: textsOf(language).report.chipHealth[chipHealth(chips)],
  }
}

const chipReason = ({ blocks }: Facts['overview']): string =>
  blocks.find(({ key }) => key === 'chip')?.status ?? 'missing'

function battlePlan({ strategy, levels, narrative }: Facts): Json {
  return {
    sniper_points: strategy,
    levels: levelRows(levels),
    position_strategy: {
      suggested_position: narrative.size,
      entry_plan: narrative.entryPlan,
      risk_control: narrative.riskControl,
    },
    action_checklist: narrative.watch,
  }
}

/** The result of the rules after the score. */
function stability(facts: Facts, action: Action | null): Json {
  const { decision, flow, structure, price, narrative, company, consistency } = facts
  const priced = pricedIn(facts)
  return {
    applied: narrative.guardReason !== null,
    reason: narrative.guardReason,
    current_price: priced(price),
    // A broken support is not a support, and neither is a resistance below the price.
    support: structure !== null && structure.support <= (price ?? 0) ? priced(structure.support) : null,
    resistance: structure !== null && structure.resistance > (price ?? 0) ? priced(structure.resistance) : null,
    capital_flow_bias: flow.bias,
    capital_flow_status: company.flow.state,
    raw_score: consistency.isBlocked ? null : decision.rawScore,
    adjusted_score: consistency.isBlocked ? null : decision.score,
    final_action: action,
  }
}

const BANDS = [
  { from: 80, band: 1, level: 'strong_buy' },
  { from: 60, band: 2, level: 'buy' },
  { from: 40, band: 3, level: 'watch' },
  { from: 20, band: 4, level: 'reduce' },
  { from: 0, band: 5, level: 'sell' },
]

function calibration({ decision, narrative }: Facts, action: Action | null): Json {
  const { from: _, ...band } = BANDS.find(({ from }) => decision.score >= from) ?? { from: 0, band: 5, level: 'sell' }
  return {
    name: 'decision-scale-v1',
    ...band,
    raw_score: decision.rawScore,
    adjusted_score: decision.score,
    final_action: action,
    ...(narrative.guardReason === null ? {} : { guardrail_reason: narrative.guardReason }),
  }
}

/** The day as texts for display. */
function marketSnapshot(facts: Facts): Json {
  const { today, yesterday, quote, decimals, language } = facts
  if (today === null) return {}
  const price = (value: number) => fixed(value, decimals)
  const change = yesterday === null ? null : today.close - yesterday.close
  return {
    date: today.date,
    close: price(today.close),
    open: price(today.open),
    high: price(today.high),
    low: price(today.low),
    ...(yesterday === null || change === null
      ? {}
      : {
          prev_close: price(yesterday.close),
          pct_chg: signedPct((change / yesterday.close) * 100),
          change_amount: price(change),
          amplitude: `${fixed(((today.high - today.low) / yesterday.close) * 100, 2)}%`,
        }),
    volume: facts.consistency.withheld.includes('volume') ? null : largeNumber(today.volume, language),
    ...(today.amount === null ? {} : { amount: largeNumber(today.amount, language) }),
    ...(quote === null ? {} : quoteStrings(quote, facts)),
  }
}

function quoteStrings({ price, turnoverRatePct }: Quote, facts: Facts): Json {
  const volumeRatio = facts.technical?.indicators.volumeRatio ?? null
  return {
    price: fixed(price, facts.decimals),
    volume_ratio: volumeRatio === null ? null : fixed(volumeRatio, 2),
    turnover_rate: turnoverRatePct === null ? null : `${fixed(turnoverRatePct, 2)}%`,
    source: quoteSource(facts),
  }
}
