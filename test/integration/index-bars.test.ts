// The index of a market is fetched once and kept for every report of the session, and an index that does not come costs no report.

import { env } from 'cloudflare:workers'
import { afterEach, expect, test, vi } from 'vitest'
import { lightSession } from '../../src/alerts/looks.ts'
import { analyzeDirectly } from '../../src/analysis/compose.ts'
import type { AnalysisReport } from '../../src/analysis/schemas.ts'
import type { RunJob } from '../../src/analysis/task.ts'
import { marketLights } from '../../src/db/alert-triggers.ts'
import { addDays, isTradingDay, lastCompletedSession, sessionEnd } from '../../src/market/calendar.ts'
import { sweepDeps } from '../../src/schedule/alerts.ts'
import { movableClock } from '../helpers/clock.ts'

const VARIABLES = { MARKET_DATA: 'yahoo', YAHOO_URL: 'https://yahoo.test', YAHOO_COOKIE_URL: 'https://yahoo.test' }
const COUNT = 300
const SUNDAY = Date.parse('2026-03-22T12:00:00Z')

afterEach(() => vi.restoreAllMocks())

function sessions(): string[] {
  const dates = [lastCompletedSession('us', SUNDAY)]
  for (let day = addDays(dates[0] ?? '', -1); dates.length < COUNT; day = addDays(day, -1))
    if (isTradingDay('us', day)) dates.unshift(day)
  return dates
}

/** The index moves by a wave, every share by twice as much. */
function chartOf(symbol: string) {
  const factor = symbol.startsWith('^') ? 1 : 2
  const dates = sessions()
  let level = 100
  const closes = dates.map((_, i) => (level *= 1 + factor * 0.004 * Math.sin(i * 1.9)))
  const timestamp = dates.map((date) => sessionEnd('us', date) / 1000 - 60)
  const meta = { symbol, currency: 'USD', regularMarketPrice: closes.at(-1), regularMarketTime: timestamp.at(-1) }
  const at = (share: number) => closes.map((close) => close * share)
  const quote = { open: closes, high: at(1.001), low: at(0.999), close: closes, volume: closes.map(() => 1e6) }
  return { chart: { result: [{ meta, timestamp, indicators: { quote: [quote] } }], error: null } }
}

/** Yahoo's charts, without those of the indices where they are down. */
function serve({ isIndexDown }: { isIndexDown: boolean }): string[] {
  const asked: string[] = []
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input) => {
    const symbol = /\/chart\/([^?]+)/.exec(String(input))?.[1]
    if (symbol === undefined) return new Response('no', { status: 404 })
    const name = decodeURIComponent(symbol)
    asked.push(name)
    return name.startsWith('^') && isIndexDown ? new Response('down', { status: 503 }) : Response.json(chartOf(name))
  })
  return asked
}

async function reportOf(key: string): Promise<AnalysisReport> {
  const job: RunJob = {
    ...{ owner: 'ann', queryId: crypto.randomUUID().replaceAll('-', ''), taskId: null, attempt: 1 },
    request: {
      ...{ kind: 'analysis', key, stockCode: key, stockName: null, reportLanguage: 'en', originalQuery: null },
      ...{ selectionSource: null, forceRefresh: false, notify: false, region: null, priority: 'interactive' },
      ...{ batch: null, channels: null, reading: null, reportType: 'full', analysisPhase: 'auto', skills: null },
      language: 'en',
    },
  }
  const hooks = { onStage: async () => {}, onSteps: async () => {}, signal: new AbortController().signal }
  const answer = await analyzeDirectly({ ...env, ...VARIABLES }, job, hooks)
  if (!answer.ok) throw new Error(answer.message)
  return (JSON.parse(answer.result) as { report: AnalysisReport }).report
}

const comparison = ({ details }: AnalysisReport) => details?.raw_result?.market_comparison as Record<string, unknown>

test('two stocks of a market ask for its index once', async () => {
  movableClock()(SUNDAY - Date.now())
  const asked = serve({ isIndexDown: false })
  for (const key of ['QQONE', 'QQTWO']) {
    const { status, beta, index, source } = comparison(await reportOf(key))
    expect([status, source, index]).toEqual([
      'told',
      'yahoo',
      expect.objectContaining({ code: 'SPX', name: 'S&P 500' }),
    ])
    expect(beta).toBeCloseTo(2, 2)
  }
  expect(asked.filter((symbol) => symbol.startsWith('^'))).toEqual(['^GSPC'])
})

test('an index that is down leaves the report as it is, and says so', async () => {
  movableClock()(SUNDAY - Date.now())
  await env.DB.prepare("DELETE FROM market_answers WHERE key = 'SPX'").run()
  serve({ isIndexDown: true })
  const report = await reportOf('QQTHR')
  expect(report.summary.sentiment_score).toBeGreaterThan(0)
  expect(comparison(report)).toMatchObject({
    status: 'not_fetched',
    beta: null,
    reason: 'yahoo: http_status (HTTP 503)',
  })
})

test('the light of a session is made of real figures once in half an hour, is stored, and is none of samples or of another session', async () => {
  vi.spyOn(Date, 'now').mockReturnValue(SUNDAY)
  const asked = serve({ isIndexDown: false })
  const session = lightSession('us', SUNDAY)
  const signal = AbortSignal.timeout(60_000)
  const made = async (market: 'us' | 'hk' | 'cn' | 'jp', of: string, variables: Record<string, string> = VARIABLES) =>
    (await sweepDeps({ ...env, ...variables } as Env)).makeLight(market, of, signal)
  const light = await made('us', session)
  expect(light).toMatchObject({
    session,
    status: expect.stringMatching(/^(green|yellow|red)$/),
    score: expect.any(Number),
  })
  expect(await marketLights(env.DB, 'us', session)).toEqual([light])
  const count = asked.length
  expect(count).toBeGreaterThan(0)
  expect(await made('us', session), 'not twice in half an hour').toBeNull()
  expect(asked).toHaveLength(count)
  vi.spyOn(Date, 'now').mockReturnValue(SUNDAY + 31 * 60_000)
  expect(await made('us', addDays(session, -7)), 'the figures are of another session').toBeNull()
  expect(await marketLights(env.DB, 'us', addDays(session, -7))).toEqual([])
  // A market without one, and figures of a bundled sample.
  expect(await made('jp', session)).toBeNull()
  expect(await made('cn', lightSession('cn', SUNDAY), { MARKET_DATA: 'sample' })).toBeNull()
  expect(await marketLights(env.DB, 'cn', lightSession('cn', SUNDAY))).toEqual([])
})
