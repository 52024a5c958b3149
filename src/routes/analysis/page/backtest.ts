// The outcome of past reports, for the existing analysis page: one evaluation for each listing and session, from the
// open of the next session, with costs, and with the index and a holding for comparison.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { bringUpToDate } from '../../../alerts/signals.ts'
import {
  backtestVerdict,
  besideOf,
  directionOf,
  LEAST_SAMPLE,
  meanOf,
  rounded,
  shareOf,
} from '../../../analysis/evidence/advice-sums.ts'
import { type FollowedAdvice, isPurchase } from '../../../analysis/evidence/followed.ts'
import { Action, MarketPhaseSummary } from '../../../analysis/schemas.ts'
import { type AdviceFilter, type AdviceRow, advisedReports } from '../../../db/signals.ts'
import type { AppEnv } from '../../../http/app-env.ts'
import { callerLanguage } from '../../../http/caller-language.ts'
import { AppError, analysisEnvelope } from '../../../http/errors.ts'
import { endpoint } from '../../../http/openapi.ts'
import { router } from '../../../http/router.ts'
import { isoMicros } from '../../../lib/clock.ts'
import { laxBool, laxInt } from '../../../lib/lax.ts'
import { addDays, isDate } from '../../../market/calendar.ts'
import { parseCode } from '../../../market/instruments.ts'
import { keyOf } from '../history-record.ts'
import { followAll } from './advice.ts'
import { type BacktestItem, BacktestMetrics, BacktestResults, BacktestRun } from './backtest-schemas.ts'
import { type EmptyBacktest, type PageTexts, pageTexts } from './texts.ts'

const app = router(analysisEnvelope)

const ENGINE = 'reports-1'
const USUAL_WINDOW = 10
const USUAL_AGE_DAYS = 14
/** Summaries use this many of the newest reports. */
const MOST_REPORTS = 2_000

const reading = { method: 'get', scope: 'analysis', limit: 'reads', bodyLimit: 'standard', tag: 'Signals' } as const
const refused = { 400: { description: 'Days that are none or the wrong way round, or no code of a listing' } }

const window = laxInt({ min: 1, max: 120 })
const days = {
  analysis_date_from: z.string().nullish().describe('Reports of this day and later, YYYY-MM-DD'),
  analysis_date_to: z.string().nullish().describe('Reports of this day and earlier'),
}
const PHASES = ['premarket', 'intraday', 'postmarket', 'unknown'] as const
type BacktestPhase = (typeof PHASES)[number]
const filters = {
  eval_window_days: window.optional().describe('Sessions after the report, 10 by default'),
  ...days,
  analysis_phase: z.enum(PHASES).optional().describe('Reports of this part of a session'),
}

const OF_PHASE: Record<BacktestPhase, readonly string[]> = {
  premarket: ['premarket'],
  intraday: ['intraday', 'lunch_break', 'closing_auction'],
  postmarket: ['postmarket', 'non_trading'],
  unknown: ['unknown'],
}

const phaseOf = (row: AdviceRow): BacktestPhase =>
  PHASES.find((phase) => OF_PHASE[phase].some((one) => one === row.marketPhase)) ?? 'unknown'

type BacktestQuery = {
  code?: string | null | undefined
  analysis_date_from?: string | null | undefined
  analysis_date_to?: string | null | undefined
  analysis_phase?: BacktestPhase | undefined
}

const invalid = (c: Context<AppEnv>, say: (texts: PageTexts['backtest']) => string): AppError =>
  new AppError('bad_request', say(pageTexts(callerLanguage(c)).backtest), { word: 'invalid_params' })

async function filterOf(c: Context<AppEnv>, asked: BacktestQuery): Promise<AdviceFilter> {
  const [from, to] = [asked.analysis_date_from || null, asked.analysis_date_to || null]
  const isWrong =
    [from, to].some((date) => date !== null && !isDate(date)) || (from !== null && to !== null && from > to)
  if (isWrong) throw invalid(c, (say) => say.dates)
  const key = await keyOf(c.env, asked.code ?? undefined)
  if (key !== null && !parseCode(key).ok) throw invalid(c, (say) => say.code)
  const phases = asked.analysis_phase === undefined ? null : OF_PHASE[asked.analysis_phase]
  return { owner: c.get('principal').owner, key, phases, madeFrom: from, madeTo: to }
}

