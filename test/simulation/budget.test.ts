// The book of an owner's budget, by itself and with many callers at once.

import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { BudgetBook, BudgetDesk } from '../../durable-objects/owner/budget-book.ts'
import { MIGRATIONS as OWNER } from '../../durable-objects/owner/schema.ts'
import type { Allowances } from '../../src/limits/budget.ts'
import type { CallCost } from '../../src/llm/ask.ts'
import { ANSWERS, dayOf, diskOf, Hold, MOST_OF_ONE, NOW, played } from './budget-world.ts'
import { Disk } from './disk.ts'

const HOUR = 3_600_000

const bookOf = () => new BudgetBook(diskOf(OWNER).storage(new Hold()))

test('a call is admitted while what is used and set aside is below the budget, so the last one may overspend it', () => {
  const book = bookOf()
  const reserve = (id: string, nanoUsd: number | null) =>
    book.reserve({ id, tokens: 10, nanoUsd }, dayOf(100, null), NOW)
  expect(reserve('a', 90)).toEqual({ ok: true })
  // Asked again, it is set aside once.
  expect(reserve('a', 90)).toEqual({ ok: true })
  expect(reserve('b', 90)).toEqual({ ok: true })
  expect(reserve('c', 1)).toMatchObject({
    ok: false,
    reason: 'held',
    span: 'day',
    unit: 'nanoUsd',
    used: 0,
    allowed: 100,
  })
  expect(book.standing(NOW).day.reserved).toEqual({ nanoUsd: 180, tokens: 20 })
  book.settle('a', { tokens: 3, nanoUsd: 5 })
  expect(reserve('c', null)).toEqual({ ok: true })
  book.settle('b', { tokens: 9, nanoUsd: 95 })
  book.settle('b', { tokens: 9, nanoUsd: 95 })
  expect(reserve('d', 1)).toMatchObject({ reason: 'spent', used: 100, resetsAt: Date.parse('2026-02-01T00:00:00Z') })
  book.settle('c', { tokens: 5, nanoUsd: null })
  expect(book.standing(NOW).day).toMatchObject({
    used: { nanoUsd: 100, tokens: 17 },
    reserved: { nanoUsd: 0, tokens: 0 },
    calls: 3,
    unpricedCalls: 1,
    unsettledCalls: 0,
  })
})

test('a call counts in the day and month in which it began, and both begin anew at midnight, UTC', () => {
  const book = bookOf()
  const month: Allowances = { day: dayOf(50, null).day, month: { nanoUsd: null, tokens: 100 } }
  const reserve = (id: string, now: number) => book.reserve({ id, tokens: 60, nanoUsd: 50 }, month, now)
  expect(reserve('late', NOW + HOUR - 1)).toEqual({ ok: true })
  expect(reserve('too late', NOW + HOUR - 1)).toMatchObject({ reason: 'held', span: 'day' })
  // A new day and a new month: what is under way since yesterday takes no room.
  expect(reserve('early', NOW + HOUR)).toEqual({ ok: true })
  book.settle('late', { tokens: 60, nanoUsd: 50 })
  book.settle('early', { tokens: 60, nanoUsd: 50 })
  const { day, month: february } = book.standing(NOW + HOUR)
  expect([day.used.tokens, february.used.tokens, book.standing(NOW).month.used.tokens]).toEqual([60, 60, 60])
  expect(new Date(february.resetsAt).toISOString()).toBe('2026-03-01T00:00:00.000Z')
  expect(reserve('same day', NOW + 2 * HOUR)).toMatchObject({ reason: 'spent', span: 'day', used: 50 })
  expect(reserve('next day', NOW + 26 * HOUR)).toEqual({ ok: true })
  book.settle('next day', { tokens: 60, nanoUsd: 0 })
  const refused = { reason: 'spent', span: 'month', unit: 'tokens', used: 120, allowed: 100 }
  expect(reserve('third day', NOW + 50 * HOUR)).toMatchObject(refused)
})

