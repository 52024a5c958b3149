// Prices outside of reports: the pages of a stock and the measuring of past advice stand behind the same checks.

import { env } from 'cloudflare:workers'
import { afterEach, expect, test, vi } from 'vitest'
import { saveAnalysis } from '../../src/db/analyses.ts'
import { addDays, isTradingDay, lastCompletedSession, sessionEnd } from '../../src/market/calendar.ts'
import { type Client, client, request } from '../helpers/app.ts'
import { movableClock } from '../helpers/clock.ts'

const VARIABLES = { MARKET_DATA: 'yahoo', YAHOO_URL: 'https://yahoo.test', YAHOO_COOKIE_URL: 'https://yahoo.test' }
const COUNT = 300

afterEach(() => vi.restoreAllMocks())

/** The next Sunday: no session runs, whenever the test does. */
function onSunday(): void {
  const days = (7 - new Date().getUTCDay()) % 7
  const noon = Date.parse(`${new Date().toISOString().slice(0, 10)}T12:00:00Z`)
  movableClock()(noon + days * 86_400_000 - Date.now())
}

function sessions(): string[] {
  const dates = [lastCompletedSession('us', Date.now())]
  while (dates.length < COUNT) {
    let day = addDays(dates[0] ?? '', -1)
    while (!isTradingDay('us', day)) day = addDays(day, -1)
    dates.unshift(day)
  }
  return dates
}

/** A quiet share whose closes before the last so many sessions stand on another scale. */
function serve(symbol: string, { splitAgo, quoteFactor = 1 }: { splitAgo: number; quoteFactor?: number }): void {
  const dates = sessions()
  const closes = dates.map((_, i) => (100 + (i % 7)) * (i < COUNT - splitAgo ? 10 : 1))
  const at = (share: number) => closes.map((close) => close * share)
  const timestamp = dates.map((date) => sessionEnd('us', date) / 1000 - 60)
  const price = (closes.at(-1) ?? 0) * quoteFactor
  const meta = { symbol, currency: 'USD', regularMarketPrice: price, regularMarketTime: timestamp.at(-1) }
  const quote = { open: closes, high: at(1.01), low: at(0.99), close: closes, volume: closes.map(() => 1e6) }
  const body = { chart: { result: [{ meta, timestamp, indicators: { quote: [quote] } }], error: null } }
  const real = globalThis.fetch
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    return String(input).startsWith('https://yahoo.test/') ? Response.json(body) : real(input, init)
  })
}

const ask = async <T>(ann: Client, path: string): Promise<T> => {
  const answer = await request(path, { headers: { 'x-session-api-key': ann.key } }, VARIABLES)
  return answer.json<T>()
}

type Checked = { data_checks: string | null; current_price?: number }

test('a page of bars or of a price says what a check found, and nothing where none speaks', async () => {
  onSunday()
  const ann = await client()
  serve('QQCLN', { splitAgo: COUNT })
  expect(await ask<Checked>(ann, '/api/v1/stocks/QQCLN/history?days=30')).toMatchObject({ data_checks: null })
  expect(await ask<Checked>(ann, '/api/v1/stocks/QQCLN/quote')).toMatchObject({ data_checks: null })
  vi.restoreAllMocks()
  serve('QQSPL', { splitAgo: 20 })
  const bars = await ask<Checked>(ann, '/api/v1/stocks/QQSPL/history?days=30')
  expect(bars.data_checks).toMatch(/⚠.*(unadjusted|未复权|split)/i)
  expect(bars.data_checks).not.toMatch(/score|评分/)
  vi.restoreAllMocks()
  serve('QQFAR', { splitAgo: COUNT, quoteFactor: 10 })
  expect((await ask<Checked>(ann, '/api/v1/stocks/QQFAR/quote')).data_checks).toContain('⚠')
})

type FieldChecks = { field_checks: { check: string; verdict: string; fields: string[]; date: string | null }[] }
const PRICE_FIELDS = ['current_price', 'open', 'high', 'low', 'prev_close', 'change', 'change_percent']
const BAR_FIELDS = ['open', 'high', 'low', 'close', 'change_percent']

