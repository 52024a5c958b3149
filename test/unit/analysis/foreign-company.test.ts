import { expect, test } from 'vitest'
import { renderMarkdown } from '../../../src/analysis/report/render/markdown.ts'
import { escapeMarkdown } from '../../../src/analysis/report/render/markdown-text.ts'
import type { AnalysisReport, ReportLanguage } from '../../../src/analysis/schemas.ts'
import { textsOf } from '../../../src/analysis/texts/book.ts'
import type { Bar } from '../../../src/market/bars.ts'
import type { Instrument } from '../../../src/market/instruments.ts'
import { createMarketData } from '../../../src/market/providers/index.ts'
import { dividendChart, timeseries, wholeSeries } from '../../fixtures/market/yahoo-fundamentals.ts'
import { instrument, upstream } from '../market/upstream.ts'
import { ALONE, analyze, DEADLINES } from './alone.ts'
import { barsOf, wave } from './series.ts'

// Saturday, 3 January 2026: every market has closed.
const NOW = Date.parse('2026-01-03T12:00:00Z')
const CLOSES = wave(120, 0.1)
const BARS = barsOf(CLOSES, { endsOn: '2026-01-02', market: 'us' })
const BARS_OF: Record<string, Bar[]> = {
  AAPL: BARS,
  '0700.HK': barsOf(CLOSES, { endsOn: '2026-01-02', market: 'hk' }),
  '7203.T': barsOf(CLOSES, { endsOn: '2025-12-30', market: 'jp' }),
}

type Company = {
  symbol: string
  currency: string
  results: () => Response
  paid?: [string, number, string?][]
  days?: number
  phase?: 'intraday'
}

/** Prices of whatever symbol is asked for, with one company's results and dividends. */
function service({ symbol, currency, results, paid = [], days = BARS.length }: Company) {
  return upstream({
    '/ws/fundamentals-timeseries/': results,
    'events=div%2Csplit': () => pricesOf({ symbol, currency, days }),
    'events=div,split': () => pricesOf({ symbol, currency, days }),
    'events=div': () => Response.json(dividendChart(symbol, currency, paid)),
  })
}

function pricesOf({ symbol, currency, days }: { symbol: string; currency: string; days: number }): Response {
  const bars = (BARS_OF[symbol] ?? BARS).slice(-days)
  const column = (name: 'open' | 'high' | 'low' | 'close' | 'volume') => bars.map((bar) => bar[name])
  const timestamp = bars.map(({ date }) => Date.parse(`${date}T06:00:00Z`) / 1000)
  const quote = [
    {
      open: column('open'),
      high: column('high'),
      low: column('low'),
      close: column('close'),
      volume: column('volume'),
    },
  ]
  const meta = { symbol, currency, regularMarketPrice: BARS.at(-1)?.close, regularMarketTime: timestamp.at(-1) }
  return Response.json({ chart: { result: [{ meta, timestamp, indicators: { quote } }], error: null } })
}

async function reportOf(
  code: string | Instrument,
  language: ReportLanguage,
  company: Company,
): Promise<AnalysisReport> {
  const subject = typeof code === 'string' ? instrument(code) : code
  const { fetch } = service(company)
  const market = await createMarketData({
    providers: ['yahoo'],
    variables: { YAHOO_URL: 'http://y.test' },
    clock: () => NOW,
    fetch,
  })
  const result = await analyze(
    {
      instrument: subject,
      names: { en: 'Example', zh: '示例' },
      request: { reportType: 'full', language, analysisPhase: company.phase ?? 'auto', skills: ['growth_quality'] },
      configuredLanguage: 'zh',
      queryId: 'd'.repeat(32),
    },
    {
      ...ALONE,
      dailyBars: () => market.bars(subject, { count: 120 }),
      quote: () => market.quote(subject),
      company: {
        fundamentals: (signal) => market.fundamentals(subject, { signal }),
        flow: (signal) => market.capitalFlow(subject, { signal }),
        boards: (signal) => market.boards(subject, { signal }),
        rankings: (signal) => market.rankings(subject, { signal }),
        peers: (boards, signal) => market.peers(subject, boards, { signal }),
      },
      onStage: () => undefined,
      clock: () => NOW,
      signal: new AbortController().signal,
      deadlines: DEADLINES,
    },
  )
  if (!result.ok) throw new Error(result.message)
  return result.report
}

const results = (symbol: string, currency: string) => () => Response.json(timeseries(...wholeSeries(symbol, currency)))

