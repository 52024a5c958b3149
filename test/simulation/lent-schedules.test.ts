// Lent machines in a simulated network and time: the classes of both sides are the real ones. `LENT_SCHEDULES` sets how many are
// played, `LENT_SEED` with which the first one begins.

import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest'
import { setLogLevel } from '../../src/lib/log.ts'
import { wantedNumber } from '../support/wanted-number.ts'
import { callOf, commandOf } from './lent/command.ts'
import { ClientSocket } from './lent/network.ts'
import { Pair } from './lent/object.ts'
import { away, awayForMoment, deathAt, heldUp, MOMENTS, VICTIMS } from './lent/scenarios.ts'
import { type Death, Schedule } from './lent/schedule.ts'

vi.mock('ws', async () => ({ default: (await import('./lent/network.ts')).ClientSocket }))
// Of the limits of rate alone, which nothing asks here; it is no module that Node can read.
vi.mock('itty-durable', () => ({ proxyDurable: () => null, createDurable: () => Object }))

const SCHEDULES = wantedNumber('LENT_SCHEDULES', inject('isProof') ? 1_000 : 100)
const FIRST_SEED = wantedNumber('LENT_SEED', 1, 0)
const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'bellwether-simulation-'))

beforeAll(async () => {
  // As a module that is loaded takes no time.
  await import('../../src/mcp/lazy/sdk-client.ts')
  setLogLevel('silent')
  const clock = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'] as const
  vi.useFakeTimers({ toFake: [...clock] })
  vi.stubGlobal('WebSocketPair', Pair)
  vi.stubGlobal('WebSocket', { READY_STATE_OPEN: ClientSocket.OPEN })
  vi.stubGlobal(
    'Response',
    class {
      readonly status: number
      readonly webSocket: unknown
      constructor(_body: null, { status, webSocket }: { status: number; webSocket?: unknown }) {
        this.status = status
        this.webSocket = webSocket
      }
    },
  )
  // In the same turn, so that a seed is played the same way each time.
  vi.spyOn(crypto.subtle, 'digest').mockImplementation(async (_name, bytes) => {
    const hash = createHash('sha256')
      .update(new Uint8Array(bytes as ArrayBuffer))
      .digest()
    return hash.buffer.slice(hash.byteOffset, hash.byteOffset + hash.byteLength) as ArrayBuffer
  })
})

afterAll(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
  rmSync(root, { recursive: true, force: true })
})

test(
  `in ${SCHEDULES} schedules no command runs twice, no outcome is lost whose machine lived, no file differs, nothing is stuck`,
  async () => {
    let unknown = 0
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SCHEDULES; seed++) {
      const schedule = new Schedule(seed, root)
      await schedule.play()
      assertNoFaults(seed, schedule)
      unknown += schedule.unknown
    }
    if (SCHEDULES >= 100) expect(unknown).toBeGreaterThan(0)
  },
  60_000 + SCHEDULES * 1_000,
)

test('a schedule is played the same way each time: the same story, to the last letter', async () => {
  for (const seed of [FIRST_SEED, FIRST_SEED + 7, FIRST_SEED + 20]) {
    const hashes: string[] = []
    for (let time = 0; time < 2; time++) {
      const schedule = new Schedule(seed, root)
      await schedule.play()
      hashes.push(schedule.hash)
    }
    expect([seed, hashes[1]]).toEqual([seed, hashes[0]])
  }
})

/** Simulated milliseconds: what a call waits for its machine where another one is free, and the files. */
const TAKEN_OVER_WITHIN: Readonly<Record<Death, number>> = {
  'in a command': 10_000,
  'between two': 10_000,
  'and it is known': 1_000,
}

for (const [when, withinMs] of Object.entries(TAKEN_OVER_WITHIN) as [Death, number][])
  test(`a machine dies ${when} while another one is free: the next command ends there within ${withinMs / 1000} s, with the files`, async () => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + 20; seed++) {
      const schedule = new Schedule(seed, root, ['one', 'two'])
      const tookMs = await schedule.takeover(when)
      assertNoFaults(seed, schedule)
      expect(tookMs).toBeLessThan(withinMs)
    }
  })

