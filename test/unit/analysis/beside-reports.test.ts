// What a report tells of the listing beside its market: the index, how long a position takes to sell, dates and peers. Each is told in every
// rendering and language, and where it is not known, that is said.

import { expect, test } from 'vitest'
import { renderHtml } from '../../../src/analysis/report/render/html.ts'
import { renderMarkdown } from '../../../src/analysis/report/render/markdown.ts'
import { type AnalysisReport, ReportLanguage } from '../../../src/analysis/schemas.ts'
import { textsOf } from '../../../src/analysis/texts/book.ts'
import type { Bar } from '../../../src/market/bars.ts'
import { benchmarkOf } from '../../../src/market/benchmarks.ts'
import { type Instrument, parseCode } from '../../../src/market/instruments.ts'
import { BARS, FUND, failedFetch, fetchedValue, PEERS, QUOTE, REPORT, reportWith, WHOLE } from './company-reports.ts'
import { barsOf, wave } from './series.ts'

type Part = { label: string; text: string; status: string } & Record<string, unknown>

function part(report: AnalysisReport, name: string): Part {
  const { raw_result: raw } = report.details ?? {}
  return (raw as Record<string, unknown>)[name] as Part
}

const instrumentOf = (code: string): Instrument => {
  const parsed = parseCode(code)
  if (!parsed.ok) throw new Error(code)
  return parsed.instrument
}

/** An index that falls where the listing rises. */
const INDEX = barsOf(
  BARS.map(({ close }) => 4e6 / close),
  { volume: 1e8 },
)

test('each market has an index that is an instrument of it, and no index is measured against another', () => {
  const codes = [
    '600519',
    '000001.SZ',
    '300750',
    '920163',
    '00700',
    'AAPL',
    '7203.T',
    '005930.KS',
    '035720.KQ',
    '2330.TW',
  ]
  const keys = [...codes, '6488.TWO'].map((code) => {
    const instrument = instrumentOf(code)
    const benchmark = benchmarkOf(instrument)
    expect(benchmark?.index).toMatchObject({ kind: 'index', market: instrument.market })
    return benchmark?.index.key
  })
  expect(keys).toEqual([
    'SH000300',
    'SH000300',
    'SH000300',
    'BJ899050',
    'HSI',
    'SPX',
    'N225',
    'KS11',
    'KQ11',
    'TWII',
    'TWOII',
  ])
  expect(benchmarkOf(instrumentOf('SPX'))).toBeNull()
})

test('beta, strength, liquidity and dates stand in JSON, Markdown and HTML in every language', async () => {
  for (const language of ReportLanguage.options) {
    const asked: string[] = []
    const indexBars = async ({ key }: Instrument) => {
      asked.push(key)
      return fetchedValue(INDEX)
    }
    const report = await reportWith(WHOLE, { indexBars }, { language })
    expect(asked).toEqual(['SH000300'])
    const gain = (BARS.at(-1)?.close ?? 0) / (BARS.at(-21)?.close ?? 1)
    expect(part(report, 'market_comparison')).toMatchObject({
      ...{ status: 'told', source: 'eastmoney', beta_returns: 79, as_of: '2026-03-20' },
      index: { code: 'SH000300' },
      relative_strength_20d_pct: expect.closeTo((gain * gain - 1) * 100, 3),
      relative_strength_250d_pct: null,
    })
    const { beta, r_squared } = part(report, 'market_comparison')
    // One over the other: a beta of nearly minus one.
    expect(Math.abs(Number(beta) + 1)).toBeLessThan(0.1)
    expect(Number(r_squared)).toBeGreaterThan(0.99)
    const turnover = BARS.slice(-20).reduce((sum, { close, volume }) => sum + close * volume, 0) / 20
    expect(part(report, 'liquidity')).toMatchObject({
      ...{ status: 'told', participation_pct: 10, position: 1_000_000, currency: 'CNY' },
      sessions_to_sell: Math.round((1e6 / (turnover / 10)) * 1e4) / 1e4,
    })
    expect(part(report, 'company_dates')).toMatchObject({
      ...{ status: 'ok', results_for: '2025-12-31', results_told_on: null, next_results_on: null },
      ...{ last_ex_dividend_on: '2025-12-19', next_ex_dividend_on: '2026-06-20' },
    })
    const [markdown, html] = [renderMarkdown(report), renderHtml(report)]
    const { label } = textsOf(language).beside
    for (const name of Object.values(label)) {
      expect(markdown).toContain(`- ${name}`)
      expect(html).toContain(name.replace("'", '&#39;'))
    }
    expect(markdown).toContain('2026-06-20')
    expect(markdown).not.toMatch(/\{\w+\}|undefined|NaN/)
  }
})

