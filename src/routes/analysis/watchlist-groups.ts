// Operations on whole groups: export to a file, import of rows, analysis, and what changed in them.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { taskQueue } from '../../bindings.ts'
import { config } from '../../config.ts'
import { stockNameStore } from '../../db/stock-names.ts'
import {
  type ImportTarget,
  importStocks,
  listWatchlists,
  type WatchedStock,
  type Watchlist,
} from '../../db/watchlists.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { callerLanguage } from '../../http/caller-language.ts'
import { AppError, analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { PAGE_QUERY, pageIdOf, pageKeyOf, pageOf } from '../../http/paging.ts'
import { router } from '../../http/router.ts'
import { valueError } from '../../http/validation.ts'
import { currentNames } from '../../kits/market-names/index.ts'
import { isoMicros } from '../../lib/clock.ts'
import { hexId } from '../../lib/crypto.ts'
import { laxBool, laxInt } from '../../lib/lax.ts'
import { exportedCell, MOST_ROWS } from '../../market/import-list.ts'
import { parseCode } from '../../market/instruments.ts'
import { canonicalCode } from '../../market/names/labels.ts'
import { readEntry, takeFirst } from '../../market/readings.ts'
import { dueWork, SchedulePlan } from '../../schedule/plan.ts'
import { LEVEL_NAMES, type StockChange, watchDigest } from '../../schedule/watch-digest.ts'
import { type BadRow, badRows, refusalError as refusal, tooManyAnalyses } from './refusals.ts'
import { confirm, listName, MAX_LISTS, MAX_STOCKS, mustFind, note, ownerOf, watchedStock } from './watchlists.ts'
import { DEFAULT_NAME } from './watchlists-default.ts'

const app = router(analysisEnvelope)
const common = { scope: 'analysis', bodyLimit: 'standard', tag: 'Watchlists' } as const
const PATH = '/api/v1/analysis/watchlists'
const missing = { 404: { description: 'No such watchlist' } }
const chosen = { watchlist_id: z.string().max(64).optional().describe('One watchlist; all of them without it') }

/** The requested groups: one, which must exist, or all. */
async function listsOf(c: Context<AppEnv>, id: string | undefined): Promise<Watchlist[]> {
  return id === undefined || id === '' ? listWatchlists(c.env.DB, ownerOf(c)) : [await mustFind(c, id)]
}

endpoint(
  app,
  {
    ...common,
    method: 'get',
    path: `${PATH}/export`,
    limit: 'reads',
    summary: 'Your watchlists as a CSV file that an import takes back: watchlist (`group`), code, name, note',
    query: z.object(chosen),
    replies: { 200: { description: 'The file, in UTF-8', contentType: 'text/csv', schema: z.string() }, ...missing },
  },
  async (c, { query }) => {
    const rows = (await listsOf(c, query.watchlist_id)).flatMap(({ name, stocks }) =>
      stocks.map(({ key, stockCode, stockName, note: said }) => {
        const parsed = parseCode(key)
        const code = parsed.ok ? canonicalCode(parsed.instrument) : stockCode
        return [name.trim(), code, stockName ?? '', said ?? ''].map(exportedCell).join(',')
      }),
    )
    // The byte order mark tells spreadsheets that it is UTF-8.
    return c.body(`\uFEFF${['group,code,name,note', ...rows].join('\r\n')}\r\n`, 200, {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="watchlists.csv"',
    })
  },
)

const ImportRow = z.object({
  stock_code: z.string().max(200),
  group: listName
    .nullish()
    .describe('The name of the watchlist, made when there is none; the default watchlist without it'),
  note: note.nullish(),
  row: laxInt({ min: 1 }).nullish().describe('What a refusal calls the row; its place in this list without it'),
})
type ImportRow = z.infer<typeof ImportRow>

const Imported = z
  .object({
    added: z.int().describe('Stocks that were in their watchlist before are not counted'),
    groups: z.array(z.object({ watchlist_id: z.string(), name: z.string(), is_new: z.boolean() })),
  })
  .openapi('WatchlistImport')

endpoint(
  app,
  {
    ...common,
    method: 'post',
    path: `${PATH}/import`,
    limit: 'writes',
    summary: 'Put rows into their watchlists, all or none; `stocks/parse-import` makes rows of a file',
    body: { schema: z.object({ rows: z.array(ImportRow).min(1).max(MOST_ROWS), confirm }), required: true },
    replies: {
      200: { description: 'What was added', schema: Imported },
      400: { description: 'Rows that are no stock or not clear, each with its row and column, or too many' },
      409: { description: 'Other requests change the groups at the same time' },
    },
  },
  async (c, { body }) => {
    const owner = ownerOf(c)
    const placed = await stocksOfRows(c, body.rows, body.confirm)
    const room = { lists: MAX_LISTS, stocks: MAX_STOCKS }
    // Another write may have used the space between the check and the import: then the check is repeated, and reports
    // which group is full.
    for (let tried = 0; tried < MOST_TRIES; tried++) {
      const targets = targetsOf(c, await listWatchlists(c.env.DB, owner), placed)
      const done = await importStocks(c.env.DB, owner, { targets, room })
      if (done === null) continue
      const groups = done.groups.map(({ id, isNew }, i) => {
        return { watchlist_id: id, name: targets[i]?.list.name.trim() ?? '', is_new: isNew }
      })
      return c.json({ added: done.added, groups })
    }
    throw new AppError('conflict', 'The groups are being changed by other requests: import again')
  },
)

const MOST_TRIES = 4

type Placed = { group: string | null; row: number; stock: WatchedStock }

/** The stock of each row; if rows are unclear, all of them are reported and nothing is imported. */
async function stocksOfRows(c: Context<AppEnv>, rows: readonly ImportRow[], isConfirmed: boolean): Promise<Placed[]> {
  const names = await currentNames(stockNameStore(c.env.DB))
  const language = callerLanguage(c)
  const bad: BadRow[] = []
  const placed: Placed[] = []
  for (const [i, { stock_code: code, group, note: said, row }] of rows.entries()) {
    const read = readEntry(code, names)
    const reading = read !== null && isConfirmed ? takeFirst(read) : read
    const place = { row: row ?? i + 1, column: 'stock_code' }
    const stock = reading?.resolved ? watchedStock(reading.resolved, said ?? null) : null
    if (stock !== null) placed.push({ group: group ?? null, row: place.row, stock })
    else if (reading?.rejected) bad.push({ ...place, rejected: reading.rejected })
    else bad.push({ ...place, message: refusal(c, ({ blankRow }) => blankRow).message })
  }
  if (bad.length > 0) throw badRows(bad, language)
  return placed
}

/** The groups of the rows, with room for all of them; otherwise the row without room is reported. */
function targetsOf(c: Context<AppEnv>, lists: readonly Watchlist[], placed: readonly Placed[]): ImportTarget[] {
  const listOf = (group: string | null) =>
    lists.find((one) => (group === null ? one.isDefault : one.name.trim() === group)) ?? null
  const grouped = [...Map.groupBy(placed, ({ group }) => listOf(group)?.id ?? `new ${group ?? ''}`).values()]
  let count = lists.length
  return grouped.map((rows): ImportTarget => {
    const group = rows[0]?.group ?? null
    const known = listOf(group)
    const createdAt = isoMicros(Date.now())
    const made = {
      id: hexId(),
      name: group ?? DEFAULT_NAME,
      note: '',
      isDefault: group === null,
      createdAt,
      stocks: [],
    }
    if (known === null) count += 1
    if (count > MAX_LISTS) throw noRoom(c, rows[0], (texts) => texts.watchlists(MAX_LISTS))
    const { stocks: present, ...list } = known ?? made
    const first = firstBeyond(rows, present)
    if (first !== undefined) throw noRoom(c, first, (texts) => texts.fullGroup(list.name.trim(), MAX_STOCKS))
    return { list, isNew: known === null, stocks: eachOnce(rows.map(({ stock }) => stock)) }
  })
}

/** The first row with a stock for which its group has no room. */
function firstBeyond(rows: readonly Placed[], present: readonly WatchedStock[]): Placed | undefined {
  const keys = new Set(present.map(({ key }) => key))
  return rows.find(({ stock: { key } }) => !keys.has(key) && keys.add(key).size > MAX_STOCKS)
}

const noRoom = (c: Context<AppEnv>, at: Placed | undefined, say: Parameters<typeof refusal>[1]) =>
  badRows([{ row: at?.row ?? 1, column: 'group', message: refusal(c, say).message }], callerLanguage(c))

/** A stock in several rows keeps its first position and its last note. */
function eachOnce(stocks: readonly WatchedStock[]): WatchedStock[] {
  const found = new Map<string, WatchedStock>()
  for (const stock of stocks) {
    const note = stock.note ?? found.get(stock.key)?.note ?? null
    found.set(stock.key, { ...stock, note })
  }
  return [...found.values()]
}

const RunBody = z.object({
  report_type: z.enum(['simple', 'detailed', 'full', 'brief']).default('detailed'),
  report_language: z.enum(['zh', 'en', 'ko']).nullish(),
  notify: laxBool().default(true),
})
const MINUTE_MS = 60_000

const GroupRun = z
  .object({
    accepted: z.array(z.object({ task_id: z.string(), stock_code: z.string() })),
    duplicates: z
      .array(z.object({ task_id: z.string(), stock_code: z.string() }))
      .describe('Those that were being analysed already'),
  })
  .openapi('WatchlistRun')

endpoint(
  app,
  {
    ...common,
    method: 'post',
    path: `${PATH}/{watchlist_id}/run`,
    limit: 'writes',
    summary: 'Analyse every stock of a watchlist as one batch; twice within a minute is once',
    params: z.object({ watchlist_id: z.string() }),
    body: { schema: RunBody, required: false },
    replies: {
      202: { description: 'The tasks', schema: GroupRun },
      400: { description: 'The group is empty' },
      409: { description: 'The group is being queued already' },
      ...missing,
    },
  },
  async (c, { params: { watchlist_id: id }, body }) => {
    const owner = ownerOf(c)
    const { stocks } = await mustFind(c, id)
    if (stocks.length === 0) throw refusal(c, ({ emptyList }) => emptyList)
    const now = Date.now()
    const plan = SchedulePlan.parse({
      ...RunBody.parse(body ?? {}),
      name: 'now',
      what: { kind: 'watchlist', watchlist_id: id },
      when: { after_close_minutes: 0 },
      trading_days_only: false,
    })
    const slot = { id: `now ${now}`, at: now, market: null }
    const work = dueWork(plan, { slot, configuredLanguage: config(c.env).reportLanguage, stocks })
    if (work.kind !== 'analysis') throw refusal(c, ({ emptyList }) => emptyList)
    const requests = work.requests.map((one) => ({ ...one, priority: 'batch' as const, selectionSource: 'watchlist' }))
    const answer = await taskQueue(c.env).submit(owner, requests, `run-group ${id} ${Math.floor(now / MINUTE_MS)}`)
    if (!answer.ok && answer.reason === 'full') throw tooManyAnalyses(answer, requests.length)
    if (!answer.ok) throw new AppError('conflict', 'The group is being queued already')
    const told = answer.results.map(({ taskId, accepted }, i) => {
      return { accepted, task_id: taskId, stock_code: requests[i]?.stockCode ?? '' }
    })
    const those = (wanted: boolean) =>
      told.filter(({ accepted }) => accepted === wanted).map(({ task_id, stock_code }) => ({ task_id, stock_code }))
    return c.json({ accepted: those(true), duplicates: those(false) }, 202)
  },
)

const change = <T extends z.ZodType>(of: T) => z.object({ from: of, to: of }).nullable()

const ChangedStock = z
  .object({
    stock_code: z.string(),
    stock_name: z.string().nullable(),
    note: z.string(),
    groups: z.array(z.string()),
    task_id: z.string().nullable().describe('The report that stands now'),
    is_first: z.boolean(),
    is_sample: z.boolean(),
    advice: change(z.string().nullable()),
    score: change(z.number().nullable()),
    price: change(z.number()),
    crossed: z.array(z.object({ level: z.enum(LEVEL_NAMES), price: z.number(), direction: z.enum(['up', 'down']) })),
    failure: z.string().nullable().describe('Why the newest analysis failed'),
  })
  .openapi('WatchlistChange')

const Digest = z
  .object({
    since: z.string(),
    until: z.string(),
    stocks: z.int(),
    changed: z.int(),
    unchanged: z.int().describe('With a new report that says the same'),
    without_new: z.int().describe('Without a new report'),
    left_out: z.int().describe('Beyond the 2,000 stocks that are looked at'),
    changes: z.array(ChangedStock),
    next_page_id: z.string().nullable(),
  })
  .openapi('WatchlistDigest')

const DAY_MS = 86_400_000
/** Since, until, and the number of earlier items. */
const DigestPlace = z.tuple([z.int(), z.int(), z.int().min(0)])
const MOST_FAILED = 1_000

endpoint(
  app,
  {
    ...common,
    method: 'get',
    path: `${PATH}/digest`,
    limit: 'reads',
    summary:
      'What changed over your groups since a moment, a day ago by default: what a schedule of the kind `digest` tells',
    query: z.object({
      ...chosen,
      since: z.iso.datetime({ offset: true }).optional(),
      ...PAGE_QUERY,
    }),
    replies: {
      200: { description: 'The changes, those of advice first', schema: Digest },
      400: { description: 'A page_id that is not one of ours' },
      ...missing,
    },
  },
  async (c, { query }) => {
    const owner = ownerOf(c)
    const now = Date.now()
    const [since = query.since === undefined ? now - DAY_MS : Date.parse(query.since), until = now, skipped = 0] =
      pageKeyOf(query.page_id, DigestPlace) ?? []
    if (since > until) throw valueError(['query', 'since'], 'the moment has not come yet', query.since)
    const lists = await listsOf(c, query.watchlist_id)
    const asked = { statuses: ['failed'], limit: MOST_FAILED, filterFirst: true }
    const { tasks: failed } = await taskQueue(c.env).list(owner, asked)
    const digest = await watchDigest(c.env.DB, { owner, lists, failed, since, until })
    const rest = digest.changes.slice(skipped)
    const next = () => pageIdOf([since, until, skipped + query.limit])
    const { page, next_page_id } = pageOf(rest.slice(0, query.limit + 1), query.limit, next)
    return c.json({
      since: isoMicros(since),
      until: isoMicros(until),
      stocks: digest.stocks,
      changed: digest.changes.length,
      unchanged: digest.unchanged,
      without_new: digest.withoutNew,
      left_out: digest.leftOut,
      changes: page.map(changeWire),
      next_page_id,
    })
  },
)

function changeWire({ stockCode, stockName, taskId, isFirst, isSample, ...rest }: StockChange) {
  const { note: said, groups, advice, score, price, crossed, failure } = rest
  return {
    stock_code: stockCode,
    stock_name: stockName,
    note: said,
    groups,
    task_id: taskId,
    is_first: isFirst,
    is_sample: isSample,
    ...{ advice, score, price, crossed, failure },
  }
}

export { app as watchlistGroups }
