import type { TaskRequest } from './task.ts'

/** A report that is in the history and may be sent to its owner. */
export type SavedReport = {
  owner: string
  /** The task's id, which is the record's query id: the same report told twice has the same one. */
  queryId: string
  stockName: string | null
  request: TaskRequest
}

/**
 * Where finished reports go. Told before the task is called completed, and again when a crash came in between: the same
 * report must not go out twice. A failure is logged and changes nothing for the task. Reports of sample data, of requests
 * with `notify` false and of cancelled tasks are never told.
 */
export type ReportSink = (report: SavedReport) => Promise<void>
