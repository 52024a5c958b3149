// What a run went through, in two forms: the stored record of every attempt, and the summary a person reads or pastes into
// a bug report.

import { z } from 'zod'
import type { ProviderRun } from '../market/provider-run.ts'
import { fill, labelsOf } from './labels.ts'
import type { DiagnosticComponent, DiagnosticSummary, ReportLanguage } from './report.ts'

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
  /** What became of the figures that a model quoted. */
  figure_check: z.object({ checked: z.int(), matched: z.int(), corrected: z.int(), struck: z.int() }).optional(),
})
export type StoredDiagnostics = z.infer<typeof StoredDiagnostics>

export type RunIdentity = {
  traceId: string
  taskId: string | null
  queryId: string
  stockCode: string
  triggerSource: string
}

/** The record of a run so far. Whoever saves or pushes the report adds its `history_runs` and `notification_runs`. */
export function storedDiagnostics(identity: RunIdentity, runs: readonly ProviderRun[]): StoredDiagnostics {
  return {
    trace_id: identity.traceId,
    task_id: identity.taskId,
    query_id: identity.queryId,
    stock_code: identity.stockCode,
    trigger_source: identity.triggerSource,
    scope: 'analysis',
    provider_runs: runs.map((run) => storedRun(identity.traceId, run)),
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

/** A message without addresses, paths or anything that looks like a key, short enough for a line. */
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

type Components = DiagnosticSummary['components']
type ComponentKey = keyof Components
type Finding = Pick<DiagnosticComponent, 'status' | 'message' | 'details'>

/** The summary of a record, in the report's language; `unknown` throughout when there is none. */
export function diagnosticSummary(stored: StoredDiagnostics | null, language: ReportLanguage): DiagnosticSummary {
  const labels = labelsOf(language)
  const findings = findingsOf(stored, language)
  const component = (key: ComponentKey): DiagnosticComponent => {
    return { key, label: labels.component[key], ...findings[key] }
  }
  const components: Components = {
    realtime_quote: component('realtime_quote'),
    daily_data: component('daily_data'),
    news: component('news'),
    llm: component('llm'),
    notification: component('notification'),
    history: component('history'),
  }
  const status = overallStatus(stored, components)
  const summary = {
    ...identityOf(stored),
    status,
    status_label: labels.diagnosticStatus[status],
    reason: reasonOf(status, components, language),
    components,
  }
  return { ...summary, copy_text: copyText(summary) }
}

function findingsOf(stored: StoredDiagnostics | null, language: ReportLanguage): Record<ComponentKey, Finding> {
  const { diagnostic, componentStatus } = labelsOf(language)
  const unknown: Finding = { status: 'unknown', message: diagnostic.not_asked }
  const bare = (status: DiagnosticComponent['status']): Finding => ({ status, message: componentStatus[status] })
  if (stored === null) {
    return {
      realtime_quote: unknown,
      daily_data: unknown,
      news: unknown,
      llm: unknown,
      notification: unknown,
      history: unknown,
    }
  }
  const providerOf = (dataType: string) => providerFinding(stored, dataType, language)
  const saved = stored.history_runs.at(-1)?.report_saved
  return {
    realtime_quote: providerOf('realtime_quote') ?? unknown,
    daily_data: providerOf('daily_data') ?? unknown,
    news: providerOf('news_search') ?? bare('not_configured'),
    llm: stored.llm_runs.length === 0 ? bare('not_configured') : bare(succeeded(stored.llm_runs) ? 'ok' : 'failed'),
    notification: stored.notification_runs.length === 0 ? bare('skipped') : notificationFinding(stored, language),
    history:
      saved === undefined
        ? unknown
        : saved === true
          ? { status: 'ok', message: diagnostic.saved }
          : { status: 'failed', message: diagnostic.not_saved },
  }
}

const succeeded = (runs: Record<string, unknown>[]) => runs.some((run) => run.success === true)

function notificationFinding({ notification_runs: runs }: StoredDiagnostics, language: ReportLanguage): Finding {
  const status = runs.every((run) => run.success === true) ? 'ok' : succeeded(runs) ? 'degraded' : 'failed'
  return { status, message: labelsOf(language).componentStatus[status] }
}

function providerFinding(stored: StoredDiagnostics, dataType: string, language: ReportLanguage): Finding | null {
  const runs = stored.provider_runs.filter((run) => run.data_type === dataType)
  if (runs.length === 0) return null
  const { diagnostic, clauseJoin } = labelsOf(language)
  const failed = runs.filter((run) => !run.success).map(describeFailure)
  const failures = failed.join(clauseJoin)
  const details = failed.length === 0 ? {} : { details: { failures: failed } }
  const answer = runs.findLast((run) => run.success)
  if (answer === undefined) {
    return { status: 'failed', message: fill(diagnostic.all_failed, { failures }), ...details }
  }
  const isSample = answer.provider === SAMPLE_PROVIDER
  const answered = fill(isSample ? diagnostic.sample : diagnostic.answered, { provider: answer.provider })
  const message = failed.length === 0 ? answered : `${answered}${clauseJoin}${fill(diagnostic.before, { failures })}`
  return { status: failed.length === 0 && !isSample ? 'ok' : 'degraded', message, ...details }
}

const SAMPLE_PROVIDER = 'sample'

function describeFailure({ provider, error_type: type, error_message_sanitized: message }: StoredProviderRun): string {
  if (message?.startsWith(provider)) return message
  return `${provider}: ${message ?? type ?? 'failed'}`
}

function overallStatus(stored: StoredDiagnostics | null, components: Components): DiagnosticSummary['status'] {
  if (stored === null) return 'unknown'
  const all = Object.values(components)
  if (components.llm.status === 'failed' || components.history.status === 'failed') return 'failed'
  if (all.some(({ status }) => status === 'failed' || status === 'degraded')) return 'degraded'
  const nothingRan = stored.provider_runs.length === 0 && stored.llm_runs.length === 0
  return nothingRan || all.every(({ status }) => status === 'unknown') ? 'unknown' : 'normal'
}

function reasonOf(status: DiagnosticSummary['status'], components: Components, language: ReportLanguage): string {
  const { overall, listComma } = labelsOf(language)
  if (status === 'normal' || status === 'unknown') return overall[status]
  const affected = Object.values(components).filter((part) => part.status === 'failed' || part.status === 'degraded')
  return fill(overall.affected, { names: affected.map(({ label }) => label).join(listComma) })
}

type Identity = Pick<DiagnosticSummary, 'trace_id' | 'task_id' | 'query_id' | 'stock_code' | 'trigger_source'>

function identityOf(stored: StoredDiagnostics | null): Identity {
  if (stored === null) return {}
  const { trace_id, task_id, query_id, stock_code, trigger_source } = stored
  return { trace_id, ...(task_id === null ? {} : { task_id }), query_id, stock_code, trigger_source }
}

function copyText({ components, ...summary }: Omit<DiagnosticSummary, 'copy_text'>): string {
  const { trace_id, task_id, query_id, stock_code, trigger_source } = summary
  const identity = Object.entries({ trace_id, task_id, query_id, stock_code, trigger_source })
  return [
    ...identity.flatMap(([key, value]) => (value === undefined ? [] : [`${key}: ${value}`])),
    `data_status: ${summary.status_label}`,
    `reason: ${summary.reason}`,
    ...Object.values(components).map(({ key, status, message }) => `${key}: ${status} (${message})`),
  ].join('\n')
}
