import { expect, test } from 'vitest'
import { StoredDiagnostics, sanitize, storedDiagnostics } from '../../../src/analysis/diagnostics.ts'
import { diagnosticSummary } from '../../../src/analysis/report/diagnostics.ts'
import { DiagnosticSummary } from '../../../src/analysis/schemas.ts'
import type { ProviderRun } from '../../../src/market/bars.ts'

const IDENTITY = { traceId: 't1', taskId: null, queryId: 'q1', stockCode: '600519', triggerSource: 'api' }

function run(dataType: ProviderRun['dataType'], provider: string, errorType: string | null = null): ProviderRun {
  return {
    dataType,
    provider,
    operation: 'x',
    success: errorType === null,
    latencyMs: 5,
    errorType,
    errorMessage: errorType && `${provider}: ${errorType} at https://host.example/path?token=abc`,
    fallbackFrom: null,
    fallbackTo: null,
    recordCount: 1,
    createdAt: '2026-03-20T08:00:00.000000Z',
  }
}

const GOOD = [run('realtime_quote', 'tencent'), run('daily_data', 'tencent')]

function summaryOf(runs: ProviderRun[], more: Partial<StoredDiagnostics> = {}) {
  const stored = { ...storedDiagnostics(IDENTITY, runs), ...more }
  expect(StoredDiagnostics.parse(JSON.parse(JSON.stringify(stored)))).toEqual(stored)
  const summary = diagnosticSummary(stored, 'en')
  expect(DiagnosticSummary.parse(summary)).toEqual(summary)
  return summary
}

test('the overall state follows from the components, worst first', () => {
  const table: [string, ReturnType<typeof diagnosticSummary>, string, string][] = [
    ['all good', summaryOf(GOOD), 'normal', 'Everything worked'],
    ['saved', summaryOf(GOOD, { history_runs: [{ report_saved: true }] }), 'normal', 'Everything worked'],
    ['not saved', summaryOf(GOOD, { history_runs: [{ report_saved: false }] }), 'failed', 'Affected: History'],
    ['model failed', summaryOf(GOOD, { llm_runs: [{ success: false }] }), 'failed', 'Affected: Language model'],
    [
      'model recovered',
      summaryOf(GOOD, { llm_runs: [{ success: false }, { success: true }] }),
      'normal',
      'Everything worked',
    ],
    [
      'one channel failed',
      summaryOf(GOOD, { notification_runs: [{ success: true }, { success: false }] }),
      'degraded',
      'Affected: Notification',
    ],
    [
      'fallback',
      summaryOf([run('realtime_quote', 'tencent', 'timeout'), run('realtime_quote', 'yahoo')]),
      'degraded',
      'Affected: Live quote',
    ],
    ['source failed', summaryOf([run('daily_data', 'tencent', 'timeout')]), 'degraded', 'Affected: Daily bars'],
    ['sample', summaryOf([run('daily_data', 'sample')]), 'degraded', 'Affected: Daily bars'],
    ['nothing ran', summaryOf([]), 'unknown', 'Too little was recorded to tell'],
    ['no record', diagnosticSummary(null, 'en'), 'unknown', 'Too little was recorded to tell'],
  ]
  expect(table.map(([name, { status, reason }]) => [name, status, reason])).toEqual(
    table.map(([name, , status, reason]) => [name, status, reason]),
  )
})

test('a failed source is named with its reason, in words for people and in the block for bug reports, without addresses', () => {
  const summary = summaryOf([
    run('realtime_quote', 'tencent', 'timeout'),
    run('realtime_quote', 'yahoo', 'rate_limited'),
    run('realtime_quote', 'sample'),
    run('daily_data', 'tencent', 'bad_price'),
  ])
  expect(summary.components.realtime_quote).toEqual({
    key: 'realtime_quote',
    label: 'Live quote',
    status: 'degraded',
    message: 'Sample data (sample); failed before it: tencent: timeout at [url]; yahoo: rate_limited at [url]',
    details: { failures: ['tencent: timeout at [url]', 'yahoo: rate_limited at [url]'] },
  })
  expect(summary.components.daily_data).toMatchObject({
    status: 'failed',
    message: 'Every source failed: tencent: bad_price at [url]',
  })
  expect(summary.components.news.status).toBe('not_configured')
  expect(summary.components.llm.status).toBe('not_configured')
  expect(summary.components.notification.status).toBe('skipped')
  expect(summary.copy_text.split('\n').slice(0, 5)).toEqual([
    'trace_id: q1',
    'query_id: q1',
    'stock_code: 600519',
    'trigger_source: api',
    'data_status: Degraded',
  ])
  expect(summary).not.toHaveProperty('task_id')
  expect(JSON.stringify(summary)).not.toContain('host.example')
  expect(diagnosticSummary(storedDiagnostics({ ...IDENTITY, taskId: 'k' }, GOOD), 'zh')).toMatchObject({
    task_id: 'k',
    status_label: '正常',
  })
})

test('messages lose addresses, keys and paths, and end within a line', () => {
  const table: [string, string][] = [
    ['GET https://user:pw@host/x?key=1 failed', 'GET [url] failed'],
    ['api_key=abcdef rejected', 'api_key=[masked] rejected'],
    ['Authorization: Bearer xyz', 'Authorization: Bearer [masked]'],
    ['token limit exceeded', 'token limit exceeded'],
    [`bad value ${'a1'.repeat(20)}`, 'bad value [masked]'],
    ['ENOENT /home/me/secret.txt', 'ENOENT [path]'],
    ['C:\\Users\\me\\x.txt is missing', '[path] is missing'],
    ['HTTP 503\nbody', 'HTTP 503 body'],
    ['price 3/4 of 2026/03/20', 'price 3/4 of 2026/03/20'],
  ]
  expect(table.map(([message]) => [message, sanitize(message)])).toEqual(table)
  expect(sanitize('word '.repeat(100))).toHaveLength(220)
})

test('a part of which nothing failed has no list of failures, not even an empty one', () => {
  const failuresOf = ({ components }: ReturnType<typeof summaryOf>) =>
    Object.entries(components).flatMap(([name, { details }]) =>
      details !== undefined && 'failures' in details ? [[name, details.failures]] : [],
    )
  expect(failuresOf(summaryOf(GOOD))).toEqual([])
  expect(failuresOf(summaryOf([run('realtime_quote', 'tencent', 'timeout'), ...GOOD]))).toEqual([
    ['realtime_quote', ['tencent: timeout at [url]']],
  ])
})
