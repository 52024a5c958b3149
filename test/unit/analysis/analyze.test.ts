import fc from 'fast-check'
import { expect, test } from 'vitest'
import { diagnosticSummary } from '../../../src/analysis/report/diagnostics.ts'
import { renderMarkdown } from '../../../src/analysis/report/render/markdown.ts'
import { AnalysisReport, DiagnosticSummary, ReportLanguage } from '../../../src/analysis/schemas.ts'
import { figure } from '../../../src/analysis/texts/format.ts'
import type { Bar, Fetched, Provenance, ProviderRun, Quote } from '../../../src/market/bars.ts'
import type { Instrument } from '../../../src/market/instruments.ts'
import { ALONE, type AnalysisWorld, analyze, DEADLINES, type Subject } from './alone.ts'
import { anyBars, barsOf, wave } from './series.ts'

const MOUTAI: Instrument = { key: '600519', market: 'cn', exchange: 'SH', kind: 'stock', code: '600519' }
const APPLE: Instrument = { key: 'AAPL', market: 'us', exchange: 'US', kind: 'stock', code: 'AAPL' }
// Friday, 2026-03-20: 11:00 in Shanghai, in the morning session, and 16:00, after its close.
const IN_SESSION = Date.parse('2026-03-20T03:00:00Z')
const AFTER_CLOSE = Date.parse('2026-03-20T08:00:00Z')
const CLOSES = wave(80, 0.3, 1400)
const [BEFORE, LAST] = CLOSES.slice(-2) as [number, number]

const HISTORICAL: Provenance = { kind: 'historical', label: 'historical sample, ends 2024-09-19', endsOn: '2024-09-19' }
const SYNTHETIC: Provenance = { kind: 'synthetic', label: 'synthetic', endsOn: '2024-09-19' }

function input(changes: Partial<Subject> = {}, request: Partial<Subject['request']> = {}): Subject {
  return {
    instrument: MOUTAI,
    names: { zh: '贵州茅台', en: 'Kweichow Moutai' },
    request: { reportType: 'detailed', language: null, analysisPhase: 'auto', skills: null, ...request },
    configuredLanguage: 'zh',
    queryId: 'f'.repeat(32),
    ...changes,
  }
}

function run(dataType: ProviderRun['dataType'], changes: Partial<ProviderRun> = {}): ProviderRun {
  return {
    dataType,
    provider: 'tencent',
    operation: dataType,
    success: true,
    latencyMs: 12,
    errorType: null,
    errorMessage: null,
    fallbackFrom: null,
    fallbackTo: null,
    recordCount: 1,
    createdAt: '2026-03-20T08:00:00.000000Z',
    ...changes,
  }
}

const failure = (dataType: ProviderRun['dataType']) =>
  run(dataType, { success: false, errorType: 'timeout', errorMessage: 'tencent: timeout (8000 ms)', recordCount: 0 })

const DOWN: Fetched<Bar[]> = { ok: false, runs: [failure('daily_data')] }

function fetched<T>(value: T, dataType: ProviderRun['dataType'], provenance: Provenance | null = null): Fetched<T> {
  const provider = provenance ? 'sample' : 'tencent'
  return { ok: true, value, provider, provenance, runs: [run(dataType, { provider })] }
}

const bars = (value: Bar[], provenance: Provenance | null = null) => fetched(value, 'daily_data', provenance)

function quote(price: number, changes: Partial<Quote> = {}, provenance: Provenance | null = null): Fetched<Quote> {
  const value: Quote = {
    price,
    prevClose: BEFORE,
    open: null,
    high: null,
    low: null,
    volume: 500_000,
    amount: null,
    change: price - BEFORE,
    changePct: (price / BEFORE - 1) * 100,
    quotedAt: null,
    name: '贵州茅台',
    currency: 'CNY',
    turnoverRatePct: null,
    volumeRatio: null,
    peRatio: null,
    pbRatio: null,
    totalMarketValue: null,
    circulatingMarketValue: null,
    ...changes,
  }
  return fetched(value, 'realtime_quote', provenance)
}

type AnalysisChanges = Partial<AnalysisWorld> & {
  given?: { bars?: Fetched<Bar[]>; quote?: Fetched<Quote> }
  stages?: [number, string][]
}

