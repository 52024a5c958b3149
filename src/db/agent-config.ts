// The configuration of an owner's agent from all tables, in one batch of queries, because it is read before every
// answer of a model.

import { auditIfChanged } from './audit.ts'
import { type OwnerTokens, readTokens, type TokenRow, tokensQuery } from './provider-tokens.ts'
import { type OwnerSecrets, readSecrets, type Secret, secretsQuery } from './secrets.ts'
import { type OwnerSettings, readSettings, type SettingRow, settingsQuery } from './settings.ts'

export type AgentConfig = {
  settings: OwnerSettings
  secrets: OwnerSecrets
  tokens: OwnerTokens
  /** The risk level from which an action waits for the owner; null when none was chosen. */
  riskSeverity: number | null
}

/** Throws when the database is unavailable. */
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

// What an owner chose in the security dialog. D1 is the source of truth.

/** Null where the owner chose nothing. */
export type SecurityPreference = { policy: string | null; riskSeverity: number | null }

export async function findSecurityPreference(db: D1Database, owner: string): Promise<SecurityPreference> {
  const row = await preferenceQuery(db, owner).first<SecurityPreference>()
  return row ?? { policy: null, riskSeverity: null }
}

/** At most one row; for callers that read more in the same batch. */
function preferenceQuery(db: D1Database, owner: string): D1PreparedStatement {
  return db
    .prepare('SELECT policy, risk_severity AS "riskSeverity" FROM security_preferences WHERE owner = ?')
    .bind(owner)
}

type PolicyEditor = { owner: string; actor: string }

/** Null restores the built-in text. */
export async function savePolicy(
  db: D1Database,
  { owner, actor, policy }: PolicyEditor & { policy: string | null },
): Promise<void> {
  await db.batch([
    db
      .prepare(
        'INSERT INTO security_preferences (owner, policy) VALUES (?1, ?2) ON CONFLICT (owner) DO UPDATE SET policy = ?2',
      )
      .bind(owner, policy),
    auditIfChanged(db, { owner, actor, action: 'security.policy_changed', subject: null }),
  ])
}

export async function saveRiskSeverity(
  db: D1Database,
  { owner, actor, riskSeverity }: PolicyEditor & { riskSeverity: number },
): Promise<void> {
  await db.batch([
    db
      .prepare(
        `INSERT INTO security_preferences (owner, risk_severity) VALUES (?1, ?2)
         ON CONFLICT (owner) DO UPDATE SET risk_severity = ?2`,
      )
      .bind(owner, riskSeverity),
    auditIfChanged(db, { owner, actor, action: 'security.level_changed', subject: null }),
  ])
}
