// Saved screens, the results of their runs, and which owners use screening. A run stores the matches, the new ones and
// the message about them in one batch.

import { isoMicros } from '../lib/clock.ts'
import type { Notice } from '../notify/delivery.ts'
import type { Page, Paged } from './alerts.ts'

export type SavedScreen = {
  id: number
  owner: string
  name: string
  /** JSON. */
  screen: string
  /** JSON; null for a screen without a schedule. */
  schedule: string | null
  isEnabled: boolean
  /** JSON. */
  channels: string | null
  language: string
  revision: number
  version: number
  /** JSON; null before the first run. */
  members: string | null
  nextAt: number | null
  lastRunAt: string | null
  createdAt: string
  updatedAt: string
}

type Raw = Omit<SavedScreen, 'isEnabled'> & { enabled: number }

const SCREEN = `id, owner, name, screen, schedule, enabled, channels, language, revision, version, members, next_at AS "nextAt",
  last_run_at AS "lastRunAt", created_at AS "createdAt", updated_at AS "updatedAt"`

const savedOf = ({ enabled, ...rest }: Raw): SavedScreen => ({ ...rest, isEnabled: enabled === 1 })

/** The last changed first. */
export async function listScreens(db: D1Database, owner: string, { limit, offset }: Page): Promise<Paged<SavedScreen>> {
  const [page, count] = await db.batch<Raw & { n: number }>([
    db
      .prepare(`SELECT ${SCREEN} FROM saved_screens WHERE owner = ? ORDER BY updated_at DESC, id DESC LIMIT ? OFFSET ?`)
      .bind(owner, limit, offset),
    db.prepare('SELECT COUNT(*) AS n FROM saved_screens WHERE owner = ?').bind(owner),
  ])
  return { items: (page?.results ?? []).map(savedOf), total: count?.results[0]?.n ?? 0 }
}

export async function findScreen(db: D1Database, owner: string, id: number): Promise<SavedScreen | null> {
  const query = `SELECT ${SCREEN} FROM saved_screens WHERE owner = ? AND id = ?`
  const raw = await db.prepare(query).bind(owner, id).first<Raw>()
  return raw && savedOf(raw)
}

export type NewScreen = Pick<
  SavedScreen,
  'owner' | 'name' | 'screen' | 'schedule' | 'isEnabled' | 'channels' | 'language' | 'nextAt'
>

/** The id of the screen; null when the owner has the maximum number. */
export async function addScreen(
  db: D1Database,
  { owner, name, screen, schedule, isEnabled, channels, language, nextAt }: NewScreen,
  { at, most }: { at: string; most: number },
): Promise<number | null> {
  return await db
    .prepare(
      `INSERT INTO saved_screens (owner, name, screen, schedule, enabled, channels, language, revision, version, next_at,
         created_at, updated_at)
       SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, 1, 0, ?8, ?9, ?9
       WHERE (SELECT COUNT(*) FROM saved_screens WHERE owner = ?1) < ?10 RETURNING id`,
    )
    .bind(owner, name, screen, schedule, isEnabled ? 1 : 0, channels, language, nextAt, at, most)
    .first<number>('id')
}

/** If the conditions change, earlier results are deleted, and a running run stores nothing. */
export async function changeScreen(
  db: D1Database,
  { id, ...screen }: NewScreen & { id: number },
  { at, isOther }: { at: string; isOther: boolean },
): Promise<void> {
  await db
    .prepare(
      `UPDATE saved_screens SET name = ?3, screen = ?4, schedule = ?5, enabled = ?6, channels = ?7, next_at = ?8,
         revision = revision + ?9, version = version + 1, members = iif(?9, NULL, members), updated_at = ?10 WHERE owner = ?1 AND id = ?2`,
    )
    .bind(
      ...[screen.owner, id, screen.name, screen.screen, screen.schedule, screen.isEnabled ? 1 : 0, screen.channels],
      ...[screen.nextAt, isOther ? 1 : 0, at],
    )
    .run()
}

/** False when there is no such screen. Its results are deleted, too. */
export async function deleteScreen(db: D1Database, owner: string, id: number): Promise<boolean> {
  const [, removed] = await db.batch([
    db.prepare('DELETE FROM screen_runs WHERE owner = ? AND screen_id = ?').bind(owner, id),
    db.prepare('DELETE FROM saved_screens WHERE owner = ? AND id = ?').bind(owner, id),
  ])
  return (removed?.meta.changes ?? 0) > 0
}

