// Requests to EastMoney. It blocks an address with too many requests for hours, and then answers with nothing or closes
// the connection: every request waits for its turn, and none is retried.

import { z } from 'zod'
import type { Clock } from '../../lib/clock.ts'
import { type Fetch, requestJson, UpstreamError } from '../../lib/http-client.ts'
import type { Instrument } from '../instruments.ts'
import { faulty } from './checks.ts'
import type { Pace } from './gate.ts'
import type { QuoteQuery } from './provider.ts'

export type EastMoneyOptions = {
  quoteUrl: string
  historyUrl: string
  datacenterUrl: string
  clock: Clock
  /** Lets each request wait for its turn. */
  pace: Pace
  fetch?: Fetch
}

export const SERVICE = 'eastmoney'
const TURN_MS = 1_000
const TIMEOUT_MS = 6_000
const HEADERS = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36',
  referer: 'https://quote.eastmoney.com/',
}

/** The answer to a GET, after its turn has come. */
export async function ask<T>(
  options: EastMoneyOptions,
  url: string,
  told: { schema: z.ZodType<T>; query: QuoteQuery },
) {
  const { signal } = told.query
  await options.pace(SERVICE, TURN_MS, signal)
  const answer = await requestJson(url, {
    service: SERVICE,
    headers: HEADERS,
    timeoutMs: TIMEOUT_MS,
    retries: 0,
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    ...(signal === undefined ? {} : { signal }),
  })
  const parsed = told.schema.safeParse(answer)
  if (!parsed.success) throw faulty(SERVICE, 'malformed', 'not the known form of an answer')
  return parsed.data
}

/** A number, or null for a dash or a blank. */
export const Figure = z.union([z.number(), z.string(), z.null()]).optional().transform(toFigure)

export function toFigure(value: number | string | null | undefined): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (value === null || value === undefined || value.trim() === '' || value === '-') return null
  const number = Number(value)
  return Number.isFinite(number) ? number : null
}

const INDICES: Record<string, string> = {
  HSI: '100.HSI',
  HSCEI: '100.HSCEI',
  SPX: '100.SPX',
  DJI: '100.DJIA',
  N225: '100.N225',
  KS11: '100.KS11',
  TWII: '100.TWII',
}

const US_VENUES = ['105', '106', '107']

/** The symbols to try, because the exchange of a US listing is unknown; empty when EastMoney has none. */
export function secids({ key, market, exchange, kind, code }: Instrument): string[] {
  if (market === 'cn') return [`${exchange === 'SH' ? 1 : 0}.${code}`]
  if (kind === 'index') return INDICES[key] === undefined ? [] : [INDICES[key]]
  if (market === 'hk') return [`116.${code}`]
  return market === 'us' ? US_VENUES.map((venue) => `${venue}.${code.replace('.', '_')}`) : []
}

/** The answer for the first known symbol. */
export async function firstKnown<T>(
  instrument: Instrument,
  known: Map<string, string>,
  get: (secid: string) => Promise<T>,
): Promise<T> {
  const remembered = known.get(instrument.key)
  const candidates = remembered === undefined ? secids(instrument) : [remembered]
  let failure: unknown = faulty(SERVICE, 'unknown_symbol', instrument.key)
  for (const secid of candidates) {
    try {
      const answer = await get(secid)
      known.set(instrument.key, secid)
      return answer
    } catch (error) {
      if (!(error instanceof UpstreamError) || error.reason !== 'unknown_symbol') throw error
      failure = error
    }
  }
  throw failure
}

/** The code in EastMoney's answer. */
export function echoes(secid: string, answered: string): boolean {
  return secid.slice(secid.indexOf('.') + 1).toUpperCase() === answered.toUpperCase()
}
