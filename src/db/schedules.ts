// Schedules and the log of their slots. The plan is passed as JSON; the code that defines its shape parses it.

export type ScheduleRow = {
  id: string
  owner: string
  plan: string
  enabled: boolean
  since: number
  nextAt: number | null
  createdAt: string
  updatedAt: string
}

export type RunStatus = 'claimed' | 'waiting' | 'started' | 'skipped' | 'missed' | 'failed'

export type ScheduleRun = {
  scheduleId: string
  slot: string
  name: string
  dueAt: number
  claimedAt: number
  status: RunStatus
  detail: string | null
  taskIds: string[]
  leftOut: string[]
}

type Raw = Omit<ScheduleRow, 'enabled'> & { enabled: number }
type RawRun = Omit<ScheduleRun, 'taskIds' | 'leftOut'> & { taskIds: string; leftOut: string }

const COLUMNS = `id, owner, plan, enabled, since, next_at AS "nextAt", created_at AS "createdAt", updated_at AS "updatedAt"`
const RUN_COLUMNS = `schedule_id AS "scheduleId", slot, name, due_at AS "dueAt", claimed_at AS "claimedAt", status, detail,
  task_ids AS "taskIds", left_out AS "leftOut"`

const toRow = (raw: Raw): ScheduleRow => ({ ...raw, enabled: raw.enabled === 1 })
const toRun = (raw: RawRun): ScheduleRun => ({
  ...raw,
  taskIds: JSON.parse(raw.taskIds) as string[],
  leftOut: JSON.parse(raw.leftOut) as string[],
})

/** Oldest first. */
export async function listSchedules(db: D1Database, owner: string): Promise<ScheduleRow[]> {
  const query = `SELECT ${COLUMNS} FROM schedules WHERE owner = ? ORDER BY created_at, id`
  return (await db.prepare(query).bind(owner).all<Raw>()).results.map(toRow)
}

export async function findSchedule(db: D1Database, owner: string, id: string): Promise<ScheduleRow | null> {
  const raw = await db
    .prepare(`SELECT ${COLUMNS} FROM schedules WHERE id = ? AND owner = ?`)
    .bind(id, owner)
    .first<Raw>()
  return raw && toRow(raw)
}

/** Writes the rows; with `replaceAll` all other rows of the owner are deleted. All or nothing. */
export async function saveSchedules(
  db: D1Database,
  owner: string,
  { rows, replaceAll }: { rows: readonly ScheduleRow[]; replaceAll: boolean },
): Promise<void> {
  const kept = JSON.stringify(rows.map(({ id }) => id))
  const removal = db
    .prepare('DELETE FROM schedules WHERE owner = ?1 AND id NOT IN (SELECT value FROM json_each(?2))')
    .bind(owner, kept)
  const writes = scheduleWrites(db, owner, rows)
  const statements = replaceAll ? [removal, ...writes] : writes
  if (statements.length > 0) await db.batch(statements)
}

/** For a batch with further changes. */
export function scheduleWrites(db: D1Database, owner: string, rows: readonly ScheduleRow[]): D1PreparedStatement[] {
  return rows.map((row) =>
    db
      .prepare(
        `INSERT INTO schedules (id, owner, plan, enabled, since, next_at, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (id) DO UPDATE SET
           plan = excluded.plan, enabled = excluded.enabled, since = excluded.since, next_at = excluded.next_at,
           updated_at = excluded.updated_at WHERE owner = excluded.owner`,
      )
      .bind(row.id, owner, row.plan, row.enabled ? 1 : 0, row.since, row.nextAt, row.createdAt, row.updatedAt),
  )
}

export async function deleteSchedule(db: D1Database, owner: string, id: string): Promise<boolean> {
  return (await scheduleRemoval(db, owner, id).run()).meta.changes > 0
}

export const scheduleRemoval = (db: D1Database, owner: string, id: string): D1PreparedStatement =>
  db.prepare('DELETE FROM schedules WHERE id = ? AND owner = ?').bind(id, owner)

/** Schedules with a due slot, the longest overdue first. */
export async function dueSchedules(db: D1Database, now: number, limit: number): Promise<ScheduleRow[]> {
  const query = `SELECT ${COLUMNS} FROM schedules WHERE enabled = 1 AND next_at <= ? ORDER BY next_at LIMIT ?`
  return (await db.prepare(query).bind(now, limit).all<Raw>()).results.map(toRow)
}

/** Advances to the next slot, unless the schedule was changed since it was read. */
export async function advanceSchedule(db: D1Database, row: ScheduleRow, nextAt: number | null): Promise<void> {
  await db
    .prepare('UPDATE schedules SET next_at = ?1 WHERE id = ?2 AND updated_at = ?3')
    .bind(nextAt, row.id, row.updatedAt)
    .run()
}