function world({ given = {}, stages = [], ...changes }: AnalysisChanges = {}): AnalysisWorld {
  return {
    dailyBars: async () => given.bars ?? bars(barsOf(CLOSES)),
    quote: async () => given.quote ?? { ok: false, runs: [failure('realtime_quote')] },
    onStage: (progress, message) => void stages.push([progress, message]),
    clock: () => AFTER_CLOSE,
    signal: new AbortController().signal,
    ...ALONE,
    deadlines: DEADLINES,
    ...changes,
  }
}

async function reportOf(asked: Subject, deps: AnalysisWorld) {
  const result = await analyze(asked, deps)
  if (!result.ok) throw new Error(result.message)
  return result
}

/** Every string and number of a value, however deep. */
function leaves(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : [value]
}

test('a run reports its stages in order, names the stock in each, and ends in a whole report', async () => {
  const stages: [number, string][] = []
  const last = barsOf(CLOSES).at(-1)
  const given = { quote: quote(last?.close ?? 0, { quotedAt: AFTER_CLOSE }) }
  const { report, diagnostics, stockName } = await reportOf(input(), world({ given, stages }))
  expect(stages.map(([progress]) => progress)).toEqual([12, 16, 18, 32, 46, 58, 94])
  expect(stages.every(([, message]) => message.startsWith('贵州茅台：'))).toBe(true)
  expect(stockName).toBe('贵州茅台')
  expect(report.meta).toMatchObject({
    id: null,
    stock_code: '600519',
    stock_name: '贵州茅台',
    report_type: 'detailed',
    report_language: 'zh',
    created_at: '2026-03-20T08:00:00.000000Z',
    current_price: figure(last?.close),
    change_pct: (LAST / BEFORE - 1) * 100,
    model_used: null,
    data_notice: null,
    data_provenance: null,
    market_phase_summary: {
      phase: 'postmarket',
      effective_daily_bar_date: '2026-03-20',
      is_partial_bar: false,
      trigger_source: 'api',
      analysis_intent: 'auto',
    },
  })
  const raw = report.details?.raw_result
  expect(raw).toMatchObject({
    operation_advice: report.summary.operation_advice,
    action: report.summary.action,
    sentiment_score: report.summary.sentiment_score,
    news_result_count: null,
    news_result_count_known: true,
  })
  expect(report.summary.analysis_summary).toContain('未使用语言模型')
  expect(report.summary.sentiment_label).not.toBeNull()
  expect(report.details?.empty_news_disclosure).toContain('未配置新闻搜索渠道')
  expect(report.details?.market_structure).toMatchObject({ status: 'unknown', market: 'cn' })
  expect(diagnostics.provider_runs.map(({ data_type }) => data_type).sort()).toEqual(['daily_data', 'realtime_quote'])
  expect(diagnosticSummary(diagnostics, 'zh').status).toBe('normal')
})

test('the request decides language and type; the language falls back to the configured one', async () => {
  const korean = await reportOf(
    input({ instrument: APPLE, names: {} }, { language: 'ko', reportType: 'brief' }),
    world(),
  )
  expect(korean.report.meta).toMatchObject({ report_language: 'ko', report_type: 'brief', stock_name: '미확인 종목' })
  expect(korean.stockName).toBeNull()
  expect(korean.report.details?.market_structure).toMatchObject({ status: 'not_supported' })
  const english = await reportOf(input({ configuredLanguage: 'en' }), world())
  expect(english.report.meta).toMatchObject({ report_language: 'en', stock_name: 'Kweichow Moutai' })
})

test('during a session the quote is the last bar, appended or replaced, and everything says it is partial', async () => {
  const yesterday = barsOf(CLOSES, { endsOn: '2026-03-19' })
  const close = yesterday.at(-1)?.close ?? 0
  const live = quote(close * 1.02, {
    ...{ open: close, prevClose: close, change: close * 0.02, changePct: 2 },
    quotedAt: IN_SESSION,
  })
  for (const given of [
    { bars: bars(yesterday), quote: live },
    { bars: bars([...yesterday, ...barsOf([close], { endsOn: '2026-03-20' })]), quote: live },
  ]) {
    const { report } = await reportOf(input(), world({ given, clock: () => IN_SESSION }))
    expect(report.meta).toMatchObject({ current_price: figure(close * 1.02), change_pct: 2 })
    expect(report.meta.market_phase_summary).toMatchObject({ phase: 'intraday', is_partial_bar: true })
    expect(report.details?.context_snapshot).toMatchObject({
      enhanced_context: {
        bar_count: CLOSES.length + 1,
        today: { date: '2026-03-20', close: close * 1.02, is_partial: true },
        yesterday: { date: '2026-03-19' },
      },
    })
    expect(renderMarkdown(report)).toContain('当日K线尚未走完')
  }
})

