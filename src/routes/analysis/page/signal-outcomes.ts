// The outcome of signals: of one signal after each horizon, and of all together with comparisons.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { bringUpToDate } from '../../../alerts/signals.ts'
import {
  besideOf,
  expectedOfSignal,
  meanOf,
  rounded,
  shareOf,
  signalOutcome,
} from '../../../analysis/evidence/advice-sums.ts'
import { type FollowedAdvice, isPurchase } from '../../../analysis/evidence/followed.ts'
import { Action } from '../../../analysis/schemas.ts'
import { listSignals, type Signal } from '../../../db/signals.ts'
import type { AppEnv } from '../../../http/app-env.ts'
import { analysisEnvelope } from '../../../http/errors.ts'
import { endpoint } from '../../../http/openapi.ts'
import { router } from '../../../http/router.ts'
import { valueError } from '../../../http/validation.ts'
import { laxBool, laxInt } from '../../../lib/lax.ts'
import { parseCode } from '../../../market/instruments.ts'
import { followAll } from './advice.ts'
import * as wire from './signal-schemas.ts'
import { missing, NO_FILTER, reading, signalOf, signalParams } from './signals.ts'

const app = router(analysisEnvelope)

const ENGINE = 'signals-1'

/** Statistics use at most this many of the newest signals. */
const MOST_MEASURED = 2_000
const USUAL_HORIZON = '5d'

endpoint(
  app,
  {
    ...reading,
    path: '/api/v1/decision-signals/outcomes/stats',
    summary: 'How the signals came out, with what was earned after costs, by the index and by holding beside it',
    query: z.object({
      horizons: z
        .string()
        .optional()
        .describe('Repeated for several; `5d` by default, so that each signal counts once'),
      statuses: z.string().optional().describe('Repeated for several; all by default'),
    }),
    replies: { 200: { description: 'The counts, and rates where there are enough', schema: wire.SignalStats } },
  },
  async (c) => {
    const { owner } = c.get('principal')
    const horizons = someOf(c, 'horizons', wire.MEASURED_HORIZONS) ?? [USUAL_HORIZON]
    const statuses = someOf(c, 'statuses', wire.STATUSES) ?? [...wire.STATUSES]
    await bringUpToDate(c.env.DB, owner, Date.now())
    const { total, items } = await listSignals(c.env.DB, { ...NO_FILTER, owner }, { limit: MOST_MEASURED, offset: 0 })
    const signals = items.filter(({ status }) => statuses.some((one) => one === status))
    const rows = await rowsOf(c, signals, horizons)
    return c.json({
      engine_version: ENGINE,
      horizons,
      statuses,
      ...countsOf(rows),
      baselines: besideOf(rows.flatMap(followedOf)),
      breakdowns: Object.fromEntries(DIMENSIONS.map(({ name, of }) => [name, bucketsOf(rows, name, of)])),
      left_out: total - items.length,
    })
  },
)

/** Each signal after each horizon. */
async function rowsOf(
  c: Context<AppEnv>,
  signals: readonly Signal[],
  horizons: readonly Horizon[],
): Promise<Measured[]> {
  const windows = horizons.map((horizon) => wire.MEASURED[horizon])
  const followed = await followAll(c.env.DB, signals, windows)
  return signals.flatMap((signal) =>
    horizons.flatMap((horizon, i) => {
      const one = followed.get(signal.id)?.[i]
      return one === undefined ? [] : [measured(signal, horizon, one)]
    }),
  )
}

