// What there is to tell, as it travels from the queue to whoever sends it. The texts are not part of it: they are made from
// the stored reports, so what is sent is what the history shows.

import type { ReportLanguage } from '../reports/report.ts'

export type BatchItem = {
  taskId: string
  stockCode: string
  stockName: string | null
  isCompleted: boolean
  /** Why there is no report. */
  error: string | null
}

type Addressed = {
  /** The same for the same news, however often it is told. */
  key: string
  owner: string
  /** The channels that it is for; null is all of the owner's. */
  channels: string[] | null
}

export type Notice =
  /** A report. As part of a batch it is only for channels that want every report by itself. */
  | (Addressed & { kind: 'report'; taskId: string; isInBatch: boolean })
  /** All reports of a batch at once. */
  | (Addressed & { kind: 'digest'; language: ReportLanguage; items: BatchItem[] })

export type Mode = 'single' | 'digest'

/** News that lies elsewhere than with the queue, until its deliveries are noted. */
export type NewsStore = {
  /** The oldest of it. */
  untold: () => Promise<Notice[]>
  drop: (keys: readonly string[]) => Promise<void>
}

/** Whether the notice is for channels of that mode. */
export function isFor(notice: Notice, mode: Mode): boolean {
  if (notice.kind === 'digest') return mode === 'digest'
  return mode === 'single' || !notice.isInBatch
}
