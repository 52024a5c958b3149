// A simulation that finds nothing may be blind: each fault of core/plants.ts, put into the service on purpose, is found, and the seed
// that found it finds it again with the same story.

import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest'
import { PLANTS } from './core/plants.ts'
import { playAll, played, setStage, stage, strikeStage } from './core/stage.ts'

vi.mock('cloudflare:workers', () => import('./core/workers.ts'))
// Of the limits of rate alone, which nothing asks here; it is no module that Node can read.
vi.mock('itty-durable', () => ({ proxyDurable: () => null, createDurable: () => Object }))

/** The second half of a proof; the first one is played in core-schedules.test.ts. */
const [FIRST_SEED, SCHEDULES] = [5_001, 5_000]

beforeAll(setStage)
afterAll(strikeStage)

for (const { name, put, seed: first } of PLANTS)
  test(`it is found: ${name}`, async () => {
    const takeOut = put(stage.database)
    try {
      for (let seed = first; ; seed++) {
        if (seed >= first + FOUND_WITHIN) expect.fail(`not found in ${FOUND_WITHIN} schedules`)
        const { world: one } = await played(seed)
        if (one.faults.length === 0) continue
        const again = await played(seed)
        expect([again.world.hash, again.world.faults.length]).toEqual([one.hash, one.faults.length])
        return
      }
    } finally {
      takeOut()
    }
  })

/** From the seed on that is known to find it: what changes the service changes its stories, too. */
const FOUND_WITHIN = 300

if (inject('isProof'))
  test(
    `${SCHEDULES} more schedules end as the others do`,
    async () => {
      const deaths = await playAll(FIRST_SEED, SCHEDULES)
      expect(deaths.size).toBeGreaterThan(15)
    },
    60_000 + SCHEDULES * 500,
  )