type Context = Record<'valuation' | 'growth' | 'earnings' | 'capital_flow' | 'boards', Record<string, unknown>>
const contextOf = ({ details }: AnalysisReport) =>
  (details?.context_snapshot?.enhanced_context as { fundamental_context: Context } | undefined)?.fundamental_context

/** The lines of the report's section on the company. */
function companyLines(report: AnalysisReport): string[] {
  const heading = { zh: '## 公司\n\n', en: '## Company\n\n', ko: '## 회사\n\n' }[report.meta.report_language]
  const section = renderMarkdown(report).split(heading)[1]?.split('\n\n')[0] ?? ''
  return section.split('\n').map((line) => line.replaceAll('\\', ''))
}

const PRICE = BARS.at(-1)?.close ?? 0
const yieldOf = (cash: number) => `${((cash / PRICE) * 100).toFixed(2)}%`

test('an American company: three months are called three months, ratios have their day, dividends their yield', async () => {
  const paid: [string, number][] = [
    ['2025-11-10', 0.26],
    ['2025-08-11', 0.26],
    ['2024-11-08', 0.25],
  ]
  const apple = { symbol: 'AAPL', currency: 'USD', results: results('AAPL', 'USD'), paid }
  const report = await reportOf('AAPL', 'en', apple)
  expect(companyLines(report)).toEqual([
    '- Results of the three months to 2025-09-30: revenue 110.00B USD (+10.00% on the year), net profit 27.00B USD' +
      ' (-10.00% on the year), operating cash flow 31.00B USD, gross margin 45.00%, ROE of twelve months 50.00%;' +
      ' PE 31.25, PB 8.40, market value 3.10T USD (of 2025-12-31);' +
      ` cash dividends of the last year: 0.52 USD per share before tax, a yield of ${yieldOf(0.52)}`,
    '- Capital flow: not supported',
    '- Boards: not supported',
  ])
  expect(report.details?.financial_report).toMatchObject({
    report_date: '2025-09-30',
    period: 'quarter',
    roe_period: 'trailing_twelve_months',
    currency: 'USD',
  })
  expect(contextOf(report)).toMatchObject({
    valuation: { status: 'partial', pe: 31.25, total_mv: 3.1e12, as_of: '2025-12-31', source_chain: ['yahoo'] },
    growth: { status: 'ok', revenue_yoy: 10, gross_margin: 45, source_chain: ['yahoo'] },
    earnings: { status: 'ok', dividend_count: 3 },
    capital_flow: { status: 'not_supported' },
    boards: { status: 'not_supported' },
  })
  expect(report.details?.dividend_metrics).toMatchObject({ ttm_event_count: 2, currency: 'USD' })
  // The ratio beside the results answers what a strategy asks.
  expect(JSON.stringify(report.details?.raw_result?.strategy_synthesis)).toMatch(/"met":\[[^\]]*(PE|price)/i)
})

test('a Hong Kong company that reports in renminbi: no money is taken for another, and no yield is made of two', async () => {
  const paid: [string, number, string?][] = [['2025-05-16', 4.5]]
  const tencent = { symbol: '0700.HK', currency: 'HKD', results: results('0700.HK', 'CNY'), paid }
  const report = await reportOf('HK00700', 'zh', tencent)
  expect(companyLines(report)).toEqual([
    '- 截至 2025-09-30 的单季（三个月）业绩：营收 1100.00亿元人民币（同比 +10.00%），净利润 270.00亿元人民币（同比 -10.00%），' +
      '经营现金流 310.00亿元人民币，毛利率 45.00%，近十二个月 ROE 50.00%；市盈率 31.25，市净率 8.40，总市值 3.10万亿元人民币（2025-12-31）；' +
      `近一年每股现金分红 4.5港元（税前），股息率 ${yieldOf(4.5)}`,
    '- 资金流向：不支持',
    '- 所属板块：不支持',
  ])
  expect(report.details?.financial_report).toMatchObject({ currency: 'CNY' })
  expect(report.details?.dividend_metrics).toMatchObject({ currency: 'HKD' })
  const inRenminbi = await reportOf('HK00700', 'zh', { ...tencent, paid: [['2025-05-16', 4.5, 'CNY']] })
  expect(inRenminbi.details?.dividend_metrics).toMatchObject({ ttm_dividend_yield_pct: null, currency: 'CNY' })
  expect(companyLines(inRenminbi)[0]).toMatch(/近一年每股现金分红 4.5元人民币（税前）$/)
  const mixed: Company['paid'] = [
    ['2025-05-16', 4.5],
    ['2025-10-16', 2, 'CNY'],
  ]
  const both = await reportOf('HK00700', 'zh', { ...tencent, paid: mixed })
  expect(both.details?.dividend_metrics).toMatchObject({ ttm_event_count: 2, ttm_cash_dividend_per_share: null })
})

