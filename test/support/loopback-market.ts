// A market data source on loopback: Yahoo's charts of whatever symbol is asked for, so that stocks and indices of all markets
// have bars until yesterday and a quote.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { longSeries } from './long-series.ts'

const DAYS = 400
const DAY_MS = 86_400_000
/** In every market there is it is the same day then. */
const HOUR = 6

export async function startLoopbackMarket(): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer((request, response) => {
    const symbol = /^\/v8\/finance\/chart\/([^?]+)/.exec(request.url ?? '')?.[1]
    response.writeHead(symbol === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(symbol === undefined ? '{}' : JSON.stringify(chartOf(decodeURIComponent(symbol))))
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

function chartOf(symbol: string) {
  const bars = longSeries(DAYS)
  const days = weekdaysUntilYesterday(bars.length)
  const last = bars.at(-1)
  const meta = { symbol, regularMarketPrice: last?.close, regularMarketTime: days.at(-1) }
  const column = (name: 'open' | 'high' | 'low' | 'close' | 'volume') => bars.map((bar) => bar[name])
  const quote = {
    open: column('open'),
    high: column('high'),
    low: column('low'),
    close: column('close'),
    volume: column('volume'),
  }
  return { chart: { result: [{ meta, timestamp: days, indicators: { quote: [quote] } }], error: null } }
}

/** In seconds, the earliest first. */
function weekdaysUntilYesterday(count: number): number[] {
  const found: number[] = []
  const midnight = Math.floor(Date.now() / DAY_MS) * DAY_MS
  for (let day = midnight - DAY_MS; found.length < count; day -= DAY_MS) {
    const weekday = new Date(day).getUTCDay()
    if (weekday !== 0 && weekday !== 6) found.unshift((day + HOUR * 3_600_000) / 1000)
  }
  return found
}
