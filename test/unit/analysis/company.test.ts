import { expect, test } from 'vitest'
import { renderMarkdown } from '../../../src/analysis/report/render/markdown.ts'
import type { AnalysisReport } from '../../../src/analysis/schemas.ts'
import { figure } from '../../../src/analysis/texts/format.ts'
import { DEADLINES } from './alone.ts'
import {
  BARS,
  FLOW,
  FUND,
  failedFetch,
  fetchedValue,
  LAST,
  providerRun,
  QUOTE,
  REPORT,
  reportWith,
  WHOLE,
} from './company-reports.ts'

const statusOf = (report: AnalysisReport, key: string) =>
  report.details?.analysis_context_pack_overview?.blocks.find((block) => block.key === key)?.status

type Context = Record<string, { status: string; errors?: string[]; age_seconds?: number }>
const contextOf = (report: AnalysisReport) =>
  (report.details?.context_snapshot?.enhanced_context as { fundamental_context: Context } | undefined)
    ?.fundamental_context ?? {}

test('results, dividends, flow, boards and rankings stand in their members, computed once and said in words', async () => {
  const report = await reportWith(WHOLE)
  const { details } = report
  expect(details?.financial_report).toMatchObject({
    report_date: '2025-12-31',
    revenue: 1.74144e11,
    roe: 33.2,
    currency: 'CNY',
  })
  // Two ex-dates lie within the year; one is still to come and one is older.
  expect(details?.dividend_metrics).toMatchObject({
    ttm_event_count: 2,
    ttm_cash_dividend_per_share: 51.581,
    ttm_dividend_yield_pct: Math.round((51.581 / LAST) * 1e6) / 1e4,
    as_of: '2026-03-20',
    coverage: 'cash_dividend_pre_tax',
  })
  expect(details?.belong_boards).toEqual([
    { name: '白酒', code: 'BK0477', type: '行业', change_pct: 3.2 },
    { name: '贵州板块', code: 'BK0500', change_pct: 0.1 },
  ])
  expect(details?.sector_rankings).toMatchObject({
    status: 'ok',
    top: [{ name: '白酒', rank: 1, source: 'eastmoney' }],
  })
  expect(details?.concept_rankings).toMatchObject({ top: [{ name: '消费' }], bottom: [] })
  expect(details?.market_structure).toMatchObject({
    status: 'ok',
    stock_market_position: { stock_role: 'leader', theme_phase: 'accelerating', primary_theme: { name: '白酒' } },
    market_theme_context: { active_themes: [{ name: '白酒', strength_score: 76 }, { name: '消费' }] },
  })
  expect(contextOf(report).capital_flow).toMatchObject({
    status: 'ok',
    stock_flow: { main_net_inflow: 1e7, inflow_5d: 5e7, inflow_10d: 1e8, bias: 'inflow' },
  })
  expect(details?.raw_result).toMatchObject({
    fundamental_analysis: expect.stringContaining('市盈率 -12.50'),
    sector_position: expect.stringContaining('白酒 位列当日第 1'),
    dashboard: { decision_stability: { capital_flow_bias: 'inflow', capital_flow_status: 'ok' } },
    strategy_synthesis: { findings: [{ id: 'dragon_head' }, { id: 'growth_quality' }], unknown: ['nope'] },
  })
  const chips = details?.raw_result?.dashboard as { data_perspective: { chip_structure: unknown } } | undefined
  expect(chips?.data_perspective.chip_structure).toMatchObject({
    profit_ratio: expect.stringMatching(/%$/),
    avg_cost: expect.any(Number),
  })
  expect([statusOf(report, 'fundamentals'), statusOf(report, 'chip'), statusOf(report, 'news')]).toEqual([
    'available',
    'available',
    'missing',
  ])
  const markdown = renderMarkdown(report)
  const shown = [
    '截至 2025-12-31 的年内累计业绩：营收 1741.44亿元（同比 +15.66%）',
    '总市值 1.90万亿元；近一年每股现金分红 51.581元（税前），股息率',
    '主力资金净流入：当日 1000.00万元，5 日 5000.00万元，10 日 1.00亿元',
    '筹码：平均成本',
  ]
  for (const words of shown) expect(markdown).toContain(words)
  for (const words of ['营收', '龙头战法', '未知策略已忽略：nope', '筹码']) {
    expect([words, `${markdown}${JSON.stringify(details)}`.includes(words)]).toEqual([words, true])
  }
})

