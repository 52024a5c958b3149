// Dates of results and dividends from Yahoo and EastMoney. Neither interface is documented by its owner: the fields are
// those that public programs read.
//
// Yahoo: `v10/finance/quoteSummary/<symbol>?modules=calendarEvents`. The type `CalendarEvents` of yahoo-finance2 has
// `earnings.earningsDate`, a list of days, `earnings.isEarningsDateEstimate`, `exDividendDate` and `dividendDate`; each
// day is `{ raw: seconds }` on the wire. No program documents a second day: it is treated as the end of a window. None
// says that ex-date and payment belong to one dividend, so they may not. There is no amount: amounts of past dividends
// are in the chart. It needs the session of `yahoo-http.ts`.
//
// EastMoney's data centre: the tables `RPT_SHAREBONUS_DET` and `RPT_PUBLIC_BS_APPOIN` are those of akshare
// (`stock_fhps_detail_em`, `stock_yysj_em`), which identifies most columns only by position: the cash amount, the
// record date, the ex-date and the notice; the first scheduled day, its first, second and third change, and the day of
// publication. The names of these columns (`PRETAX_BONUS_RMB`, for ten shares, `EQUITY_RECORD_DATE`,
// `EX_DIVIDEND_DATE`, `NOTICE_DATE`; `FIRST_APPOINT_DATE`, `FIRST_CHANGE_DATE` to `THIRD_CHANGE_DATE`,
// `ACTUAL_PUBLISH_DATE`) are from smaller programs that request them by name. Neither table has a payment date.
// `REPORT_DATE` is the end of the period: akshare filters by it.

import { z } from 'zod'
import { isDate, localDate } from '../calendar.ts'
import { type CompanyEvents, type Earnings, soundEvents, type ToldEvents } from '../company-events.ts'
import { currencyOf, type Instrument } from '../instruments.ts'
import { faulty } from './checks.ts'
import { ask, SERVICE as EASTMONEY, type EastMoneyOptions, Figure } from './eastmoney-http.ts'
import type { QuoteQuery } from './provider.ts'
import { askWithSession, chartOf, symbolOf, SERVICE as YAHOO, type YahooOptions } from './yahoo-http.ts'

const Moment = z.object({ raw: z.number().nullish() }).nullish()
const Summary = z.object({
  quoteSummary: z.object({
    result: z
      .array(
        z.object({
          calendarEvents: z
            .object({
              earnings: z
                .object({ earningsDate: z.array(Moment).nullish(), isEarningsDateEstimate: z.boolean().nullish() })
                .nullish(),
              exDividendDate: Moment,
              dividendDate: Moment,
            })
            .nullish(),
        }),
      )
      .nullish(),
  }),
})

export async function yahooEvents(
  options: YahooOptions,
  instrument: Instrument,
  query: QuoteQuery,
): Promise<CompanyEvents> {
  const path = `/v10/finance/quoteSummary/${encodeURIComponent(symbolOf(instrument))}?modules=calendarEvents`
  const [answer, chart] = await Promise.all([
    askWithSession(options, path, query),
    chartOf(options, { instrument, range: '1y', events: 'div' }, query),
  ])
  const parsed = Summary.safeParse(answer)
  if (!parsed.success) throw faulty(YAHOO, 'malformed', 'not the known form of calendar events')
  const result = parsed.data.quoteSummary.result?.[0]
  if (!result) throw faulty(YAHOO, 'unknown_symbol', symbolOf(instrument))
  // A company without any date is a valid answer.
  const told = result.calendarEvents ?? {}
  const { market } = instrument
  const dayOf = (moment: z.infer<typeof Moment>) => (moment?.raw ? localDate(market, moment.raw * 1000) : null)
  // Days without a time are midnight in UTC, which is the previous day in New York.
  const plainDay = (moment: z.infer<typeof Moment>) =>
    moment?.raw ? (moment.raw % DAY_S === 0 ? localDay(moment.raw) : localDate(market, moment.raw * 1000)) : null
  const today = localDate(market, options.clock())
  const window = (told.earnings?.earningsDate ?? []).flatMap((moment) => dayOf(moment) ?? []).sort()
  const dividends: ToldEvents['dividends'] = Object.values(chart.events?.dividends ?? {}).map((paid) => ({
    exDate: localDate(market, paid.date * 1000),
    ...{ recordDate: null, payDate: null, announcedOn: null, amount: paid.amount },
    currency: paid.currency ?? chart.meta.currency ?? currencyOf(instrument),
  }))
  const joined = withNewest(dividends, plainDay(told.exDividendDate), plainDay(told.dividendDate))
  return soundEvents(
    { earnings: yahooEarnings(window, told.earnings?.isEarningsDateEstimate, today), ...joined },
    market,
    today,
  )
}

const DAY_S = 86_400
const localDay = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10)

