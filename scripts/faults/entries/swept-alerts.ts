// Bellwether with a way to have the alerts looked at now, at a time that is said, with the quotes of a market on loopback. All else
// of the look is the service's own: its database, the streams and the messages.

import { sweepAlerts } from '../../../src/alerts/sweep.ts'
import worker from '../../../src/index.ts'
import type { Fetched, Quote } from '../../../src/market/bars.ts'
import type { Instrument } from '../../../src/market/instruments.ts'
import { sweepDeps } from '../../../src/schedule/alerts.ts'

export { AnalysisRunner, Conversation, Limiter, Owner, TaskQueue } from '../../../src/index.ts'

const PREV_CLOSE = 10
const NOTHING: Fetched<never> = { ok: false, runs: [] }

// biome-ignore lint/style/noDefaultExport: what the runtime looks for in an entry
export default {
  ...worker,
  async fetch(request, env, ctx) {
    const url = new URL(request.url)
    if (url.pathname !== '/sweep') return worker.fetch(request, env, ctx)
    const now = Number(url.searchParams.get('now'))
    // No second source and no bars: no other request is sent.
    const others = { otherQuote: async () => NOTHING, bars: async () => NOTHING }
    const market = { ...others, quotes: quotesAt(url.searchParams.get('market') ?? '', now) }
    return new Response(await sweepAlerts({ ...(await sweepDeps(env)), market }, now))
  },
} satisfies ExportedHandler<Env>

const quotesAt = (address: string, now: number) => async (instruments: readonly Instrument[]) => {
  const prices = await (await fetch(address)).json<Record<string, number>>()
  return new Map(instruments.map(({ key }) => [key, quoteOf(prices[key], now)]))
}

function quoteOf(price: number | undefined, quotedAt: number): Fetched<Quote> {
  if (price === undefined) return { ok: false, runs: [] }
  const value: Quote = {
    ...{ price, prevClose: PREV_CLOSE, change: price - PREV_CLOSE, changePct: (price / PREV_CLOSE - 1) * 100 },
    ...{ open: null, high: null, low: null, volume: 1_000, amount: null, quotedAt, name: null, currency: 'CNY' },
    ...{ turnoverRatePct: null, volumeRatio: null, peRatio: null, pbRatio: null },
    ...{ totalMarketValue: null, circulatingMarketValue: null },
  }
  return { ok: true, value, provider: 'scripted', provenance: null, runs: [] }
}
