// Yahoo's data about companies outside the mainland: figures from their reports and ratios as time series, dividends
// from the chart. The derived figures are computed in the second half of this file.

import { z } from 'zod'
import { addDays, isDate, localDate } from '../calendar.ts'
import type { Dividend, FinancialReport, Fundamentals, Valuation } from '../company.ts'
import { currencyOf, type Instrument } from '../instruments.ts'
import { faulty, rounded } from './checks.ts'
import type { QuoteQuery } from './provider.ts'
import { askWithSession, type Chart, chartOf, isSymbol, SERVICE, symbolOf, type YahooOptions } from './yahoo-http.ts'

const MOST_DIVIDENDS = 20
const DIVIDEND_RANGE = '2y'
/** Covers the five years and five quarters that are available. */
const YEARS = 6
const DAY_MS = 86_400_000

const ITEMS = [
  'TotalRevenue',
  'NetIncomeCommonStockholders',
  'OperatingCashFlow',
  'GrossProfit',
  'StockholdersEquity',
] as const
type Item = (typeof ITEMS)[number]
type Span = 'quarterly' | 'annual'
type Figure = { value: number; currency: string }
/** By the last day of the period. */
type Figures = Map<string, Figure>
type Reported = Record<Span, Map<Item, Figures>>

const RATIOS = ['trailingPeRatio', 'trailingPbRatio', 'trailingMarketCap'] as const
const SPANS: readonly Span[] = ['quarterly', 'annual']
const TYPES: readonly string[] = [...SPANS.flatMap((span) => ITEMS.map((item) => `${span}${item}`)), ...RATIOS]
/** How a period of that length is marked; other marks mean another length. */
const PERIOD: Record<Span, string> = { quarterly: '3M', annual: '12M' }

const Point = z.object({
  asOfDate: z.string(),
  periodType: z.string().nullish(),
  currencyCode: z.string().nullish(),
  reportedValue: z.object({ raw: z.number() }),
})
type Point = z.infer<typeof Point>
const Points = z.array(Point.nullable())

const Line = z.looseObject({ meta: z.object({ symbol: z.array(z.string()), type: z.array(z.string()) }) })
const Answer = z.object({ timeseries: z.object({ result: z.array(Line).nullish() }) })

export async function fundamentals(
  options: YahooOptions,
  instrument: Instrument,
  query: QuoteQuery,
): Promise<Fundamentals> {
  const [lines, chart] = await Promise.all([
    linesOf(options, instrument, query),
    chartOf(options, { instrument, range: DIVIDEND_RANGE, events: 'div' }, query),
  ])
  const report = newestReport(reportedIn(lines))
  const dividends = dividendsOf(instrument, chart, localDate(instrument.market, options.clock()))
  const valuation = valuationOf(lines)
  if (report === null && dividends.length === 0 && valuation === null) {
    throw faulty(SERVICE, 'empty', 'neither results, dividends nor ratios')
  }
  return { report, dividends, valuation }
}

/** The validated points of each type that has any. */
async function linesOf(
  options: YahooOptions,
  instrument: Instrument,
  query: QuoteQuery,
): Promise<Map<string, Point[]>> {
  const symbol = symbolOf(instrument)
  const now = Math.floor(options.clock() / 1000)
  const name = encodeURIComponent(symbol)
  const since = now - (YEARS * 366 * DAY_MS) / 1000
  const path =
    `/ws/fundamentals-timeseries/v1/finance/timeseries/${name}` +
    `?symbol=${name}&type=${TYPES.join(',')}&period1=${since}&period2=${now}`
  const parsed = Answer.safeParse(await askWithSession(options, path, query))
  if (!parsed.success) throw faulty(SERVICE, 'malformed', 'not the known form of time series')
  const lines = parsed.data.timeseries.result ?? []
  if (lines.some(({ meta }) => meta.symbol.some((answered) => !isSymbol(answered, symbol)))) {
    throw faulty(SERVICE, 'wrong_symbol', symbol)
  }
  const today = localDate(instrument.market, options.clock())
  return new Map(
    lines.flatMap((line): [string, Point[]][] => {
      const type = line.meta.type[0] ?? ''
      return TYPES.includes(type) ? [[type, pointsOf(line[type], today)]] : []
    }),
  )
}

