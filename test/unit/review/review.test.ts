import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NarratorError } from '../../../src/analysis/narrator.ts'
import type { Instrument } from '../../../src/market/instruments.ts'
import type { MarketData, MarketSnapshot } from '../../../src/market/providers/index.ts'
import { countBreadth } from '../../../src/review/breadth.ts'
import { indexChart } from '../../../src/review/chart.ts'
import type { RegionFacts } from '../../../src/review/facts.ts'
import type { ReviewSources } from '../../../src/review/gather.ts'
import { marketLight, temperatureOf } from '../../../src/review/light.ts'
import { regionMarkdown, withoutPictures } from '../../../src/review/markdown.ts'
import { modelWords } from '../../../src/review/model-words.ts'
import { codeNarrative } from '../../../src/review/narrative.ts'
import { lenientRegions, strictRegions } from '../../../src/review/regions.ts'
import { type ReviewWorld, runReview } from '../../../src/review/run-review.ts'
import { sectionsOf } from '../../../src/review/sections.ts'

const NOW = Date.parse('2026-08-14T10:00:00Z')

test('regions are read strictly from requests and leniently from the configuration', () => {
  expect(strictRegions(' US, cn,us ')).toEqual(['cn', 'us'])
  expect(strictRegions('tw,jp')).toEqual(['jp', 'tw'])
  expect(strictRegions('BOTH')).toEqual(['cn', 'hk', 'us', 'jp', 'kr'])
  for (const text of ['', ' ', ',', 'cn,', 'cn,,us', 'both,cn', 'de', 'cn us'])
    expect([text, strictRegions(text)]).toEqual([text, null])
  expect(lenientRegions('xx, us;cn')).toEqual(['cn'])
  expect(lenientRegions('tw,nonsense, US')).toEqual(['us', 'tw'])
  expect(lenientRegions('both,tw')).toEqual(['cn', 'hk', 'us', 'jp', 'kr', 'tw'])
})

test('limits are 30, 20, 5 or 10 per cent by board and name, rounded half up to the cent; what did not trade does not count', () => {
  const stock = (code: string, name: string, price: number, prevClose: number, amount = 1e8) => {
    return { code, name, price, prevClose, amount }
  }
  const prices = [
    stock('600000', '浦发银行', 11, 10),
    stock('000001', '平安银行', 10.99, 10),
    stock('600001', '*ST某', 10.5, 10),
    stock('300750', '宁德时代', 12, 10),
    stock('688001', '华兴源创', 8, 10),
    stock('830001', '北交', 13, 10),
    // 12.35 × 1.1 = 13.585, which is 13.59 rounded half up, though its binary form lies below.
    stock('600002', '半分', 13.59, 12.35),
    stock('600003', '跌停', 9, 10),
    stock('600004', '平盘', 10, 10),
    stock('600005', '停牌', 0, 10),
    stock('600006', '无量', 11, 10, 0),
  ]
  expect(countBreadth(prices, 1e8)).toEqual({ up: 6, down: 2, flat: 1, limitUp: 5, limitDown: 2, totalAmount: 9 })
})

const facts = (change: Partial<RegionFacts> = {}): RegionFacts => ({
  region: 'cn',
  language: 'en',
  date: '2026-08-14',
  indices: [
    {
      ...{ code: 'sh000001', key: 'SH000001', name: 'SSE Composite', current: 3500.12, change: 42, changePct: 1.21 },
      ...{ open: 3460, high: 3510, low: 3450, volume: null, amount: 5e11, amplitude: 1.73, date: '2026-08-14' },
      provenance: null,
      closes: Array.from({ length: 30 }, (_, i) => 3400 + i * 3),
    },
  ],
  breadth: { up: 4000, down: 1000, flat: 100, limitUp: 90, limitDown: 10, totalAmount: 12_345.6 },
  boards: null,
  flows: [],
  overnight: [],
  news: [],
  gaps: [],
  provenance: null,
  isPartial: false,
  runs: [],
  ...change,
})

