// How far a price may move in one session, by the rules of the exchanges. Mainland: 10 % on the main board; risk-warned
// (ST) shares had 5 % until they got the main board's limit, so the wider one is used here, because the date of a
// share's warning is unknown; 20 % on ChiNext since 2020-08-24 and on STAR; 30 % in Beijing; none in the first sessions
// after listing. Korea 30 % since 2015-06-15, Taiwan 10 % since 2015-06-01, Tokyo by a table of absolute limits. Hong
// Kong and the United States have none.

import type { Instrument } from '../instruments.ts'

const CHINEXT_SINCE = '2020-08-24'
const KOREA_SINCE = '2015-06-15'
const TAIWAN_SINCE = '2015-06-01'

/** Tokyo: below the first price, the second is the largest move. */
const TOKYO: readonly (readonly [below: number, most: number])[] = [
  [100, 30],
  [200, 50],
  [500, 80],
  [700, 100],
  [1_000, 150],
  [1_500, 300],
  [2_000, 400],
  [3_000, 500],
  [5_000, 700],
  [7_000, 1_000],
  [10_000, 1_500],
  [15_000, 3_000],
  [20_000, 4_000],
  [30_000, 5_000],
  [50_000, 7_000],
  [70_000, 10_000],
  [100_000, 15_000],
  [150_000, 30_000],
  [200_000, 40_000],
  [300_000, 50_000],
  [500_000, 70_000],
  [700_000, 100_000],
  [1_000_000, 150_000],
]
const TOKYO_WIDEST = 0.3

export type LimitQuestion = {
  instrument: Instrument
  date: string
  previousClose: number
  /** Adjusted bars have another scale than the table of absolute limits. */
  isAdjusted: boolean
  /** The listing's name, if a source has it. */
  name: string | null
}

/** The largest move of a price in one session, as a fraction of the previous close; null when there is no limit. */
export function limitShare(question: LimitQuestion): number | null {
  const { instrument, date } = question
  const byMarket = {
    cn: () => mainlandLimit(question),
    kr: () => (date >= KOREA_SINCE ? 0.3 : 0.15),
    tw: () => (date >= TAIWAN_SINCE ? 0.1 : 0.07),
    jp: () => tokyoLimit(question),
    hk: () => null,
    us: () => null,
  }
  return byMarket[instrument.market]()
}

function mainlandLimit({ instrument, date, name }: LimitQuestion): number {
  const { kind, exchange, code } = instrument
  // An index cannot move further than the widest limit of its members.
  if (kind === 'index') return exchange === 'BJ' ? 0.3 : 0.2
  if (exchange === 'BJ') return 0.3
  if (kind === 'etf') return fundLimit(instrument, name)
  if (/^(688|689)/.test(code)) return 0.2
  if (/^30[0-2]/.test(code)) return date >= CHINEXT_SINCE ? 0.2 : 0.1
  // Convertible bonds.
  return /^1[12]/.test(code) ? 0.2 : 0.1
}

const WIDE_FUND = /创业板|科创|双创|北证/

/** By the index that they track; in Shenzhen only the name shows it, and without a name the wider limit is used. */
function fundLimit({ exchange, code }: Instrument, name: string | null): number {
  if (/^58[89]/.test(code) || (name !== null && WIDE_FUND.test(name))) return 0.2
  return exchange === 'SZ' && name === null ? 0.2 : 0.1
}

function tokyoLimit({ instrument, previousClose, isAdjusted }: LimitQuestion): number {
  const most = TOKYO.find(([below]) => previousClose < below)?.[1] ?? previousClose * TOKYO_WIDEST
  const share = most / previousClose
  return isAdjusted || instrument.kind === 'index' ? Math.max(share, TOKYO_WIDEST) : share
}

/** First-day and first-week marks before a mainland name. */
export const isNewByName = (name: string | null): boolean => name !== null && /^[NC](?=\p{Script=Han})/u.test(name)

/** The marks of a risk warning. The date of the warning, and the limit on earlier days, are unknown. */
export const isRiskWarned = (name: string | null): boolean => name !== null && /^(S\s*)?\*?\s*ST/i.test(name)

export const isOnMainBoard = ({ market, kind, exchange, code }: Instrument): boolean =>
  market === 'cn' && kind === 'stock' && exchange !== 'BJ' && /^(60|00|900|200)/.test(code)

/** The smallest step of a price. */
export function priceStep({ market, kind, exchange, code }: Instrument, price: number): number {
  if (kind === 'index') return 0.01
  if (market === 'cn') return kind === 'etf' || (exchange === 'SH' && code.startsWith('900')) ? 0.001 : 0.01
  if (market === 'jp') return price < 3_000 ? 1 : price / 1_000
  if (market === 'kr') return price < 2_000 ? 1 : price / 400
  if (market === 'tw') return price < 10 ? 0.01 : price / 190
  return price < 1 ? 0.001 : 0.01
}