test('thirteen months are kept, also where a month that is counted back to has no such day', () => {
  const book = bookOf()
  const spent = (id: string, now: number) => {
    book.reserve({ id, tokens: 5, nanoUsd: 5 }, dayOf(null, 1_000), now)
    book.settle(id, { tokens: 5, nanoUsd: 5 })
  }
  const [first, second, last] = ['2025-01-31', '2025-02-28', '2026-03-31'].map((day) => Date.parse(`${day}T12:00:00Z`))
  for (const [id, at] of Object.entries({ first, second, last })) spent(id, at ?? 0)
  const usedIn = (at: number | undefined) => book.standing(at ?? 0).month.used.tokens
  expect([first, second, last].map(usedIn)).toEqual([0, 5, 5])
})

test('a call that nobody settles counts as the most that it may have used, until somebody does', () => {
  const book = bookOf()
  const reserve = (id: string, now: number) => book.reserve({ id, tokens: 60, nanoUsd: 100 }, dayOf(100, null), now)
  const morning = Date.parse('2026-05-05T05:00:00Z')
  expect(reserve('lost', morning)).toEqual({ ok: true })
  expect(reserve('b', morning)).toMatchObject({ reason: 'held' })
  expect(reserve('b', morning + HOUR)).toMatchObject({ reason: 'spent', used: 100 })
  expect(book.standing(morning + HOUR).day).toMatchObject({ calls: 1, unsettledCalls: 1, reserved: { nanoUsd: 0 } })
  // Its own repetition does not set it aside again.
  expect(reserve('lost', morning + HOUR)).toEqual({ ok: true })
  book.settle('lost', { tokens: 6, nanoUsd: 10 })
  book.settle('lost', null)
  expect(book.standing(morning + HOUR).day).toMatchObject({
    used: { nanoUsd: 10, tokens: 6 },
    calls: 1,
    unsettledCalls: 0,
  })
  expect(reserve('b', morning + HOUR)).toEqual({ ok: true })
})

type BookedCall = { day: string; most: CallCost; until: number; state: 'open' | 'expired' }

test('whatever is asked in whatever order, the book is what a plain list of the calls adds up to', async () => {
  const cost = fc.record({
    tokens: fc.integer({ min: 1, max: 50 }),
    nanoUsd: fc.option(fc.integer({ min: 0, max: 50 })),
  })
  const id = fc.integer({ min: 0, max: 7 }).map(String)
  const order = fc.oneof(
    fc.record({ kind: fc.constant('reserve' as const), id, cost }),
    fc.record({ kind: fc.constant('settle' as const), id, used: fc.option(cost) }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 20 * HOUR }) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(order, { maxLength: 60 }), fc.integer({ min: 0, max: 200 }), async (orders, limit) => {
      const disk = new Disk(OWNER)
      const book = new BudgetBook(disk.storage(new Hold()))
      const calls = new Map<string, BookedCall>()
      const spent: { day: string; nanoUsd: number; tokens: number }[] = []
      let now = NOW
      const spend = ({ day }: BookedCall, { nanoUsd, tokens }: CallCost, sign = 1) =>
        void spent.push({ day, nanoUsd: sign * (nanoUsd ?? 0), tokens: sign * tokens })
      const sum = (of: readonly number[]) => of.reduce((all, one) => all + one, 0)
      for (const one of orders) {
        if (one.kind === 'wait') now += one.ms
        for (const [name, call] of calls) {
          if (call.state === 'open' && call.until <= now) {
            call.state = 'expired'
            spend(call, call.most)
          } else if (call.state === 'expired' && call.until <= now - 7 * 24 * HOUR) calls.delete(name)
        }
        const day = new Date(now).toISOString().slice(0, 10)
        const used = sum(spent.filter((part) => part.day === day).map(({ nanoUsd }) => nanoUsd))
        const open = [...calls.values()].filter((call) => call.state === 'open' && call.day === day)
        const reserved = sum(open.map(({ most }) => most.nanoUsd ?? 0))
        if (one.kind === 'reserve') {
          const isKnown = calls.has(one.id)
          const answer = book.reserve({ id: one.id, ...one.cost }, dayOf(limit, null), now)
          expect(answer.ok).toBe(isKnown || used + reserved < limit)
          if (!answer.ok) expect(answer).toMatchObject({ used, reason: used >= limit ? 'spent' : 'held' })
          else if (!isKnown) calls.set(one.id, { day, most: one.cost, until: now + HOUR, state: 'open' })
        } else if (one.kind === 'settle') {
          book.standing(now)
          const call = calls.get(one.id)
          expect(book.settle(one.id, one.used)).toBe(call !== undefined)
          if (call?.state === 'open') spend(call, one.used ?? call.most)
          else if (call !== undefined && one.used !== null) {
            spend(call, call.most, -1)
            spend(call, one.used)
          }
          calls.delete(one.id)
        }
        const { day: today } = book.standing(now)
        const parts = spent.filter((part) => part.day === day)
        expect(today.used).toEqual({
          nanoUsd: sum(parts.map(({ nanoUsd }) => nanoUsd)),
          tokens: sum(parts.map(({ tokens }) => tokens)),
        })
      }
      // What was written is committed at the end of the turn.
      await Promise.resolve()
      disk.close()
    }),
    { numRuns: inject('isProof') ? 2_000 : 60 },
  )
})

