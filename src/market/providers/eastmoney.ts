// EastMoney: the most complete source for the mainland, and the one with the strictest limits. Quotes and bars are
// here; companies and boards are in separate files.

import { z } from 'zod'
import type { Bar, Quote } from '../bars.ts'
import { addDays, isDate, localDate } from '../calendar.ts'
import type { Board, Dividend, FinancialReport, FlowDay, Fundamentals, Peer, Peers } from '../company.ts'
import type { VolumePart } from '../day-volumes.ts'
import { currencyOf, type Instrument } from '../instruments.ts'
import { changeOf, checkedBars, checkedParts, checkedQuote, faulty } from './checks.ts'
import { eastMoneyEvents } from './company-events.ts'
import { boardsOf, rankings } from './eastmoney-boards.ts'
import { ask, type EastMoneyOptions, echoes, Figure, firstKnown, SERVICE, secids, toFigure } from './eastmoney-http.ts'
import type { BarsQuery, MarketDataProvider, MarketNeed, QuoteQuery } from './provider.ts'

const LOT = 100
const QUOTE_FIELDS = 'f43,f57,f58,f60,f44,f45,f46,f47,f48,f50,f84,f85,f86,f116,f117,f127,f162,f167,f168,f169,f170'
const BAR_FIELDS = 'fields1=f1,f2,f3,f4,f5,f6&fields2=f51,f52,f53,f54,f55,f56,f57,f58,f59,f60,f61'

export function eastMoneyProvider(options: EastMoneyOptions): MarketDataProvider {
  const symbols = new Map<string, string>()
  return {
    name: SERVICE,
    provenance: () => null,
    supports,
    quote: (instrument, query) =>
      firstKnown(instrument, symbols, (secid) => quote(options, { instrument, secid, query })),
    dailyBars: (instrument, query) =>
      firstKnown(instrument, symbols, (secid) => bars(options, { instrument, secid, query })),
    dayVolumes: (instrument, query) =>
      firstKnown(instrument, symbols, (secid) => dayVolumes(options, { instrument, secid, query })),
    companyEvents: (instrument, query) => eastMoneyEvents(options, instrument, query),
    fundamentals: (instrument, query) => fundamentals(options, instrument, query),
    capitalFlow: (instrument, query) => capitalFlow(options, instrument, query),
    boards: (instrument, query) => boardsOf(options, instrument, query),
    peers: (instrument, boards, query) => peers(options, { instrument, boards }, query),
    rankings: (query) => rankings(options, query),
  }
}

function supports(instrument: Instrument, need: MarketNeed): boolean {
  if (need === 'realtime_quote' || need === 'daily_data') return secids(instrument).length > 0
  // US minutes are in Beijing time, so a session has two dates: other sources use local time.
  if (need === 'intraday_volume') return instrument.market !== 'us' && secids(instrument).length > 0
  // Only mainland companies have boards, flows and results; funds and indices have none.
  return instrument.market === 'cn' && instrument.kind === 'stock'
}

const Quoted = z.object({
  data: z
    .object({
      f43: Figure,
      f57: z.string(),
      f58: z.string().optional(),
      f60: Figure,
      f44: Figure,
      f45: Figure,
      f46: Figure,
      f47: Figure,
      f48: Figure,
      f50: Figure,
      f86: Figure,
      f116: Figure,
      f117: Figure,
      f162: Figure,
      f167: Figure,
      f168: Figure,
    })
    .nullish(),
})

type ProviderRequest<Query> = { instrument: Instrument; secid: string; query: Query }

async function quote(
  options: EastMoneyOptions,
  { instrument, secid, query }: ProviderRequest<QuoteQuery>,
): Promise<Quote> {
  const url = `${options.quoteUrl}/api/qt/stock/get?secid=${secid}&fltt=2&invt=2&fields=${QUOTE_FIELDS}`
  const { data } = await ask(options, url, { schema: Quoted, query })
  if (!data) throw faulty(SERVICE, 'unknown_symbol', secid)
  if (!echoes(secid, data.f57)) throw faulty(SERVICE, 'wrong_symbol', secid)
  const price = data.f43 ?? Number.NaN
  const prevClose = data.f60 ?? Number.NaN
  const quotedAt = data.f86 === null || data.f86 <= 0 ? null : data.f86 * 1000
  if (quotedAt !== null && quotedAt > options.clock() + DAY_MS) throw faulty(SERVICE, 'bad_dates', 'a quote to come')
  return checkedQuote(SERVICE, {
    price,
    prevClose,
    ...changeOf(price, prevClose),
    open: positive(data.f46),
    high: positive(data.f44),
    low: positive(data.f45),
    volume: data.f47 === null ? null : data.f47 * sharesPerUnit(instrument),
    amount: positive(data.f48),
    quotedAt,
    name: data.f58?.trim() || null,
    currency: currencyOf(instrument),
    turnoverRatePct: positive(data.f168),
    volumeRatio: positive(data.f50),
    // A loss gives a negative ratio, which is a valid figure; the source writes zero for "none".
    peRatio: data.f162 === 0 ? null : data.f162,
    pbRatio: positive(data.f167),
    totalMarketValue: positive(data.f116),
    circulatingMarketValue: positive(data.f117),
  })
}

const DAY_MS = 86_400_000
const positive = (value: number | null): number | null => (value !== null && value > 0 ? value : null)
const sharesPerUnit = ({ market }: Instrument): number => (market === 'cn' ? LOT : 1)

const Series = z.object({ data: z.object({ code: z.string(), klines: z.array(z.string()) }).nullish() })

