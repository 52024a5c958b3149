// The singleton that keeps the books of the analysis queue: which tasks there are, who works on them, and who watches.
// It does no analysis itself. Every change is a row first and a frame of the event stream second, in one synchronous
// pass, and behind whatever is unfinished stands an alarm.

import { DurableObject } from 'cloudflare:workers'
import type { Finish, Progress, RunOrder, Task, TaskRequest } from '../../src/analysis/task.ts'
import { taskMessages } from '../../src/analysis/task-messages.ts'
import { credentialOf } from '../../src/bindings.ts'
import { type Config, config } from '../../src/config.ts'
import { errorFields, log } from '../../src/lib/log.ts'
import type { Notice } from '../../src/notify/notice.ts'
import { Alarms } from '../alarms.ts'
import { migrate } from '../sql.ts'
import { Allowance, type Full } from './allowance.ts'
import { type CancelAnswer, Dispatch, type FinishAnswer, type Limits, type ReportAnswer } from './dispatch.ts'
import { FlowEvents } from './flow-events.ts'
import { Intake, type ReviewAnswer, type SubmitAnswer } from './intake.ts'
import { KeptReports } from './kept-reports.ts'
import { Leases } from './leases.ts'
import { Locks } from './locks.ts'
import { Notices } from './notices.ts'
import { KEEP_FINISHED_MS, pruneTasks } from './retention.ts'
import { MIGRATIONS } from './schema.ts'
import { oldestPendingMs, type QueueStatistics, queueStatistics } from './statistics.ts'
import { StreamLog } from './stream-log.ts'
import { Submissions } from './submissions.ts'
import { Subscribers } from './subscribers.ts'
import { type ListQuery, type TaskList, Tasks } from './tasks.ts'
import { Waiting } from './waiting.ts'

const UPKEEP_EVERY_MS = 3_600_000

type AlarmName = 'sweep' | 'upkeep' | 'deliver' | 'notify' | 'expiry'

