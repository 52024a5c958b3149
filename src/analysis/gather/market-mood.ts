// What the newest market review of the owner says of a market's day.

import { z } from 'zod'
import type { StoredAnalysis } from '../../db/analyses.ts'
import { errorFields, log } from '../../lib/log.ts'
import { lastCompletedSession, localDate } from '../../market/calendar.ts'
import type { Market } from '../../market/instruments.ts'
import type { Mood } from '../codes.ts'

const Light = z.object({
  region: z.string(),
  trade_date: z.string(),
  status: z.enum(['green', 'yellow', 'red']),
})
const Lights = z.union([z.array(Light), z.record(z.string(), Light).transform((lights) => Object.values(lights))])
const Snapshot = z.object({ market_light_snapshots: Lights })

const MOOD: Record<z.infer<typeof Light>['status'], Mood> = { green: 'risk_on', yellow: 'balanced', red: 'defensive' }

/** Null when there is no review of that market's latest session, or none that can be read. */
export function moodOf(review: StoredAnalysis | null, market: Market, now: number): Mood | null {
  const lights = lightsIn(review?.contextSnapshot ?? null)
  const light = lights.find(({ region }) => region === market)
  if (light === undefined) return null
  const isCurrent = light.trade_date >= lastCompletedSession(market, now) && light.trade_date <= localDate(market, now)
  return isCurrent ? MOOD[light.status] : null
}

function lightsIn(json: string | null): z.infer<typeof Light>[] {
  if (json === null) return []
  try {
    return Snapshot.safeParse(JSON.parse(json)).data?.market_light_snapshots ?? []
  } catch (error) {
    log.error('analysis.review_unreadable', errorFields(error))
    return []
  }
}
