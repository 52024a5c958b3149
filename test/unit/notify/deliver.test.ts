import { env } from 'cloudflare:workers'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { noteChannelTest } from '../../../src/db/channels.ts'
import {
  deliveryStore,
  findDelivery,
  LEASE_MS,
  listDeliveries,
  noteNotice,
  retryDelivery,
} from '../../../src/db/deliveries.ts'
import type { DeliveryStore, Notice } from '../../../src/notify/delivery.ts'
import { notify } from '../../../src/notify/run.ts'
import { heldTimers } from '../../helpers/timers.ts'
import { notifyLane } from './host.ts'
import { type Clockwork, notifyDeps, type Owner, owner, TIMEOUT_MS } from './world.ts'

// The outbox is one for all: what other files left in it would be told of here.
beforeAll(() => env.DB.prepare('DELETE FROM deliveries').run())

const told = ({ id }: Owner, taskId: string, isInBatch = false): Notice => {
  return { kind: 'report', key: `report:${taskId}`, owner: id, channels: null, taskId, isInBatch }
}

/** A text that Discord needs several messages for; each says which it is. */
const inParts = (count: number): string =>
  Array.from({ length: count }, (_, i) => `## Part ${i + 1}\n\n${'word '.repeat(350).trim()}`).join('\n\n')

const numbers = (received: { text: string }[]): number[] =>
  received.map(({ text }) => Number(/Part (\d+)/.exec(text)?.[1]))

const log = (of: Owner) =>
  listDeliveries(env.DB, { owner: of.id, before: null, limit: 50, state: null, channelId: null, subject: null })

const taskId = () => crypto.randomUUID().replaceAll('-', '')

test('a service that refuses for now is asked again when it said, then by growing steps, and holds no other channel', async () => {
  const [lane, other, mine, task] = [notifyLane(), notifyLane(), owner(), taskId()]
  const clock: Clockwork = { now: Date.now() }
  mine.add('discord', lane.url)
  mine.add('gotify', other.url)
  mine.report(task, inParts(3))
  await lane.fail({}, { status: 429, body: { retry_after: 90 } }, { status: 500 }, { status: 500 })
  const first = await notify([told(mine, task)], notifyDeps(clock))
  expect(first).toEqual({ keys: [`report:${task}`], nextAt: clock.now + 90_000 })
  expect(await log(mine)).toMatchObject([
    { channelId: 'gotify', state: 'delivered', parts: 1, sent: 1 },
    { channelId: 'discord', state: 'pending', parts: 3, sent: 1, attempts: 1, error: expect.stringMatching(/429/) },
  ])
  // Before its time nothing is tried, whoever asks.
  expect((await notify([], notifyDeps({ now: clock.now + 89_000 }))).nextAt).toBe(clock.now + 90_000)
  clock.now += 90_000
  expect((await notify([], notifyDeps(clock))).nextAt).toBe(clock.now + 60_000)
  clock.now += 60_000
  expect((await notify([], notifyDeps(clock))).nextAt).toBe(clock.now + 120_000)
  clock.now += 120_000
  expect((await notify([], notifyDeps(clock))).nextAt).toBeNull()
  expect(numbers(await lane.received())).toEqual([1, 2, 3])
  expect((await log(mine)).map(({ state, error }) => [state, error])).toEqual([
    ['delivered', null],
    ['delivered', null],
  ])
})

test('wherever a run is cut off, nothing is sent twice, and what did not arrive is in doubt by name or comes later', async () => {
  const STEPS = ['claim', 'begin', 'settle', 'release', 'finish'] as const
  const cut = fc.record({ step: fc.integer({ min: 1, max: 14 }), isAfter: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.array(cut, { maxLength: 4 }), fc.boolean(), async (cuts, recognises) => {
      const [lane, mine, task] = [notifyLane(), owner(), taskId()]
      const clock: Clockwork = { now: Date.now() }
      mine.add('webhook', lane.url, { settings: { max_characters: 2_000, recognises_repeats: recognises } })
      mine.report(task, inParts(4))
      for (const { step, isAfter } of cuts) {
        await cutOff((store) => notify([told(mine, task)], notifyDeps(clock, { store })), {
          step,
          isAfter,
          steps: STEPS,
        })
        clock.now += LEASE_MS + 1
      }
      const last = await notify([told(mine, task)], notifyDeps(clock))
      const [delivery, ...more] = await log(mine)
      expect([last.nextAt, more.length, delivery?.parts]).toEqual([null, 0, 4])
      const received = numbers(await lane.received())
      expect(received).toEqual([...new Set(received)].sort())
      const parts = (await findDelivery(env.DB, mine.id, delivery?.id ?? ''))?.partList ?? []
      const unknown = parts.filter(({ state }) => state === 'unknown').map(({ n }) => n)
      expect([...new Set([...received, ...unknown])].sort()).toEqual([1, 2, 3, 4])
      expect(delivery?.state).toBe(unknown.length === 0 ? 'delivered' : 'uncertain')
      if (recognises) expect(received).toEqual([1, 2, 3, 4])
    }),
    { numRuns: 60 },
  )
})

