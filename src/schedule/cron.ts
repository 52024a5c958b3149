// What the cron trigger does, every few minutes: the schedules that are due, then the service's own upkeep.

import { marketDataOf, refreshStockNames } from '../analysis/runner.ts'
import { taskQueue } from '../bindings.ts'
import { config } from '../config.ts'
import { pruneDeliveries } from '../db/delivery-log.ts'
import { pruneRuns } from '../db/schedules.ts'
import { stockNameStore } from '../db/stock-names.ts'
import { mostWatched } from '../db/watchlists.ts'
import { isoMicros } from '../lib/clock.ts'
import { errorFields, log } from '../lib/log.ts'
import { isCalendarKnown, localDate } from '../market/calendar.ts'
import { parseCode } from '../market/instruments.ts'
import { currentNames } from '../market/names/store.ts'
import { addDays } from '../market/zoned-time.ts'
import { REGIONS } from '../review/regions.ts'
import { plannedStocks } from './stocks.ts'
import { runDueSchedules } from './tick.ts'
import { runUpkeep, type UpkeepJob } from './upkeep.ts'

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
    // A touch brings back an object whose alarm was lost; it sees to the rest by itself.
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
    ...(asksTheWorld ? [{ name: 'bars', everyMs: 6 * HOUR_MS, run: () => refreshBars(env) }] : []),
  ]
}

/** What waits to be sent is carried on even when the queue's own alarm was lost. */
async function wakeDeliveries(env: Env): Promise<string> {
  await taskQueue(env).notify([])
  return 'asked'
}

/** The calendars come with the service; all that can be done is to say in time that they end. */
function checkCalendars(now: number): string {
  const ending = REGIONS.filter(
    (market) => !isCalendarKnown(market, addDays(localDate(market, now), CALENDAR_DAYS_AHEAD)),
  )
  if (ending.length > 0) log.warn('calendar.ends_soon', { markets: ending })
  return ending.length === 0 ? 'known' : `ending: ${ending.join(', ')}`
}

/** Fetches the bars of what is followed most, so that they are there when their source is not. */
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
