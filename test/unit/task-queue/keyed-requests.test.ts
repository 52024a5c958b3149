import { expect, test } from 'vitest'
import { KEPT_MS, KeyedRequests } from '../../../durable-objects/task-queue/keyed-requests.ts'
import { taskRequest, withQueue } from './queue.ts'

const T0 = 1_800_000_000_000

test('a key lasts a day, belongs to its owner, and names one request', async () => {
  await withQueue(({ intake, storage }) => {
    const keyed = { key: 'k', digest: 'a' }
    const submission = { owner: 'ann', requests: [taskRequest({ key: null })], key: null, keyed }
    const first = intake.submit(submission, T0)
    expect(first.created).toHaveLength(1)
    expect(intake.submit(submission, T0 + KEPT_MS - 1)).toEqual({ answer: first.answer, created: [] })
    const other = { ...submission, keyed: { ...keyed, digest: 'b' } }
    expect(intake.submit(other, T0 + 1)).toEqual({ answer: { ok: false, reason: 'other_request' }, created: [] })
    expect(intake.submit({ ...submission, owner: 'bob' }, T0 + 1).created).toHaveLength(1)
    expect(intake.submit(submission, T0 + KEPT_MS).created).toHaveLength(1)
    expect(intake.submit(other, T0 + 2 * KEPT_MS).created).toHaveLength(1)
    new KeyedRequests(storage.sql).prune(T0 + 2 * KEPT_MS)
    expect(storage.sql.exec('SELECT owner FROM keyed_requests').toArray()).toEqual([{ owner: 'ann' }])
  })
})

test('a synchronous run under a key begins once, and tells whether it still runs', async () => {
  await withQueue(({ intake, allowance }) => {
    const run = (id: string, digest = 'a') =>
      intake.beginDirect('ann', { id, stockCode: 'A', until: T0 + 60_000, keyed: { key: 'k', digest } }, T0)
    expect(run('one')).toEqual({ ok: true })
    expect(run('two')).toEqual({ ok: false, reason: 'repeated', id: 'one', isRunning: true })
    expect(run('two', 'b')).toEqual({ ok: false, reason: 'other_request' })
    expect(allowance.openOf('ann', T0)).toBe(1)
    allowance.endDirect('one')
    expect(run('two')).toEqual({ ok: false, reason: 'repeated', id: 'one', isRunning: false })
  })
})

test('a market review under a key is one review, and its repetition does not wait for the lock', async () => {
  await withQueue(({ intake }) => {
    const request = taskRequest({ kind: 'market_review', key: null, stockCode: 'market_review', region: 'cn' })
    const review = { owner: 'ann', request, key: null, keyed: { key: 'k', digest: 'a' } }
    const first = intake.submitReview(review, T0)
    expect(first.created).toHaveLength(1)
    expect(intake.submitReview(review, T0 + 5)).toEqual({ answer: first.answer, created: [] })
    expect(intake.submitReview({ ...review, keyed: null }, T0 + 5).answer).toMatchObject({ reason: 'locked' })
  })
})
