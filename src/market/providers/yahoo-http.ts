// Requests to Yahoo. Charts need only a browser's user agent. Company data may also need a session: a cookie, which any page
// of the site sets, and a crumb that belongs to the cookie. The chart has bars, the latest price and the dividends in one answer.

import { z } from 'zod'
import type { Clock } from '../../lib/clock.ts'
import { type Fetch, type RequestOptions, requestBytes, requestJson, UpstreamError } from '../../lib/http-client.ts'
import { type Instrument, yahooSymbol } from '../instruments.ts'
import { faulty } from './checks.ts'
import type { QuoteQuery } from './provider.ts'

export type YahooOptions = { url: string; cookieUrl: string; clock: Clock; fetch?: Fetch }

export const SERVICE = 'yahoo'
const TIMEOUT_MS = 5_000
// Without a browser's user agent the endpoints answer 429 at once.
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36'

type Session = { cookie: string; crumb: string; endsAt: number }

const SESSION_MS = 30 * 60_000
// One session for each address in an isolate, stored as a value: a request never waits for a session that another one
// is fetching.
const sessions = new Map<string, Session>()

/** The answer to a GET. A 404 means that the symbol is unknown. */
async function ask(options: YahooOptions, path: string, query: QuoteQuery): Promise<unknown> {
  return asked(options, path, { query, session: null })
}

/** For an endpoint that may need a session: without one or with the cached one, then once more with a new one. */
export async function askWithSession(options: YahooOptions, path: string, query: QuoteQuery): Promise<unknown> {
  const session = sessionAtHand(options)
  try {
    return await asked(options, path, { query, session })
  } catch (error) {
    if (!isShutOut(error)) throw error
    drop(options, session)
  }
  const fresh = await newSession(options, query)
  sessions.set(addressesOf(options), fresh)
  try {
    return await asked(options, path, { query, session: fresh })
  } catch (error) {
    if (!isShutOut(error)) throw error
    drop(options, fresh)
    throw refused(error.status, 'with a new session too', error)
  }
}

type SessionRequest = { query: QuoteQuery; session: Session | null }

async function asked(options: YahooOptions, path: string, { query, session }: SessionRequest): Promise<unknown> {
  const url = options.url + path
  try {
    if (session === null) return await requestJson(url, requestOf(options, query))
    const crumb = `${path.includes('?') ? '&' : '?'}crumb=${encodeURIComponent(session.crumb)}`
    return await requestJson(url + crumb, requestOf(options, query, { cookie: session.cookie }))
  } catch (error) {
    if (error instanceof UpstreamError && error.status === 404) throw faulty(SERVICE, 'unknown_symbol', 'HTTP 404')
    throw error
  }
}

function requestOf(
  { fetch }: YahooOptions,
  { signal }: QuoteQuery,
  headers: Record<string, string> = {},
): RequestOptions {
  return {
    service: SERVICE,
    headers: { 'user-agent': BROWSER, accept: 'application/json', ...headers },
    timeoutMs: TIMEOUT_MS,
    retries: 1,
    ...(fetch === undefined ? {} : { fetch }),
    ...(signal === undefined ? {} : { signal }),
  }
}

const isShutOut = (error: unknown): error is UpstreamError =>
  error instanceof UpstreamError && (error.status === 401 || error.status === 403)

function refused(status: number | null, detail: string, cause?: unknown): UpstreamError {
  return new UpstreamError({ service: SERVICE, reason: 'refused', status, detail }, { cause })
}

const addressesOf = ({ url, cookieUrl }: YahooOptions): string => `${url} ${cookieUrl}`

function sessionAtHand(options: YahooOptions): Session | null {
  const session = sessions.get(addressesOf(options))
  return session !== undefined && session.endsAt > options.clock() ? session : null
}

/** Does nothing if another request has already stored a newer one. */
function drop(options: YahooOptions, session: Session | null): void {
  if (sessions.get(addressesOf(options)) === session) sessions.delete(addressesOf(options))
}

