// Stores the bars of listings with advice, so that the outcome of the advice can be computed without a request to a
// source.

import { marketDataOf } from '../analysis/market-data.ts'
import { REGIONS } from '../analysis/market-review/regions.ts'
import { listingsToFollow } from '../db/signals.ts'
import { errorFields, log } from '../lib/log.ts'
import { benchmarkOf } from '../market/benchmarks.ts'
import { addDays, lastCompletedSession, sessionEnd } from '../market/calendar.ts'
import { type Market, parseCode } from '../market/instruments.ts'

const BAR_COUNT = 400
/** Longer windows are not measured. */
const FOLLOWED_DAYS = 200
const AT_A_TIME = 4

export type FollowBars = {
  /** Null for all owners. */
  owner: string | null
  /** Also refreshes bars when no session has ended since. */
  isForced: boolean
  most: number
  deadline: number
  now: number
}

/** The number of fetched listings, and the remaining ones. */
export async function refreshAdviceBars(env: Env, { owner, isForced, most, deadline, now }: FollowBars) {
  const since = addDays(new Date(now).toISOString().slice(0, 10), -FOLLOWED_DAYS)
  const before = Object.fromEntries(REGIONS.map((market) => [market, isForced ? now : settledAt(market, now)]))
  const keys = await listingsToFollow(env.DB, { owner, since, before, limit: most })
  const left = [...keys]
  let fetched = 0
  while (left.length > 0 && Date.now() < deadline) {
    const some = left.splice(0, AT_A_TIME)
    const answers = await Promise.all(some.map((key) => refreshed(env, key, isForced)))
    fetched += answers.filter(Boolean).length
  }
  return { fetched, left: left.length }
}

/** The figures of a session are final this long after its end. */
const SETTLE_MS = 10 * 60_000

/** When the figures of the newest session became final. */
function settledAt(market: Market, now: number): number {
  return sessionEnd(market, lastCompletedSession(market, now - SETTLE_MS)) + SETTLE_MS
}

/** Whether its bars were fetched; the bars of its index are stored with them. */
async function refreshed(env: Env, key: string, forceRefresh: boolean): Promise<boolean> {
  const parsed = parseCode(key)
  if (!parsed.ok) return false
  const { instrument } = parsed
  try {
    const market = await marketDataOf(env)
    const index = benchmarkOf(instrument)?.index
    const [bars] = await Promise.all([
      market.bars(instrument, { count: BAR_COUNT, forceRefresh }),
      index === undefined ? null : market.indexBars(index, { count: BAR_COUNT }),
    ])
    return bars.ok
  } catch (error) {
    log.warn('advice.bars_failed', { key, ...errorFields(error) })
    return false
  }
}

const MOST_AT_ONCE = 40
const DEADLINE_MS = 60_000

/** The periodic work for all owners; returns a line for the log. */
export async function followAdvice(env: Env, now: number): Promise<string> {
  const limits = { isForced: false, most: MOST_AT_ONCE, deadline: now + DEADLINE_MS }
  const { fetched, left } = await refreshAdviceBars(env, { owner: null, ...limits, now })
  return `${fetched} series, ${left} left`
}
