// What the cron trigger does, every few minutes: the schedules that are due, then the service's own upkeep.

import { marketDataOf, refreshStockNames } from '../analysis/market-data.ts'
import { REGIONS } from '../analysis/market-review/regions.ts'
import { taskQueue } from '../bindings.ts'
import { config } from '../config.ts'
import { pruneDeliveries } from '../db/delivery-log.ts'
import { pruneRuns } from '../db/schedules.ts'
import { stockNameStore } from '../db/stock-names.ts'
import { endTurn, takeTurn } from '../db/upkeep.ts'
import { mostWatched } from '../db/watchlists.ts'
import { currentNames } from '../kits/market-names/index.ts'
import { isoMicros, systemClock } from '../lib/clock.ts'
import { errorFields, log } from '../lib/log.ts'
import { isCalendarKnown, localDate } from '../market/calendar.ts'
import { parseCode } from '../market/instruments.ts'
import { addDays } from '../market/zoned-time.ts'
import { plannedStocks } from './due.ts'
import { refreshMarketLists } from './refresh-lists.ts'
import { runDueSchedules } from './tick.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const KEEP_RUNS_MS = 90 * DAY_MS
const KEEP_DELIVERIES_MS = 90 * DAY_MS
/** Long enough before a calendar ends to bring in the next year's. */
const CALENDAR_DAYS_AHEAD = 45
const BARS_KEPT_FRESH = 40
const BAR_COUNT = 400

export async function onCron(env: Env, now: number): Promise<void> {
  await runDueSchedules(tickWorld(env), now)
  await runUpkeep(env.DB, jobsOf(env, now), now)
}

function tickWorld(env: Env) {
  return {
    db: env.DB,
    submit: (...submission: Parameters<ReturnType<typeof taskQueue>['submit']>) => taskQueue(env).submit(...submission),
    submitReview: (...review: Parameters<ReturnType<typeof taskQueue>['submitReview']>) =>
      taskQueue(env).submitReview(...review),
    stocksOf: async (owner: string, plan: Parameters<typeof plannedStocks>[2]['plan']) =>
      plannedStocks(env.DB, await currentNames(stockNameStore(env.DB)), { owner, plan }),
    configuredLanguage: config(env).reportLanguage,
  }
}

function jobsOf(env: Env, now: number): UpkeepJob[] {
  const sources = config(env).marketData
  const asksTheWorld = sources.some((name) => name !== 'sample')
  const listsNames = sources.includes('eastmoney') || sources.includes('sina')
  return [
    // The call wakes an object whose alarm was lost; it sets its alarms again.
    { name: 'queue', everyMs: 5 * MINUTE_MS, run: async () => `${await taskQueue(env).oldestPendingMs()} ms` },
    { name: 'retention', everyMs: DAY_MS, run: async () => `${await pruneRuns(env.DB, now - KEEP_RUNS_MS)} runs` },
    { name: 'notices', everyMs: 5 * MINUTE_MS, run: () => wakeDeliveries(env) },
    {
      name: 'deliveries',
      everyMs: DAY_MS,
      run: async () => `${await pruneDeliveries(env.DB, isoMicros(now - KEEP_DELIVERIES_MS))} deliveries`,
    },
    { name: 'calendars', everyMs: DAY_MS, run: async () => checkCalendars(now) },
    ...(listsNames
      ? [{ name: 'names', everyMs: DAY_MS, run: async () => JSON.stringify(await refreshStockNames(env)) }]
      : []),
    ...(asksTheWorld
      ? [{ name: 'lists', everyMs: 7 * DAY_MS, run: async () => JSON.stringify(await refreshMarketLists(env)) }]
      : []),
    ...(asksTheWorld ? [{ name: 'bars', everyMs: 6 * HOUR_MS, run: () => refreshBars(env) }] : []),
  ]
}

/** Continues open deliveries even when the queue's own alarm was lost. */
async function wakeDeliveries(env: Env): Promise<string> {
  await taskQueue(env).notify([])
  return 'asked'
}

/** The calendars are part of the service, so the only thing to do is to warn before they end. */
function checkCalendars(now: number): string {
  const ending = REGIONS.filter(
    (market) => !isCalendarKnown(market, addDays(localDate(market, now), CALENDAR_DAYS_AHEAD)),
  )
  if (ending.length > 0) log.warn('calendar.ends_soon', { markets: ending })
  return ending.length === 0 ? 'known' : `ending: ${ending.join(', ')}`
}

/** Fetches the bars of the most watched listings, so that they are stored when their source fails. */
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

// Maintenance jobs of the service: each at its own interval, one call at a time; a failed job is repeated within the hour.

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
