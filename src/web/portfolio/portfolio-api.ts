// The answers of the portfolio calls.

import { request } from '../api.ts'
import { say, type Text } from '../texts.ts'

export const BASE = '/api/v1/portfolio'

export type Account = { id: number; name: string; base_currency: string }
export type Position = {
  symbol: string
  currency: string
  quantity: number
  avg_cost: number
  last_price: number | null
  market_value: number | null
  unrealized_pnl: number | null
  unrealized_pnl_pct: number | null
  price_date: string | null
  price_stale: boolean
  price_notice: string | null
}
export type Totals = {
  currency: string
  total_cash: number | null
  total_market_value: number | null
  total_equity: number | null
  realized_pnl: number | null
  unrealized_pnl: number | null
  dividend_income: number | null
  missing_rates: string[]
  unpriced_symbols: string[]
  limitations: string[]
}
export type Snapshot = Totals & {
  as_of: string
  accounts: (Totals & { account_id: number; account_name: string; positions: Position[] })[]
}
type Sector = { sector: string; weight_pct: number; is_alert: boolean }
export type Risk = {
  thresholds: Record<string, number>
  concentration: {
    top_positions: { symbol: string; weight_pct: number; is_alert: boolean }[]
    unvalued: string[]
  }
  sector_concentration: { top_sectors: Sector[]; coverage: { unclassified_count: number; failed_count: number } }
  drawdown: { max_drawdown_pct: number | null; current_drawdown_pct: number | null; alert: boolean }
  performance: {
    from: string | null
    to: string | null
    time_weighted_pct: number | null
    money_weighted_pct: number | null
    benchmark: { name: string; return_pct: number | null; excess_pct: number | null }
  }
  correlation: { minimum_days: number; pairs: { a: string; b: string; days: number; correlation: number | null }[] }
  stop_loss: { items: { account_id: number; symbol: string; loss_pct: number; is_triggered: boolean }[] }
}
export type Signal = {
  id: number
  stock_code: string
  stock_name: string | null
  action: string
  status: string
  confidence: number | null
  score: number | null
  horizon: string | null
  entry_low: number | null
  entry_high: number | null
  stop_loss: number | null
  target_price: number | null
  reason: string | null
  watch_conditions: string | null
  risk_summary: string | null
  invalidation: string | null
  created_at: string
  expires_at: string | null
  metadata: { query_id?: string } | null
}
export type Page<T> = { items: T[]; total: number; page: number; page_size: number }

export const listSignals = (query: Readonly<Record<string, string>>) =>
  request<Page<Signal>>(`/api/v1/decision-signals?${new URLSearchParams(query)}`)

/** A dash for an unknown value: it is never shown as zero. */
export const orDash = (value: number | null, show: (known: number) => string): string =>
  value === null ? '–' : show(value)

type Names = readonly (readonly [code: string, name: Text])[]

export const ACTIONS: Names = [
  ['buy', 'Buy'],
  ['add', 'Add more'],
  ['hold', 'Hold'],
  ['reduce', 'Reduce'],
  ['sell', 'Sell'],
  ['watch', 'Watch'],
  ['avoid', 'Avoid'],
  ['alert', 'Alert'],
]

export const nameOf = (names: Names, code: string): string => {
  const found = names.find(([one]) => one === code)
  return found === undefined ? code : say(found[1])
}
