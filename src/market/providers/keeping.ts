// How long each kind of answer is stored.

import { z } from 'zod'
import type { Bar } from '../bars.ts'
import { Board, BoardRankings, FlowDay, Fundamentals } from '../company.ts'
import type { Instrument } from '../instruments.ts'
import { BarList, forMinutes, type Keeping, untilNextSession } from './kept.ts'
import type { BarsQuery, QuoteQuery } from './provider.ts'

const RESULTS_MINUTES = 6 * 60
const BOARDS_MINUTES = 24 * 60
const RANKINGS_MINUTES = 5

type CachePolicy<T> = { keeping: Keeping<T>; forceRefresh: boolean }

const forced = ({ forceRefresh = false }: QuoteQuery): boolean => forceRefresh

// A young listing never has as many bars as are requested; only a series this much shorter is requested again.
const NEARLY = 0.9

export function keepBars({ key, market }: Instrument, query: BarsQuery): CachePolicy<Bar[]> {
  return {
    forceRefresh: forced(query),
    keeping: {
      dataType: 'daily_data',
      operation: 'daily_bars',
      key,
      schema: BarList,
      isFresh: untilNextSession(market),
      isEnough: (bars) => bars.length >= query.count * NEARLY,
      count: (bars) => bars.length,
    },
  }
}

export function keepFundamentals({ key }: Instrument, query: QuoteQuery): CachePolicy<Fundamentals> {
  return {
    forceRefresh: forced(query),
    keeping: {
      dataType: 'fundamentals',
      operation: 'fundamentals',
      key,
      schema: Fundamentals,
      isFresh: forMinutes(RESULTS_MINUTES),
      isEnough: () => true,
      count: ({ dividends, report }) => dividends.length + (report === null ? 0 : 1),
    },
  }
}

export function keepFlow({ key, market }: Instrument, query: QuoteQuery): CachePolicy<FlowDay[]> {
  return listKept({ dataType: 'capital_flow', operation: 'capital_flow', key, schema: z.array(FlowDay) }, query, {
    isFresh: untilNextSession(market),
  })
}

export function keepBoards({ key }: Instrument, query: QuoteQuery): CachePolicy<Board[]> {
  return listKept({ dataType: 'belong_boards', operation: 'boards', key, schema: z.array(Board) }, query, {
    isFresh: forMinutes(BOARDS_MINUTES),
  })
}

export function keepRankings({ market }: Instrument, query: QuoteQuery): CachePolicy<BoardRankings> {
  return {
    forceRefresh: forced(query),
    keeping: {
      dataType: 'sector_rankings',
      operation: 'rankings',
      key: market,
      schema: BoardRankings,
      isFresh: forMinutes(RANKINGS_MINUTES),
      isEnough: () => true,
      count: ({ industries, concepts }) => industries.top.length + concepts.top.length,
    },
  }
}

function listKept<T>(
  what: Pick<Keeping<T[]>, 'dataType' | 'operation' | 'key' | 'schema'>,
  query: QuoteQuery,
  { isFresh }: Pick<Keeping<T[]>, 'isFresh'>,
): CachePolicy<T[]> {
  const keeping = { ...what, isFresh, isEnough: () => true, count: (list: T[]) => list.length }
  return { forceRefresh: forced(query), keeping }
}
