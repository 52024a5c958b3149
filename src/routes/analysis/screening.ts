// Screening: the stored figures, their age, and the listings that match a filter.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { textsOf } from '../../analysis/texts/book.ts'
import { config } from '../../config.ts'
import { noteScreening } from '../../db/saved-screens.ts'
import { type FillState, figuresByMarket, fillStates, type MarketState } from '../../db/stock-figures.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { callerLanguage } from '../../http/caller-language.ts'
import { AppError, analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { isoMicros } from '../../lib/clock.ts'
import type { CheckKey } from '../../market/consistency/types.ts'
import { FIELDS, isNumber } from '../../screening/fields.ts'
import { settledSession } from '../../screening/figures.ts'
import { KINDS, MARKETS, NUMBER_OPS, readScreen, type Screen, ScreenInput, TEXT_OPS } from '../../screening/filter.ts'
import { countsItem, itemMaker, runScreen, type ScreenedItem, type Window } from '../../screening/screened.ts'
import { STRATEGIES } from '../../screening/strategies.ts'
import { SCREENING_TEXTS } from '../../screening/texts.ts'
import { type ScreeningTexts, STRATEGY_IDS } from '../../screening/words.ts'
import { pageQuery } from './page/alert-schemas.ts'

const app = router(analysisEnvelope)
export const ROOT = '/api/v1/screening'

export const reading = {
  scope: 'analysis',
  bodyLimit: 'standard',
  tag: 'Screening',
  method: 'get',
  limit: 'reads',
} as const

const Text = z.string().nullable()
const Count = z.int().min(0)

export const ScreenDefinition = ScreenInput.extend({}).openapi('ScreenDefinition')

export const ScreenedListing = z
  .object({
    code: z.string().describe('The listing'),
    name: z.string().describe('Its name, as its market writes it'),
    name_en: Text.describe('In English; null where no list has one'),
    market: z.enum(MARKETS).describe('Its market'),
    exchange: z.string().describe('Its exchange'),
    kind: z.string().describe('stock or etf'),
    industry: Text.describe('Null where no source told one'),
    risk_warned: z.boolean().describe('Whether its name has the mark of a risk warning'),
    currency: z.string().describe('Of its prices'),
    session: Text.describe('The day whose close the first figures are of'),
    age_sessions: Count.nullable().describe('How many sessions are over since then'),
    source: Text.describe('Who told the close'),
    told_at: Text.describe('When'),
    bars_session: Text.describe('The day of the last bar that the other figures are made of'),
    bars_age_sessions: Count.nullable().describe('How many sessions are over since then'),
    bars_source: Text.describe('Who told the bars'),
    bars_told_at: Text.describe('When'),
    figures: z.record(z.string(), z.number().nullable()).describe('By name; null is unknown, or too old'),
    marks: z
      .array(z.object({ check: z.string().describe('Its name'), text: z.string().describe('The same in words') }))
      .describe('Checks of the figures that warn, or that withheld some'),
  })
  .openapi('ScreenedListing')

export const ScreenCounts = z
  .object({
    listings: Count.describe('That the screen is about'),
    with_figures: Count.describe('Of those: with any figures'),
    too_old: Count.describe('Left out: all of their figures are too old'),
    unknown: Count.describe('Left out: a figure that decides is unknown or too old'),
    unknown_by_field: z.record(z.string(), Count).describe('The same by figure; a listing may lack several'),
    matched: Count.describe('That pass'),
  })
  .openapi('ScreenCounts')

const Screened = z
  .object({
    items: z.array(ScreenedListing).describe('A page of what passes'),
    total: Count.describe('How many there are, at most `limit`'),
    page: z.int().describe('From 1'),
    page_size: z.int().describe('Of a page'),
    counts: ScreenCounts.describe('How many listings there are, and why some could not be looked at'),
    as_of: z.record(z.string(), z.string()).describe('The last session that is over, by market'),
    message: Text.describe('What is missing, as a sentence; null where nothing is'),
  })
  .openapi('Screened')

export const wordsOf = (c: Context<AppEnv>): ScreeningTexts => SCREENING_TEXTS[callerLanguage(c)]

/** Refused if the operator collects no figures, or none of that market. */
export function readOrRefuse(c: Context<AppEnv>, input: z.infer<typeof ScreenInput>): Screen {
  const words = wordsOf(c)
  const { markets } = config(c.env).screening
  if (markets.length === 0) throw new AppError('forbidden', words.state.off)
  const isKept = input.markets.every((market) => markets.includes(market))
  if (!isKept) throw new AppError('bad_request', words.entry.market(markets.join(', ')))
  const read = readScreen(input, words.filter)
  if (!read.ok) throw new AppError('bad_request', read.problem)
  return { ...read.screen, markets: input.markets.length === 0 ? markets : input.markets }
}

/** A listing with the names of its checks in the caller's language. */
export function toldListing({ checks, ...rest }: ScreenedItem, c: Context<AppEnv>) {
  const names = textsOf(callerLanguage(c)).consistency.check
  return { ...rest, marks: checks.map((check) => ({ check, text: names[check as CheckKey] ?? check })) }
}

export async function screened(
  c: Context<AppEnv>,
  screen: Screen,
  { page, page_size }: { page: number; page_size: number },
) {
  const now = Date.now()
  await noteScreening(c.env.DB, c.get('principal').owner, { now })
  const window: Window = { limit: page_size, offset: (page - 1) * page_size }
  const { counts, rows } = await runScreen(c.env.DB, screen, { now, window })
  const item = itemMaker(now)
  return {
    items: rows.map((row) => toldListing(item(row), c)),
    total: Math.min(counts.matched, screen.limit ?? counts.matched),
    ...{ page, page_size, counts: countsItem(counts) },
    as_of: Object.fromEntries(screen.markets.map((market) => [market, settledSession(market, now)])),
    message: missingText(c, counts),
  }
}

function missingText(c: Context<AppEnv>, { listings, kept }: { listings: number; kept: number }): string | null {
  const { state } = wordsOf(c)
  if (kept === listings && kept > 0) return null
  if (!config(c.env).marketData.some((name) => name !== 'sample')) return state.sampleOnly
  return kept === 0 ? state.nothingYet : state.filling(kept, listings)
}

const FieldItem = z.object({
  name: z.string().describe('As filters call it'),
  title: z.string().describe('As people call it'),
  meaning: z.string().describe('What it is'),
  group: z.enum(['listing', 'close', 'bars']).describe('Of the listing itself, of a close, or made of bars'),
  kind: z.enum(['number', 'text', 'flag']).describe('What it is compared with'),
  unit: z.string().describe('In words'),
  ops: z.array(z.string()).describe('The comparisons that it takes'),
})

endpoint(
  app,
  {
    ...reading,
    path: `${ROOT}/fields`,
    summary: 'The figures that listings may be screened by, with unit and meaning',
    replies: {
      200: {
        description: 'Every one of them',
        schema: z.object({
          fields: z.array(FieldItem.openapi('ScreeningField')).describe('In the order of their groups'),
          markets: z.array(z.enum(MARKETS)).describe('Of which figures are kept'),
          kinds: z.array(z.enum(KINDS)).describe('Of listings'),
        }),
      },
    },
  },
  (c) => {
    const words = wordsOf(c)
    const fields = FIELDS.map((field) => {
      const { name, of: group, unit } = field
      const [title, meaning] = words.fields[name]
      const kind = isNumber(field) ? ('number' as const) : unit === 'flag' ? ('flag' as const) : ('text' as const)
      const ops = kind === 'number' ? [...NUMBER_OPS] : kind === 'text' ? [...TEXT_OPS] : ['is']
      return { name, title, meaning, group, kind, unit: words.units[unit], ops }
    })
    return c.json({ fields, markets: config(c.env).screening.markets, kinds: [...KINDS] })
  },
)

const Days = z.object({
  count: Count.describe('Listings that have them'),
  of_newest: Count.describe('Of those: of the newest session'),
  oldest: Text.describe('The oldest session'),
  newest: Text.describe('The newest session'),
})

const MarketItem = z
  .object({
    market: z.enum(MARKETS).describe('The market'),
    listings: Count.describe('That are known'),
    due_session: z.string().describe('The last session that is over'),
    closes: Days.describe('The figures of closes'),
    bars: Days.describe('The figures that are made of bars'),
    source: Text.describe('Who tells the closes'),
    state: z.enum(['done', 'reading', 'waiting', 'never']).describe('Of the reading of closes'),
    failures: Count.describe('Of sources, without an answer in between'),
    refused: Count.describe('Rows of the reading without a time, of another day, or refused by a check'),
    next_at: Text.describe('Not asked before'),
    last_told_at: Text.describe('When a figure came last'),
  })
  .openapi('ScreeningMarket')

endpoint(
  app,
  {
    ...reading,
    path: `${ROOT}/state`,
    summary: 'How many listings have figures, how old they are, and how far the collecting is',
    replies: {
      200: {
        description: 'By market',
        schema: z.object({
          markets: z.array(MarketItem).describe('Those of which figures are kept'),
          requests_per_minute: z.int().describe('The most that sources are asked for them'),
          message: Text.describe('Why nothing is collected; null where it is'),
        }),
      },
    },
  },
  async (c) => {
    const { screening, marketData } = config(c.env)
    const [states, fills] = await Promise.all([figuresByMarket(c.env.DB), fillStates(c.env.DB)])
    const now = Date.now()
    const { state } = wordsOf(c)
    const isLive = marketData.some((name) => name !== 'sample')
    return c.json({
      markets: screening.markets.map((market) => {
        const [known, fill] = [states, fills].map((all) => all.find((one) => one.market === market))
        return marketItem(market, { known: known as MarketState | undefined, fill: fill as FillState | undefined, now })
      }),
      requests_per_minute: screening.requestsPerMinute,
      message: screening.markets.length === 0 ? state.off : isLive ? null : state.sampleOnly,
    })
  },
)

type MarketStatus = { known: MarketState | undefined; fill: FillState | undefined; now: number }

function marketItem(market: (typeof MARKETS)[number], { known, fill, now }: MarketStatus): z.infer<typeof MarketItem> {
  const time = (at: number | null | undefined) => (at ? isoMicros(at) : null)
  return {
    market,
    listings: known?.listings ?? 0,
    due_session: settledSession(market, now),
    closes: {
      ...{ count: known?.closes ?? 0, of_newest: known?.closesOfNewest ?? 0 },
      ...{ oldest: known?.oldestClose ?? null, newest: known?.newestClose ?? null },
    },
    bars: {
      ...{ count: known?.bars ?? 0, of_newest: known?.barsOfNewest ?? 0 },
      ...{ oldest: known?.oldestBars ?? null, newest: known?.newestBars ?? null },
    },
    source: fill === undefined || fill.source === 'none' ? null : fill.source,
    state: fill === undefined ? 'never' : fill.isDone ? 'done' : fill.nextAt > now ? 'waiting' : 'reading',
    failures: fill?.failures ?? 0,
    refused: fill?.refused ?? 0,
    next_at: fill !== undefined && fill.nextAt > now ? time(fill.nextAt) : null,
    last_told_at: time(known?.toldAt),
  }
}

const StrategyItem = z
  .object({
    id: z.enum(STRATEGY_IDS).describe('Its name in requests'),
    version: z.int().describe('Grows with every change of its rule'),
    title: z.string().describe('As people call it'),
    description: z.string().describe('What it looks for'),
    category: z.string().describe('value, balanced, money or trend'),
    screen: z.object({ ...ScreenInput.shape }).describe('The rule, which may be changed and saved'),
  })
  .openapi('ScreeningStrategy')

endpoint(
  app,
  {
    ...reading,
    path: `${ROOT}/strategies`,
    summary: 'The rules that come with the service, in the language of filters',
    replies: {
      200: {
        description: 'Every one of them',
        schema: z.object({ strategies: z.array(StrategyItem).describe('In a fixed order') }),
      },
    },
  },
  (c) => {
    const words = wordsOf(c).strategies
    const strategies = STRATEGIES.map(({ id, version, category, screen }) => {
      return { id, version, ...words[id], category, screen: { ...screen, markets: [] } }
    })
    return c.json({ strategies })
  },
)

endpoint(
  app,
  {
    ...reading,
    method: 'post',
    limit: 'screens',
    path: `${ROOT}/run`,
    summary: 'The listings that pass a filter, with their figures and how old they are; nothing is stored',
    query: z.object(pageQuery),
    body: { required: true, schema: ScreenDefinition },
    example: {
      body: {
        markets: ['cn'],
        where: {
          and: [
            { field: 'pe_ratio', op: 'between', value: [0.1, 15] },
            { field: 'price', op: 'gt', value: { field: 'ma20' } },
          ],
        },
        sort: [{ field: 'pb_ratio', order: 'asc' }],
      },
    },
    replies: {
      200: { description: 'A page of them', schema: Screened },
      400: { description: 'Something in it is wrong; `message` names the place' },
      403: { description: 'No figures are kept here' },
    },
  },
  async (c, { body, query }) => c.json(await screened(c, readOrRefuse(c, body), query)),
)

export { app as screening }
export const screenedSchema = Screened
