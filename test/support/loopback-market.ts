// A market data source on loopback: Yahoo's charts for any requested symbol, so that stocks and indices of all markets
// have bars until yesterday and a quote, and the results of their companies, which require a cookie and its crumb.

import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dividendChart, timeseries, wholeSeries } from '../fixtures/market/yahoo-fundamentals.ts'
import { longSeries } from './long-series.ts'

const DAYS = 400
/** The number of bars of a stock that was listed last week. */
const NEW_DAYS = 6
const DAY_MS = 86_400_000
/** A time at which all markets have the same date. */
const HOUR = 6

const COOKIE = 'A3=d=AQABBLoopback&S=AQAAAk'
const CRUMB = 'lo0p/B.4ck'

type Reply = { status: number; type?: string; cookies?: string[]; body: string }

export type LoopbackMarket = { url: string; asked: string[]; close: () => Promise<void> }

export async function startLoopbackMarket(): Promise<LoopbackMarket> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://loopback')
    asked.push(url.pathname)
    const { status, type = 'application/json', cookies, body } = replyTo(request, url)
    response.writeHead(status, { 'content-type': type, ...(cookies === undefined ? {} : { 'set-cookie': cookies }) })
    response.end(body)
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: async () => {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

function replyTo({ headers }: IncomingMessage, { pathname, searchParams }: URL): Reply {
  const [, charted] = /^\/v8\/finance\/chart\/(.+)/.exec(pathname) ?? []
  if (charted !== undefined) return ok(chartOf(decodeURIComponent(charted)))
  if (pathname === '/') {
    const cookies = [`${COOKIE}; Max-Age=31557600; Domain=.yahoo.com; Path=/; SameSite=None; Secure; HttpOnly`]
    return { status: 404, type: 'text/html', cookies, body: '<html>Sorry, the page was not found</html>' }
  }
  const isKnown = headers.cookie?.split('; ').includes(COOKIE) === true
  if (pathname === '/v1/test/getcrumb') {
    return { status: isKnown ? 200 : 401, type: 'text/plain', body: isKnown ? CRUMB : '' }
  }
  const [, symbol] = /^\/ws\/fundamentals-timeseries\/v1\/finance\/timeseries\/(.+)/.exec(pathname) ?? []
  if (symbol === undefined) return { status: 404, body: '{}' }
  if (!isKnown || searchParams.get('crumb') !== CRUMB) {
    const error = { code: 'Unauthorized', description: 'Invalid Crumb' }
    return { status: 401, body: JSON.stringify({ finance: { result: null, error } }) }
  }
  const name = decodeURIComponent(symbol)
  return ok(timeseries(...wholeSeries(name, RESULTS_IN[name.split('.')[1] ?? ''] ?? 'USD')))
}

const ok = (value: unknown): Reply => ({ status: 200, body: JSON.stringify(value) })

/** The reporting currency of companies, by the suffix of their symbol: renminbi for Hong Kong. */
const RESULTS_IN: Record<string, string> = { HK: 'CNY', T: 'JPY', KS: 'KRW', TW: 'TWD' }
const PRICES_IN: Record<string, string> = { ...RESULTS_IN, HK: 'HKD', SS: 'CNY', SZ: 'CNY' }

function chartOf(symbol: string) {
  const bars = longSeries(DAYS).slice(symbol.startsWith('NEW') ? -NEW_DAYS : 0)
  const days = weekdaysUntilYesterday(bars.length)
  const last = bars.at(-1)
  const currency = PRICES_IN[symbol.split('.')[1] ?? ''] ?? 'USD'
  const meta = { symbol, currency, regularMarketPrice: last?.close, regularMarketTime: days.at(-1) }
  const column = (name: 'open' | 'high' | 'low' | 'close' | 'volume') => bars.map((bar) => bar[name])
  const quote = {
    open: column('open'),
    high: column('high'),
    low: column('low'),
    close: column('close'),
    volume: column('volume'),
  }
  const paid: [string, number][] = [20, 110, 200, 290].map((ago) => {
    return [new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10), 0.05]
  })
  const events = dividendChart(symbol, currency, paid).chart.result[0]?.events
  return { chart: { result: [{ meta, timestamp: days, events, indicators: { quote: [quote] } }], error: null } }
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
