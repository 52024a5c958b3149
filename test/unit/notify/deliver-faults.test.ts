import { env } from 'cloudflare:workers'
import { beforeAll, expect, test } from 'vitest'
import { deliveryStore, LEASE_MS, listDeliveries } from '../../../src/db/deliveries.ts'
import type { DeliveryStore, Notice } from '../../../src/notify/delivery.ts'
import { notify } from '../../../src/notify/run.ts'
import { notifyLane } from './host.ts'
import { type Clockwork, notifyDeps, type Owner, owner } from './world.ts'

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

test('a service that is down is asked eleven times more, at most an hour apart, and then given up with its last words', async () => {
  const [lane, mine, task] = [notifyLane(), owner(), taskId()]
  const clock: Clockwork = { now: Date.now() }
  mine.add('gotify', lane.url)
  mine.report(task, 'Text')
  await lane.fail(...Array.from({ length: 12 }, () => ({ status: 503, body: 'busy' })))
  const seconds: number[] = []
  let next = (await notify([told(mine, task)], notifyDeps(clock))).nextAt
  while (next !== null && seconds.length < 20) {
    seconds.push((next - clock.now) / 1000)
    clock.now = next
    next = (await notify([], notifyDeps(clock))).nextAt
  }
  expect(seconds).toEqual([30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 3_600, 3_600, 3_600])
  expect(await log(mine)).toMatchObject([
    { state: 'failed', sent: 0, error: 'given up after 12 attempts: HTTP 503: busy' },
  ])
  expect(await lane.received()).toEqual([])
})

test('a service that wants to be left alone for longer than a day is asked again after a day', async () => {
  const [lane, mine, task] = [notifyLane(), owner(), taskId()]
  const clock: Clockwork = { now: Date.now() }
  mine.add('gotify', lane.url)
  mine.report(task, 'Text')
  await lane.fail({ status: 429, headers: { 'retry-after': '999999' } })
  const day = clock.now + 86_400_000
  expect((await notify([told(mine, task)], notifyDeps(clock))).nextAt).toBe(day)
  clock.now = day
  expect((await notify([], notifyDeps(clock))).nextAt).toBeNull()
  expect((await log(mine)).map(({ state }) => state)).toEqual(['delivered'])
})

test('a part that is refused ends its delivery, which says which one and why; what follows is not sent', async () => {
  const [lane, mine, task, short] = [notifyLane(), owner(), taskId(), taskId()]
  const clock: Clockwork = { now: Date.now() }
  mine.add('discord', lane.url)
  mine.report(task, inParts(3))
  mine.report(short, 'Short')
  await lane.fail({}, { status: 400, body: 'no such thread' })
  expect((await notify([told(mine, task)], notifyDeps(clock))).nextAt).toBeNull()
  expect(await log(mine)).toMatchObject([
    { state: 'failed', parts: 3, sent: 1, unknown: 0, error: 'part 2 of 3: HTTP 400: no such thread' },
  ])
  clock.now += 1
  await lane.fail({ status: 400, body: '<html>nginx</html>' })
  await notify([told(mine, short)], notifyDeps(clock))
  expect((await log(mine))[0]).toMatchObject({ state: 'failed', error: 'HTTP 400' })
  expect(numbers(await lane.received())).toEqual([1])
})