/** A type without data has no field of its name. */
function pointsOf(told: unknown, today: string): Point[] {
  const parsed = Points.safeParse(told ?? [])
  if (!parsed.success) throw faulty(SERVICE, 'malformed', 'not the known form of a figure')
  const points = parsed.data.filter((point) => point !== null)
  for (const { asOfDate } of points) {
    if (!isDate(asOfDate)) throw faulty(SERVICE, 'bad_dates', 'a figure without its date')
    if (asOfDate > today) throw faulty(SERVICE, 'bad_dates', `${asOfDate} has not come yet`)
  }
  return points
}

function reportedIn(lines: Map<string, Point[]>): Reported {
  const spanOf = (span: Span) => {
    const figures = ITEMS.map((item) => [item, figuresOf(lines.get(`${span}${item}`) ?? [], PERIOD[span])] as const)
    return new Map(figures)
  }
  return { quarterly: spanOf('quarterly'), annual: spanOf('annual') }
}

/** By the last day of the period. A figure without a currency is ignored. */
function figuresOf(points: Point[], period: string): Map<string, Figure> {
  return new Map(
    points.flatMap(({ asOfDate, periodType, currencyCode, reportedValue }): [string, Figure][] => {
      if (periodType !== period || !currencyCode) return []
      return [[asOfDate, { value: reportedValue.raw, currency: currencyCode }]]
    }),
  )
}

/** All ratios of the newest day: a loss has no ratio, and the ratio of an earlier profit must not replace it. */
function valuationOf(lines: Map<string, Point[]>): Valuation | null {
  const newest = (type: string) => lines.get(type)?.findLast(({ asOfDate }) => asOfDate === asOf) ?? null
  const asOf = RATIOS.flatMap((type) => lines.get(type) ?? [])
    .map(({ asOfDate }) => asOfDate)
    .sort()
    .at(-1)
  if (asOf === undefined) return null
  const [pe, pb, size] = RATIOS.map((type) => newest(type))
  const marketValue = size?.currencyCode ? positive(size.reportedValue.raw) : null
  return {
    asOf,
    peRatio: nonZero(pe?.reportedValue.raw),
    pbRatio: nonZero(pb?.reportedValue.raw),
    marketValue,
    currency: marketValue === null ? null : (size?.currencyCode ?? null),
  }
}

const positive = (value: number): number | null => (value > 0 ? value : null)
const nonZero = (value: number | undefined): number | null => (value === undefined || value === 0 ? null : value)

/** The newest first. The chart dates a dividend by its ex-date, and uses the listing's currency unless it names another. */
function dividendsOf(instrument: Instrument, chart: Chart, today: string): Dividend[] {
  const latest = addDays(today, 366)
  const paid = Object.values(chart.events?.dividends ?? {}).flatMap(({ amount, date, currency }): Dividend[] => {
    if (!(amount > 0)) return []
    const exDate = localDate(instrument.market, date * 1000)
    if (exDate > latest) throw faulty(SERVICE, 'bad_dates', `a dividend of ${exDate}`)
    const money = currency ?? chart.meta.currency ?? currencyOf(instrument)
    return [{ exDate, recordDate: null, announcedOn: null, cashPerShare: amount, currency: money }]
  })
  return paid.sort((a, b) => (b.exDate ?? '').localeCompare(a.exDate ?? '')).slice(0, MOST_DIVIDENDS)
}

// One report from figures of many periods. A quarter here is three months; a year is twelve. Only figures of the same
// length and currency are compared or divided:
//
// - growth: (this period − the same period a year before) / that one. None if that one is not above zero: a change from
//   a loss
//   is no percentage.
// - gross margin: gross profit / revenue of the period.
// - return on equity: profit of twelve months (the year, or the quarter with the three before it) / mean of the equity
//   at their
//   end and a year before.

const YEAR_DAYS = 365
/** Years of 52 or 53 weeks end on a different day each time. */
const SLACK_DAYS = 10
const QUARTER_DAYS = 91
const QUARTERS = 4

/**
 * The newest period that can be compared with the year before it, else the newest one. A year has priority over its
 * last quarter.
 */
function newestReport(reported: Reported): FinancialReport | null {
  const all = [...periodsOf(reported.annual, 'annual'), ...periodsOf(reported.quarterly, 'quarterly')]
  // Stable: if two end on one day, the year, which comes first, remains first.
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

/** The figure of the period that ended this many days earlier. */
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
