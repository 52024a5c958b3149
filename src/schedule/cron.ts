// What the cron trigger does every few minutes: runs the due schedules, then the maintenance of the service.

import { marketDataOf, refreshStockNames } from '../analysis/market-data.ts'
import { REGIONS } from '../analysis/market-review/regions.ts'
import type { ReportLanguage } from '../analysis/schemas.ts'
import type { TaskRequest } from '../analysis/task.ts'
import { owner as ownerOf, taskQueue } from '../bindings.ts'
import { config } from '../config.ts'
import { notifyTargets } from '../db/channels.ts'
import { pruneDeliveries } from '../db/deliveries.ts'
import { leavingOwners } from '../db/erasures.ts'
import { gateStore } from '../db/market-state.ts'
import { foldMetricRows, storeCounts } from '../db/metrics.ts'
import { deleteOldModelCalls } from '../db/model-calls.ts'
import { hasAccounts } from '../db/portfolio.ts'
import {
  advanceSchedule,
  claimSlot,
  dueSchedules,
  noteMissed,
  pruneRuns,
  type ScheduleRow,
  type SlotOutcome,
  settleSlot,
} from '../db/schedules.ts'
import { allNames, saveChangedNames, stockNameStore } from '../db/stock-names.ts'
import { endTurn, takeTurn } from '../db/upkeep.ts'
import { mostWatched } from '../db/watchlists.ts'
import { currentNames, forgetNames } from '../kits/market-names/index.ts'
import { isoMicros, systemClock } from '../lib/clock.ts'
import { errorFields, log, loggedAs } from '../lib/log.ts'
import { addDays, isCalendarKnown, localDate } from '../market/calendar.ts'
import { parseCode } from '../market/instruments.ts'
import type { ListRefreshed } from '../market/names/refresh-lists.ts'
import { storedGate } from '../market/providers/gate.ts'
import type { Notice } from '../notify/delivery.ts'
import { refreshReference } from '../portfolio/reference-rates.ts'
import { followAdvice } from './advice-bars.ts'
import { type DigestDeps, tellDigest } from './digest-slot.ts'
import {
  type Due,
  dueWork,
  marketsOf,
  nextSlot,
  plannedStocks,
  type ScheduledStock,
  SchedulePlan,
  type Slot,
  slotsBetween,
} from './plan.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** Longer than the interval between two rows of an isolate's totals. */
const METRIC_ROW_MS = 2 * HOUR_MS
const KEEP_RUNS_MS = 90 * DAY_MS
const KEEP_DELIVERIES_MS = 90 * DAY_MS
const KEEP_MODEL_CALLS_MS = 90 * DAY_MS
/** Leaves enough time to add the next year before a calendar ends. */
const CALENDAR_DAYS_AHEAD = 45
const BARS_KEPT_FRESH = 40
/** The queue stores at most this many of one owner. */
const MOST_FAILED = 1_000
const BAR_COUNT = 400
const MOST_ERASURES = 100

/** Log lines contain the id of the call that they belong to. */
export function onCron(env: Env, now: number): Promise<void> {
  const cron = new Date(now).toISOString()
  return loggedAs({ ids: { cron } }, () => runAll(env, now))
}

async function runAll(env: Env, now: number): Promise<void> {
  await runDueSchedules(tickDeps(env), now)
  const { runAlerts } = await import('./alerts.ts')
  await runAlerts(env, now)
  const { collectFigures, runScreens } = await import('./screening.ts')
  await runScreens(env, now)
  await runUpkeep(env.DB, jobsOf(env, now), now)
  await collectFigures(env, now)
  await storeCounts(env.DB)
}

function tickDeps(env: Env) {
  return {
    db: env.DB,
    submit: (...submission: Parameters<ReturnType<typeof taskQueue>['submit']>) => taskQueue(env).submit(...submission),
    submitReview: (...review: Parameters<ReturnType<typeof taskQueue>['submitReview']>) =>
      taskQueue(env).submitReview(...review),
    stocksOf: async (owner: string, plan: Parameters<typeof plannedStocks>[2]['plan']) =>
      plannedStocks(env.DB, await currentNames(stockNameStore(env.DB)), { owner, plan }),
    configuredLanguage: config(env).reportLanguage,
    digests: {
      failed: async (owner: string) => {
        const asked = { statuses: ['failed'], limit: MOST_FAILED, filterFirst: true }
        return (await taskQueue(env).list(owner, asked)).tasks
      },
      tell: async (notice: Notice) => taskQueue(env).notify([notice]),
      hasChannel: async (owner: string, ids: readonly string[] | null) =>
        (await notifyTargets(env, owner)).some(({ id, isEnabled }) => isEnabled && (ids?.includes(id) ?? true)),
    },
  }
}