test('no bars of the index, whatever the reason, leave null and words, and the rest of the report as it is', async () => {
  const [whole] = [await reportWith(WHOLE, { indexBars: async () => fetchedValue(INDEX) })]
  const never = new Promise<never>(() => undefined)
  const failing: Parameters<typeof reportWith>[1][] = [
    { indexBars: async () => failedFetch('http_429') },
    { indexBars: async () => fetchedValue([] as Bar[]) },
    {
      indexBars: async () => {
        throw new Error('broken')
      },
    },
    {
      indexBars: async () => await never,
      deadlines: { dailyBarsMs: 60_000, quoteMs: 60_000, companyMs: 1, newsMs: 60_000, modelMs: 60_000 },
    },
    { indexBars: null },
  ]
  for (const changes of failing) {
    const report = await reportWith(null, changes)
    const told = part(report, 'market_comparison')
    expect(told).toMatchObject({ status: 'not_fetched', beta: null, r_squared: null, relative_strength_20d_pct: null })
    expect(renderMarkdown(report)).toContain(textsOf('zh').beside.comparison.not_fetched.replace('{index}', '沪深300'))
    expect(report.summary).toEqual((await reportWith(null)).summary)
    expect(report.summary.sentiment_score).toBe(whole.summary.sentiment_score)
    // An index that fails is no failure of the listing's own bars.
    expect(report.details?.context_snapshot?.diagnostics).toEqual(
      (await reportWith(null)).details?.context_snapshot?.diagnostics,
    )
  }
  expect(part(await reportWith(null, failing[0]), 'market_comparison').reason).toBe('eastmoney: http_429')
})

test('an index with a wrong bar marks beta; one whose bars fail gives none', async () => {
  const wrong = (changed: (bar: Bar, i: number) => Bar) => ({ indexBars: async () => fetchedValue(INDEX.map(changed)) })
  const tick = await reportWith(
    WHOLE,
    wrong((bar, i) => (i === 40 ? { ...bar, high: bar.high * 30 } : bar)),
  )
  const marked = part(tick, 'market_comparison')
  expect(marked).toMatchObject({ status: 'told', beta: expect.any(Number) })
  expect(marked.index_checks).toEqual([expect.objectContaining({ check: 'bad_tick', verdict: 'warn' })])
  const { bad_tick: name } = textsOf('zh').consistency.check
  expect(marked.text).toContain(`⚠ ${name}`)
  expect(renderMarkdown(tick)).toContain(`⚠ ${name}`)
  // It is a fault of the index, not of the listing: nothing else is marked.
  expect(tick.meta.data_checks).toEqual((await reportWith(WHOLE)).meta.data_checks)

  const torn = await reportWith(
    WHOLE,
    wrong((bar, i) => (i > 50 ? { ...bar, low: bar.high * 2 } : bar)),
  )
  expect(part(torn, 'market_comparison')).toMatchObject({
    status: 'failed_check',
    beta: null,
    relative_strength_20d_pct: null,
  })
  const { price_order: order } = textsOf('zh').consistency.check
  expect(part(torn, 'market_comparison').text).toContain(order)
})

