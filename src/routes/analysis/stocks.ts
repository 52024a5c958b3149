import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { marketDataOf } from '../../analysis/market-data.ts'
import { pricesNotice } from '../../analysis/texts/findings.ts'
import { figure, keptBeside, round, sampleNotice } from '../../analysis/texts/format.ts'
import { type Config, config } from '../../config.ts'
import { stockNameStore } from '../../db/stock-names.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { callerLanguage } from '../../http/caller-language.ts'
import { AppError, analysisEnvelope, detailEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router, serve } from '../../http/router.ts'
import {
  currentNames,
  initialsOf,
  joinedPinyin,
  type Listing,
  MATCHES,
  type NameIndex,
  type Suggestion,
  suggest,
} from '../../kits/market-names/index.ts'
import { isoMicros } from '../../lib/clock.ts'
import { laxInt } from '../../lib/lax.ts'
import type { Bar, Fetched, Quote } from '../../market/bars.ts'
import { examinePrices } from '../../market/consistency/examine.ts'
import type { Instrument } from '../../market/instruments.ts'
import { canonicalCode, instrumentOf, keyOf, nameIn, placeOf } from '../../market/names/labels.ts'
import { rejectionText } from '../../market/names/rejection-texts.ts'
import { searchTexts } from '../../market/pasted.ts'
import { type Resolved, resolveInput } from '../../market/resolve.ts'
import { BAR_FIELDS, fieldChecks, QUOTE_FIELDS, StockHistory, StockQuote } from './schemas.ts'

// The list that the web client loads once and searches itself. Its rows are tuples in a fixed order, which is part of
// the interface.

const stockIndex = router(detailEnvelope)

/**
 * Code with exchange, displayed code, Chinese name, pinyin, initials, aliases, market, kind, whether still traded,
 * popularity.
 */
type Entry = [
  canonicalCode: string,
  shownCode: string,
  zh: string,
  pinyin: string,
  initials: string,
  aliases: string[],
  market: 'CN' | 'HK' | 'US' | 'JP' | 'KR' | 'TW' | 'INDEX' | 'ETF' | 'BSE',
  kind: Instrument['kind'],
  active: boolean,
  popularity: number,
]

/** The version of the list's format, so that a browser does not use a cached older format. */
const FORM = 2

// A file for the browser, not a call of the API: it is not in the document.
const file = { method: 'get', path: '/stocks.index.json' } as const
serve(stockIndex, { ...file, scope: 'analysis', limit: 'reads', bodyLimit: 'standard' }, async (c) => {
  const names = await currentNames(stockNameStore(c.env.DB))
  const headers = { etag: `W/"${names.version}-${FORM}"`, 'cache-control': 'private, no-cache' }
  if (holds(c.req.header('if-none-match'), headers.etag)) return c.body(null, 304, headers)
  return c.body(textOf(names), 200, { ...headers, 'content-type': 'application/json; charset=utf-8' })
})

