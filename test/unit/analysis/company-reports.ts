// A company that all sources know, in fixed figures, and its report.

import type { CompanyQuestions } from '../../../src/analysis/gather/company.ts'
import type { AnalysisReport, ReportLanguage } from '../../../src/analysis/schemas.ts'
import type { Fetched, ProviderRun, Quote } from '../../../src/market/bars.ts'
import type { BoardRankings, FlowDay, Fundamentals, Peers, RankedBoard } from '../../../src/market/company.ts'
import type { Instrument } from '../../../src/market/instruments.ts'
import { ALONE, type AnalysisWorld, analyze, DEADLINES, type Subject } from './alone.ts'
import { barsOf, wave } from './series.ts'

const MOUTAI: Instrument = { key: '600519', market: 'cn', exchange: 'SH', kind: 'stock', code: '600519' }
export const FUND: Instrument = { key: '510300', market: 'cn', exchange: 'SH', kind: 'etf', code: '510300' }
const AFTER_CLOSE = Date.parse('2026-03-20T08:00:00Z')
export const BARS = barsOf(wave(80, 0.3, 1400), { volume: 3_000_000 })
export const LAST = BARS.at(-1)?.close ?? 0
const BEFORE = BARS.at(-2)?.close ?? 0

export const QUOTE: Quote = {
  price: LAST,
  prevClose: BEFORE,
  open: null,
  high: null,
  low: null,
  volume: 3_000_000,
  amount: null,
  change: LAST - BEFORE,
  changePct: (LAST / BEFORE - 1) * 100,
  quotedAt: AFTER_CLOSE,
  name: '贵州茅台',
  currency: 'CNY',
  turnoverRatePct: 0.4,
  volumeRatio: 1,
  peRatio: -12.5,
  pbRatio: 8,
  totalMarketValue: 1.9e12,
  circulatingMarketValue: 1.9e12,
}

export const REPORT: Fundamentals = {
  report: {
    reportDate: '2025-12-31',
    period: 'year_to_date',
    revenue: 1.74144e11,
    netProfitParent: 8.6e10,
    operatingCashFlow: null,
    roePct: 33.2,
    grossMarginPct: 91.9,
    revenueYoyPct: 15.66,
    netProfitYoyPct: 15.38,
    currency: 'CNY',
  },
  valuation: null,
  dividends: [
    { exDate: '2026-06-20', recordDate: null, announcedOn: '2026-03-01', cashPerShare: 30, currency: 'CNY' },
    { exDate: '2025-12-19', recordDate: '2025-12-18', announcedOn: null, cashPerShare: 23.957, currency: 'CNY' },
    { exDate: '2025-06-20', recordDate: null, announcedOn: null, cashPerShare: 27.624, currency: 'CNY' },
    { exDate: '2024-12-20', recordDate: null, announcedOn: null, cashPerShare: 23.88, currency: 'CNY' },
  ],
}

const ranked = (
  code: string,
  name: string,
  changePct: number,
  rank: number,
  leader: string | null = null,
): RankedBoard => ({
  code,
  name,
  changePct,
  rank,
  risingCount: 5,
  fallingCount: 1,
  leader,
  mainNet: 1e8,
})

const RANKINGS: BoardRankings = {
  industries: { top: [ranked('BK0477', '白酒', 3.2, 1, '贵州茅台')], bottom: [ranked('BK0001', '煤炭', -2, 86)] },
  concepts: { top: [ranked('BK0900', '消费', 0.5, 1)], bottom: [] },
}

/** Six of the board beside the company: one makes a loss, one has no ratios. */
export const PEERS: Peers = {
  board: { code: 'BK0477', name: '白酒' },
  total: 7,
  companies: [
    { code: '600519', name: '贵州茅台', peRatio: 26.4, pbRatio: 8.1, marketValue: 1.9e12 },
    ...[18, 22, 31, -7, 15, 24].map((peRatio, i) => {
      return { code: `00000${i}`, name: `同业${i}`, peRatio, pbRatio: 2 + i, marketValue: 1e11 - i }
    }),
    { code: '000009', name: '同业9', peRatio: null, pbRatio: null, marketValue: null },
  ],
}

export const FLOW: FlowDay[] = Array.from({ length: 10 }, (_, i) => ({
  date: `2026-03-${String(i + 9).padStart(2, '0')}`,
  mainNet: 1e7,
  smallNet: 0,
  mediumNet: 0,
  largeNet: 0,
  superLargeNet: 0,
  mainNetPct: 1,
}))

export const providerRun = (changes: Partial<ProviderRun> = {}): ProviderRun => ({
  dataType: 'fundamentals',
  provider: 'eastmoney',
  operation: 'x',
  success: true,
  latencyMs: 5,
  errorType: null,
  errorMessage: null,
  fallbackFrom: null,
  fallbackTo: null,
  recordCount: 1,
  createdAt: '2026-03-20T08:00:00.000000Z',
  ...changes,
})

export const fetchedValue = <T>(value: T, runs = [providerRun()]): Fetched<T> => ({
  ok: true,
  value,
  provider: 'eastmoney',
  provenance: null,
  runs,
})
export const failedFetch = (errorType: string): Fetched<never> => ({
  ok: false,
  runs: [providerRun({ success: false, errorType, errorMessage: `eastmoney: ${errorType}` })],
})

export const WHOLE: CompanyQuestions = {
  fundamentals: async () => fetchedValue(REPORT),
  flow: async () => fetchedValue(FLOW),
  boards: async () =>
    fetchedValue([
      { code: 'BK0477', name: '白酒', changePct: 3.2 },
      { code: 'BK0500', name: '贵州板块', changePct: 0.1 },
    ]),
  rankings: async () => fetchedValue(RANKINGS),
  peers: async () => fetchedValue(PEERS),
}

export async function reportWith(
  company: CompanyQuestions | null,
  changes: Partial<AnalysisWorld> = {},
  { instrument = MOUTAI, language = 'zh' }: { instrument?: Instrument; language?: ReportLanguage } = {},
): Promise<AnalysisReport> {
  const input: Subject = {
    instrument,
    names: { zh: '贵州茅台' },
    request: {
      reportType: 'detailed',
      language,
      analysisPhase: 'auto',
      skills: ['dragon_head', 'growth_quality', 'nope'],
    },
    configuredLanguage: 'zh',
    queryId: 'c'.repeat(32),
  }
  const result = await analyze(input, {
    dailyBars: async () => fetchedValue(BARS),
    quote: async () => fetchedValue(QUOTE),
    ...ALONE,
    company,
    onStage: () => undefined,
    clock: () => AFTER_CLOSE,
    signal: new AbortController().signal,
    deadlines: DEADLINES,
    ...changes,
  })
  if (!result.ok) throw new Error(result.message)
  return result.report
}
