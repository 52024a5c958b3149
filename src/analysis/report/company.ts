// Company data in the fields that readers of a report expect. Figures are unchanged source data; derived values (a
// yield, a sum over a year) are computed only here.

import type { Board, BoardRankings, Dividend, FinancialReport, RankedBoard, RankedEnds } from '../../market/company.ts'
import { sanitize } from '../diagnostics.ts'
import type { Company, Part } from '../gather/company.ts'
import type { Judged } from '../judge/judge.ts'
import { markFor } from '../texts/findings.ts'
import { round } from '../texts/format.ts'
import { quoteSource } from './facts.ts'

type Json = Record<string, unknown>

export function financialReport({ fundamentals }: Company): Json | null {
  const report = fundamentals.value?.report
  if (!report) return null
  return {
    report_date: report.reportDate,
    period: report.period,
    revenue: report.revenue,
    net_profit_parent: report.netProfitParent,
    operating_cash_flow: report.operatingCashFlow,
    roe: report.roePct,
    roe_period: roePeriod(report),
    gross_margin: report.grossMarginPct,
    revenue_yoy: report.revenueYoyPct,
    net_profit_yoy: report.netProfitYoyPct,
    currency: report.currency,
  }
}

/** The return of a quarter covers the twelve months up to its end. */
const roePeriod = ({ period }: FinancialReport): string => (period === 'quarter' ? 'trailing_twelve_months' : period)

const MOST_EVENTS = 5

/** Cash dividends before tax; null when no source has them. */
export function dividendMetrics({ company, dividends: year, asOf, consistency, language }: Judged): Json | null {
  const { value } = company.fundamentals
  if (value === null || year === null) return null
  // The yield is relative to the price.
  const mark = markFor(consistency, ['price'], language)
  return {
    events: value.dividends.slice(0, MOST_EVENTS).map(eventOf),
    ttm_event_count: year.count,
    ttm_cash_dividend_per_share: year.cash,
    coverage: 'cash_dividend_pre_tax',
    ...(year.currency === null ? {} : { currency: year.currency }),
    as_of: asOf,
    ttm_dividend_yield_pct: year.yieldPct,
    yield_formula: 'ttm_cash_dividend_per_share / price * 100',
    ...(mark === '' ? {} : { checks: mark }),
  }
}

function eventOf({ exDate, recordDate, announcedOn, cashPerShare, currency }: Dividend): Json {
  return {
    event_date: exDate ?? recordDate ?? announcedOn,
    ex_dividend_date: exDate,
    record_date: recordDate,
    announcement_date: announcedOn,
    cash_dividend_per_share: round(cashPerShare),
    currency,
    is_pre_tax: true,
  }
}

/** The boards of the stock; those in the day's rankings are marked. */
export function belongBoards({ boards, rankings }: Company): Json[] | null {
  if (boards.value === null) return null
  return boards.value.map((board) => {
    const type = kindOf(board, rankings.value)
    return { name: board.name, code: board.code, ...(type === null ? {} : { type }), change_pct: board.changePct }
  })
}

const inEnds = ({ top, bottom }: RankedEnds, code: string): RankedBoard | undefined =>
  [...top, ...bottom].find((ranked) => ranked.code === code)

function kindOf({ code }: Board, rankings: BoardRankings | null): string | null {
  if (rankings === null) return null
  if (inEnds(rankings.industries, code)) return '行业'
  return inEnds(rankings.concepts, code) ? '概念' : null
}

export type WireRankings = { top: Json[]; bottom: Json[]; status: string }

export function wireRankings({ rankings }: Company, of: keyof BoardRankings): WireRankings | null {
  if (rankings.value === null) return null
  const { top, bottom } = rankings.value[of]
  const wire = (boards: RankedBoard[]) => boards.map((board) => wireBoard(board, of, rankings.source))
  return { top: wire(top), bottom: wire(bottom), status: 'ok' }
}

function wireBoard(
  { code, name, changePct, rank, leader, mainNet }: RankedBoard,
  of: string,
  source: string | null,
): Json {
  const kind = of === 'industries' ? 'industry' : 'concept'
  return { name, code, source, kind, change_pct: changePct, rank, leader, main_net_inflow: mainNet }
}

/** Every block with its state, so that a reader can distinguish "none" from "unknown". */
export function fundamentalContext(input: Judged): Json {
  const { company, flow } = input
  const { fundamentals, boards, rankings, peers } = company
  const report = fundamentals.value?.report ?? null
  return {
    valuation: valuationBlock(input),
    growth: {
      ...blockOf(fundamentals, report !== null),
      revenue_yoy: report?.revenueYoyPct ?? null,
      net_profit_yoy: report?.netProfitYoyPct ?? null,
      roe: report?.roePct ?? null,
      gross_margin: report?.grossMarginPct ?? null,
    },
    earnings: {
      ...blockOf(fundamentals, report !== null),
      financial_report: financialReport(company),
      dividend_count: fundamentals.value?.dividends.length ?? null,
    },
    capital_flow: {
      ...blockOf(company.flow),
      stock_flow: {
        main_net_inflow: flow.today,
        inflow_5d: flow.days5,
        inflow_10d: flow.days10,
        date: flow.date,
        bias: flow.bias,
      },
    },
    boards: { ...blockOf(boards), count: boards.value?.length ?? null },
    rankings: blockOf(rankings),
    peers: blockOf(peers),
  }
}

function blockOf<T>(part: Part<T>, isWhole = true): Json {
  const { state, source, reasons, ageSeconds } = part
  return {
    status: state === 'ok' ? (isWhole ? 'ok' : 'partial') : state,
    source_chain: source === null ? [] : [source],
    errors: reasons.map(sanitize),
    ...(ageSeconds === null ? {} : { age_seconds: ageSeconds }),
  }
}

function valuationBlock(judged: Judged): Json {
  const { company, value, provenance } = judged
  const figures = {
    pe: value?.peRatio ?? null,
    pb: value?.pbRatio ?? null,
    total_mv: value?.totalMarketValue ?? null,
    circ_mv: value?.circulatingMarketValue ?? null,
  }
  const known = Object.values(figures).filter((figure) => figure !== null).length
  const status = provenance !== null ? 'not_supported' : known === 4 ? 'ok' : known > 0 ? 'partial' : 'no_data'
  const source = value === null ? null : value.asOf === null ? quoteSource(judged) : company.fundamentals.source
  return {
    status,
    ...figures,
    ...(value === null ? {} : { currency: value.currency }),
    ...(value?.asOf ? { as_of: value.asOf } : {}),
    source_chain: source === null ? [] : [source],
  }
}