export type SlotClaim = {
  row: ScheduleRow
  name: string
  slot: { id: string; at: number }
  now: number
  /** An older claim was left behind by a crash. */
  claimMs: number
}

/** `held` by another call; `settled` for good; else the caller must run the slot. */
export async function claimSlot(db: D1Database, claim: SlotClaim): Promise<'claimed' | 'held' | 'settled'> {
  const { row, name, slot, now, claimMs } = claim
  const { meta } = await db
    .prepare(
      `INSERT INTO schedule_runs (schedule_id, slot, owner, name, due_at, claimed_at, status)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'claimed') ON CONFLICT (schedule_id, slot) DO UPDATE SET
         claimed_at = ?6, status = 'claimed'
       WHERE status = 'waiting' OR (status = 'claimed' AND claimed_at <= ?7)`,
    )
    .bind(row.id, slot.id, row.owner, name, slot.at, now, now - claimMs)
    .run()
  if (meta.changes > 0) return 'claimed'
  const query = 'SELECT status FROM schedule_runs WHERE schedule_id = ? AND slot = ?'
  const status = await db.prepare(query).bind(row.id, slot.id).first<RunStatus>('status')
  return status === 'claimed' || status === 'waiting' ? 'held' : 'settled'
}

export type Missed = Omit<SlotClaim, 'slot'> & { slots: readonly { id: string; at: number }[] }

/** Notes missed slots. Claimed and settled slots stay as they are. */
export async function noteMissed(db: D1Database, { row, name, slots, now, claimMs }: Missed): Promise<void> {
  await db
    .prepare(
      `INSERT INTO schedule_runs (schedule_id, slot, owner, name, due_at, claimed_at, status, detail)
       SELECT ?1, value ->> 'id', ?2, ?3, value ->> 'at', ?4, 'missed', 'the catch-up window had passed'
       FROM json_each(?5) WHERE true ON CONFLICT (schedule_id, slot) DO UPDATE SET
         claimed_at = excluded.claimed_at, status = excluded.status, detail = excluded.detail
       WHERE status = 'waiting' OR (status = 'claimed' AND claimed_at <= ?6)`,
    )
    .bind(row.id, row.owner, name, now, JSON.stringify(slots), now - claimMs)
    .run()
}

export type SlotOutcome = Pick<ScheduleRun, 'status' | 'detail' | 'taskIds' | 'leftOut'>

export async function settleSlot(
  db: D1Database,
  { scheduleId, slot }: { scheduleId: string; slot: string },
  { status, detail, taskIds, leftOut }: SlotOutcome,
): Promise<void> {
  await db
    .prepare(
      'UPDATE schedule_runs SET status = ?1, detail = ?2, task_ids = ?3, left_out = ?4 WHERE schedule_id = ?5 AND slot = ?6',
    )
    .bind(status, detail, JSON.stringify(taskIds), JSON.stringify(leftOut), scheduleId, slot)
    .run()
}

/** The newest slot before that moment that was run; null when there is none. */
export async function lastStarted(
  db: D1Database,
  scheduleId: string,
  before: number,
): Promise<{ slot: string; dueAt: number } | null> {
  const query = `SELECT slot, due_at AS "dueAt" FROM schedule_runs
    WHERE schedule_id = ? AND due_at < ? AND status = 'started' ORDER BY due_at DESC LIMIT 1`
  return db.prepare(query).bind(scheduleId, before).first<{ slot: string; dueAt: number }>()
}

export type RunQuery = {
  owner: string
  scheduleId: string | null
  limit: number
  /** The last row of the previous page. */
  after: { dueAt: number; scheduleId: string; slot: string } | null
}

/** Newest first. */
export async function listRuns(db: D1Database, { owner, scheduleId, limit, after }: RunQuery): Promise<ScheduleRun[]> {
  const query = `SELECT ${RUN_COLUMNS} FROM schedule_runs WHERE owner = ?1 AND (?2 IS NULL OR schedule_id = ?2)
    AND (?4 IS NULL OR (due_at, schedule_id, slot) < (?4, ?5, ?6))
    ORDER BY due_at DESC, schedule_id DESC, slot DESC LIMIT ?3`
  const place = [after?.dueAt ?? null, after?.scheduleId ?? null, after?.slot ?? null]
  const { results } = await db
    .prepare(query)
    .bind(owner, scheduleId, limit, ...place)
    .all<RawRun>()
  return results.map(toRun)
}

export async function pruneRuns(db: D1Database, before: number): Promise<number> {
  return (await db.prepare('DELETE FROM schedule_runs WHERE due_at < ?').bind(before).run()).meta.changes
}
