// Every tolerance and minimum size of the checks, in one place. Smaller differences cannot be distinguished from an
// ordinary market with the available data; docs/analysis-method.md has them as a table.

export const TOLERANCE = {
  /** Between a quote and the bars: rounding, and closing auctions that sources count differently. */
  quoteShare: 0.005,
  /** A same-day close with a larger difference is another price. */
  sameDayFailShare: 0.02,
  /** A previous close with a larger difference is not a dividend but another series. */
  previousCloseFailShare: 0.03,
  /** High, low, open and close of one bar: rounding of adjusted prices. */
  orderShare: 0.002,
  /** The same among the figures of a quote. */
  quoteOrderShare: 0.005,
  /** Adjusting and rounding make a move at the limit look larger: by this fraction of the limit. */
  limitSlack: 0.25,
  /** Prices are rounded to the exchange's step: tolerance in steps. */
  priceSteps: 1.5,
  /** A quote's own change compared with its price and previous close, in percentage points and as a fraction of the price. */
  changePoints: 0.06,
  changeShare: 0.001,
  /** The clocks of sources are at most this much ahead of ours. */
  clockAheadMs: 10 * 60_000,
} as const

export const LEAST = {
  /** Without a limit: a close this many times the previous one is not an ordinary day. */
  freeJump: 1.35,
  /** The same for an index, which has no splits: volatility indices can more than double in a day. */
  indexJump: 3,
  /** With missing sessions: a close this many times the one before them. */
  gapJump: 1.45,
  /** Without a limit: a high or low this far outside the bar and the previous close is a bad tick. */
  freeTick: 1.5,
  /** A move with this many times the usual turnover may be a real market move. */
  moveTurnover: 4,
  /** Above this factor no turnover makes it an ordinary move. */
  impossibleJump: 5,
  /** Volume compared with its median, in either direction. */
  volumeJump: 20,
  /** Turnover compared with volume times price, in either direction. */
  quoteAmount: 1.25,
  barAmount: 2.5,
  /** A turnover rate compared with volume and the value of the shares, in either direction. */
  turnoverRate: 20,
  /** Volume of one day in quote and bar, in either direction. */
  sameDayVolume: 3,
  /** Weekdays without a bar in years with unknown holidays: no holiday is that long. */
  weekdaysOfUnknownYear: 10,
  /** The sum of unadjusted dividends, as a fraction of the price. */
  dividendShare: 0.005,
} as const

export const MOST = {
  price: 1e8,
  volume: 1e13,
  amount: 1e16,
  marketValue: 1e16,
  /** Price-earnings and price-book ratio, either sign; a company with hardly any earnings reaches some ten thousand. */
  peRatio: 1e5,
  pbRatio: 1e4,
  /** The value of the tradable shares divided by that of all shares. */
  tradedShare: 1.02,
  /** Bars that may be dropped or clipped; more of them are not a slip. */
  repaired: 2,
  /** Consecutive sessions without a bar; a longer gap makes the series unusable. */
  gapSessions: 20,
  /** Sessions since the last bar. */
  staleSessions: 5,
  /** The first sessions of a listing, which have no limit. */
  freeSessions: 5,
} as const

export const LEAST_MARKET_VALUE = 1e5
export const LEAST_PRICE = 1e-4
/** A large move without a limit is a warning within this many bars; an older one is only reported as unverifiable. */
export const NEAR = 60
/** The bars from which averages and ranges are computed. */
export const WINDOW = 260
/** A series this long does not start at the listing's first day. */
export const LONG_SERIES = 250