/** Proxies add or remove the mark of a weak ETag when they compress. */
function holds(header: string | undefined, etag: string): boolean {
  const plain = (tag: string) => tag.trim().replace(/^W\//, '')
  return (header ?? '').split(',').some((tag) => plain(tag) === plain(etag) || tag.trim() === '*')
}

let made: { version: string; text: string } | null = null

function textOf(names: NameIndex): string {
  if (made?.version !== names.version) {
    made = { version: names.version, text: JSON.stringify(names.all().map(entryOf).filter(isKnownThere)) }
  }
  return made.text
}

/** The existing page stops all completion when a suggestion has a market it does not know. */
const isKnownThere = ({ 6: market }: Entry): boolean => market !== 'TW'

function entryOf(listing: Listing): Entry {
  const { zh, en, aliases, kind, active, popularity } = listing
  const instrument = instrumentOf(listing)
  const others = en === '' || en === zh ? aliases : [en, ...aliases]
  return [
    canonicalCode(instrument),
    shownCode(instrument),
    zh,
    joinedPinyin(listing),
    initialsOf(listing),
    [...others],
    marketOf(instrument),
    kind,
    active,
    popularity,
  ]
}

/** A code that the client can submit unchanged. */
function shownCode({ key, market, kind, code }: Instrument): string {
  return market === 'hk' && kind !== 'index' ? code : key
}

function marketOf({ market, exchange, kind }: Instrument): Entry[6] {
  if (kind === 'index') return 'INDEX'
  if (market === 'cn' && kind === 'etf') return 'ETF'
  if (exchange === 'BJ') return 'BSE'
  return market.toUpperCase() as Entry[6]
}

export { stockIndex }

const app = router(analysisEnvelope)
app.route('/', stockIndex)
/** The checks use a year of bars, even if fewer are requested. */
const CHECKED_BARS = 260
const tag = 'Stocks'
const params = z.object({ code: z.string() })
const failures = {
  404: { description: 'No such stock, or no source that carries it' },
  502: { description: 'No source answered' },
}

endpoint(
  app,
  {
    method: 'get',
    path: '/api/v1/stocks/{code}/quote',
    scope: 'analysis',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'The latest price that is known of a stock',
    params,
    replies: { 200: { description: 'The quote', schema: StockQuote }, ...failures },
  },
  async (c, { params: { code } }) => {
    const settings = { ...config(c.env), reportLanguage: callerLanguage(c) }
    const stock = await stockOf(c, code)
    const market = await marketDataOf(c.env)
    const { bars, quote } = await market.snapshot(stock.instrument, { count: CHECKED_BARS })
    const { value: told, data_notice } = answered(quote, settings)
    const examined = examinePrices(stock.instrument, { bars, quote }, { dividends: null, now: Date.now() })
    // A quote that a report would leave out is returned here with its checks, because it was requested.
    const value = examined.quote ?? told
    const language = settings.reportLanguage
    const figures = quoteFigures(value)
    return c.json({
      stock_code: stock.instrument.key,
      stock_name: nameOf(stock, settings) ?? value.name,
      ...figures,
      update_time: value.quotedAt === null ? null : isoMicros(value.quotedAt),
      data_notice,
      data_checks: pricesNotice(examined.consistency, language),
      field_checks: fieldChecks(examined.consistency, { fields: QUOTE_FIELDS, rows: [figures], language }),
    })
  },
)

const quoteFigures = ({ price, change, changePct, open, high, low, prevClose, volume, amount }: Quote) => ({
  current_price: round(price, keptBeside(price)),
  change: figure(change, keptBeside(price)),
  change_percent: figure(changePct),
  open: figure(open, keptBeside(price)),
  high: figure(high, keptBeside(price)),
  low: figure(low, keptBeside(price)),
  prev_close: figure(prevClose, keptBeside(price)),
  volume,
  amount: figure(amount),
})

const PERIODS = ['daily', 'weekly', 'monthly'] as const
type Period = (typeof PERIODS)[number]

endpoint(
  app,
  {
    method: 'get',
    path: '/api/v1/stocks/{code}/history',
    scope: 'analysis',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'The bars of the last sessions, oldest first',
    params,
    query: z.object({
      period: z.string().default('daily').describe(PERIODS.join(', ')),
      days: laxInt({ min: 1, max: 365 }).default(30).describe('How many sessions'),
    }),
    replies: {
      200: { description: 'The bars', schema: StockHistory },
      ...failures,
      422: { description: 'A value outside its range, or `unsupported_period`' },
    },
  },
  async (c, { params: { code }, query }) => {
    const period = PERIODS.find((known) => known === query.period)
    if (period === undefined) {
      const message = `The period ${JSON.stringify(query.period.slice(0, 40))} is not one of ${PERIODS.join(', ')}`
      const expected = PERIODS.map((known) => `'${known}'`).join(', ')
      const item = { type: 'enum', loc: ['query', 'period'], msg: message, input: query.period, ctx: { expected } }
      throw new AppError('unprocessable', message, { word: 'unsupported_period', items: [item] })
    }
    const settings = { ...config(c.env), reportLanguage: callerLanguage(c) }
    const stock = await stockOf(c, code)
    const market = await marketDataOf(c.env)
    // At least one more than requested, so that the first one can be compared with the previous.
    const bars = await market.bars(stock.instrument, { count: Math.max(query.days + 1, CHECKED_BARS) })
    const { data_notice } = answered(bars, settings)
    const nobody = { ok: false as const, runs: [] }
    const examined = examinePrices(stock.instrument, { bars, quote: nobody }, { dividends: null, now: Date.now() })
    const language = settings.reportLanguage
    const data = lines(examined.bars, { days: query.days, period })
    return c.json({
      stock_code: stock.instrument.key,
      stock_name: nameOf(stock, settings),
      period,
      data,
      data_notice,
      data_checks: pricesNotice(examined.consistency, language),
      field_checks: fieldChecks(examined.consistency, { fields: BAR_FIELDS, rows: data, language }),
    })
  },
)

async function stockOf(c: Context<AppEnv>, code: string): Promise<Resolved> {
  const resolution = resolveInput(code, await currentNames(stockNameStore(c.env.DB)))
  if (resolution?.ok) return resolution
  const told = resolution === null ? 'No stock code was given' : rejectionText(resolution, callerLanguage(c))
  throw new AppError('not_found', told)
}

function nameOf({ listing }: Resolved, { reportLanguage }: Config): string | null {
  return listing && nameIn(listing, reportLanguage)
}

function answered<T>(fetched: Fetched<T>, { reportLanguage }: Config): { value: T; data_notice: string | null } {
  if (fetched.ok) {
    const { value, provenance } = fetched
    return { value, data_notice: provenance && sampleNotice(provenance, reportLanguage) }
  }
  const carriers = fetched.runs.filter(({ errorType }) => errorType !== 'unsupported')
  const reasons = fetched.runs.flatMap(({ errorMessage }) => errorMessage ?? []).join('; ')
  if (carriers.length === 0) throw new AppError('not_found', `No configured source carries this stock: ${reasons}`)
  throw new AppError('upstream_failed', `No source answered: ${reasons}`)
}

function lines(bars: readonly Bar[], { days, period }: { days: number; period: Period }) {
  const first = Math.max(0, bars.length - days)
  const before = bars[first - 1]?.close ?? null
  const grouped = groupBars(bars.slice(first), period)
  return grouped.map((bar, i) => ({
    ...bar,
    open: round(bar.open, keptBeside(bar.close)),
    high: round(bar.high, keptBeside(bar.close)),
    low: round(bar.low, keptBeside(bar.close)),
    close: round(bar.close, keptBeside(bar.close)),
    amount: figure(bar.amount),
    change_percent: changePct(bar.close, grouped[i - 1]?.close ?? before),
  }))
}

function changePct(close: number, previous: number | null): number | null {
  return previous === null || previous === 0 ? null : Math.round((close / previous - 1) * 1e6) / 1e4
}

/** One bar for each week or month with sessions, with the date of the last session. */
function groupBars(bars: readonly Bar[], period: Period): Bar[] {
  const groups = new Map<string, Bar>()
  for (const bar of bars) {
    const name = groupOf(bar.date, period)
    const group = groups.get(name)
    groups.set(name, group ? joined(group, bar) : { ...bar })
  }
  return [...groups.values()]
}

function groupOf(date: string, period: Period): string {
  if (period === 'daily') return date
  if (period === 'monthly') return date.slice(0, 7)
  const day = new Date(`${date}T00:00:00Z`)
  const sinceMonday = (day.getUTCDay() + 6) % 7
  return new Date(day.getTime() - sinceMonday * 86_400_000).toISOString().slice(0, 10)
}

function joined(group: Bar, bar: Bar): Bar {
  return {
    date: bar.date,
    open: group.open,
    high: Math.max(group.high, bar.high),
    low: Math.min(group.low, bar.low),
    close: bar.close,
    volume: group.volume + bar.volume,
    amount: group.amount === null || bar.amount === null ? null : group.amount + bar.amount,
  }
}

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
    scope: 'analysis',
    limit: 'reads',
    bodyLimit: 'standard',
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
    const items = found(names, q, limit).map((suggestion) => wireOf(suggestion, language))
    return c.json({ query: q, total: items.length, items })
  },
)

/** The suggestions for each part of the text, each listing once. */
function found(names: NameIndex, query: string, limit: number): Suggestion[] {
  const suggestions = new Map<string, Suggestion>()
  for (const text of searchTexts(query)) {
    for (const one of suggest(names, text, { limit, keyOf })) {
      if (!suggestions.has(one.listing.key)) suggestions.set(one.listing.key, one)
    }
  }
  return [...suggestions.values()].slice(0, limit)
}

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

export { app as stocks }
