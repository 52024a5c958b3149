// The singleton that stores the analysis queue: its tasks, their runners, and the open streams. It does no analysis itself.
// Every change is stored first and sent as a frame second, in one synchronous pass, and an alarm is set for all unfinished
// work.

import type { Finish, Progress, RunOrder, Task, TaskRequest } from '../../src/analysis/task.ts'
import { textsOf } from '../../src/analysis/texts/book.ts'
import { credentialOf } from '../../src/bindings.ts'
import { type Config, config } from '../../src/config.ts'
import { storeCounts } from '../../src/db/metrics.ts'
import { errorFields, log } from '../../src/lib/log.ts'
import { isStoreDue } from '../../src/lib/metrics.ts'
import type { Notice } from '../../src/notify/delivery.ts'
import { type CancelAnswer, Dispatch, type FinishAnswer, type Limits, type ReportAnswer } from './dispatch.ts'
import { type DirectAnswer, type DirectRun, Intake, type ReviewAnswer, type SubmitAnswer } from './intake.ts'
import { type Keyed, KeyedRequests } from './keyed-requests.ts'
import { Leases } from './leases.ts'
import { Locks } from './locks.ts'
import { Notices } from './notices.ts'
import { QueueBooks } from './queue-books.ts'
import { KEEP_FINISHED_MS, pruneTasks } from './retention.ts'
import { Submissions } from './submissions.ts'
import type { OwnEvent } from './subscribers.ts'
import { UnsavedReports } from './unsaved-reports.ts'
import { Waiting } from './waiting.ts'

const UPKEEP_EVERY_MS = 3_600_000

