// The configuration of an owner's agent from all tables, in one batch of queries: it is read before every answer of a model.

import { type OwnerTokens, readTokens, type TokenRow, tokensQuery } from './provider-tokens.ts'
import { type OwnerSecrets, readSecrets, type Secret, secretsQuery } from './secrets.ts'
import { preferenceQuery, type SecurityPreference } from './security.ts'
import { type OwnerSettings, readSettings, type SettingRow, settingsQuery } from './settings.ts'

export type AgentConfig = {
  settings: OwnerSettings
  secrets: OwnerSecrets
  tokens: OwnerTokens
  /** The level from which an action waits for the owner; null where none was chosen. */
  riskSeverity: number | null
}

/** Throws when the database is away. */
export async function agentConfig(env: Env, owner: string): Promise<AgentConfig> {
  const { DB } = env
  const [settings, secrets, tokens, preference] = await DB.batch([
    settingsQuery(DB, owner),
    secretsQuery(DB, owner),
    tokensQuery(DB, owner),
    preferenceQuery(DB, owner),
  ])
  // Rows of our own queries.
  const [row] = (preference?.results ?? []) as SecurityPreference[]
  const [openSettings, openSecrets, openTokens] = await Promise.all([
    readSettings(env, owner, (settings?.results ?? []) as SettingRow[]),
    readSecrets(env, owner, (secrets?.results ?? []) as Secret[]),
    readTokens(env, owner, (tokens?.results ?? []) as TokenRow[]),
  ])
  return { settings: openSettings, secrets: openSecrets, tokens: openTokens, riskSeverity: row?.riskSeverity ?? null }
}