test('two hundred turns at once spend no more than the budget and one call, and the book is what the vendor charged', async () => {
  const { world, turns } = await played(1, 0)
  expect(world.standing).toMatchObject({
    used: { nanoUsd: world.charged },
    reserved: { nanoUsd: 0 },
    unsettledCalls: 0,
  })
  expect(world.charged).toBeGreaterThanOrEqual(world.limit)
  expect(world.charged).toBeLessThanOrEqual(world.limit + MOST_OF_ONE)
  const made = turns.reduce((sum, { answers }) => sum + answers, 0)
  expect(world.standing.calls).toBe(made)
  expect(new Set(turns.filter(({ answers }) => answers < ANSWERS).map(({ refused }) => refused))).toEqual(
    new Set(['budget_spent']),
  )
})

test('deaths before, during and after a call, of the turns and of the book, lose no call and count none twice', async () => {
  let [died, unsettled] = [0, 0]
  for (let seed = 1; seed <= (inject('isProof') ? 60 : 3); seed++) {
    const { world, turns } = await played(seed, 60)
    const { used, reserved, calls, unsettledCalls } = world.standing
    died += world.died
    unsettled += unsettledCalls
    expect([seed, reserved]).toEqual([seed, { nanoUsd: 0, tokens: 0 }])
    // What nobody knows counts in full: the book is never below what the vendor charged, and above it by no more than that.
    expect(used.nanoUsd).toBeGreaterThanOrEqual(world.charged)
    expect(used.nanoUsd - world.charged).toBeLessThanOrEqual(unsettledCalls * MOST_OF_ONE)
    expect(unsettledCalls).toBeLessThanOrEqual(world.died)
    expect(world.charged).toBeLessThanOrEqual(world.limit + MOST_OF_ONE)
    expect(calls).toBeGreaterThanOrEqual(turns.reduce((sum, { answers }) => sum + answers, 0))
    for (const { answers, refused } of turns) expect([answers === ANSWERS, refused]).not.toEqual([false, null])
  }
  expect([died > 100, unsettled > 10]).toEqual([true, true])
})

test('who finds what is left set aside for others waits in line for them, and not for longer than that', async () => {
  const desk = new BudgetDesk(bookOf())
  const allowances = dayOf(100, null)
  const told: string[] = []
  const reserve = async (id: string, patienceMs: number) => {
    const answer = await desk.reserve({ id, tokens: 1, nanoUsd: 100 }, allowances, patienceMs)
    told.push(`${id} ${answer.ok || answer.reason}`)
  }
  await reserve('first', 0)
  await reserve('impatient', 0)
  const waiting = [reserve('second', 3_600_000), reserve('gone', 3_600_000), reserve('third', 3_600_000)]
  // Whoever waited there died.
  desk.settle('gone', null)
  await waiting[1]
  desk.settle('first', { tokens: 1, nanoUsd: 10 })
  await waiting[0]
  expect(told).toEqual(['first true', 'impatient held', 'gone held', 'second true'])
  desk.settle('second', { tokens: 1, nanoUsd: 90 })
  await waiting[2]
  expect(told.at(-1)).toBe('third spent')
})