export class TaskQueue extends QueueBooks {
  readonly #waiting: Waiting
  readonly #intake: Intake
  readonly #submissions: Submissions
  readonly #keyedRequests: KeyedRequests
  readonly #keptReports: UnsavedReports
  readonly #notices: Notices
  readonly #dispatch: Dispatch

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    const { storage } = ctx
    const { sql } = storage
    const { tasks, flowEvents } = this
    const settings = config(env)
    this.#waiting = new Waiting(sql, settings.tasks.maxRunningPerOwner)
    this.#submissions = new Submissions(sql)
    this.#keyedRequests = new KeyedRequests(sql)
    this.#keptReports = new UnsavedReports(sql)
    this.#notices = new Notices(sql)
    const locks = new Locks(sql)
    const remembered = { submissions: this.#submissions, keyedRequests: this.#keyedRequests }
    this.#intake = new Intake({ storage, tasks, locks, allowance: this.allowance, ...remembered })
    const leases = new Leases(sql)
    leases.putOnProbation(Date.now())
    this.#dispatch = new Dispatch({
      tasks,
      waiting: this.#waiting,
      leases,
      locks,
      keptReports: this.#keptReports,
      notices: this.#notices,
      flowEvents,
      limits: limitsOf(settings),
      queueId: ctx.id.toString(),
      publish: (event, task, flowEvent) => this.subscribers.publish(event, task, flowEvent),
      ended: (task) => this.ended(task),
      handOut: (order) => ctx.waitUntil(this.#run(order)),
    })
    this.#plan()
  }

  /**
   * Queues the requests, all or none; each is accepted, or returned as the duplicate of an open task. A second
   * submission with the same key gets the answer of the first and queues nothing: `key` comes from a schedule, `keyed`
   * from a client.
   */
  submit(owner: string, requests: TaskRequest[], key: string | null = null, keyed: Keyed | null = null): SubmitAnswer {
    const now = Date.now()
    const { answer, created } = this.#intake.submit({ owner, requests, key, keyed }, now)
    this.#begin(created, now)
    return answer
  }

  /** Queues a market review unless one is unfinished. */
  submitReview(
    owner: string,
    request: TaskRequest,
    key: string | null = null,
    keyed: Keyed | null = null,
  ): ReviewAnswer {
    const now = Date.now()
    const { answer, created } = this.#intake.submitReview({ owner, request, key, keyed }, now)
    this.#begin(created, now)
    return answer
  }

  /**
   * Begins a synchronous analysis unless the owner has too many; it ends at `until`, or earlier when its end is
   * reported.
   */
  beginDirect(owner: string, run: DirectRun): DirectAnswer {
    return this.#intake.beginDirect(owner, run, Date.now())
  }

  endDirect(id: string): void {
    this.allowance.endDirect(id)
  }

  /** Cancels the owner's task: at once while it waits, with its next report while it runs. */
  cancel(owner: string, id: string): CancelAnswer {
    const answer = this.#dispatch.cancel(owner, id, Date.now())
    this.#plan()
    return answer
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

  /** Makes sure that notices are delivered, and that waiting writes are retried. */
  notify(news: Notice[]): void {
    for (const notice of news) this.#notices.put(notice)
    this.#notices.poke()
    this.#plan()
  }

  /**
   * Sends streams an event that does not belong to a task. Each uid is sent once, even if the caller repeats the call
   * because it lost the answer.
   */
  tellOnce(event: OwnEvent, news: readonly { owner: string; uid: string; json: string }[]): void {
    const at = Date.now()
    for (const { owner, uid, json } of news) {
      const key = `${event === 'alert_triggered' ? 'alert' : 'screen'}:${uid}`
      if (this.#submissions.find(owner, key) !== null) continue
      this.#submissions.remember(owner, { key, answer: [], at })
      this.subscribers.tell(owner, event, json)
    }
    this.alarms.atLatest('upkeep', at + UPKEEP_EVERY_MS)
  }

  /**
   * Opens a socket that carries the text of an owner's event stream: `/stream?owner=…[&key=…][&until=…][&after=…]`. A
   * status other than 101 says why not.
   */
  override async fetch(request: Request): Promise<Response> {
    const { searchParams } = new URL(request.url)
    const owner = searchParams.get('owner')
    if (owner === null || request.headers.get('upgrade') !== 'websocket') return new Response(null, { status: 426 })
    const after = searchParams.get('after')
    const asker = { owner, credential: credentialOf(searchParams) }
    const accept = () =>
      this.subscribers.accept({
        ...asker,
        after: after === null ? null : Number(after),
        greeting: textsOf(config(this.env).reportLanguage).task.connected,
        open: this.tasks.open(owner),
      })
    let answer = accept()
    if (!(answer instanceof Response) && answer.reason === 'full') {
      await this.subscribers.findGone(answer, asker)
      answer = accept()
    }
    return answer instanceof Response ? answer : Response.json(answer, { status: 409 })
  }

  /** For an owner's object: the key was revoked, and its streams end. */
  endKey(key: string): void {
    this.subscribers.endKey(key, Date.now())
  }

  override async alarm(info?: AlarmInvocationInfo): Promise<void> {
    await this.alarms.fire(info?.scheduledTime ?? Date.now(), async (name) => {
      if (name === 'upkeep') this.#upkeep()
      else if (name === 'sweep') this.#dispatch.sweep(Date.now())
      else if (name === 'notify') this.ctx.waitUntil(this.#tell())
      else if (name === 'expiry') this.subscribers.expire(Date.now())
      else if (name === 'spans') await this.spans.deliver()
      else await this.#deliver()
    })
    this.#plan()
    if (isStoreDue()) this.ctx.waitUntil(storeCounts(this.env.DB))
  }

  #begin(created: readonly Task[], now: number): void {
    if (created.length === 0) return
    for (const task of created) this.subscribers.publish('task_created', task)
    this.#dispatch.fill(now)
    this.#plan()
    this.alarms.atLatest('upkeep', now + UPKEEP_EVERY_MS)
  }

  /** Keeps the object awake until the call to a runner has ended. */
  async #run(order: RunOrder): Promise<void> {
    this.calls.set(order, order.owner)
    try {
      await this.env.ANALYSIS_RUNNER.run(order)
    } catch (error) {
      log.warn('task.runner_failed', { taskId: order.taskId, attempt: order.attempt, ...errorFields(error) })
    }
    this.calls.delete(order)
    this.#dispatch.runEnded(order, Date.now())
    this.#plan()
  }

  async #deliver(): Promise<void> {
    await this.#keptReports.deliver(this.env.DB, (taskId) => this.#dispatch.reportSaved(taskId, Date.now()))
    this.#plan()
  }

  /** Keeps the object awake until the call to the sender has ended. */
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
    this.streamLog.prune(now)
    this.#submissions.prune(now - KEEP_FINISHED_MS)
    this.#keyedRequests.prune(now)
    this.#waiting.prune()
    if (dropped > 0) log.info('task.pruned', { dropped })
    if (!this.tasks.isEmpty || !this.streamLog.isEmpty) this.alarms.at('upkeep', now + UPKEEP_EVERY_MS)
  }

  /** Sets the alarms to the next times at which something changes by itself. */
  #plan(): void {
    this.#wakeAt('sweep', this.#dispatch.nextWakeAt())
    this.#wakeAt('deliver', this.#keptReports.nextAttemptAt)
    const { dueAt } = this.#notices
    if (dueAt !== null) this.alarms.atLatest('notify', dueAt)
  }

  #wakeAt(name: 'sweep' | 'deliver' | 'notify', at: number | null): void {
    if (at === this.alarms.get(name)) return
    if (at === null) this.alarms.clear(name)
    else this.alarms.at(name, at)
  }
}

function limitsOf({ maxRunningTasks, maxAttempts, taskTimeoutMs, tasks }: Config): Limits {
  return { maxRunning: maxRunningTasks, maxAttempts, taskTimeoutMs, stageTimeoutMs: tasks.stageTimeoutMs }
}
