// Finnhub's quotes of US listings. Bars need a paid plan, so they are not requested.

import { z } from 'zod'
import type { Clock } from '../../lib/clock.ts'
import { type Fetch, requestJson } from '../../lib/http-client.ts'
import { changeOf, checkedQuote, faulty, PRICES_ALONE } from './checks.ts'
import type { MarketDataProvider } from './provider.ts'

export type FinnhubOptions = { url: string; key: string; clock: Clock; fetch?: Fetch }

const SERVICE = 'finnhub'
const DAY_MS = 86_400_000

const Answer = z.object({
  c: z.number(),
  h: z.number().nullish(),
  l: z.number().nullish(),
  o: z.number().nullish(),
  pc: z.number(),
  t: z.number(),
})

export function finnhubProvider(
  options: FinnhubOptions,
): MarketDataProvider & Required<Pick<MarketDataProvider, 'quote'>> {
  return {
    name: SERVICE,
    provenance: () => null,
    supports: ({ market, kind }, need) => need === 'realtime_quote' && market === 'us' && kind !== 'index',
    async quote(instrument, { signal }) {
      const answer = await requestJson(`${options.url}/api/v1/quote?symbol=${encodeURIComponent(instrument.code)}`, {
        service: SERVICE,
        // In a header, so that no logged address contains the key.
        headers: { 'x-finnhub-token': options.key },
        timeoutMs: 5_000,
        retries: 1,
        ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
        ...(signal === undefined ? {} : { signal }),
      })
      const parsed = Answer.safeParse(answer)
      if (!parsed.success) throw faulty(SERVICE, 'malformed', 'not the known form of a quote')
      const { c: price, pc: prevClose, o, h, l, t } = parsed.data
      // An unknown symbol is all zeros.
      if (price === 0 && prevClose === 0) throw faulty(SERVICE, 'unknown_symbol', instrument.code)
      const quotedAt = t * 1000
      if (t <= 0 || quotedAt > options.clock() + DAY_MS) throw faulty(SERVICE, 'bad_dates', 'the quote has no time')
      const positive = (value: number | null | undefined) => (value != null && value > 0 ? value : null)
      return checkedQuote(SERVICE, {
        ...PRICES_ALONE,
        ...{ volume: null, amount: null, name: null },
        price,
        prevClose,
        ...changeOf(price, prevClose),
        open: positive(o),
        high: positive(h),
        low: positive(l),
        quotedAt,
        currency: 'USD',
      })
    },
  }
}
