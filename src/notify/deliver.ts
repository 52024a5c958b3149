// Continues the deliveries that are due: channels in parallel, the parts of one channel one after the other at the rate that
// its service allows.

import type { AddressPolicy } from '../lib/address-policy.ts'
import type { Clock } from '../lib/clock.ts'
import { errorFields, log } from '../lib/log.ts'
import { count } from '../lib/metrics.ts'
import { longestWindowMs, type Pace, type Part, paceWaitMs, type Verdict } from './channel.ts'
import type { Claim, ClaimedPart, DeliveryStore } from './delivery.ts'
import { isReachable, type Opened, openTarget, sendPart, type Target } from './send.ts'

export type DeliveryDeps = {
  store: DeliveryStore
  /** The owner's channels and those of the operator. */
  targets: (owner: string) => Promise<Target[]>
  policy: AddressPolicy
  clock: Clock
  /** For one request. */
  timeoutMs?: number
}

const LANES_AT_ONCE = 4
/** After this time no new request begins; the next call claims the rest. */
const BUDGET_MS = 45_000
/** The longest wait within a call; for a longer one the delivery is released. */
const LONGEST_WAIT_MS = 3_000
const BACK_OFF_MS = [30_000, 60_000, 120_000, 300_000, 600_000, 1_200_000, 1_800_000, 3_600_000]
const MAX_ATTEMPTS = 12
const LONGEST_RETRY_AFTER_MS = 86_400_000
const SETTLE_DELAYS_MS = [100, 500, 2_000]

export async function deliverDue(deps: DeliveryDeps): Promise<void> {
  const { store, clock } = deps
  const until = clock() + BUDGET_MS
  const claims = await store.claim(clock())
  const [first] = claims
  if (first === undefined) return
  const lanes = Map.groupBy(claims, (claim) => JSON.stringify([claim.owner, claim.channelId]))
  const waiting = [...lanes.values()]
  const work = async () => {
    for (let lane = waiting.shift(); lane !== undefined; lane = waiting.shift()) await runLane(lane, deps, until)
  }
  const stopBeating = beat(() => store.renew(first, clock()))
  try {
    await Promise.all(Array.from({ length: LANES_AT_ONCE }, work))
  } finally {
    stopBeating()
  }
}

/** The deliveries of one channel. When one must wait, later ones wait, too. */
async function runLane(claims: readonly Claim[], deps: DeliveryDeps, until: number): Promise<void> {
  const { store, clock } = deps
  let isHeld = false
  for (const claim of claims) {
    try {
      if (isHeld) await store.release(claim, { nextAt: clock(), error: null })
      else isHeld = (await carryOn(claim, deps, until)) === 'held'
    } catch (error) {
      // It stays claimed until its lease expires; other channels are not affected.
      log.warn('notify.delivery_broke_off', { deliveryId: claim.id, channel: claim.channelId, ...errorFields(error) })
      isHeld = true
    }
  }
}

type Ended = 'done' | 'held'

async function carryOn(claim: Claim, deps: DeliveryDeps, until: number): Promise<Ended> {
  const { store, clock } = deps
  const target = (await deps.targets(claim.owner)).find(({ id }) => id === claim.channelId)
  const opened = target?.isEnabled && target.kind === claim.kind ? openTarget(target, deps.policy) : null
  if (opened === null) return fail(claim, deps, reasonOf(target, claim))
  let isReached = opened.line.recognisesRepeats
  for (const part of claim.parts) {
    if (part.state === 'sent' || part.state === 'unknown') continue
    if (part.state === 'sending' && !opened.line.recognisesRepeats) {
      await settle(claim, part, 'unknown', deps)
      continue
    }
    const waitMs = await paceWait(claim, opened.line.pace, deps)
    if (waitMs > LONGEST_WAIT_MS || clock() + waitMs > until) {
      await store.release(claim, { nextAt: clock() + waitMs, error: null })
      return 'held'
    }
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    const message = partOf(claim, part)
    isReached ||= await isReachable(opened, message, clock())
    if (!isReached) return putOff(claim, deps, { reason: 'the service cannot be reached', retryAfterMs: null })
    const ended = await sendOne({ claim, part, message, opened }, deps)
    if (ended !== null) return ended
  }
  return conclude(claim, deps)
}

type Sending = { claim: Claim; part: ClaimedPart; message: Part; opened: Opened }