type Cut = { step: number; isAfter: boolean; steps: readonly (keyof DeliveryStore)[] }

/** Runs with a store that stops answering at a step, before or after it did what it was asked. */
async function cutOff(run: (store: DeliveryStore) => Promise<unknown>, { step, isAfter, steps }: Cut): Promise<void> {
  const store = deliveryStore(env.DB)
  let count = 0
  let stop = () => {}
  const stopped = new Promise<void>((resolve) => {
    stop = resolve
  })
  const dead = new Promise<never>(() => {})
  const cutting = new Proxy(store, {
    get: (target, name: keyof DeliveryStore) => {
      // Whoever is dead renews nothing either.
      if (name === 'renew') return count < step ? target.renew : () => dead
      if (!steps.includes(name)) return target[name]
      return async (...given: unknown[]) => {
        count += 1
        if (count > step || (count === step && !isAfter)) stop()
        if (count > step || (count === step && !isAfter)) return dead
        const answer = await (target[name] as (...args: unknown[]) => Promise<unknown>)(...given)
        if (count < step) return answer
        stop()
        return dead
      }
    },
  })
  await Promise.race([run(cutting), stopped])
}

test('a message that hangs is not sent again by itself; what follows waits, and its owner may have it sent again', async () => {
  const [lane, mine, task] = [notifyLane(), owner(), taskId()]
  const clock: Clockwork = { now: Date.now() }
  mine.add('discord', lane.url)
  mine.report(task, inParts(2))
  await lane.fail({ how: 'hang' })
  const limit = heldTimers(TIMEOUT_MS)
  const sending = notify([told(mine, task)], notifyDeps(clock))
  await expect.poll(async () => (await lane.received()).length).toBe(1)
  limit.goOff()
  expect((await sending).nextAt).toBe(clock.now + 30_000)
  clock.now += 30_000
  await notify([], notifyDeps(clock))
  const [delivery] = await log(mine)
  expect(delivery).toMatchObject({
    state: 'uncertain',
    sent: 1,
    unknown: 1,
    error: expect.stringMatching(/part 1 of 2/),
  })
  expect(numbers(await lane.received())).toEqual([1, 2])
  expect(await retryDelivery(env.DB, 'somebody', { id: delivery?.id ?? '', now: clock.now })).toBe(false)
  expect(await retryDelivery(env.DB, mine.id, { id: delivery?.id ?? '', now: clock.now })).toBe(true)
  await notify([], notifyDeps(clock))
  expect(numbers(await lane.received())).toEqual([1, 2, 1])
  expect(await log(mine)).toMatchObject([{ state: 'delivered', sent: 2, unknown: 0, error: null }])
  expect(await retryDelivery(env.DB, mine.id, { id: delivery?.id ?? '', now: clock.now })).toBe(false)
})

test('a host that cannot be reached costs nothing but time: nothing is in doubt, and the message waits', async () => {
  const [lane, mine, task] = [notifyLane(), owner(), taskId()]
  const clock: Clockwork = { now: Date.now() }
  mine.add('wecom', lane.url, { settings: { webhook_url: 'http://127.0.0.1:9/wecom' } })
  mine.report(task, 'Text')
  const { nextAt } = await notify([told(mine, task)], notifyDeps(clock))
  expect(nextAt).toBe(clock.now + 30_000)
  expect(await log(mine)).toMatchObject([{ state: 'pending', unknown: 0, error: 'the service cannot be reached' }])
  await env.DB.prepare('DELETE FROM deliveries WHERE owner = ?').bind(mine.id).run()
})

test('no more messages go out in a stretch of time than the service allows, and they keep their order', async () => {
  const [lane, mine] = [notifyLane(), owner()]
  const clock: Clockwork = { now: Date.now() }
  mine.add('wecom', lane.url)
  const tasks = Array.from({ length: 45 }, () => taskId())
  tasks.forEach((task, i) => {
    mine.report(task, `## Part ${i + 1}`)
  })
  const counts: number[] = []
  let next: number | null = clock.now
  await notify(
    tasks.map((task) => told(mine, task)),
    notifyDeps(clock),
  )
  while (next !== null && counts.length < 10) {
    clock.now = Math.max(clock.now, next)
    next = (await notify([], notifyDeps(clock))).nextAt
    counts.push((await lane.received()).length)
  }
  expect(counts.at(-1)).toBe(45)
  expect(numbers(await lane.received())).toEqual(tasks.map((_, i) => i + 1))
  const starts = await env.DB.prepare('SELECT started_at AS at FROM delivery_parts WHERE owner = ? ORDER BY 1')
    .bind(mine.id)
    .all<{ at: number }>()
  const times = starts.results.map(({ at }) => at)
  expect(times.filter((at, i) => at - (times[i - 20] ?? 0) < 60_000)).toEqual([])
})

