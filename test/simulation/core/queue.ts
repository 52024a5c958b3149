// The task queue, whole as it runs, with the runners that it gives its tasks to and the service that messages are sent to. Of an
// analysis only its content is made up; its run, the report's way into the database and the messages about it are the real ones.

import { TaskQueue } from '../../../durable-objects/task-queue/task-queue.ts'
import { ledgerEntryOf } from '../../../src/analysis/evidence/ledger.ts'
import type { RunHooks } from '../../../src/analysis/flow/live.ts'
import { runTask } from '../../../src/analysis/run/run-task.ts'
import type { Outcome, RunOrder } from '../../../src/analysis/task.ts'
import { findByQueryId, type NewAnalysis, withdrawAnalysis } from '../../../src/db/analyses.ts'
import { deliveryStore, untoldNotices } from '../../../src/db/deliveries.ts'
import { saveReport } from '../../../src/db/evidence.ts'
import { isoMicros } from '../../../src/lib/clock.ts'
import { giveWay } from '../../../src/lib/give-way.ts'
import type { Notice } from '../../../src/notify/delivery.ts'
import type { ToldReport } from '../../../src/notify/message.ts'
import { notify } from '../../../src/notify/run.ts'
import type { Target } from '../../../src/notify/send.ts'
import { runUpkeep } from '../../../src/schedule/cron.ts'
import { LOCAL } from '../../helpers/policies.ts'
import type { Disk } from '../disk.ts'
import { Isolate } from './clock.ts'
import type { Database } from './database.ts'
import { ObjectHost } from './object-host.ts'
import { type CoreWorld, currentWorld, sleep } from './world.ts'

const CRON_EVERY_MS = 5 * 60_000

const VARIABLES = {
  LOG_LEVEL: 'silent',
  AUTH_MODE: 'local',
  SECRETS_KEY: Buffer.alloc(32).toString('base64'),
  MAX_RUNNING_TASKS: '3',
  TASK_TIMEOUT_SECONDS: '60',
  STAGE_TIMEOUT_SECONDS: '30',
  REPORT_LANGUAGE: 'en',
}

/** Of its tables, those that anything is written to. */
export const QUEUE_TABLES = [
  ...['tasks', 'leases', 'flow_events', 'streams', 'stream_events', 'alarms', 'turns', 'locks', 'submissions'],
  ...['outbox', 'task_counts', 'notices', 'ended_keys', 'days', 'direct_runs', 'keyed_requests'],
]

const target = (id: string, mode: Target['mode'], recognises: boolean): Target => ({
  ...{ id, kind: 'webhook', mode, isEnabled: true, isOperators: false },
  settings: { url: `http://127.0.0.1:9/${id}`, recognises_repeats: recognises, max_characters: 200 },
})
/** One that knows what it got before, one that does not, and one for whole batches. */
const TARGETS = [target('box', 'single', true), target('bell', 'single', false), target('sheet', 'digest', false)]

type Deps = { world: CoreWorld; disk: Disk; database: Database }