test('a channel that is gone, off, of another kind or unreadable by the time it is to send says so', async () => {
  const lane = notifyLane()
  const clock: Clockwork = { now: Date.now() }
  const change = { isEnabled: false }
  const cases: [Record<string, unknown> | null, string][] = [
    [null, 'the channel is gone'],
    [change, 'the channel is switched off'],
    [{ kind: 'ntfy' }, 'the channel has become one of another kind'],
    [{ settings: null }, 'the settings of the channel cannot be read'],
  ]
  for (const [changed, error] of cases) {
    const [mine, task] = [owner(), taskId()]
    mine.add('gotify', lane.url)
    mine.report(task, 'Text')
    const targets = notifyDeps(clock).targets
    let asked = 0
    // As it is when the delivery is made, and changed when it is sent.
    const changing = notifyDeps(clock, {
      targets: async (id) => {
        const all = await targets(id)
        asked += 1
        if (asked === 1) return all
        return changed === null ? [] : all.map((one) => ({ ...one, ...changed }))
      },
    })
    expect((await notify([told(mine, task)], changing)).nextAt).toBeNull()
    expect(await log(mine), error).toMatchObject([{ state: 'failed', error }])
  }
  const [mine, task] = [owner(), taskId()]
  mine.add('gotify', lane.url, { settings: { priority: 'high' } })
  mine.report(task, 'Text')
  await notify([told(mine, task)], notifyDeps(clock))
  expect(await log(mine)).toMatchObject([
    { state: 'failed', parts: 0, error: 'the settings of the channel cannot be read' },
  ])
  expect(await lane.received()).toEqual([])
})

test('when the answer to the last part is missing the delivery ends in doubt at once; a service that sees repetitions is asked again', async () => {
  const clock: Clockwork = { now: Date.now() }
  const [lane, mine, task] = [notifyLane(), owner(), taskId()]
  mine.add('gotify', lane.url)
  mine.report(task, 'Text')
  await lane.fail({ status: 504 })
  expect((await notify([told(mine, task)], notifyDeps(clock))).nextAt).toBeNull()
  expect(await log(mine)).toMatchObject([
    { state: 'uncertain', unknown: 1, error: 'no answer came for part 1 of 1; it may have arrived' },
  ])
  const [other, yours, further] = [notifyLane(), owner(), taskId()]
  yours.add('webhook', other.url, { settings: { recognises_repeats: true } })
  yours.report(further, 'Text')
  await other.fail({ status: 522, body: 'timed out' })
  expect((await notify([told(yours, further)], notifyDeps(clock))).nextAt).toBe(clock.now + 30_000)
  expect(await log(yours)).toMatchObject([{ state: 'pending', unknown: 0, attempts: 1, error: 'HTTP 522: timed out' }])
  clock.now += 30_000
  expect((await notify([], notifyDeps(clock))).nextAt).toBeNull()
  expect(await log(yours)).toMatchObject([{ state: 'delivered', error: null }])
})

test('what a part came to is noted though the store fails three times in between', async () => {
  const [lane, mine, task] = [notifyLane(), owner(), taskId()]
  const clock: Clockwork = { now: Date.now() }
  mine.add('gotify', lane.url)
  mine.report(task, 'Text')
  const store = deliveryStore(env.DB)
  let failures = 0
  const flaky: DeliveryStore = {
    ...store,
    settle: async (...given) => {
      failures += 1
      if (failures <= 3) throw new Error('down')
      return store.settle(...given)
    },
  }
  await notify([told(mine, task)], notifyDeps(clock, { store: flaky }))
  expect(failures).toBe(4)
  expect(await log(mine)).toMatchObject([{ state: 'delivered', sent: 1 }])
})

test('one channel whose delivery breaks off holds no other, and its own goes on once its lease is over', async () => {
  const [lane, other, mine, task] = [notifyLane(), notifyLane(), owner(), taskId()]
  const clock: Clockwork = { now: Date.now() }
  mine.add('gotify', lane.url)
  mine.add('ntfy', other.url)
  mine.report(task, 'Text')
  const store = deliveryStore(env.DB)
  const broken: DeliveryStore = {
    ...store,
    begin: async (claim, ...rest) => {
      if (claim.channelId === 'gotify') throw new Error('down')
      return store.begin(claim, ...rest)
    },
  }
  await notify([told(mine, task)], notifyDeps(clock, { store: broken }))
  expect([(await lane.received()).length, (await other.received()).length]).toEqual([0, 1])
  clock.now += LEASE_MS + 1
  await notify([], notifyDeps(clock))
  expect([(await lane.received()).length, (await other.received()).length]).toEqual([1, 1])
})
