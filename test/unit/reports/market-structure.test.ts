import { expect, test } from 'vitest'
import type { Company, Part } from '../../../src/analysis/gather/company.ts'
import { marketStructure } from '../../../src/analysis/report/market-structure.ts'
import type { Board, BoardRankings, RankedBoard } from '../../../src/market/company.ts'
import type { Instrument } from '../../../src/market/instruments.ts'

const known = <T>(value: T): Part<T> => ({
  ...{ state: 'ok', value, source: 'test', ageSeconds: null, reasons: [], runs: [] },
})
const missing = <T>(): Part<T> => ({
  ...{ state: 'failed', value: null, source: null, ageSeconds: null, reasons: [], runs: [] },
})
const board = (code: string, changePct: number | null = null): Board => ({ code, name: `Board ${code}`, changePct })
const ranked = (code: string, rank: number, changePct: number | null, leader: string | null = null): RankedBoard => ({
  ...board(code, changePct),
  ...{ rank, risingCount: null, fallingCount: null, leader, mainNet: null },
})
const RANKINGS: BoardRankings = {
  industries: { top: [ranked('i1', 1, 3, 'Alpha'), ranked('i2', 2, 2.9, null)], bottom: [ranked('i9', 90, -1)] },
  concepts: { top: [ranked('c1', 1, 0.1, 'Beta'), ranked('c2', 3, 0)], bottom: [ranked('c9', 80, null)] },
}
const STOCK: Instrument = { key: '600519', market: 'cn', exchange: 'SH', kind: 'stock', code: '600519' }

type Structure = Record<string, unknown> & {
  status: string
  market_theme_context: Record<string, unknown>
  stock_market_position: Record<string, unknown>
}
function structure(parts: Partial<Company>, instrument = STOCK, displayName = 'Moutai'): Structure {
  const company: Company = {
    ...{ fundamentals: missing(), flow: missing(), peers: missing(), boards: known([]), rankings: known(RANKINGS) },
    ...parts,
  }
  const made: Record<string, unknown> = marketStructure({ instrument, displayName, today: null, company })
  return made as Structure
}

test('themes are active while they rise, strong by how much, and those that fall or are not told are not', () => {
  const { market_theme_context: context } = structure({})
  const theme = (code: string, rank: number, source: string, rest: object) => ({
    ...{ name: `Board ${code}`, code, rank, source },
    ...rest,
  })
  const [i1, i2] = [
    theme('i1', 1, 'industry', { phase: 'accelerating', change_pct: 3, strength_score: 74 }),
    theme('i2', 2, 'industry', { phase: 'warming', change_pct: 2.9, strength_score: 73 }),
  ]
  const [c1, c2] = [
    theme('c1', 1, 'concept', { phase: 'warming', change_pct: 0.1, strength_score: 51 }),
    theme('c2', 3, 'concept', { phase: 'cooling', change_pct: 0, strength_score: 50 }),
  ]
  expect(context).toMatchObject({
    schema_version: 'market-theme-v1',
    status: 'ok',
    market: 'cn',
    active_themes: [i1, i2, c1],
    leading_industries: [i1, i2],
    leading_concepts: [c1, c2],
    lagging_themes: [
      theme('i9', 90, 'industry', { phase: 'cooling', change_pct: -1, strength_score: 42 }),
      theme('c9', 80, 'concept', { phase: 'unknown' }),
    ],
    leader_stocks: [
      { name: 'Alpha', theme: 'Board i1' },
      { name: 'Beta', theme: 'Board c1' },
    ],
    theme_breadth: { active_count: 3, leading_industry_count: 2, leading_concept_count: 2, lagging_count: 2 },
    data_quality: { status: 'ok', missing_fields: [], errors: [] },
  })
  const wild = { ...RANKINGS, industries: { top: [ranked('a', 1, 9)], bottom: [ranked('b', 2, -9)] } }
  const { market_theme_context: extremes } = structure({ rankings: known(wild) })
  expect(extremes.leading_industries).toMatchObject([{ strength_score: 100 }])
  expect(extremes.lagging_themes).toMatchObject([{ strength_score: 0 }, {}])
})

test('no more than five leaders are named', () => {
  const top = Array.from({ length: 7 }, (_, i) => ranked(`i${i}`, i + 1, 1, `L${i}`))
  const { market_theme_context: context } = structure({
    rankings: known({ ...RANKINGS, industries: { top, bottom: [] } }),
  })
  expect(context.leader_stocks).toMatchObject(['L0', 'L1', 'L2', 'L3', 'L4'].map((name) => ({ name })))
  expect(context.leader_stocks).toHaveLength(5)
})

test('a stock stands in the best ranked of its boards: it leads one, follows, or is at the edge of all', () => {
  const boards = known([board('x', 5), board('c2'), board('i9', 4), board('c1', 9)])
  const { stock_market_position: follower, status } = structure({ boards })
  expect([status, follower]).toMatchObject([
    'ok',
    {
      schema_version: 'stock-market-position-v1',
      stock_code: '600519',
      stock_name: 'Moutai',
      primary_theme: { code: 'c1', source: 'concept', rank: 1, change_pct: 0.1, phase: 'warming' },
      stock_role: 'follower',
      theme_phase: 'warming',
      risk_tags: [],
      missing_fields: [],
    },
  ])
  expect(follower.related_boards).toEqual([
    { name: 'Board x', code: 'x', source: 'unknown', change_pct: 5 },
    { name: 'Board c2', code: 'c2', source: 'concept', rank: 3, change_pct: 0 },
    { name: 'Board i9', code: 'i9', source: 'industry', rank: 90, change_pct: -1 },
    { name: 'Board c1', code: 'c1', source: 'concept', rank: 1, change_pct: 0.1 },
  ])
  expect(structure({ boards }, STOCK, 'Beta').stock_market_position.stock_role).toBe('leader')
  const { stock_market_position: edge } = structure({ boards: known([board('x', 5)]) })
  expect(edge).toMatchObject({
    stock_role: 'edge',
    theme_phase: 'unknown',
    risk_tags: [{ code: 'stock_theme_evidence_partial' }],
  })
  expect(edge).not.toHaveProperty('primary_theme')
})

test('what is missing is named, and makes the whole partial or unknown', () => {
  const one = structure({ rankings: missing() })
  expect([one.status, one.market_theme_context.status, one.stock_market_position.missing_fields]).toEqual([
    'partial',
    'unknown',
    ['rankings'],
  ])
  expect(one.market_theme_context).toMatchObject({ data_quality: { missing_fields: ['rankings'] }, leader_stocks: [] })
  expect(one.stock_market_position.risk_tags).toMatchObject([{ code: 'theme_data_partial' }])
  const both = structure({ rankings: missing(), boards: missing() })
  expect([both.status, both.stock_market_position]).toMatchObject([
    'unknown',
    {
      stock_role: 'unknown',
      status: 'unknown',
      missing_fields: ['rankings', 'boards'],
      risk_tags: [{ code: 'theme_data_partial' }, { code: 'board_membership_missing' }],
    },
  ])
})

test('what is no stock of the mainland has no such structure', () => {
  const fund: Instrument = { ...STOCK, kind: 'etf' }
  const foreign: Instrument = { key: 'AAPL', market: 'us', exchange: 'US', kind: 'stock', code: 'AAPL' }
  expect(structure({}, fund)).toEqual({ schema_version: 'market-structure-v1', market: 'cn', status: 'not_supported' })
  expect(structure({}, foreign)).toEqual({
    schema_version: 'market-structure-v1',
    market: 'us',
    status: 'not_supported',
  })
})
