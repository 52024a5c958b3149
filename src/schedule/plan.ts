// The plan of a schedule: what it does, when, and for which channels. It is stored as JSON and sent in the same form.

import { z } from 'zod'
import { strictRegions } from '../analysis/market-review/regions.ts'
import { ReportLanguage } from '../analysis/schemas.ts'
import { reviewRequest, type TaskRequest } from '../analysis/task.ts'
import { listWatchlists } from '../db/watchlists.ts'
import type { NameIndex } from '../kits/market-names/index.ts'
import { hexId } from '../lib/crypto.ts'
import { laxBool, laxInt } from '../lib/lax.ts'
import { addDays, isTradingDay, localDate, sessionEnd, wallClock } from '../market/calendar.ts'
import { type Instrument, type Market, parseCode } from '../market/instruments.ts'
import { resolveEntries } from '../market/resolve.ts'

export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const

const MAX_TIMES = 24
const MAX_STOCKS = 200
const MAX_CHANNELS = 20
const MAX_AFTER_CLOSE_MINUTES = 720

/** Abbreviations of three letters that mean one zone only. */
const CLEAR_ABBREVIATIONS: ReadonlySet<string> = new Set('UTC GMT UCT CET EET MET WET PRC ROC ROK'.split(' '))

/** CST is Chicago in the runtime's zone tables, but an owner may mean Shanghai. */
export const isAmbiguousZone = (zone: string): boolean => zone.length === 3 && !CLEAR_ABBREVIATIONS.has(zone)

/** Whether the runtime's zone tables contain it. Offsets alone are not zones, because they have no daylight saving. */
export function isZone(text: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/.test(text)) return false
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: text })
    return true
  } catch {
    // The constructor throws for an unknown name.
    return false
  }
}

const unique = <T>(items: T[]): T[] => [...new Set(items)]

// Strict: a client that sends an unknown field, or one of the other form, expects something that would not happen.
const Times = z.strictObject({
  times: z
    .array(z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'a time of the 24-hour clock such as 09:30 is wanted'))
    .min(1)
    .max(MAX_TIMES)
    .transform((times) => unique(times).sort()),
  zone: z.string().max(64).refine(isZone, { error: 'an IANA zone such as Asia/Shanghai is wanted' }),
  days: z
    .array(z.enum(DAYS))
    .min(1)
    .max(7)
    .default(['mon', 'tue', 'wed', 'thu', 'fri'])
    .transform((days) => DAYS.filter((day) => days.includes(day))),
})

/** The number of minutes after each market's own close, on its own trading days. */
const AfterClose = z.strictObject({ after_close_minutes: laxInt({ min: 0, max: MAX_AFTER_CLOSE_MINUTES }) })

/** When something runs automatically. */
export const WhenSchema = z.union([Times, AfterClose])

export const SchedulePlan = z.object({
  name: z.string().trim().min(1).max(100),
  what: z.discriminatedUnion('kind', [
    z.object({
      kind: z.literal('market_review'),
      region: z
        .string()
        .max(64)
        .refine((text) => strictRegions(text) !== null, { error: 'regions such as cn,us, or both, are wanted' }),
    }),
    z.object({
      kind: z.literal('analysis'),
      stock_codes: z.array(z.string().trim().min(1).max(100)).min(1).max(MAX_STOCKS),
    }),
    z.object({ kind: z.literal('watchlist'), watchlist_id: z.string().min(1).max(64) }),
    z.object({
      kind: z.literal('digest'),
      watchlist_id: z.string().min(1).max(64).nullable().default(null).describe('Null for all groups'),
    }),
  ]),
  when: WhenSchema,
  trading_days_only: laxBool().default(true),
  report_type: z.enum(['simple', 'detailed', 'full', 'brief']).default('detailed'),
  report_language: ReportLanguage.nullable().default(null),
  notify: laxBool().default(true),
  channels: z.array(z.string().min(1).max(100)).max(MAX_CHANNELS).nullable().default(null),
  catch_up_minutes: laxInt({ min: 5, max: 1440 }).default(240),
})
export type SchedulePlan = z.infer<typeof SchedulePlan>
export type ScheduleTime = SchedulePlan['when']

