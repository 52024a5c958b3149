// What is known of a company in the members that readers of a report look for. Figures come from the sources as they are;
// what is derived (a yield, a sum over a year) is derived here and nowhere else.

import type { FlowView } from '../analysis/capital-flow.ts'
import type { Company, Part } from '../analysis/company.ts'
import type {
  Board,
  BoardRankings,
  Dividend,
  FinancialReport,
  Fundamentals,
  RankedBoard,
  RankedEnds,
} from '../market/company.ts'
import type { CompanyValue } from '../market/valuation.ts'
import { sanitize } from './diagnostics.ts'
import { round } from './trend-analysis.ts'

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

/** A quarter's return is of the twelve months up to its end. */
const roePeriod = ({ period }: FinancialReport): string => (period === 'quarter' ? 'trailing_twelve_months' : period)

const DAY_MS = 86_400_000
const YEAR_DAYS = 365
const MOST_EVENTS = 5

/** The money of the price; null when nobody tells it. */
export type DividendInput = { company: Company; price: number | null; priceCurrency: string | null; asOf: string }

export type YearOfDividends = {
  count: number
  /** For one share; null when they were paid in money of several kinds, which no sum can hold. */
  cash: number | null
  currency: string | null
  /** Of the price, where both are of one money. */
  yieldPct: number | null
}

/** The cash dividends of the year that ends with a day, by their ex-days; null while nobody told of any. */
export function yearOfDividends({ company, price, priceCurrency, asOf }: DividendInput): YearOfDividends | null {
  const { value } = company.fundamentals
  if (value === null) return null
  const since = new Date(Date.parse(asOf) - YEAR_DAYS * DAY_MS).toISOString().slice(0, 10)
  const recent = value.dividends.filter(({ exDate }) => exDate !== null && exDate <= asOf && exDate > since)
  const currencies = new Set(recent.map(({ currency }) => currency))
  const [currency = null] = currencies
  const cash = currencies.size > 1 ? null : round(recent.reduce((sum, { cashPerShare }) => sum + cashPerShare, 0))
  const isOfOneMoney = currency === null || currency === priceCurrency
  const yieldPct = cash !== null && price !== null && price > 0 && isOfOneMoney ? round((cash / price) * 100) : null
  return { count: recent.length, cash, currency: currencies.size > 1 ? null : currency, yieldPct }
}

/** Cash dividends before tax; null while nobody told of any. */
export function dividendMetrics(input: DividendInput): Json | null {
  const { value } = input.company.fundamentals
  const year = yearOfDividends(input)
  if (value === null || year === null) return null
  return {
    events: value.dividends.slice(0, MOST_EVENTS).map(eventOf),
    ttm_event_count: year.count,
    ttm_cash_dividend_per_share: year.cash,
    coverage: 'cash_dividend_pre_tax',
    ...(year.currency === null ? {} : { currency: year.currency }),
    as_of: input.asOf,
    ttm_dividend_yield_pct: year.yieldPct,
    yield_formula: 'ttm_cash_dividend_per_share / price * 100',
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

export type FundamentalInput = {
  company: Company
  flow: FlowView
  value: CompanyValue | null
  quoteSource: string | null
  isSampled: boolean
}

/** Every block with its state, so that a reader can tell "none" from "nobody could say". */
export function fundamentalContext(input: FundamentalInput): Json {
  const { company, flow } = input
  const { fundamentals, boards, rankings } = company
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

function valuationBlock({ company, value, quoteSource, isSampled }: FundamentalInput): Json {
  const figures = {
    pe: value?.peRatio ?? null,
    pb: value?.pbRatio ?? null,
    total_mv: value?.totalMarketValue ?? null,
    circ_mv: value?.circulatingMarketValue ?? null,
  }
  const known = Object.values(figures).filter((figure) => figure !== null).length
  const status = isSampled ? 'not_supported' : known === 4 ? 'ok' : known > 0 ? 'partial' : 'no_data'
  const source = value === null ? null : value.asOf === null ? quoteSource : company.fundamentals.source
  return {
    status,
    ...figures,
    ...(value === null ? {} : { currency: value.currency }),
    ...(value?.asOf ? { as_of: value.asOf } : {}),
    source_chain: source === null ? [] : [source],
  }
}

/** Whether results, dividends or ratios say anything of the company. */
export function hasFundamentals(fundamentals: Fundamentals | null): boolean {
  return fundamentals !== null && (fundamentals.report !== null || fundamentals.dividends.length > 0)
}
