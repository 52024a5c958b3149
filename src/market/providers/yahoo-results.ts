// One report from figures of many periods. A quarter here is three months; a year is twelve. What is compared or divided is always
// of the same span and of one currency:
//
// - growth: (this period − the same period a year before) / that one. None where that one is not above zero: a change from a loss
//   is no percentage.
// - gross margin: gross profit / revenue of the period.
// - return on equity: profit of twelve months (the year, or the quarter with the three before it) / mean of the equity at their
//   end and a year before.

import type { FinancialReport } from '../company.ts'
import { rounded } from './checks.ts'

export const ITEMS = [
  'TotalRevenue',
  'NetIncomeCommonStockholders',
  'OperatingCashFlow',
  'GrossProfit',
  'StockholdersEquity',
] as const
export type Item = (typeof ITEMS)[number]
export type Span = 'quarterly' | 'annual'
export type Figure = { value: number; currency: string }
/** By the last day of the period. */
type Figures = Map<string, Figure>
export type Reported = Record<Span, Map<Item, Figures>>

const DAY_MS = 86_400_000
const YEAR_DAYS = 365
/** Years of 52 or 53 weeks end on another day each time. */
const SLACK_DAYS = 10
const QUARTER_DAYS = 91
const QUARTERS = 4

/** The newest period that can be compared with the year before it, else the newest there is. A year goes before its last quarter. */
export function newestReport(reported: Reported): FinancialReport | null {
  const all = [...periodsOf(reported.annual, 'annual'), ...periodsOf(reported.quarterly, 'quarterly')]
  // Stable: of two that end on one day the year, which stands first, remains first.
  const newest = all.sort((a, b) => b.date.localeCompare(a.date))
  const chosen = newest.find(({ isComparable }) => isComparable) ?? newest[0]
  return chosen === undefined ? null : reportOf(reported[chosen.span], chosen)
}

type Period = { span: Span; date: string; currency: string; isComparable: boolean }

function periodsOf(figures: Map<Item, Figures>, span: Span): Period[] {
  const dates = new Set(MAIN.flatMap((item) => [...(figures.get(item)?.keys() ?? [])]))
  return [...dates].map((date) => {
    const currency = MAIN.flatMap((item) => figures.get(item)?.get(date)?.currency ?? [])[0] ?? ''
    const isComparable = MAIN.some((item) => {
      return at(figures, item, { date, currency }) !== null && yearBefore(figures, item, { date, currency }) !== null
    })
    return { span, date, currency, isComparable }
  })
}

const MAIN: readonly Item[] = ['TotalRevenue', 'NetIncomeCommonStockholders']

function reportOf(figures: Map<Item, Figures>, period: Period): FinancialReport {
  const { date, span, currency } = period
  const revenue = at(figures, 'TotalRevenue', period)
  const gross = at(figures, 'GrossProfit', period)
  return {
    reportDate: date,
    period: span === 'annual' ? 'year' : 'quarter',
    revenue,
    netProfitParent: at(figures, 'NetIncomeCommonStockholders', period),
    operatingCashFlow: at(figures, 'OperatingCashFlow', period),
    roePct: returnOnEquity(figures, period),
    grossMarginPct: gross === null || revenue === null || revenue <= 0 ? null : rounded((gross / revenue) * 100, 2),
    revenueYoyPct: growth(figures, 'TotalRevenue', period),
    netProfitYoyPct: growth(figures, 'NetIncomeCommonStockholders', period),
    currency,
  }
}

type Moment = Pick<Period, 'date' | 'currency'>

function at(figures: Map<Item, Figures>, item: Item, { date, currency }: Moment): number | null {
  const figure = figures.get(item)?.get(date)
  return figure?.currency === currency ? figure.value : null
}

/** The figure of the period that ended so many days earlier. */
function earlier(figures: Map<Item, Figures>, item: Item, from: Moment & { days: number }): number | null {
  const found = [...(figures.get(item) ?? [])].find(([date, { currency }]) => {
    const days = (Date.parse(from.date) - Date.parse(date)) / DAY_MS
    return Math.abs(days - from.days) <= SLACK_DAYS && currency === from.currency
  })
  return found?.[1].value ?? null
}

const yearBefore = (figures: Map<Item, Figures>, item: Item, moment: Moment): number | null =>
  earlier(figures, item, { ...moment, days: YEAR_DAYS })

function growth(figures: Map<Item, Figures>, item: Item, moment: Moment): number | null {
  const [now, before] = [at(figures, item, moment), yearBefore(figures, item, moment)]
  return now === null || before === null || before <= 0 ? null : rounded((now / before - 1) * 100, 2)
}

function returnOnEquity(figures: Map<Item, Figures>, period: Period): number | null {
  const [end, start] = [at(figures, 'StockholdersEquity', period), yearBefore(figures, 'StockholdersEquity', period)]
  const profit = profitOfYear(figures, period)
  if (end === null || start === null || profit === null || end <= 0 || start <= 0) return null
  return rounded((profit / ((end + start) / 2)) * 100, 2)
}

function profitOfYear(figures: Map<Item, Figures>, period: Period): number | null {
  const item = 'NetIncomeCommonStockholders'
  const last = at(figures, item, period)
  if (period.span === 'annual') return last
  const before = Array.from({ length: QUARTERS - 1 }, (_, i) => {
    return earlier(figures, item, { ...period, days: QUARTER_DAYS * (i + 1) })
  })
  return [last, ...before].reduce(
    (sum, profit) => (sum === null || profit === null ? null : sum + profit),
    0 as number | null,
  )
}