endpoint(
  app,
  {
    ...reading,
    path: '/api/v1/backtest/results',
    summary: 'How single reports came out, one a listing and session',
    query: z.object({
      code: z.string().max(100).optional().describe('Only of this listing, in any spelling'),
      ...filters,
      page: laxInt({ min: 1, max: 100_000 }).describe('From 1').default(1),
      limit: laxInt({ min: 1, max: 200 }).describe('Reports of a page').default(20),
    }),
    replies: { 200: { description: 'A page of them, the newest first', schema: BacktestResults }, ...refused },
  },
  async (c, { query: { page, limit, ...query } }) => {
    const sessions = query.eval_window_days ?? USUAL_WINDOW
    const filter = await filterOf(c, query)
    await bringUpToDate(c.env.DB, filter.owner, Date.now())
    const found = await advisedReports(c.env.DB, filter, { limit, offset: (page - 1) * limit })
    const rows = await evaluated(c.env.DB, found.items, sessions)
    return c.json({ total: found.total, page, limit, items: rows.map((row) => itemOf(row, sessions)) })
  },
)

type Evaluated = { row: AdviceRow; told: FollowedAdvice }

async function evaluated(db: D1Database, rows: readonly AdviceRow[], sessions: number): Promise<Evaluated[]> {
  const followed = await followAll(db, rows, [sessions])
  return rows.flatMap((row) => {
    const told = followed.get(row.id)?.[0]
    return told === undefined ? [] : [{ row, told }]
  })
}

function itemOf({ row, told }: Evaluated, sessions: number): BacktestItem {
  const action = Action.parse(row.action)
  const followed = told.ok ? told.followed : null
  const verdict = followed && backtestVerdict(action, followed.returnPct)
  const trade = followed?.trade ?? null
  const percent = followed && rounded(followed.returnPct)
  return {
    ...{ analysis_history_id: row.sourceReportId ?? 0, code: row.stockCode, stock_name: row.stockName },
    ...{ analysis_date: row.madeOn, eval_window_days: sessions, engine_version: ENGINE },
    eval_status: told.ok ? 'completed' : 'insufficient_data',
    unable_reason: told.ok ? null : told.reason,
    ...{ operation_advice: row.operationAdvice, action, action_label: row.actionLabel },
    trend_prediction: row.trendPrediction,
    market_phase: phaseOf(row),
    market_phase_summary:
      row.phaseSummary === null ? null : (MarketPhaseSummary.safeParse(JSON.parse(row.phaseSummary)).data ?? null),
    position_recommendation: isPurchase(action) ? 'long' : action === 'hold' ? null : 'cash',
    ...{ start_price: followed?.startPrice ?? null, end_close: followed?.endClose ?? null },
    ...{ max_high: followed?.maxHigh ?? null, min_low: followed?.minLow ?? null },
    ...{ stock_return_pct: percent, actual_return_pct: percent },
    actual_movement: percent === null ? null : percent > 0 ? 'up' : percent < 0 ? 'down' : 'flat',
    direction_expected: directionOf(action),
    direction_correct: verdict?.isCorrect ?? null,
    outcome: verdict?.outcome ?? null,
    ...{ stop_loss: row.stopLoss, take_profit: row.targetPrice },
    ...{ hit_stop_loss: trade?.hitStop ?? null, hit_take_profit: trade?.hitTarget ?? null },
    first_hit: trade === null || trade.exit === 'window_end' ? null : trade.isAmbiguous ? 'ambiguous' : trade.exit,
    first_hit_date: trade === null || trade.exit === 'window_end' ? null : trade.date,
    first_hit_trading_days: trade === null || trade.exit === 'window_end' ? null : trade.sessions,
    simulated_entry_price: trade === null ? null : (followed?.startPrice ?? null),
    ...{ simulated_exit_price: trade?.exitPrice ?? null, simulated_exit_reason: trade?.exit ?? null },
    simulated_return_pct: trade === null ? null : rounded(trade.netPct),
    index_return_pct: followed === null || followed.indexPct === null ? null : rounded(followed.indexPct),
    buy_and_hold_pct: followed === null || followed.heldPct === null ? null : rounded(followed.heldPct),
  }
}

endpoint(
  app,
  {
    ...reading,
    path: '/api/v1/backtest/performance',
    summary: 'How all reports came out together',
    query: z.object(filters),
    replies: {
      200: { description: 'The figures', schema: BacktestMetrics },
      ...refused,
      404: { description: 'No report gave an advice yet' },
    },
  },
  async (c, { query }) => performance(c, query),
)