test('news goes to the channels that want it in that form, names what is missing, and never twice', async () => {
  const [single, digest, mine] = [notifyLane(), notifyLane(), owner()]
  const clock: Clockwork = { now: Date.now() }
  mine.add('gotify', single.url, { id: 'one-by-one' })
  mine.add('gotify', digest.url, { id: 'together', mode: 'digest' })
  const [done, failed] = [taskId(), taskId()]
  mine.report(done, 'A report of its own')
  const items = [
    { taskId: done, stockCode: '600519', stockName: null, isCompleted: true, error: null },
    { taskId: failed, stockCode: 'AAPL', stockName: 'Apple', isCompleted: false, error: 'no *market* data' },
  ]
  const summary: Notice = {
    kind: 'digest',
    key: `digest:${done}`,
    owner: mine.id,
    channels: null,
    language: 'en',
    items,
  }
  const news = [told(mine, done, true), summary, told(mine, failed, true)]
  for (let i = 0; i < 3; i++) await notify(news, notifyDeps(clock))
  expect((await single.received()).map(({ text }) => text)).toEqual(['A report of its own'])
  const [both, ...more] = await digest.received()
  expect(more).toEqual([])
  expect(both?.text).toMatch(/Stock analyses: 2 in all/)
  expect(both?.text).toMatch(/- 贵州茅台 \(600519\): \*\*Hold\*\* · score 55\/100/)
  expect(both?.text).toMatch(/^- Ideal [^:\n]*: 1,690\.00 CNY \(near MA5\)\n- Stop[^:\n]*: 1,600\.00 CNY$/m)
  expect(both?.text).toMatch(/- Apple \(AAPL\): no report – no \\\*market\\\* data/)
  // By itself a report goes to both, and to none that it is not addressed to.
  const alone = taskId()
  mine.report(alone, 'Alone')
  await notify([{ ...told(mine, alone), channels: ['together', 'of-nobody'] }], notifyDeps(clock))
  expect((await digest.received()).length).toBe(2)
  expect((await single.received()).length).toBe(1)
})

test('a delivery behind one that has to wait shows the time of that one, and whoever is not held shows his own', async () => {
  const [lane, mine] = [notifyLane(), owner()]
  const clock: Clockwork = { now: Date.now() }
  mine.add('discord', lane.url)
  const [first, second] = [taskId(), taskId()]
  mine.report(first, 'First')
  mine.report(second, 'Second')
  await lane.fail({ status: 429, body: { retry_after: 90 } })
  await notify([told(mine, first), told(mine, second)], notifyDeps(clock))
  const until = clock.now + 90_000
  expect((await log(mine)).map(({ state, nextAt }) => [state, nextAt])).toEqual([
    ['pending', until],
    ['pending', until],
  ])
  clock.now = until
  await notify([], notifyDeps(clock))
  expect((await lane.received()).map(({ text }) => text)).toEqual(['First', 'Second'])
})

test('messages that tried a channel count towards its pace', async () => {
  const [lane, mine, task] = [notifyLane(), owner(), taskId()]
  const clock: Clockwork = { now: Date.now() }
  mine.add('serverchan', lane.url)
  mine.report(task, 'Text')
  for (let i = 0; i < 5; i++) {
    await noteChannelTest(env.DB, { owner: mine.id, channelId: 'serverchan', at: clock.now + i })
  }
  clock.now += 10
  expect((await notify([told(mine, task)], notifyDeps(clock))).nextAt).toBe(clock.now - 10 + 60_000)
  expect(await lane.received()).toEqual([])
  clock.now += 60_000
  expect((await notify([], notifyDeps(clock))).nextAt).toBeNull()
  expect((await lane.received()).length).toBe(1)
})

test('news that was saved with its report is told once, and what cannot be told yet stays and comes again', async () => {
  const [lane, mine] = [notifyLane(), owner()]
  const clock: Clockwork = { now: Date.now() }
  mine.add('ntfy', lane.url)
  const tasks = Array.from({ length: 23 }, () => taskId())
  for (const task of tasks) mine.report(task, `Text of ${task}`)
  await env.DB.batch(tasks.map((task, i) => noteNotice(env.DB, told(mine, task), clock.now + i)))
  const down = notifyDeps(clock, {
    report: async () => {
      throw new Error('down')
    },
  })
  expect(await notify([], down)).toEqual({ keys: [], nextAt: clock.now + 30_000 })
  expect(await lane.received()).toEqual([])
  for (let i = 0; i < 2; i++) expect((await notify([], notifyDeps(clock))).nextAt).toBeNull()
  expect((await lane.received()).map(({ text }) => text)).toEqual(tasks.map((task) => `Text of ${task}`))
  expect((await env.DB.prepare('SELECT key FROM untold_notices').all()).results).toEqual([])
})
