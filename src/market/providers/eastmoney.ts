// EastMoney: the most complete source for the mainland, and the one with the strictest limits. Quotes and bars are here;
// companies and boards in the files beside this one.

import { z } from 'zod'
import type { Bar, Quote } from '../bars.ts'
import { localDate } from '../calendar.ts'
import { currencyOf, type Instrument } from '../instruments.ts'
import { addDays } from '../zoned-time.ts'
import { changeOf, checkedBars, checkedQuote, faulty } from './checks.ts'
import { boardsOf, rankings } from './eastmoney-boards.ts'
import { capitalFlow, fundamentals } from './eastmoney-company.ts'
import { ask, type EastMoneyOptions, echoes, Figure, firstKnown, SERVICE, secids, toFigure } from './eastmoney-http.ts'
import { peers } from './eastmoney-peers.ts'
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
    fundamentals: (instrument, query) => fundamentals(options, instrument, query),
    capitalFlow: (instrument, query) => capitalFlow(options, instrument, query),
    boards: (instrument, query) => boardsOf(options, instrument, query),
    peers: (instrument, boards, query) => peers(options, { instrument, boards }, query),
    rankings: (query) => rankings(options, query),
  }
}

function supports(instrument: Instrument, need: MarketNeed): boolean {
  if (need === 'realtime_quote' || need === 'daily_data') return secids(instrument).length > 0
  // Boards, flows and results are of mainland companies; funds and indices have none.
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
    // A loss makes a negative ratio, which is a figure; zero is how the source writes "none".
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

/** Date, open, close, high, low, volume, amount; what follows is worked out here. */
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
