import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { stockNameStore } from '../../db/stock-names.ts'
import {
  changeWatchlist,
  createWatchlist,
  deleteWatchlist,
  findWatchlist,
  listWatchlists,
  noteStock,
  orderWatchlists,
  unwatchStock,
  type WatchedStock,
  type Watchlist,
  watchStock,
} from '../../db/watchlists.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { callerLanguage } from '../../http/caller-language.ts'
import { AppError, analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { currentNames } from '../../kits/market-names/index.ts'
import { isoMicros } from '../../lib/clock.ts'
import { hexId } from '../../lib/crypto.ts'
import { laxBool } from '../../lib/lax.ts'
import { readEntry, takeFirst } from '../../market/readings.ts'
import type { Rejected, Resolved } from '../../market/resolve.ts'
import { readingOf, StockReading } from './readings.ts'
import { refusalError as refusal, unclearNames } from './refusals.ts'

const app = router(analysisEnvelope)
const tag = 'Watchlists'
const PATH = '/api/v1/analysis/watchlists'
const ONE = `${PATH}/{watchlist_id}`
const params = z.object({ watchlist_id: z.string() })
const missing = { 404: { description: 'No such watchlist' } }
const refused = { 400: { description: 'A stock that is none or not clear, or too many of them' } }
const taken = { 409: { description: 'Another list of yours has this name' } }

export const MAX_LISTS = 50
export const MAX_STOCKS = 500

export const listName = z.string().trim().min(1).max(100)
const name = listName
/** One line, because it is a cell of an export. */
export const note = z
  .string()
  .max(500)
  .transform((text) => text.replace(/\s+/g, ' ').trim())
const stockCodes = z.array(z.string().max(100)).max(MAX_STOCKS)
export const confirm = laxBool().default(false)

const WatchlistSchema = z
  .object({
    watchlist_id: z.string(),
    name: z.string(),
    note: z.string(),
    is_default: z.boolean(),
    created_at: z.string(),
    stocks: z.array(z.object({ stock_code: z.string(), stock_name: z.string().nullable(), note: z.string() })),
  })
  .openapi('Watchlist')

const ChangedWatchlist = WatchlistSchema.extend({
  readings: z.array(StockReading).describe('How the entries were read that were not the code itself'),
}).openapi('ChangedWatchlist')

endpoint(
  app,
  {
    method: 'get',
    path: PATH,
    scope: 'analysis',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'Your watchlists, the default first',
    replies: { 200: { description: 'The lists', schema: z.object({ watchlists: z.array(WatchlistSchema) }) } },
  },
  async (c) => c.json({ watchlists: (await listWatchlists(c.env.DB, ownerOf(c))).map(wire) }),
)

endpoint(
  app,
  {
    method: 'post',
    path: PATH,
    scope: 'analysis',
    limit: 'writes',
    bodyLimit: 'standard',
    tag,
    summary: 'Add a watchlist',
    body: {
      schema: z.object({ name, note: note.default(''), stock_codes: stockCodes.default([]), confirm }),
      required: true,
    },
    replies: { 201: { description: 'The list', schema: ChangedWatchlist }, ...refused, ...taken },
  },
  async (c, { body }) => {
    const { stocks, readings } = await stocksOf(c, body.stock_codes, body)
    const createdAt = isoMicros(Date.now())
    const list = { id: hexId(), name: body.name, note: body.note, isDefault: false, createdAt, stocks }
    const creation = await createWatchlist(c.env.DB, ownerOf(c), { list, most: MAX_LISTS })
    if (creation === 'name_taken') throw nameTaken()
    if (creation === 'too_many') throw refusal(c, (texts) => texts.watchlists(MAX_LISTS))
    return c.json({ ...wire(list), readings }, 201)
  },
)

endpoint(
  app,
  {
    method: 'put',
    path: PATH,
    scope: 'analysis',
    limit: 'writes',
    bodyLimit: 'standard',
    tag,
    summary: 'Put your watchlists in another order; the default stays first, and those that are not named stay last',
    body: { schema: z.object({ watchlist_ids: z.array(z.string().max(64)).max(MAX_LISTS + 1) }), required: true },
    replies: {
      200: { description: 'The lists', schema: z.object({ watchlists: z.array(WatchlistSchema) }) },
      ...missing,
    },
  },
  async (c, { body: { watchlist_ids: ids } }) => {
    const known = new Set((await listWatchlists(c.env.DB, ownerOf(c))).map(({ id }) => id))
    if (ids.some((id) => !known.has(id))) throw notFound()
    await orderWatchlists(c.env.DB, ownerOf(c), [...new Set(ids)])
    return c.json({ watchlists: (await listWatchlists(c.env.DB, ownerOf(c))).map(wire) })
  },
)

endpoint(
  app,
  {
    method: 'get',
    path: ONE,
    scope: 'analysis',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'One watchlist',
    params,
    replies: { 200: { description: 'The list', schema: WatchlistSchema }, ...missing },
  },
  async (c, { params: { watchlist_id } }) => c.json(wire(await mustFind(c, watchlist_id))),
)

endpoint(
  app,
  {
    method: 'put',
    path: ONE,
    scope: 'analysis',
    limit: 'writes',
    bodyLimit: 'standard',
    tag,
    summary:
      'Give a watchlist another name or note, or other stocks in the order given; stocks that stay keep their notes',
    params,
    body: {
      schema: z.object({
        name: name.optional(),
        note: note.optional(),
        stock_codes: stockCodes.optional(),
        confirm,
      }),
      required: true,
    },
    replies: { 200: { description: 'The list', schema: ChangedWatchlist }, ...missing, ...refused, ...taken },
  },
  async (c, { params: { watchlist_id: id }, body }) => {
    await mustFind(c, id)
    const given = body.stock_codes === undefined ? null : await stocksOf(c, body.stock_codes, body)
    const changes = { id, name: body.name ?? null, note: body.note ?? null, stocks: given?.stocks ?? null }
    if (!(await changeWatchlist(c.env.DB, ownerOf(c), changes))) throw nameTaken()
    return c.json({ ...wire(await mustFind(c, id)), readings: given?.readings ?? [] })
  },
)

endpoint(
  app,
  {
    method: 'delete',
    path: ONE,
    scope: 'analysis',
    limit: 'writes',
    bodyLimit: 'standard',
    tag,
    summary: 'Delete a watchlist',
    params,
    replies: { 200: { description: 'Deleted', schema: z.object({ deleted: z.literal(true) }) }, ...missing },
  },
  async (c, { params: { watchlist_id } }) => {
    if (!(await deleteWatchlist(c.env.DB, ownerOf(c), watchlist_id))) throw notFound()
    return c.json({ deleted: true as const })
  },
)

endpoint(
  app,
  {
    method: 'post',
    path: `${ONE}/stocks`,
    scope: 'analysis',
    limit: 'writes',
    bodyLimit: 'standard',
    tag,
    summary: 'Put a stock into a watchlist; one that is there already stays where it is',
    params,
    body: { schema: z.object({ stock_code: z.string().max(100), confirm }), required: true },
    replies: { 200: { description: 'The list', schema: ChangedWatchlist }, ...missing, ...refused },
  },
  async (c, { params: { watchlist_id: id }, body }) => {
    await mustFind(c, id)
    const { stock, readings } = await stockOf(c, body.stock_code, body)
    if (!(await watchStock(c.env.DB, { id, stock, most: MAX_STOCKS }))) throw full(c)
    return c.json({ ...wire(await mustFind(c, id)), readings })
  },
)

endpoint(
  app,
  {
    method: 'put',
    path: `${ONE}/stocks/{stock_code}`,
    scope: 'analysis',
    limit: 'writes',
    bodyLimit: 'standard',
    tag,
    summary: 'Write a note beside a stock of a watchlist; an empty one takes it away',
    params: params.extend({ stock_code: z.string() }),
    body: { schema: z.object({ note }), required: true },
    replies: { 200: { description: 'The list', schema: WatchlistSchema }, ...missing, ...refused },
  },
  async (c, { params: { watchlist_id: id, stock_code }, body }) => {
    await mustFind(c, id)
    const { key } = await watchedAs(c, stock_code)
    if (!(await noteStock(c.env.DB, { id, key, note: body.note }))) throw notInList()
    return c.json(wire(await mustFind(c, id)))
  },
)

endpoint(
  app,
  {
    method: 'delete',
    path: `${ONE}/stocks/{stock_code}`,
    scope: 'analysis',
    limit: 'writes',
    bodyLimit: 'standard',
    tag,
    summary: 'Take a stock out of a watchlist',
    params: params.extend({ stock_code: z.string() }),
    replies: { 200: { description: 'The list', schema: WatchlistSchema }, ...missing, ...refused },
  },
  async (c, { params: { watchlist_id: id, stock_code } }) => {
    await mustFind(c, id)
    const { key } = await watchedAs(c, stock_code)
    if (!(await unwatchStock(c.env.DB, id, key))) throw notInList()
    return c.json(wire(await mustFind(c, id)))
  },
)

export const ownerOf = (c: Context<AppEnv>): string => c.get('principal').owner
const notInList = () => new AppError('not_found', 'The stock is not in this watchlist')
const notFound = () => new AppError('not_found', 'No such watchlist')
const nameTaken = () => new AppError('conflict', 'Another watchlist of yours has this name')
export const full = (c: Context<AppEnv>) => refusal(c, (texts) => texts.fullWatchlist(MAX_STOCKS))

export async function mustFind(c: Context<AppEnv>, id: string): Promise<Watchlist> {
  const list = await findWatchlist(c.env.DB, ownerOf(c), id)
  if (list === null) throw notFound()
  return list
}

type Confirm = { confirm?: boolean }
type Readings = z.infer<typeof StockReading>[]

/**
 * The listings of the entries, each once; 400 with the candidates if one is unclear and its first candidate was not
 * confirmed.
 */
export async function stocksOf(
  c: Context<AppEnv>,
  codes: readonly string[],
  { confirm: isConfirmed = false }: Confirm = {},
): Promise<{ stocks: WatchedStock[]; readings: Readings }> {
  const names = await currentNames(stockNameStore(c.env.DB))
  const language = callerLanguage(c)
  const read = codes.flatMap((code) => readEntry(code, names) ?? [])
  const taken = isConfirmed ? read.map(takeFirst) : read
  const rejected = taken.flatMap((one): Rejected[] => (one.rejected === null ? [] : [one.rejected]))
  if (rejected.length > 0) throw unclearNames(rejected, language)
  const stocks = new Map<string, WatchedStock>()
  for (const { resolved } of taken) {
    if (resolved !== null && !stocks.has(resolved.instrument.key))
      stocks.set(resolved.instrument.key, watchedStock(resolved))
  }
  const readings = taken.filter(({ kind }) => kind === 'reading').map((one) => readingOf(one, language))
  return { stocks: [...stocks.values()], readings }
}

/** The same for one entry, which must not be blank. */
export async function stockOf(
  c: Context<AppEnv>,
  code: string,
  confirmation: Confirm = {},
): Promise<{ stock: WatchedStock; readings: Readings }> {
  const {
    stocks: [stock],
    readings,
  } = await stocksOf(c, [code], confirmation)
  if (stock === undefined) throw refusal(c, (texts) => texts.blankStock)
  return { stock, readings }
}

/** The stock to remove. A list may contain the code of a bond, which is no longer a stock's: it is found by its text. */
export async function watchedAs(c: Context<AppEnv>, code: string): Promise<Pick<WatchedStock, 'key' | 'stockCode'>> {
  const reading = readEntry(code, await currentNames(stockNameStore(c.env.DB)))
  if (reading?.rejected?.reason !== 'no_share') return (await stockOf(c, code)).stock
  const text = code.trim().toUpperCase()
  return { key: text, stockCode: text }
}

export const watchedStock = (
  { instrument, stockCode, listing }: Resolved,
  beside: string | null = null,
): WatchedStock => ({
  key: instrument.key,
  stockCode,
  stockName: listing === null ? null : listing.zh || listing.en,
  note: beside,
})

function wire({ id, name: title, note: beside, isDefault, createdAt, stocks }: Watchlist) {
  return {
    watchlist_id: id,
    name: title.trim(),
    note: beside,
    is_default: isDefault,
    created_at: createdAt,
    stocks: stocks.map(({ stockCode, stockName, note: said }) => {
      return { stock_code: stockCode, stock_name: stockName, note: said ?? '' }
    }),
  }
}

export { app as watchlists }
