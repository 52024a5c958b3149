// The summary of a run for users to read or to paste into a bug report.

import type { StoredDiagnostics, StoredProviderRun } from '../diagnostics.ts'
import type {
  AnalysisReport,
  AnalysisResultResponse,
  DiagnosticComponent,
  DiagnosticSummary,
  ReportLanguage,
} from '../schemas.ts'
import { fill, textsOf } from '../texts/book.ts'
import { aside } from '../texts/format.ts'

type Components = DiagnosticSummary['components']
type ComponentKey = keyof Components
type Finding = Pick<DiagnosticComponent, 'status' | 'message' | 'details'>

/** The summary of a record, in the report's language; `unknown` in all fields when there is none. */
export function diagnosticSummary(stored: StoredDiagnostics | null, language: ReportLanguage): DiagnosticSummary {
  const labels = textsOf(language).report
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
  const { diagnostic, componentStatus } = textsOf(language).report
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
    llm: stored.llm_runs.length === 0 ? bare('not_configured') : modelFinding(stored, language),
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

/** A failed model is reported with its reason. */
function modelFinding({ llm_runs: runs }: StoredDiagnostics, language: ReportLanguage): Finding {
  const { analysis, report } = textsOf(language)
  if (succeeded(runs)) return { status: 'ok', message: report.componentStatus.ok }
  const fault = Object.entries(analysis.modelFault).find(([name]) => name === runs.at(-1)?.error_type)?.[1]
  const why = fault === undefined ? '' : aside(fault, language)
  return { status: 'failed', message: report.componentStatus.failed + why }
}

function notificationFinding({ notification_runs: runs }: StoredDiagnostics, language: ReportLanguage): Finding {
  const status = runs.every((run) => run.success === true) ? 'ok' : succeeded(runs) ? 'degraded' : 'failed'
  return { status, message: textsOf(language).report.componentStatus[status] }
}

function providerFinding(stored: StoredDiagnostics, dataType: string, language: ReportLanguage): Finding | null {
  const runs = stored.provider_runs.filter((run) => run.data_type === dataType)
  if (runs.length === 0) return null
  const { diagnostic, clauseJoin } = textsOf(language).report
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
  const { overall, listComma } = textsOf(language).report
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

/** A report in the form of an answer. */
export function resultOf(report: AnalysisReport, diagnostics: StoredDiagnostics | null): AnalysisResultResponse {
  const { meta } = report
  return {
    query_id: meta.query_id,
    trace_id: meta.query_id,
    stock_code: meta.stock_code,
    stock_name: meta.stock_name,
    report,
    diagnostic_summary: diagnosticSummary(diagnostics, meta.report_language),
    created_at: meta.created_at,
  }
}
