// Evaluates all alerts, with the dependencies from this environment.

import { SWEEP_EVERY_MS, type SweepDeps, sweepAlerts } from '../alerts/sweep.ts'
import { triggerItem } from '../alerts/told.ts'
import { marketDataOf } from '../analysis/market-data.ts'
import { gatherRegion } from '../analysis/market-review/gather.ts'
import { marketLight } from '../analysis/market-review/judge.ts'
import { listedPrices } from '../analysis/market-review/listed-prices.ts'
import { REGION_SPECS } from '../analysis/market-review/regions.ts'
import { taskQueue } from '../bindings.ts'
import { config } from '../config.ts'
import { marketLights, pruneTriggers, type StoredLight, saveLight } from '../db/alert-triggers.ts'
import { gateStore } from '../db/market-state.ts'
import { endTurn, takeTurn } from '../db/upkeep.ts'
import { isoMicros, systemClock } from '../lib/clock.ts'
import { errorFields, log } from '../lib/log.ts'
import type { Market } from '../market/instruments.ts'
import { storedGate } from '../market/providers/gate.ts'

/** The platform's trigger comes a little early or late. */
const SLACK_MS = 30_000

/** Evaluates the alerts if they are due. A failure is logged, and the other work of the trigger continues. */
export async function runAlerts(env: Env, now: number): Promise<void> {
  const name = 'alerts'
  try {
    if (!(await takeTurn(env.DB, { name, now, everyMs: SWEEP_EVERY_MS - SLACK_MS }))) return
    const outcome = await sweepAlerts(await sweepDeps(env), now)
    await endTurn(env.DB, { name, endedAt: systemClock(), outcome, nextAt: null })
    log.info('alerts.swept', { outcome })
  } catch (error) {
    log.error('alerts.sweep_failed', errorFields(error))
  }
}

export async function sweepDeps(env: Env): Promise<SweepDeps> {
  return {
    db: env.DB,
    market: await marketDataOf(env),
    lights: (market, session) => marketLights(env.DB, market, session),
    makeLight: async (market, session, signal) => {
      const turn = { name: `light:${market}`, now: systemClock(), everyMs: LIGHT_EVERY_MS }
      return (await takeTurn(env.DB, turn)) ? madeLight(env, { market, session, signal }) : null
    },
    publish: async (triggers) => {
      const { reportLanguage } = config(env)
      const alerts = triggers.map((one) => ({
        owner: one.owner,
        uid: one.uid,
        json: JSON.stringify(triggerItem(one, reportLanguage)),
      }))
      await taskQueue(env).tellOnce('alert_triggered', alerts)
    },
    wake: () => taskQueue(env).notify([]),
  }
}

type LightQuestion = { market: Market; session: string; signal: AbortSignal }

const REGION_MS = 60_000
/** A light that cannot be computed is not retried in every round, because it requires requests about the whole market. */
const LIGHT_EVERY_MS = 30 * 60_000

/** Computed from the figures of a whole session that are not sample data; otherwise null. */
async function madeLight(env: Env, { market, session, signal }: LightQuestion): Promise<StoredLight | null> {
  if (!REGION_SPECS[market].hasLight) return null
  const settings = config(env)
  const listing = {
    options: { providers: settings.marketData, variables: settings.variables },
    gate: storedGate(gateStore(env.DB), systemClock),
    clock: systemClock,
  }
  const deps = {
    market: await marketDataOf(env),
    listed: (inner: AbortSignal) => listedPrices(listing, inner),
    ...{ news: null, narrator: null, colorScheme: settings.tasks.colorScheme },
    deadlines: { regionMs: REGION_MS, partMs: REGION_MS, modelMs: 0 },
  }
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(REGION_MS)])
  const silent = { stage: async () => {}, tried: async () => {} }
  const gathered = await gatherRegion(market, deps, {
    language: settings.reportLanguage,
    clock: systemClock,
    signal: bounded,
    ...silent,
  })
  if (!gathered.ok) return null
  const { facts } = gathered
  const light = marketLight(facts)
  const isOfSession = facts.date === session && !facts.isPartial && facts.provenance === null
  if (light === null || !isOfSession || light.data_quality === 'unavailable') return null
  const stored = { session, status: light.status, score: light.score, quality: light.data_quality }
  await saveLight(env.DB, market, stored, systemClock())
  return stored
}

const KEEP_TRIGGERS_MS = 90 * 86_400_000

/** Returns a line for the log. */
export const pruneAlerts = async (db: D1Database, now: number): Promise<string> =>
  `${await pruneTriggers(db, isoMicros(now - KEEP_TRIGGERS_MS))} triggers`
