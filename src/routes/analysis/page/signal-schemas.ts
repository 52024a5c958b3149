// The JSON shapes of signals, as read by the existing analysis page.

import { z } from '@hono/zod-openapi'
import { HORIZONS, type SignalWords } from '../../../analysis/report/signal.ts'
import { Action, MarketPhaseSummary } from '../../../analysis/schemas.ts'
import type { Signal } from '../../../db/signals.ts'
import { laxInt } from '../../../lib/lax.ts'

export const MARKETS = ['cn', 'hk', 'us', 'jp', 'kr', 'tw'] as const
export const SOURCES = ['analysis', 'agent', 'alert', 'market_review', 'manual'] as const
export const STATUSES = ['active', 'expired', 'invalidated', 'closed', 'archived'] as const
export const PROFILES = ['conservative', 'balanced', 'aggressive'] as const
export const Phase = MarketPhaseSummary.shape.phase
/** The measured horizons, with their number of sessions. */
export const MEASURED = { '1d': 1, '3d': 3, '5d': 5, '10d': 10 } as const
export const MEASURED_HORIZONS = ['1d', '3d', '5d', '10d'] as const

const Price = z.number().nullable()
const Sentence = z.string().nullable()

export const SignalItem = z
  .object({
    id: z.int().describe('The number of the signal'),
    stock_code: z.string().describe('The listing'),
    stock_name: Sentence.describe('Its name'),
    market: z.enum(MARKETS).describe('Where it trades'),
    source_type: z.enum(SOURCES).describe('What advised it'),
    source_agent: Sentence.describe('Which agent did; null of reports'),
    source_report_id: z.int().nullable().describe('The number of the report'),
    trace_id: Sentence.describe('The id in the log; of a report its query id'),
    trigger_source: z.string().describe('What set it off'),
    decision_profile: z.enum(PROFILES).nullable().describe('How bold it is; null where unknown'),
    market_phase: Phase.nullable().describe('The part of the session that it was made in'),
    action: Action.describe('What it advises'),
    action_label: Sentence.describe('The same in words'),
    confidence: Price.describe('From 0 to 1'),
    score: Price.describe('From 0, sell, to 100, buy'),
    horizon: z.enum(HORIZONS).nullable().describe('How long it is meant for'),
    entry_low: Price.describe('Buy from this price'),
    entry_high: Price.describe('Up to this one'),
    stop_loss: Price.describe('Give up at this price'),
    target_price: Price.describe('Sell at this price'),
    reason: Sentence.describe('Why'),
    catalyst_summary: Sentence.describe('What speaks for it'),
    watch_conditions: Sentence.describe('What to watch'),
    risk_summary: Sentence.describe('What speaks against it'),
    invalidation: Sentence.describe('What would make it wrong'),
    plan_quality: z.enum(['complete', 'partial', 'minimal', 'unknown']).describe('How much of a plan it has'),
    status: z.enum(STATUSES).describe('Whether it still holds'),
    created_at: z.string().describe('When it was made'),
    expires_at: z.string().nullable().describe('When it ends by itself: at the end of a session; null: never'),
    updated_at: z.string().describe('When it was changed last'),
    evidence: z.unknown().describe('What the method was worth where it applies'),
    data_quality_summary: z.unknown().describe('How good its data were'),
    metadata: z.unknown().describe('Anything else; of a report the notices of its data'),
  })
  .openapi('DecisionSignal')

const paged = {
  total: z.int().describe('How many match'),
  page: z.int().describe('From 1'),
  page_size: z.int().describe('Of a page'),
}

export const SignalPage = z
  .object({ items: z.array(SignalItem).describe('The newest first'), ...paged })
  .openapi('DecisionSignalPage')

export const pageQuery = {
  page: laxInt({ min: 1, max: 100_000 }).describe('From 1').default(1),
  page_size: laxInt({ min: 1, max: 100 }).describe('Signals of a page').default(20),
}