test('a service that is held up for longer than it waits has lost no outcome of a machine that came back meanwhile', async () => {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + 10; seed++)
    for (const make of [commandOf, callOf]) {
      const schedule = new Schedule(seed, root, ['one', 'two'])
      await heldUp(schedule, make)
      assertNoFaults(seed, schedule)
      expect(schedule.unknown).toBe(0)
    }
})

test('a machine that is away for less than its command waits loses nothing, however often it was asked to come meanwhile', async () => {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + 10; seed++)
    for (const make of [commandOf, callOf]) {
      const schedule = new Schedule(seed, root, ['one', 'two'])
      await awayForMoment(schedule, make)
      assertNoFaults(seed, schedule)
      expect([seed, make.name, schedule.unknown]).toEqual([seed, make.name, 0])
    }
})

test('a machine that lives and is away for longer than its command waits: another one goes on within 10 s, and the outcome is told when it is back, once', async () => {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + 5; seed++)
    for (const make of [commandOf, callOf]) {
      const schedule = new Schedule(seed, root, ['one', 'two'])
      const tookMs = await away(schedule, make)
      assertNoFaults(seed, schedule)
      expect(tookMs).toBeLessThan(10_000)
      expect(schedule.givenUp.told).toBe(1)
    }
})

/** Every nineteenth in the suite. */
const DEATHS = MOMENTS.flatMap((moment) =>
  VICTIMS.flatMap((victim) =>
    [commandOf, callOf].flatMap((make) => [['one'], ['one', 'two']].map((names) => ({ moment, victim, make, names }))),
  ),
).filter((_, at) => inject('isProof') || at % 19 === 0)

test('whoever dies as any message of a step arrives, the machine, the object, the service or two of them: each step ends, and nothing twice', async () => {
  const reached = new Set<string>()
  for (const [at, { names, ...death }] of DEATHS.entries()) {
    const schedule = new Schedule(FIRST_SEED + at, root, names)
    for (const moment of await deathAt(schedule, death)) reached.add(moment)
    schedule.story.unshift(`${death.victim} at ${death.moment}, ${death.make.name}, ${names.length}`)
    assertNoFaults(FIRST_SEED + at, schedule)
  }
  if (inject('isProof')) expect(MOMENTS.filter((moment) => !reached.has(moment))).toEqual([])
  else expect(reached.size).toBeGreaterThan(5)
})

test('a machine that dies before it has begun a command costs no outcome: another one runs it', async () => {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + 5; seed++) {
    const schedule = new Schedule(seed, root, ['one', 'two'])
    await schedule.notBegun()
    assertNoFaults(seed, schedule)
    expect(schedule.unknown).toBe(0)
  }
})

test('a machine that never acknowledges what comes down does not keep its command for ever, and the next one is as any other', async () => {
  const schedule = new Schedule(FIRST_SEED, root, ['one'])
  const tookMs = await schedule.unacknowledged()
  assertNoFaults(FIRST_SEED, schedule)
  expect(tookMs).toBeLessThan(300_000)
})

test('a machine that never tells an end does not keep its conversation for ever, and is told of', async () => {
  const schedule = new Schedule(FIRST_SEED, root, ['one'])
  const tookMs = await schedule.untold()
  assertNoFaults(FIRST_SEED, schedule)
  expect(tookMs).toBeLessThan(300_000)
})

test('the whole tree goes down once, again when a death left the copy uncertain, and never because a connection was cut', async () => {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + 5; seed++) {
    const schedule = new Schedule(seed, root, ['one'])
    const counted = await schedule.wholes()
    assertNoFaults(seed, schedule)
    expect([seed, counted]).toEqual([seed, { afterCuts: 1, afterDeath: 1, refused: 0 }])
  }
})

test('what a command made that was given up comes late and takes back nothing that the user stored since', async () => {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + 10; seed++) {
    const schedule = new Schedule(seed, root, ['one'])
    await schedule.late()
    assertNoFaults(seed, schedule)
  }
})

function assertNoFaults(seed: number, { faults, story }: Schedule): void {
  if (faults.length > 0) throw new Error(`LENT_SEED=${seed}\n${faults.join('\n')}\n\n${story.join('\n')}`)
}
