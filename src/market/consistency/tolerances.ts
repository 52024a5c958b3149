// Every tolerance and least magnitude of the checks, in one place. What is smaller cannot be told from an ordinary market by the
// data at hand; docs/analysis-method.md has them as a table.

export const TOLERANCE = {
  /** Between a quote and the bars: rounding, and closing auctions that sources count differently. */
  quoteShare: 0.005,
  /** A same-day close that is further away is another price. */
  sameDayFailShare: 0.02,
  /** A previous close that is further away is no dividend but another series. */
  previousCloseFailShare: 0.03,
  /** High, low, open and close of one bar: rounding of adjusted prices. */
  orderShare: 0.002,
  /** The same among the figures of a quote. */
  quoteOrderShare: 0.005,
  /** Adjusting and rounding make a move at the limit look larger: so much of the limit. */
  limitSlack: 0.25,
  /** Prices are rounded to the exchange's step: so many steps. */
  priceSteps: 1.5,
  /** A quote's own change against its price and previous close, in percentage points and as a share of the price. */
  changePoints: 0.06,
  changeShare: 0.001,
  /** Clocks of sources run ahead of ours by no more. */
  clockAheadMs: 10 * 60_000,
} as const

export const LEAST = {
  /** Where no limit is: a close so many times the one before is no ordinary day. */
  freeJump: 1.35,
  /** The same of an index, which no split touches: those of volatility more than double in a day. */
  indexJump: 3,
  /** Where sessions are missing: a close so many times the one before them. */
  gapJump: 1.45,
  /** Where no limit is: a high or low so far outside the bar and the close before is a tick. */
  freeTick: 1.5,
  /** A move that drew this many times the usual turnover may be the market's. */
  moveTurnover: 4,
  /** Beyond this no turnover makes it an ordinary move. */
  impossibleJump: 5,
  /** Volume against its median, either way. */
  volumeJump: 20,
  /** Turnover against volume times price, either way. */
  quoteAmount: 1.25,
  barAmount: 2.5,
  /** A turnover rate against volume and the value of the shares, either way. */
  turnoverRate: 20,
  /** Volume of one day in quote and bar, either way. */
  sameDayVolume: 3,
  /** Weekdays without a bar in years whose holidays are not known: no holiday is that long. */
  weekdaysOfUnknownYear: 10,
  /** Sums of dividends that were not taken out, as a share of the price. */
  dividendShare: 0.005,
} as const

export const MOST = {
  price: 1e8,
  volume: 1e13,
  amount: 1e16,
  marketValue: 1e16,
  /** Price by earnings and price by book value, either sign; a company that hardly earns anything comes to some ten thousand. */
  peRatio: 1e5,
  pbRatio: 1e4,
  /** The value of the shares that may be traded, by that of all of them. */
  tradedShare: 1.02,
  /** Bars that may be dropped or clipped; more of them are no slip. */
  repaired: 2,
  /** Sessions without a bar in one piece; a longer gap leaves no picture of the market. */
  gapSessions: 20,
  /** Sessions since the last bar. */
  staleSessions: 5,
  /** The first sessions of a listing, in which no limit holds. */
  freeSessions: 5,
} as const

export const LEAST_MARKET_VALUE = 1e5
export const LEAST_PRICE = 1e-4
/** The bars that a large move without a limit is told of as a warning; of an older one only that nobody can tell. */
export const NEAR = 60
/** The bars that averages and ranges are made of. */
export const WINDOW = 260
/** A series this long does not begin with the listing. */
export const LONG_SERIES = 250
