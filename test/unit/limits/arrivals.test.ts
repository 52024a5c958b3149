import { expect, onTestFinished, test, vi } from 'vitest'
import { Arrivals } from '../../../src/limits/body-room.ts'

function place() {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const arrivals = new Arrivals({ capacity: 10, waitMs: 1_000 })
  const log: string[] = []
  const grow = async (id: string, bytes: number) => {
    const isIn = await arrivals.grow({ id, bytes })
    log.push(`${id} ${isIn}`)
  }
  return { arrivals, grow, log, settle: () => vi.advanceTimersByTimeAsync(0) }
}

test('what has come counts, and who leaves makes room for those who wait', async () => {
  const { arrivals, grow, log, settle } = place()
  await grow('a', 6)
  await grow('b', 4)
  const waiting = [grow('b', 1), grow('c', 2)]
  await settle()
  // The one that has most of those who wait goes on, so that not all wait for each other.
  expect([log.slice(2), arrivals.held]).toEqual([['b true'], 11])
  arrivals.leave('a')
  arrivals.leave('a')
  await Promise.all(waiting)
  expect([log.slice(3), arrivals.held]).toEqual([['c true'], 7])
})

test('one at a time may go beyond the room, until it is whole or given up', async () => {
  const { arrivals, grow, log, settle } = place()
  await grow('a', 5)
  await grow('b', 5)
  await grow('a', 5)
  await grow('a', 5)
  void grow('b', 1)
  await settle()
  expect([log.length, arrivals.held]).toEqual([4, 20])
  arrivals.leave('a')
  await settle()
  expect([log.at(-1), arrivals.held]).toEqual(['b true', 6])
})

test('nobody waits for ever', async () => {
  const { arrivals, grow, log } = place()
  await grow('a', 10)
  await grow('a', 1)
  const late = grow('b', 1)
  await vi.advanceTimersByTimeAsync(1_000)
  await late
  expect(log).toEqual(['a true', 'a true', 'b false'])
  arrivals.leave('a')
  expect(arrivals.held).toBe(0)
})