test('not supported, no data, failed and kept from before are told apart in every place', async () => {
  const unable = await reportWith(
    {
      fundamentals: async () => failedFetch('unsupported'),
      flow: async () => failedFetch('empty'),
      boards: async () => failedFetch('timeout'),
      rankings: () => new Promise<never>(() => undefined),
      peers: async () => failedFetch('unsupported'),
    },
    { deadlines: { ...DEADLINES, companyMs: 30 } },
  )
  const context = contextOf(unable)
  expect([
    context.growth?.status,
    context.capital_flow?.status,
    context.boards?.status,
    context.rankings?.status,
  ]).toEqual(['not_supported', 'no_data', 'failed', 'failed'])
  expect(context.rankings?.errors).toEqual(['not within 30 ms'])
  expect(unable.details).toMatchObject({
    financial_report: null,
    dividend_metrics: null,
    belong_boards: null,
    sector_rankings: null,
  })
  expect(unable.details?.market_structure).toMatchObject({ status: 'unknown' })
  // The quote still tells ratios, so the block is not wholly unsupported.
  expect(statusOf(unable, 'fundamentals')).toBe('partial')
  const text = String(unable.details?.raw_result?.fundamental_analysis)
  expect([text.includes('不支持'), String(unable.details?.raw_result?.sector_position)]).toEqual([
    true,
    '所属板块：获取失败',
  ])

  const kept = fetchedValue(REPORT, [
    providerRun({ success: false, errorType: 'timeout', errorMessage: 'eastmoney: timeout' }),
    providerRun({ operation: 'kept_fundamentals', staleSeconds: 90_000 }),
  ])
  const old = await reportWith({ ...WHOLE, fundamentals: async () => kept })
  expect([statusOf(old, 'fundamentals'), contextOf(old).growth?.age_seconds]).toEqual(['stale', 90_000])

  const fund = await reportWith(WHOLE, {}, { instrument: FUND })
  expect([statusOf(fund, 'fundamentals'), contextOf(fund).boards?.status]).toEqual(['not_supported', 'not_supported'])
  expect(fund.details?.market_structure).toMatchObject({ status: 'not_supported' })

  const provenance = { kind: 'historical' as const, label: 'sample', endsOn: '2024-09-19' }
  const sampled = await reportWith(WHOLE, {
    dailyBars: async () => ({ ...fetchedValue(BARS), provenance }) as never,
    quote: async () => ({ ...fetchedValue(QUOTE), provenance }) as never,
  })
  expect(contextOf(sampled).growth).toMatchObject({
    status: 'no_data',
    errors: ['sample and market figures are not mixed'],
  })
  expect(sampled.details?.financial_report).toBeNull()
  // Nobody was asked, which is not the same as that there is nothing.
  expect(renderMarkdown(sampled)).toContain('样例行情不与真实公司资料混用，因此未查询')
  expect(renderMarkdown(sampled)).not.toContain('业绩：无数据')
})

test('bars from the cache tell their age, and a source that throws costs its part and nothing else', async () => {
  const kept = fetchedValue(BARS, [
    providerRun({ dataType: 'daily_data', operation: 'kept_daily_bars', staleSeconds: 725 }),
  ])
  const report = await reportWith(
    {
      ...WHOLE,
      boards: async () => {
        throw new Error('a bug in a source')
      },
    },
    { dailyBars: async () => kept },
  )
  const limits = report.details?.raw_result?.dashboard as { phase_decision: { data_limitations: string[] } } | undefined
  expect(limits?.phase_decision.data_limitations).toContain('日线来自缓存，距今 12 分钟')
  expect(contextOf(report).boards?.status).toBe('failed')
  expect(report.details?.context_snapshot?.enhanced_context).toMatchObject({ bars_age_seconds: 725 })
})

test('a quote in other money than the market names that money, and the report says so', async () => {
  const rmb = await reportWith(null, { quote: async () => fetchedValue({ ...QUOTE, currency: 'HKD' }) })
  expect(rmb.strategy?.stop_loss ?? '').toContain('港元')
  const limits = rmb.details?.raw_result?.dashboard as { phase_decision: { data_limitations: string[] } } | undefined
  expect(limits?.phase_decision.data_limitations).toContain('行情以 HKD 计价，而非 CNY')
  const odd = await reportWith(null, { quote: async () => fetchedValue({ ...QUOTE, currency: 'GBp' }) })
  expect(JSON.stringify(odd.details?.raw_result)).toContain('行情以 GBp 计价')
})

