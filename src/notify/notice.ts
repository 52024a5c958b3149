// What is to be sent, as the queue hands it over. It contains no text: messages are made from the stored reports, so a
// message says the same as the history.

import type { ReportLanguage } from '../analysis/schemas.ts'

export type BatchItem = {
  taskId: string
  stockCode: string
  stockName: string | null
  isCompleted: boolean
  /** Why there is no report. */
  error: string | null
}

type Addressed = {
  /** The same for the same notice, however often it is passed on. */
  key: string
  owner: string
  /** The ids of the channels; null is all of the owner's. */
  channels: string[] | null
}

export type Notice =
  /** A single report. As part of a batch it is only for channels in mode `single`. */
  | (Addressed & { kind: 'report'; taskId: string; isInBatch: boolean })
  /** All reports of a batch at once. */
  | (Addressed & { kind: 'digest'; language: ReportLanguage; items: BatchItem[] })

export type Mode = 'single' | 'digest'

/** Notices that are stored elsewhere than in the queue, until their deliveries are stored. */
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