export const SignalOutcome = z
  .object({
    id: z.int().describe('Of the outcome'),
    signal_id: z.int().describe('The number of the signal'),
    horizon: z.enum(MEASURED_HORIZONS).describe('Sessions after the signal'),
    engine_version: z.string().describe('Of the rules that measured it'),
    eval_status: z.enum(['completed', 'unable']).describe('Whether it could be measured'),
    outcome: z.enum(['hit', 'miss', 'neutral']).nullable().describe('How it came out; null where it could not be told'),
    direction_expected: z.enum(['up', 'not_down', 'not_up']).nullable().describe('Null of advice to wait'),
    direction_correct: z.boolean().nullable().describe('Whether it went that way'),
    unable_reason: Sentence.describe('Why it could not be measured'),
    anchor_date: z.string().describe('The last session that had begun by then'),
    eval_window_days: z.int().describe('Sessions'),
    start_price: Price.describe("The next session's open, of today's bars"),
    end_close: Price.describe('The close at the end'),
    max_high: Price.describe('The highest price between'),
    min_low: Price.describe('The lowest price between'),
    stock_return_pct: Price.describe('From open to close, in percent, before costs'),
    net_return_pct: Price.describe('Of a purchase by its plan, after costs'),
    index_return_pct: Price.describe('Of the index of the market in the same sessions'),
    buy_and_hold_pct: Price.describe('What holding the listing all the time earned in as many sessions, after costs'),
    holding_state: z.literal('unknown').describe('Signals know no holdings'),
  })
  .openapi('DecisionSignalOutcome')
export type SignalOutcome = z.infer<typeof SignalOutcome>

export const OutcomePage = z
  .object({ items: z.array(SignalOutcome).describe('The shortest first'), ...paged })
  .openapi('DecisionSignalOutcomePage')

export const OutcomeRun = z
  .object({
    items: z.array(SignalOutcome).describe('The newest signal first, the shortest horizon first'),
    evaluated: z.int().describe('How many there are'),
    created: z.int().describe('Always 0: nothing is stored'),
    updated: z.int().describe('How many could be measured'),
    skipped: z.int().describe('How many could not'),
    engine_version: z.string().describe('Of the rules that measured them'),
  })
  .openapi('DecisionSignalRunResult')

export const SignalBaselines = z
  .object({
    least_sample: z.int().describe('Fewer make no rate and no mean'),
    sample: z.int().describe('Signals or reports that could be measured'),
    base_rate_pct: Price.describe('How often the same advice would have been right on any day of the same listings'),
    purchases: z.int().describe('Purchases that could be made'),
    purchases_net_return_pct: Price.describe('What they earned by their plans, after costs'),
    cost_pct: Price.describe('What their trades cost'),
    index_sample: z.int().describe('Those of which the index is known'),
    index_return_pct: Price.describe('Mean of the index of the market in the same sessions'),
    buy_and_hold_sample: z.int().describe('Those of which it is known'),
    buy_and_hold_pct: Price.describe('What holding the listings all the time earned in as many sessions, after costs'),
  })
  .openapi('AdviceBaselines')

const counts = {
  total: z.int().describe('All outcomes'),
  completed: z.int().describe('Those that could be measured and claimed a direction'),
  unable: z.int().describe('Those that could not'),
  hit: z.int().describe('Came out as advised'),
  miss: z.int().describe('Came out against it'),
  neutral: z.int().describe('Moved by less than two percent'),
  hit_rate_pct: Price.describe('Hits of hits and misses; null below the least sample'),
  avg_stock_return_pct: Price.describe('Mean return of the listings, before costs; null below the least sample'),
  unable_reasons: z.record(z.string(), z.int()).describe('Why, counted'),
}