function jobsOf(env: Env, now: number): UpkeepJob[] {
  const sources = config(env).marketData
  const asksTheWorld = sources.some((name) => name !== 'sample')
  const listsNames = sources.includes('eastmoney') || sources.includes('sina')
  return [
    // The call wakes an object whose alarm was lost; the object sets its alarms again.
    { name: 'queue', everyMs: 5 * MINUTE_MS, run: async () => `${await taskQueue(env).oldestPendingMs()} ms` },
    { name: 'retention', everyMs: DAY_MS, run: async () => `${await pruneRuns(env.DB, now - KEEP_RUNS_MS)} runs` },
    { name: 'erasures', everyMs: 5 * MINUTE_MS, run: () => goOnErasing(env) },
    { name: 'notices', everyMs: 5 * MINUTE_MS, run: () => wakeDeliveries(env) },
    { name: 'deliveries', everyMs: DAY_MS, run: () => prunedDeliveries(env.DB, now) },
    {
      name: 'model-calls',
      everyMs: DAY_MS,
      run: async () => `${await deleteOldModelCalls(env.DB, now - KEEP_MODEL_CALLS_MS)} calls`,
    },
    { name: 'metrics', everyMs: HOUR_MS, run: () => foldedCounts(env.DB, now) },
    { name: 'triggers', everyMs: DAY_MS, run: () => prunedAlerts(env.DB, now) },
    { name: 'screenings', everyMs: DAY_MS, run: () => prunedScreenings(env.DB, now) },
    { name: 'calendars', everyMs: DAY_MS, run: async () => checkCalendars(now) },
    { name: 'evidence', everyMs: DAY_MS, run: () => replayed(env.DB, now) },
    ...(asksTheWorld && config(env).rates !== null
      ? [{ name: 'fx-rates', everyMs: HOUR_MS, run: () => refreshRates(env, now) }]
      : []),
    ...(listsNames
      ? [{ name: 'names', everyMs: DAY_MS, run: async () => JSON.stringify(await refreshStockNames(env)) }]
      : []),
    ...(asksTheWorld
      ? [{ name: 'lists', everyMs: 7 * DAY_MS, run: async () => JSON.stringify(await refreshMarketLists(env)) }]
      : []),
    ...(asksTheWorld
      ? [
          { name: 'bars', everyMs: 6 * HOUR_MS, run: () => refreshBars(env) },
          { name: 'advice-bars', everyMs: 15 * MINUTE_MS, run: () => followAdvice(env, now) },
        ]
      : []),
  ]
}

/** Continues the deletion of owners whose deletion was ordered and may have been interrupted. */
async function goOnErasing(env: Env): Promise<string> {
  const owners = await leavingOwners(env.DB, MOST_ERASURES)
  for (const name of owners) await ownerOf(env, name).erase(name)
  return `${owners.length} owners`
}

/** Counts of isolates that no longer exist. */
const foldedCounts = async (db: D1Database, now: number): Promise<string> =>
  `${await foldMetricRows(db, now - METRIC_ROW_MS)} isolates`

/** Reference rates between currencies, if any owner has an account. */
async function refreshRates(env: Env, now: number): Promise<string> {
  const { rates, fetchTimeoutMs: timeoutMs } = config(env)
  if (rates === null || !(await hasAccounts(env.DB))) return 'not needed'
  return `${await refreshReference(env.DB, { url: rates.url, timeoutMs }, now)} days`
}

/** How the method performed; loads all modules of the analysis. */
async function replayed(db: D1Database, now: number): Promise<string> {
  const { refreshEvidence } = await import('./evidence.ts')
  return refreshEvidence(db, now)
}

async function prunedDeliveries(db: D1Database, now: number): Promise<string> {
  return `${await pruneDeliveries(db, isoMicros(now - KEEP_DELIVERIES_MS))} deliveries`
}

