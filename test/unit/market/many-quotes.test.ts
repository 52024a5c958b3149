// Many listings at sources that hold each answer until the test lets it go.

import { expect, test } from 'vitest'
import type { Quote } from '../../../src/market/bars.ts'
import type { Instrument } from '../../../src/market/instruments.ts'
import { memoryGate } from '../../../src/market/providers/gate.ts'
import { manyQuotes } from '../../../src/market/providers/many-quotes.ts'
import type { MarketDataProvider } from '../../../src/market/providers/provider.ts'
import { QUOTE } from '../analysis/company-reports.ts'
import { instrument } from './upstream.ts'

const CHAIN = { clock: () => Date.now(), timeoutMs: 60_000, gate: memoryGate(() => Date.now()) }
const LISTINGS = Array.from({ length: 23 }, (_, i) => instrument(String(600_000 + i)))

type OpenRequest = { keys: string[]; answer: (known?: (key: string) => boolean) => void }

/** A source, what it is asked and has not answered yet, and the most that were open beside each other. */
function source(
  name: string,
  { atOnce, supports = () => true }: { atOnce: number; supports?: (key: string) => boolean },
) {
  const held: OpenRequest[] = []
  const asked: string[][] = []
  let most = 0
  const ask = (some: readonly Instrument[], { signal }: { signal?: AbortSignal }) =>
    new Promise<Map<string, Quote>>((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason))
      const keys = some.map(({ key }) => key)
      asked.push(keys)
      const one: OpenRequest = {
        keys,
        answer: (known = () => true) => {
          held.splice(held.indexOf(one), 1)
          resolve(new Map(keys.filter(known).map((key) => [key, { ...QUOTE, price: Number(key) }])))
        },
      }
      held.push(one)
      most = Math.max(most, held.length)
    })
  const provider: MarketDataProvider = {
    name,
    provenance: () => null,
    supports: ({ key }, need) => need === 'realtime_quote' && supports(key),
    quotes: { atOnce, ask },
  }
  return { provider, held, asked, most: () => most }
}

test('four requests run beside each other at one source, each of as many listings as it takes, and a list names each once', async () => {
  const { provider, held, asked, most } = source('one', { atOnce: 3 })
  const found = manyQuotes(CHAIN, [provider], { instruments: [...LISTINGS, ...LISTINGS.slice(0, 5)], query: {} })
  for (let answered = 0; answered < 8; answered++) {
    await expect.poll(() => held.length).toBe(Math.min(4, 8 - answered))
    held[0]?.answer()
  }
  const quotes = await found
  expect([...quotes].map(([key, one]) => [key, one.ok && one.value.price])).toEqual(
    LISTINGS.map(({ key }) => [key, Number(key)]),
  )
  expect(most()).toBe(4)
  expect(asked.map((keys) => keys.length)).toEqual([3, 3, 3, 3, 3, 3, 3, 2])
  expect(asked.flat()).toEqual(LISTINGS.map(({ key }) => key))
})

test('the next source is asked for what the one before did not tell or does not have, and nobody for what is told', async () => {
  const [a, b, c, d] = LISTINGS as [Instrument, Instrument, Instrument, Instrument]
  const first = source('first', { atOnce: 10, supports: (key) => key !== d.key })
  const second = source('second', { atOnce: 10, supports: (key) => key !== c.key })
  const found = manyQuotes(CHAIN, [first.provider, second.provider], { instruments: [a, b, c, d], query: {} })
  await expect.poll(() => first.held.length).toBe(1)
  expect(second.asked).toEqual([])
  first.held[0]?.answer((key) => key === a.key)
  await expect.poll(() => second.held.length).toBe(1)
  second.held[0]?.answer()
  const quotes = await found
  expect([first.asked, second.asked]).toEqual([[[a.key, b.key, c.key]], [[b.key, d.key]]])
  expect([...quotes].map(([key, one]) => [key, one.ok && one.provider])).toEqual([
    [a.key, 'first'],
    [b.key, 'second'],
    [c.key, false],
    [d.key, 'second'],
  ])
})

test('when the round is over what has come counts, and all else is without an answer', async () => {
  const { provider, held, asked } = source('slow', { atOnce: 1 })
  const end = new AbortController()
  const found = manyQuotes(CHAIN, [provider], { instruments: LISTINGS.slice(0, 6), query: { signal: end.signal } })
  await expect.poll(() => held.length).toBe(4)
  held[0]?.answer()
  await expect.poll(() => asked.length).toBe(5)
  end.abort(new Error('over'))
  const quotes = await found
  expect([...quotes.values()].map(({ ok }) => ok)).toEqual([true, false, false, false, false, false])
  expect(asked).toHaveLength(5)
})