export const SignalStats = z
  .object({
    engine_version: z.string().describe('Of the rules that measured it'),
    horizons: z.array(z.enum(MEASURED_HORIZONS)).describe('The horizons that are counted'),
    statuses: z.array(z.enum(STATUSES)).describe('The states that are counted'),
    ...counts,
    baselines: SignalBaselines.describe('What stands beside the rate'),
    breakdowns: z
      .record(
        z.string(),
        z.array(
          z
            .object({
              dimension: z.string().describe('`action`, `market`, `source_type`, `plan_quality` or `horizon`'),
              value: z.string().describe('Of the dimension'),
              ...counts,
            })
            .openapi('DecisionSignalBucket'),
        ),
      )
      .describe('The same by dimension'),
    left_out: z.int().describe('Older signals that were not looked at'),
  })
  .openapi('DecisionSignalStats')

export const FeedbackItem = z
  .object({
    signal_id: z.int().describe('The number of the signal'),
    feedback_value: z.enum(['useful', 'not_useful']).nullable().describe('Null where none was given'),
    reason_code: Sentence.describe('Why, in a word'),
    note: Sentence.describe('Why'),
    source: z.enum(['web', 'api']).nullable().describe('Where it was given'),
    created_at: Sentence.describe('When it was given first'),
    updated_at: Sentence.describe('When it was changed last'),
  })
  .openapi('DecisionSignalFeedback')

export const Preview = z
  .object({
    preview: z
      .object({
        action: Action.describe('What would be advised'),
        ...{ score: Price.describe('From 0 to 100'), confidence: Price.describe('From 0 to 1') },
        horizon: z.enum(HORIZONS).nullable().describe('How long it is meant for'),
        entry_low: Price.describe('Buy from this price'),
        entry_high: Price.describe('Up to this one'),
        stop_loss: Price.describe('Give up at this price'),
        target_price: Price.describe('Sell at this price'),
        reason: Sentence.describe('Why'),
        risk_summary: Sentence.describe('What speaks against it'),
        watch_conditions: Sentence.describe('What to watch'),
        invalidation: Sentence.describe('What would make it wrong'),
        metadata: z
          .object({
            guardrail_result: z
              .object({
                raw_action: Action.describe('What the report advises'),
                final_action: Action.describe('What is left of it'),
                passed: z.boolean().describe('Whether they are the same'),
              })
              .describe('What the rules of the profile did'),
          })
          .describe('More about it'),
      })
      .describe('The signal as it would be'),
    item: z.null().describe('Nothing is stored'),
    created: z.literal(false).describe('Nothing is stored'),
    warnings: z
      .array(
        z.object({
          code: z.string().describe('Which rule'),
          message: z.string().describe('The same in words'),
          params: z.record(z.string(), z.unknown()).describe('Its figures'),
        }),
      )
      .describe('The rules that changed it'),
    blocked_reason: z.null().describe('Nothing is refused'),
  })
  .openapi('DecisionSignalPreview')

type Wire = z.infer<typeof SignalItem>

/** Stored by `signalOfReport` or `POST`, so the schema knows every value. */
export function signalItem(signal: Signal): Wire {
  const words = JSON.parse(signal.words) as SignalWords
  return SignalItem.parse({
    ...{ id: signal.id, stock_code: signal.stockCode, stock_name: signal.stockName, market: signal.market },
    ...{ source_type: signal.sourceType, source_agent: signal.sourceAgent, source_report_id: signal.sourceReportId },
    ...{ trace_id: signal.traceId, trigger_source: signal.triggerSource, decision_profile: signal.decisionProfile },
    ...{ market_phase: signal.marketPhase, action: signal.action, action_label: signal.actionLabel },
    ...{ confidence: signal.confidence, score: signal.score, horizon: signal.horizon },
    ...{ entry_low: signal.entryLow, entry_high: signal.entryHigh },
    ...{ stop_loss: signal.stopLoss, target_price: signal.targetPrice },
    ...{ reason: words.reason, catalyst_summary: words.catalystSummary, watch_conditions: words.watchConditions },
    ...{ risk_summary: words.riskSummary, invalidation: words.invalidation },
    ...{ plan_quality: signal.planQuality, status: signal.status },
    ...{ created_at: signal.createdAt, expires_at: signal.expiresAt, updated_at: signal.updatedAt },
    ...{ evidence: words.evidence, data_quality_summary: words.dataQuality, metadata: words.metadata },
  })
}
