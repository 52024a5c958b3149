// A rule as the evaluation reads it from its row, and the result of a check.

import { z } from 'zod'
import type { ReportLanguage } from '../analysis/schemas.ts'
import type { AlertRule } from '../db/alerts.ts'
import { instantAt, wallClock } from '../market/calendar.ts'
import type { CheckKey } from '../market/consistency/types.ts'
import type { Changes, Happening, Reading, Watch } from './evaluate.ts'
import { isAlertType, KINDS, type Parameters, type Scope, type Source } from './kinds.ts'
import type { Doubt } from './trust.ts'

const Clock = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/)

export const Notification = z.object({
  /** The ids of the channels; null for all of the owner's. */
  channels: z.array(z.string()).nullable().default(null),
  /** During these hours messages are held back until their end. */
  quietHours: z.object({ from: Clock, to: Clock, zone: z.string() }).nullable().default(null),
})
export type Notification = z.infer<typeof Notification>

export type Rule = Watch & {
  row: AlertRule
  source: Source
  scope: Scope
  notification: Notification
  language: ReportLanguage
}

/** Null for a row whose kind no longer exists. */
export function ruleOf(row: AlertRule): Rule | null {
  const { type, scope, language } = row
  if (!isAlertType(type)) return null
  return {
    ...{ row, type, source: KINDS[type].source, scope: scope as Scope, language: language as ReportLanguage },
    parameters: JSON.parse(row.parameters) as Parameters,
    cooldownMs: row.cooldownSeconds * 1000,
    armedAt: row.armedAt,
    notification: Notification.parse(JSON.parse(row.notification)),
  }
}

/** The end of the quiet hours at this moment; null outside of them. */
export function quietUntil(quiet: Notification['quietHours'], now: number): number | null {
  if (quiet === null || quiet.from === quiet.to) return null
  const { date, secondOfDay } = wallClock(now, quiet.zone)
  const [from, to] = [secondsOf(quiet.from), secondsOf(quiet.to)]
  const isOverNight = from > to
  const isInside = isOverNight ? secondOfDay >= from || secondOfDay < to : secondOfDay >= from && secondOfDay < to
  if (!isInside) return null
  const end = instantAt(date, to, quiet.zone)
  return end > now ? end : instantAt(wallClock(now + 86_400_000, quiet.zone).date, to, quiet.zone)
}

function secondsOf(clock: string): number {
  const [hours = 0, minutes = 0] = clock.split(':').map(Number)
  return hours * 3600 + minutes * 60
}

/** What a check found about the targets of one rule. */
export class Findings {
  readonly readings: Reading[] = []
  readonly happenings: Happening[] = []
  /** The targets that could not be checked, by reason. */
  readonly doubts = new Map<Doubt, string[]>()
  /** The number of checked targets. */
  evaluated = 0
  /** The results of rules whose batch is evaluated as a whole. */
  changes: Changes | null = null
  /** Further values for the sentence, by target. */
  readonly facts = new Map<string, Facts>()
  /**
   * For a rule that is checked again only when its data change: the version of these data. Stored with the memory of
   * the targets.
   */
  gate: string | null = null

  /** The checks that rejected figures of targets. */
  readonly refusedBy = new Set<CheckKey>()

  doubt(reason: Doubt, target: string, checks: readonly CheckKey[] = []): void {
    for (const check of checks) this.refusedBy.add(check)
    const known = this.doubts.get(reason)
    if (known === undefined) this.doubts.set(reason, [target])
    else known.push(target)
  }
}

export type Facts = {
  source?: string
  /** Checks that warn about the price. */
  marks?: CheckKey[]
  level?: string
  session?: string
  action?: string
  account?: string
  status?: string
  statusBefore?: number
  text?: string
}

/** In the form that is stored with a trigger. */
export type StoredFacts = Facts & {
  parameters: Rule['parameters']
  reason?: Doubt | 'missed'
  count?: number
  since?: string
}
