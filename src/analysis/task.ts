// A request and the queued task that it becomes, as all parts of the family know it: the queue stores it, the runner
// works on it, the routes and the event stream show it.

import { z } from 'zod'
import { isoMicros } from '../lib/clock.ts'
import { ReportLanguage } from './schemas.ts'
import { textsOf } from './texts/book.ts'

// A request: one analysis of one listing, or one review of some markets.

/** The order in which tasks are handed out, the first first. */
export const TaskPriority = z.enum(['interactive', 'batch', 'scheduled'])
export type TaskPriority = z.infer<typeof TaskPriority>

/** What was requested; it does not change after the submission. */
export const TaskRequest = z.object({
  kind: z.enum(['analysis', 'market_review']),
  /** Identifies equal open tasks of one owner; null when the kind allows duplicates. */
  key: z.string().nullable(),
  stockCode: z.string(),
  stockName: z.string().nullable(),
  reportType: z.enum(['simple', 'detailed', 'full', 'brief']),
  analysisPhase: z.enum(['auto', 'premarket', 'intraday', 'postmarket']),
  /** The language of all texts about the task. */
  language: ReportLanguage,
  /** The requested language; null for that of the configuration. */
  reportLanguage: ReportLanguage.nullable(),
  skills: z.array(z.string()).nullable(),
  originalQuery: z.string().nullable(),
  /** How the input was interpreted, as text, if it is not the listing's name and the user confirmed it. */
  reading: z.string().nullable().default(null),
  selectionSource: z.string().nullable(),
  forceRefresh: z.boolean(),
  notify: z.boolean(),
  region: z.string().nullable(),
  /** Who waits for it: a user, a user's list, or nobody. */
  priority: TaskPriority.default('interactive'),
  /** Tasks of one submission share this id. */
  batch: z.string().nullable().default(null),
  /** The channels for its report; null for every channel of the owner. */
  channels: z.array(z.string()).nullable().default(null),
})
export type TaskRequest = z.infer<typeof TaskRequest>

/** The code of reviews in the history. */
export const REVIEW_CODE = 'MARKET'
/** The code of reviews in the queue. */
const TASK_CODE = 'market_review'

type Review = Pick<TaskRequest, 'reportLanguage' | 'notify' | 'channels' | 'priority'> & {
  regions: readonly string[]
  configuredLanguage: ReportLanguage
}

export function reviewRequest({
  regions,
  configuredLanguage,
  reportLanguage,
  notify,
  channels,
  priority,
}: Review): TaskRequest {
  const language = reportLanguage ?? configuredLanguage
  return {
    kind: 'market_review',
    key: null,
    stockCode: TASK_CODE,
    stockName: textsOf(language).review.title,
    reportType: 'detailed',
    analysisPhase: 'auto',
    language,
    reportLanguage,
    skills: null,
    originalQuery: null,
    reading: null,
    selectionSource: null,
    forceRefresh: false,
    notify,
    region: regions.join(','),
    priority,
    batch: null,
    channels,
  }
}

export const TaskState = z.enum(['pending', 'processing', 'completed', 'failed', 'cancel_requested', 'cancelled'])
export type TaskState = z.infer<typeof TaskState>

export const OPEN_STATES = ['pending', 'processing', 'cancel_requested'] as const satisfies readonly TaskState[]

export type Task = {
  id: string
  owner: string
  request: TaskRequest
  status: TaskState
  /** 0 to 100; never decreases. */
  progress: number
  message: string
  /** From the request, until the report has a better one. */
  stockName: string | null
  error: string | null
  /** Epoch ms, like the two below. */
  createdAt: number
  startedAt: number | null
  completedAt: number | null
}

/**
 * The task in its wire form, for lists and the stream. It is declared here because the object that writes the stream
 * cannot import the routes' schemas.
 */
export type TaskInfo = {
  task_id: string
  trace_id: string
  stock_code: string
  stock_name: string | null
  status: TaskState
  progress: number
  message: string
  report_type: string
  report_language: string | null
  created_at: string
  started_at: string | null
  completed_at: string | null
  error: string | null
  original_query: string | null
  reading: string | null
  selection_source: string | null
  analysis_phase: string
  skills: string[] | null
  region: string | null
}

export function taskInfo(task: Task): TaskInfo {
  const { request } = task
  return {
    task_id: task.id,
    trace_id: task.id,
    stock_code: request.stockCode,
    stock_name: task.stockName,
    status: task.status,
    progress: task.progress,
    message: task.message,
    report_type: request.kind === 'market_review' ? 'market_review' : request.reportType,
    report_language: request.reportLanguage,
    created_at: isoMicros(task.createdAt),
    started_at: timeOrNull(task.startedAt),
    completed_at: timeOrNull(task.completedAt),
    error: task.error,
    original_query: request.originalQuery,
    reading: request.reading,
    selection_source: request.selectionSource,
    analysis_phase: request.analysisPhase,
    skills: request.skills,
    region: request.region,
  }
}

export function isOpen(status: TaskState): boolean {
  return (OPEN_STATES as readonly TaskState[]).includes(status)
}

/** The task's name in texts: the stock's name if it is known, else the code. */
export function taskLabel(task: Pick<Task, 'stockName' | 'request'>): string {
  return task.stockName ?? task.request.stockCode
}

/** The part of a task, or of an analysis without a task, that a run gets. */
export type RunJob = {
  owner: string
  queryId: string
  /** Null for a synchronous call. */
  taskId: string | null
  /** The number of this run of the task, counted from 1. */
  attempt: number
  request: TaskRequest
}

/** The origin of every run in the diagnostics. */
export const TRIGGER_SOURCE = 'api'

/** One lease of a task to a runner. The token authorises the runner to report; it ends with the lease. */
export type RunOrder = Pick<RunJob, 'owner' | 'attempt' | 'request'> & {
  /** The object that leased the task, to which the runner reports. */
  queueId: string
  taskId: string
  token: string
  /** The time limit of this run. */
  timeoutMs: number
  /** The time limit without progress. */
  stageTimeoutMs: number
  /** How often the runner must report at least, to keep its lease. */
  renewEveryMs: number
}

export type Progress = {
  taskId: string
  token: string
  progress: number
  message: string
  stage: string
  stockName: string | null
  /** Steps of the run flow since the last report, each as JSON text. */
  flowEvents: string[]
}

/**
 * The outcome of a run. `unsaved` is a record that the database did not accept: the queue stores it until it does. A
 * stopped run says so.
 */
export type Outcome =
  | { ok: true; stockName: string | null; unsaved?: string }
  | { ok: false; error: string }
  | { ok: false; cancelled: true }

export type Finish = { taskId: string; token: string; outcome: Outcome }

const timeOrNull = (at: number | null): string | null => (at === null ? null : isoMicros(at))