endpoint(
  app,
  {
    ...reading,
    path: '/api/v1/backtest/performance/{code}',
    summary: 'How the reports of one listing came out together',
    params: z.object({ code: z.string().max(100).describe('The listing, in any spelling') }),
    query: z.object(filters),
    replies: {
      200: { description: 'The figures', schema: BacktestMetrics },
      ...refused,
      404: { description: 'No report of it gave an advice yet' },
    },
  },
  async (c, { params, query }) => performance(c, { ...query, code: params.code }),
)

type AskedMetrics = BacktestQuery & { eval_window_days?: number | undefined }

async function performance(c: Context<AppEnv>, asked: AskedMetrics): Promise<Response> {
  const sessions = asked.eval_window_days ?? USUAL_WINDOW
  const filter = await filterOf(c, asked)
  await bringUpToDate(c.env.DB, filter.owner, Date.now())
  const { total, items } = await advisedReports(c.env.DB, filter, { limit: MOST_REPORTS, offset: 0 })
  if (total === 0) throw new AppError('not_found', pageTexts(callerLanguage(c)).backtest.none)
  const rows = await evaluated(c.env.DB, items, sessions)
  return c.json({
    ...metricsOf(rows, sessions),
    code: filter.key,
    scope: filter.key === null ? 'overall' : 'stock',
    ...leftOut(rows, total),
  })
}

const leftOut = (rows: readonly Evaluated[], total: number) => ({
  diagnostics: diagnosticsOf(rows, total - rows.length),
})

function metricsOf(rows: readonly Evaluated[], sessions: number) {
  const done = rows.flatMap(({ row, told }) => {
    const action = Action.parse(row.action)
    return told.ok
      ? [{ action, followed: told.followed, verdict: backtestVerdict(action, told.followed.returnPct) }]
      : []
  })
  const count = (wanted: string) => done.filter(({ verdict }) => verdict.outcome === wanted).length
  const [win, loss, neutral] = [count('win'), count('loss'), count('neutral')]
  const claims = done.filter(({ verdict }) => verdict.isCorrect !== null)
  const trades = done.flatMap(({ followed }) => (followed.trade === null ? [] : [followed.trade]))
  const [stops, targets] = [
    trades.filter(({ hitStop }) => hitStop !== null),
    trades.filter(({ hitTarget }) => hitTarget !== null),
  ]
  const hits = trades.filter(({ exit }) => exit !== 'window_end')
  return {
    ...{ eval_window_days: sessions, engine_version: ENGINE, computed_at: isoMicros(Date.now()) },
    ...{ total_evaluations: rows.length, completed_count: done.length, insufficient_count: rows.length - done.length },
    long_count: done.filter(({ action }) => isPurchase(action)).length,
    cash_count: done.filter(({ action }) => !isPurchase(action) && action !== 'hold').length,
    ...{ win_count: win, loss_count: loss, neutral_count: neutral },
    direction_accuracy_pct: shareOf(claims.filter(({ verdict }) => verdict.isCorrect).length, claims.length),
    win_rate_pct: shareOf(win, win + loss),
    neutral_rate_pct: shareOf(neutral, done.length),
    avg_stock_return_pct: meanOf(done.map(({ followed }) => followed.returnPct)),
    avg_simulated_return_pct: meanOf(trades.map(({ netPct }) => netPct)),
    stop_loss_trigger_rate: shareOf(stops.filter(({ hitStop }) => hitStop).length, stops.length),
    take_profit_trigger_rate: shareOf(targets.filter(({ hitTarget }) => hitTarget).length, targets.length),
    ambiguous_rate: shareOf(trades.filter(({ isAmbiguous }) => isAmbiguous).length, trades.length),
    avg_days_to_first_hit: meanOf(hits.map(({ sessions: taken }) => taken)),
    advice_breakdown: Object.fromEntries(
      [...new Set(done.map(({ action }) => action))].sort().map((action) => {
        const some = done.filter((one) => one.action === action)
        const of = (wanted: string) => some.filter(({ verdict }) => verdict.outcome === wanted).length
        return [action, { total: some.length, win: of('win'), loss: of('loss'), neutral: of('neutral') }]
      }),
    ),
  }
}

