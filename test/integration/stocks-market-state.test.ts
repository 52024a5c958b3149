import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { answerStore, gateStore } from '../../src/db/market-state.ts'
import { memoryGate, storedGate } from '../../src/market/providers/gate.ts'

test('answers are kept by need and key, the newest only', async () => {
  const store = answerStore(env.DB)
  expect(await store.get('daily_data', '600519-kept')).toBeNull()
  await store.put('daily_data', '600519-kept', { body: '[1]', provider: 'tencent', keptAt: 1_000_001 })
  await store.put('daily_data', '600519-kept', { body: '[1,2]', provider: 'yahoo', keptAt: 2_000_001 })
  await store.put('fundamentals', '600519-kept', { body: '{}', provider: 'eastmoney', keptAt: 3_000_001 })
  expect(await store.get('daily_data', '600519-kept')).toEqual({ body: '[1,2]', provider: 'yahoo', keptAt: 2_000_001 })
  await store.put('daily_data', 'AAPL-kept', { body: 'x'.repeat(600_001), provider: 'yahoo', keptAt: 1 })
  expect(await store.get('daily_data', 'AAPL-kept')).toBeNull()
  await store.put('daily_data', 'MSFT-kept', { body: '[]', provider: 'yahoo', keptAt: 90 * 86_400_000 })
  expect(await store.get('daily_data', '600519-kept'), 'forgotten after two months').toBeNull()
})

test('the gate in the database and the one in memory decide alike, and isolates share the former', async () => {
  let now = 1_767_500_000_000
  const clock = () => now
  const stored = () => storedGate(gateStore(env.DB), clock)
  const memory = memoryGate(clock)
  const both = async (circuit: 'north:daily_data' | 'south:realtime_quote') => {
    const [one, other] = [await stored().openUntil(circuit), await memory.openUntil(circuit)]
    expect(one).toBe(other)
    return one === null ? null : one - now
  }
  const settle = async (outcome: 'answered' | 'failed' | 'refused', circuit: Parameters<typeof both>[0]) => {
    await stored().settle(circuit, outcome)
    await memory.settle(circuit, outcome)
  }
  for (const expected of [null, null, 300_000]) {
    await settle('failed', 'north:daily_data')
    expect(await both('north:daily_data')).toBe(expected)
  }
  expect(await both('south:realtime_quote')).toBeNull()
  now += 300_001
  expect(await both('north:daily_data'), 'one trial').toBeNull()
  expect(await both('north:daily_data'), 'while it lasts').toBe(30_000)
  await settle('failed', 'north:daily_data')
  expect(await both('north:daily_data'), 'a failed trial').toBe(300_000)
  now += 300_001
  expect(await both('north:daily_data')).toBeNull()
  await settle('answered', 'north:daily_data')
  expect(await both('north:daily_data')).toBeNull()
  await settle('refused', 'south:realtime_quote')
  expect(await both('south:realtime_quote'), 'a refusal is enough').toBe(300_000)
  expect(
    await env.DB.prepare(
      "SELECT count(*) AS n FROM provider_circuits WHERE circuit IN ('north:daily_data', 'south:realtime_quote')",
    ).first('n'),
  ).toBe(1)

  now += 300_001
  const trials = await Promise.all(Array.from({ length: 5 }, () => stored().openUntil('south:realtime_quote')))
  expect(
    trials.filter((until) => until === null),
    'of many isolates one tries',
  ).toHaveLength(1)
})

test('turns at a service are given to isolates one after another, and a long line is refused', async () => {
  const now = 1_767_600_000_000
  const stored = () => storedGate(gateStore(env.DB), () => now)
  const waits = await Promise.all(Array.from({ length: 9 }, () => stored().turn('north', 1_000)))
  expect(waits.toSorted((a, b) => (a ?? 1e9) - (b ?? 1e9))).toEqual([
    0,
    1_000,
    2_000,
    3_000,
    4_000,
    5_000,
    6_000,
    null,
    null,
  ])
  expect(await stored().turn('south', 1_000)).toBe(0)
  expect(await storedGate(gateStore(env.DB), () => now + 60_000).turn('north', 1_000)).toBe(0)
})

test('a clock that is set back shuts no source and holds up no turn', async () => {
  let now = 1_767_700_000_000
  const clock = () => now
  for (const gate of [storedGate(gateStore(env.DB), clock), memoryGate(clock)]) {
    await gate.settle('north:market_stats', 'refused')
    for (let i = 0; i < 8; i++) await gate.turn('clock', 1_000)
    expect([await gate.openUntil('north:market_stats'), await gate.turn('clock', 1_000)]).toEqual([now + 300_000, null])
    now -= 7 * 3_600_000
    expect([await gate.openUntil('north:market_stats'), await gate.turn('clock', 1_000)]).toEqual([null, 0])
    expect(await gate.turn('clock', 1_000), 'the line begins anew').toBe(1_000)
    // Of two machines one may be some seconds behind.
    now -= 30_000
    expect(await gate.turn('clock', 1_000)).toBeNull()
    now += 100_000_000
  }
})

test('a gate whose store fails lets everybody through', async () => {
  const down = () => Promise.reject(new Error('down'))
  const gate = storedGate({ circuits: down, fail: down, close: down, postpone: down, reserve: down }, Date.now)
  await gate.settle('north:daily_data', 'failed')
  expect([await gate.openUntil('north:daily_data'), await gate.turn('north', 1_000)]).toEqual([null, 0])
})
