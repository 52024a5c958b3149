// The task queue: from a request to the start of its task, how many tasks pass through it when the work itself takes no
// time, what a thousand listeners hear, and the list of ten thousand tasks.

import { ask } from '../conversation.ts'
import { rawRequest } from '../requests.ts'
import type { Measurement, Sample } from '../rounds.ts'
import type { SseCalls } from '../sse-server.ts'
import type { Side, Stage, WorkerSide } from '../stage.ts'
import { OWNER } from '../worker.ts'
import { latency } from './http.ts'

const LISTENERS = 1_000
const SLICE_MS = 1_500
const STARTS = 60
const STORED = 50_000
const CROWD = 200
const BATCHES = 20
const BATCH = 50
/** Created, started, ended. */
const EVENTS_EACH = 3
const MANY = 10_000
const FEW = 20
/** For the one task that is held. */
const ENDLESS = { TASK_TIMEOUT_SECONDS: '3600', STAGE_TIMEOUT_SECONDS: '3600' }
const UNLIMITED = { RATE_LIMIT_ANALYSES: 'off' }

let tickers = 0
/** A code that no open task has: every one is new for 26³ of them. */
function ticker(): string {
  const n = tickers++
  const letter = (place: number) => String.fromCharCode(65 + (Math.floor(n / 26 ** place) % 26))
  return `QX${letter(2)}${letter(1)}${letter(0)}`
}

const STREAM = '/api/v1/analysis/tasks/stream'
const analyze = (worker: WorkerSide, body: object): string =>
  rawRequest(worker, { method: 'POST', path: '/api/v1/analysis/analyze', body: JSON.stringify(body) }, worker.key)
const stream = (worker: WorkerSide) => ({
  port: worker.port,
  request: rawRequest(worker, { method: 'GET', path: STREAM }, worker.key),
})

export async function taskStarts(stage: Stage): Promise<Measurement[]> {
  const vars = { ...UNLIMITED, BENCH_RUNNER: 'instant' }
  const [idle, crowded] = [await stage.startWorker({ isSeeded: true, vars }), await crowdedWorker(stage, vars)]
  const empty = stage.small['empty-object']
  const request = rawRequest(empty, { method: 'GET', path: '/ask' }, null)
  return [
    {
      row: 'submit',
      what: 'submit to started on a stream, p50; baseline: a call of an object that does nothing',
      unit: 'ms',
      ours: () => started(stage, idle),
      baseline: () => asked(stage, empty, { request, figure: 'p50Ms', connections: 1 }),
    },
    {
      row: 'submit',
      what: `the same with ${STORED} stored reports and ${CROWD} streams that listen; baseline: without`,
      unit: 'ms',
      ours: () => started(stage, crowded),
      baseline: () => started(stage, idle),
    },
  ]
}

async function crowdedWorker(stage: Stage, vars: Readonly<Record<string, string>>): Promise<WorkerSide> {
  const worker = await stage.startWorker({ isSeeded: true, vars })
  await ask(worker, `/bench/analyses?count=${STORED}`)
  await stage.client.call('listen', { group: 'crowd', target: stream(worker), count: CROWD })
  return worker
}

function started({ client, measured }: Stage, worker: WorkerSide): Promise<Sample> {
  return measured(worker, async () => {
    const requests = Array.from({ length: STARTS }, () => analyze(worker, { stock_code: ticker(), async_mode: true }))
    const { p50Ms, clientCpu } = await client.call('starts', { stream: stream(worker), requests })
    return { value: p50Ms, requests: STARTS, clientCpu }
  })
}

export async function taskThroughput(stage: Stage): Promise<Measurement[]> {
  const vars = { ...UNLIMITED, BENCH_RUNNER: 'instant', MAX_RUNNING_TASKS: '10' }
  const worker = await stage.startWorker({ isSeeded: true, vars })
  const empty = stage.small['empty-object']
  const request = rawRequest(empty, { method: 'GET', path: '/ask' }, null)
  return [
    {
      row: 'tasks',
      what: 'tasks through the queue, instant runner; baseline: calls of an object that does nothing',
      unit: '/s',
      ours: () =>
        stage.measured(worker, async () => {
          const codes = () => Array.from({ length: BATCH }, ticker)
          const requests = Array.from({ length: BATCHES }, () =>
            analyze(worker, { stock_codes: codes(), async_mode: true }),
          )
          const job = { stream: stream(worker), requests, eventsEach: BATCH * EVENTS_EACH }
          const { perSecond, clientCpu } = await stage.client.call('drain', job)
          return { value: perSecond * BATCHES * BATCH, requests: BATCHES * BATCH, clientCpu }
        }),
      baseline: () => asked(stage, empty, { request, figure: 'perSecond', connections: 4 }),
    },
  ]
}

