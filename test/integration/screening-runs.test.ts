// Saved screens that run by themselves, cut off at any call of the database.

import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, expect, inject, test } from 'vitest'
import { taskQueue } from '../../src/bindings.ts'
import { deliveryStore, untoldNotices } from '../../src/db/deliveries.ts'
import type { ScreenRun } from '../../src/db/saved-screens.ts'
import { nextTradingDay, sessionEnd } from '../../src/market/calendar.ts'
import { notify } from '../../src/notify/run.ts'
import { nextSlot, slotsBetween, WhenSchema } from '../../src/schedule/plan.ts'
import { runScreens } from '../../src/schedule/screening.ts'
import { type RunDeps, runDueScreens } from '../../src/screening/runs.ts'
import { mortalDatabase } from '../helpers/alerts.ts'
import { type Client, client } from '../helpers/app.ts'
import { LOCAL } from '../helpers/policies.ts'
import { english, keepFigures, type Row, SCREENING } from '../helpers/screening.ts'
import { Random } from '../simulation/random.ts'
import { notifyLane } from '../unit/notify/host.ts'
import { SETTINGS } from '../unit/notify/settings.ts'
import { openStream } from './task-events.ts'

const MINUTE = 60_000
const KILLS = inject('isProof') ? 150 : 10

const whenOf = (schedule: string) => WhenSchema.parse(JSON.parse(schedule))

function runDeps(db: D1Database, publish: (runs: readonly ScreenRun[]) => Promise<void>): RunDeps {
  return {
    ...{ db, publish, markets: ['cn'], wake: async () => {} },
    slots: (schedule, markets, span) => slotsBetween(whenOf(schedule), markets, span),
    next: (schedule, markets, after) => nextSlot(whenOf(schedule), markets, after)?.at ?? null,
  }
}

async function saved(who: Client, more: object = {}): Promise<number> {
  const screen = { where: { field: 'pe_ratio', op: 'lt', value: 10 } }
  const body = { name: 'Cheap', screen, schedule: { after_close_minutes: 30 }, ...more }
  return (await who.json<{ id: number }>(`${SCREENING}/screens`, { method: 'POST', body, headers: english })).id
}

const settled = (day: string) => sessionEnd('cn', day) + 31 * MINUTE
const row = (key: string, session: string, pe_ratio: number | null): Row => {
  return { key, session, close: { price: 10, change_pct: 1.5, pe_ratio } }
}

const target = { id: 'box', kind: 'webhook', mode: 'single', isEnabled: true, isOperators: false } as const
const settings = { url: 'http://127.0.0.1:9/never' }

/** Hands stored notices over to deliveries, as the queue does. */
async function handOver(db: D1Database, now: number) {
  const store = { ...deliveryStore(db), claim: async () => [] }
  const deps = { store, news: untoldNotices(db), report: async () => null, policy: LOCAL, clock: () => now }
  await notify([], { ...deps, targets: async () => [{ ...target, settings }] })
}

const startAt = (id: number, at: number) =>
  env.DB.prepare('UPDATE saved_screens SET next_at = ? WHERE id = ?').bind(at, id).run()

// Due screens and kept figures are everybody's: those of other files would be run and found as well.
beforeEach(async () => {
  await env.DB.batch(['saved_screens', 'stock_figures'].map((table) => env.DB.prepare(`DELETE FROM ${table}`)))
})