/** Deletes everything of the owner: screens, their results, runs of the page, and the note that the owner uses screening. */
export async function deleteAllScreens(db: D1Database, owner: string): Promise<number> {
  const tables = ['saved_screens', 'screen_runs', 'page_screenings', 'screening_owners']
  const [screens] = await db.batch(
    tables.map((table) => db.prepare(`DELETE FROM ${table} WHERE owner = ?`).bind(owner)),
  )
  return screens?.meta.changes ?? 0
}

// Scheduled runs.

/** Screens that are due, the longest overdue first. */
export async function dueScreens(db: D1Database, now: number, limit: number): Promise<SavedScreen[]> {
  const query = `SELECT ${SCREEN} FROM saved_screens WHERE enabled = 1 AND next_at IS NOT NULL AND next_at <= ?
    ORDER BY next_at, id LIMIT ?`
  return (await db.prepare(query).bind(now, limit).all<Raw>()).results.map(savedOf)
}

/** Advances the schedule without a run: the slots until then were missed, or their markets were closed. */
export async function passOver(
  db: D1Database,
  { id, revision, version }: Pick<SavedScreen, 'id' | 'revision' | 'version'>,
  nextAt: number | null,
): Promise<void> {
  await db
    .prepare('UPDATE saved_screens SET next_at = ? WHERE id = ? AND revision = ? AND version = ? AND enabled = 1')
    .bind(nextAt, id, revision, version)
    .run()
}

export type ScreenRun = {
  id: number
  uid: string
  owner: string
  screenId: number
  screenName: string
  slot: string
  ranAt: string
  isFirst: number
  /** JSON. */
  counts: string
  /** JSON. */
  fresh: string
  freshCount: number
  language: string
  notice: string | null
}

export type NewRun = {
  screen: Pick<SavedScreen, 'id' | 'owner' | 'name' | 'language' | 'revision' | 'version'>
  uid: string
  slot: string
  at: string
  now: number
  isFirst: boolean
  counts: string
  fresh: string
  freshCount: number
  /** JSON. */
  members: string
  notice: Notice | null
  nextAt: number | null
}

/** True while the screen is unchanged since it was read, and no other run has finished since. */
const IS_CURRENT =
  'EXISTS (SELECT 1 FROM saved_screens WHERE id = ?1 AND revision = ?2 AND version = ?3 AND enabled = 1)'

/** All or nothing. False when the screen was changed, or another run finished first. */
export async function storeRun(db: D1Database, run: NewRun): Promise<boolean> {
  const { screen, uid, slot, at, now, isFirst, counts, fresh, freshCount, members, notice, nextAt } = run
  const current = [screen.id, screen.revision, screen.version]
  const statements = [
    db
      .prepare(
        `INSERT INTO screen_runs (uid, owner, screen_id, screen_name, slot, ran_at, is_first, counts, fresh, fresh_count,
           language, notice, streamed)
         SELECT ?4, ?5, ?1, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15 WHERE ${IS_CURRENT} ON CONFLICT (uid) DO NOTHING`,
      )
      .bind(
        ...[...current, uid, screen.owner, screen.name, slot, at, isFirst ? 1 : 0, counts, fresh, freshCount],
        // Streams are told only of new matches.
        ...[screen.language, notice?.key ?? null, freshCount === 0 ? 1 : 0],
      ),
  ]
  if (notice !== null) {
    statements.push(
      db
        .prepare(
          `INSERT INTO untold_notices (key, body, noted_at) SELECT ?4, ?5, ?6 WHERE ${IS_CURRENT} ON CONFLICT (key) DO NOTHING`,
        )
        .bind(...current, notice.key, JSON.stringify(notice), now),
    )
  }
  statements.push(
    db
      .prepare(
        `UPDATE saved_screens SET version = version + 1, members = ?4, next_at = ?5, last_run_at = ?6
         WHERE id = ?1 AND ${IS_CURRENT}`,
      )
      .bind(...current, members, nextAt, at),
  )
  const answers = await db.batch(statements)
  return (answers.at(-1)?.meta.changes ?? 0) > 0
}

const RUN = `id, uid, owner, screen_id AS "screenId", screen_name AS "screenName", slot, ran_at AS "ranAt", is_first AS "isFirst",
  counts, fresh, fresh_count AS "freshCount", language, notice`

