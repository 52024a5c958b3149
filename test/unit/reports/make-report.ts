import type { StoredDiagnostics } from '../../../src/analysis/diagnostics.ts'
import type { AnalysisReport, ReportLanguage } from '../../../src/analysis/schemas.ts'
import type { TaskRequest } from '../../../src/analysis/task.ts'
import type { ProviderRun } from '../../../src/market/bars.ts'
import { ALONE, analyze, DEADLINES } from '../analysis/alone.ts'
import { barsOf, wave } from '../analysis/series.ts'

export type ReportOptions = {
  language: ReportLanguage
  reportType?: TaskRequest['reportType']
  name?: string
  closes?: readonly number[]
}
type MadeReport = { report: AnalysisReport; diagnostics: StoredDiagnostics }

const EVEN_DAYS = wave(80, 0.1, 1480)

/** A report on a mainland share, at first on 80 even days, after the close of Friday, 2026-03-20; the quote's source is down. */
export async function makeReport(wanted: ReportOptions): Promise<MadeReport> {
  const { language, reportType = 'full', name = '贵州茅台', closes = EVEN_DAYS } = wanted
  const at = '2026-03-20T08:00:00.000000Z'
  const ran: ProviderRun = {
    dataType: 'daily_data',
    provider: 'tencent',
    operation: 'daily_bars',
    success: true,
    latencyMs: 9,
    errorType: null,
    errorMessage: null,
    fallbackFrom: null,
    fallbackTo: null,
    recordCount: 80,
    createdAt: at,
  }
  const down: ProviderRun = {
    ...ran,
    dataType: 'realtime_quote',
    operation: 'quote',
    success: false,
    errorType: 'http_status',
    errorMessage: 'tencent: http_status (HTTP 503) https://qt.example/q=sh600519',
    recordCount: 0,
  }
  const result = await analyze(
    {
      instrument: { key: '600519', market: 'cn', exchange: 'SH', kind: 'stock', code: '600519' },
      names: { zh: name },
      request: { reportType, language, analysisPhase: 'auto', skills: null },
      configuredLanguage: 'zh',
      queryId: 'a'.repeat(32),
    },
    {
      dailyBars: async () => ({
        ok: true,
        value: barsOf(closes),
        provider: 'tencent',
        provenance: null,
        runs: [ran],
      }),
      quote: async () => ({ ok: false, runs: [down] }),
      onStage: () => undefined,
      clock: () => Date.parse(at),
      signal: new AbortController().signal,
      ...ALONE,
      deadlines: DEADLINES,
    },
  )
  if (!result.ok) throw new Error(result.message)
  return result
}
