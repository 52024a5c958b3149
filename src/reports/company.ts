// What is known of a company in the members that readers of a report look for. Figures come from the sources as they are;
// what is derived (a yield, a sum over a year) is derived here and nowhere else.

import type { FlowView } from '../analysis/capital-flow.ts'
import type { Company, Part } from '../analysis/company.ts'
import type { Quote } from '../market/bars.ts'
import type { Board, BoardRankings, Dividend, Fundamentals, RankedBoard, RankedEnds } from '../market/company.ts'
import { sanitize } from './diagnostics.ts'
import { round } from './trend-analysis.ts'

type Json = Record<string, unknown>

export function financialReport({ fundamentals }: Company): Json | null {
  const report = fundamentals.value?.report
  if (!report) return null
  return {
    report_date: report.reportDate,
    revenue: report.revenue,
    net_profit_parent: report.netProfitParent,
    operating_cash_flow: report.operatingCashFlow,
    roe: report.roePct,
    gross_margin: report.grossMarginPct,
    revenue_yoy: report.revenueYoyPct,
    net_profit_yoy: report.netProfitYoyPct,
    currency: report.currency,
  }
}

const DAY_MS = 86_400_000
const YEAR_DAYS = 365
const MOST_EVENTS = 5

export type DividendInput = { company: Company; price: number | null; asOf: string }

/** Cash dividends before tax; null while nobody told of any. */
export function dividendMetrics({ company, price, asOf }: DividendInput): Json | null {
  const { value } = company.fundamentals
  if (value === null) return null
  const paid = value.dividends.filter(({ exDate }) => exDate !== null && exDate <= asOf)
  const since = new Date(Date.parse(asOf) - YEAR_DAYS * DAY_MS).toISOString().slice(0, 10)
  const recent = paid.filter(({ exDate }) => exDate !== null && exDate > since)
  const cash = round(recent.reduce((sum, { cashPerShare }) => sum + cashPerShare, 0))
  const yieldPct = price !== null && price > 0 ? round((cash / price) * 100) : null
  return {
    events: value.dividends.slice(0, MOST_EVENTS).map(eventOf),
    ttm_event_count: recent.length,
    ttm_cash_dividend_per_share: cash,
    coverage: 'cash_dividend_pre_tax',
    ...(value.report ? { currency: value.report.currency } : {}),
    as_of: asOf,
    ttm_dividend_yield_pct: yieldPct,
    yield_formula: 'ttm_cash_dividend_per_share / price * 100',
  }
}

function eventOf({ exDate, recordDate, announcedOn, cashPerShare }: Dividend): Json {
  return {
    event_date: exDate ?? recordDate ?? announcedOn,
    ex_dividend_date: exDate,
    record_date: recordDate,
    announcement_date: announcedOn,
    cash_dividend_per_share: round(cashPerShare),
    is_pre_tax: true,
  }
}

/** The boards of the stock; those among the day's rankings say so. */
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

export type FundamentalInput = { company: Company; flow: FlowView; quote: Quote | null; isSampled: boolean }

/** Every block with its state, so that a reader can tell "none" from "nobody could say". */
export function fundamentalContext({ company, flow, quote, isSampled }: FundamentalInput): Json {
  const { fundamentals, boards, rankings } = company
  const report = fundamentals.value?.report ?? null
  return {
    valuation: valuationBlock(quote, isSampled),
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

function valuationBlock(quote: Quote | null, isSampled: boolean): Json {
  const figures = {
    pe: quote?.peRatio ?? null,
    pb: quote?.pbRatio ?? null,
    total_mv: quote?.totalMarketValue ?? null,
    circ_mv: quote?.circulatingMarketValue ?? null,
  }
  const known = Object.values(figures).filter((figure) => figure !== null).length
  const status = isSampled ? 'not_supported' : known === 4 ? 'ok' : known > 0 ? 'partial' : 'no_data'
  return { status, ...figures }
}

/** Whether results, dividends or ratios say anything of the company. */
export function hasFundamentals(fundamentals: Fundamentals | null): boolean {
  return fundamentals !== null && (fundamentals.report !== null || fundamentals.dividends.length > 0)
}
