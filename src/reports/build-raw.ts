import type { Quote } from '../market/bars.ts'
import type { AnalysisFacts, Verdict } from './build.ts'
import { largeNumber, signedPct } from './format.ts'
import { labelsOf } from './labels.ts'
import type { Action } from './report.ts'
import { levelRows } from './strategy.ts'
import { figure } from './trend-analysis.ts'

type Json = Record<string, unknown>

/** The result in the members that readers of a model's answer know, filled by code. What code cannot say is left out. */
export function rawResult(facts: AnalysisFacts, verdict: Verdict): Json {
  const { decision, language, narrative, technical } = facts
  const labels = labelsOf(language)
  return {
    code: facts.instrument.key,
    name: facts.displayName,
    sentiment_score: decision.score,
    trend_prediction: verdict.trend,
    operation_advice: verdict.advice,
    decision_type: decision.type,
    confidence_level: labels.confidence[decision.confidence],
    report_language: language,
    action: verdict.action,
    action_label: verdict.actionLabel,
    dashboard: dashboard(facts, verdict),
    trend_analysis: technical && labels.trendState[technical.trend],
    technical_analysis: narrative.momentum,
    ma_analysis: narrative.averages,
    volume_analysis: narrative.volume,
    analysis_summary: narrative.summary,
    key_points: narrative.catalysts.join(labels.clauseJoin),
    risk_warning: narrative.risks.join(labels.clauseJoin),
    buy_reason: narrative.strongest,
    market_snapshot: marketSnapshot(facts),
    search_performed: false,
    success: true,
    error_message: null,
    current_price: facts.price,
    change_pct: facts.changePct,
    model_used: null,
    generated_by: 'rules',
    data_provenance: facts.provenance?.label ?? null,
    guardrail_reason: narrative.guardReason,
    news_result_count: facts.news.count,
    news_result_count_known: facts.news.known,
    news_evidence_present: facts.news.evidencePresent,
  }
}

function dashboard(facts: AnalysisFacts, verdict: Verdict): Json {
  const { narrative } = facts
  return {
    core_conclusion: {
      one_sentence: narrative.oneSentence,
      signal_type: verdict.advice,
      time_sensitivity: narrative.timing,
      position_advice: { no_position: narrative.noPosition, has_position: narrative.hasPosition },
    },
    data_perspective: dataPerspective(facts),
    intelligence: {
      latest_news: null,
      risk_alerts: narrative.risks,
      positive_catalysts: narrative.catalysts,
      earnings_outlook: null,
      sentiment_summary: null,
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
      technical_indicators: 100,
      news_sentiment: 0,
      fundamentals: 0,
      market_conditions: 0,
      strongest_bullish_signal: narrative.strongest,
      strongest_bearish_signal: narrative.weakest,
    },
    decision_score_calibration: calibration(facts, verdict.action),
  }
}

function dataPerspective({ technical, price, nearby, quote, narrative, overview }: AnalysisFacts): Json {
  const indicators = technical?.indicators
  return {
    trend_status: {
      ma_alignment: narrative.averages,
      is_bullish: technical?.trend.endsWith('bull') ?? false,
      trend_score: technical?.trendStrength ?? null,
    },
    price_position: {
      current_price: price,
      ma5: figure(indicators?.ma5),
      ma10: figure(indicators?.ma10),
      ma20: figure(indicators?.ma20),
      bias_ma5: figure(indicators?.bias5),
      bias_status: narrative.partReasons[1] ?? null,
      support_level: figure(nearby?.supports[0]?.price),
      resistance_level: figure(nearby?.resistances[0]?.price),
    },
    volume_analysis: {
      volume_ratio: figure(indicators?.volumeRatio),
      volume_status: narrative.volume,
      turnover_rate: quote?.turnoverRatePct ?? null,
      volume_meaning: narrative.volume,
    },
    chip_structure: null,
    chip_unavailable_reason: overview.blocks.find(({ key }) => key === 'chip')?.status ?? 'missing',
  }
}

function battlePlan({ strategy, levels, narrative }: AnalysisFacts): Json {
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

const BANDS = [
  { from: 80, band: 1, level: 'strong_buy' },
  { from: 60, band: 2, level: 'buy' },
  { from: 40, band: 3, level: 'watch' },
  { from: 20, band: 4, level: 'reduce' },
  { from: 0, band: 5, level: 'sell' },
]

function calibration({ decision, narrative }: AnalysisFacts, action: Action | null): Json {
  const { from: _, ...band } = BANDS.find(({ from }) => decision.score >= from) ?? { from: 0, band: 5, level: 'sell' }
  return {
    name: 'decision-scale-v1',
    ...band,
    raw_score: decision.score,
    adjusted_score: decision.score,
    final_action: action,
    ...(narrative.guardReason === null ? {} : { guardrail_reason: narrative.guardReason }),
  }
}

/** The day in display strings. */
function marketSnapshot(facts: AnalysisFacts): Json {
  const { today, yesterday, quote, decimals, language } = facts
  if (today === null) return {}
  const price = (value: number) => value.toFixed(decimals)
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
          amplitude: `${(((today.high - today.low) / yesterday.close) * 100).toFixed(2)}%`,
        }),
    volume: largeNumber(today.volume, language),
    ...(today.amount === null ? {} : { amount: largeNumber(today.amount, language) }),
    ...(quote === null ? {} : quoteStrings(quote, facts)),
  }
}

function quoteStrings({ price, volumeRatio, turnoverRatePct }: Quote, { quoteSource, decimals }: AnalysisFacts): Json {
  return {
    price: price.toFixed(decimals),
    volume_ratio: volumeRatio?.toFixed(2) ?? null,
    turnover_rate: turnoverRatePct === null ? null : `${turnoverRatePct.toFixed(2)}%`,
    source: quoteSource,
  }
}