test('each check names the fields that it speaks of', async () => {
  onSunday()
  const ann = await client()
  serve('QQSPM', { splitAgo: 20 })
  const bars = await ask<FieldChecks>(ann, '/api/v1/stocks/QQSPM/history?days=30')
  const split = bars.field_checks.find(({ check }) => check === 'corporate_action')
  expect(split).toMatchObject({ verdict: 'fail', date: sessions().at(-20) })
  expect(split?.fields.toSorted()).toEqual(BAR_FIELDS.toSorted())
  vi.restoreAllMocks()
  serve('QQFAS', { splitAgo: COUNT, quoteFactor: 10 })
  const { field_checks: checks } = await ask<FieldChecks>(ann, '/api/v1/stocks/QQFAS/quote')
  const close = checks.find(({ check }) => check === 'same_day_close')
  expect(close).toMatchObject({ verdict: 'fail' })
  // A field without a figure is not named.
  expect(PRICE_FIELDS).toEqual(expect.arrayContaining(close?.fields ?? []))
  expect(close?.fields).toEqual(expect.arrayContaining(['current_price', 'prev_close', 'change', 'change_percent']))
  expect(checks[0]?.verdict).toBe('fail')
})

test('volumes that nothing at hand can check are told as that, beside the volumes alone', async () => {
  onSunday()
  const ann = await client()
  serve('QQVOL', { splitAgo: COUNT })
  const bars = await ask<FieldChecks & Checked>(ann, '/api/v1/stocks/QQVOL/history?days=30')
  expect(bars.data_checks).toBeNull()
  expect(bars.field_checks).toEqual([
    expect.objectContaining({ check: 'volume_units', verdict: 'not_possible', fields: ['volume'], date: null }),
  ])
})

test('past advice is not measured against bars that failed a check', async () => {
  onSunday()
  const ann = await client()
  const rows = [
    ['QQGOOD', COUNT],
    ['QQBAD', 15],
  ] as const
  const advised = sessions().at(-40) ?? ''
  for (const [key, splitAgo] of rows) {
    await saveAnalysis(env.DB, {
      ...{ owner: ann.owner, queryId: crypto.randomUUID(), key: key.slice(0, 5), stockCode: key, stockName: null },
      ...{ reportType: 'full', reportLanguage: 'zh', region: null, analysisPhase: 'auto', originalQuery: null },
      ...{ selectionSource: null, skills: null, trendPrediction: 'x', analysisSummary: 'x', sentimentScore: 71 },
      ...{ operationAdvice: 'x', action: 'buy', actionLabel: 'x', currentPrice: 1, changePct: 0, volumeRatio: null },
      ...{ turnoverRate: null, modelUsed: null, dataNotice: null, dataChecks: null, report: '{}' },
      ...{ contextSnapshot: null, diagnostics: null, createdAt: `${addDays(sessions().at(-1) ?? '', -30)}T08:00:00Z` },
      marketPhaseSummary: JSON.stringify({ effective_daily_bar_date: advised, session_date: advised }),
    })
    serve(key.slice(0, 5), { splitAgo })
    // The bars of each are kept, so that one question is enough for both.
    await ask(ann, `/api/v1/stocks/${key.slice(0, 5)}/history?days=5`)
    vi.restoreAllMocks()
  }
  const told = await ask(ann, '/api/v1/analysis/history/accuracy?days=365')
  expect(told).toMatchObject({ total: 2, unmeasured: 1, overall: [{ horizon: 5, count: 1 }, {}, {}] })
})

test('prices are told without the binary tails of their sources', async () => {
  onSunday()
  const ann = await client()
  // As a source sends it that keeps prices in 32 bits.
  serve('QQTAL', { splitAgo: COUNT, quoteFactor: Math.fround(1683.2) / 1683.2 })
  const quote = await ask<Record<string, number | null>>(ann, '/api/v1/stocks/QQTAL/quote')
  const bars = await ask<{ data: Record<string, number | null>[] }>(ann, '/api/v1/stocks/QQTAL/history?days=30')
  const figures = [quote, ...bars.data].flatMap((row) => Object.entries(row).filter(([, v]) => typeof v === 'number'))
  expect(figures.length).toBeGreaterThan(150)
  for (const [name, value] of figures)
    expect([name, String(value)]).toEqual([name, expect.stringMatching(/^-?\d+(\.\d{1,4})?$/)])
})
