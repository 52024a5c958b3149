// The day's themes and the stock's position in them, from its boards and the market's rankings. Mainland stocks only.

import type { Board, RankedBoard } from '../../market/company.ts'
import type { Company } from '../gather/company.ts'
import type { Inputs } from '../gather/gather.ts'

type Json = Record<string, unknown>
type Source = 'industry' | 'concept'
type Theme = RankedBoard & { source: Source }

type Structured = Pick<Inputs, 'instrument' | 'displayName' | 'today' | 'company'>

export function marketStructure({ instrument, displayName, today, company }: Structured): Json {
  const date = today?.date ?? null
  const base = { schema_version: 'market-structure-v1', market: instrument.market, ...(date && { trade_date: date }) }
  if (instrument.market !== 'cn' || instrument.kind !== 'stock') return { ...base, status: 'not_supported' }
  const { rankings, boards } = company
  const missing = [...(rankings.value === null ? ['rankings'] : []), ...(boards.value === null ? ['boards'] : [])]
  const status = missing.length === 0 ? 'ok' : missing.length === 1 ? 'partial' : 'unknown'
  return {
    ...base,
    status,
    market_theme_context: { ...themeContext(company), ...(date && { trade_date: date }) },
    stock_market_position: { ...position(company, { instrument, displayName }), status, missing_fields: missing },
  }
}

function themeContext({ rankings }: Company): Json {
  const status = rankings.value === null ? 'unknown' : 'ok'
  const industries = themes(rankings.value?.industries.top, 'industry')
  const concepts = themes(rankings.value?.concepts.top, 'concept')
  const lagging = [
    ...themes(rankings.value?.industries.bottom, 'industry'),
    ...themes(rankings.value?.concepts.bottom, 'concept'),
  ]
  const active = [...industries, ...concepts].filter(({ changePct }) => (changePct ?? 0) > 0)
  return {
    schema_version: 'market-theme-v1',
    status,
    market: 'cn',
    active_themes: active.map(wireTheme),
    leading_industries: industries.map(wireTheme),
    leading_concepts: concepts.map(wireTheme),
    lagging_themes: lagging.map(wireTheme),
    hotspot_constituents: [],
    leader_stocks: leadersOf(active),
    theme_breadth: {
      active_count: active.length,
      leading_industry_count: industries.length,
      leading_concept_count: concepts.length,
      lagging_count: lagging.length,
    },
    data_quality: {
      status,
      missing_fields: rankings.value === null ? ['rankings'] : [],
      sources: [{ provider: rankings.source, dataset: 'board_rank', status: rankings.state }],
      errors: [],
    },
  }
}

const themes = (boards: RankedBoard[] | undefined, source: Source): Theme[] =>
  (boards ?? []).map((board) => ({ ...board, source }))

function leadersOf(active: readonly Theme[]): Json[] {
  return active.flatMap(({ leader, name }) => (leader === null ? [] : [{ name: leader, theme: name }])).slice(0, 5)
}

type Phase = 'accelerating' | 'warming' | 'cooling' | 'unknown'

function phaseOf(changePct: number | null): Phase {
  if (changePct === null) return 'unknown'
  if (changePct >= 3) return 'accelerating'
  return changePct > 0 ? 'warming' : 'cooling'
}

const strengthOf = (changePct: number): number => Math.min(100, Math.max(0, Math.round(50 + 8 * changePct)))

function wireTheme({ name, code, changePct, rank, source }: Theme): Json {
  return {
    name,
    code,
    rank,
    source,
    phase: phaseOf(changePct),
    ...(changePct === null ? {} : { change_pct: changePct, strength_score: strengthOf(changePct) }),
  }
}

function position(
  { boards, rankings }: Company,
  { instrument, displayName }: Pick<Inputs, 'instrument' | 'displayName'>,
): Json {
  const ranked = [
    ...themes([...(rankings.value?.industries.top ?? []), ...(rankings.value?.industries.bottom ?? [])], 'industry'),
    ...themes([...(rankings.value?.concepts.top ?? []), ...(rankings.value?.concepts.bottom ?? [])], 'concept'),
  ]
  const related = (boards.value ?? []).map((board) => relatedBoard(board, ranked))
  const primary = [...related].filter(({ rank }) => rank !== null).sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0))[0]
  const isLeader = ranked.some(({ leader }) => leader !== null && leader === displayName)
  const phase = primary === undefined ? 'unknown' : phaseOf(primary.changePct)
  return {
    schema_version: 'stock-market-position-v1',
    stock_code: instrument.key,
    stock_name: displayName,
    market: 'cn',
    ...(primary && { primary_theme: { ...wireRelated(primary), phase } }),
    related_boards: related.map(wireRelated),
    stock_role: boards.value === null ? 'unknown' : isLeader ? 'leader' : primary ? 'follower' : 'edge',
    theme_phase: phase,
    risk_tags: riskTags({
      boards: boards.value !== null,
      rankings: rankings.value !== null,
      primary: Boolean(primary),
    }),
  }
}

type Related = { board: Board; rank: number | null; changePct: number | null; source: Source | 'unknown' }

function relatedBoard(board: Board, ranked: readonly Theme[]): Related {
  const theme = ranked.find(({ code }) => code === board.code)
  return {
    board,
    rank: theme?.rank ?? null,
    changePct: theme?.changePct ?? board.changePct,
    source: theme?.source ?? 'unknown',
  }
}

function wireRelated({ board, rank, changePct, source }: Related): Json {
  return {
    name: board.name,
    code: board.code,
    source,
    ...(rank === null ? {} : { rank }),
    ...(changePct === null ? {} : { change_pct: changePct }),
  }
}

function riskTags(known: { boards: boolean; rankings: boolean; primary: boolean }): Json[] {
  const tags: [boolean, string, string][] = [
    [!known.rankings, 'theme_data_partial', 'the rankings of the boards are missing'],
    [!known.boards, 'board_membership_missing', 'the boards of the stock are not known'],
    [
      known.boards && known.rankings && !known.primary,
      'stock_theme_evidence_partial',
      'none of its boards is among the strongest or weakest',
    ],
  ]
  return tags.flatMap(([holds, code, message]) => (holds ? [{ code, message }] : []))
}
