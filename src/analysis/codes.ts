// The codes that reports, stages and reviews use. `texts` has the text of each in every language.

/** The stages of one run with the progress at which each is reported. Those of a model's answer are between 58 and 94. */
export const STAGE_PROGRESS = {
  queued: 0,
  started: 10,
  preparing: 12,
  daily_bars: 16,
  quote: 18,
  trend: 32,
  news: 46,
  news_skipped: 46,
  context: 58,
  model: 64,
  model_wait: 68,
  parsing: 93,
  repairing: 93,
  validating: 94,
  saving: 97,
  done: 100,
} as const

export type StageKey = keyof typeof STAGE_PROGRESS

/** The stages in which a run itself can end. */
export type RunStage = 'preparing' | 'daily_bars' | 'quote' | 'trend' | 'news' | 'context' | 'model' | 'validating'

// The judgement.

/** What the newest market review says about the day. */
export type Mood = 'defensive' | 'balanced' | 'risk_on'

/** The order of the short averages, from the strongest rise to the strongest fall. */
export type TrendState = 'strong_bull' | 'bull' | 'weak_bull' | 'consolidation' | 'weak_bear' | 'bear' | 'strong_bear'

/** The direction of a horizon; unknown while there are too few bars for its average. */
export type Direction = 'up' | 'down' | 'sideways' | 'unknown'

export type ScorePartKey = 'trend' | 'bias' | 'volume' | 'support' | 'macd' | 'rsi'

export type ReasonCode =
  | `trend_${TrendState}`
  | `bias_${'pullback' | 'close' | 'deep_pullback' | 'high' | 'broken' | 'stretched' | 'chasing'}`
  | `volume_${'shrinking_down' | 'heavy_up' | 'normal' | 'shrinking_up' | 'heavy_down' | 'unknown' | `live_${'heavy_up' | 'heavy_down' | 'unfinished'}`}`
  | `support_${'both' | 'ma5' | 'ma10' | 'none'}`
  | `macd_${'golden_above_zero' | 'zero_up' | 'golden' | 'dead' | 'zero_down' | 'bull' | 'bear' | 'mixed' | 'unknown'}`
  | `rsi_${'oversold' | 'strong' | 'neutral' | 'weak' | 'overbought' | 'unknown'}`

export type LevelBasis =
  | 'ma5'
  | 'ma10'
  | 'ma20'
  | 'ma60'
  | 'swing'
  | 'low20'
  | 'high20'
  | 'boll_lower'
  | 'boll_upper'
  | 'year_low'
  | 'year_high'
  | 'price'
  | 'ideal_buy'
  | 'secondary_buy'
  | 'reward'

/** `none` is the advice of a report whose figures failed a check. */
export const ADVICES = ['strong_buy', 'buy', 'hold', 'watch', 'reduce', 'sell', 'strong_sell', 'none'] as const
export type Advice = (typeof ADVICES)[number]
export type TrendPrediction = 'strong_bullish' | 'bullish' | 'sideways' | 'bearish' | 'strong_bearish' | 'none'
export type Confidence = 'high' | 'medium' | 'low'
export type GuardCode =
  | 'inconsistent_data'
  | 'insufficient_bars'
  | 'not_traded'
  | 'outdated_bars'
  | 'trend_unconfirmed'
  | 'trend_against_score'
  | 'buy_in_long_fall'
  | 'sell_in_long_rise'
  | 'poor_reward'
  | 'little_to_avoid'
  | 'buy_near_resistance'
  | 'buy_against_outflow'
  | 'buy_in_mid_range'
  | 'sell_near_support'
  | 'sell_into_inflow'
  | 'defensive_market'
  | 'unsettled'
  | 'reversal'
export type SentimentLevel = 'very_bullish' | 'bullish' | 'neutral' | 'bearish' | 'very_bearish'
export type CurrencyCode = 'CNY' | 'HKD' | 'USD' | 'JPY' | 'KRW' | 'TWD' | 'points'

export type DecisionType = 'buy' | 'hold' | 'sell'

export type PartState = 'ok' | 'no_data' | 'not_supported' | 'failed'

export type SkillId =
  | 'bull_trend'
  | 'ma_golden_cross'
  | 'volume_breakout'
  | 'hot_theme'
  | 'shrink_pullback'
  | 'event_driven'
  | 'box_oscillation'
  | 'growth_quality'
  | 'bottom_volume'
  | 'expectation_repricing'
  | 'chan_theory'
  | 'wave_theory'
  | 'dragon_head'
  | 'emotion_cycle'
  | 'one_yang_three_yin'

