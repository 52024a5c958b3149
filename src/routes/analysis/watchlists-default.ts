// The default group under the paths that the analysis page calls.

import { z } from '@hono/zod-openapi'
import { createWatchlist, listWatchlists, unwatchStock, type Watchlist, watchStock } from '../../db/watchlists.ts'
import { analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { isoMicros } from '../../lib/clock.ts'
import { hexId } from '../../lib/crypto.ts'
import { confirm, full, MAX_STOCKS, stockOf, watchedAs } from './watchlists.ts'

const app = router(analysisEnvelope)
const tag = 'Watchlists'
const PATH = '/api/v1/stocks/watchlist'
/** Differs from all names that an owner can give, because those are trimmed. */
export const DEFAULT_NAME = ' default'

const Codes = z.object({ stock_codes: z.array(z.string()), message: z.string().nullable() }).openapi('WatchlistCodes')
const body = { schema: z.object({ stock_code: z.string().max(100) }), required: true } as const
const added = { schema: body.schema.extend({ confirm }), required: true } as const
const refused = { 400: { description: 'A stock that is none, or one too many' } }

endpoint(
  app,
  {
    method: 'get',
    path: PATH,
    scope: 'analysis',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'The stocks of your default watchlist',
    replies: { 200: { description: 'Their codes', schema: Codes } },
  },
  async (c) => c.json(codesOf(await defaultList(c.env.DB, c.get('principal').owner), null)),
)

endpoint(
  app,
  {
    method: 'post',
    path: `${PATH}/add`,
    scope: 'analysis',
    limit: 'writes',
    bodyLimit: 'standard',
    tag,
    summary: 'Put a stock into your default watchlist',
    body: added,
    replies: { 200: { description: 'All codes', schema: Codes }, ...refused },
  },
  async (c, { body: { stock_code, confirm: isConfirmed } }) => {
    const { owner } = c.get('principal')
    const { stock, readings } = await stockOf(c, stock_code, { confirm: isConfirmed })
    const list = (await defaultList(c.env.DB, owner)) ?? (await newDefault(c.env.DB, owner))
    if (!(await watchStock(c.env.DB, { id: list.id, stock, most: MAX_STOCKS }))) throw full(c)
    const said = [...readings.flatMap(({ reading }) => reading ?? []), `${stock.stockCode} is in the watchlist`]
    return c.json(codesOf(await defaultList(c.env.DB, owner), said.join('; ')))
  },
)

endpoint(
  app,
  {
    method: 'post',
    path: `${PATH}/remove`,
    scope: 'analysis',
    limit: 'writes',
    bodyLimit: 'standard',
    tag,
    summary: 'Take a stock out of your default watchlist',
    body,
    replies: { 200: { description: 'The codes that are left', schema: Codes }, ...refused },
  },
  async (c, { body: { stock_code } }) => {
    const { owner } = c.get('principal')
    const stock = await watchedAs(c, stock_code)
    const list = await defaultList(c.env.DB, owner)
    const wasThere = list !== null && (await unwatchStock(c.env.DB, list.id, stock.key))
    const message = `${stock.stockCode} ${wasThere ? 'is no longer' : 'was not'} in the watchlist`
    return c.json(codesOf(await defaultList(c.env.DB, owner), message))
  },
)

async function defaultList(db: D1Database, owner: string): Promise<Watchlist | null> {
  return (await listWatchlists(db, owner)).find(({ isDefault }) => isDefault) ?? null
}

/** Two simultaneous first stocks create one list: for the second the name exists, so it uses the first's list. */
async function newDefault(db: D1Database, owner: string): Promise<{ id: string }> {
  const list = {
    id: hexId(),
    name: DEFAULT_NAME,
    note: '',
    isDefault: true,
    createdAt: isoMicros(Date.now()),
    stocks: [],
  }
  await createWatchlist(db, owner, { list, most: Number.MAX_SAFE_INTEGER })
  return (await defaultList(db, owner)) ?? list
}

function codesOf(list: Watchlist | null, message: string | null) {
  return { stock_codes: (list?.stocks ?? []).map(({ stockCode }) => stockCode), message }
}

export { app as watchlistsDefault }