async function newSession(options: YahooOptions, query: QuoteQuery): Promise<Session> {
  const cookie = await newCookie(options, query)
  const request = requestOf(options, query, { cookie, accept: 'text/plain' })
  const { bytes, status } = await requestBytes(`${options.url}/v1/test/getcrumb`, { ...request, retries: 0 })
  const crumb = new TextDecoder().decode(bytes).trim()
  if (!CRUMB.test(crumb)) throw refused(status, 'no crumb is to be had')
  return { cookie, crumb, endsAt: options.clock() + SESSION_MS }
}

/** The form of a crumb. Any other answer (a sentence, an HTML page, nothing) is a refusal. */
const CRUMB = /^[^\s<>"{}]{1,64}$/

/** The page does not exist, but its 404 sets the cookie. */
async function newCookie(options: YahooOptions, query: QuoteQuery): Promise<string> {
  const request = requestOf(options, query, { accept: 'text/html,*/*' })
  const { headers, status } = await requestBytes(`${options.cookieUrl}/`, { ...request, retries: 0, anyStatus: true })
  const pairs = headers.getSetCookie().map((cookie) => cookie.split(';')[0]?.trim() ?? '')
  const set = pairs.filter((pair) => COOKIE.test(pair))
  if (set.length === 0) throw refused(status, 'no cookie is to be had')
  return set.join('; ')
}

const COOKIE = /^[\w.-]+=[^\s,;]+$/

// Yahoo's chart endpoint, the one that needs neither cookie nor crumb: bars, the latest price and the dividends in one answer.

const numbers = z.array(z.number().nullable()).optional()
const Paid = z.object({ amount: z.number(), date: z.number(), currency: z.string().nullish() })
const Chart = z.object({
  meta: z.object({
    symbol: z.string().optional(),
    currency: z.string().nullish(),
    regularMarketPrice: z.number().nullish(),
    regularMarketTime: z.number().nullish(),
    chartPreviousClose: z.number().nullish(),
    longName: z.string().nullish(),
    shortName: z.string().nullish(),
  }),
  timestamp: z.array(z.number()).optional(),
  events: z.object({ dividends: z.record(z.string(), Paid).optional() }).nullish(),
  indicators: z.object({
    quote: z.array(z.object({ open: numbers, high: numbers, low: numbers, close: numbers, volume: numbers })),
    adjclose: z.array(z.object({ adjclose: numbers })).optional(),
  }),
})
export type Chart = z.infer<typeof Chart>
const Answer = z.object({ chart: z.object({ result: z.array(Chart).nullish() }) })

export type ChartQuestion = {
  instrument: Instrument
  range: string
  interval?: '1d' | '5m'
  events: 'div' | 'div,split'
}

export async function chartOf(
  options: YahooOptions,
  { instrument, range, interval = '1d', events }: ChartQuestion,
  query: QuoteQuery,
): Promise<Chart> {
  const symbol = symbolOf(instrument)
  const path = `/v8/finance/chart/${encodeURIComponent(symbol)}?range=${range}&interval=${interval}&events=${events}`
  const parsed = Answer.safeParse(await ask(options, path, query))
  if (!parsed.success) throw faulty(SERVICE, 'malformed', 'not the known form of a chart')
  const chart = parsed.data.chart.result?.[0]
  if (!chart) throw faulty(SERVICE, 'unknown_symbol', symbol)
  if (!isSymbol(chart.meta.symbol ?? symbol, symbol)) throw faulty(SERVICE, 'wrong_symbol', symbol)
  return chart
}

export function symbolOf(instrument: Instrument): string {
  const symbol = yahooSymbol(instrument)
  if (symbol === null) throw faulty(SERVICE, 'unknown_symbol', instrument.key)
  return symbol
}

export const isSymbol = (answered: string, symbol: string): boolean => answered.toUpperCase() === symbol.toUpperCase()