function diagnosticsOf(rows: readonly Evaluated[], left_out: number) {
  const phases = { premarket: 0, intraday: 0, postmarket: 0, unknown: 0 }
  const reasons: Record<string, number> = {}
  for (const { row, told } of rows) {
    phases[phaseOf(row)] += 1
    if (!told.ok) reasons[told.reason] = (reasons[told.reason] ?? 0) + 1
  }
  return {
    phase_breakdown: phases,
    not_evaluated: reasons,
    least_sample: LEAST_SAMPLE,
    baselines: besideOf(
      rows.flatMap(({ row, told }) => (told.ok ? [{ action: Action.parse(row.action), followed: told.followed }] : [])),
    ),
    left_out,
  }
}

/** A client stops waiting after thirty seconds. */
const RUN_MS = 20_000
/** The rest of a run continues for this long after its answer. */
const BEHIND_MS = 25_000
const MOST_LISTINGS = 100

endpoint(
  app,
  {
    method: 'post',
    scope: 'analysis',
    limit: 'analyses',
    bodyLimit: 'standard',
    tag: 'Signals',
    path: '/api/v1/backtest/run',
    summary: 'Fetch the bars after the own reports and evaluate these again',
    body: {
      required: false,
      schema: z
        .object({
          code: z.string().max(100).nullish().describe('Only of this listing'),
          force: laxBool().describe('Also where the kept bars are young').default(false),
          eval_window_days: window.nullish().describe('Sessions after the report, 10 by default'),
          min_age_days: laxInt({ min: 0, max: 365 }).nullish().describe('Only reports of this age, 14 by default'),
          ...days,
          limit: laxInt({ min: 1, max: 2_000 }).describe('Only so many of the newest').default(200),
        })
        .openapi('BacktestRunInput'),
    },
    replies: { 200: { description: 'What came of it', schema: BacktestRun }, ...refused },
  },
  async (c, { body }) => {
    const now = Date.now()
    const asked = body ?? { force: false, limit: 200 }
    const sessions = asked.eval_window_days ?? USUAL_WINDOW
    const filter = await filterOf(c, asked)
    await bringUpToDate(c.env.DB, filter.owner, now)
    const youngest = addDays(new Date(now).toISOString().slice(0, 10), -(asked.min_age_days ?? USUAL_AGE_DAYS))
    const madeTo = filter.madeTo === null || filter.madeTo > youngest ? youngest : filter.madeTo
    const { items } = await advisedReports(c.env.DB, { ...filter, madeTo }, { limit: asked.limit, offset: 0 })
    const before = await evaluated(c.env.DB, items, sessions)
    const left = items.length === 0 ? 0 : await fetchBars(c, { isForced: asked.force, now })
    const rows = await evaluated(c.env.DB, items, sessions)
    const isDone = ({ told }: Evaluated) => told.ok
    const completed = rows.filter(isDone).length
    const saved = Math.max(0, completed - before.filter(isDone).length)
    const empty: EmptyBacktest | null =
      items.length === 0
        ? 'no_matching_analysis'
        : completed === 0
          ? 'insufficient_daily_data'
          : saved === 0
            ? 'no_new_results'
            : null
    const texts = pageTexts(callerLanguage(c)).backtest
    const errors = rows.filter(({ told }) => !told.ok && told.reason === 'bad_bars').length
    return c.json({
      ...{ processed: items.length, saved, completed, insufficient: rows.length - completed - errors, errors },
      applied_eval_window_days: sessions,
      message: left > 0 ? texts.goesOn(left) : empty === null ? null : texts.empty[empty],
      diagnostics: { empty_reason: empty, ...diagnosticsOf(rows, 0) },
    })
  },
)

type FetchBars = { isForced: boolean; now: number }

/** The number of remaining listings; they are fetched after the answer. */
async function fetchBars(c: Context<AppEnv>, { isForced, now }: FetchBars): Promise<number> {
  const { refreshAdviceBars } = await import('../../../schedule/advice-bars.ts')
  const { owner } = c.get('principal')
  const order = { owner, isForced, most: MOST_LISTINGS, now }
  const { left } = await refreshAdviceBars(c.env, { ...order, deadline: now + RUN_MS })
  if (left > 0)
    c.executionCtx.waitUntil(refreshAdviceBars(c.env, { ...order, isForced: false, deadline: Date.now() + BEHIND_MS }))
  return left
}

export { app as backtest }
