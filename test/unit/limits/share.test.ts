import { expect, test } from 'vitest'
import { Shares } from '../../../src/limits/share.ts'

function sharesAt() {
  const clock = { now: 1_000_000 }
  return { clock, shares: new Shares(() => clock.now) }
}

test('who is alone never waits, however much that does', () => {
  const { shares } = sharesAt()
  shares.seen('ann')
  expect(shares.charge('ann', 100_000)).toBe(0)
  expect(shares.waitOf('ann')).toBe(0)
  // What was done alone is not held against anybody.
  shares.seen('bob')
  expect(shares.waitOf('ann')).toBe(0)
})

test('beside somebody at work, what goes beyond a moment waits for three times what it costs', () => {
  const { shares, clock } = sharesAt()
  for (const owner of ['ann', 'bob']) shares.seen(owner)
  expect(shares.charge('ann', 10)).toBe(0)
  expect(shares.charge('ann', 10)).toBe(10)
  expect(shares.waitOf('bob')).toBe(0)
  clock.now += 10
  expect(shares.waitOf('ann')).toBe(0)
  expect(shares.charge('ann', 20)).toBe(60)
})

test('more others leave less, to a bound', () => {
  const { shares } = sharesAt()
  const others = (count: number, name: string) => {
    for (let at = 0; at < count; at++) shares.seen(`${name}-${at}`)
  }
  others(3, 'some')
  expect(shares.charge('ann', 20)).toBe(50)
  others(30, 'more')
  expect(shares.charge('cat', 20)).toBe(70)
})

test('no wait is longer than two seconds, and it ends when the others have gone', () => {
  const { shares, clock } = sharesAt()
  shares.seen('bob')
  expect(shares.charge('ann', 1_000_000)).toBe(2_000)
  clock.now += 1_500
  expect(shares.waitOf('ann')).toBe(500)
  shares.seen('bob')
  shares.charge('ann', 1_000_000)
  clock.now += 3_000
  expect(shares.waitOf('ann')).toBe(0)
})

test('an owner counts as at work for three seconds after each request', () => {
  const { shares, clock } = sharesAt()
  shares.seen('bob')
  clock.now += 2_999
  expect(shares.charge('ann', 50)).toBe(100)
  shares.seen('bob')
  clock.now += 2_999
  expect(shares.charge('ann', 50)).toBe(100)
  clock.now += 1
  expect(shares.charge('ann', 50)).toBe(0)
})

test('four others leave as little as any number, and what waits is owed from now on, not from the past', () => {
  const { shares, clock } = sharesAt()
  const waits = [1, 2, 3, 4, 5, 6].map((others) => {
    shares.seen(`other-${others}`)
    // Each one's first work of 100 ms: three times that beside one other, less the moment that nobody waits for.
    return shares.charge(`own-${others}`, 100)
  })
  expect(waits).toEqual([250, 350, 450, 550, 550, 550])
  clock.now += 2_000
  for (const other of [1, 2, 3, 4]) shares.seen(`other-${other}`)
  expect(shares.charge('own-1', 100)).toBe(550)
})

test('work that was owed is forgotten with whoever was away for three seconds', () => {
  const { shares, clock } = sharesAt()
  for (const owner of ['ann', 'bob']) shares.seen(owner)
  clock.now += 2_500
  shares.seen('bob')
  expect(shares.charge('ann', 1_000)).toBe(2_000)
  clock.now += 499
  shares.seen('bob')
  expect(shares.waitOf('ann')).toBe(1_501)
  clock.now += 1
  shares.seen('bob')
  expect(shares.waitOf('ann')).toBe(0)
})

test('a clock that is set back makes nobody who is away count as at work for longer than three seconds', () => {
  const { shares, clock } = sharesAt()
  shares.seen('bob')
  clock.now -= 2_999
  expect(shares.charge('ann', 100)).toBe(250)
  clock.now -= 1
  expect(shares.charge('cat', 100)).toBe(0)
})
