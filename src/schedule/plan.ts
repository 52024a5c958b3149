// The plan of a schedule: what to do, when, and for which channels. Stored as JSON, and sent in the same form.

import { z } from 'zod'
import { strictRegions } from '../analysis/market-review/regions.ts'
import { ReportLanguage } from '../analysis/schemas.ts'

export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const

const MAX_TIMES = 24
const MAX_STOCKS = 200
const MAX_CHANNELS = 20
export const MAX_AFTER_CLOSE_MINUTES = 720

/** Three letters that mean one zone only. */
const CLEAR_ABBREVIATIONS: ReadonlySet<string> = new Set('UTC GMT UCT CET EET MET WET PRC ROC ROK'.split(' '))

/** CST is Chicago in the runtime's zone tables, but an owner may mean Shanghai. */
export const isAmbiguousZone = (zone: string): boolean => zone.length === 3 && !CLEAR_ABBREVIATIONS.has(zone)

/** Whether the runtime's zone tables have it. Bare offsets are no zones: they know no daylight saving. */
export function isZone(text: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/.test(text)) return false
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: text })
    return true
  } catch {
    // The constructor throws for an unknown name: that is the answer.
    return false
  }
}

const unique = <T>(items: T[]): T[] => [...new Set(items)]

// Strict: a client that sends an unknown field, or one of the other form, expects something that would not happen.
export const Times = z.strictObject({
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

/** So many minutes after each market's own close, on its own trading days. */
const AfterClose = z.strictObject({ after_close_minutes: z.int().min(0).max(MAX_AFTER_CLOSE_MINUTES) })

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
  ]),
  when: z.union([Times, AfterClose]),
  trading_days_only: z.boolean().default(true),
  report_type: z.enum(['simple', 'detailed', 'full', 'brief']).default('detailed'),
  report_language: ReportLanguage.nullable().default(null),
  notify: z.boolean().default(true),
  channels: z.array(z.string().min(1).max(100)).max(MAX_CHANNELS).nullable().default(null),
  catch_up_minutes: z.int().min(5).max(1440).default(240),
})
export type SchedulePlan = z.infer<typeof SchedulePlan>
export type When = SchedulePlan['when']
