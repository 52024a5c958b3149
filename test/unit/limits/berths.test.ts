import { expect, onTestFinished, test, vi } from 'vitest'
import { Berths } from '../../../src/limits/body-room.ts'

const OPTIONS = { capacity: 10, waitMs: 1_000, stayMs: 5_000, maxWaiting: 2 }

function place(bytesPerSecond = 0): {
  berths: Berths
  take: (id: string, bytes: number) => Promise<boolean>
  log: string[]
} {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const berths = new Berths({ ...OPTIONS, bytesPerSecond })
  const log: string[] = []
  const take = async (id: string, bytes: number) => {
    const isIn = await berths.take({ id, bytes })
    log.push(`${id} ${isIn}`)
    return isIn
  }
  return { berths, take, log }
}

test('who finds no room waits in line, and gets in in order as others leave', async () => {
  const { berths, take, log } = place()
  await take('a', 6)
  await take('b', 4)
  const waiting = [take('c', 8), take('d', 1)]
  await vi.advanceTimersByTimeAsync(0)
  expect(log).toEqual(['a true', 'b true'])
  // There would be room for d, but c was first.
  berths.leave('b')
  await vi.advanceTimersByTimeAsync(0)
  expect([log.length, berths.used]).toEqual([2, 6])
  berths.leave('a')
  berths.leave('a')
  await Promise.all(waiting)
  expect([log.slice(2), berths.used]).toEqual([['c true', 'd true'], 9])
})

test('nobody waits for ever, a full line takes nobody, and who goes lets those behind in', async () => {
  const { berths, take, log } = place()
  await take('a', 6)
  const waiting = [take('b', 9), take('c', 4)]
  expect(await take('d', 1)).toBe(false)
  await vi.advanceTimersByTimeAsync(999)
  expect(log).toEqual(['a true', 'd false'])
  await vi.advanceTimersByTimeAsync(1)
  await Promise.all(waiting)
  expect([log.slice(2), berths.used]).toEqual([['b false', 'c true'], 10])
})

test('a berth that nobody gives back is free after its time; what is too large for the place has it to itself', async () => {
  const { berths, take } = place()
  await take('a', 99)
  expect(berths.used).toBe(10)
  // Asking again under the same name takes nothing more.
  expect([await take('a', 99), berths.used]).toEqual([true, 10])
  await vi.advanceTimersByTimeAsync(4_500)
  const next = take('b', 3)
  await vi.advanceTimersByTimeAsync(1_000)
  expect([await next, berths.used]).toEqual([true, 3])
})

test('what was taken in keeps its room for as long as its length says, what was given up does not', async () => {
  const { berths, take } = place(4)
  await take('a', 8)
  berths.leave('a', true)
  berths.leave('a')
  expect(berths.used).toBe(8)
  const next = take('b', 3)
  await vi.advanceTimersByTimeAsync(999)
  expect(berths.used).toBe(8)
  await vi.advanceTimersByTimeAsync(1)
  expect(await next).toBe(false)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(berths.used).toBe(0)
  await take('c', 10)
  berths.leave('c', false)
  expect(berths.used).toBe(0)
  // The room is no larger, what is paid for is the whole.
  await take('d', 40)
  berths.leave('d', true)
  await vi.advanceTimersByTimeAsync(9_999)
  expect(berths.used).toBe(10)
  await vi.advanceTimersByTimeAsync(1)
  expect(berths.used).toBe(0)
})
