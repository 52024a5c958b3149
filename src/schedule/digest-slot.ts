// The slot of a schedule whose work is a digest. Everything in it follows from the slot and from what was stored by then, and its
// notice is named after the schedule and the day: cut off anywhere and run again, it is one message.

import type { ReportLanguage } from '../analysis/schemas.ts'
import { lastStarted, type ScheduleRow, type SlotOutcome } from '../db/schedules.ts'
import { listWatchlists } from '../db/watchlists.ts'
import type { Notice } from '../notify/delivery.ts'
import { watchDigestMessage } from './digest-message.ts'
import type { SchedulePlan, Slot } from './plan.ts'
import { type Failed, type WatchDigest, watchDigest } from './watch-digest.ts'

const DAY_MS = 86_400_000

export type DigestDeps = {
  /** The owner's failed analyses, the newest first. */
  failed: (owner: string) => Promise<readonly Failed[]>
  /** Hands the notice over; the same key twice is one notice. */
  tell: (notice: Notice) => Promise<void>
  /** Whether a channel that is switched on would get it. */
  hasChannel: (owner: string, ids: readonly string[] | null) => Promise<boolean>
}

type DigestSlot = { row: ScheduleRow; plan: SchedulePlan; slot: Slot; configuredLanguage: ReportLanguage }

export async function tellDigest(
  db: D1Database,
  deps: DigestDeps,
  { row, plan, slot, configuredLanguage }: DigestSlot,
): Promise<Pick<SlotOutcome, 'status' | 'detail'>> {
  const { what, when, channels } = plan
  if (what.kind !== 'digest') throw new Error('the slot is no digest')
  const { owner } = row
  if (!(await deps.hasChannel(owner, channels))) return { status: 'skipped', detail: 'no_channels' }
  const before = await lastStarted(db, row.id, slot.at)
  const day = slot.id.slice(0, 10)
  if (before?.slot.slice(0, 10) === day) return { status: 'skipped', detail: 'already_today' }
  const lists = (await listWatchlists(db, owner)).filter(
    ({ id }) => what.watchlist_id === null || id === what.watchlist_id,
  )
  const since = before?.dueAt ?? slot.at - DAY_MS
  const found = await watchDigest(db, { owner, lists, failed: await deps.failed(owner), since, until: slot.at })
  const digest = withoutSamples(found)
  if (digest.stocks === 0) return { status: 'skipped', detail: found.stocks === 0 ? 'no_stocks' : 'sample_data' }
  const zone = 'zone' in when ? when.zone : 'UTC'
  const message = watchDigestMessage(digest, { language: plan.report_language ?? configuredLanguage, zone })
  await deps.tell({ kind: 'text', key: `watchlist-digest:${row.id}:${day}`, owner, channels, ...message })
  return { status: 'started', detail: 'told' }
}

/** Sample data is sent to nobody. */
function withoutSamples(digest: WatchDigest): WatchDigest {
  const changes = digest.changes.filter(({ isSample }) => !isSample)
  return { ...digest, changes, stocks: digest.stocks - (digest.changes.length - changes.length) }
}
