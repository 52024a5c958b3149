// What schedules are played on: storage that is wiped between two of them, and the globals of the runtime, which are the world's.

import { createHash } from 'node:crypto'
import { vi } from 'vitest'
import { MIGRATIONS } from '../../../durable-objects/conversation/schema.ts'
import { MIGRATIONS as OWNERS } from '../../../durable-objects/owner/schema.ts'
import { setLogLevel } from '../../../src/lib/log.ts'
import { CHAT_TABLES } from './chat.ts'
import { Database } from './database.ts'
import { LENT_TABLES, POOL_TABLES, STEPS_TABLE } from './lent.ts'
import { newDisk } from './object-host.ts'
import { channelServices, QUEUE_TABLES } from './queue.ts'
import { Schedule } from './schedule.ts'
import { Pair, responseWithSockets } from './sockets.ts'
import { judge } from './verdict.ts'
import { currentWorld, sleep, turn } from './world.ts'

export const stage = {
  queueDisk: newDisk([]),
  chatDisk: newDisk(MIGRATIONS),
  lentDisks: { lent: newDisk([...MIGRATIONS, STEPS_TABLE]), pool: newDisk(OWNERS) },
  database: new Database(),
  onTime: (now: number) => void vi.setSystemTime(now),
}

export function setStage(): void {
  setLogLevel('silent')
  vi.useFakeTimers({ toFake: ['Date'] })
  const set =
    (isRepeated: boolean) =>
    (run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) =>
      currentWorld().clock.set(() => run(...args), ms ?? 0, isRepeated)
  const clear = (id: number) => currentWorld().clock.clear(id)
  vi.stubGlobal('setTimeout', set(false))
  vi.stubGlobal('setInterval', set(true))
  vi.stubGlobal('clearTimeout', clear)
  vi.stubGlobal('clearInterval', clear)
  vi.stubGlobal('scheduler', { wait: sleep })
  vi.stubGlobal('WebSocketPair', Pair)
  vi.stubGlobal('WebSocket', { READY_STATE_OPEN: 1 })
  vi.stubGlobal('Response', responseWithSockets(Response))
  vi.spyOn(performance, 'now').mockImplementation(() => currentWorld().clock.now)
  vi.spyOn(Math, 'random').mockImplementation(() => currentWorld().random.next())
  vi.spyOn(crypto, 'randomUUID').mockImplementation(() => {
    const hex = () =>
      currentWorld()
        .random.below(2 ** 32)
        .toString(16)
        .padStart(8, '0')
    return `${hex()}-0000-4000-8000-0000${hex()}`
  })
  // In the same turn, so that a seed is played the same way each time.
  vi.spyOn(crypto.subtle, 'digest').mockImplementation(async (_name, bytes) => {
    const hash = createHash('sha256')
      .update(new Uint8Array(bytes as ArrayBuffer))
      .digest()
    return hash.buffer.slice(hash.byteOffset, hash.byteOffset + hash.byteLength) as ArrayBuffer
  })
}

export async function strikeStage(): Promise<void> {
  // What was written last is committed at the end of the turn.
  await turn()
  vi.useRealTimers()
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
  stage.queueDisk.close()
  stage.chatDisk.close()
  stage.lentDisks.lent.close()
  stage.lentDisks.pool.close()
  stage.database.close()
}

export async function played(seed: number): Promise<Schedule> {
  stage.queueDisk.wipe(QUEUE_TABLES)
  stage.chatDisk.wipe(CHAT_TABLES)
  stage.lentDisks.lent.wipe(LENT_TABLES)
  stage.lentDisks.pool.wipe(POOL_TABLES)
  stage.database.wipe()
  const schedule = new Schedule(seed, stage)
  vi.stubGlobal('fetch', channelServices(schedule.got))
  await schedule.play()
  await judge(schedule)
  return schedule
}

/** Plays them all; returns where there were deaths. The first fault ends it, with the seed that plays it again. */
export async function playAll(from: number, count: number): Promise<Map<string, number>> {
  const deaths = new Map<string, number>()
  for (let seed = from; seed < from + count; seed++) {
    const { world: one } = await played(seed)
    if (one.faults.length > 0)
      throw new Error(`CORE_SEED=${seed} hash ${one.hash}\n${one.faults.join('\n')}\n\n${one.story.join('\n')}`)
    for (const [where, times] of one.deaths) deaths.set(where, (deaths.get(where) ?? 0) + times)
  }
  return deaths
}