test('the light follows its formula, each missing part counting fifty, and stays within its bounds for any figures', () => {
  expect(marketLight(facts())).toMatchObject({
    status: 'green',
    score: Math.round(0.45 * 80 + 0.35 * 65 + 0.2 * 90),
    dimensions: { breadth: { score: 80 }, index: { score: 65 }, limit: { score: 90 } },
    data_quality: 'ok',
    label: 'Risk-on',
  })
  expect(marketLight(facts({ breadth: null }))).toMatchObject({
    data_quality: 'partial',
    dimensions: { limit: { score: 50, available: false } },
  })
  expect(marketLight(facts({ region: 'jp' }))).toBeNull()
  expect([70, 69, 55, 54, 40, 39].map(temperatureOf)).toEqual(['strong', 'warm', 'warm', 'mixed', 'mixed', 'weak'])
  const count = fc.nat(6000)
  fc.assert(
    fc.property(
      count,
      count,
      count,
      count,
      fc.double({ min: -50, max: 50, noNaN: true }),
      (up, down, limitUp, limitDown, changePct) => {
        const base = facts()
        const indices = base.indices.map((index) => ({ ...index, changePct }))
        const light = marketLight({
          ...base,
          indices,
          breadth: { up, down, flat: 0, limitUp, limitDown, totalAmount: 1 },
        })
        expect(light?.score).toBeGreaterThanOrEqual(0)
        expect(light?.score).toBeLessThanOrEqual(100)
        expect(light?.status).toBe((light?.score ?? 0) >= 60 ? 'green' : (light?.score ?? 0) >= 40 ? 'yellow' : 'red')
        expect(light?.reasons.length).toBeLessThanOrEqual(4)
      },
    ),
  )
})

