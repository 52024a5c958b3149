// Bellwether with runners that go wrong in a way of their own for each of some stocks, and with a database that is away when
// one of them wants to save.

import { TaskQueue } from '../../../durable-objects/task-queue/task-queue.ts'
import { AnalysisRunner } from '../../../src/analysis/run.ts'
import type { Outcome, RunOrder } from '../../../src/analysis/task.ts'
import worker from '../../../src/index.ts'

export { Conversation, Limiter, Owner } from '../../../src/index.ts'
export { FaultyQueue as TaskQueue, FaultyRunner as AnalysisRunner }
// biome-ignore lint/style/noDefaultExport: what the runtime looks for in an entry
export default worker

/** Longer than a lease. */
const SILENT_MS = 20_000
const HUNG_MS = 120_000
const REPORT_EVERY_MS = 1_000
const AWAY_MS = 5_000

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Until then the queue's database does not answer either. */
let awayUntil = 0

class FaultyQueue extends TaskQueue {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, { ...env, DB: refusing(env.DB, () => Date.now() < awayUntil) })
  }
}

function refusing(db: D1Database, refuses: (sql: string) => boolean): D1Database {
  return new Proxy(db, {
    get: (target, name) => {
      if (name !== 'prepare') return Reflect.get(target, name, target).bind(target)
      return (sql: string) => {
        if (refuses(sql)) throw new Error('the database is away')
        return target.prepare(sql)
      }
    },
  })
}

class FaultyRunner extends AnalysisRunner {
  override async run(order: RunOrder): Promise<void> {
    const isFirst = order.attempt === 1
    const { stockCode } = order.request
    if (stockCode === 'NVDA') throw new Error('this one always breaks')
    if (stockCode === 'AAPL') return this.#dawdle(order)
    if (stockCode === 'HK00700') return this.#withoutDatabase().run(order)
    if (!isFirst) return super.run(order)
    if (stockCode === '600519') return void (await sleep(HUNG_MS))
    if (stockCode === 'MSFT') throw new Error('this one breaks once')
    if (stockCode === 'TSLA') return this.#sayLate(order, { ok: true, stockName: 'Late' })
    if (stockCode === '300750') return this.#sayLate(order, { ok: false, error: 'nobody asked any more' })
    return super.run(order)
  }

  #queueOf({ queueId }: RunOrder) {
    return this.env.TASK_QUEUE.get(this.env.TASK_QUEUE.idFromString(queueId))
  }

  /** Renews its lease but makes no progress. */
  async #dawdle(order: RunOrder): Promise<void> {
    const { taskId, token } = order
    const step = { progress: 20, message: 'dawdling', stage: 'dawdling', stockName: null, flowEvents: [] }
    while ((await this.#queueOf(order).progress({ taskId, token, ...step })).ok) await sleep(REPORT_EVERY_MS)
  }

  async #sayLate(order: RunOrder, outcome: Outcome): Promise<void> {
    await sleep(SILENT_MS)
    const { taskId, token } = order
    await this.#queueOf(order).finish({ taskId, token, outcome })
  }

  /** It reads, but takes no report, and then is away for the queue too. */
  #withoutDatabase(): AnalysisRunner {
    const DB = refusing(this.env.DB, (sql) => {
      const isReport = /INSERT (OR \w+ )?INTO analyses\b/.test(sql)
      if (isReport) awayUntil = Date.now() + AWAY_MS
      return isReport
    })
    return new AnalysisRunner(this.ctx, { ...this.env, DB })
  }
}