/** Conditions that need a chart. */
export type ChartCheck =
  | 'averages_rise'
  | 'above_ma20'
  | 'not_chasing'
  | 'golden_cross'
  | 'macd_rises'
  | 'breaks_high'
  | 'heavy_volume'
  | 'shrinking_volume'
  | 'near_short_average'
  | 'narrow_box'
  | 'at_box_bottom'
  | 'long_fall'
  | 'turns_up'
  | 'rsi_not_hot'
  | 'rsi_cold'
  | 'yang_rest_yang'
  | 'rising_turns'
  | 'golden_retracement'
  | 'bottom_fractal'

export type OtherCheck =
  | 'money_flows_in'
  | 'in_hot_board'
  | 'leads_board'
  | 'has_news'
  | 'profit_grows'
  | 'sales_grow'
  | 'good_roe'
  | 'margin_widens'
  | 'fair_price'
  | 'calm_turnover'

export type CheckKey = ChartCheck | OtherCheck
export type SkillVerdict = 'fits' | 'partly' | 'not' | 'unknown'

// The words.

export type NarratorFault =
  | 'no_key'
  | 'bad_key'
  | 'quota'
  | 'budget'
  | 'rate_limit'
  | 'vendor_error'
  | 'broke_off'
  | 'unknown_model'
  | 'timeout'
  | 'network'
  | 'bad_json'
  | 'cut_off'
  | 'refused'

export type Indicator =
  | 'ma'
  | 'bias'
  | 'macd'
  | 'rsi'
  | 'kdj'
  | 'boll'
  | 'atr'
  | 'volume'
  | 'volume_ratio'
  | 'year_range'

export type Heading =
  | 'model_words'
  | 'report'
  | 'price'
  | 'data_date'
  | 'session'
  | 'conclusion'
  | 'advice'
  | 'trend'
  | 'score'
  | 'raw_score'
  | 'confidence'
  | 'score_parts'
  | 'part'
  | 'points'
  | 'reason'
  | 'levels'
  | 'level'
  | 'reference'
  | 'indicators'
  | 'indicator'
  | 'value'
  | 'supports'
  | 'resistances'
  | 'reasons_for'
  | 'risks'
  | 'plan'
  | 'no_position'
  | 'has_position'
  | 'entry_plan'
  | 'risk_control'
  | 'data_quality'
  | 'diagnostics'
  | 'beside'
  | 'company'
  | 'news'
  | 'strategies'
  | 'changes'
  | 'outlook'
  | 'model'
  | 'disclaimer'

/** Whether a listing could be compared with the index of its market, or why not. */
export type ComparisonStatus = 'told' | 'is_index' | 'sample' | 'withheld' | 'not_fetched' | 'failed_check' | 'too_few'
/** Whether the multiples of the industry are known, or why not. */
export type PeersStatus = PartState | 'sample' | 'too_few'
/** Whether the time for a sale is known, or why not. */
export type LiquidityStatus = 'told' | 'is_index' | 'withheld' | 'too_few' | 'no_volume' | 'other_money'

export type FlowWord =
  | 'entry'
  | 'data_source'
  | 'analysis'
  | 'artifact'
  | 'request'
  | 'task_queue'
  | 'pipeline'
  | 'context_pack'
  | 'llm'
  | 'history'
  | 'notification'

// Market reviews.

/** The parts of a review, in their order. */
export const REVIEW_PARTS = ['overview', 'indices', 'sectors', 'funds', 'news', 'plan', 'risks'] as const
export type ReviewPart = (typeof REVIEW_PARTS)[number]

/** The move of the main index: a rise of more than 1 %, a smaller rise, a fall of less than 1 %, a larger fall. */
export type ReviewTone = 'strong' | 'firm' | 'soft' | 'weak'

export const LIGHT_STATES = ['green', 'yellow', 'red'] as const
export type LightState = (typeof LIGHT_STATES)[number]
export type Temperature = 'strong' | 'warm' | 'mixed' | 'weak'

/** Data without which a region's review says less. */
const GAPS = ['indices', 'breadth', 'sectors', 'flows', 'overnight', 'news', 'quotes'] as const
export type GapKind = (typeof GAPS)[number]
