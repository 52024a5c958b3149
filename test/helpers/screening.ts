// Stored screening figures that a test sets.

import { env } from 'cloudflare:workers'
import { saveBars, saveCloses } from '../../src/db/stock-figures.ts'
import type { Market } from '../../src/market/instruments.ts'
import { parseCode } from '../../src/market/instruments.ts'
import { BARS_FIELDS, type BarsField, CLOSE_FIELDS, type CloseField } from '../../src/screening/fields.ts'
import { settledSession } from '../../src/screening/figures.ts'

export const SCREENING = '/api/v1/screening'
export const english = { 'accept-language': 'en' }

export type Row = {
  key: string
  session?: string
  barsSession?: string | null
  industry?: string | null
  name?: string
  close?: Partial<Record<CloseField, number | null>>
  bars?: Partial<Record<BarsField, number | null>>
  marks?: 'volume_units'[]
}

const NONE = {
  close: Object.fromEntries(CLOSE_FIELDS.map((name) => [name, null])) as Record<CloseField, number | null>,
  bars: Object.fromEntries(BARS_FIELDS.map((name) => [name, null])) as Record<BarsField, number | null>,
}

export async function keepFigures(rows: readonly Row[], now = Date.now()): Promise<void> {
  const closes = rows.map(({ key, session, industry = null, name = key, close = {}, marks = [] }) => {
    const parsed = parseCode(key)
    if (!parsed.ok) throw new Error(`${key} is no listing`)
    const { market, exchange, kind } = parsed.instrument
    const listed = { key, market, exchange, kind, name, en: '', riskWarned: /ST/.test(name) }
    const day = session ?? settledSession(market, now)
    return {
      listed,
      industry,
      kept: { session: day, source: 'scripted', toldAt: now, figures: { ...NONE.close, ...close }, marks },
    }
  })
  await saveCloses(env.DB, closes, fillOf('jp', now))
  const withBars = rows.filter(({ bars, barsSession }) => bars !== undefined || barsSession != null)
  await saveBars(
    env.DB,
    withBars.map(({ key, barsSession, bars = {} }) => {
      const parsed = parseCode(key)
      if (!parsed.ok) throw new Error(`${key} is no listing`)
      const session = barsSession ?? settledSession(parsed.instrument.market, now)
      const kept = { session, source: 'scripted', toldAt: now, figures: { ...NONE.bars, ...bars }, marks: [] }
      return { key, bars: kept, close: null, isContradicted: false, toldAt: now, nextAt: now + 86_400_000, failures: 0 }
    }),
  )
}

/** A reading of a market that no test fills. */
const fillOf = (market: Market, now: number) => ({
  ...{
    market,
    session: '2020-01-01',
    source: 'scripted',
    position: null,
    isDone: true,
    told: 0,
    refused: 0,
    failures: 0,
  },
  ...{ nextAt: 0, startedAt: now, endedAt: now },
})
