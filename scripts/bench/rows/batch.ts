// P17: a batch of fifty stocks against fifty single synchronous analyses, with bars from a source on loopback and a scripted
// model that takes two seconds an answer. And: the synchronous analysis from kept bars alone, and a report drawn as a page.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { packagedNames } from '../../../src/kits/market-names/index.ts'
import { loopbackModel } from '../../../test/support/loopback-model.ts'
import type { Measurement, Sample } from '../rounds.ts'
import { scriptedAnswer, tencentBars } from '../scripted-market.ts'
import type { Stage, WorkerSide } from '../stage.ts'
import { peakRssWhile } from '../usage.ts'

const STOCKS = 50
const AT_A_TIME = STOCKS
const MODEL_MS = 2_000
/** So many singles are timed for the fifty: they take the same time each. */
const SINGLES = 5

export async function batch(stage: Stage): Promise<Measurement[]> {
  const market = await loopbackMarket()
  const model = await loopbackModel(() => ({ content: scriptedAnswer(), afterMs: MODEL_MS }))
  const vars = {
    MARKET_DATA: 'tencent',
    TENCENT_QUOTE_URL: market,
    TENCENT_KLINE_URL: market,
    LLM_MODEL: 'openai/scripted',
    LLM_BASE_URL: model.url,
    LLM_API_KEY: 'key',
    MAX_RUNNING_TASKS: String(AT_A_TIME),
    MAX_RUNNING_TASKS_PER_OWNER: String(AT_A_TIME),
    RATE_LIMIT_ANALYSES: '999999999/1',
  }
  const worker = await stage.startWorker({ vars })
  const codes = await mainlandCodes()
  return [
    {
      row: 'P17',
      what: `batch of ${STOCKS} stocks, ${AT_A_TIME} at a time, until all are done, against ${STOCKS} single calls`,
      unit: 'ms',
      ours: () => timed(() => wholeBatch(worker, codes)),
      baseline: async () => {
        await demandModel(worker, codes[0] ?? '')
        const some = await timed(() => singles(worker, codes.slice(0, SINGLES)))
        return { ...some, value: (some.value * STOCKS) / SINGLES }
      },
    },
  ]
}

export async function reports(stage: Stage): Promise<Measurement[]> {
  const market = await loopbackMarket()
  const vars = {
    MARKET_DATA: 'tencent',
    TENCENT_QUOTE_URL: market,
    TENCENT_KLINE_URL: market,
    RATE_LIMIT_ANALYSES: '999999999/1',
  }
  const worker = await stage.startWorker({ vars })
  const [code = '600519'] = await mainlandCodes()
  const { query_id: id } = await analysed(worker, code)
  const read = (part: string) => () => median(20, () => ask(worker, 'GET', `/api/v1/history/${id}${part}`))
  return [
    {
      row: 'analysis',
      what: 'synchronous analysis from kept bars, against reading a stored report',
      unit: 'ms',
      ours: () => median(20, () => analysed(worker, code)),
      baseline: read(''),
    },
    {
      row: 'analysis',
      what: 'a stored report as a page with its chart, against reading it',
      unit: 'ms',
      ours: read('/html'),
      baseline: read(''),
    },
    {
      row: 'analysis',
      what: `growth of a server at its peak in ${STOCKS} synchronous analyses one after the other, against one`,
      unit: 'MiB',
      isErratic: true,
      ours: () => growth(stage, vars, STOCKS),
      baseline: () => growth(stage, vars, 1),
    },
  ]
}

/** In a server of its own: one that has grown does not shrink again. */
async function growth(stage: Stage, vars: Readonly<Record<string, string>>, count: number): Promise<Sample> {
  const worker = await stage.startWorker({ vars })
  try {
    const codes = (await mainlandCodes()).slice(0, count)
    const { startMiB, peakMiB } = await peakRssWhile(worker.runtime, () => singles(worker, codes))
    return sample(peakMiB - startMiB)
  } finally {
    await worker.stop()
  }
}

async function mainlandCodes(): Promise<string[]> {
  const names = await packagedNames()
  const shares = names.all().filter(({ key, kind }) => kind === 'stock' && /^6\d{5}$/.test(key))
  return shares.slice(0, STOCKS).map(({ key }) => key)
}

/** Bars for every code; quotes are not told, as by a source that is down. */
async function loopbackMarket(): Promise<string> {
  const server = createServer((request, response) => {
    const symbol = /param=([a-z]{2}\d{6})/.exec(request.url ?? '')?.[1]
    response.writeHead(symbol === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(symbol === undefined ? '{}' : tencentBars(symbol))
  })
  server.unref()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function ask(side: WorkerSide, method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${side.port}${path}`, {
    method,
    headers: { 'x-session-api-key': side.key, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 200)}`)
  return response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text
}

const ANALYZE = '/api/v1/analysis/analyze'

type Analysed = { query_id: string; report: { meta: { model_used: string | null; data_checks: string | null } } }

async function analysed(side: WorkerSide, stock_code: string): Promise<Analysed> {
  return (await ask(side, 'POST', ANALYZE, { stock_code })) as Analysed
}

/** A report that is withheld asks no model and takes a hundredth of the time: the row would say nothing. */
async function demandModel(side: WorkerSide, code: string): Promise<void> {
  const { model_used: model, data_checks: checks } = (await analysed(side, code)).report.meta
  if (model === null) throw new Error(`${code}: no model was asked; ${checks}`)
}

async function singles(side: WorkerSide, codes: readonly string[]): Promise<void> {
  for (const code of codes) await analysed(side, code)
}

const POLL_MS = 50

async function wholeBatch(side: WorkerSide, codes: readonly string[]): Promise<void> {
  await ask(side, 'POST', ANALYZE, { stock_codes: codes, async_mode: true })
  for (;;) {
    const list = (await ask(side, 'GET', '/api/v1/analysis/tasks?limit=100')) as {
      pending: number
      processing: number
      tasks: { status: string; error: string | null }[]
    }
    const failed = list.tasks.find(({ status }) => status === 'failed')
    if (failed) throw new Error(`a task failed: ${failed.error}`)
    if (list.pending + list.processing === 0) return
    await sleep(POLL_MS)
  }
}

const sample = (value: number): Sample => ({ value, clientCpu: null, serverMicros: null, waited: null })

async function timed(work: () => Promise<void>): Promise<Sample> {
  const startedAt = performance.now()
  await work()
  return sample(performance.now() - startedAt)
}

async function median(times: number, work: () => Promise<unknown>): Promise<Sample> {
  const all: number[] = []
  for (let i = 0; i < times; i++) {
    const startedAt = performance.now()
    await work()
    all.push(performance.now() - startedAt)
  }
  return sample(all.sort((a, b) => a - b)[times >> 1] ?? 0)
}
