// The quotes of many listings at once: each source is asked for the listings that earlier ones did not have, in as few
// requests as it allows.

import type { Fetched, ProviderRun, Quote } from '../bars.ts'
import type { Instrument } from '../instruments.ts'
import { type Chain, firstAnswer, type Need, quoteNeed } from './chain.ts'
import type { MarketDataProvider, QuoteQuery } from './provider.ts'

/** Parallel requests to one source. */
const AT_ONCE = 4

/** One entry for each listing. A quote that had not arrived when the signal ended the round is missing. */
export async function manyQuotes(
  chain: Chain,
  providers: readonly MarketDataProvider[],
  { instruments, query }: { instruments: readonly Instrument[]; query: QuoteQuery },
): Promise<Map<string, Fetched<Quote>>> {
  const found = new Map<string, Fetched<Quote>>()
  let left = [...new Map(instruments.map((instrument) => [instrument.key, instrument])).values()]
  for (const provider of providers) {
    const able = left.filter((instrument) => provider.supports(instrument, 'realtime_quote'))
    await inTurns(ordersOf(provider, able), async (some) => {
      if (query.signal?.aborted) return
      for (const [key, fetched] of await askedOf(chain, provider, some, query)) found.set(key, fetched)
    })
    left = left.filter(({ key }) => found.get(key)?.ok !== true)
  }
  for (const { key } of left) if (!found.has(key)) found.set(key, { ok: false, runs: [] })
  return found
}

function ordersOf(provider: MarketDataProvider, instruments: readonly Instrument[]): Instrument[][] {
  const size = provider.quotes === undefined ? 1 : provider.quotes.atOnce
  return Array.from({ length: Math.ceil(instruments.length / size) }, (_, i) => {
    return instruments.slice(i * size, (i + 1) * size)
  })
}

async function inTurns<T>(orders: readonly T[], work: (order: T) => Promise<void>): Promise<void> {
  const left = [...orders]
  const lane = async () => {
    for (let order = left.shift(); order !== undefined; order = left.shift()) await work(order)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
}

async function askedOf(
  chain: Chain,
  provider: MarketDataProvider,
  some: readonly Instrument[],
  query: QuoteQuery,
): Promise<[string, Fetched<Quote>][]> {
  const [first] = some
  if (first === undefined) return []
  const { quotes } = provider
  try {
    if (quotes === undefined) return [[first.key, await firstAnswer(chain, [provider], quoteNeed(first, query))]]
    const need: Need<Map<string, Quote>> = {
      dataType: 'realtime_quote',
      operation: 'quotes',
      instrument: first,
      signal: query.signal,
      ask: (_, signal) => quotes.ask(some, { ...query, signal }),
      count: (told) => told.size,
    }
    const fetched = await firstAnswer(chain, [provider], need)
    return some.map(({ key }) => [key, ofList(fetched, key)])
  } catch (error) {
    // The round is over: quotes that have arrived count.
    if (query.signal?.aborted) return []
    throw error
  }
}

function ofList(fetched: Fetched<Map<string, Quote>>, key: string): Fetched<Quote> {
  const runs: ProviderRun[] = fetched.runs
  const value = fetched.ok ? fetched.value.get(key) : undefined
  return fetched.ok && value !== undefined ? { ...fetched, value } : { ok: false, runs }
}