test('words from outside stay words: in the report, its links, its picture', () => {
  const hostile = '<script>alert(1)</script> [x](javascript:alert(1)) ](http://evil) | `a` \u202e\n# H'
  const base = facts()
  const news = [
    { title: hostile, snippet: hostile, source: hostile, publishedDate: hostile, url: 'javascript:alert(1)' },
    { title: 'fine', snippet: '', source: 'press', publishedDate: '2026-08-14', url: 'https://news.example/a?b=1&c=2' },
    {
      title: 'sly',
      snippet: '',
      source: '',
      publishedDate: null,
      url: 'https://x.example/)%20[y](javascript:alert(1)',
    },
  ]
  const indices = base.indices.map((index) => ({ ...index, name: hostile }))
  const made = codeNarrative({ ...base, indices, news })
  const narrative = { ...made, texts: { ...made.texts, plan: hostile }, model: hostile }
  const markdown = regionMarkdown({ facts: { ...base, indices, news }, light: marketLight(base), narrative })
  expect(markdown).not.toMatch(/<script|(?<!\\)\]\(javascript|(?<!\\)\]\(http:\/\/evil|\u202e|^# H/m)
  expect(markdown).toContain('[fine](<https://news.example/a?b=1&c=2>)')
  expect(markdown.match(/(?<!\\)\]\(/g)?.length).toBe(2)
  expect(withoutPictures(markdown)).not.toContain('data:image')
  const svg = indexChart(indices, hostile) ?? ''
  expect(svg).not.toMatch(/<script|href|on\w+=|style/)
  expect(svg).toContain('&lt;script&gt;')
  expect(indexChart([], 'x')).toBeNull()
})

test('sections are split at headings, with keys that survive any heading', () => {
  expect(sectionsOf('## Title\n\nintro\n\n### 一、盘面总览\n\ntext\n\n### A  b!\n\nmore')).toEqual([
    { key: 'overview', title: 'Overview', markdown: 'intro' },
    { key: '一_盘面总览', title: '一、盘面总览', markdown: 'text' },
    { key: 'a_b', title: 'A  b!', markdown: 'more' },
  ])
  expect(sectionsOf('no headings')).toEqual([{ key: 'full_review', title: 'Full Review', markdown: 'no headings' }])
  expect(sectionsOf('')).toEqual([])
})

const signal = new AbortController().signal
const TEXTS = { overview: 'o', indices: 'i', sectors: 's', funds: 'f', news: 'n', plan: 'p', risks: 'r' }
/** For what is to come to its end, however busy the machine is. */
const PATIENT_MS = 60_000
/** For what never comes to one. */
const SOON_MS = 20
const narrating = (complete: () => Promise<unknown>, timeoutMs = PATIENT_MS) => ({
  narrator: {
    complete: async () => ({ output: await complete(), model: 'm-1', provider: 'p', tokens: 1, isCutOff: false }),
  },
  signal,
  timeoutMs,
})

test('a model’s words replace code’s where its figures are the review’s own; without a usable answer code’s words stay', async () => {
  const base = facts()
  const made = codeNarrative(base)
  const told = await modelWords(
    base,
    made,
    narrating(async () => ({
      ...TEXTS,
      overview: 'The SSE Composite closed at 3500.12, up 1.21%. It will reach 9999 tomorrow.',
      plan: 'Buy at 1234.56.',
    })),
  )
  expect(told).toMatchObject({ model: 'm-1', texts: { sectors: 's', plan: made.texts.plan } })
  expect(told.texts.overview).toBe('The SSE Composite closed at 3500.12, up 1.21%.')
  const useless: (() => Promise<unknown>)[] = [
    async () => ({ ...TEXTS, risks: undefined }),
    async () => 'not json',
    async () => Promise.reject(new NarratorError('quota')),
    async () => Promise.reject(new Error('broken')),
    async () => Object.fromEntries(Object.keys(TEXTS).map((part) => [part, 'It will rise by 77.77%.'])),
  ]
  for (const answer of useless) expect((await modelWords(base, made, narrating(answer))).model).toBeNull()
  const silent = narrating(() => new Promise(() => {}), SOON_MS)
  expect((await modelWords(base, made, silent)).model).toBeNull()
})

function snapshot(instrument: Instrument, changePct: number): MarketSnapshot {
  const price = 100 + changePct
  const runs: MarketSnapshot['runs'] = []
  const shared = { provider: 'test', provenance: null, runs }
  const unknown = { turnoverRatePct: null, volumeRatio: null, peRatio: null, pbRatio: null, totalMarketValue: null }
  return {
    bars: { ok: false, runs },
    quote: {
      ok: true,
      ...shared,
      value: {
        ...{
          price,
          prevClose: 100,
          open: 100,
          high: price + 1,
          low: 99,
          volume: 5,
          amount: 1e9,
          change: changePct,
          changePct,
        },
        ...{ quotedAt: NOW, name: instrument.key, currency: null, circulatingMarketValue: null, ...unknown },
      },
    },
    provenance: null,
    asOf: NOW,
    runs,
  }
}

function world(change: Partial<ReviewSources> = {}, market: Partial<MarketData> = {}): ReviewWorld {
  const board = {
    code: 'BK0001',
    name: '半导体',
    changePct: 3.2,
    rank: 1,
    risingCount: 5,
    fallingCount: 1,
    leader: '某',
    mainNet: 5e8,
  }
  const ends = { top: [board], bottom: [{ ...board, name: '煤炭', changePct: -2, mainNet: -1e8 }] }
  const never = () => Promise.reject(new Error('not asked for'))
  return {
    narrator: null,
    regionTimeoutMs: PATIENT_MS,
    modelTimeoutMs: PATIENT_MS,
    sources: {
      clock: () => NOW,
      partTimeoutMs: PATIENT_MS,
      listed: async () => ({
        prices: [{ code: '600000', name: 'x', price: 11, prevClose: 10, amount: 2e8 }],
        runs: [],
      }),
      news: async () => ({
        items: [{ title: '政策', snippet: '', source: '社', publishedDate: '2026-08-14', url: 'https://n.example/1' }],
        runs: [],
      }),
      market: {
        ...{ bars: never, quote: never, fundamentals: never, capitalFlow: never, boards: never },
        snapshot: async (instrument) => snapshot(instrument, 0.5),
        rankings: async () => ({
          ok: true,
          value: { industries: ends, concepts: ends },
          provider: 'test',
          provenance: null,
          runs: [],
        }),
        ...market,
      },
      ...change,
    },
  }
}

const hooks = (aborts = new AbortController()) => ({
  signal: aborts.signal,
  onStage: async () => {},
  onRuns: async () => {},
})
const plan = (...regions: ('cn' | 'us' | 'jp')[]) => ({
  regions,
  language: 'zh' as const,
  colorScheme: 'red_up' as const,
})

test('with every source at hand a review has all its parts and misses nothing', async () => {
  const result = await runReview(plan('cn'), world(), hooks())
  if (!result.ok) throw new Error(result.reason)
  const { payload, text, lights, notice } = result.review
  expect(notice).toBeNull()
  expect(payload).toMatchObject({
    color_scheme: 'red_up',
    date: '2026-08-14',
    breadth: { up_count: 1, limit_up_count: 1, total_amount: 2, turnover_unit: '亿元' },
    sectors: { top: [{ name: '半导体' }], bottom: [{ name: '煤炭' }] },
    flows: [
      { name: '半导体', main_net: 5e8 },
      { name: '煤炭', main_net: -1e8 },
    ],
    overnight: [{ code: 'SPX' }, { code: 'IXIC' }, { code: 'DJI' }, { code: 'VIX' }, { code: 'HSI' }],
    news: [{ title: '政策', url: 'https://n.example/1' }],
    missing: [],
    data_notice: null,
  })
  expect(text).toContain('主力净流入居前的行业：半导体')
  expect(Object.keys(lights)).toEqual(['cn'])
})

test('a region that fails, hangs or throws leaves the others, and a stop ends the whole review at the next step', async () => {
  const byMarket = (act: (instrument: Instrument) => Promise<MarketSnapshot>) => world({}, { snapshot: act })
  const failures = [
    { fail: async () => Promise.reject(new Error('a bug')), regionTimeoutMs: PATIENT_MS },
    { fail: async () => new Promise<MarketSnapshot>(() => {}), regionTimeoutMs: 1_000 },
    {
      fail: async () => ({ ...snapshot({} as Instrument, 0), quote: { ok: false as const, runs: [] } }),
      regionTimeoutMs: PATIENT_MS,
    },
  ]
  for (const { fail, regionTimeoutMs } of failures) {
    const base = byMarket((instrument) =>
      instrument.market === 'us' ? fail() : Promise.resolve(snapshot(instrument, 1)),
    )
    // The other region waits for one of this market's indices beside its own, much shorter than for itself.
    const broken = { ...base, regionTimeoutMs, sources: { ...base.sources, partTimeoutMs: SOON_MS } }
    const result = await runReview(plan('us', 'jp'), broken, hooks())
    if (!result.ok) throw new Error(result.reason)
    expect(Object.keys('markets' in result.review.payload ? result.review.payload.markets : {})).toEqual(['jp'])
    expect(result.review.text).toContain('美股市场：未能生成')
    expect((await runReview(plan('us'), broken, hooks())).ok).toBe(false)
  }
  // What lies beside the region's own indices only leaves gaps, whether it throws or hangs.
  const never = () => new Promise<never>(() => {})
  const bare = world(
    { listed: never, news: () => Promise.reject(new Error('a bug')), partTimeoutMs: 1_000 },
    { rankings: never },
  )
  const result = await runReview(plan('cn'), bare, hooks())
  if (!result.ok) throw new Error(result.reason)
  const { payload } = result.review
  expect('missing' in payload && payload.missing.map(({ what }) => what)).toEqual([
    'breadth',
    'sectors',
    'flows',
    'news',
  ])
  const aborts = new AbortController()
  const stopping = world(
    {},
    {
      snapshot: async (instrument) => {
        aborts.abort(new Error('stopped'))
        return snapshot(instrument, 1)
      },
    },
  )
  await expect(runReview(plan('cn', 'us'), stopping, hooks(aborts))).rejects.toThrow('stopped')
})
