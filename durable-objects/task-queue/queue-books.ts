// The read side of the queue: its tasks, the reports of their runs, the usage of each owner, and the open streams.

import { DurableObject } from 'cloudflare:workers'
import { readFlowEvents } from '../../src/analysis/flow/live.ts'
import { taskSpans } from '../../src/analysis/flow/spans.ts'
import type { Task } from '../../src/analysis/task.ts'
import { config } from '../../src/config.ts'
import { errorFields, log } from '../../src/lib/log.ts'
import { count } from '../../src/lib/metrics.ts'
import { Alarms } from '../alarms.ts'
import { SpanStore } from '../span-store.ts'
import { migrate } from '../sql.ts'
import { Allowance } from './allowance.ts'
import { FlowEvents } from './flow-events.ts'
import { deleteOwnerRows } from './owner-rows.ts'
import { MIGRATIONS } from './schema.ts'
import { oldestPendingMs, type QueueStatistics, queueStatistics } from './statistics.ts'
import { StreamLog } from './stream-log.ts'
import { Subscribers } from './subscribers.ts'
import type { ListQuery, TaskList } from './task-lists.ts'
import { Tasks } from './tasks.ts'

type AlarmName = 'sweep' | 'upkeep' | 'deliver' | 'notify' | 'expiry' | 'spans'

export class QueueBooks extends DurableObject<Env> {
  protected readonly alarms: Alarms<AlarmName>
  protected readonly allowance: Allowance
  protected readonly tasks: Tasks
  protected readonly flowEvents: FlowEvents
  protected readonly streamLog: StreamLog
  protected readonly subscribers: Subscribers
  /** The calls to runners that have not returned, with their owner. */
  protected readonly calls = new Map<object, string>()
  protected readonly spans: SpanStore

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    const { sql } = ctx.storage
    migrate(ctx.storage, MIGRATIONS)
    const { openAnalyses: open, analysesPerDay: perDay, streams: perOwner, streamsPerKey: perKey } = config(env).quotas
    this.allowance = new Allowance(sql, { open, perDay })
    this.tasks = new Tasks(ctx.storage, this.allowance)
    this.flowEvents = new FlowEvents(sql)
    this.streamLog = new StreamLog(sql)
    this.alarms = new Alarms(ctx.storage)
    this.spans = new SpanStore({
      sql,
      env,
      wakeAt: (at) => this.alarms.atLatest('spans', at),
    })
    this.subscribers = new Subscribers({
      ctx,
      streamLog: this.streamLog,
      limits: { perOwner, perKey },
      expireAt: (at) => this.alarms.atLatest('expiry', at),
    })
  }

  /** The task ended: its span is stored in the same write. */
  protected ended(task: Task): void {
    count('bellwether_tasks_total', { kind: task.request.kind, outcome: task.status })
    if (!this.spans.isOn || this.spans.sampled(task.id) === null) return
    const { attempts } = this.tasks.attemptsOf(task.id)
    const events = readFlowEvents(this.flowEvents.of(task.id))
    for (const span of taskSpans(task, events, attempts)) this.spans.put(span)
  }

  /** The owner's usage of the limits that are counted here, and that of the key. */
  usage(
    owner: string,
    key: string | null,
  ): Record<'streams' | 'streamsOfKey' | 'openAnalyses' | 'analysesToday', number> {
    const now = Date.now()
    return {
      streams: this.subscribers.countOf(owner),
      streamsOfKey: key === null ? 0 : this.subscribers.countOfKey(key),
      openAnalyses: this.allowance.openOf(owner, now),
      analysesToday: this.allowance.todayOf(owner, now),
    }
  }

  /** The tasks of one batch; empty for an unknown one. */
  batch(owner: string, batch: string): Task[] {
    return this.tasks.batch(owner, batch)
  }

  statistics(owner: string): QueueStatistics {
    return queueStatistics(this.ctx.storage.sql, owner, Date.now())
  }

  /** How long the oldest pending task has waited, ms. */
  oldestPendingMs(): number {
    return oldestPendingMs(this.ctx.storage.sql, Date.now())
  }

  list(owner: string, query: ListQuery): TaskList {
    return this.tasks.list(owner, query)
  }

  /** The owner's task, or null. */
  get(owner: string, id: string): Task | null {
    return this.tasks.get(owner, id)
  }

  /** The owner's task with the steps that its runs reported, each as JSON text, or null. */
  flow(owner: string, id: string): { task: Task; events: string[] } | null {
    const task = this.tasks.get(owner, id)
    return task && { task, events: this.flowEvents.of(id) }
  }

  /**
   * For the owner's object, when the owner is deleted: ends the owner's streams and deletes all rows here. Runners of
   * the owner have lost their leases and stop; `isBusy` while one has not returned, or while a request waits for an
   * analysis.
   */
  eraseOwner(owner: string, keys: readonly string[]): { rows: number; isBusy: boolean } {
    this.subscribers.endOwner(owner)
    const deleted = deleteOwnerRows(this.ctx.storage, owner, keys)
    const isBusy = [...this.calls.values()].includes(owner) || this.allowance.openOf(owner, Date.now()) > 0
    return { rows: deleted, isBusy }
  }

  override webSocketClose(): void {
    this.subscribers.left()
  }

  override async webSocketError(_socket: WebSocket, error: unknown): Promise<void> {
    log.debug('task_stream.socket_error', errorFields(error))
    this.subscribers.left()
  }
}