endpoint(
  app,
  {
    ...reading,
    path: '/api/v1/decision-signals/outcomes',
    summary: 'What became of the newest 2,000 signals, one for each signal and horizon',
    query: z.object({
      signal_id: laxInt({ min: 1 }).optional().describe('Only of this signal'),
      horizon: z.enum(wire.MEASURED_HORIZONS).optional().describe('Only after so many sessions; all four by default'),
      eval_status: z.enum(['completed', 'unable']).optional().describe('Only those that could be measured, or not'),
      outcome: z.enum(['hit', 'miss', 'neutral']).optional().describe('Only those that came out so'),
      engine_version: z.string().max(40).optional().describe('Only of these rules; there is one version'),
      ...wire.pageQuery,
    }),
    replies: { 200: { description: 'The newest signal first', schema: wire.OutcomePage } },
  },
  async (c, { query }) => {
    const { owner } = c.get('principal')
    await bringUpToDate(c.env.DB, owner, Date.now())
    const newest = await listSignals(c.env.DB, { ...NO_FILTER, owner }, { limit: MOST_MEASURED, offset: 0 })
    const signals =
      query.signal_id === undefined ? newest.items : newest.items.filter(({ id }) => id === query.signal_id)
    const horizons = query.horizon === undefined ? wire.MEASURED_HORIZONS : [query.horizon]
    const isOfOurs = query.engine_version === undefined || query.engine_version === ENGINE
    const found = (isOfOurs ? await rowsOf(c, signals, horizons) : []).map(outcomeItem).filter((item) => {
      const isStatus = query.eval_status === undefined || item.eval_status === query.eval_status
      return isStatus && (query.outcome === undefined || item.outcome === query.outcome)
    })
    const from = (query.page - 1) * query.page_size
    const items = found.slice(from, from + query.page_size)
    return c.json({ items, total: found.length, page: query.page, page_size: query.page_size })
  },
)

const RunBody = z
  .object({
    signal_id: laxInt({ min: 1 }).nullish().describe('Only this signal'),
    horizons: z.array(z.enum(wire.MEASURED_HORIZONS)).max(4).nullish().describe('All four by default'),
    force: laxBool().describe('Not read: nothing is stored that could be old').default(false),
    market: z.enum(wire.MARKETS).nullish().describe('Only of this market'),
    stock_code: z.string().max(32).nullish().describe('Only of this stock'),
    action: Action.nullish().describe('Only with this advice'),
    source_type: z.enum(wire.SOURCES).nullish().describe('Only from this source'),
    status: z.enum(wire.STATUSES).nullish().describe('Only in this state'),
    limit: laxInt({ min: 1, max: 500 }).describe('Of the newest signals').default(100),
  })
  .openapi('DecisionSignalRun')

endpoint(
  app,
  {
    ...reading,
    method: 'post',
    path: '/api/v1/decision-signals/outcomes/run',
    summary:
      'What became of the newest signals that match; they are measured whenever they are read, so nothing is stored',
    body: { schema: RunBody, required: false },
    replies: { 200: { description: 'The outcomes', schema: wire.OutcomeRun }, ...missing },
  },
  async (c, { body }) => {
    const asked = RunBody.parse(body ?? {})
    await bringUpToDate(c.env.DB, c.get('principal').owner, Date.now())
    const signals = await chosenSignals(c, asked)
    const horizons = asked.horizons ?? [...wire.MEASURED_HORIZONS]
    const items = (await rowsOf(c, signals, horizons)).map(outcomeItem)
    const skipped = items.filter(({ eval_status }) => eval_status === 'unable').length
    const counts = { evaluated: items.length, created: 0, updated: items.length - skipped, skipped }
    return c.json({ items, ...counts, engine_version: ENGINE })
  },
)

async function chosenSignals(c: Context<AppEnv>, asked: z.infer<typeof RunBody>): Promise<Signal[]> {
  const { owner } = c.get('principal')
  if (asked.signal_id) return [await signalOf(c, String(asked.signal_id))]
  const parsed = asked.stock_code ? parseCode(asked.stock_code) : null
  if (parsed !== null && !parsed.ok) return []
  const filter = {
    ...{ ...NO_FILTER, owner, market: asked.market ?? null, key: parsed?.instrument.key ?? null },
    ...{ action: asked.action ?? null, sourceType: asked.source_type ?? null, status: asked.status ?? null },
  }
  return (await listSignals(c.env.DB, filter, { limit: asked.limit, offset: 0 })).items
}

/** A repeated parameter, or a comma-separated list; null without one. */
function someOf<T extends string>(c: Context<AppEnv>, name: string, known: readonly T[]): T[] | null {
  const words = (c.req.queries(name) ?? []).flatMap((text) => text.split(',')).filter((word) => word !== '')
  const some = words.map((word) => {
    const found = known.find((one) => one === word)
    if (found === undefined) throw valueError(['query', name], `one of ${known.join(', ')} is wanted`, word)
    return found
  })
  return some.length === 0 ? null : [...new Set(some)]
}

type Horizon = (typeof wire.MEASURED_HORIZONS)[number]