async function prunedAlerts(db: D1Database, now: number): Promise<string> {
  const { pruneAlerts } = await import('./alerts.ts')
  return pruneAlerts(db, now)
}

async function prunedScreenings(db: D1Database, now: number): Promise<string> {
  const { pruneScreening } = await import('./screening.ts')
  return pruneScreening(db, now)
}

/** Continues open deliveries even when the queue's own alarm was lost. */
async function wakeDeliveries(env: Env): Promise<string> {
  await taskQueue(env).notify([])
  return 'asked'
}

/** The calendars are part of the service, so this job can only warn before they end. */
function checkCalendars(now: number): string {
  const ending = REGIONS.filter(
    (market) => !isCalendarKnown(market, addDays(localDate(market, now), CALENDAR_DAYS_AHEAD)),
  )
  if (ending.length > 0) log.warn('calendar.ends_soon', { markets: ending })
  return ending.length === 0 ? 'known' : `ending: ${ending.join(', ')}`
}

/** Fetches the bars of the most watched listings, so that stored bars are available when their source fails. */
async function refreshBars(env: Env): Promise<string> {
  const market = await marketDataOf(env)
  const keys = await mostWatched(env.DB, BARS_KEPT_FRESH)
  let fetched = 0
  for (const key of keys) {
    const parsed = parseCode(key)
    if (!parsed.ok) continue
    try {
      if ((await market.bars(parsed.instrument, { count: BAR_COUNT, forceRefresh: true })).ok) fetched += 1
    } catch (error) {
      log.warn('upkeep.bars_failed', { key, ...errorFields(error) })
    }
  }
  return `${fetched} of ${keys.length} series`
}

// Maintenance jobs of the service: each runs at its own interval, one call at a time; a failed job is repeated within
// an hour.

type UpkeepJob = {
  name: string
  everyMs: number
  /** Returns a line for the log. */
  run: () => Promise<string>
}

const RETRY_MS = 3_600_000

export async function runUpkeep(db: D1Database, jobs: readonly UpkeepJob[], now: number): Promise<void> {
  for (const { name, everyMs, run } of jobs) {
    if (!(await takeTurn(db, { name, now, everyMs }))) continue
    try {
      const outcome = await run()
      await endTurn(db, { name, endedAt: systemClock(), outcome, nextAt: null })
      log.info('upkeep.done', { name, outcome })
    } catch (error) {
      log.warn('upkeep.failed', { name, ...errorFields(error) })
      await endTurn(db, { name, endedAt: systemClock(), outcome: 'failed', nextAt: now + Math.min(RETRY_MS, everyMs) })
    }
  }
}

// Runs the due slots. It may run twice at once, late, or not for hours, and may be interrupted at any point: a slot is
// claimed by its row, submitted under its own key, which the queue accepts only once, and then settled. The schedule
// advances only after that. Slots that are older than the schedule's window are recorded as missed.

type Queued = { ok: true; results: { taskId: string }[] } | { ok: false }
type QueuedReview = { ok: true; taskId: string } | { ok: false; reason: 'full' | 'locked' | 'other_request' }

export type TickDeps = {
  db: D1Database
  /** Queues requests under a key; a repetition with the same key is the same submission. */
  submit: (owner: string, requests: TaskRequest[], key: string) => Promise<Queued>
  submitReview: (owner: string, request: TaskRequest, key: string) => Promise<QueuedReview>
  /** The stocks of an owner's plan, with names resolved. */
  stocksOf: (owner: string, plan: SchedulePlan) => Promise<ScheduledStock[]>
  configuredLanguage: ReportLanguage
  digests: DigestDeps
}

const MOST_SCHEDULES = 500
/** A claim that is older than this without being settled was interrupted. */
const CLAIM_MS = 120_000
/** Older missed slots are not recorded. */
const LONGEST_LOOK_BACK_MS = 31 * 1440 * MINUTE_MS

/** Returns the number of schedules that were checked. */
export async function runDueSchedules(deps: TickDeps, now: number): Promise<number> {
  const due = await dueSchedules(deps.db, now, MOST_SCHEDULES)
  for (const row of due) {
    try {
      await runSchedule(deps, row, now)
    } catch (error) {
      // A failed schedule does not stop the others; its slots stay unsettled and are retried.
      log.error('schedule.failed', { scheduleId: row.id, ...errorFields(error) })
    }
  }
  return due.length
}

