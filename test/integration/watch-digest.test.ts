// What changed over watchlists: asked for, and told once a day.

import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { reportsStandingAt, saveAnalysis } from '../../src/db/analyses.ts'
import { stockNameStore } from '../../src/db/stock-names.ts'
import { currentNames } from '../../src/kits/market-names/index.ts'
import { isoMicros } from '../../src/lib/clock.ts'
import type { Notice } from '../../src/notify/delivery.ts'
import { runDueSchedules, type TickDeps } from '../../src/schedule/cron.ts'
import { plannedStocks } from '../../src/schedule/plan.ts'
import type { Failed } from '../../src/schedule/watch-digest.ts'
import { client } from '../helpers/app.ts'
import { taskRequest } from '../unit/task-queue/queue.ts'

const PATH = '/api/v1/analysis/watchlists'
const SCHEDULES = '/api/v1/analysis/schedules'

// The digest: reports as they stood at two moments.

const LEVELS = [
  { key: 'ideal_buy', price: 100 },
  { key: 'stop_loss', price: 90 },
  { key: 'take_profit', price: 120 },
]
type ReportSpec = { key: string; at: string; action?: string; score?: number | null; price?: number; sample?: boolean }

async function reported(
  owner: string,
  { key, at, action = 'hold', score = 60, price = 100, sample }: ReportSpec,
): Promise<string> {
  const queryId = crypto.randomUUID()
  const body = { details: { raw_result: { dashboard: { battle_plan: { levels: LEVELS } } } } }
  await saveAnalysis(env.DB, {
    ...{ owner, queryId, key, stockCode: key, stockName: `${key} Inc.`, reportType: 'detailed', reportLanguage: 'en' },
    ...{ region: null, analysisPhase: 'auto', originalQuery: null, selectionSource: null, skills: null },
    ...{ trendPrediction: null, analysisSummary: null, sentimentScore: score, operationAdvice: action, action },
    ...{
      actionLabel: action.toUpperCase(),
      currentPrice: price,
      changePct: null,
      volumeRatio: null,
      turnoverRate: null,
    },
    ...{ modelUsed: null, marketPhaseSummary: null, dataNotice: sample ? 'sample' : null, dataChecks: null },
    ...{ createdAt: at, report: JSON.stringify(body), contextSnapshot: null, diagnostics: null },
  })
  return queryId
}

type Digest = {
  stocks: number
  changed: number
  unchanged: number
  without_new: number
  changes: Record<string, unknown>[]
  next_page_id: string | null
}

test('the digest tells what changed since yesterday: advice, score, price, levels crossed; page by page, of its owner alone', async () => {
  const [ann, bob] = [await client(), await client()]
  const codes = ['AAPL', 'MSFT', 'NVDA', 'TSLA', 'AMZN', 'META']
  for (const who of [ann, bob]) {
    await who.json(PATH, { method: 'POST', body: { name: 'g', stock_codes: codes } })
    await who.json(PATH, { method: 'POST', body: { name: 'h', stock_codes: ['AAPL'] } })
  }
  const [before, after] = [isoMicros(Date.now() - 90_000_000), isoMicros(Date.now() - 3_600_000)]
  const { owner } = ann
  for (const key of ['AAPL', 'MSFT', 'NVDA', 'TSLA']) await reported(owner, { key, at: before })
  const now = await reported(owner, { key: 'AAPL', at: after, action: 'sell', score: 40, price: 89.5 })
  await reported(owner, { key: 'MSFT', at: after, price: 120 })
  await reported(owner, { key: 'NVDA', at: after })
  await reported(owner, { key: 'AMZN', at: after, action: 'buy', score: 80, price: 10, sample: true })
  const digest = await ann.json<Digest>(`${PATH}/digest`)
  expect(digest).toMatchObject({ stocks: 6, changed: 3, unchanged: 1, without_new: 2, next_page_id: null })
  expect(digest.changes).toMatchObject([
    {
      stock_code: 'AAPL',
      groups: ['g', 'h'],
      task_id: now,
      advice: { from: 'HOLD', to: 'SELL' },
      score: { from: 60, to: 40 },
      price: { from: 100, to: 89.5 },
      crossed: [{ level: 'stop_loss', price: 90, direction: 'down' }],
      failure: null,
    },
    { stock_code: 'MSFT', advice: null, score: null, crossed: [{ level: 'take_profit', price: 120, direction: 'up' }] },
    {
      stock_code: 'AMZN',
      is_first: true,
      is_sample: true,
      advice: { from: null, to: 'BUY' },
      score: { from: null, to: 80 },
    },
  ])
  const read: unknown[] = []
  for (let next: string | null = ''; next !== null; ) {
    const page: Digest = await ann.json<Digest>(`${PATH}/digest?limit=2&page_id=${next}`)
    read.push(...page.changes)
    next = page.next_page_id
  }
  expect(read).toEqual(digest.changes)
  expect(await bob.json(`${PATH}/digest`)).toMatchObject({ changed: 0, without_new: 6, changes: [] })
  for (const query of ['since=yesterday', 'since=2999-01-01T00:00:00Z']) {
    expect((await ann.ask(`${PATH}/digest?${query}`)).status).toBe(422)
  }
  expect((await ann.ask(`${PATH}/digest?page_id=zzz`)).status).toBe(400)
})

