// How entries of a list were read, in the form of the interface: `stocks/readings` before they are sent, and next to
// the result of an import or a watchlist.

import { z } from '@hono/zod-openapi'
import { ReportLanguage } from '../../analysis/schemas.ts'
import { stockNameStore } from '../../db/stock-names.ts'
import { callerLanguage } from '../../http/caller-language.ts'
import { analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { currentNames, type Listing } from '../../kits/market-names/index.ts'
import { canonicalCode, instrumentOf, type Language, nameIn, placeOf, readingText } from '../../market/names/labels.ts'
import { rejectionText } from '../../market/names/rejection-texts.ts'
import { READING_KINDS, type Reading, readEntry } from '../../market/readings.ts'

const MOST_ENTRIES = 500

const MARKETS = ['cn', 'hk', 'us', 'jp', 'kr', 'tw'] as const

export const StockCandidate = z
  .object({
    stock_code: z.string(),
    canonical_code: z.string(),
    stock_name: z.string(),
    market: z.enum(MARKETS),
    market_label: z.string(),
  })
  .openapi('StockCandidate')

export const StockReading = z
  .object({
    input: z.string(),
    kind: z.enum(READING_KINDS),
    stock_code: z.string().nullable().describe('What `analyze` takes; null while the entry is not clear'),
    canonical_code: z.string().nullable(),
    stock_name: z.string().nullable().describe('Null where the list has only the code, or not even that'),
    market: z.enum(MARKETS).nullable(),
    market_label: z.string().nullable(),
    reading: z.string().nullable(),
    reason: z.string().nullable(),
    message: z.string().nullable().describe('Why the entry is not clear'),
    candidates: z.array(StockCandidate),
  })
  .openapi('StockReading')

/** One candidate, in the form of all answers. */
export function candidateOf(listing: Listing, language: Language): z.infer<typeof StockCandidate> {
  const instrument = instrumentOf(listing)
  return {
    stock_code: listing.key,
    canonical_code: canonicalCode(instrument),
    stock_name: nameIn(listing, language),
    market: instrument.market,
    market_label: placeOf(instrument, language),
  }
}

/** One reading, in the form of all answers. */
export function readingOf(
  { input, kind, resolved, rejected, candidates }: Reading,
  language: Language,
): z.infer<typeof StockReading> {
  const instrument = resolved?.instrument ?? null
  const listing = resolved?.listing ?? null
  const isRead = kind === 'reading' && instrument !== null
  return {
    input,
    kind,
    stock_code: resolved === null ? null : resolved.instrument.key,
    canonical_code: instrument && canonicalCode(instrument),
    stock_name: listing && nameIn(listing, language),
    market: instrument?.market ?? null,
    market_label: instrument && placeOf(instrument, language),
    reading: isRead ? readingText(input.trim(), listing, { key: instrument.key, language }) : null,
    reason: rejected?.reason ?? null,
    message: rejected && rejectionText(rejected, language),
    candidates: candidates.map((one) => candidateOf(one, language)),
  }
}

const app = router(analysisEnvelope)

endpoint(
  app,
  {
    method: 'post',
    path: '/api/v1/stocks/readings',
    scope: 'analysis',
    limit: 'reads',
    bodyLimit: 'standard',
    tag: 'Stocks',
    summary: 'How entries would be read, in any form in which people paste them; nothing is submitted',
    body: {
      schema: z.object({
        entries: z.array(z.string().max(200)).max(MOST_ENTRIES),
        language: ReportLanguage.optional().describe(
          'Of names and sentences; by default the one of `Accept-Language`, else the configured one',
        ),
      }),
      required: true,
    },
    replies: {
      200: {
        description: 'One reading for each entry that is not blank',
        schema: z.object({ items: z.array(StockReading) }),
      },
    },
  },
  async (c, { body: { entries, language = callerLanguage(c) } }) => {
    const names = await currentNames(stockNameStore(c.env.DB))
    const items = entries.flatMap((entry) => readEntry(entry, names) ?? []).map((one) => readingOf(one, language))
    return c.json({ items })
  },
)

export { app as readings }