/** Null when the next part may follow. */
async function sendOne({ claim, part, message, opened }: Sending, deps: DeliveryDeps): Promise<Ended | null> {
  const { store, clock, timeoutMs } = deps
  if (!(await store.begin(claim, part.n, clock()))) return 'held'
  part.state = 'sending'
  const verdict = await sendPart(opened, message, { at: clock(), ...(timeoutMs !== undefined && { timeoutMs }) })
  if (verdict.ok) {
    await settle(claim, part, 'sent', deps)
    claim.attempts = 0
    return null
  }
  log.warn('notify.part_failed', { deliveryId: claim.id, channel: claim.channelId, part: part.n, ...verdict })
  if (isInDoubt(verdict, opened)) {
    await settle(claim, part, 'unknown', deps)
    // The following parts wait until the service works again.
    return part.n === claim.parts.length ? null : putOff(claim, deps, { reason: verdict.reason, retryAfterMs: null })
  }
  await settle(claim, part, 'waiting', deps)
  const { reason } = verdict
  if (verdict.outcome === 'later') return putOff(claim, deps, verdict)
  if (verdict.outcome === 'unknown') return putOff(claim, deps, { reason, retryAfterMs: null })
  return fail(claim, deps, claim.parts.length > 1 ? `part ${part.n} of ${claim.parts.length}: ${reason}` : reason)
}

const isInDoubt = (verdict: Verdict, { line }: Opened): boolean =>
  !verdict.ok && verdict.outcome === 'unknown' && !line.recognisesRepeats

function partOf({ id, title, parts }: Claim, { n, markdown }: ClaimedPart): Part {
  return { key: `${id}-${n}`, title, markdown, n, of: parts.length }
}

function reasonOf(target: Target | undefined, { kind }: Claim): string {
  if (target === undefined) return 'the channel is gone'
  if (target.kind !== kind) return 'the channel has become one of another kind'
  return target.isEnabled ? 'the settings of the channel cannot be read' : 'the channel is switched off'
}

async function paceWait(claim: Claim, pace: readonly Pace[], { store, clock }: DeliveryDeps): Promise<number> {
  const now = clock()
  return paceWaitMs(pace, await store.startsSince(claim, now - longestWindowMs(pace)), now)
}

async function putOff(
  claim: Claim,
  deps: DeliveryDeps,
  { reason, retryAfterMs }: { reason: string; retryAfterMs: number | null },
): Promise<Ended> {
  const { store, clock } = deps
  const attempts = claim.attempts + 1
  if (attempts >= MAX_ATTEMPTS) return fail(claim, deps, `given up after ${attempts} attempts: ${reason}`)
  const backOffMs = BACK_OFF_MS[Math.min(attempts, BACK_OFF_MS.length) - 1] ?? 0
  const delayMs = Math.min(LONGEST_RETRY_AFTER_MS, retryAfterMs ?? backOffMs)
  await store.release(claim, { nextAt: clock() + delayMs, error: reason })
  return 'held'
}

async function fail(claim: Claim, { store, clock }: DeliveryDeps, error: string): Promise<Ended> {
  await store.finish(claim, { state: 'failed', error, now: clock() })
  count('bellwether_deliveries_total', { channel: claim.kind, outcome: 'failed' })
  return 'done'
}

async function conclude(claim: Claim, { store, clock }: DeliveryDeps): Promise<Ended> {
  const unknown = claim.parts.filter(({ state }) => state === 'unknown').map(({ n }) => n)
  const now = clock()
  const outcome = unknown.length === 0 ? 'delivered' : 'uncertain'
  if (outcome === 'delivered') await store.finish(claim, { state: outcome, error: null, now })
  else {
    const error = `no answer came for part ${unknown.join(', ')} of ${claim.parts.length}; it may have arrived`
    await store.finish(claim, { state: outcome, error, now })
  }
  count('bellwether_deliveries_total', { channel: claim.kind, outcome })
  return 'done'
}

/** The result of a part is worth several tries: without it, the state of an accepted part would be unknown. */
async function settle(claim: Claim, part: ClaimedPart, state: ClaimedPart['state'], deps: DeliveryDeps): Promise<void> {
  for (const delayMs of SETTLE_DELAYS_MS) {
    try {
      await deps.store.settle(claim, part.n, { state, now: deps.clock() })
      part.state = state
      return
    } catch (error) {
      log.warn('notify.settle_failed', { deliveryId: claim.id, part: part.n, state, ...errorFields(error) })
      await new Promise((resolve) => setTimeout(resolve, delayMs))
    }
  }
  await deps.store.settle(claim, part.n, { state, now: deps.clock() })
  part.state = state
}

/** A lease lasts several heartbeats, so a lost one is harmless. */
const BEAT_MS = 5_000

/** Renews a lease at intervals, until the returned function is called. */
function beat(renew: () => Promise<void>): () => void {
  let timer: ReturnType<typeof setTimeout> | null = setTimeout(next, BEAT_MS)
  async function next(): Promise<void> {
    try {
      await renew()
    } catch (error) {
      // The lease outlasts one heartbeat that failed.
      log.warn('notify.beat_failed', errorFields(error))
    }
    if (timer !== null) timer = setTimeout(next, BEAT_MS)
  }
  return () => {
    if (timer !== null) clearTimeout(timer)
    timer = null
  }
}