/** The newest first. */
export async function listRuns(
  db: D1Database,
  owner: string,
  { screenId, limit, offset }: Page & { screenId: number },
): Promise<Paged<ScreenRun>> {
  const [page, count] = await db.batch<ScreenRun & { n: number }>([
    db
      .prepare(`SELECT ${RUN} FROM screen_runs WHERE owner = ? AND screen_id = ? ORDER BY id DESC LIMIT ? OFFSET ?`)
      .bind(owner, screenId, limit, offset),
    db.prepare('SELECT COUNT(*) AS n FROM screen_runs WHERE owner = ? AND screen_id = ?').bind(owner, screenId),
  ])
  return { items: page?.results ?? [], total: count?.results[0]?.n ?? 0 }
}

/** Runs that were not sent to a stream yet, the oldest first. */
export async function runsToStream(db: D1Database, limit: number): Promise<ScreenRun[]> {
  const query = `SELECT ${RUN} FROM screen_runs WHERE streamed = 0 ORDER BY id LIMIT ?`
  return (await db.prepare(query).bind(limit).all<ScreenRun>()).results
}

export async function noteRunsStreamed(db: D1Database, ids: readonly number[]): Promise<void> {
  await db
    .prepare('UPDATE screen_runs SET streamed = 1 WHERE id IN (SELECT value FROM json_each(?))')
    .bind(JSON.stringify(ids))
    .run()
}

// Which owners use screening.

const HOUR_MS = 3_600_000

/** Notes that the owner uses screening, and if given, whether the analysis page shows it. */
export async function noteScreening(
  db: D1Database,
  owner: string,
  { now, isShown = null }: { now: number; isShown?: boolean | null },
): Promise<void> {
  await screeningStatement(db, owner, { now, isShown }).run()
}

export function screeningStatement(
  db: D1Database,
  owner: string,
  { now, isShown }: { now: number; isShown: boolean | null },
): D1PreparedStatement {
  return (
    db
      .prepare(
        `INSERT INTO screening_owners (owner, is_shown, used_at) VALUES (?1, COALESCE(?2, 0), ?3)
       ON CONFLICT (owner) DO UPDATE SET is_shown = COALESCE(?2, is_shown), used_at = excluded.used_at
       WHERE ?2 IS NOT NULL OR used_at < ?4`,
      )
      // At most one write an hour, because a screen is otherwise read-only.
      .bind(owner, isShown === null ? null : isShown ? 1 : 0, now, now - HOUR_MS)
  )
}

export async function isScreeningShown(db: D1Database, owner: string): Promise<boolean> {
  const query = 'SELECT is_shown FROM screening_owners WHERE owner = ?'
  return (await db.prepare(query).bind(owner).first<number>('is_shown')) === 1
}

/** Whether anybody has used screening since then, or a saved screen has a schedule. */
export async function isAnybodyScreening(db: D1Database, since: number): Promise<boolean> {
  const query = `SELECT EXISTS (SELECT 1 FROM screening_owners WHERE used_at >= ?)
    OR EXISTS (SELECT 1 FROM saved_screens WHERE enabled = 1 AND next_at IS NOT NULL) AS found`
  return (await db.prepare(query).bind(since).first<number>('found')) === 1
}

/** A run of the existing analysis page with its answer. */
export type PageScreening = { id: string; strategy: string; market: string; result: string; createdAt: number }

const MOST_KEPT = 20

export async function savePageScreening(db: D1Database, owner: string, run: PageScreening): Promise<void> {
  const { id, strategy, market, result, createdAt } = run
  await db.batch([
    db
      .prepare(
        'INSERT INTO page_screenings (id, owner, strategy, market, result, created_at) VALUES (?, ?, ?, ?, ?, ?)',
      )
      .bind(id, owner, strategy, market, result, createdAt),
    db
      .prepare(
        `DELETE FROM page_screenings WHERE owner = ?1 AND id NOT IN (SELECT id FROM page_screenings WHERE owner = ?1
           ORDER BY created_at DESC, id LIMIT ?2)`,
      )
      .bind(owner, MOST_KEPT),
  ])
}

export async function findPageScreening(db: D1Database, owner: string, id: string): Promise<PageScreening | null> {
  const query = `SELECT id, strategy, market, result, created_at AS "createdAt" FROM page_screenings WHERE owner = ? AND id = ?`
  return await db.prepare(query).bind(owner, id).first<PageScreening>()
}

/** Deletes runs that are older than `before`: of the page, and of the schedule. */
export async function pruneScreenings(db: D1Database, before: { runs: number; pages: number }): Promise<number> {
  const answers = await db.batch([
    db.prepare('DELETE FROM page_screenings WHERE created_at < ?').bind(before.pages),
    db.prepare('DELETE FROM screen_runs WHERE ran_at < ?').bind(isoMicros(before.runs)),
  ])
  return answers.reduce((sum, { meta }) => sum + meta.changes, 0)
}