async function bars(
  options: EastMoneyOptions,
  { instrument, secid, query }: ProviderRequest<BarsQuery>,
): Promise<Bar[]> {
  const today = localDate(instrument.market, options.clock())
  const end = query.endDate ?? today
  // Seven days hold five sessions at most; the rest is room for the longest holidays.
  const start = addDays(end, -Math.ceil((query.count * 7) / 5) - 20)
  const range = `beg=${start.replaceAll('-', '')}&end=${end.replaceAll('-', '')}`
  const url = `${options.historyUrl}/api/qt/stock/kline/get?secid=${secid}&klt=101&fqt=1&${range}&${BAR_FIELDS}`
  const { data } = await ask(options, url, { schema: Series, query })
  if (!data) throw faulty(SERVICE, 'unknown_symbol', secid)
  if (!echoes(secid, data.code)) throw faulty(SERVICE, 'wrong_symbol', secid)
  return checkedBars(SERVICE, data.klines.map((line) => toBar(line, instrument)).slice(-query.count), today)
}

/** Date, open, close, high, low, volume, amount; further values are computed here. */
function toBar(line: string, instrument: Instrument): Bar {
  const [date = '', ...rest] = line.split(',')
  const [open, close, high, low, volume, amount] = rest.map((text) => toFigure(text) ?? Number.NaN)
  return {
    date,
    open: open ?? Number.NaN,
    high: high ?? Number.NaN,
    low: low ?? Number.NaN,
    close: close ?? Number.NaN,
    volume: (volume ?? Number.NaN) * sharesPerUnit(instrument),
    amount: amount !== undefined && amount > 0 ? amount : null,
  }
}

const PART_MINUTES = 5
/** More than eight sessions of the market with the longest hours: five are needed, plus room for half days. */
const PARTS = 600

/**
 * Volumes of five minutes, each with the minute at which it ends; the first of a day includes the opening auction. The
 * other endpoint for minutes (`trends2`) has five days including today, which is one too few.
 */
async function dayVolumes(
  options: EastMoneyOptions,
  { instrument, secid, query }: ProviderRequest<QuoteQuery>,
): Promise<VolumePart[]> {
  const fields = `klt=${PART_MINUTES}&fqt=1&end=20500101&lmt=${PARTS}&fields1=f1&fields2=f51,f56`
  const { data } = await ask(options, `${options.historyUrl}/api/qt/stock/kline/get?secid=${secid}&${fields}`, {
    schema: Series,
    query,
  })
  if (!data) throw faulty(SERVICE, 'unknown_symbol', secid)
  if (!echoes(secid, data.code)) throw faulty(SERVICE, 'wrong_symbol', secid)
  const parts = data.klines.map((line): VolumePart => {
    const [, date = '', hour, minute, volume] = /^(\S+) (\d\d):(\d\d),([^,]+)/.exec(line) ?? []
    const told = toFigure(volume) ?? Number.NaN
    return { date, until: Number(hour) * 60 + Number(minute), volume: told * sharesPerUnit(instrument) }
  })
  return checkedParts(SERVICE, parts, localDate(instrument.market, options.clock()))
}

// Results and dividends from EastMoney's data centre, which has other limits than its quotes, and money flows.

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

/** A cash dividend with its date; share dividends and plans are left out. */
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

// The multiples of the companies in a stock's industry from EastMoney: the quote names the industry, which is one of
// the stock's boards, and the list of that board has a row for each company.

/** One page: the largest companies by market value. */
const MOST_PEERS = 100

const IndustryQuoted = z.object({ data: z.object({ f57: z.string(), f127: z.string().nullish() }).nullish() })

const PeerRow = z.object({ f9: Figure, f12: z.string(), f14: z.string(), f20: Figure, f23: Figure })
type PeerRow = z.infer<typeof PeerRow>
const PeersPage = z.object({
  data: z
    .object({
      total: z.number(),
      diff: z.union([z.array(PeerRow), z.record(z.string(), PeerRow).transform(Object.values<PeerRow>)]),
    })
    .nullish(),
})

type PeersQuestion = { instrument: Instrument; boards: readonly Board[] }

async function peers(
  options: EastMoneyOptions,
  { instrument, boards }: PeersQuestion,
  query: QuoteQuery,
): Promise<Peers> {
  const [secid = ''] = secids(instrument)
  const quoted = `${options.quoteUrl}/api/qt/stock/get?secid=${secid}&fltt=2&invt=2&fields=f57,f127`
  const { data } = await ask(options, quoted, { schema: IndustryQuoted, query })
  if (!data) throw faulty(SERVICE, 'unknown_symbol', secid)
  if (!echoes(secid, data.f57)) throw faulty(SERVICE, 'wrong_symbol', secid)
  const industry = data.f127?.trim() ?? ''
  const board = boards.find(({ name }) => name === industry)
  if (board === undefined) throw faulty(SERVICE, 'empty', 'no industry among the boards')
  const order = `fid=f20&po=1&pn=1&pz=${MOST_PEERS}&np=1&fltt=2&invt=2`
  const list = `${options.quoteUrl}/api/qt/clist/get?${order}&fs=b:${board.code}&fields=f9,f12,f14,f20,f23`
  const page = await ask(options, list, { schema: PeersPage, query })
  const companies = (page.data?.diff ?? []).map(toPeer)
  if (companies.length === 0) throw faulty(SERVICE, 'empty', 'a board without companies')
  return { board: { code: board.code, name: board.name }, total: page.data?.total ?? companies.length, companies }
}

/** The source writes zero for "none"; a loss gives a negative price-earnings ratio. */
function toPeer({ f9, f12, f14, f20, f23 }: PeerRow): Peer {
  return {
    code: f12,
    name: f14.trim(),
    peRatio: f9 === 0 ? null : f9,
    pbRatio: f23 === 0 ? null : f23,
    marketValue: f20 !== null && f20 > 0 ? f20 : null,
  }
}