test('a quote of another day is not shown as the price, and bars that miss a session are called so', async () => {
  const old = barsOf(CLOSES, { endsOn: '2026-03-18' })
  const stale = quote(1, { quotedAt: Date.parse('2026-03-17T06:00:00Z') })
  const { report } = await reportOf(input(), world({ given: { bars: bars(old), quote: stale } }))
  expect(report.meta.current_price).toBe(figure(old.at(-1)?.close))
  const pack = report.details?.analysis_context_pack_overview
  expect(pack?.blocks.map(({ key, status }) => `${key} ${status}`).slice(0, 2)).toEqual([
    'quote stale',
    'daily_bars stale',
  ])
  const text = renderMarkdown(report)
  expect(text).toContain('日线只到 2026-03-18')
  expect(text).toContain('已改用日线收盘价')
})

test('a report from sample data says so in every part and rendering, and its dates are those of the series', async () => {
  const series = barsOf(CLOSES, { endsOn: '2024-09-19' })
  for (const [provenance, word] of [
    [HISTORICAL, { zh: '样例数据', en: 'Sample data', ko: '샘플 데이터' }],
    [SYNTHETIC, { zh: '合成数据', en: 'Synthetic data', ko: '합성 데이터' }],
  ] as const) {
    for (const language of ReportLanguage.options) {
      for (const reportType of ['simple', 'detailed', 'full', 'brief'] as const) {
        const given = { bars: bars(series, provenance), quote: quote(series.at(-1)?.close ?? 0, {}, provenance) }
        const asked = input({}, { language, reportType, analysisPhase: 'intraday' })
        const { report, diagnostics } = await reportOf(asked, world({ given, clock: () => IN_SESSION }))
        expect(report.meta.data_notice).toContain(word[language])
        expect(report.meta.data_provenance).toEqual({
          kind: provenance.kind,
          label: provenance.label,
          ends_on: '2024-09-19',
        })
        expect(report.summary.analysis_summary).toContain(word[language])
        const text = renderMarkdown(report)
        expect(text).toContain(word[language])
        expect(text).toContain(report.details?.empty_news_disclosure)
        expect(report.meta.market_phase_summary).toMatchObject({
          phase: 'postmarket',
          session_date: '2024-09-19',
          effective_daily_bar_date: '2024-09-19',
          is_market_open_now: false,
          is_partial_bar: false,
          analysis_intent: 'intraday',
        })
        expect(report.meta.market_phase_summary?.market_local_time).toContain('2024-09-19T15:00')
        expect(text.replace(report.meta.created_at, '')).not.toContain('2026')
        expect(diagnosticSummary(diagnostics, language).status).toBe('degraded')
      }
    }
  }
})

test('sample and market figures never meet in one report', async () => {
  const real = barsOf(CLOSES)
  const { report } = await reportOf(input(), world({ given: { bars: bars(real), quote: quote(7, {}, SYNTHETIC) } }))
  expect(report.meta).toMatchObject({ current_price: figure(real.at(-1)?.close), data_provenance: null })
  const other = { bars: bars(barsOf(CLOSES, { endsOn: '2024-09-19' }), HISTORICAL), quote: quote(7) }
  const sample = await reportOf(input(), world({ given: other }))
  expect(sample.report.meta.current_price).not.toBe(7)
  expect(sample.report.meta.data_provenance?.kind).toBe('historical')
  expect(renderMarkdown(sample.report)).toContain('行情已略去')
})

test('too few bars, or a quote alone, give a neutral report that claims no technical view', async () => {
  const given = { bars: bars(barsOf(CLOSES.slice(0, 19))) }
  const { report } = await reportOf(input(), world({ given }))
  expect(report.summary).toMatchObject({ sentiment_score: 50, action: 'watch', operation_advice: '观望' })
  expect(report.summary.analysis_summary).toContain('可用日线 19 根')
  expect(report.strategy).toBeNull()
  expect(renderMarkdown(report)).not.toContain('## 评分构成')

  const alone = {
    bars: DOWN,
    quote: quote(1500, { quotedAt: AFTER_CLOSE }),
  }
  const partial = await reportOf(input(), world({ given: alone }))
  expect(partial.report.meta.current_price).toBe(1500)
  const summary = diagnosticSummary(partial.diagnostics, 'zh')
  expect(summary.components.daily_data).toMatchObject({ status: 'failed' })
  expect(summary.components.daily_data.message).toContain('tencent: timeout')
})

