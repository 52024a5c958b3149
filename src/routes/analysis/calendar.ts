// Days of results and dividends of the listings that the caller watches or holds. The days are shared market data;
// which of them are returned, and the number of shares, depend on the owner.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { marketDataOf } from '../../analysis/market-data.ts'
import { preparedAnswers } from '../../db/market-state.ts'
import { accountEvents, listAccounts } from '../../db/portfolio.ts'
import { stockNameStore } from '../../db/stock-names.ts'
import { listWatchlists } from '../../db/watchlists.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { callerLanguage } from '../../http/caller-language.ts'
import { AppError, analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { currentNames } from '../../kits/market-names/index.ts'
import { isoMicros } from '../../lib/clock.ts'
import { numberOf, parseAmount, plus, rounded, times, ZERO } from '../../lib/decimal.ts'
import { icsFile } from '../../lib/ics.ts'
import { laxInt } from '../../lib/lax.ts'
import { addDays, localDate } from '../../market/calendar.ts'
import { eventsOfMany, LISTING_STATES, type ListingEvents } from '../../market/company-calendar.ts'
import { type CalendarEntry, DividendMark, Earnings, EVENT_KINDS, entriesOf } from '../../market/company-events.ts'
import { displayCode, type Instrument, parseCode } from '../../market/instruments.ts'
import { nameIn } from '../../market/names/labels.ts'
import { replay } from '../../portfolio/ledger.ts'
import { CALENDAR_TEXTS, icsEvent } from './calendar-texts.ts'
import { MARKETS } from './page/signal-schemas.ts'
import { mustFind, ownerOf, stocksOf } from './watchlists.ts'

const app = router(analysisEnvelope)
const PATH = '/api/v1/calendar'
const common = { method: 'get', scope: 'analysis', limit: 'reads', bodyLimit: 'standard', tag: 'Stocks' } as const

const MOST_DAYS = 366
const DEFAULT_DAYS = 30
/** Days are compared as texts with a year of four digits. */
const LAST_DAY = '9999-12-31'
const MOST_LISTINGS = 300
const MOST_CODES = 50
/** Data that has not arrived by then is marked as not requested yet. */
const PATIENCE_MS = 12_000

const SPAN = {
  from: z.iso.date().optional().describe('The first day; today without it'),
  to: z.iso
    .date()
    .optional()
    .describe(`The last day, at most ${MOST_DAYS} after the first; ${DEFAULT_DAYS} without it`),
  scope: z
    .enum(['all', 'watchlist', 'holdings'])
    .describe('Of what you watch, of what you hold, or of both')
    .default('all'),
  watchlist_id: z.string().max(64).optional().describe('One group only'),
  account_id: laxInt({ min: 1 }).optional().describe('Holdings of one account only'),
  stock_codes: z
    .string()
    .max(1_000)
    .optional()
    .describe(
      `Codes or names with commas between them, at most ${MOST_CODES}, in the place of what you watch and hold`,
    ),
  kind: z.enum(EVENT_KINDS).optional().describe('One kind only'),
}
const Span = z.object(SPAN)
type Span = z.output<typeof Span>

const day = (what: string) => z.string().nullable().describe(what)

const Event = z
  .object({
    id: z.string().describe('The same whenever the same day is told'),
    kind: z.enum(EVENT_KINDS).describe('What happens'),
    stock_code: z.string().describe('The listing'),
    stock_name: z.string().nullable().describe('Its name in your language'),
    market: z.enum(MARKETS).describe('Where it trades: days are of its calendar'),
    date: z.string().describe('The day, or the first one of a window'),
    date_to: z.string().describe('The last day of the window'),
    certainty: Earnings.shape.certainty.describe(
      '`estimate` of the source; `scheduled`: somebody has set it; `published`',
    ),
    period: day('Results: the last day of the period, where the source tells it'),
    ex_date: day('Who buys on that day or later gets no dividend'),
    record_date: day('Who is in the register on that day is paid'),
    pay_date: day('When it is paid; null where no source tells it'),
    announced_on: day('When it was told'),
    amount_per_share: z.number().nullable().describe('Before tax; null where it is not known or cannot be right'),
    currency: z.string().nullable().describe('Of the amount'),
    marks: z
      .array(DividendMark)
      .describe('What was left out because it cannot be right, or stands there although it is unusual'),
    held_quantity: z.number().nullable().describe('Shares that you hold for this dividend; null for results'),
    expected_amount: z.number().nullable().describe('Shares times amount, before tax: expected, not booked'),
    source: z.string().describe('Who told it'),
    notice: z.string().nullable().describe('To be shown beside what a bundled sample makes up'),
  })
  .openapi('CalendarEvent')
type Event = z.infer<typeof Event>

const CalendarListing = z
  .object({
    stock_code: z.string().describe('The listing'),
    stock_name: z.string().nullable().describe('Its name in your language'),
    market: z.enum(MARKETS).describe('Where it trades'),
    state: z
      .enum(LISTING_STATES)
      .describe(
        '`known`: what the source has is in the list; else its days are not known, which is not the same as none',
      ),
    message: z.string().nullable().describe('Why its days are not known, for people'),
    source: z.string().nullable().describe('Who was asked'),
    age_seconds: z.int().nullable().describe('How old a kept answer is'),
    is_stale: z.boolean().describe('The sources failed and the answer is one of before'),
    left_out: z.int().describe('Days that the source told and that cannot be right'),
    notice: z.string().nullable().describe('To be shown beside what a bundled sample makes up'),
  })
  .openapi('CalendarListing')

const Calendar = z
  .object({
    from: z.string().describe('The first day'),
    to: z.string().describe('The last day'),
    generated_at: z.string().describe('When it was looked up'),
    items: z.array(Event).describe('By day'),
    total: z.int().describe('Of all pages'),
    page: z.int().describe('This page'),
    page_size: z.int().describe('Days of a page'),
    listings: z.array(CalendarListing).describe('Each listing that was asked about, whether it has days or not'),
    listings_left_out: z.int().describe(`Beyond the ${MOST_LISTINGS} that one calendar has`),
  })
  .openapi('Calendar')

const refused = { 400: { description: '`validation_error`: what cannot be, and why' } }
const missing = { 404: { description: 'No such watchlist, or no such account of yours' } }

endpoint(
  app,
  {
    ...common,
    path: PATH,
    summary: 'Days of results and dividends of what you watch and hold',
    query: Span.extend({
      page: laxInt({ min: 1 }).describe('Which page').default(1),
      page_size: laxInt({ min: 1, max: 500 }).describe('Days of a page').default(100),
    }),
    replies: { 200: { description: 'The days, and whose are not known', schema: Calendar }, ...refused, ...missing },
  },
  async (c, { query }) => {
    const { span, events, listings, leftOut } = await calendarOf(c, query)
    const { page, page_size: size } = query
    return c.json({
      ...span,
      generated_at: isoMicros(Date.now()),
      items: events.slice((page - 1) * size, page * size),
      total: events.length,
      page,
      page_size: size,
      listings,
      listings_left_out: leftOut,
    } satisfies z.infer<typeof Calendar>)
  },
)

endpoint(
  app,
  {
    ...common,
    path: `${PATH}.ics`,
    summary: 'The same as a file for calendars, RFC 5545',
    query: Span,
    replies: {
      200: { description: 'The file, in UTF-8', contentType: 'text/calendar', schema: z.string() },
      ...refused,
      ...missing,
    },
  },
  async (c, { query }) => {
    const { events, listings } = await calendarOf(c, query)
    const language = callerLanguage(c)
    const unknown = listings.filter(({ state }) => state !== 'known').map(({ stock_code }) => stock_code)
    const entries = events.map((event) => icsEvent(event, language))
    const name = CALENDAR_TEXTS[language].calendar(unknown.join(', '))
    return c.body(icsFile(entries, { name, madeAt: Date.now() }), 200, {
      'content-type': 'text/calendar; charset=utf-8',
      'content-disposition': 'attachment; filename="calendar.ics"',
    })
  },
)

async function calendarOf(c: Context<AppEnv>, query: Span) {
  const span = spanOf(c, query)
  const held = new HeldShares(c, query.account_id ?? null)
  const all = await instrumentsOf(c, query, held)
  const instruments = all.slice(0, MOST_LISTINGS)
  const keys = instruments.map(({ key }) => key)
  const market = await marketDataOf(c.env, { store: await preparedAnswers(c.env.DB, 'company_events', keys) })
  const found = await eventsOfMany(market, { instruments, signal: AbortSignal.timeout(PATIENCE_MS) })
  const names = await currentNames(stockNameStore(c.env.DB))
  const language = callerLanguage(c)
  const nameOf = ({ key }: Instrument) => {
    const listing = names.byKey(key)
    return listing === null ? null : nameIn(listing, language)
  }
  const events: Event[] = []
  for (const listing of found) {
    for (const entry of listing.events === null ? [] : entriesOf(listing.events, span)) {
      if (query.kind !== undefined && entry.kind !== query.kind) continue
      events.push(await eventShown({ listing, entry, name: nameOf(listing.instrument), held }))
    }
  }
  events.sort((a, b) => a.date.localeCompare(b.date) || a.stock_code.localeCompare(b.stock_code) || order(a) - order(b))
  const listings = found.map((one) => listingShown(c, one, nameOf(one.instrument)))
  return { span, events, listings, leftOut: all.length - instruments.length }
}

const order = ({ kind }: Event): number => EVENT_KINDS.indexOf(kind)

function spanOf(c: Context<AppEnv>, { from: first, to: last }: Span): { from: string; to: string } {
  const texts = CALENDAR_TEXTS[callerLanguage(c)]
  const from = first ?? localDate('cn', Date.now())
  const to = last ?? (from > addDays(LAST_DAY, -DEFAULT_DAYS) ? LAST_DAY : addDays(from, DEFAULT_DAYS))
  if (to < from) throw new AppError('validation_error', texts.backwards(from, to))
  if (addDays(to, -MOST_DAYS) > from) throw new AppError('validation_error', texts.tooLong(MOST_DAYS))
  return { from, to }
}

/** Each listing once, holdings first. */
async function instrumentsOf(c: Context<AppEnv>, query: Span, held: HeldShares): Promise<Instrument[]> {
  const { scope, stock_codes: codes, watchlist_id: id } = query
  const keys = new Set<string>()
  if (codes !== undefined) {
    const named = codes.split(/[,，]/).filter((one) => one.trim() !== '')
    const texts = CALENDAR_TEXTS[callerLanguage(c)]
    if (named.length === 0 || named.length > MOST_CODES) {
      throw new AppError('validation_error', texts.codes(named.length, MOST_CODES))
    }
    for (const { key } of (await stocksOf(c, named)).stocks) keys.add(key)
    return [...keys].flatMap(instrumentOf)
  }
  if (scope !== 'watchlist') for (const key of await held.keys()) keys.add(key)
  if (scope !== 'holdings') {
    const lists = id === undefined ? await listWatchlists(c.env.DB, ownerOf(c)) : [await mustFind(c, id)]
    for (const { stocks } of lists) for (const { key } of stocks) keys.add(key)
  }
  return [...keys].flatMap(instrumentOf)
}

function instrumentOf(key: string): Instrument[] {
  const parsed = parseCode(key)
  return parsed.ok ? [parsed.instrument] : []
}

/** The owner's number of shares on the relevant days. */
class HeldShares {
  readonly #c: Context<AppEnv>
  readonly #account: number | null
  #events: ReturnType<typeof accountEvents> | null = null
  readonly #days = new Map<string, Promise<Map<string, { n: bigint; d: bigint }>>>()

  constructor(c: Context<AppEnv>, account: number | null) {
    this.#c = c
    this.#account = account
  }

  async keys(): Promise<string[]> {
    const today = await this.#on(LAST_DAY)
    return [...today].flatMap(([key, { n }]) => (n > 0n ? [key] : []))
  }

  /** At the end of that day, in any currency. */
  async quantity(key: string, date: string) {
    return (await this.#on(date)).get(key) ?? ZERO
  }

  #on(date: string) {
    const known = this.#days.get(date) ?? this.#replayed(date)
    this.#days.set(date, known)
    return known
  }

  async #replayed(date: string) {
    const { DB } = this.#c.env
    const owner = ownerOf(this.#c)
    const accounts = await listAccounts(DB, owner)
    const shown = accounts.filter(({ id, isActive }) => (this.#account === null ? isActive : id === this.#account))
    if (this.#account !== null && shown.length === 0) {
      throw new AppError('not_found', CALENDAR_TEXTS[callerLanguage(this.#c)].noAccount)
    }
    this.#events ??= accountEvents(DB, owner, this.#account)
    const events = await this.#events
    const sums = new Map<string, { n: bigint; d: bigint }>()
    for (const { id } of shown) {
      const own = events.filter(({ account }) => account === id)
      for (const { holding, quantity } of replay(own, 'fifo', date).positions.values()) {
        const parsed = parseCode(holding.symbol)
        const key = parsed.ok ? parsed.instrument.key : holding.symbol
        sums.set(key, plus(sums.get(key) ?? ZERO, quantity))
      }
    }
    return sums
  }
}

type ListedEvent = { listing: ListingEvents; entry: CalendarEntry; name: string | null; held: HeldShares }

async function eventShown({ listing, entry, name, held }: ListedEvent): Promise<Event> {
  const { instrument, provider, notice } = listing
  const { kind, from, to, certainty, earnings, dividend } = entry
  // The holder at the end of the previous day is paid.
  const shares = dividend === null ? null : await held.quantity(instrument.key, addDays(dividend.exDate, -1))
  const amount = dividend?.amount == null ? null : parseAmount(dividend.amount)
  const expected = shares === null || amount === null || shares.n === 0n ? null : rounded(times(shares, amount))
  return {
    id: [kind, instrument.key, earnings?.period ?? from].join('-').toLowerCase(),
    kind,
    stock_code: displayCode(instrument),
    stock_name: name,
    market: instrument.market,
    date: from,
    date_to: to,
    certainty,
    period: earnings?.period ?? null,
    ex_date: dividend?.exDate ?? null,
    record_date: dividend?.recordDate ?? null,
    pay_date: dividend?.payDate ?? null,
    announced_on: dividend?.announcedOn ?? null,
    amount_per_share: dividend?.amount ?? null,
    currency: dividend?.currency ?? null,
    marks: dividend?.marks ?? [],
    held_quantity: shares === null ? null : numberOf(rounded(shares)),
    expected_amount: expected === null ? null : numberOf(expected),
    source: provider ?? '',
    notice,
  }
}

/** A cached answer is fresh if it is younger. */
const FRESH_SECONDS = 12 * 3600

function listingShown(c: Context<AppEnv>, listing: ListingEvents, name: string | null) {
  const { instrument, state, events, provider, ageSeconds, notice, reason } = listing
  const texts = CALENDAR_TEXTS[callerLanguage(c)]
  const why = state === 'known' ? null : texts.states[state](texts.market[instrument.market])
  return {
    stock_code: displayCode(instrument),
    stock_name: name,
    market: instrument.market,
    state,
    message: reason === null || why === null ? why : `${why} (${reason})`,
    source: provider,
    age_seconds: ageSeconds,
    is_stale: ageSeconds !== null && ageSeconds > FRESH_SECONDS,
    left_out: events?.leftOut ?? 0,
    notice,
  } satisfies z.infer<typeof CalendarListing>
}

export { app as calendar }
