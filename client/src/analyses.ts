import type {
  AnalysisReport,
  AnalysisResultResponse,
  AnalyzeRequest,
  BatchTaskAcceptedResponse,
  Calls,
  TaskAccepted,
  TaskStatus,
} from './api.generated.ts'
import { BellwetherError } from './errors.ts'
import { type Common, type Http, type Reply, sleep } from './http.ts'
import { type StreamOptions, type TaskEvent, taskStream } from './task-stream.ts'

/** The options of a request, without its stocks. */
export type Wishes = Omit<AnalyzeRequest, 'stock_code' | 'stock_codes' | 'async_mode'>
type HistoryQuery = Omit<NonNullable<Calls['GET /api/v1/history']['query']>, 'page'>
export type HistoryRow = Reply<'GET /api/v1/history'>['items'][number]

const WAIT_SECONDS = 50
const TIME_TO_ANSWER_MS = 15_000
const FIRST_LOOK_MS = 300
const MOST_BETWEEN_MS = 2_000
const PAGE = 100

export class Analyses {
  readonly #http: Http

  constructor(http: Http) {
    this.#http = http
  }

  /**
   * Queues one stock, by code or name. A stock that is already being analyzed causes a 409 with `existing_task_id` in
   * its body.
   */
  async submit(stock: string, wishes: Wishes = {}, options: Common = {}): Promise<TaskAccepted> {
    const body = { ...wishes, stock_code: stock, async_mode: true }
    const answer = await this.#http.call('POST /api/v1/analysis/analyze', { ...options, body })
    if ('task_id' in answer) return answer
    throw new BellwetherError('unexpected', 'The service did not queue the stock')
  }

  /** Queues several stocks, all or none; stocks that are already being analyzed are in `duplicates`. */
  async batch(
    stocks: readonly string[],
    wishes: Wishes = {},
    options: Common = {},
  ): Promise<BatchTaskAcceptedResponse> {
    const body = { ...wishes, stock_codes: [...stocks], async_mode: true }
    const answer = await this.#http.call('POST /api/v1/analysis/analyze', { ...options, body })
    if ('accepted' in answer) return answer
    // Several spellings of one stock are one stock.
    if ('task_id' in answer)
      return { accepted: [{ ...answer, stock_code: stocks[0] ?? '' }], duplicates: [], message: answer.message }
    throw new BellwetherError('unexpected', 'The service did not queue the stocks')
  }

  /** Analyzes one stock and waits for the result, with as many requests as needed. Throws if the analysis fails. */
  async run(stock: string, wishes: Wishes = {}, options: Common = {}): Promise<AnalysisResultResponse> {
    const body = { ...wishes, stock_code: stock, async_mode: true }
    const timeoutMs = options.timeoutMs ?? WAIT_SECONDS * 1000 + TIME_TO_ANSWER_MS
    const query = { wait: WAIT_SECONDS }
    const answer = await this.#http.call('POST /api/v1/analysis/analyze', { ...options, body, query, timeoutMs })
    if ('report' in answer) return answer
    if (!('task_id' in answer)) throw new BellwetherError('unexpected', 'The service did not queue the stock')
    return resultOf(await this.wait(answer.task_id, options.signal))
  }

  /** A task after it has ended: completed, failed or cancelled. */
  async wait(taskId: string, signal?: AbortSignal): Promise<TaskStatus> {
    for (let pauseMs = FIRST_LOOK_MS; ; pauseMs = Math.min(pauseMs * 1.5, MOST_BETWEEN_MS)) {
      const task = await this.status(taskId)
      if (['completed', 'failed', 'cancelled'].includes(task.status)) return task
      await sleep(pauseMs, signal)
    }
  }

  status(taskId: string): Promise<TaskStatus> {
    return this.#http.call('GET /api/v1/analysis/status/{task_id}', { path: { task_id: taskId } })
  }

  cancel(taskId: string): Promise<Reply<'POST /api/v1/analysis/tasks/{task_id}/cancel'>> {
    return this.#http.call('POST /api/v1/analysis/tasks/{task_id}/cancel', { path: { task_id: taskId } })
  }

  /** The events of the owner's tasks, each once, even if the connection breaks. */
  stream(options: StreamOptions = {}): AsyncGenerator<TaskEvent, void> {
    return taskStream(this.#http, options)
  }

  /** Stored analyses, newest first; further pages are requested as they are read. */
  async *history(query: HistoryQuery = {}): AsyncGenerator<HistoryRow> {
    let read = 0
    for (let page = 1; ; page += 1) {
      const { items, total } = await this.#http.call('GET /api/v1/history', { query: { limit: PAGE, ...query, page } })
      yield* items
      read += items.length
      if (items.length === 0 || read >= total) return
    }
  }

  /** By the id of a record or of a task. */
  report(id: string | number): Promise<AnalysisReport> {
    return this.#http.call('GET /api/v1/history/{record_id}', { path: { record_id: id } })
  }

  async markdown(id: string | number): Promise<string> {
    const { content } = await this.#http.call('GET /api/v1/history/{record_id}/markdown', { path: { record_id: id } })
    return content
  }
}

function resultOf({ result, error, status, task_id }: TaskStatus): AnalysisResultResponse {
  if (result !== null) return result
  throw new BellwetherError('analysis_failed', error ?? `The task ${task_id} is ${status}`)
}

export class Watchlists {
  readonly #http: Http

  constructor(http: Http) {
    this.#http = http
  }

  list(): Promise<Reply<'GET /api/v1/analysis/watchlists'>> {
    return this.#http.call('GET /api/v1/analysis/watchlists')
  }

  get(id: string): Promise<Reply<'GET /api/v1/analysis/watchlists/{watchlist_id}'>> {
    return this.#http.call('GET /api/v1/analysis/watchlists/{watchlist_id}', { path: { watchlist_id: id } })
  }

  create(body: Calls['POST /api/v1/analysis/watchlists']['body']): Promise<Reply<'POST /api/v1/analysis/watchlists'>> {
    return this.#http.call('POST /api/v1/analysis/watchlists', { body })
  }

  addStocks(id: string, body: Calls['POST /api/v1/analysis/watchlists/{watchlist_id}/stocks']['body']) {
    return this.#http.call('POST /api/v1/analysis/watchlists/{watchlist_id}/stocks', {
      path: { watchlist_id: id },
      body,
    })
  }

  delete(id: string) {
    return this.#http.call('DELETE /api/v1/analysis/watchlists/{watchlist_id}', { path: { watchlist_id: id } })
  }

  /** Analyzes all of its stocks as one batch. */
  run(id: string, body: NonNullable<Calls['POST /api/v1/analysis/watchlists/{watchlist_id}/run']['body']> = {}) {
    return this.#http.call('POST /api/v1/analysis/watchlists/{watchlist_id}/run', { path: { watchlist_id: id }, body })
  }
}
