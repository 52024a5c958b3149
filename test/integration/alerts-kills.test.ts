// Looks at alerts that are cut off at any call of the database, before it or after it was carried out, or while they tell the streams.

import { env } from 'cloudflare:workers'
import { expect, inject, test } from 'vitest'
import { sweepAlerts } from '../../src/alerts/sweep.ts'
import { deliveryStore, untoldNotices } from '../../src/db/deliveries.ts'
import { isoMicros } from '../../src/lib/clock.ts'
import { addDays, isTradingDay } from '../../src/market/calendar.ts'
import { notify } from '../../src/notify/run.ts'
import { alertWorld, makeRule, mortalDatabase } from '../helpers/alerts.ts'
import { client } from '../helpers/app.ts'
import { LOCAL } from '../helpers/policies.ts'
import { Random } from '../simulation/random.ts'

const SWEEP = 5 * 60_000
const KILLS = inject('isProof') ? 200 : 12
const SWEEPS_A_DAY = 20
const above = (target: string) => ({
  ...{ target, alert_type: 'price_cross', parameters: { direction: 'above', price: 10.5 } },
})

/** The trading days after that one. */
function* openings(from: string): Generator<number> {
  for (let day = from; ; day = addDays(day, 1)) if (isTradingDay('cn', day)) yield Date.parse(`${day}T01:35:00Z`)
}

test('looks that are cut off anywhere lose no alert that a later look sees, and tell none twice', async () => {
  const ann = await client()
  const random = new Random(inject('isProof') ? Date.now() : 20_261_127)
  const { prices, state, deps } = alertWorld()
  const keys = ['600519', '000001', '600000']
  const rules = new Map<number, string>()
  for (const key of keys)
    rules.set(await makeRule(ann, { ...above(key), cooldown_policy: { cooldown_seconds: 0 } }), key)
  await env.DB.prepare('DELETE FROM untold_notices').run()
  const target = { id: 'box', kind: 'webhook', mode: 'single', isEnabled: true, isOperators: false } as const
  const settings = { url: 'http://127.0.0.1:9/never' }
  const days = openings('2026-08-17')
  const told: string[] = []
  const expected: string[] = []
  const sides = new Map<string, boolean>()
  let kills = 0
  for (let round = 0; kills < KILLS; round += 1) {
    state.now = round % SWEEPS_A_DAY === 0 ? Number(days.next().value) : state.now + SWEEP
    for (const key of keys) prices.set(key, { price: random.chance(0.5) ? 10 : 11 })
    const before = await versions(rules)
    const isKilled = random.chance(0.6)
    const mortal = mortalDatabase(env.DB, { at: isKilled ? 1 + random.below(18) : 0, isAfter: random.chance(0.5) })
    state.db = mortal.db
    const publish = (triggers: { uid: string }[]) =>
      mortal.dying(async () => void told.push(...triggers.map(({ uid }) => uid)))
    const life = async () => {
      await sweepAlerts({ ...deps(), publish: (triggers) => publish([...triggers]) }, state.now)
      const store = { ...deliveryStore(mortal.db), claim: async () => [] }
      const deps2 = {
        store,
        news: untoldNotices(mortal.db),
        report: async () => null,
        policy: LOCAL,
        clock: () => state.now,
      }
      await notify([], { ...deps2, targets: async () => [{ ...target, settings }] })
    }
    await life().catch((error: Error) => expect(error.message).toMatch(/killed|dead/))
    if (mortal.state.isDead) kills += 1
    const after = await versions(rules)
    for (const [id, key] of rules) {
      const isBeyond = prices.get(key)?.price === 11
      const isStored = after.get(id) !== before.get(id)
      // A look that was not cut off has seen what there was to see.
      if (!mortal.state.isDead) expect(isStored).toBe(sides.get(key) !== isBeyond)
      if (!isStored) continue
      if (sides.get(key) === false && isBeyond) expected.push(`${id} ${isoMicros(state.now)}`)
      sides.set(key, isBeyond)
    }
  }
  state.db = env.DB
  state.now += SWEEP
  const seen = new Set(told)
  await sweepAlerts(
    { ...deps(), publish: async (triggers) => void triggers.map(({ uid }) => seen.add(uid)) },
    state.now,
  )
  for (const [id, key] of rules) {
    if (sides.get(key) === false && prices.get(key)?.price === 11) expected.push(`${id} ${isoMicros(state.now)}`)
  }
  const store = { ...deliveryStore(env.DB), claim: async () => [] }
  const rest = { store, news: untoldNotices(env.DB), report: async () => null, policy: LOCAL, clock: () => state.now }
  await notify([], { ...rest, targets: async () => [{ ...target, settings }] })

  const { results: fired } = await env.DB.prepare(
    `SELECT rule_id || ' ' || data_timestamp AS name, uid, notice FROM alert_triggers WHERE owner = ? AND status = 'triggered' ORDER BY id`,
  )
    .bind(ann.owner)
    .all<{ name: string; uid: string; notice: string }>()
  expect(fired.map(({ name }) => name)).toEqual(expected)
  expect(fired.length).toBeGreaterThan(KILLS / 2)
  expect(fired.filter(({ uid }) => !seen.has(uid))).toEqual([])
  const { results: deliveries } = await env.DB.prepare('SELECT subject FROM deliveries WHERE owner = ?')
    .bind(ann.owner)
    .all<{ subject: string }>()
  expect(deliveries.map(({ subject }) => subject).sort()).toEqual(fired.map(({ notice }) => notice).sort())
  await env.DB.prepare('DELETE FROM deliveries').run()
  await env.DB.prepare('DELETE FROM alert_rules').run()
})

async function versions(rules: ReadonlyMap<number, string>): Promise<Map<number, number>> {
  const { results } = await env.DB.prepare('SELECT rule_id AS id, version FROM alert_states').all<{
    id: number
    version: number
  }>()
  return new Map(results.filter(({ id }) => rules.has(id)).map(({ id, version }) => [id, version]))
}