// The requests of a due slot; checks which of its markets are open. It has no side effects and reads no storage.

export type ScheduledStock = { key: string; stockCode: string; stockName: string | null }

export type Due =
  | { kind: 'review'; request: TaskRequest; leftOut: string[] }
  | { kind: 'analysis'; requests: TaskRequest[]; leftOut: string[] }
  | { kind: 'digest'; leftOut: string[] }
  /** All of its markets are closed on that day, or it has no stock. */
  | { kind: 'nothing'; reason: 'market_closed' | 'no_stocks'; leftOut: string[] }

type Circumstances = { slot: Slot; configuredLanguage: ReportLanguage; stocks: readonly ScheduledStock[] }

export function dueWork(plan: SchedulePlan, { slot, configuredLanguage, stocks }: Circumstances): Due {
  const isOpen = (market: Market) => !plan.trading_days_only || isTradingDay(market, localDate(market, slot.at))
  const isWanted = (market: Market) => (slot.market === null || slot.market === market) && isOpen(market)
  const isLeftOut = (market: Market) => (slot.market === null || slot.market === market) && !isOpen(market)
  if (plan.what.kind === 'market_review') {
    const regions = strictRegions(plan.what.region) ?? []
    const leftOut = regions.filter(isLeftOut)
    const open = regions.filter(isWanted)
    if (open.length === 0) return { kind: 'nothing', reason: 'market_closed', leftOut }
    const request = reviewRequest({
      regions: open,
      reportLanguage: plan.report_language,
      configuredLanguage,
      notify: plan.notify,
      channels: plan.channels,
      priority: 'scheduled',
    })
    return { kind: 'review', request, leftOut }
  }
  const known = stocks.flatMap((stock) => {
    const instrument = instrumentOf(stock)
    return instrument === null ? [] : [{ stock, market: instrument.market }]
  })
  const leftOut = known.filter(({ market }) => isLeftOut(market)).map(({ stock }) => stock.stockCode)
  const open = known.filter(({ market }) => isWanted(market)).map(({ stock }) => stock)
  if (open.length === 0) return { kind: 'nothing', reason: known.length === 0 ? 'no_stocks' : 'market_closed', leftOut }
  if (plan.what.kind === 'digest') return { kind: 'digest', leftOut: [] }
  const batch = hexId()
  return {
    kind: 'analysis',
    requests: open.map((stock) => requestOf(plan, stock, { batch, configuredLanguage })),
    leftOut,
  }
}

/** The markets of a plan; it may wait for their close. */
export function marketsOf(plan: SchedulePlan, stocks: readonly ScheduledStock[]): Market[] {
  if (plan.what.kind === 'market_review') return strictRegions(plan.what.region) ?? []
  return [...new Set(stocks.flatMap((stock) => instrumentOf(stock)?.market ?? []))]
}

function instrumentOf({ key }: ScheduledStock): Instrument | null {
  const parsed = parseCode(key)
  return parsed.ok ? parsed.instrument : null
}

type Terms = { batch: string; configuredLanguage: ReportLanguage }

function requestOf(plan: SchedulePlan, stock: ScheduledStock, { batch, configuredLanguage }: Terms): TaskRequest {
  return {
    kind: 'analysis',
    key: stock.key,
    stockCode: stock.stockCode,
    stockName: stock.stockName,
    reportType: plan.report_type,
    analysisPhase: 'auto',
    language: plan.report_language ?? configuredLanguage,
    reportLanguage: plan.report_language,
    skills: null,
    originalQuery: null,
    reading: null,
    selectionSource: 'schedule',
    forceRefresh: false,
    notify: plan.notify,
    region: null,
    priority: 'scheduled',
    batch,
    channels: plan.channels,
  }
}

