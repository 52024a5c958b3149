// Applies a screen to the current figures, and formats its listings for clients.

import { type FigureRow, type Oldest, type Screened, screenListings } from '../db/screen-query.ts'
import { isoMicros } from '../lib/clock.ts'
import { previousTradingDay } from '../market/calendar.ts'
import { sessionsBetween } from '../market/consistency/date-checks.ts'
import { currencyOf, type Market, parseCode } from '../market/instruments.ts'
import { FIELDS, isNumber } from './fields.ts'
import { settledSession } from './figures.ts'
import { fieldsOf, MARKETS, type Screen } from './filter.ts'

/** For each market the oldest session that is recent enough. */
export function oldestSessions(maxAgeSessions: number, now: number): Oldest {
  const days = MARKETS.map((market): [Market, string] => {
    let day = settledSession(market, now)
    for (let back = 0; back < maxAgeSessions; back += 1) day = previousTradingDay(market, day)
    return [market, day]
  })
  return Object.fromEntries(days) as Record<Market, string>
}

export type Window = { limit: number; offset: number }

export async function runScreen(
  db: D1Database,
  screen: Screen,
  { now, window }: { now: number; window: Window },
): Promise<Screened> {
  const oldest = oldestSessions(screen.maxAgeSessions, now)
  return screenListings(db, { screen, oldest, fields: fieldsOf(screen), window })
}

export type ScreenedItem = {
  code: string
  name: string
  name_en: string | null
  market: Market
  exchange: string
  kind: string
  industry: string | null
  risk_warned: boolean
  currency: string
  session: string | null
  age_sessions: number | null
  source: string | null
  told_at: string | null
  bars_session: string | null
  bars_age_sessions: number | null
  bars_source: string | null
  bars_told_at: string | null
  figures: Record<string, number | null>
  checks: string[]
}

/** Ages are computed once for each day. */
export function itemMaker(now: number): (row: FigureRow) => ScreenedItem {
  const ages = new Map<string, number>()
  const ageOf = (market: Market, session: string | null): number | null => {
    if (session === null) return null
    const key = `${market} ${session}`
    const age = ages.get(key) ?? ageInSessions(market, session, now)
    ages.set(key, age)
    return age
  }
  return (row) => itemOf(row, ageOf)
}

/** The number of sessions that have ended since that one. */
export function ageInSessions(market: Market, session: string, now: number): number {
  const due = settledSession(market, now)
  return session >= due ? 0 : sessionsBetween(market, session, due) + 1
}

const day = (at: number | null): string | null => (at === null || at === 0 ? null : isoMicros(at))

function itemOf(row: FigureRow, ageOf: (market: Market, session: string | null) => number | null): ScreenedItem {
  const market = row.market as Market
  const parsed = parseCode(row.key)
  const isCurrent = {
    listing: true,
    close: counts(row.session, row.oldest),
    bars: counts(row.bars_session, row.oldest),
  }
  const figures = FIELDS.filter(isNumber).map(({ name, of }) => [name, isCurrent[of] ? row[name] : null])
  const checks = [
    ...(isCurrent.close ? marksIn(row.close_marks) : []),
    ...(isCurrent.bars ? marksIn(row.bars_marks) : []),
  ]
  return {
    ...{ code: row.key, name: row.name, name_en: row.en === '' ? null : row.en, market },
    ...{ exchange: String(row.exchange), kind: String(row.kind), industry: row.industry as string | null },
    risk_warned: row.risk_warned === 1,
    currency: parsed.ok ? currencyOf(parsed.instrument) : '',
    ...{
      session: row.session,
      age_sessions: ageOf(market, row.session),
      source: row.source,
      told_at: day(row.told_at),
    },
    ...{ bars_session: row.bars_session, bars_age_sessions: ageOf(market, row.bars_session) },
    ...{ bars_source: row.bars_source, bars_told_at: day(row.bars_told_at) },
    figures: Object.fromEntries(figures) as Record<string, number | null>,
    checks: [...new Set(checks)],
  }
}

/** Figures that are too old are not used as current ones. */
const counts = (session: string | null, oldest: string): boolean => session !== null && session >= oldest

const marksIn = (json: string): string[] => JSON.parse(json) as string[]

export function countsItem({ listings, kept, tooOld, unknown, matched, unknownBy }: Screened['counts']) {
  return { listings, with_figures: kept, too_old: tooOld, unknown, unknown_by_field: unknownBy, matched }
}