test('a Japanese company without dividends, and one of which nobody knows anything', async () => {
  const toyota = { symbol: '7203.T', currency: 'JPY', results: results('7203.T', 'JPY') }
  const report = await reportOf('7203.T', 'zh', toyota)
  expect(companyLines(report)[0]).toMatch(
    /营收 1100\.00亿日元.*总市值 3\.10万亿日元（2025-12-31）；近一年没有现金分红$/,
  )
  expect(await reportOf('7203.T', 'en', toyota).then(companyLines)).toContainEqual(
    expect.stringContaining('revenue 110.00B JPY'),
  )
  const unknown = { ...toyota, results: () => Response.json({ timeseries: { result: [], error: null } }) }
  const nothing = await reportOf('7203.T', 'en', unknown)
  expect([contextOf(nothing)?.growth.status, companyLines(nothing)[0]]).toEqual(['no_data', '- Results: no data'])
  const busy = await reportOf('7203.T', 'en', { ...toyota, results: () => new Response('', { status: 503 }) })
  expect(contextOf(busy)?.growth).toMatchObject({ status: 'failed', errors: [expect.stringContaining('http_status')] })
  expect(companyLines(busy)[0]).toBe('- Results: could not be fetched')
})

test('an index and a fund have no company, and their reports no section on one', async () => {
  const subjects: [Instrument, string][] = [
    [instrument('SPX'), '^GSPC'],
    [{ ...instrument('AAPL'), key: 'SPY', code: 'SPY', kind: 'etf' }, 'SPY'],
  ]
  for (const [subject, symbol] of subjects) {
    const report = await reportOf(subject, 'en', { symbol, currency: 'USD', results: results(symbol, 'USD') })
    expect(contextOf(report)?.growth.status).toBe('not_supported')
    expect(renderMarkdown(report)).not.toContain('## Company')
  }
})

test('a stock of six days has no chart to judge, but its results answer what they can', async () => {
  const fresh = { symbol: 'AAPL', currency: 'USD', results: results('AAPL', 'USD'), days: 6 }
  const report = await reportOf('AAPL', 'en', fresh)
  const markdown = renderMarkdown(report)
  expect(report.summary).toMatchObject({ sentiment_score: 50, action: 'watch' })
  expect(markdown).toContain('✓ ROE of 10% or more')
  expect(markdown).toContain('✗ net profit up by 10% or more on the year')
  // There is no stop below which anybody could leave.
  expect(markdown).not.toMatch(/the stop|the ideal level/)
  // Half of an answer is not a whole one.
  expect(markdown).toMatch(/Growth and quality: \*\*fits in part\*\*/)
  expect(markdown).toContain('## Company')
})

type Forced = { raw_result: { dashboard: { phase_decision: { immediate_action: string } } } }

test('a phase of today is not told as that of the day of the data, and the plan weighs its risk', async () => {
  const apple = { symbol: 'AAPL', currency: 'USD', results: results('AAPL', 'USD') }
  const told = {
    zh: '数据日期：2026-01-02（当前：非交易日）',
    en: '2026-01-02 (market now: No session)',
    ko: '2026-01-02 (현재: 휴장일)',
  }
  const weighed = { zh: /距现价 -\d.* 与 \+\d/, en: /-\d\S+ and \+\S+ from the price/, ko: /현재가 대비 -\d/ }
  for (const language of ['zh', 'en', 'ko'] as const) {
    const markdown = renderMarkdown(await reportOf('AAPL', language, apple))
    expect(markdown).toContain(told[language])
    const forced = await reportOf('AAPL', language, { ...apple, phase: 'intraday' })
    const asked = renderMarkdown(forced)
    const { phaseAgainstCalendar, notNow, summaryClosed } = textsOf(language).analysis
    expect(asked).toContain(told[language])
    expect(asked).toContain(escapeMarkdown(phaseAgainstCalendar))
    expect((forced.details as unknown as Forced).raw_result.dashboard.phase_decision.immediate_action).toBe(notNow)
    expect(asked).toContain(
      summaryClosed.includes('收于') ? '收于' : summaryClosed.includes('종가') ? '종가' : 'closed at',
    )
    expect(markdown).toMatch(weighed[language])
    const near = markdown.split('\n').filter((line) => /^- (支撑|压力|Supports|Resistances|지지|저항)/.test(line))
    const prices = near.flatMap((line) => line.match(/\d+\.\d\d/g) ?? [])
    expect(prices).toEqual([...new Set(prices)])
  }
})
