// The owners' notification channels. The secret settings of a channel are sealed as one text.

import { config } from '../config.ts'
import type { Mode } from '../notify/delivery.ts'
import type { ChannelKind } from '../notify/registry.ts'
import type { Target } from '../notify/send.ts'
import { auditIfChanged } from './audit.ts'
import { openValues, type SealedKey, type SealedValue, sealValue } from './sealed.ts'
import type { SecretEditor } from './secrets.ts'

type Settings = Record<string, unknown>

export type ChannelRow = {
  id: string
  kind: ChannelKind
  mode: Mode
  isEnabled: boolean
  /** The settings that may be shown. */
  shown: Settings
  /** The secret settings; null when they were changed in the database, or sealed under an unknown key. */
  secret: Settings | null
  createdAt: string
  updatedAt: string
}

type Raw = Omit<ChannelRow, 'isEnabled' | 'shown' | 'secret'> & { enabled: number; settings: string; sealed: string }

const COLUMNS = 'id, kind, mode, enabled, settings, sealed, created_at AS "createdAt", updated_at AS "updatedAt"'

const place = (owner: string, name: string): SealedKey => ({ kind: 'channel', owner, name })

/** The owner's channels, ordered by id, with their secrets decrypted. */
export async function listChannels(env: Env, owner: string): Promise<ChannelRow[]> {
  const query = `SELECT ${COLUMNS} FROM notification_channels WHERE owner = ? ORDER BY id`
  return opened(env, owner, (await env.DB.prepare(query).bind(owner).all<Raw>()).results)
}

export async function findChannel(env: Env, owner: string, id: string): Promise<ChannelRow | null> {
  const query = `SELECT ${COLUMNS} FROM notification_channels WHERE owner = ? AND id = ?`
  const raw = await env.DB.prepare(query).bind(owner, id).first<Raw>()
  return raw && ((await opened(env, owner, [raw]))[0] ?? null)
}

async function opened(env: Env, owner: string, raws: readonly Raw[]): Promise<ChannelRow[]> {
  const { texts, stale } = await openValues(
    env,
    raws.map(({ id, sealed }) => ({ ...place(owner, id), sealed })),
  )
  if (stale.length > 0) await env.DB.batch(stale.map((value) => reseal(env.DB, value)))
  return raws.map(({ enabled, settings, sealed: _, ...row }) => {
    const text = texts.get(row.id)
    return {
      ...row,
      isEnabled: enabled === 1,
      shown: JSON.parse(settings) as Settings,
      secret: text === undefined ? null : (JSON.parse(text) as Settings),
    }
  })
}

function reseal(db: D1Database, { owner, name, sealed, resealed }: SealedValue & { resealed: string }) {
  return db
    .prepare('UPDATE notification_channels SET sealed = ?1 WHERE owner = ?2 AND id = ?3 AND sealed = ?4')
    .bind(resealed, owner, name, sealed)
}

type ChannelWrite = Pick<ChannelRow, 'id' | 'kind' | 'mode' | 'isEnabled' | 'shown'> & {
  secret: Settings
  now: string
  /** The most channels that an owner may have. */
  most: number
}

/** Creates or replaces the channel, and returns it as it was written. Null when there would be too many. */
export async function saveChannel(env: Env, by: SecretEditor, channel: ChannelWrite): Promise<ChannelRow | null> {
  const { now: updatedAt, most: _, ...row } = channel
  const [written] = await env.DB.batch<{ createdAt: string }>(await channelStatements(env, by, channel))
  const createdAt = written?.results[0]?.createdAt
  return createdAt === undefined ? null : { ...row, createdAt, updatedAt }
}

