// What an owner chose in the security dialog. D1 is the truth.

import { auditIfChanged } from './audit.ts'

/** Null where the owner chose nothing. */
export type SecurityPreference = { policy: string | null; riskSeverity: number | null }

export async function findSecurityPreference(db: D1Database, owner: string): Promise<SecurityPreference> {
  const row = await preferenceQuery(db, owner).first<SecurityPreference>()
  return row ?? { policy: null, riskSeverity: null }
}

/** At most one row; for callers that read more in the same batch. */
export function preferenceQuery(db: D1Database, owner: string): D1PreparedStatement {
  return db
    .prepare('SELECT policy, risk_severity AS "riskSeverity" FROM security_preferences WHERE owner = ?')
    .bind(owner)
}

type By = { owner: string; actor: string }

/** Null brings back the built-in text. */
export async function savePolicy(
  db: D1Database,
  { owner, actor, policy }: By & { policy: string | null },
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
  { owner, actor, riskSeverity }: By & { riskSeverity: number },
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