type Running = { deps: TickDeps; row: ScheduleRow; plan: SchedulePlan; stocks: ScheduledStock[]; now: number }

async function runSchedule(deps: TickDeps, row: ScheduleRow, now: number): Promise<void> {
  const plan = SchedulePlan.parse(JSON.parse(row.plan))
  const running: Running = { deps, row, plan, stocks: await deps.stocksOf(row.owner, plan), now }
  const markets = marketsOf(plan, running.stocks)
  const from = Math.max(row.since, (row.nextAt ?? now) - 1, now - LONGEST_LOOK_BACK_MS)
  const slots = slotsBetween(plan.when, markets, { from, until: now })
  const windowStart = now - plan.catch_up_minutes * MINUTE_MS
  const late = slots.filter(({ at }) => at <= windowStart)
  if (late.length > 0) await noteMissed(deps.db, { row, name: plan.name, slots: late, now, claimMs: CLAIM_MS })
  let unsettled: number | null = null
  for (const slot of slots.slice(late.length)) {
    const isSettled = await runSlot(running, slot)
    if (!isSettled) unsettled ??= slot.at
  }
  await advanceSchedule(deps.db, row, unsettled ?? nextSlot(plan.when, markets, now)?.at ?? null)
}

/** Whether the slot is finished. */
async function runSlot({ deps, row, plan, stocks, now }: Running, slot: Slot): Promise<boolean> {
  const claim = await claimSlot(deps.db, { row, name: plan.name, slot, now, claimMs: CLAIM_MS })
  if (claim !== 'claimed') return claim === 'settled'
  const work = dueWork(plan, { slot, configuredLanguage: deps.configuredLanguage, stocks })
  const outcome = await outcomeOf(deps, { row, plan, slot, work })
  await settleSlot(deps.db, { scheduleId: row.id, slot: slot.id }, outcome)
  log.info('schedule.slot', { scheduleId: row.id, slot: slot.id, status: outcome.status, detail: outcome.detail })
  return outcome.status !== 'waiting'
}

type Working = { row: ScheduleRow; plan: SchedulePlan; slot: Slot; work: Due }

async function outcomeOf(deps: TickDeps, { row, plan, slot, work }: Working): Promise<SlotOutcome> {
  const { leftOut } = work
  const because = (status: SlotOutcome['status'], detail: string): SlotOutcome => {
    return { status, detail, taskIds: [], leftOut }
  }
  const key = `${row.id} ${slot.id}`
  if (work.kind === 'nothing') return because('skipped', work.reason)
  if (work.kind === 'digest') {
    const { configuredLanguage, digests, db } = deps
    const { status, detail } = await tellDigest(db, digests, { row, plan, slot, configuredLanguage })
    return { status, detail, taskIds: [], leftOut }
  }
  if (work.kind === 'review') {
    const answer = await deps.submitReview(row.owner, work.request, key)
    if (answer.ok) return { status: 'started', detail: null, taskIds: [answer.taskId], leftOut }
    return because('waiting', answer.reason === 'locked' ? 'another market review runs' : 'too many unfinished tasks')
  }
  const answer = await deps.submit(row.owner, work.requests, key)
  if (!answer.ok) return because('waiting', 'too many unfinished tasks')
  const taskIds = answer.results.map(({ taskId }) => taskId)
  return { status: 'started', detail: null, taskIds, leftOut }
}

// Refreshes the lists of markets other than the mainland's shares, with the dependencies from this environment.

async function refreshMarketLists(env: Env): Promise<ListRefreshed[]> {
  const { marketLists } = await import('../market/names/sources.ts')
  const { refreshLists } = await import('../market/names/refresh-lists.ts')
  // Stores the packaged list first if that has not been done yet.
  await currentNames(stockNameStore(env.DB))
  const gate = storedGate(gateStore(env.DB), systemClock)
  const { marketData: providers, variables } = config(env)
  const store = { known: () => allNames(env.DB), save: saveChangedNames.bind(null, env.DB) }
  const outcomes = await refreshLists(
    store,
    marketLists({ providers, variables, clock: systemClock, gate }),
    systemClock,
  )
  forgetNames()
  return outcomes
}
