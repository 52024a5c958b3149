// The schedules in the form of the analysis page: one scheduler, with a button that runs the watchlist now.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { taskQueue } from '../../../bindings.ts'
import { config } from '../../../config.ts'
import { listRuns, listSchedules, type ScheduleRun } from '../../../db/schedules.ts'
import { stockNameStore } from '../../../db/stock-names.ts'
import { listWatchlists } from '../../../db/watchlists.ts'
import type { AppEnv } from '../../../http/app-env.ts'
import { callerLanguage } from '../../../http/caller-language.ts'
import { AppError, analysisEnvelope } from '../../../http/errors.ts'
import { endpoint } from '../../../http/openapi.ts'
import { router } from '../../../http/router.ts'
import { currentNames } from '../../../kits/market-names/index.ts'
import { isoMicros } from '../../../lib/clock.ts'
import { dueWork, plannedStocks, SchedulePlan } from '../../../schedule/plan.ts'
import { tooManyAnalyses } from '../refusals.ts'
import { pageTexts } from './texts.ts'

/** A slot that has been claimed for longer was interrupted by a crash. */
const CLAIM_MS = 120_000
const MINUTE_MS = 60_000
/** Enough to find the last run with each outcome. */
const RUNS_READ = 50

const time = z.string().nullable()
const SchedulerStatus = z
  .object({
    enabled: z.boolean().describe('Whether any schedule is switched on'),
    running: z.boolean().describe('Whether a slot is being worked on now'),
    schedule_times: z.array(z.string()).describe('The times of all schedules that are on, HH:MM by their own zones'),
    next_run_at: time,
    last_run_at: time,
    last_success_at: time,
    last_error: z.string().nullable(),
    last_skipped_at: time,
    last_skip_reason: z.string().nullable(),
  })
  .openapi('SchedulerStatus')

const app = router(analysisEnvelope)
const common = { scope: 'analysis', bodyLimit: 'standard', tag: 'Schedules' } as const

endpoint(
  app,
  {
    ...common,
    method: 'get',
    path: '/api/v1/system/scheduler/status',
    limit: 'reads',
    summary: 'All your schedules as one: when they run next, and how the last run ended',
    replies: { 200: { description: 'The state', schema: SchedulerStatus } },
  },
  async (c) => {
    const { owner } = c.get('principal')
    const [rows, runs] = await Promise.all([
      listSchedules(c.env.DB, owner),
      listRuns(c.env.DB, { owner, scheduleId: null, limit: RUNS_READ, after: null }),
    ])
    const on = rows.filter(({ enabled }) => enabled)
    const next = on.flatMap(({ nextAt }) => nextAt ?? []).sort((a, b) => a - b)[0]
    const last = (...statuses: ScheduleRun['status'][]) => runs.find(({ status }) => statuses.includes(status))
    const [failed, skipped] = [last('failed', 'missed'), last('skipped')]
    const at = (run: ScheduleRun | undefined) => (run === undefined ? null : isoMicros(run.claimedAt))
    return c.json({
      enabled: on.length > 0,
      running: runs.some(({ status, claimedAt }) => status === 'claimed' && claimedAt > Date.now() - CLAIM_MS),
      schedule_times: timesOf(on.map(({ plan }) => SchedulePlan.parse(JSON.parse(plan)))),
      next_run_at: next === undefined ? null : isoMicros(next),
      last_run_at: at(last('started', 'failed')),
      last_success_at: at(last('started')),
      last_error: failed === undefined ? null : (failed.detail ?? failed.status),
      last_skipped_at: at(skipped),
      last_skip_reason: skipped?.detail ?? null,
    })
  },
)

const timesOf = (plans: readonly SchedulePlan[]): string[] =>
  [...new Set(plans.flatMap(({ when }) => ('times' in when ? when.times : [])))].sort()

const Accepted = z.object({ accepted: z.literal(true), running: z.literal(true) }).openapi('SchedulerRun')
const Busy = z
  .object({ error: z.literal('scheduler_busy'), message: z.string(), reason: z.string() })
  .openapi('SchedulerBusy')

endpoint(
  app,
  {
    ...common,
    method: 'post',
    path: '/api/v1/system/scheduler/run-now',
    limit: 'writes',
    summary: 'Analyse the stocks of your default watchlist now; twice within a minute is once',
    replies: {
      200: { description: 'Queued', schema: Accepted },
      400: { description: 'The watchlist is empty' },
      409: { description: 'Each of its stocks is being analysed already', schema: Busy },
    },
  },
  async (c) => {
    const { owner } = c.get('principal')
    const say = pageTexts(callerLanguage(c)).scheduler
    const now = Date.now()
    const requests = await watchlistRequests(c, now)
    if (requests.length === 0) throw new AppError('bad_request', say.empty)
    const answer = await taskQueue(c.env).submit(owner, requests, `run-now ${Math.floor(now / MINUTE_MS)}`)
    if (!answer.ok) {
      if (answer.reason === 'full') throw tooManyAnalyses(answer, requests.length)
      throw new AppError('conflict', say.busy, { word: 'scheduler_busy', extra: { reason: say.busy } })
    }
    if (answer.results.every(({ accepted }) => !accepted)) {
      throw new AppError('conflict', say.busy, { word: 'scheduler_busy', extra: { reason: say.busy } })
    }
    return c.json({ accepted: true as const, running: true as const })
  },
)

/** The requests of a schedule for the default watchlist, even if its markets are closed. */
async function watchlistRequests(c: Context<AppEnv>, now: number) {
  const { owner } = c.get('principal')
  const list = (await listWatchlists(c.env.DB, owner)).find(({ isDefault }) => isDefault)
  if (list === undefined) return []
  const plan = SchedulePlan.parse({
    name: 'now',
    what: { kind: 'watchlist', watchlist_id: list.id },
    when: { after_close_minutes: 0 },
    trading_days_only: false,
  })
  const stocks = await plannedStocks(c.env.DB, await currentNames(stockNameStore(c.env.DB)), { owner, plan })
  const slot = { id: `now ${now}`, at: now, market: null }
  const work = dueWork(plan, { slot, configuredLanguage: config(c.env).reportLanguage, stocks })
  return work.kind === 'analysis' ? work.requests : []
}

export { app as scheduler }
