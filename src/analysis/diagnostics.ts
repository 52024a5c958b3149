// The record of a run: every attempt at a source, every call of a model.

import { z } from 'zod'
import type { ProviderRun } from '../market/bars.ts'
import type { NarratorFault } from './codes.ts'
import { TRIGGER_SOURCE } from './task.ts'

const FreeForm = z.record(z.string(), z.unknown())

export const StoredProviderRun = z.object({
  trace_id: z.string(),
  data_type: z.string(),
  provider: z.string(),
  operation: z.string(),
  success: z.boolean(),
  latency_ms: z.number(),
  error_type: z.string().nullable(),
  error_message_sanitized: z.string().nullable(),
  fallback_from: z.string().nullable(),
  fallback_to: z.string().nullable(),
  cache_hit: z.boolean().nullable(),
  stale_seconds: z.number().nullable(),
  record_count: z.number().nullable(),
  created_at: z.string(),
})
export type StoredProviderRun = z.infer<typeof StoredProviderRun>

export const StoredDiagnostics = z.object({
  trace_id: z.string(),
  task_id: z.string().nullable(),
  query_id: z.string(),
  stock_code: z.string(),
  trigger_source: z.string(),
  scope: z.string(),
  provider_runs: z.array(StoredProviderRun),
  llm_runs: z.array(FreeForm),
  notification_runs: z.array(FreeForm),
  history_runs: z.array(FreeForm),
  /** The check of the figures that a model quoted. */
  figure_check: z.object({ checked: z.int(), matched: z.int(), corrected: z.int(), struck: z.int() }).optional(),
})
export type StoredDiagnostics = z.infer<typeof StoredDiagnostics>

export type RunIdentity = {
  taskId: string | null
  queryId: string
  stockCode: string
}

/** The record of a run so far. The code that saves or pushes the report adds its `history_runs` and `notification_runs`. */
export function storedDiagnostics(identity: RunIdentity, runs: readonly ProviderRun[]): StoredDiagnostics {
  return {
    trace_id: identity.queryId,
    task_id: identity.taskId,
    query_id: identity.queryId,
    stock_code: identity.stockCode,
    trigger_source: TRIGGER_SOURCE,
    scope: 'analysis',
    provider_runs: runs.map((run) => storedRun(identity.queryId, run)),
    llm_runs: [],
    notification_runs: [],
    history_runs: [],
  }
}

function storedRun(traceId: string, run: ProviderRun): StoredProviderRun {
  return {
    trace_id: traceId,
    data_type: run.dataType,
    provider: run.provider,
    operation: run.operation,
    success: run.success,
    latency_ms: run.latencyMs,
    error_type: run.errorType,
    error_message_sanitized: run.errorMessage === null ? null : sanitize(run.errorMessage),
    fallback_from: run.fallbackFrom,
    fallback_to: run.fallbackTo,
    cache_hit: run.staleSeconds === undefined ? null : true,
    stale_seconds: run.staleSeconds ?? null,
    record_count: run.recordCount,
    created_at: run.createdAt,
  }
}

const MESSAGE_LIMIT = 220

/** A message without addresses, paths or anything that looks like a key, short enough for one line. */
export function sanitize(message: string): string {
  const masked = message
    .replace(/\b[a-z][a-z0-9+.-]*:\/\/\S+/gi, '[url]')
    .replace(/\b(bearer|basic)\s+\S+/gi, '$1 [masked]')
    .replace(/\b(api[-_ ]?key|token|secret|password|authorization)(\s*[:=]\s*)(?!bearer|basic)\S+/gi, '$1$2[masked]')
    .replace(/(?<![\w.])(?:[a-z]:)?(?:[\\/][\w.-]+){2,}/gi, '[path]')
    .replace(/\b[\w-]{32,}\b/g, '[masked]')
    .replace(/\s+/g, ' ')
    .trim()
  return masked.length > MESSAGE_LIMIT ? `${masked.slice(0, MESSAGE_LIMIT - 1)}…` : masked
}

/** One call, as the diagnostics keep it. */
export type ModelRun = {
  provider: string | null
  model: string | null
  call_type: 'analysis' | 'repair'
  success: boolean
  tokens: number | null
  input_tokens: number | null
  output_tokens: number | null
  duration_ms: number
  fallback_model: null
  error_type: NarratorFault | null
  problems: string[]
  created_at: string
}
