// An owner's settings. Each field is a row of its own: changes of different fields never conflict, and of two changes
// of one field the later one wins.

import { z } from 'zod'
import { isoMicros } from '../lib/clock.ts'
import { auditIfChanged } from './audit.ts'
import { openValues, type SealedValue, sealValue } from './sealed.ts'

const RemoteServer = z.object({ url: z.string(), apiKey: z.string().nullable() })

export const McpServers = z.object({
  sse: z.array(RemoteServer),
  shttp: z.array(RemoteServer),
  stdio: z.array(
    z.object({
      name: z.string(),
      command: z.string(),
      args: z.array(z.string()),
      env: z.record(z.string(), z.string()),
    }),
  ),
})
/** Tool servers that an owner configured. They may contain keys. */
export type McpServers = z.infer<typeof McpServers>

const text = z.string().nullable().default(null)
const number = z.number().nullable().default(null)
const flag = z.boolean().nullable().default(null)

/** Null where nothing was set; the code that uses the field knows its default. */
export const Settings = z.object({
  language: text,
  agent: text,
  maxIterations: number,
  securityAnalyzer: text,
  confirmationMode: flag,
  llmModel: text,
  llmApiKey: text,
  llmBaseUrl: text,
  remoteRuntimeResourceFactor: number,
  enableDefaultCondenser: z.boolean().default(true),
  enableSoundNotifications: z.boolean().default(false),
  enableProactiveConversationStarters: z.boolean().default(true),
  enableSolvabilityAnalysis: z.boolean().default(true),
  userConsentsToAnalytics: flag,
  sandboxBaseContainerImage: text,
  sandboxRuntimeContainerImage: text,
  mcpServers: McpServers.nullable().default(null),
  searchApiKey: text,
  sandboxApiKey: text,
  maxBudgetPerTask: number,
  email: text,
  emailVerified: flag,
  gitUserName: text,
  gitUserEmail: text,
  /** Where commands of new conversations run, and the labels that their runner must have. */
  runtime: text,
  runnerLabels: z.array(z.string()).nullable().default(null),
  /** Names of files and folders that stay on the runner of a new conversation. */
  runnerUnsynced: z.array(z.string()).nullable().default(null),
  /** The owner's limits for model costs in a day and a month (UTC); null for none. */
  budgetDayUsd: number,
  budgetDayTokens: number,
  budgetMonthUsd: number,
  budgetMonthTokens: number,
})
export type Settings = z.infer<typeof Settings>
export type SettingName = keyof Settings

const SEALED: ReadonlySet<string> = new Set<SettingName>(['llmApiKey', 'searchApiKey', 'sandboxApiKey', 'mcpServers'])

/** Whether the change names a field whose values are masked. An address can contain a password, so it counts, too. */
export const touchesSecrets = (change: SettingsChange): boolean =>
  Object.keys(change).some((field) => SEALED.has(field) || field === 'llmBaseUrl')

/** Whether the stored value of a field is sealed, or an address with a password in it. */
export function isSecretSetting(field: string, value: string | number | null): boolean {
  if (SEALED.has(field)) return true
  return typeof value === 'string' && /:\/\/[^/]*@/.test(value)
}

/** Not a setting: the row that says that settings were stored, and when last. */
const STORED_AT = 'storedAt'

/** Null resets a field to its default; fields that are not named keep their values. */
export type SettingsChange = { [Name in SettingName]?: Settings[Name] | null }

export type OwnerSettings =
  /** `isStored` is false until the owner's first change. */
  | { ok: true; settings: Settings; isStored: boolean }
  /**
   * Fields that were changed in the database, or encrypted with an unknown key. `others`: the other fields, which must
   * be masked in any case.
   */
  | { ok: false; unreadable: string[]; others: Settings }

/** The owner's settings with decrypted secrets. */
export async function ownerSettings(env: Env, owner: string): Promise<OwnerSettings> {
  const { results } = await settingsQuery(env.DB, owner).all<SettingRow>()
  return readSettings(env, owner, results)
}

export type SettingRow = { field: string; value: string | null }

/** For callers that read more in the same batch; they pass the rows to `readSettings`. */
export function settingsQuery(db: D1Database, owner: string): D1PreparedStatement {
  return db.prepare('SELECT field, value FROM settings WHERE owner = ?').bind(owner)
}

export async function readSettings(env: Env, owner: string, rows: readonly SettingRow[]): Promise<OwnerSettings> {
  const sealed: SealedValue[] = []
  const values: Record<string, unknown> = {}
  for (const { field, value } of rows) {
    if (value === null) continue
    if (SEALED.has(field)) sealed.push({ kind: 'setting', owner, name: field, sealed: value })
    else values[field] = JSON.parse(value)
  }
  const { texts, unreadable, stale } = await openValues(env, sealed)
  for (const [field, json] of texts) values[field] = JSON.parse(json)
  if (unreadable.length > 0) return { ok: false, unreadable: unreadable.sort(), others: Settings.parse(values) }
  if (stale.length > 0) await env.DB.batch(stale.map((value) => reseal(env.DB, value)))
  return { ok: true, settings: Settings.parse(values), isStored: STORED_AT in values }
}

/** Does nothing if another request wrote the field since it was read. */
function reseal(db: D1Database, { owner, name, sealed, resealed }: SealedValue & { resealed: string }) {
  return db
    .prepare('UPDATE settings SET value = ?1 WHERE owner = ?2 AND field = ?3 AND value = ?4')
    .bind(resealed, owner, name, sealed)
}

/**
 * Stores the change, even an empty one: an owner who confirmed the defaults counts as having settings, except for
 * changes of a separate part.
 */
export async function changeSettings(env: Env, changed: ChangedSettings): Promise<void> {
  await env.DB.batch(await settingsStatements(env, changed))
}

type ChangedSettings = { owner: string; actor: string; change: SettingsChange; isPartApart?: boolean }

/** The same as statements, for a batch with further changes. */
export async function settingsStatements(
  env: Env,
  { owner, actor, change, isPartApart = false }: ChangedSettings,
): Promise<D1PreparedStatement[]> {
  const values: Record<string, string | null> = isPartApart
    ? {}
    : { [STORED_AT]: JSON.stringify(isoMicros(Date.now())) }
  for (const [field, value] of Object.entries(change)) values[field] = await stored(env, { owner, field, value })
  return [
    env.DB.prepare(
      `INSERT INTO settings (owner, field, value) SELECT ?1, key, value FROM json_each(?2) WHERE true
       ON CONFLICT (owner, field) DO UPDATE SET value = excluded.value`,
    ).bind(owner, JSON.stringify(values)),
    auditIfChanged(env.DB, {
      owner,
      actor,
      action: 'settings.changed',
      subject: null,
      fields: Object.keys(change),
    }),
  ]
}

async function stored(env: Env, { owner, field, value }: { owner: string; field: string; value: unknown }) {
  if (value === null || value === undefined) return null
  const json = JSON.stringify(value)
  return SEALED.has(field) ? sealValue(env, json, { kind: 'setting', owner, name: field }) : json
}