test('the first run says how things are; later ones tell what is new, with the day of its figures, and nothing twice', async () => {
  const ann = await client()
  const id = await saved(ann)
  const told: ScreenRun[] = []
  const deps = runDeps(env.DB, async (runs) => void told.push(...runs))
  const days = ['2026-08-13', '2026-08-14', '2026-08-17', '2026-08-18', '2026-08-19'] as const
  await keepFigures([row('600001', days[0], 5), row('600002', days[0], 50)], settled(days[0]))
  await startAt(id, sessionEnd('cn', days[0]) + 30 * MINUTE)
  await runDueScreens(deps, settled(days[0]))
  await keepFigures([row('600001', days[1], 5), row('600002', days[1], 9)], settled(days[1]))
  expect(await runDueScreens(deps, settled(days[1]))).toBe('1 screens, 1 told')
  expect(await runDueScreens(deps, settled(days[1]) + MINUTE)).toBe('0 screens, 0 told')
  // A figure that goes and comes back is nothing new; neither is a close that is missing for a day.
  await keepFigures([row('600001', days[2], null), row('600002', days[2], 9)], settled(days[2]))
  await runDueScreens(deps, settled(days[2]))
  await keepFigures([row('600001', days[3], 5), row('600002', days[3], 50)], settled(days[3]))
  expect(await runDueScreens(deps, settled(days[3]))).toBe('1 screens, 0 told')
  await keepFigures([row('600002', days[4], 8)], settled(days[4]))
  await runDueScreens(deps, settled(days[4]))
  const { items } = await ann.json<{ items: Record<string, unknown>[] }>(`${SCREENING}/screens/${id}/runs`, {
    headers: english,
  })
  expect(items.map(({ slot, is_first, new_count, is_told }) => [slot, is_first, new_count, is_told])).toEqual([
    [`cn@${days[4]}`, false, 1, true],
    [`cn@${days[3]}`, false, 0, false],
    [`cn@${days[2]}`, false, 0, false],
    [`cn@${days[1]}`, false, 1, true],
    [`cn@${days[0]}`, true, 0, false],
  ])
  expect(items[3]).toMatchObject({
    new_listings: [{ code: '600002', session: days[1], figures: { pe_ratio: 9 } }],
    counts: { matched: 2 },
  })
  expect(told.map(({ slot }) => slot)).toEqual([`cn@${days[1]}`, `cn@${days[4]}`])
  const { results } = await env.DB.prepare('SELECT body FROM untold_notices WHERE key LIKE ?')
    .bind(`screen:${id}:%`)
    .all<{ body: string }>()
  const [first] = results.map(({ body }) => JSON.parse(body) as { title: string; markdown: string; owner: string })
  expect(results.length).toBe(2)
  expect(first).toMatchObject({ title: 'Cheap: 1 new', owner: ann.owner })
  expect(first?.markdown).toContain(`Figures of ${days[1]}`)
  expect(first?.markdown).toContain('10.00 CNY')
  await env.DB.prepare('DELETE FROM untold_notices').run()
  await env.DB.prepare('DELETE FROM saved_screens').run()
})

test('a slot on a day without a session, and one that nobody came for within a day, is passed over', async () => {
  const ann = await client()
  const id = await saved(ann, { schedule: { times: ['18:00'], zone: 'Asia/Shanghai', days: ['mon', 'sat', 'sun'] } })
  const deps = runDeps(env.DB, async () => {})
  const saturday = Date.parse('2026-08-15T18:00:00+08:00')
  await startAt(id, saturday)
  expect(await runDueScreens(deps, saturday + MINUTE)).toBe('1 screens, 0 told')
  const next = () => env.DB.prepare('SELECT next_at, version FROM saved_screens WHERE id = ?').bind(id).first()
  expect(await next()).toEqual({ next_at: saturday + 86_400_000, version: 0 })
  await runDueScreens(deps, saturday + 5 * 86_400_000)
  expect(await next()).toEqual({ next_at: saturday + 7 * 86_400_000, version: 0 })
  expect(await ann.json(`${SCREENING}/screens/${id}/runs`)).toMatchObject({ total: 0 })
  await env.DB.prepare('DELETE FROM saved_screens').run()
})