export class Queue {
  readonly host: ObjectHost<TaskQueue>
  readonly #world: CoreWorld
  readonly #db: D1Database
  readonly #jobs: Parameters<typeof runUpkeep>[1] = [
    {
      name: 'notices',
      everyMs: CRON_EVERY_MS,
      run: async () => `${await this.host.call('notify', (queue) => queue.notify([]))}`,
    },
  ]

  constructor({ world: one, disk, database }: Deps) {
    this.#world = one
    this.#db = database.binding(one)
    const env = this.#env()
    this.host = new ObjectHost('queue', { world: one, disk, make: (ctx) => new TaskQueue(ctx, env) })
  }

  /** The cron trigger, which comes every few minutes: it passes on what was noted and never told. */
  startCron(look: () => void): void {
    const upkeep = () => new Isolate('cron').enter(() => runUpkeep(this.#db, this.#jobs, Date.now()))
    const cron = () => {
      look()
      void upkeep().catch(() => {})
    }
    this.#world.clock.set(cron, CRON_EVERY_MS, true)
  }

  get db(): D1Database {
    return this.#db
  }

  /** The same object each time: its variables are read once. */
  #env(): Env {
    const inIsolate = (label: string, work: () => Promise<unknown>) =>
      this.#world.call(label, () => new Isolate(label).enter(work))
    const ANALYSIS_RUNNER = {
      run: (order: RunOrder) => inIsolate('runner', () => this.#run(structuredClone(order))),
      notify: (notices: Notice[]) => inIsolate('sender', () => this.#notify(structuredClone(notices))),
    }
    return Object.assign(VARIABLES, { DB: this.#db, ANALYSIS_RUNNER }) as unknown as Env
  }

  async #run(order: RunOrder): Promise<void> {
    const { owner, taskId } = order
    await runTask(order, {
      report: (report) => this.host.call('progress', (queue) => queue.progress(report)),
      finish: (finish) => this.host.call('finish', (queue) => queue.finish(finish)),
      saved: async () => {
        const stored = await findByQueryId(this.#db, owner, taskId)
        return stored && { stockName: stored.stockName }
      },
      withdraw: () => withdrawAnalysis(this.#db, taskId),
      giveWay,
      work: (hooks) => this.#work(order, hooks),
    })
  }

  /** A run takes its time, goes wrong now and then, and what the database does not take goes to the queue. */
  async #work({ owner, taskId, request }: RunOrder, { signal, onStage }: RunHooks): Promise<Outcome> {
    const { random } = this.#world
    for (const [at, progress] of [20, 50, 80].entries()) {
      await onStage(progress, `stage ${at}`, `stage ${at}`)
      await sleep(random.pick([0, 5, 200, 4_000, random.chance(0.05) ? 40_000 : 20]))
      signal.throwIfAborted()
    }
    if (random.chance(0.08)) return { ok: false, error: 'no data' }
    const analysis = reportOf(owner, taskId, request.stockCode)
    try {
      await saveReport(this.#db, { analysis, entry: ledgerEntryOf(analysis) })
      return { ok: true, stockName: analysis.stockName }
    } catch {
      // As in a real run: the report goes on to the queue.
      return { ok: true, stockName: analysis.stockName, unsaved: JSON.stringify(analysis) }
    }
  }

  #notify(notices: readonly Notice[]) {
    return notify(notices, {
      store: deliveryStore(this.#db),
      news: untoldNotices(this.#db),
      targets: async () => TARGETS,
      report: async (owner, taskId) => {
        const stored = await findByQueryId(this.#db, owner, taskId)
        return stored && told(stored.queryId)
      },
      policy: LOCAL,
      clock: Date.now,
      timeoutMs: 5_000,
    })
  }
}

/** Of several parts. */
function told(queryId: string): ToldReport {
  const markdown = `report ${queryId}\n\n${'words '.repeat(50)}`
  const report = {
    meta: { stock_code: '600519', stock_name: null, report_language: 'en', reading: null, data_checks: null },
    summary: { action_label: 'buy', operation_advice: 'buy', analysis_summary: queryId, sentiment_score: 60 },
    ...{ strategy: null, details: null },
  } as unknown as ToldReport['report']
  return { report, finished: { title: queryId, markdown } }
}

const BLANK = {
  ...{ originalQuery: null, selectionSource: null, skills: null, trendPrediction: null, analysisSummary: null },
  ...{ operationAdvice: null, actionLabel: null, changePct: null, volumeRatio: null, turnoverRate: null },
  ...{
    modelUsed: null,
    dataChecks: null,
    contextSnapshot: null,
    diagnostics: '{"notification_runs":[]}',
    region: null,
  },
}

function reportOf(owner: string, queryId: string, stockCode: string): NewAnalysis {
  return {
    ...BLANK,
    ...{ owner, queryId, key: stockCode, stockCode, stockName: `Stock ${stockCode}` },
    ...{ reportType: 'brief', reportLanguage: 'en', analysisPhase: 'intraday' },
    ...{ sentimentScore: 60, action: 'buy', currentPrice: 10 },
    marketPhaseSummary: JSON.stringify({ effective_daily_bar_date: '2026-08-12' }),
    dataNotice: null,
    createdAt: isoMicros(Date.now()),
    report: JSON.stringify({ details: { raw_result: { confidence_probability: 0.6 } } }),
  }
}

/** What a service at the other end of a channel got. */
export type DeliveredMessage = { channel: string; key: string; isDoubled: boolean }

/** The services of the channels: one request is answered, another is refused for now, and of a third the answer never comes. */
export function channelServices(got: DeliveredMessage[]): typeof fetch {
  const keys = new Set<string>()
  return async (address, init) => {
    const one = currentWorld()
    const channel = new URL(String(address)).pathname.slice(1)
    if (init?.method === 'HEAD') return one.call('look at a channel', () => new Response(null, { status: 200 }))
    const key = new Headers(init?.headers).get('idempotency-key') ?? ''
    return one.call(`message to ${channel}`, async () => {
      await sleep(one.random.pick([0, 0, 50, 2_000, 7_000]))
      if (one.strikes(0.05)) return new Response('later', { status: 503, headers: { 'retry-after': '7' } })
      const isDoubled = keys.has(`${channel} ${key}`)
      keys.add(`${channel} ${key}`)
      got.push({ channel, key, isDoubled })
      return new Response('ok')
    })
  }
}