test('a name that two sources disagree on is reported, and the index keeps the last word', async () => {
  const given = { quote: quote(LAST, { name: '五粮液', quotedAt: AFTER_CLOSE }) }
  const { report } = await reportOf(input(), world({ given }))
  expect(report.meta.stock_name).toBe('贵州茅台')
  expect(renderMarkdown(report)).toContain('“五粮液”')
  const dividend = { quote: quote(LAST, { name: 'XD贵州茅', quotedAt: AFTER_CLOSE }) }
  expect(renderMarkdown((await reportOf(input(), world({ given: dividend }))).report)).not.toContain('请核对代码')
  const unknown = await reportOf(input({ names: {} }), world({ given }))
  expect(unknown.stockName).toBe('五粮液')
})

test('a run without data, past its deadline or cancelled names the stage and leaves no timer or report', async () => {
  const none = world({ given: { bars: DOWN } })
  expect(await analyze(input(), none)).toMatchObject({
    ok: false,
    reason: 'no_data',
    stage: 'daily_bars',
    message: '贵州茅台：日线数据：没有任何来源返回可用数据（tencent: timeout (8000 ms)）',
    runs: [{ dataType: 'realtime_quote' }, { dataType: 'daily_data' }],
  })

  let told = false
  const hang = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => {
        told = true
        reject(new Error('aborted'))
      })
    })
  const late = world({ dailyBars: hang, deadlines: { ...DEADLINES, dailyBarsMs: 20 } })
  expect(await analyze(input({ configuredLanguage: 'en' }), late)).toMatchObject({
    reason: 'deadline',
    stage: 'daily_bars',
    message: 'Kweichow Moutai：daily bars: not finished within 0.02 s',
  })
  expect(told).toBe(true)

  const slowQuote = world({
    quote: () => new Promise<never>(() => undefined),
    deadlines: { ...DEADLINES, quoteMs: 20 },
  })
  const { diagnostics } = await reportOf(input(), slowQuote)
  expect(diagnosticSummary(diagnostics, 'en').components.realtime_quote).toMatchObject({
    status: 'failed',
    message: 'Every source failed: all: no quote within 20 ms',
  })

  for (const stage of ['preparing', 'daily_bars', 'quote', 'trend', 'news', 'context', 'validating']) {
    const cancel = new AbortController()
    const onStage = (_progress: number, _message: string, at: string) => {
      if (at === stage) cancel.abort()
    }
    const result = await analyze(input(), world({ onStage, signal: cancel.signal }))
    expect(result).toMatchObject({ ok: false, reason: 'cancelled', stage })
  }
})

test('what a source throws in spite of its promise is thrown on, once', async () => {
  const broken = world({ dailyBars: () => Promise.reject(new Error('a bug')) })
  await expect(analyze(input(), broken)).rejects.toThrow('a bug')
})

test('for any series, in any language, the report fits its schema and holds no hole, no NaN and no unfilled template', async () => {
  const anyRequest = fc.record({
    language: fc.constantFrom(...ReportLanguage.options),
    reportType: fc.constantFrom('simple', 'detailed', 'full', 'brief' as const),
  })
  await fc.assert(
    fc.asyncProperty(anyBars, anyRequest, async (series, request) => {
      const { report, diagnostics } = await reportOf(input({}, request), world({ given: { bars: bars(series) } }))
      const stored: unknown = JSON.parse(JSON.stringify(report))
      expect(AnalysisReport.parse(stored)).toEqual(report)
      const summary = diagnosticSummary(diagnostics, request.language)
      expect(DiagnosticSummary.parse(JSON.parse(JSON.stringify(summary)))).toEqual(summary)
      const text = renderMarkdown(report, summary)
      for (const leaf of [...leaves(report), ...leaves(summary), text]) {
        if (typeof leaf === 'number') expect(Number.isFinite(leaf)).toBe(true)
        if (typeof leaf === 'string') expect(leaf).not.toMatch(/\{\w+\}|NaN|undefined|Infinity|\[object/)
      }
    }),
    { numRuns: 60 },
  )
})
