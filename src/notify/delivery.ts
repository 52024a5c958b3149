// A delivery is one notice for one channel, cut into parts. It is rows before anything is sent: a part is noted as being
// sent before it goes out, and as sent after it was taken, so whoever finds it later knows where it stands. Only a part that
// was going out when everything stopped is in doubt; it goes out again where the service sees a repetition, and nowhere
// else: such a part is noted as unknown, and its owner may have it sent again.

import type { Mode } from './notice.ts'

export const PART_STATES = ['waiting', 'sending', 'sent', 'unknown'] as const
export type PartState = (typeof PART_STATES)[number]

/** `uncertain`: all parts went out, and of some nobody knows whether they arrived. */
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
  /** Why it cannot even begin; it counts as failed then. */
  error: string | null
}

export type ClaimedPart = { n: number; markdown: string; state: PartState }

/** A delivery that is the claimer's to carry on, as long as nobody else claims it. */
export type Claim = {
  id: string
  token: string
  owner: string
  channelId: string
  /** What the channel was when the parts were made. */
  kind: string
  title: string
  attempts: number
  parts: ClaimedPart[]
}

export type DeliveryStore = {
  /** Those that are known already stay as they are. */
  create: (deliveries: readonly NewDelivery[], now: number) => Promise<void>
  /** Those that are due, oldest first, and behind none of the same channel that has to wait. */
  claim: (now: number) => Promise<Claim[]>
  /** Keeps everything that was claimed with it. */
  renew: (claim: Claim, now: number) => Promise<void>
  /** When messages of the channel went out since then, tests included, the earliest first. */
  startsSince: (claim: Claim, since: number) => Promise<number[]>
  /** Notes that the part goes out now. False when the delivery is somebody else's by now. */
  begin: (claim: Claim, n: number, now: number) => Promise<boolean>
  settle: (claim: Claim, n: number, outcome: { state: PartState; now: number }) => Promise<void>
  /** Lets it go until then; an error counts as an attempt. */
  release: (claim: Claim, until: { nextAt: number; error: string | null }) => Promise<void>
  finish: (claim: Claim, end: { state: DeliveryState; error: string | null; now: number }) => Promise<void>
  /** When there will be something to claim, epoch ms. */
  nextAt: () => Promise<number | null>
}
