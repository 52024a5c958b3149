/** One session of one instrument. Prices in the instrument's currency, adjusted for splits and dividends where the source does so. */
export type Bar = {
  /** Session date in the market's own zone, `YYYY-MM-DD`. */
  date: string
  open: number
  high: number
  low: number
  close: number
  /** Shares traded; 0 when the source does not tell. */
  volume: number
  /** Turnover in the instrument's currency, null when the source does not tell. */
  amount: number | null
}

/** The latest price known of an instrument. Percentages are in percent, not fractions. */
export type Quote = {
  price: number
  prevClose: number
  open: number | null
  high: number | null
  low: number | null
  /** Shares. */
  volume: number | null
  /** Turnover in the instrument's currency. */
  amount: number | null
  change: number
  changePct: number
  /** When the price was made, epoch ms; null when the source does not tell. */
  quotedAt: number | null
  /** The instrument's name as the source writes it. */
  name: string | null
  currency: string | null
  turnoverRatePct: number | null
  volumeRatio: number | null
  peRatio: number | null
  pbRatio: number | null
  totalMarketValue: number | null
  circulatingMarketValue: number | null
}
