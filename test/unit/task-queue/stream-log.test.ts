import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { KEEP_EVENTS_MS, KEEP_EVENTS_PER_OWNER, StreamLog } from '../../../durable-objects/task-queue/stream-log.ts'

async function withLog(body: (log: StreamLog) => void): Promise<void> {
  const stub = env.TASK_QUEUE.get(env.TASK_QUEUE.newUniqueId())
  await runInDurableObject(stub, (_, { storage }) => body(new StreamLog(storage.sql)))
}

const ids = (frames: string[] | null) => frames?.map((frame) => Number(/^id: (\d+)$/m.exec(frame)?.[1]))
const event = (n: number, at = 0) => ({ event: 'task_progress', json: `{"n":${n}}`, at })

test('each owner has a stream of its own, numbered from 1 without gaps, in frames with the number first', async () => {
  await withLog((log) => {
    expect(log.append('ann', event(1))).toBe('id: 1\nevent: task_progress\ndata: {"n":1}\n\n')
    log.append('bob', event(1))
    log.append('ann', event(2))
    expect(ids(log.since('ann', 0))).toEqual([1, 2])
    expect(ids(log.since('ann', 1))).toEqual([2])
    expect(log.since('ann', 2)).toEqual([])
    expect([log.last('ann'), log.last('bob'), log.last('eve')]).toEqual([2, 1, 0])
  })
})

test('a number that was never given out, or lies before what is kept, has no answer instead of one with a hole', async () => {
  await withLog((log) => {
    expect(log.since('ann', 1)).toBeNull()
    const total = KEEP_EVENTS_PER_OWNER + 600
    for (let n = 1; n <= total; n++) log.append('ann', event(n))
    const oldest = Number(ids(log.since('ann', total - 1))?.[0])
    expect(oldest).toBe(total)
    expect(log.since('ann', 0)).toBeNull()
    expect(log.since('ann', total + 1)).toBeNull()
    const frames = log.since('ann', total - KEEP_EVENTS_PER_OWNER)
    expect(frames?.length).toBe(KEEP_EVENTS_PER_OWNER)
  })
})

test('old events are dropped, new ones stay, and the numbers go on', async () => {
  await withLog((log) => {
    log.append('ann', event(1, 0))
    log.append('ann', event(2, 0))
    log.append('ann', event(3, KEEP_EVENTS_MS))
    log.prune(KEEP_EVENTS_MS + 1)
    expect(log.since('ann', 1)).toBeNull()
    expect(ids(log.since('ann', 2))).toEqual([3])
    log.prune(3 * KEEP_EVENTS_MS)
    expect(log.isEmpty).toBe(true)
    expect(log.append('ann', event(4))).toMatch(/^id: 4\n/)
  })
})
