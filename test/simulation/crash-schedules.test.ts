// Thousands of turns, each through deaths at other instants. The classes are those that run in the object; only what is
// outside of it is simulated. `CRASH_SCHEDULES` sets how many are played, `CRASH_SEED` with which the first one begins.

import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { setLogLevel } from '../../src/lib/log.ts'
import { wantedNumber } from '../support/wanted-number.ts'
import { Disk } from './disk.ts'
import { Schedule } from './schedule.ts'
import { faultsOf, storyOf } from './verdict.ts'

const SCHEDULES = wantedNumber('CRASH_SCHEDULES', process.env.PROOF === '1' ? 10_000 : 4_000)
const FIRST_SEED = wantedNumber('CRASH_SEED', 1, 0)
/** Tables that are made when they are needed are made anew so often. */
const SCHEDULES_A_DISK = 50

/** Where a death has to have come, in so many schedules at least once. */
const BOUNDARIES = [
  "before the row of a call's start",
  "after the row of a call's start",
  'before the tool',
  'during the tool',
  'after the effect',
  'before the outcome of a call',
  'after the outcome of a call',
  'after the model is asked',
  'while the model answers',
  'before an answer',
  'after an answer',
  'before an event',
  'after an event',
  'before the recovery',
  'after the recovery',
  'while the settings are read',
  'before a command',
]

beforeAll(() => {
  setLogLevel('silent')
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
})

afterAll(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

test(
  `of ${SCHEDULES} schedules of deaths, none runs a settled call again, leaves a turn without its one end, or loses an event`,
  async () => {
    const deaths = new Map<string, number>()
    let unknown = 0
    let disk = new Disk()
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SCHEDULES; seed++) {
      if (seed % SCHEDULES_A_DISK === 0) disk = replaced(disk)
      else disk.wipe()
      const schedule = new Schedule(seed, disk)
      const faults = faultsOf(schedule, await schedule.play())
      if (faults.length > 0) throw new Error(`CRASH_SEED=${seed}\n${faults.join('\n')}\n\n${storyOf(schedule)}`)
      for (const [name, times] of schedule.deaths) deaths.set(name, (deaths.get(name) ?? 0) + times)
      unknown += schedule.seen.filter(({ text }) => text.includes('outcome is unknown')).length
    }
    disk.close()
    if (SCHEDULES < 1_000) return
    expect(BOUNDARIES.filter((name) => !deaths.has(name))).toEqual([])
    expect(unknown).toBeGreaterThan(SCHEDULES / 50)
  },
  60_000 + SCHEDULES * 200,
)

function replaced(disk: Disk): Disk {
  disk.close()
  return new Disk()
}
