// The console's requests about finished analyses.

import { request } from '../api.ts'
import type { Report } from '../wire.ts'

export type HistoryItem = {
  id: number
  query_id: string
  stock_code: string
  stock_name: string | null
  report_type: string
  region: string | null
  analysis_summary: string
  sentiment_score: number | null
  operation_advice: string | null
  action_label: string | null
  current_price: number | null
  change_pct: number | null
  created_at: string
  data_notice: string | null
}

export type HistoryPage = { total: number; page: number; limit: number; items: HistoryItem[] }

export type Horizon = {
  horizon: number
  count: number
  hits: number
  hit_rate: number | null
  hit_rate_low: number | null
  hit_rate_high: number | null
  average_return_pct: number | null
  median_return_pct: number | null
}

export type Accuracy = {
  total: number
  pending: number
  unmeasured: number
  stocks: number
  calm_pct: number
  is_small_sample: boolean
  overall: Horizon[]
  by_action: { action: string; horizons: Horizon[] }[]
  notes: string[]
}

export type EvidenceRow = {
  measure: string
  group: string
  market: string
  regime: string
  effective_size: number
  mean_return_pct: number | null
  random_entry_pct: number | null
  excess_pct: number | null
  excess_low_pct: number | null
  excess_high_pct: number | null
  hit_rate: number | null
  base_rate: number | null
  verdict: string
}

export type EvidencePage = {
  computed_at: string | null
  from: string | null
  to: string | null
  series: number
  days: number
  least_size: number
  total: number
  rows: EvidenceRow[]
}

type FlowStatus = string

export type FlowNode = {
  id: string
  lane: string
  label: string
  status: FlowStatus
  duration_ms: number | null
  record_count: number | null
  message: string | null
}

export type Flow = {
  status: FlowStatus
  summary: { elapsed_ms: number | null; bottleneck_node_id: string | null; failed_attempts: number }
  lanes: { id: string; label: string; order: number }[]
  nodes: FlowNode[]
  edges: { id: string; from: string; to: string; kind: string; status: FlowStatus }[]
}

export type Watchlist = { id: string; name: string; stocks: { stock_code: string; stock_name: string | null }[] }

const record = (id: string | number) => `/api/v1/history/${encodeURIComponent(id)}`
const query = (values: Readonly<Record<string, string | number>>) =>
  new URLSearchParams(Object.entries(values).flatMap(([name, value]) => (value === '' ? [] : [[name, String(value)]])))

export const getRecord = (id: string) => request<Report>(record(id))
export const listHistory = (values: { stock_code?: string; page?: number; limit?: number; report_type?: string }) =>
  request<HistoryPage>(`/api/v1/history?${query(values)}`)
export const getFlow = (id: string) => request<Flow>(`${record(id)}/flow`)
export const getAccuracy = (code: string) =>
  request<Accuracy>(`/api/v1/analysis/history/accuracy?${query({ stock_code: code, days: 365 })}`)
export const getEvidence = (values: Readonly<Record<string, string | number>>) =>
  request<EvidencePage>(`/api/v1/analysis/evidence?${query(values)}`)
