// The answers of the watchlist calls.

type Stock = { stock_code: string; stock_name: string | null; note: string }
export type Watchlist = { watchlist_id: string; name: string; note: string; is_default: boolean; stocks: Stock[] }

export const PATH = '/api/v1/analysis/watchlists'