test('suspended, newly listed, volumeless and split series end in a whole report that says what it lacks', async () => {
  const day = (index: number) => BARS[index]?.date ?? ''
  const cases: [string, typeof BARS][] = [
    ['newly listed', BARS.slice(-7)],
    ['without volume', BARS.map((bar) => ({ ...bar, volume: 0 }))],
    ['suspended for a month', BARS.slice(0, 58)],
    ['missing days', BARS.filter((_, i) => i % 4 !== 1)],
    [
      'split in the middle',
      BARS.map((bar, i) =>
        i < 40 ? bar : { ...bar, open: bar.open / 10, high: bar.high / 10, low: bar.low / 10, close: bar.close / 10 },
      ),
    ],
    ['one price for ever', BARS.map((bar) => ({ ...bar, open: 5, high: 5, low: 5, close: 5 }))],
  ]
  for (const [name, bars] of cases) {
    const quote =
      name === 'suspended for a month'
        ? fetchedValue({ ...QUOTE, quotedAt: Date.parse(`${day(57)}T07:00:00Z`) })
        : failedFetch('empty')
    const report = await reportWith(WHOLE, { dailyBars: async () => fetchedValue(bars), quote: async () => quote })
    expect([name, JSON.stringify(report).match(/NaN|Infinity|undefined|\{\w+\}/)]).toEqual([name, null])
    if (name === 'newly listed') expect(report.summary).toMatchObject({ sentiment_score: 50, action: 'watch' })
    if (name === 'suspended for a month') expect(statusOf(report, 'daily_bars')).toBe('stale')
  }
})

test('the raw result says whether a rule held the advice back, in both of its places', async () => {
  const dashboardOf = (report: AnalysisReport) => report.details?.raw_result?.dashboard as Record<string, unknown>
  const levels = { current_price: figure(LAST), support: 1647.7979, resistance: 1798.6247, capital_flow_status: 'ok' }
  const free = dashboardOf(await reportWith(WHOLE))
  expect(free.decision_stability).toEqual({
    ...levels,
    applied: false,
    reason: null,
    capital_flow_bias: 'inflow',
    raw_score: 67,
    adjusted_score: 67,
    final_action: 'buy',
  })
  expect(free.decision_score_calibration).toEqual({
    name: 'decision-scale-v1',
    band: 2,
    level: 'buy',
    raw_score: 67,
    adjusted_score: 67,
    final_action: 'buy',
  })

  const outflow = FLOW.map((day) => ({ ...day, mainNet: -1e7 }))
  const held = dashboardOf(await reportWith({ ...WHOLE, flow: async () => fetchedValue(outflow) }))
  const reason = '评分 67 偏向买入，但价格紧贴压力位 1798.62 且没有资金流入，因此建议观望'
  const outcome = { raw_score: 67, adjusted_score: 59, final_action: 'watch' }
  expect(held.decision_stability).toEqual({
    ...levels,
    ...outcome,
    applied: true,
    reason,
    capital_flow_bias: 'outflow',
  })
  expect(held.decision_score_calibration).toEqual({
    name: 'decision-scale-v1',
    band: 3,
    level: 'watch',
    ...outcome,
    guardrail_reason: reason,
  })
})

test('news of the industry are background: no count, no block, no guard, and the report says that there are none of the company', async () => {
  const ofOthers = {
    title: '五粮液被立案调查',
    snippet: '白酒行业震动',
    url: 'https://n.test/1',
    source: 'n.test',
    publishedAt: '2026-03-19T00:00:00Z',
    dimension: 'industry' as const,
    provider: 'tavily',
  }
  const reportOf = (items: (Omit<typeof ofOthers, 'dimension'> & { dimension: 'industry' | 'risk_check' })[]) => {
    const count = items.filter(({ dimension }) => dimension !== 'industry').length
    const news = { count, items, isPooled: false, social: null, ageSeconds: null, maxAgeDays: 3, runs: [] }
    return reportWith(WHOLE, { news: { isConfigured: true, search: async () => news } })
  }
  const without = await reportOf([])
  const background = await reportOf([ofOthers])
  expect(statusOf(background, 'news')).toBe('missing')
  expect(background.details).toMatchObject({
    news_content: null,
    raw_result: { news_result_count: 0, news_summary: null },
  })
  expect(background.details?.empty_news_disclosure).toBe(without.details?.empty_news_disclosure)
  expect(background.summary).toEqual(without.summary)
  const own = { ...ofOthers, title: '贵州茅台公告', url: 'https://n.test/2', dimension: 'risk_check' as const }
  const both = await reportOf([own, ofOthers])
  expect(both.details?.news_content).toContain('行业背景（不作为该股的依据）')
  expect(both.details?.raw_result).toMatchObject({ news_summary: expect.stringContaining('共 1 条新闻') })
})

test('results that newer ones should have followed are told with their age among the limits', async () => {
  const aged = (reportDate: string) => {
    const report = REPORT.report && { ...REPORT.report, reportDate }
    return reportWith({ ...WHOLE, fundamentals: async () => fetchedValue({ ...REPORT, report }) })
  }
  const limits = async (reportDate: string) => renderMarkdown(await aged(reportDate))
  expect(await limits('2025-01-31')).toContain('最近业绩截至 2025-01-31，比价格早 413 天')
  expect(await limits('2025-06-30')).not.toContain('可能已有更新的业绩')
})
