import type { Clock } from '../lib/clock.ts'
import type { Fetch } from '../lib/http-client.ts'
import { type Hit, hitOf, type RawHit } from './article.ts'
import { publishedAt } from './dates.ts'

export type SearchQuery = {
  text: string
  /** How far back it may go. */
  days: number
  count: number
  /** Of what is searched for, not of the report. */
  language: 'zh' | 'en'
  /** Where news lose their worth in days, providers ask their news index, which tells dates. */
  isNews: boolean
}

/** One search service. It answers what it found, perhaps nothing, or throws UpstreamError. */
export type SearchProvider = {
  readonly name: string
  search(query: SearchQuery, signal: AbortSignal): Promise<Hit[]>
}

export type SearchOptions = { url: string; key: string; clock: Clock; fetch?: Fetch }

/** Cleaned and dated; a result without a title or an address is none. */
export function hitsOf(rows: readonly RawHit[], now: number): Hit[] {
  return rows.flatMap((row) => {
    const hit = hitOf(row)
    return hit === null ? [] : [{ ...hit, publishedAt: publishedAt({ ...hit, date: row.date }, now) }]
  })
}

/** The words that services have for an age. */
export function ageWord<T>(days: number, words: { day: T; week: T; month: T; year: T }): T {
  if (days <= 1) return words.day
  if (days <= 7) return words.week
  return days <= 31 ? words.month : words.year
}
