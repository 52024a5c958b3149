// What a turn asks on its way and gets no answer from: it goes on without it.

import { expect, test } from 'vitest'
import { RunnerFinder } from '../../../durable-objects/conversation/turn/runner/runner-finder.ts'
import { NO_RUNNER, type RunnerRecord } from '../../../durable-objects/conversation/turn/runner/runner-record.ts'
import { OwnerStepConfigs } from '../../../durable-objects/conversation/turn/step-configs.ts'
import type { TurnHost } from '../../../durable-objects/conversation/turn/turn-host.ts'
import { heldTimers } from '../../helpers/timers.ts'

const never = new Promise<never>(() => {})

/** A finder whose pool answers the questions with these, one after the other. */
function finderWith(answers: (() => Promise<unknown>)[]) {
  const record = {
    value: NO_RUNNER,
    change: (changes: Partial<RunnerRecord>) => {
      record.value = { ...record.value, ...changes }
    },
  }
  const pool = { asked: 0, wantRunner: () => (answers[pool.asked++] ?? (() => never))() }
  const deps = {
    ctx: { id: 'object' },
    env: { OWNER: { idFromName: (name: string) => name, get: () => pool } },
    whose: { owner: 'o', id: 'c' },
    wish: () => ({ kind: 'runner', labels: [] }),
    record,
    isUp: () => record.value.runner !== null,
  }
  return { pool, finder: new RunnerFinder(deps as unknown as ConstructorParameters<typeof RunnerFinder>[0]) }
}

const found = async () => ({ ok: true, runner: { id: 'r' }, others: 0 })

test('a pool that fails, and one that does not answer, is asked again', async () => {
  const timers = heldTimers(31_000)
  const { pool, finder } = finderWith([() => Promise.reject(new Error('away')), () => never, found])
  const missing = finder.find('runner')
  await expect.poll(() => pool.asked).toBe(2)
  // A runner that comes meanwhile is not kept waiting for it for ever either.
  const asked = finder.asked()
  timers.goOff()
  await asked
  expect([await missing, pool.asked]).toEqual([null, 3])
})

test('what may run elsewhere does not wait for a pool that does not answer, and is told why', async () => {
  const timers = heldTimers(31_000)
  const { pool, finder } = finderWith([])
  const missing = finder.find('auto')
  await expect.poll(() => timers.waiting).toBe(1)
  timers.goOff()
  expect([await missing, pool.asked]).toEqual(['unasked', 1])
})

test('settings that do not come count as not to be read', async () => {
  const timers = heldTimers(21_000)
  const configs = new OwnerStepConfigs({ secrets: { refresh: () => never } } as unknown as TurnHost, {
    isPlaying: false,
  })
  const renewed = expect(configs.renew(new AbortController().signal)).rejects.toThrow('cannot be read at the moment')
  await expect.poll(() => timers.waiting).toBe(1)
  timers.goOff()
  await renewed
})
