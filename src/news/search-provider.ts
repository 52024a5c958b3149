import type { z } from 'zod'
import type { Clock } from '../lib/clock.ts'
import { type Fetch, UpstreamError } from '../lib/http-client.ts'
import { type Hit, hitOf, type RawHit } from './article.ts'

export type SearchQuery = {
  text: string
  /** The maximum age of results. */
  days: number
  count: number
  /** The language of the search, not of the report. */
  language: 'zh' | 'en'
  /** For topics that are only interesting for days, providers search their news index, which has dates. */
  isNews: boolean
}

/** One search service. It returns its results, perhaps none, or throws UpstreamError. */
export type SearchProvider = {
  readonly name: string
  search(query: SearchQuery, signal: AbortSignal): Promise<Hit[]>
}

export type SearchProviderDeps = { clock: Clock; fetch?: Fetch }

export type SearchOptions = SearchProviderDeps & { url: string; key: string }

/** Cleaned and dated; results without a title or an address are dropped. */
export function hitsOf(rows: readonly RawHit[], now: number): Hit[] {
  return rows.flatMap((row) => {
    const hit = hitOf(row)
    return hit === null ? [] : [{ ...hit, publishedAt: publishedAt({ ...hit, date: row.date }, now) }]
  })
}

/** A service's parameter for an age. */
export function ageWord<T>(days: number, words: { day: T; week: T; month: T; year: T }): T {
  if (days <= 1) return words.day
  if (days <= 7) return words.week
  return days <= 31 ? words.month : words.year
}

// The time of publication. Providers write it in many ways, some not at all: then the address or the snippet may
// contain it.

const DAY_MS = 86_400_000
const UNITS: [RegExp, number][] = [
  [/sec|秒|초/, 1_000],
  [/min|分|분/, 60_000],
  [/hour|hr|小时|小時|시간/, 3_600_000],
  [/day|天|日|일/, DAY_MS],
  [/week|周|週|주/, 7 * DAY_MS],
  [/month|个月|個月|月|개월|달/, 30 * DAY_MS],
  [/year|年|년/, 365 * DAY_MS],
]
const RELATIVE =
  /^(?:about |over )?(\d{1,3}|an?)\s*(second|sec|minute|min|hour|hr|day|week|month|year|秒|分钟|分鐘|小时|小時|天|日|周|週|个月|個月|年|초|분|시간|일|주|개월|달|년)s?\s*(?:ago|前|전)/i

/** The instant in a provider's text, epoch ms; null when there is none. */
export function instantOf(text: string, now: number): number | null {
  const trimmed = text.trim()
  if (/^(just now|刚刚|剛剛|방금)$/i.test(trimmed)) return now
  if (/^(today|今天|오늘)/i.test(trimmed)) return now
  if (/^(yesterday|昨天|어제)/i.test(trimmed)) return now - DAY_MS
  const relative = RELATIVE.exec(trimmed)
  if (relative) {
    const count = /^an?$/i.test(relative[1] ?? '') ? 1 : Number(relative[1])
    const unit = UNITS.find(([pattern]) => pattern.test((relative[2] ?? '').toLowerCase()))
    return unit === undefined ? null : now - count * unit[1]
  }
  const day = dayIn(trimmed)
  if (day !== null && /^\D{0,3}\d{4}\D/.test(trimmed)) {
    const whole = Date.parse(trimmed)
    return Number.isNaN(whole) ? day : whole
  }
  const parsed = /[a-z]{3}/i.test(trimmed) ? Date.parse(trimmed) : Number.NaN
  return Number.isNaN(parsed) ? day : parsed
}

const DAY = /(?<!\d)(20\d\d)\s?[-/.年]\s?(0?[1-9]|1[0-2])\s?[-/.月]\s?(0?[1-9]|[12]\d|3[01])(?!\d)/
const COMPACT = /(?<!\d)(20\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?!\d)/

function dayIn(text: string): number | null {
  const [, year, month, day] = DAY.exec(text) ?? []
  return year === undefined ? null : utc(year, month, day)
}

function utc(year: string | undefined, month: string | undefined, day: string | undefined): number | null {
  const at = Date.UTC(Number(year), Number(month) - 1, Number(day))
  // An invalid day of a month would become a day of the next one.
  return new Date(at).getUTCDate() === Number(day) ? at : null
}

type Dated = { date: string | null | undefined; url: string; snippet: string }

/** The provider's date, else that in the address, else a date at the beginning of the snippet. ISO 8601. */
export function publishedAt({ date, url, snippet }: Dated, now: number): string | null {
  const told = date ? instantOf(date, now) : null
  const at = told ?? dayInAddress(url) ?? dayIn(snippet.slice(0, 40))
  return at === null ? null : new Date(at).toISOString().replace('.000Z', 'Z')
}

function dayInAddress(url: string): number | null {
  const path = new URL(url).pathname
  const spelled = /\/(20\d\d)[-/](0?[1-9]|1[0-2])[-/](0?[1-9]|[12]\d|3[01])(?!\d)/.exec(path)
  const [, year, month, day] = spelled ?? COMPACT.exec(path) ?? []
  return year === undefined ? null : utc(year, month, day)
}

/** A reply in the expected shape; any other reply is a failure of the service, not an empty answer. */
export function checkedReply<T>(service: string, schema: z.ZodType<T>, reply: unknown): T {
  const parsed = schema.safeParse(reply)
  if (parsed.success) return parsed.data
  const at = parsed.error.issues[0]?.path.join('.') ?? ''
  throw new UpstreamError({ service, reason: 'malformed', detail: `unexpected shape at ${at || 'the top'}` })
}
