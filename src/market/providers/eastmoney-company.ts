// Results and dividends from EastMoney's data centre, which has other rules than its quotes, and the flows of money.

import { z } from 'zod'
import { localDate } from '../calendar.ts'
import type { Dividend, FinancialReport, FlowDay, Fundamentals } from '../company.ts'
import type { Instrument } from '../instruments.ts'
import { isDate } from '../zoned-time.ts'
import { faulty } from './checks.ts'
import { ask, type EastMoneyOptions, echoes, Figure, SERVICE, secids, toFigure } from './eastmoney-http.ts'
import type { QuoteQuery } from './provider.ts'

const MOST_DIVIDENDS = 20
// Dividends are given for ten shares.
const SHARES_TOLD = 10
// Amounts are in renminbi, even where the shares trade in another currency.
const CURRENCY = 'CNY'

const rows = <T>(row: z.ZodType<T>) =>
  z.object({ success: z.boolean().optional(), result: z.object({ data: z.array(row).nullish() }).nullish() })

const day = z.string().nullish()
const Results = rows(
  z.object({
    SECURITY_CODE: z.string(),
    REPORTDATE: z.string(),
    TOTAL_OPERATE_INCOME: Figure,
    PARENT_NETPROFIT: Figure,
    WEIGHTAVG_ROE: Figure,
    XSMLL: Figure,
    YSTZ: Figure,
    SJLTZ: Figure,
    NOTICE_DATE: day,
  }),
)

const Bonuses = rows(
  z.object({
    SECURITY_CODE: z.string(),
    PRETAX_BONUS_RMB: Figure,
    EX_DIVIDEND_DATE: day,
    EQUITY_RECORD_DATE: day,
    NOTICE_DATE: day,
  }),
)

export async function fundamentals(
  options: EastMoneyOptions,
  instrument: Instrument,
  query: QuoteQuery,
): Promise<Fundamentals> {
  const { code } = instrument
  const table = (name: string, order: string, size: number) =>
    `${options.datacenterUrl}/api/data/v1/get?reportName=${name}&columns=ALL&pageNumber=1&pageSize=${size}` +
    `&sortColumns=${order}&sortTypes=-1&filter=${encodeURIComponent(`(SECURITY_CODE="${code}")`)}`
  const told = await ask(options, table('RPT_LICO_FN_CPD', 'REPORTDATE', 4), { schema: Results, query })
  const paid = await ask(options, table('RPT_SHAREBONUS_DET', 'EX_DIVIDEND_DATE', MOST_DIVIDENDS), {
    schema: Bonuses,
    query,
  })
  const results = told.result?.data ?? []
  const bonuses = paid.result?.data ?? []
  if ([...results, ...bonuses].some((row) => row.SECURITY_CODE !== code)) throw faulty(SERVICE, 'wrong_symbol', code)
  if (results.length + bonuses.length === 0) throw faulty(SERVICE, 'empty', 'neither results nor dividends')
  const today = localDate(instrument.market, options.clock())
  const newest = results.map(toReport).filter(({ reportDate }) => reportDate <= today)
  return {
    report: newest.sort((a, b) => b.reportDate.localeCompare(a.reportDate))[0] ?? null,
    dividends: bonuses.flatMap(toDividend),
    valuation: null,
  }
}

type Result = NonNullable<NonNullable<z.infer<typeof Results>['result']>['data']>[number]

function toReport(row: Result): FinancialReport {
  const reportDate = row.REPORTDATE.slice(0, 10)
  if (!isDate(reportDate)) throw faulty(SERVICE, 'bad_dates', 'a report without its date')
  return {
    reportDate,
    announcedOn: dateIn(row.NOTICE_DATE),
    period: 'year_to_date',
    revenue: row.TOTAL_OPERATE_INCOME,
    netProfitParent: row.PARENT_NETPROFIT,
    operatingCashFlow: null,
    roePct: row.WEIGHTAVG_ROE,
    grossMarginPct: row.XSMLL,
    revenueYoyPct: row.YSTZ,
    netProfitYoyPct: row.SJLTZ,
    currency: CURRENCY,
  }
}

type Bonus = NonNullable<NonNullable<z.infer<typeof Bonuses>['result']>['data']>[number]

/** A dividend in money that has its day; shares given out and plans are none. */
function toDividend(row: Bonus): Dividend[] {
  const exDate = dateIn(row.EX_DIVIDEND_DATE)
  if (exDate === null || row.PRETAX_BONUS_RMB === null || row.PRETAX_BONUS_RMB <= 0) return []
  return [
    {
      exDate,
      recordDate: dateIn(row.EQUITY_RECORD_DATE),
      announcedOn: dateIn(row.NOTICE_DATE),
      cashPerShare: row.PRETAX_BONUS_RMB / SHARES_TOLD,
      currency: CURRENCY,
    },
  ]
}

function dateIn(text: string | null | undefined): string | null {
  const date = text?.slice(0, 10) ?? ''
  return isDate(date) ? date : null
}

const Flow = z.object({ data: z.object({ code: z.string(), klines: z.array(z.string()) }).nullish() })
const FLOW_FIELDS = 'fields1=f1,f2,f3,f7&fields2=f51,f52,f53,f54,f55,f56,f57,f58,f59,f60,f61,f62,f63'
const FLOW_DAYS = 60

/** The oldest day first. */
export async function capitalFlow(
  options: EastMoneyOptions,
  instrument: Instrument,
  query: QuoteQuery,
): Promise<FlowDay[]> {
  const [secid = ''] = secids(instrument)
  const url = `${options.historyUrl}/api/qt/stock/fflow/daykline/get?secid=${secid}&klt=101&lmt=${FLOW_DAYS}&${FLOW_FIELDS}`
  const { data } = await ask(options, url, { schema: Flow, query })
  if (!data || data.klines.length === 0) throw faulty(SERVICE, 'empty', 'no flow')
  if (!echoes(secid, data.code)) throw faulty(SERVICE, 'wrong_symbol', secid)
  const today = localDate(instrument.market, options.clock())
  const days = data.klines.map(toFlowDay)
  for (const [i, { date }] of days.entries()) {
    if (!isDate(date) || date > today || date <= (days[i - 1]?.date ?? '')) throw faulty(SERVICE, 'bad_dates', date)
  }
  return days
}

/** Date, then main, small, medium, large and super-large net flow, then their shares of the turnover. */
function toFlowDay(line: string): FlowDay {
  const [date = '', ...rest] = line.split(',')
  const [mainNet, smallNet, mediumNet, largeNet, superLargeNet, mainNetPct] = rest.map(toFigure)
  const all = [mainNet, smallNet, mediumNet, largeNet, superLargeNet]
  if (all.some((value) => value === null || value === undefined)) throw faulty(SERVICE, 'malformed', `flow of ${date}`)
  return {
    date,
    mainNet: mainNet ?? 0,
    smallNet: smallNet ?? 0,
    mediumNet: mediumNet ?? 0,
    largeNet: largeNet ?? 0,
    superLargeNet: superLargeNet ?? 0,
    mainNetPct: mainNetPct ?? null,
  }
}
