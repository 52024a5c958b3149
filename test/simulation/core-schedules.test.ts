// The core of the service in a simulated world: the task queue with its runners, messages and streams, the log of a conversation with
// its sockets, the portfolio, the ledger of advice and the alerts, over one database. The classes are those that run; their clock,
// chance, storage, network and sockets are the world's. `CORE_SCHEDULES` sets how many are played, `CORE_SEED` with which the first
// one begins. One half of a proof is played here, the other one in core-plants.test.ts, beside it.

import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest'
import { wantedNumber } from '../support/wanted-number.ts'
import { playAll, played, setStage, strikeStage } from './core/stage.ts'

vi.mock('cloudflare:workers', () => import('./core/workers.ts'))
// Of the limits of rate alone, which nothing asks here; it is no module that Node can read.
vi.mock('itty-durable', () => ({ proxyDurable: () => null, createDurable: () => Object }))

const SCHEDULES = wantedNumber('CORE_SCHEDULES', inject('isProof') ? 5_000 : 100)
const FIRST_SEED = wantedNumber('CORE_SEED', 1, 0)

beforeAll(setStage)
afterAll(strikeStage)

test(
  `in ${SCHEDULES} schedules all that was acknowledged is there once, was told in order, and every ledger is what the answers make`,
  async () => {
    const deaths = await playAll(FIRST_SEED, SCHEDULES)
    if (SCHEDULES >= 100) expect(deaths.size).toBeGreaterThan(15)
  },
  60_000 + SCHEDULES * 500,
)

test('a schedule is played the same way each time: the same story, to the last letter', async () => {
  for (const seed of [FIRST_SEED, FIRST_SEED + 7]) {
    const [one, other] = [await played(seed), await played(seed)]
    expect(other.world.hash).toBe(one.world.hash)
    expect(one.world.story.length).toBeGreaterThan(100)
  }
})
