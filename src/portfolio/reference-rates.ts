// The euro's reference rates of the European Central Bank: one set for each working day, published at about 16:00 in
// Frankfurt. https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates describes the
// three files.

import { newestReference, saveReference } from '../db/reference-rates.ts'
import { parseAmount } from '../lib/decimal.ts'
import { type Fetch, requestText, UpstreamError } from '../lib/http-client.ts'
import { addDays, isWeekend } from '../market/calendar.ts'
import type { ReferenceDay } from './rates.ts'

export const ECB = 'ecb'

type File = { path: string; days: number; maxBytes: number }
/** The smallest file with all days since the newest stored one is used; the last has all since 1999. */
const FILES: readonly File[] = [
  { path: 'eurofxref-daily.xml', days: 1, maxBytes: 100_000 },
  { path: 'eurofxref-hist-90d.xml', days: 85, maxBytes: 2_000_000 },
  { path: 'eurofxref-hist.xml', days: Number.POSITIVE_INFINITY, maxBytes: 20_000_000 },
]
/** From the whole history, the days that a valuation may need. */
const DAYS_KEPT = 800
/** In UTC: 16:00 in Frankfurt, plus a margin. */
const TOLD_AT_HOUR = 15.5

export type ReferenceSource = { url: string; timeoutMs: number; fetch?: Fetch }

/** The newest day whose rates should be published. */
export function newestDue(day: string, now: number): string {
  const today = new Date(now).toISOString().slice(0, 10)
  const hour = (now % 86_400_000) / 3_600_000
  const latest = day < today ? day : hour >= TOLD_AT_HOUR ? today : addDays(today, -1)
  let due = latest
  while (isWeekend(due) || isHoliday(due)) due = addDays(due, -1)
  return due
}

/** Days without rates: the holidays of the payment system TARGET. */
function isHoliday(day: string): boolean {
  const easter = easterSunday(Number(day.slice(0, 4)))
  return (
    ['01-01', '05-01', '12-25', '12-26'].includes(day.slice(5)) ||
    day === addDays(easter, -2) ||
    day === addDays(easter, 1)
  )
}

/** With the algorithm of Meeus, Jones and Butcher. */
function easterSunday(year: number): string {
  const [a, b, c] = [year % 19, Math.floor(year / 100), year % 100]
  const d = (19 * a + b - Math.floor(b / 4) - Math.floor((b - Math.floor((b + 8) / 25) + 1) / 3) + 15) % 30
  const e = (32 + 2 * (b % 4) + 2 * Math.floor(c / 4) - d - (c % 4)) % 7
  const f = d + e - 7 * Math.floor((a + 11 * d + 22 * e) / 451) + 114
  const two = (figure: number) => String(figure).padStart(2, '0')
  return `${year}-${two(Math.floor(f / 31))}-${two((f % 31) + 1)}`
}

/** Fetches published rates that are not stored yet; returns the number of days. Throws `UpstreamError`. */
export async function refreshReference(db: D1Database, source: ReferenceSource, now: number): Promise<number> {
  const newest = await newestReference(db, ECB)
  const due = newestDue(new Date(now).toISOString().slice(0, 10), now)
  if (newest !== null && newest >= due) return 0
  const days = await askedDays(source, { newest, now })
  if (days.length > 0) await saveReference(db, { source: ECB, days, at: now })
  return days.length
}

async function askedDays(
  { url, timeoutMs, fetch }: ReferenceSource,
  { newest, now }: RateQuery,
): Promise<ReferenceDay[]> {
  const today = new Date(now).toISOString().slice(0, 10)
  const isEnough = ({ days }: File) => newest !== null && workingDays(newest, today) <= days
  const file = FILES.find(isEnough) ?? FILES.at(-1)
  if (file === undefined) return []
  const { path, maxBytes } = file
  const text = await requestText(`${url}/stats/eurofxref/${path}`, {
    service: ECB,
    timeoutMs,
    maxBytes,
    retries: 1,
    ...(fetch === undefined ? {} : { fetch }),
  })
  const since = newest !== null && newest > addDays(today, -DAYS_KEPT) ? newest : addDays(today, -DAYS_KEPT)
  return daysIn(text, { since, latest: today })
}

type RateQuery = { newest: string | null; now: number }

/** Working days after the first day, up to the last. */
function workingDays(from: string, to: string): number {
  let count = 0
  for (let day = addDays(from, 1); day <= to && count < 200; day = addDays(day, 1)) {
    if (!isWeekend(day) && !isHoliday(day)) count += 1
  }
  return count
}

const DAY_BEGINS = /<Cube\s+time\s*=\s*/
const DATE = /^["'](\d{4}-\d{2}-\d{2})["']\s*>/
const RATE = /<Cube\s+currency\s*=\s*["']([A-Z]{3})["']\s+rate\s*=\s*["']([\d.]{1,24})["']\s*\/>/g

/** The days after `since`. A file without any readable day has an unknown format. */
export function daysIn(xml: string, { since, latest }: { since: string; latest: string }): ReferenceDay[] {
  const days: ReferenceDay[] = []
  let isKnownForm = false
  // The text before the first day is not one.
  for (const day of xml.split(DAY_BEGINS).slice(1)) {
    const date = DATE.exec(day)?.[1]
    const rates = ratesIn(day.slice(0, Math.max(0, day.indexOf('</Cube>'))))
    if (date === undefined || Object.keys(rates).length === 0 || date > latest) continue
    isKnownForm = true
    if (date > since) days.push({ date, rates })
  }
  if (!isKnownForm) throw new UpstreamError({ service: ECB, reason: 'malformed', detail: 'not the known form' })
  return days
}

function ratesIn(body: string): Record<string, string> {
  const rates: Record<string, string> = {}
  for (const [, currency = '', rate = ''] of body.matchAll(RATE)) {
    const amount = parseAmount(rate)
    if (amount !== null && amount > 0n && currency !== 'EUR') rates[currency] = rate
  }
  return rates
}