test('bars of the listing that failed a check are compared with nothing, and unsound volumes tell of no sale', async () => {
  const torn = BARS.map((bar, i) => (i > 60 ? { ...bar, low: bar.high * 2 } : bar))
  const report = await reportWith(WHOLE, {
    dailyBars: async () => fetchedValue(torn),
    indexBars: async () => fetchedValue(INDEX),
  })
  expect(part(report, 'market_comparison')).toMatchObject({ status: 'withheld', beta: null })
  expect(part(report, 'liquidity')).toMatchObject({ status: 'withheld', sessions_to_sell: null })
  // Lots for shares: a hundred times too little, against the turnover that the source tells.
  const lots = BARS.map((bar) => ({ ...bar, amount: bar.close * bar.volume * 100 }))
  const doubted = await reportWith(WHOLE, { dailyBars: async () => fetchedValue(lots) })
  expect(part(doubted, 'liquidity')).toMatchObject({
    status: 'withheld',
    average_turnover: null,
    sessions_to_sell: null,
  })
  const silent = await reportWith(WHOLE, {
    dailyBars: async () => fetchedValue(BARS.map((bar) => ({ ...bar, volume: 0 }))),
    quote: async () => failedFetch('http_429'),
  })
  expect(['withheld', 'no_volume']).toContain(part(silent, 'liquidity').status)
  expect(part(silent, 'liquidity').sessions_to_sell).toBeNull()
})

test('while the session runs only sessions that are over are compared, and the volume ratio says why there is none', async () => {
  const quotedAt = Date.parse('2026-03-20T02:30:00Z')
  const live = { clock: () => quotedAt, quote: async () => fetchedValue({ ...QUOTE, quotedAt, volume: 400_000 }) }
  const before = BARS.slice(0, -1)
  const changes = { ...live, dailyBars: async () => fetchedValue(before), indexBars: async () => fetchedValue(INDEX) }
  const report = await reportWith(WHOLE, changes)
  expect(part(report, 'market_comparison')).toMatchObject({ as_of: '2026-03-19', beta_returns: 78 })
  const turnover = before.slice(-20).reduce((sum, { close, volume }) => sum + close * volume, 0) / 20
  expect(part(report, 'liquidity').average_turnover).toBeCloseTo(turnover, 2)
  const enhanced = report.details?.context_snapshot?.enhanced_context as { realtime: Record<string, unknown> }
  expect(enhanced.realtime).toMatchObject({ volume_ratio: null, volume_ratio_desc: textsOf('zh').beside.noLiveRatio })
  expect(renderMarkdown(report)).not.toMatch(/量比 \d/)
  expect(renderMarkdown(report)).toContain(`| 量比 | –（${textsOf('zh').beside.noLiveRatio}） |`)
})

test('heavy volume of a session that runs is not called a volume ratio', async () => {
  const quotedAt = Date.parse('2026-03-20T06:30:00Z')
  const quote = { ...QUOTE, quotedAt, price: QUOTE.prevClose * 1.02, change: QUOTE.prevClose * 0.02, changePct: 2 }
  const changes = { clock: () => quotedAt, dailyBars: async () => fetchedValue(BARS.slice(0, -1)) }
  const report = await reportWith(null, {
    ...changes,
    quote: async () => fetchedValue({ ...quote, volume: 9_000_000 }),
  })
  expect(renderMarkdown(report)).toContain('盘中成交已达全日均量的 3.00 倍，放量上涨')
  expect(renderMarkdown(report)).not.toMatch(/量比 \d/)
})

test('samples and funds say why they have no comparison, dates or peers', async () => {
  const provenance = { kind: 'historical' as const, label: 'sample', endsOn: '2026-03-20' }
  let asked = 0
  const indexBars = async () => {
    asked += 1
    return fetchedValue(INDEX)
  }
  const sampled = {
    dailyBars: async () => ({ ...fetchedValue(BARS), provenance }),
    quote: async () => ({ ...fetchedValue(QUOTE), provenance }),
  }
  const sample = await reportWith(WHOLE, { ...sampled, indexBars })
  expect([asked, part(sample, 'market_comparison').status]).toEqual([0, 'sample'])
  expect(part(sample, 'company_dates').text).toBe(textsOf('zh').beside.dates.sample)
  const fund = await reportWith(null, { indexBars }, { instrument: FUND })
  expect([asked, part(fund, 'market_comparison').status]).toEqual([1, 'told'])
  expect(part(fund, 'company_dates')).toMatchObject({
    text: textsOf('zh').beside.dates.notCompany,
    next_ex_dividend_on: null,
  })
})