test('runs that are cut off anywhere tell each new listing once', async () => {
  const ann = await client()
  const id = await saved(ann)
  const random = new Random(inject('isProof') ? Date.now() : 20_261_127)
  await env.DB.prepare('DELETE FROM untold_notices').run()
  const told = new Set<string>()
  const keys = ['600011', '600012', '600013']
  const known = new Set<string>()
  const expected: string[] = []
  let kills = 0
  let day = '2026-01-05'
  await startAt(id, sessionEnd('cn', day) + 30 * MINUTE)
  for (let isFirst = true; kills < KILLS; isFirst = false, day = nextTradingDay('cn', day)) {
    const now = settled(day)
    const ratios = new Map(keys.map((key) => [key, random.chance(0.5) ? 5 : 50]))
    await keepFigures(
      keys.map((key) => row(key, day, ratios.get(key) ?? null)),
      now,
    )
    for (let isDone = false; !isDone; ) {
      const at = random.chance(0.6) ? 1 + random.below(8) : 0
      const mortal = mortalDatabase(env.DB, { at, isAfter: random.chance(0.5) })
      const publish = (runs: readonly ScreenRun[]) =>
        mortal.dying(async () => void runs.map(({ uid }) => told.add(uid)))
      const life = async () => {
        await runDueScreens(runDeps(mortal.db, publish), now)
        await handOver(mortal.db, now)
      }
      await life().catch((error: Error) => expect(error.message).toMatch(/killed|dead/))
      if (mortal.state.isDead) kills += 1
      else isDone = true
    }
    const fresh = keys.filter((key) => ratios.get(key) === 5 && !known.has(key))
    if (!isFirst && fresh.length > 0) expected.push(`${id}:1:cn@${day}`)
    for (const key of keys) ratios.get(key) === 5 ? known.add(key) : known.delete(key)
  }
  const { results } = await env.DB.prepare("SELECT subject FROM deliveries WHERE owner = ? AND subject LIKE 'screen:%'")
    .bind(ann.owner)
    .all<{ subject: string }>()
  expect(results.map(({ subject }) => subject).sort()).toEqual(expected.map((uid) => `screen:${uid}`).sort())
  expect([...told].sort()).toEqual([...expected].sort())
  expect(expected.length).toBeGreaterThan(2)
  for (const table of ['deliveries', 'saved_screens', 'stock_figures'])
    await env.DB.prepare(`DELETE FROM ${table}`).run()
})

test('by its schedule a screen tells the stream and a channel once each, also when the object restarts between', async () => {
  const [ann, lane] = [await client(), await notifyLane()]
  const channel = { kind: 'webhook', settings: SETTINGS.webhook(lane.url) }
  expect((await ann.ask('/api/v1/analysis/channels/box', { method: 'PUT', body: channel })).status).toBe(200)
  const stream = await openStream(ann.key)
  await stream.until(({ event }) => event === 'connected')
  const id = await saved(ann)
  const [first, second] = ['2026-08-13', '2026-08-14'] as const
  await startAt(id, sessionEnd('cn', first) + 30 * MINUTE)
  await keepFigures([row('600001', first, 5), row('600002', first, 50)], settled(first))
  await runScreens(env, settled(first))
  await keepFigures([row('600001', second, 5), row('600002', second, 9)], settled(second))
  // The run is stored, and the trigger ends before the object hears of it; the object itself restarts, too.
  const lost = runDeps(env.DB, () => Promise.reject(new Error('cut off')))
  await expect(runDueScreens(lost, settled(second))).rejects.toThrow('cut off')
  await evictDurableObject(taskQueue(env))
  await runScreens(env, settled(second) + MINUTE)
  // As the upkeep of each trigger does: the messages of runs that were cut off before they woke anybody.
  await taskQueue(env).notify([])
  await evictDurableObject(taskQueue(env))
  await runScreens(env, settled(second) + 2 * MINUTE)
  const { data } = await stream.until(({ event }) => event === 'screen_matched')
  expect(data).toMatchObject({ slot: `cn@${second}`, new_count: 1, new_listings: [{ code: '600002' }] })
  type Deliveries = { deliveries: { subject: string; status: string }[] }
  const sent = async () => (await ann.json<Deliveries>('/api/v1/analysis/deliveries')).deliveries
  await expect
    .poll(async () => (await sent()).map(({ subject, status }) => `${subject} ${status}`), { timeout: 60_000 })
    .toEqual([`screen:${id}:1:cn@${second} delivered`])
  await runScreens(env, settled(second) + 3 * MINUTE)
  const kept = await runInDurableObject(taskQueue(env), (_, { storage }) =>
    storage.sql
      .exec("SELECT 1 FROM stream_events WHERE owner = ? AND frame LIKE '%screen_matched%'", ann.owner)
      .toArray(),
  )
  expect(kept).toHaveLength(1)
  expect(await lane.received()).toHaveLength(1)
  expect(await sent()).toHaveLength(1)
  stream.close()
})