export class TaskQueue extends DurableObject<Env> {
  readonly #allowance: Allowance
  readonly #tasks: Tasks
  readonly #waiting: Waiting
  readonly #intake: Intake
  readonly #submissions: Submissions
  readonly #keptReports: KeptReports
  readonly #notices: Notices
  readonly #flowEvents: FlowEvents
  readonly #streamLog: StreamLog
  readonly #subscribers: Subscribers
  readonly #dispatch: Dispatch
  readonly #alarms: Alarms<AlarmName>

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    const { storage } = ctx
    const { sql } = storage
    migrate(storage, MIGRATIONS)
    const settings = config(env)
    const { openAnalyses: open, analysesPerDay: perDay } = settings.quotas
    this.#allowance = new Allowance(sql, { open, perDay })
    this.#tasks = new Tasks(storage, this.#allowance)
    this.#waiting = new Waiting(sql, settings.tasks.maxRunningPerOwner)
    this.#submissions = new Submissions(sql)
    this.#keptReports = new KeptReports(sql)
    this.#notices = new Notices(sql)
    this.#flowEvents = new FlowEvents(sql)
    this.#streamLog = new StreamLog(sql)
    const { streams: perOwner, streamsPerKey: perKey } = settings.quotas
    this.#subscribers = new Subscribers({
      ctx,
      streamLog: this.#streamLog,
      limits: { perOwner, perKey },
      expireAt: (at) => this.#alarms.atLatest('expiry', at),
    })
    const locks = new Locks(sql)
    this.#intake = new Intake({ storage, tasks: this.#tasks, locks, submissions: this.#submissions })
    const leases = new Leases(sql)
    leases.putOnProbation(Date.now())
    this.#dispatch = new Dispatch({
      tasks: this.#tasks,
      waiting: this.#waiting,
      leases,
      locks,
      keptReports: this.#keptReports,
      notices: this.#notices,
      flowEvents: this.#flowEvents,
      limits: limitsOf(settings),
      queueId: ctx.id.toString(),
      publish: (event, task, flowEvent) => this.#subscribers.publish(event, task, flowEvent),
      handOut: (order) => ctx.waitUntil(this.#run(order)),
    })
    this.#alarms = new Alarms(storage)
    this.#plan()
  }

  /**
   * Queues the requests, all or none; each is accepted or named as the duplicate of an open task. With a key, a second
   * submission under it gets the answer of the first and queues nothing.
   */
  submit(owner: string, requests: TaskRequest[], key: string | null = null): SubmitAnswer {
    const now = Date.now()
    const { answer, created } = this.#intake.submit({ owner, requests, key }, now)
    this.#begin(created, now)
    return answer
  }

  /** Queues a market review unless one is unfinished. */
  submitReview(owner: string, request: TaskRequest, key: string | null = null): ReviewAnswer {
    const now = Date.now()
    const { answer, created } = this.#intake.submitReview({ owner, request, key }, now)
    this.#begin(created, now)
    return answer
  }

  /** An analysis that is no task begins, unless the owner has too many; it is over by `until`, or when that is said. */
  beginDirect(owner: string, id: string, until: number): Full | null {
    return this.ctx.storage.transactionSync(() => this.#allowance.beginDirect(owner, { id, until }, Date.now()))
  }

  endDirect(id: string): void {
    this.#allowance.endDirect(id)
  }

  /** What the owner has of what is counted here, and the key that asks. */
  usage(
    owner: string,
    key: string | null,
  ): Record<'streams' | 'streamsOfKey' | 'openAnalyses' | 'analysesToday', number> {
    const now = Date.now()
    return {
      streams: this.#subscribers.countOf(owner),
      streamsOfKey: key === null ? 0 : this.#subscribers.countOfKey(key),
      openAnalyses: this.#allowance.openOf(owner, now),
      analysesToday: this.#allowance.todayOf(owner, now),
    }
  }

  /** Stops the owner's task: at once while it waits, at its next report while it runs. */
  cancel(owner: string, id: string): CancelAnswer {
    const answer = this.#dispatch.cancel(owner, id, Date.now())
    this.#plan()
    return answer
  }

  /** What the owner asked for together; empty for an unknown batch. */
  batch(owner: string, batch: string): Task[] {
    return this.#tasks.batch(owner, batch)
  }

  statistics(owner: string): QueueStatistics {
    return queueStatistics(this.ctx.storage.sql, owner, Date.now())
  }

  /** How long the oldest pending task has waited, ms. */
  oldestPendingMs(): number {
    return oldestPendingMs(this.ctx.storage.sql, Date.now())
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

  /** Sees to it that the news is told, and that what waits to be sent again is. */
  notify(news: Notice[]): void {
    for (const notice of news) this.#notices.put(notice)
    this.#notices.poke()
    this.#plan()
  }

  /** Opens a socket that carries the text of an owner's event stream: `/stream?owner=…[&key=…][&until=…][&after=…]`. Another status says why not. */
  override async fetch(request: Request): Promise<Response> {
    const { searchParams } = new URL(request.url)
    const owner = searchParams.get('owner')
    if (owner === null || request.headers.get('upgrade') !== 'websocket') return new Response(null, { status: 426 })
    const after = searchParams.get('after')
    const asker = { owner, credential: credentialOf(searchParams) }
    const accept = () =>
      this.#subscribers.accept({
        ...asker,
        after: after === null ? null : Number(after),
        greeting: taskMessages(config(this.env).reportLanguage).connected,
        open: this.#tasks.open(owner),
      })
    let answer = accept()
    if (!(answer instanceof Response) && answer.reason === 'full') {
      await this.#subscribers.findGone(answer, asker)
      answer = accept()
    }
    return answer instanceof Response ? answer : Response.json(answer, { status: 409 })
  }

  /** For an owner's object: the key was revoked, and its streams end. */
  endKey(key: string): void {
    this.#subscribers.endKey(key, Date.now())
  }

  override async alarm(info?: AlarmInvocationInfo): Promise<void> {
    await this.#alarms.fire(info?.scheduledTime ?? Date.now(), async (name) => {
      if (name === 'upkeep') this.#upkeep()
      else if (name === 'sweep') this.#dispatch.sweep(Date.now())
      else if (name === 'notify') this.ctx.waitUntil(this.#tell())
      else if (name === 'expiry') this.#subscribers.expire(Date.now())
      else await this.#deliver()
    })
    this.#plan()
  }

  override webSocketClose(): void {
    this.#subscribers.left()
  }

  override async webSocketError(_socket: WebSocket, error: unknown): Promise<void> {
    log.debug('task_stream.socket_error', errorFields(error))
    this.#subscribers.left()
  }

  #begin(created: readonly Task[], now: number): void {
    if (created.length === 0) return
    for (const task of created) this.#subscribers.publish('task_created', task)
    this.#dispatch.fill(now)
    this.#plan()
    this.#alarms.atLatest('upkeep', now + UPKEEP_EVERY_MS)
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

  async #deliver(): Promise<void> {
    await this.#keptReports.deliver(this.env.DB, (taskId) => this.#dispatch.reportSaved(taskId, Date.now()))
    this.#plan()
  }

  /** Stays with the sending until its call has ended. */
  async #tell(): Promise<void> {
    try {
      await this.#notices.pass(
        (notices) => this.env.ANALYSIS_RUNNER.notify(notices),
        (at) => this.#wakeAt('notify', at),
      )
    } catch (error) {
      log.warn('notify.call_failed', errorFields(error))
    }
  }

  #upkeep(): void {
    const now = Date.now()
    const dropped = pruneTasks(this.ctx.storage, now)
    this.#streamLog.prune(now)
    this.#submissions.prune(now - KEEP_FINISHED_MS)
    this.#waiting.prune()
    if (dropped > 0) log.info('task.pruned', { dropped })
    if (!this.#tasks.isEmpty || !this.#streamLog.isEmpty) this.#alarms.at('upkeep', now + UPKEEP_EVERY_MS)
  }

  /** Sets the alarms to the next moments at which time alone changes something. */
  #plan(): void {
    this.#wakeAt('sweep', this.#dispatch.nextWakeAt())
    this.#wakeAt('deliver', this.#keptReports.nextAttemptAt)
    if (this.#notices.isWaiting) this.#alarms.atLatest('notify', Date.now())
  }

  #wakeAt(name: 'sweep' | 'deliver' | 'notify', at: number | null): void {
    if (at === this.#alarms.get(name)) return
    if (at === null) this.#alarms.clear(name)
    else this.#alarms.at(name, at)
  }
}

function limitsOf({ maxRunningTasks, maxAttempts, taskTimeoutMs, tasks }: Config): Limits {
  return { maxRunning: maxRunningTasks, maxAttempts, taskTimeoutMs, stageTimeoutMs: tasks.stageTimeoutMs }
}
