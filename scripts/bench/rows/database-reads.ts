// What the routes that read D1 add to their query: the same Worker answers with the bare rows on another path.

import { ask } from '../conversation.ts'
import { rawRequest } from '../requests.ts'
import type { Measurement } from '../rounds.ts'
import type { Stage } from '../stage.ts'
import { latency } from './http.ts'

const CONVERSATIONS = 10_000
const SECRETS = 20
const SETTINGS = {
  language: 'en',
  llm_model: 'anthropic/claude',
  llm_api_key: 'sk-bench',
  search_api_key: 'search-bench',
}

/** The list of an owner with ten thousand conversations. */
export async function conversationList(stage: Stage): Promise<Measurement[]> {
  const worker = await stage.startWorker({ isSeeded: true })
  await ask(worker, `/bench/conversations?count=${CONVERSATIONS}`)
  return [
    measurement({ ...stage, worker }, { row: 'list', what: `list of ${CONVERSATIONS}`, path: '/api/conversations' }),
  ]
}

export async function settings(stage: Stage): Promise<Measurement[]> {
  const worker = await stage.startWorker({ isSeeded: true })
  await ask(worker, '/api/settings', SETTINGS)
  return [measurement({ ...stage, worker }, { row: 'settings', what: 'settings', path: '/api/settings' })]
}

export async function secrets(stage: Stage): Promise<Measurement[]> {
  const worker = await stage.startWorker({ isSeeded: true })
  for (let i = 0; i < SECRETS; i++) await ask(worker, '/api/secrets', { name: `SECRET_${i}`, value: `value ${i}` })
  return [measurement({ ...stage, worker }, { row: 'secrets', what: `${SECRETS} secrets`, path: '/api/secrets' })]
}

const ANALYSES = 50_000
const DAY_MS = 86_400_000
const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)

/** The history of an owner with fifty thousand reports, by stock and by date, against all of it. */
export async function analysisFilter(stage: Stage): Promise<Measurement[]> {
  const worker = await stage.startWorker({ isSeeded: true })
  await ask(worker, `/bench/analyses?count=${ANALYSES}`)
  const filters: [what: string, query: string][] = [
    ['one stock', 'stock_code=600007'],
    ['a stock without reports', 'stock_code=000001'],
    ['one month', `start_date=${daysAgo(120)}&end_date=${daysAgo(90)}`],
    ['all days', 'start_date=2000-01-01'],
    ['a stock and a month', `stock_code=600007&start_date=${daysAgo(120)}&end_date=${daysAgo(90)}`],
  ]
  const get = (path: string) => ({
    side: worker,
    request: rawRequest(worker, { method: 'GET', path }, worker.key),
  })
  return filters.map(([what, query]) => {
    const routes = {
      row: 'analysis-filter',
      what: `history of ${ANALYSES} by ${what}, against all of it`,
      ours: get(`/api/v1/history?${query}`),
      baseline: get('/api/v1/history'),
    }
    return latency({ ...stage, worker }, routes)
  })
}

const is = (field: string, op: string, value: unknown) => ({ field, op, value })

/** Nine conditions, one of them between two figures, in three groups. */
const SCREEN = {
  markets: ['cn'],
  where: {
    and: [
      is('risk_warned', 'is', false),
      is('pe_ratio', 'between', [1, 30]),
      { or: [is('pb_ratio', 'lt', 40), is('market_value', 'gt', 50)] },
      { or: [is('rsi_12', 'lt', 70), is('price', 'gt', { field: 'ma20' }), is('return_60d_pct', 'gt', 5)] },
      { not: is('industry', 'in', ['Industry 3', 'Industry 4']) },
      is('volatility_60d_pct', 'lt', 95),
    ],
  },
  sort: [{ field: 'pb_ratio', order: 'asc' }],
}

/** A filter over all listings, its counts and its first page, against the page of a bare query with one condition. */
export async function screening(stage: Stage): Promise<Measurement[]> {
  const measurements = []
  for (const count of [5_000, 100_000]) {
    const worker = await stage.startWorker({ isSeeded: true, vars: { RATE_LIMIT_SCREENS: '999999999/1' } })
    await ask(worker, `/bench/figures?count=${count}`)
    const routes = {
      row: 'screening',
      what: `POST of a screen over ${count} listings`,
      ours: {
        side: worker,
        request: rawRequest(
          worker,
          { method: 'POST', path: '/api/v1/screening/run', body: JSON.stringify(SCREEN) },
          worker.key,
        ),
      },
      baseline: { side: worker, request: rawRequest(worker, { method: 'GET', path: '/bench/screening' }, null) },
    }
    measurements.push(latency({ ...stage, worker }, routes))
  }
  return measurements
}

function measurement(stage: Stage, { row, what, path }: { row: string; what: string; path: string }): Measurement {
  const { worker } = stage
  const get = (from: string, key: string | null) => ({
    side: worker,
    request: rawRequest(worker, { method: 'GET', path: from }, key),
  })
  const routes = { row, what: `GET of ${what}`, ours: get(path, worker.key), baseline: get(`/bench/${row}`, null) }
  return latency(stage, routes)
}