/** The current stocks of a plan: a change of a watchlist applies from the next slot. */
export async function plannedStocks(
  db: D1Database,
  names: NameIndex,
  { owner, plan }: { owner: string; plan: SchedulePlan },
): Promise<ScheduledStock[]> {
  const { what } = plan
  if (what.kind === 'market_review') return []
  if (what.kind === 'analysis') {
    const { targets } = resolveEntries(what.stock_codes, names)
    return targets.map(({ instrument, stockCode, listing }) => {
      return { key: instrument.key, stockCode, stockName: listing?.zh ?? null }
    })
  }
  const { watchlist_id: wanted } = what
  const lists = (await listWatchlists(db, owner)).filter(({ id }) => wanted === null || id === wanted)
  return [...new Map(lists.flatMap(({ stocks }) => stocks.map((stock) => [stock.key, stock]))).values()]
}

// The due times of a schedule. A slot is named after the local time in its zone. So it is one slot even if that time
// occurs twice: then the first one counts. A time that is skipped by the clock is moved later by the length of the
// skip.

export type Slot = {
  /** Unique within its schedule. */
  id: string
  /** Epoch ms. */
  at: number
  /** The market with the close that it follows; null for a fixed time. */
  market: Market | null
}

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
/** Longer than any closure of an exchange. */
const MOST_DAYS_AHEAD = 20

/** The slots after `from` and up to `until`, earliest first. `markets` are the markets of the schedule. */
export function slotsBetween(
  when: ScheduleTime,
  markets: readonly Market[],
  span: { from: number; until: number },
): Slot[] {
  const slots = 'times' in when ? timeSlots(when, span) : closeSlots(when, markets, span)
  return slots.filter(({ at }) => at > span.from && at <= span.until).sort((a, b) => a.at - b.at)
}

/** The first slot after that time; null if there is none within weeks. */
export function nextSlot(when: ScheduleTime, markets: readonly Market[], after: number): Slot | null {
  for (let days = 2; days <= MOST_DAYS_AHEAD; days += 3) {
    const [first] = slotsBetween(when, markets, { from: after, until: after + days * DAY_MS })
    if (first !== undefined) return first
  }
  return null
}

type Span = { from: number; until: number }

function timeSlots({ times, zone, days }: Extract<ScheduleTime, { times: string[] }>, { from, until }: Span): Slot[] {
  const dates = datesBetween(wallClock(from, zone).date, wallClock(until, zone).date)
  return dates
    .filter((date) => days.some((day) => day === weekday(date)))
    .flatMap((date) => times.map((time) => ({ id: `${date}T${time}`, at: instantOf(date, time, zone), market: null })))
}

function closeSlots(
  when: Exclude<ScheduleTime, { times: string[] }>,
  markets: readonly Market[],
  { from, until }: Span,
): Slot[] {
  const delayMs = when.after_close_minutes * MINUTE_MS
  return markets.flatMap((market) => {
    const first = localDate(market, from - MAX_AFTER_CLOSE_MINUTES * MINUTE_MS)
    return datesBetween(first, localDate(market, until))
      .filter((date) => isTradingDay(market, date))
      .map((date) => ({ id: `${market}@${date}`, at: sessionEnd(market, date) + delayMs, market }))
  })
}

function datesBetween(first: string, last: string): string[] {
  const dates: string[] = []
  for (let date = first; date <= last; date = addDays(date, 1)) dates.push(date)
  return dates
}

/** `getUTCDay` counts from Sunday, `DAYS` from Monday. */
const weekday = (date: string): string | undefined => DAYS[(new Date(`${date}T00:00:00Z`).getUTCDay() + 6) % 7]

function instantOf(date: string, time: string, zone: string): number {
  const asUtc = Date.parse(`${date}T${time}:00Z`)
  const offsets = [asUtc - DAY_MS, asUtc + DAY_MS].map((at) => wallClock(at, zone).offsetMinutes * MINUTE_MS)
  const shown = offsets.map((offset) => asUtc - offset).filter((at) => shows(at, { date, time, zone }))
  return shown.length > 0 ? Math.min(...shown) : asUtc - (offsets[0] ?? 0)
}

function shows(at: number, { date, time, zone }: { date: string; time: string; zone: string }): boolean {
  const clock = wallClock(at, zone)
  const minutes = Math.floor(clock.secondOfDay / 60)
  const text = `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
  return clock.date === date && text === time
}