/** The same as statements, for a batch with several changes. */
export async function channelStatements(
  env: Env,
  { owner, actor }: SecretEditor,
  channel: ChannelWrite,
): Promise<D1PreparedStatement[]> {
  const { id, kind, mode, isEnabled, shown, secret, now, most } = channel
  const sealed = await sealValue(env, JSON.stringify(secret), place(owner, id))
  return [
    env.DB.prepare(
      `INSERT INTO notification_channels (owner, id, kind, mode, enabled, settings, sealed, created_at, updated_at)
       SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8
       WHERE (SELECT count(*) FROM notification_channels WHERE owner = ?1 AND id <> ?2) < ?9
       ON CONFLICT (owner, id) DO UPDATE SET kind = excluded.kind, mode = excluded.mode, enabled = excluded.enabled,
         settings = excluded.settings, sealed = excluded.sealed, updated_at = excluded.updated_at
       RETURNING created_at AS "createdAt"`,
    ).bind(owner, id, kind, mode, isEnabled ? 1 : 0, JSON.stringify(shown), sealed, now, most),
    auditIfChanged(env.DB, { owner, actor, action: 'channel.saved', subject: id }),
  ]
}

/** False when there is no such channel. */
export async function deleteChannel(env: Env, by: SecretEditor, id: string): Promise<boolean> {
  const [deleted] = await env.DB.batch(channelRemoval(env.DB, by, id))
  return (deleted?.meta.changes ?? 0) > 0
}

export function channelRemoval(db: D1Database, { owner, actor }: SecretEditor, id: string): D1PreparedStatement[] {
  return [
    db.prepare('DELETE FROM notification_channels WHERE owner = ? AND id = ?').bind(owner, id),
    auditIfChanged(db, { owner, actor, action: 'channel.deleted', subject: id }),
  ]
}

// Test messages to a channel: they are not deliveries, but the channel's service counts them.

/** Longer than the longest window of a service's rate limit. */
const KEEP_MS = 3_600_000

export async function noteChannelTest(
  db: D1Database,
  { owner, channelId, at }: { owner: string; channelId: string; at: number },
): Promise<void> {
  await db.batch([
    db
      .prepare('DELETE FROM channel_tests WHERE owner = ? AND channel_id = ? AND at < ?')
      .bind(owner, channelId, at - KEEP_MS),
    db.prepare('INSERT INTO channel_tests (owner, channel_id, at) VALUES (?, ?, ?)').bind(owner, channelId, at),
  ])
}

/** When messages were sent to the channel since then, the earliest first, including test messages. */
export async function channelStarts(
  db: D1Database,
  { owner, channelId, since }: { owner: string; channelId: string; since: number },
): Promise<number[]> {
  const query = `SELECT started_at AS "at" FROM delivery_parts
      WHERE owner = ?1 AND channel_id = ?2 AND started_at > ?3
    UNION ALL SELECT at FROM channel_tests WHERE owner = ?1 AND channel_id = ?2 AND at > ?3
    ORDER BY 1`
  const { results } = await db.prepare(query).bind(owner, channelId, since).all<{ at: number }>()
  return results.map(({ at }) => at)
}

// All channels for an owner's reports: the owner's own and, where the operator says so, those of the environment.

/** The only owner in local mode. */
const LOCAL_OWNER = 'local'

export async function notifyTargets(env: Env, owner: string): Promise<Target[]> {
  return [...(await listChannels(env, owner)).map(targetOf), ...operatorTargets(env, owner)]
}

/** The channels of the environment, for the owners that it names; in local mode for the only owner. */
export function operatorTargets(env: Env, owner: string): Target[] {
  const { authMode, notify } = config(env)
  const isNamed = notify.owners.includes(owner) || notify.owners.includes('*')
  if (!isNamed && !(authMode === 'local' && owner === LOCAL_OWNER)) return []
  return notify.channels.map((channel) => ({ ...channel, isEnabled: true, isOperators: true }))
}

export function targetOf({ id, kind, mode, isEnabled, shown, secret }: ChannelRow): Target {
  const settings = secret === null ? null : { ...shown, ...secret }
  return { id, kind, mode, isEnabled, settings, isOperators: false }
}