/** P8, with a thousand listeners instead of two hundred. */
export async function eventStreams(stage: Stage): Promise<Measurement[]> {
  const vars = { ...UNLIMITED, BENCH_RUNNER: 'hold', MAX_RUNNING_TASKS: '1', ...ENDLESS }
  const worker = await stage.startWorker({ isSeeded: true, vars })
  await ask(worker, '/api/v1/analysis/analyze', { stock_code: 'AAPL', async_mode: true })
  const port = await stage.startProgram<SseCalls>('sse-server.ts').call('listen', null)
  const node: Side = { port, runtime: null }
  const { client } = stage
  await client.call('listen', { group: 'ours', target: stream(worker), count: LISTENERS })
  const bare = { port, request: rawRequest(node, { method: 'GET', path: '/' }, null) }
  await client.call('listen', { group: 'bare', target: bare, count: LISTENERS })
  const cancel = { method: 'POST', path: '/api/v1/analysis/tasks/{id}/cancel', body: '' } as const
  const ours = {
    group: 'ours',
    port: worker.port,
    requests: [analyze(worker, { stock_code: 'MSFT', async_mode: true }), rawRequest(worker, cancel, worker.key)],
  }
  const say = rawRequest(node, { method: 'POST', path: '/', body: FRAME }, null)
  const theirs = { group: 'bare', port, requests: [say] }
  const told = (side: Side, job: typeof ours, figure: 'perSecond' | 'p99Ms'): Promise<Sample> =>
    stage.measured(side, async () => {
      const result = await client.call('tell', { ...job, durationMs: SLICE_MS })
      return { value: result[figure], requests: result.count * LISTENERS, clientCpu: result.clientCpu }
    })
  const measurement = (figure: 'perSecond' | 'p99Ms', rest: Pick<Measurement, 'what' | 'unit'>) => ({
    row: 'P8',
    ...rest,
    ours: () => told(worker, ours, figure),
    baseline: () => told(node, theirs, figure),
  })
  const what = `task events to ${LISTENERS} event streams`
  return [
    measurement('perSecond', { what, unit: '/s' }),
    measurement('p99Ms', { what: `${what}, p99 until the last has it`, unit: 'ms' }),
  ]
}

/** As long as a task's own. */
const FRAME = `id: 12345\nevent: task_progress\ndata: ${JSON.stringify({ task_id: '0'.repeat(32), filler: 'x'.repeat(480) })}\n\n`

/** The list of an owner with ten thousand tasks, against that of one with twenty. */
export async function taskList(stage: Stage): Promise<Measurement[]> {
  const [full, sparse] = [await stage.startWorker({ isSeeded: true }), await stage.startWorker({ isSeeded: true })]
  await ask(full, `/bench/tasks?owner=${OWNER}&count=${MANY}`)
  await ask(sparse, `/bench/tasks?owner=${OWNER}&count=${FEW}`)
  const list = (side: WorkerSide) => {
    return { side, request: rawRequest(side, { method: 'GET', path: '/api/v1/analysis/tasks' }, side.key) }
  }
  const routes = { row: 'task-list', what: `list of ${MANY} stored tasks`, ours: list(full), baseline: list(sparse) }
  return [latency(stage, routes)]
}

type LoadRequest = { request: string; figure: 'p50Ms' | 'perSecond'; connections: number }

function asked(
  { client, measured }: Stage,
  side: Side,
  { request, figure, connections }: LoadRequest,
): Promise<Sample> {
  return measured(side, async () => {
    const result = await client.call('load', { port: side.port, request, connections, durationMs: 500 })
    return { value: result[figure], requests: result.count, clientCpu: result.clientCpu }
  })
}