/** A date that is not marked as confirmed is an estimate, and so is a window. A past day was announced before it came. */
function yahooEarnings(window: string[], isEstimate: boolean | null | undefined, today: string): Earnings[] {
  const [from, to] = [window[0], window.at(-1)]
  if (from === undefined || to === undefined) return []
  const isSure = isEstimate === false && from === to
  // An estimate in the past is meaningless: it does not say whether the results were published.
  if (!isSure && to < today) return []
  return [{ from, to, certainty: isSure ? 'scheduled' : 'estimate', period: null }]
}

/** The newest ex-date with its payment. An earlier payment belongs to the dividend before, if there is one close enough. */
function withNewest(
  known: ToldEvents['dividends'],
  exDate: string | null,
  payDate: string | null,
): Pick<ToldEvents, 'dividends'> {
  const blank = { recordDate: null, payDate: null, announcedOn: null, amount: null, currency: null }
  const isNew = exDate !== null && !known.some((one) => one.exDate === exDate)
  const all = isNew ? [...known, { ...blank, exDate }] : [...known]
  const sorted = all.sort((a, b) => a.exDate.localeCompare(b.exDate))
  if (payDate === null) return { dividends: sorted }
  const paid = sorted.findLast((one) => one.exDate <= payDate)
  return { dividends: sorted.map((one) => (one === paid ? { ...one, payDate } : one)) }
}

const date = z.string().nullish()
const rows = <T>(row: z.ZodType<T>) => z.object({ result: z.object({ data: z.array(row).nullish() }).nullish() })
const Bonuses = rows(
  z.object({
    SECURITY_CODE: z.string(),
    PRETAX_BONUS_RMB: Figure,
    EX_DIVIDEND_DATE: date,
    EQUITY_RECORD_DATE: date,
    NOTICE_DATE: date,
  }),
)
const Appointments = rows(
  z.object({
    SECURITY_CODE: z.string(),
    REPORT_DATE: date,
    FIRST_APPOINT_DATE: date,
    FIRST_CHANGE_DATE: date,
    SECOND_CHANGE_DATE: date,
    THIRD_CHANGE_DATE: date,
    ACTUAL_PUBLISH_DATE: date,
  }),
)
type Appointment = NonNullable<NonNullable<z.infer<typeof Appointments>['result']>['data']>[number]

const MOST_ROWS = 8
/** Dividends are given for ten shares, in renminbi whatever the shares' currency is. */
const SHARES_TOLD = 10

export async function eastMoneyEvents(
  options: EastMoneyOptions,
  instrument: Instrument,
  query: QuoteQuery,
): Promise<CompanyEvents> {
  const { code, market } = instrument
  const table = (name: string, order: string) =>
    `${options.datacenterUrl}/api/data/v1/get?reportName=${name}&columns=ALL&pageNumber=1&pageSize=${MOST_ROWS}` +
    `&sortColumns=${order}&sortTypes=-1&filter=${encodeURIComponent(`(SECURITY_CODE="${code}")`)}`
  const booked = await ask(options, table('RPT_PUBLIC_BS_APPOIN', 'REPORT_DATE'), { schema: Appointments, query })
  const paid = await ask(options, table('RPT_SHAREBONUS_DET', 'EX_DIVIDEND_DATE'), { schema: Bonuses, query })
  const [appointments, bonuses] = [booked.result?.data ?? [], paid.result?.data ?? []]
  if ([...appointments, ...bonuses].some((row) => row.SECURITY_CODE !== code)) {
    throw faulty(EASTMONEY, 'wrong_symbol', code)
  }
  const dividends = bonuses.flatMap((row): ToldEvents['dividends'] => {
    const exDate = dateIn(row.EX_DIVIDEND_DATE)
    // Plans have no date yet, and share dividends are not money.
    if (exDate === null || row.PRETAX_BONUS_RMB === null) return []
    const days = { recordDate: dateIn(row.EQUITY_RECORD_DATE), payDate: null, announcedOn: dateIn(row.NOTICE_DATE) }
    return [{ exDate, ...days, amount: perShare(row.PRETAX_BONUS_RMB), currency: 'CNY' }]
  })
  const told = { earnings: appointments.flatMap(appointed), dividends }
  return soundEvents(told, market, localDate(market, options.clock()))
}

/** Without the rounding error of a binary division: 23.957 for ten shares is 2.3957 for one. */
const perShare = (forTen: number): number => Number((forTen / SHARES_TOLD).toPrecision(12))

/** The newest scheduled day; the day of publication has priority over all of them. */
function appointed(row: Appointment): Earnings[] {
  const period = dateIn(row.REPORT_DATE)
  const published = dateIn(row.ACTUAL_PUBLISH_DATE)
  const changes = [row.THIRD_CHANGE_DATE, row.SECOND_CHANGE_DATE, row.FIRST_CHANGE_DATE, row.FIRST_APPOINT_DATE]
  const at = published ?? changes.flatMap((one) => dateIn(one) ?? [])[0]
  if (at === undefined || period === null) return []
  return [{ from: at, to: at, certainty: published === null ? 'scheduled' : 'published', period }]
}

function dateIn(text: string | null | undefined): string | null {
  const found = text?.slice(0, 10) ?? ''
  return isDate(found) ? found : null
}
