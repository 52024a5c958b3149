// Runs the due slots. It may be called twice at once, late, or not for hours, and may be interrupted at any point: a slot is
// claimed by its row, submitted under its own name, which the queue answers only once, and then settled. Only then does its
// schedule move on. Slots that are older than the schedule's window are recorded as missed.

import type { TaskRequest } from '../analysis/request.ts'
import type { ReportLanguage } from '../analysis/schemas.ts'
import {
  advanceSchedule,
  claimSlot,
  dueSchedules,
  noteMissed,
  type ScheduleRow,
  type SlotOutcome,
  settleSlot,
} from '../db/schedules.ts'
import { errorFields, log } from '../lib/log.ts'
import { type Due, dueWork, marketsOf, nextSlot, type ScheduledStock, type Slot, slotsBetween } from './due.ts'
import { SchedulePlan } from './plan.ts'

type Queued = { ok: true; results: { taskId: string }[] } | { ok: false }
type QueuedReview = { ok: true; taskId: string } | { ok: false; reason: 'full' | 'locked' | 'other_request' }

export type TickDeps = {
  db: D1Database
  /** Queues requests under a key that makes a repetition the same submission. */
  submit: (owner: string, requests: TaskRequest[], key: string) => Promise<Queued>
  submitReview: (owner: string, request: TaskRequest, key: string) => Promise<QueuedReview>
  /** The stocks of an owner's plan, names resolved. */
  stocksOf: (owner: string, plan: SchedulePlan) => Promise<ScheduledStock[]>
  configuredLanguage: ReportLanguage
}

const MINUTE_MS = 60_000
const MOST_SCHEDULES = 500
/** A claim that is not settled by then was interrupted. */
const CLAIM_MS = 120_000
/** Older missed slots are not recorded. */
const LONGEST_LOOK_BACK_MS = 31 * 1440 * MINUTE_MS

/** How many schedules were looked at. */
export async function runDueSchedules(deps: TickDeps, now: number): Promise<number> {
  const due = await dueSchedules(deps.db, now, MOST_SCHEDULES)
  for (const row of due) {
    try {
      await runSchedule(deps, row, now)
    } catch (error) {
      // A broken schedule does not stop the others; its slots stay unsettled and are tried again.
      log.error('schedule.failed', { scheduleId: row.id, ...errorFields(error) })
    }
  }
  return due.length
}

type Running = { deps: TickDeps; row: ScheduleRow; plan: SchedulePlan; stocks: ScheduledStock[]; now: number }

async function runSchedule(deps: TickDeps, row: ScheduleRow, now: number): Promise<void> {
  const plan = SchedulePlan.parse(JSON.parse(row.plan))
  const running: Running = { deps, row, plan, stocks: await deps.stocksOf(row.owner, plan), now }
  const markets = marketsOf(plan, running.stocks)
  const from = Math.max(row.since, (row.nextAt ?? now) - 1, now - LONGEST_LOOK_BACK_MS)
  const slots = slotsBetween(plan.when, markets, { from, until: now })
  const windowStart = now - plan.catch_up_minutes * MINUTE_MS
  const late = slots.filter(({ at }) => at <= windowStart)
  if (late.length > 0) await noteMissed(deps.db, { row, name: plan.name, slots: late, now, claimMs: CLAIM_MS })
  let unsettled: number | null = null
  for (const slot of slots.slice(late.length)) {
    const isSettled = await runSlot(running, slot)
    if (!isSettled) unsettled ??= slot.at
  }
  await advanceSchedule(deps.db, row, unsettled ?? nextSlot(plan.when, markets, now)?.at ?? null)
}

/** Whether nothing remains to be done for the slot. */
async function runSlot({ deps, row, plan, stocks, now }: Running, slot: Slot): Promise<boolean> {
  const claim = await claimSlot(deps.db, { row, name: plan.name, slot, now, claimMs: CLAIM_MS })
  if (claim !== 'claimed') return claim === 'settled'
  const work = dueWork(plan, { slot, configuredLanguage: deps.configuredLanguage, stocks })
  const outcome = await outcomeOf(deps, { row, slot, work })
  await settleSlot(deps.db, { scheduleId: row.id, slot: slot.id }, outcome)
  log.info('schedule.slot', { scheduleId: row.id, slot: slot.id, status: outcome.status, detail: outcome.detail })
  return outcome.status !== 'waiting'
}

type Working = { row: ScheduleRow; slot: Slot; work: Due }

async function outcomeOf(deps: TickDeps, { row, slot, work }: Working): Promise<SlotOutcome> {
  const { leftOut } = work
  const because = (status: SlotOutcome['status'], detail: string): SlotOutcome => {
    return { status, detail, taskIds: [], leftOut }
  }
  const key = `${row.id} ${slot.id}`
  if (work.kind === 'nothing') return because('skipped', work.reason)
  if (work.kind === 'review') {
    const answer = await deps.submitReview(row.owner, work.request, key)
    if (answer.ok) return { status: 'started', detail: null, taskIds: [answer.taskId], leftOut }
    return because('waiting', answer.reason === 'locked' ? 'another market review runs' : 'too many unfinished tasks')
  }
  const answer = await deps.submit(row.owner, work.requests, key)
  if (!answer.ok) return because('waiting', 'too many unfinished tasks')
  const taskIds = answer.results.map(({ taskId }) => taskId)
  return { status: 'started', detail: null, taskIds, leftOut }
}
