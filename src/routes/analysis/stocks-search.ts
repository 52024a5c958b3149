import { z } from '@hono/zod-openapi'
import { config } from '../../config.ts'
import { stockNameStore } from '../../db/stock-names.ts'
import { analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { laxInt } from '../../http/validation.ts'
import { canonicalCode, instrumentOf, placeOf } from '../../market/names/labels.ts'
import { MATCHES, type Suggestion, suggest } from '../../market/names/search.ts'
import { currentNames } from '../../market/names/store.ts'

const app = router(analysisEnvelope)

const StockSuggestion = z
  .object({
    stock_code: z.string().describe('What `analyze` takes'),
    canonical_code: z.string().describe('The code with its exchange'),
    stock_name: z.string().describe('In the language asked for, where the stock has a name in it'),
    name_zh: z.string(),
    name_en: z.string().nullable(),
    aliases: z.array(z.string()),
    market: z.enum(['cn', 'hk', 'us', 'jp', 'kr', 'tw']),
    exchange: z.string(),
    market_label: z.string(),
    asset_type: z.enum(['stock', 'etf', 'index']),
    match: z.enum(MATCHES).describe('How it was found'),
  })
  .openapi('StockSuggestion')

const StockSearchResponse = z
  .object({ query: z.string(), total: z.int(), items: z.array(StockSuggestion) })
  .openapi('StockSearchResponse')

endpoint(
  app,
  {
    method: 'get',
    path: '/api/v1/stocks/search',
    tag: 'Stocks',
    summary: 'Stocks whose code, name, pinyin or alias begins with what was typed, or whose name contains it',
    query: z.object({
      q: z.string().max(100).default('').describe('Empty finds nothing'),
      limit: laxInt({ min: 1, max: 50 }).default(10),
      language: z.enum(['zh', 'en', 'ko']).optional().describe('Of names and labels; the configured one by default'),
    }),
    replies: { 200: { description: 'At most `limit` stocks, the best match first', schema: StockSearchResponse } },
  },
  async (c, { query: { q, limit, language = config(c.env).reportLanguage } }) => {
    const names = await currentNames(stockNameStore(c.env.DB))
    const items = suggest(names, q, limit).map((suggestion) => wireOf(suggestion, language))
    return c.json({ query: q, total: items.length, items })
  },
)

function wireOf({ listing, match }: Suggestion, language: 'zh' | 'en' | 'ko'): z.infer<typeof StockSuggestion> {
  const { key, zh, en, aliases, kind } = listing
  const instrument = instrumentOf(listing)
  return {
    stock_code: key,
    canonical_code: canonicalCode(instrument),
    stock_name: (language === 'zh' ? zh : en) || zh,
    name_zh: zh,
    name_en: en || null,
    aliases: [...aliases],
    market: instrument.market,
    exchange: instrument.exchange,
    market_label: placeOf(instrument, language),
    asset_type: kind,
    match,
  }
}

export { app as stockSearch }