/** A cron whose messages are kept, one for each key. */
function rig() {
  const told: Notice[] = []
  const failed: Failed[] = []
  const state = { isDead: false, isDeaf: false }
  const refuse = async (): Promise<never> => {
    throw new Error('a digest queues nothing')
  }
  const deps: TickDeps = {
    db: env.DB,
    submit: refuse,
    submitReview: refuse,
    stocksOf: async (owner, plan) => plannedStocks(env.DB, await currentNames(stockNameStore(env.DB)), { owner, plan }),
    configuredLanguage: 'en',
    digests: {
      failed: async () => failed,
      tell: async (notice) => {
        if (!told.some(({ key }) => key === notice.key)) told.push(notice)
        if (state.isDead) throw new Error('cut off')
      },
      hasChannel: async () => !state.isDeaf,
    },
  }
  return { told, failed, state, tick: (moment: string) => runDueSchedules(deps, Date.parse(moment)) }
}

/** As if the schedule had been made long before that moment. */
async function madeBefore(id: string, moment: string): Promise<void> {
  const at = Date.parse(moment)
  await env.DB.prepare('UPDATE schedules SET since = ?1, next_at = ?1 WHERE id = ?2').bind(at, id).run()
}

test('a digest is one message a day, also when its call is cut off, and begins where the last one ended', async () => {
  const ann = await client()
  await ann.json(PATH, { method: 'POST', body: { name: 'g', stock_codes: ['AAPL', 'MSFT'] } })
  const when = { times: ['18:00'], zone: 'Asia/Shanghai', days: ['mon', 'tue', 'wed', 'thu', 'fri'] }
  const plan = { name: 'Digest', what: { kind: 'digest' }, when, report_language: 'en', trading_days_only: false }
  for (const wrong of [
    { ...plan, when: { ...when, times: ['09:00', '18:00'] } },
    { ...plan, when: { after_close_minutes: 5 } },
    { ...plan, notify: false },
  ]) {
    expect((await ann.ask(SCHEDULES, { method: 'POST', body: wrong })).status).toBe(422)
  }
  const nobodys = { ...plan, what: { kind: 'digest', watchlist_id: 'never' } }
  expect((await ann.ask(SCHEDULES, { method: 'POST', body: nobodys })).status).toBe(400)
  const made = await ann.json<{ schedule_id: string }>(SCHEDULES, { method: 'POST', body: plan })
  expect(made).toMatchObject({ what: { kind: 'digest', watchlist_id: null } })
  await madeBefore(made.schedule_id, '2026-08-12T12:00:00Z')
  const { told, failed, state, tick } = rig()
  const error = 'no source answered'
  const request = taskRequest({ key: 'MSFT', stockCode: 'MSFT' })
  failed.push({ request, error, completedAt: Date.parse('2026-08-13T09:00:00Z') })
  state.isDead = true
  await tick('2026-08-13T10:01:00Z')
  expect(told.length).toBe(1)
  state.isDead = false
  // The claim of the call that was cut off holds for two minutes.
  await tick('2026-08-13T10:02:00Z')
  await Promise.all([tick('2026-08-13T10:04:00Z'), tick('2026-08-13T10:04:00Z')])
  await tick('2026-08-13T10:06:00Z')
  expect(told).toMatchObject([{ kind: 'text', owner: ann.owner, channels: null }])
  expect(told[0]?.key).toBe(`watchlist-digest:${made.schedule_id}:2026-08-13`)
  expect(told[0]).toMatchObject({ title: 'Watchlist digest 2026-08-13: 1 of 2 changed' })
  expect(JSON.stringify(told[0])).toContain('(MSFT): analysis failed: no source answered')
  await tick('2026-08-14T10:01:00Z')
  expect(told[1]).toMatchObject({
    title: 'Watchlist digest 2026-08-14: 0 of 2 changed',
    markdown: expect.stringContaining('Nothing changed. Looked at: 2.'),
  })
  expect(JSON.stringify(told[1])).toContain('Since 2026-08-13 18:00 (Asia/Shanghai)')
  // Another time on the same day is no second message.
  await ann.json(`${SCHEDULES}/${made.schedule_id}`, {
    method: 'PUT',
    body: { ...plan, when: { ...when, times: ['19:00'] } },
  })
  await madeBefore(made.schedule_id, '2026-08-14T10:30:00Z')
  await tick('2026-08-14T11:01:00Z')
  state.isDeaf = true
  await tick('2026-08-17T11:01:00Z')
  expect(told.length).toBe(2)
  type Runs = { runs: { slot: string; status: string; detail: string | null }[] }
  const { runs } = await ann.json<Runs>('/api/v1/analysis/schedule-runs')
  expect(runs.map(({ slot, status, detail }) => [slot, status, detail])).toEqual([
    ['2026-08-17T19:00', 'skipped', 'no_channels'],
    ['2026-08-14T19:00', 'skipped', 'already_today'],
    ['2026-08-14T18:00', 'started', 'told'],
    ['2026-08-13T18:00', 'started', 'told'],
  ])
})

test('the levels that a digest compares with are those of a report as it is stored', async () => {
  const ann = await client()
  await ann.json('/api/v1/analysis/analyze', { method: 'POST', body: { stock_code: 'AAPL' } })
  const at = isoMicros(Date.now())
  const found = await reportsStandingAt(env.DB, { owner: ann.owner, keys: ['AAPL', 'MSFT'], at })
  expect([...found.keys()]).toEqual(['AAPL'])
  const levels: { key: string; price: number }[] = JSON.parse(found.get('AAPL')?.levels ?? '[]')
  expect(levels.map(({ key }) => key)).toContain('stop_loss')
  expect(levels.every(({ price }) => price > 0)).toBe(true)
})