type Measured = {
  signal: Signal
  horizon: Horizon
  told: FollowedAdvice
  outcome: 'hit' | 'miss' | 'neutral' | null
  /** Why there is no outcome. */
  reason: string | null
}

const NO_CLAIM = 'no_claim'

const followedOf = ({ signal, told }: Measured) =>
  told.ok ? [{ action: Action.parse(signal.action), followed: told.followed }] : []

function measured(signal: Signal, horizon: Horizon, told: FollowedAdvice): Measured {
  const outcome = told.ok ? signalOutcome(Action.parse(signal.action), told.followed.returnPct) : null
  const reason = told.ok ? (outcome === null ? NO_CLAIM : null) : told.reason
  return { signal, horizon, told, outcome, reason }
}

const DIMENSIONS: readonly { name: string; of: (row: Measured) => string }[] = [
  { name: 'action', of: ({ signal }) => signal.action },
  { name: 'market', of: ({ signal }) => signal.market },
  { name: 'source_type', of: ({ signal }) => signal.sourceType },
  { name: 'plan_quality', of: ({ signal }) => signal.planQuality },
  { name: 'horizon', of: ({ horizon }) => horizon },
]

function bucketsOf(rows: readonly Measured[], dimension: string, of: (row: Measured) => string) {
  const values = [...new Set(rows.map(of))].sort()
  return values.map((value) => ({ dimension, value, ...countsOf(rows.filter((row) => of(row) === value)) }))
}

function countsOf(rows: readonly Measured[]) {
  const completed = rows.filter(({ reason }) => reason === null)
  const count = (wanted: string) => completed.filter(({ outcome }) => outcome === wanted).length
  const reasons: Record<string, number> = {}
  for (const { reason } of rows) if (reason !== null) reasons[reason] = (reasons[reason] ?? 0) + 1
  const [hit, miss] = [count('hit'), count('miss')]
  return {
    total: rows.length,
    completed: completed.length,
    unable: rows.length - completed.length,
    ...{ hit, miss, neutral: count('neutral') },
    hit_rate_pct: shareOf(hit, hit + miss),
    avg_stock_return_pct: meanOf(completed.flatMap(({ told }) => (told.ok ? [told.followed.returnPct] : []))),
    unable_reasons: reasons,
  }
}

endpoint(
  app,
  {
    ...reading,
    path: '/api/v1/decision-signals/{signal_id}/outcomes',
    summary: 'What became of a signal after 1, 3, 5 and 10 sessions',
    params: signalParams,
    replies: { 200: { description: 'One for each horizon', schema: wire.OutcomePage }, ...missing },
  },
  async (c, { params }) => {
    const signal = await signalOf(c, params.signal_id)
    const items = (await rowsOf(c, [signal], wire.MEASURED_HORIZONS)).map(outcomeItem)
    return c.json({ items, total: items.length, page: 1, page_size: items.length })
  },
)

const OUTCOMES_OF_ONE = wire.MEASURED_HORIZONS.length

function outcomeItem({ signal, horizon, told, outcome, reason }: Measured): wire.SignalOutcome {
  const followed = told.ok ? told.followed : null
  const percent = (value: number | null | undefined) => (value === null || value === undefined ? null : rounded(value))
  return {
    id: signal.id * OUTCOMES_OF_ONE + wire.MEASURED_HORIZONS.indexOf(horizon),
    ...{ signal_id: signal.id, horizon, engine_version: ENGINE, eval_status: reason === null ? 'completed' : 'unable' },
    ...{ outcome, direction_expected: expectedOfSignal(Action.parse(signal.action)) },
    direction_correct: outcome === null || outcome === 'neutral' ? null : outcome === 'hit',
    ...{ unable_reason: reason, anchor_date: signal.anchor, eval_window_days: wire.MEASURED[horizon] },
    ...{ start_price: followed?.startPrice ?? null, end_close: followed?.endClose ?? null },
    ...{ max_high: followed?.maxHigh ?? null, min_low: followed?.minLow ?? null },
    stock_return_pct: percent(followed?.returnPct),
    net_return_pct: isPurchase(Action.parse(signal.action)) ? percent(followed?.trade?.netPct) : null,
    index_return_pct: percent(followed?.indexPct),
    buy_and_hold_pct: percent(followed?.heldPct),
    holding_state: 'unknown',
  }
}

export { app as signalOutcomes }
