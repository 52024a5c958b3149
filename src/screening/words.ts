// The texts that screening needs: `texts/` has a file for each language.

import type { Market } from '../market/instruments.ts'
import type { FieldName, FieldUnit } from './fields.ts'

type NameOfPath = (path: string) => string
type Named = (path: string, name: string) => string
type Listed = (path: string, name: string, allowed: string) => string

export const STRATEGY_IDS = [
  'dual_low',
  'balanced_alpha',
  'capital_heat',
  'trend_pullback',
  'near_high',
  'calm_value',
] as const
export type StrategyId = (typeof STRATEGY_IDS)[number]

export type ScreeningTexts = {
  /** Errors in a filter; each names its position. */
  filter: {
    form: NameOfPath
    empty: NameOfPath
    deep: (path: string, most: number) => string
    many: (most: number) => string
    field: Listed
    op: Listed
    choice: Listed
    number: Named
    large: Named
    between: Named
    flag: Named
    texts: (path: string, name: string, most: number) => string
    unit: (path: string, name: string, other: string) => string
  }
  entry: {
    oneLine: string
    times: string
    noMarkets: string
    noChannels: (ids: string) => string
    tooMany: (most: number) => string
    none: string
    market: (kept: string) => string
  }
  units: Readonly<Record<FieldUnit, string>>
  /** Title and meaning. */
  fields: Readonly<Record<FieldName, readonly [title: string, meaning: string]>>
  markets: Readonly<Record<Market, string>>
  strategies: Readonly<Record<StrategyId, { title: string; description: string }>>
  state: {
    off: string
    sampleOnly: string
    nothingYet: string
    filling: (kept: number, listings: number) => string
  }
  /** The message about a run. */
  message: {
    title: (name: string, fresh: number) => string
    counts: (counts: { matched: number; listings: number; unknown: number; tooOld: number; notKept: number }) => string
    of: (days: string) => string
    more: (count: number) => string
    marked: (checks: string) => string
    change: string
  }
  page: {
    reason: (parts: string) => string
    counts: (listings: number, kept: number, matched: number) => string
    unknown: (count: number) => string
    tooOld: (count: number) => string
    notKept: (count: number) => string
    notWhole: (missing: number) => string
    queued: string
    done: string
    noTask: string
    unknownStrategy: (all: string) => string
    badMarket: string
    ofSession: (day: string) => string
    marks: (checks: string) => string
    noTopics: string
    noTopic: string
    topic: (facts: { members: number; rising: number; session: string }) => string
    rising: string
    falling: string
    member: string
    leader: string
  }
}
