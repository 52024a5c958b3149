// The JSON shapes of the backtest, as read by the existing analysis page.

import { z } from '@hono/zod-openapi'
import { Action, MarketPhaseSummary } from '../../../analysis/schemas.ts'
import { SignalBaselines } from './signal-schemas.ts'

const Figure = z.number().nullable()
const Text = z.string().nullable()
const PHASE = z.enum(['premarket', 'intraday', 'postmarket', 'unknown'])

export const BacktestItem = z
  .object({
    analysis_history_id: z.int().describe('The number of the report'),
    code: z.string().describe('The listing'),
    stock_name: Text.describe('Its name'),
    analysis_date: z.string().describe("The market's own day of the report"),
    eval_window_days: z.int().describe('Sessions after it'),
    engine_version: z.string().describe('Of the rules that measured it'),
    eval_status: z.enum(['completed', 'insufficient_data']).describe('Whether it could be measured'),
    unable_reason: Text.describe('Why it could not'),
    operation_advice: Text.describe('The advice in words'),
    action: Action.describe('The advice'),
    action_label: Text.describe('The same in a word'),
    trend_prediction: Text.describe('Where it goes, in words'),
    market_phase: PHASE.describe('The part of the session that it was made in'),
    market_phase_summary: MarketPhaseSummary.extend({})
      .openapi('MarketPhaseSummary')
      .nullable()
      .describe('The same with its times'),
    position_recommendation: z.enum(['long', 'cash']).nullable().describe('Null of advice to hold'),
    start_price: Figure.describe("The next session's open, of today's bars"),
    end_close: Figure.describe('The close at the end'),
    max_high: Figure.describe('The highest price between'),
    min_low: Figure.describe('The lowest price between'),
    stock_return_pct: Figure.describe('From open to close, in percent, before costs'),
    actual_return_pct: Figure.describe('The same'),
    actual_movement: z.enum(['up', 'down', 'flat']).nullable().describe('Its direction'),
    direction_expected: z.enum(['up', 'down', 'not_down', 'flat']).describe('What was advised; `flat` claims nothing'),
    direction_correct: z.boolean().nullable().describe('Whether it went that way'),
    outcome: z.enum(['win', 'loss', 'neutral']).nullable().describe('Moves below two percent are neutral'),
    stop_loss: Figure.describe('As the report had it'),
    take_profit: Figure.describe('As the report had it'),
    hit_stop_loss: z.boolean().nullable().describe('Whether a purchase ended at its stop'),
    hit_take_profit: z.boolean().nullable().describe('Whether it ended at its target'),
    first_hit: z
      .enum(['stop_loss', 'take_profit', 'ambiguous'])
      .nullable()
      .describe('`ambiguous`: one bar held both, the stop is taken'),
    first_hit_date: Text.describe('When it did'),
    first_hit_trading_days: z.int().nullable().describe('In which session'),
    simulated_entry_price: Figure.describe('What a purchase paid'),
    simulated_exit_price: Figure.describe('What it got'),
    simulated_exit_reason: z.enum(['stop_loss', 'take_profit', 'window_end']).nullable().describe('Why it was sold'),
    simulated_return_pct: Figure.describe('What it earned, after costs'),
    index_return_pct: Figure.describe('Of the index of the market in the same sessions'),
    buy_and_hold_pct: Figure.describe('What holding the listing all the time earned in as many sessions, after costs'),
  })
  .openapi('BacktestItem')
export type BacktestItem = z.infer<typeof BacktestItem>

export const BacktestResults = z
  .object({
    total: z.int().describe('How many match'),
    page: z.int().describe('From 1'),
    limit: z.int().describe('Of a page'),
    items: z.array(BacktestItem).describe('The newest first'),
  })
  .openapi('BacktestResults')

const diagnostics = {
  phase_breakdown: z
    .object({
      premarket: z.int().describe('Before a session'),
      intraday: z.int().describe('Within one'),
      postmarket: z.int().describe('After one'),
      unknown: z.int().describe('Unknown'),
    })
    .describe('Reports by the part of the session that they were made in'),
  not_evaluated: z.record(z.string(), z.int()).describe('Why some could not be measured, counted'),
  least_sample: z.int().describe('Fewer make no rate and no mean'),
  baselines: SignalBaselines.describe('What stands beside the rates'),
  left_out: z.int().describe('Older reports that were not looked at'),
}

const Rate = (words: string) => Figure.describe(`${words}; null below the least sample`)

export const BacktestMetrics = z
  .object({
    scope: z.enum(['overall', 'stock']).describe('Of all listings or of one'),
    code: Text.describe('The listing'),
    eval_window_days: z.int().describe('Sessions after the reports'),
    engine_version: z.string().describe('Of the rules that measured it'),
    computed_at: z.string().describe('Now: it is computed when it is asked for'),
    total_evaluations: z.int().describe('Reports, one a listing and session'),
    completed_count: z.int().describe('Those that could be measured'),
    insufficient_count: z.int().describe('Those that could not'),
    long_count: z.int().describe('Advice to buy'),
    cash_count: z.int().describe('Advice not to be invested'),
    win_count: z.int().describe('Went as advised, by two percent or more'),
    loss_count: z.int().describe('Went against it by two percent or more'),
    neutral_count: z.int().describe('Moved less, or claimed nothing'),
    direction_accuracy_pct: Rate('Right directions'),
    win_rate_pct: Rate('Wins of wins and losses'),
    neutral_rate_pct: Rate('Neutral ones'),
    avg_stock_return_pct: Rate('Mean return of the listings, before costs'),
    avg_simulated_return_pct: Rate('Mean return of the purchases by their plans, after costs'),
    stop_loss_trigger_rate: Rate('Purchases with a stop that ended there, in percent'),
    take_profit_trigger_rate: Rate('Purchases with a target that ended there, in percent'),
    ambiguous_rate: Rate('Purchases whose stop and target lay in one bar, in percent'),
    avg_days_to_first_hit: Rate('Sessions until a stop or a target was reached'),
    advice_breakdown: z
      .record(
        z.string(),
        z.object({
          total: z.int().describe('With this advice'),
          win: z.int().describe('Wins'),
          loss: z.int().describe('Losses'),
          neutral: z.int().describe('Neutral ones'),
        }),
      )
      .describe('Counts by advice'),
    diagnostics: z.object(diagnostics).describe('What the figures stand on'),
  })
  .openapi('BacktestMetrics')

export const BacktestRun = z
  .object({
    processed: z.int().describe('Reports that were evaluated'),
    saved: z.int().describe('Those of them that could not be measured before'),
    completed: z.int().describe('Those that could be measured'),
    insufficient: z.int().describe('Those that could not yet'),
    errors: z.int().describe('Those whose bars failed a check'),
    applied_eval_window_days: z.int().describe('Sessions after the reports'),
    message: Text.describe('Why nothing came of it, or that it goes on'),
    diagnostics: z
      .object({
        empty_reason: z
          .enum(['no_matching_analysis', 'no_new_results', 'insufficient_daily_data'])
          .nullable()
          .describe('Why nothing new came of it'),
        ...diagnostics,
      })
      .describe('What the figures stand on'),
  })
  .openapi('BacktestRun')
