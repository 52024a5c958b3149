// A delivery is one notice for one channel, split into parts. It is stored before anything is sent: a part is marked as
// being sent before its request, and as sent after the service accepted it. So only a part whose request was
// interrupted has an unknown state. It is sent again if the service recognises repetitions; otherwise it is marked as
// unknown, and its owner can send it again.

import type { ReportLanguage } from '../analysis/schemas.ts'

// What to send, as the queue passes it. It contains no text: messages are made from the stored reports, so a message
// has the same content as the history.

export type BatchItem = {
  taskId: string
  stockCode: string
  stockName: string | null
  isCompleted: boolean
  /** Why there is no report. */
  error: string | null
}

type Addressed = {
  /** The same for the same notice, however often it is passed. */
  key: string
  owner: string
  /** The ids of the channels; null for all of the owner's. */
  channels: string[] | null
}

export type Notice =
  /** A single report. As part of a batch it is only for channels in mode `single`. */
  | (Addressed & { kind: 'report'; taskId: string; isInBatch: boolean })
  /** A text from the owner. */
  | (Addressed & { kind: 'text'; title: string; markdown: string })
  /** All reports of a batch in one message. */
  | (Addressed & { kind: 'digest'; language: ReportLanguage; items: BatchItem[] })

export type Mode = 'single' | 'digest'

/** Notices that are stored outside of the queue, until their deliveries are stored. */
export type NewsStore = {
  /** The oldest of these notices. */
  untold: () => Promise<Notice[]>
  drop: (keys: readonly string[]) => Promise<void>
}

/** Whether the notice is for channels of that mode. */
export function isFor(notice: Notice, mode: Mode): boolean {
  if (notice.kind === 'text') return true
  if (notice.kind === 'digest') return mode === 'digest'
  return mode === 'single' || !notice.isInBatch
}

export const PART_STATES = ['waiting', 'sending', 'sent', 'unknown'] as const
export type PartState = (typeof PART_STATES)[number]

/** `uncertain`: all parts were sent, and it is unknown whether some of them arrived. */
export const DELIVERY_STATES = ['pending', 'delivered', 'uncertain', 'failed'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

export type NewDelivery = {
  id: string
  owner: string
  subject: string
  channelId: string
  kind: string
  mode: Mode
  title: string
  parts: string[]
  /** Why the delivery cannot begin; then it counts as failed. */
  error: string | null
}

export type ClaimedPart = { n: number; markdown: string; state: PartState }

/** A delivery that the caller has claimed, until its lease expires. */
export type Claim = {
  id: string
  token: string
  owner: string
  channelId: string
  /** The kind of the channel when the parts were made. */
  kind: string
  title: string
  attempts: number
  parts: ClaimedPart[]
}

export type DeliveryStore = {
  /** Stores new deliveries; those that exist already stay unchanged. */
  create: (deliveries: readonly NewDelivery[], now: number) => Promise<void>
  /** Claims the due deliveries, oldest first, without those that follow a waiting one of the same channel. */
  claim: (now: number) => Promise<Claim[]>
  /** Renews the lease of all deliveries that were claimed together. */
  renew: (claim: Claim, now: number) => Promise<void>
  /** When messages were sent to the channel since then, including tests, the earliest first. */
  startsSince: (claim: Claim, since: number) => Promise<number[]>
  /** Marks the part as being sent. False when another caller has claimed the delivery. */
  begin: (claim: Claim, n: number, now: number) => Promise<boolean>
  settle: (claim: Claim, n: number, outcome: { state: PartState; now: number }) => Promise<void>
  /** Releases the delivery until then; with an error it counts as an attempt. */
  release: (claim: Claim, until: { nextAt: number; error: string | null }) => Promise<void>
  finish: (claim: Claim, end: { state: DeliveryState; error: string | null; now: number }) => Promise<void>
  /** When the next delivery can be claimed, epoch ms. */
  nextAt: () => Promise<number | null>
}
