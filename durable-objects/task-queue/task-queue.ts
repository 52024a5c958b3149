// The singleton that keeps the books of the analysis queue: which tasks there are, who works on them, and who watches.
// It does no analysis itself. Every change is a row first and a frame of the event stream second, in one synchronous
// pass, and behind whatever is unfinished stands an alarm.

import { DurableObject } from 'cloudflare:workers'
import type { Finish, Progress, RunOrder, Task, TaskRequest } from '../../src/analysis/task.ts'
import { taskMessages } from '../../src/analysis/task-messages.ts'
import { config } from '../../src/config.ts'
import { errorFields, log } from '../../src/lib/log.ts'
import { Alarms } from '../alarms.ts'
import { migrate } from '../sql.ts'
import { Dispatch, type FinishAnswer, type ReportAnswer } from './dispatch.ts'
import { FlowEvents } from './flow-events.ts'
import { Leases } from './leases.ts'
import { pruneTasks } from './retention.ts'
import { MIGRATIONS } from './schema.ts'
import { StreamLog } from './stream-log.ts'
import { Subscribers } from './subscribers.ts'
import { type ListQuery, type SubmitAnswer, type TaskList, Tasks } from './tasks.ts'

const UPKEEP_EVERY_MS = 3_600_000

export class TaskQueue extends DurableObject<Env> {
  readonly #tasks: Tasks
  readonly #flowEvents: FlowEvents
  readonly #streamLog: StreamLog
  readonly #subscribers: Subscribers
  readonly #dispatch: Dispatch
  readonly #alarms: Alarms<'sweep' | 'upkeep'>

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    const { storage } = ctx
    migrate(storage, MIGRATIONS)
    this.#tasks = new Tasks(storage)
    this.#flowEvents = new FlowEvents(storage.sql)
    this.#streamLog = new StreamLog(storage.sql)
    this.#subscribers = new Subscribers(ctx, this.#streamLog)
    const leases = new Leases(storage.sql)
    leases.putOnProbation(Date.now())
    const { maxRunningTasks, maxAttempts, taskTimeoutMs } = config(env)
    this.#dispatch = new Dispatch({
      tasks: this.#tasks,
      leases,
      flowEvents: this.#flowEvents,
      limits: { maxRunning: maxRunningTasks, maxAttempts, taskTimeoutMs },
      queueId: ctx.id.toString(),
      publish: (event, task, flowEvent) => this.#subscribers.publish(event, task, flowEvent),
      handOut: (order) => ctx.waitUntil(this.#run(order)),
    })
    this.#alarms = new Alarms(storage)
    this.#plan()
  }

  /** Queues the requests, all or none; each is accepted or named as the duplicate of an open task. */
  submit(owner: string, requests: TaskRequest[]): SubmitAnswer {
    const now = Date.now()
    const answer = this.#tasks.submit(owner, requests, now)
    if (!answer.ok) return answer
    for (const result of answer.results) {
      if (result.accepted) this.#subscribers.publish('task_created', result.task)
    }
    this.#dispatch.fill(now)
    this.#plan()
    this.#alarms.atLatest('upkeep', now + UPKEEP_EVERY_MS)
    return answer
  }

  list(owner: string, query: ListQuery): TaskList {
    return this.#tasks.list(owner, query)
  }

  /** The owner's task, or null. */
  get(owner: string, id: string): Task | null {
    return this.#tasks.get(owner, id)
  }

  /** The owner's task with the steps its runs reported, each as JSON text, or null. */
  flow(owner: string, id: string): { task: Task; events: string[] } | null {
    const task = this.#tasks.get(owner, id)
    return task && { task, events: this.#flowEvents.of(id) }
  }

  /** For runners: how far a run is. */
  progress(report: Progress): ReportAnswer {
    const answer = this.#dispatch.report(report, Date.now())
    this.#plan()
    return answer
  }

  /** For runners: how a run ended. Safe to call again. */
  finish(finish: Finish): FinishAnswer {
    const answer = this.#dispatch.finish(finish, Date.now())
    this.#plan()
    return answer
  }

  /** Opens a socket that carries the text of an owner's event stream: `/stream?owner=…[&after=…][&language=…]`. */
  override async fetch(request: Request): Promise<Response> {
    const { searchParams } = new URL(request.url)
    const owner = searchParams.get('owner')
    if (owner === null || request.headers.get('upgrade') !== 'websocket') return new Response(null, { status: 426 })
    const after = searchParams.get('after')
    const greeting = taskMessages(config(this.env).reportLanguage).connected
    const place = after === null ? null : Number(after)
    return this.#subscribers.accept({ owner, after: place, greeting, open: this.#tasks.open(owner) })
  }

  override async alarm(info?: AlarmInvocationInfo): Promise<void> {
    await this.#alarms.fire(info?.scheduledTime ?? Date.now(), async (name) => {
      if (name === 'upkeep') this.#upkeep()
      else this.#dispatch.sweep(Date.now())
    })
    this.#plan()
  }

  override async webSocketError(_socket: WebSocket, error: unknown): Promise<void> {
    log.debug('task_stream.socket_error', errorFields(error))
  }

  /** Stays with a run until its call has ended, however it ended. */
  async #run(order: RunOrder): Promise<void> {
    try {
      await this.env.ANALYSIS_RUNNER.run(order)
    } catch (error) {
      log.warn('task.runner_failed', { taskId: order.taskId, attempt: order.attempt, ...errorFields(error) })
    }
    this.#dispatch.runEnded(order, Date.now())
    this.#plan()
  }

  #upkeep(): void {
    const now = Date.now()
    const dropped = pruneTasks(this.ctx.storage, now)
    this.#streamLog.prune(now)
    if (dropped > 0) log.info('task.pruned', { dropped })
    if (!this.#tasks.isEmpty || !this.#streamLog.isEmpty) this.#alarms.at('upkeep', now + UPKEEP_EVERY_MS)
  }

  /** Sets the alarm to the next moment at which time alone changes something. */
  #plan(): void {
    const at = this.#dispatch.nextWakeAt()
    if (at === this.#alarms.get('sweep')) return
    if (at === null) this.#alarms.clear('sweep')
    else this.#alarms.at('sweep', at)
  }
}