test('the day on which results were told stands beside their period where a source tells it', async () => {
  const { report } = REPORT
  if (report === null) throw new Error('no results')
  const told = { ...REPORT, report: { ...report, announcedOn: '2026-03-12' } }
  const made = await reportWith({ ...WHOLE, fundamentals: async () => fetchedValue(told) })
  expect(part(made, 'company_dates')).toMatchObject({ results_told_on: '2026-03-12' })
  expect(part(made, 'company_dates').text).toContain('公布于 2026-03-12')
})

test('a listing with few sessions has strength as far as they reach, and no beta', async () => {
  const young = barsOf(wave(40, 0.2), { volume: 20_000 })
  const made = await reportWith(null, {
    dailyBars: async () => fetchedValue(young),
    quote: async () => failedFetch('http_429'),
    indexBars: async () => fetchedValue(INDEX),
  })
  expect(part(made, 'market_comparison')).toMatchObject({
    ...{ status: 'told', beta: null, relative_strength_60d_pct: null },
    relative_strength_20d_pct: expect.any(Number),
  })
  // A million at a tenth of two millions a session.
  expect(part(made, 'liquidity').text).toMatch(/需要 [45]\.\d 个交易日/)
})

test('the multiples of the industry stand beside the company’s own, as medians without losses and wild ratios', async () => {
  for (const language of ReportLanguage.options) {
    const made = await reportWith(WHOLE, {}, { language })
    expect(part(made, 'peer_multiples')).toMatchObject({
      ...{ status: 'ok', board: '白酒', companies: 7, companies_with_loss: 1, source: 'eastmoney' },
      // Of 15, 18, 22, 24 and 31, and of 2 to 7.
      ...{ pe: 26.4, median_pe: 22, pb: 8.1, median_pb: 4.5 },
    })
    expect(renderMarkdown(made)).toContain('22.00')
  }
  const wild = { ...PEERS, companies: PEERS.companies.map((peer) => ({ ...peer, peRatio: 1e9, pbRatio: -2 })) }
  const few = { ...PEERS, companies: PEERS.companies.slice(0, 4) }
  for (const value of [wild, few]) {
    const made = await reportWith({ ...WHOLE, peers: async () => fetchedValue(value) })
    expect(part(made, 'peer_multiples')).toMatchObject({ status: 'too_few', median_pe: null, median_pb: null })
  }
  const alone = { ...PEERS, companies: PEERS.companies.slice(1) }
  const outside = await reportWith({ ...WHOLE, peers: async () => fetchedValue(alone) })
  expect(part(outside, 'peer_multiples')).toMatchObject({ status: 'ok', pe: null, median_pe: 22 })
})

test('peers are asked for by the boards, and what is not told is said by its kind', async () => {
  const asked: string[][] = []
  const peers = async (boards: readonly { name: string }[]) => {
    asked.push(boards.map(({ name }) => name))
    return fetchedValue(PEERS)
  }
  await reportWith({ ...WHOLE, peers })
  expect(asked).toEqual([['白酒', '贵州板块']])
  const { peers: words } = textsOf('zh').beside
  for (const [errorType, status] of [
    ['unsupported', 'not_supported'],
    ['empty', 'no_data'],
    ['timeout', 'failed'],
  ] as const) {
    const made = await reportWith({ ...WHOLE, peers: async () => failedFetch(errorType) })
    expect(part(made, 'peer_multiples')).toMatchObject({ status, text: words[status], median_pe: null })
    // Without its boards nobody knows the industry, and nobody is asked.
    const bare = await reportWith({ ...WHOLE, boards: async () => failedFetch(errorType), peers })
    expect(part(bare, 'peer_multiples')).toMatchObject({ status })
  }
  expect(asked).toHaveLength(1)
})
