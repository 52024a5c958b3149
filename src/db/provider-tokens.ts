// An owner's tokens for git providers, one for each provider.

import { auditIfChanged } from './audit.ts'
import { openValues, type SealedKey, type SealedValue, sealValue } from './sealed.ts'

export type ProviderToken = {
  provider: string
  token: string
  /** Null for the provider's own host. */
  host: string | null
  userId: string | null
}

export type OwnerTokens =
  /** In the order in which they were first stored. */
  | { ok: true; tokens: ProviderToken[] }
  /**
   * Providers whose token was changed in the database, or encrypted with an unknown key. `others`: the other tokens, to
   * be masked.
   */
  | { ok: false; unreadable: string[]; others: string[] }

export type StoredHost = { provider: string; host: string | null }

export type TokenRow = { provider: string; token: string; host: string | null; user_id: string | null }

const place = (owner: string, provider: string): SealedKey => ({ kind: 'provider_token', owner, name: provider })

/** Which providers have a token, in the stored order; for use in a batch. */
export function hostsQuery(db: D1Database, owner: string): D1PreparedStatement {
  return db.prepare('SELECT provider, host FROM provider_tokens WHERE owner = ? ORDER BY position').bind(owner)
}

/** The owner's tokens, decrypted. */
export async function ownerProviderTokens(env: Env, owner: string): Promise<OwnerTokens> {
  const { results } = await tokensQuery(env.DB, owner).all<TokenRow>()
  return readTokens(env, owner, results)
}

/** For callers that read more in the same batch; they pass the rows to `readTokens`. */
export function tokensQuery(db: D1Database, owner: string): D1PreparedStatement {
  return db
    .prepare('SELECT provider, token, host, user_id FROM provider_tokens WHERE owner = ? ORDER BY position')
    .bind(owner)
}

export async function readTokens(env: Env, owner: string, rows: readonly TokenRow[]): Promise<OwnerTokens> {
  const sealed = rows.map(({ provider, token }) => ({ ...place(owner, provider), sealed: token }))
  const { texts, unreadable, stale } = await openValues(env, sealed)
  if (unreadable.length > 0) return { ok: false, unreadable: unreadable.sort(), others: [...texts.values()] }
  if (stale.length > 0) await env.DB.batch(stale.map((value) => reseal(env.DB, value)))
  const tokens = rows.map(({ provider, host, user_id }) => ({
    provider,
    token: texts.get(provider) ?? '',
    host,
    userId: user_id,
  }))
  return { ok: true, tokens }
}

function reseal(db: D1Database, { owner, name, sealed, resealed }: SealedValue & { resealed: string }) {
  return db
    .prepare('UPDATE provider_tokens SET token = ?1 WHERE owner = ?2 AND provider = ?3 AND token = ?4')
    .bind(resealed, owner, name, sealed)
}

export type TokenChange = {
  provider: string
  /** Null keeps the stored token and only changes its host; without a stored token nothing happens. */
  token: string | null
  host: string | null
  userId: string | null
}

/** Stores all changes or none; providers that are not named are unchanged. */
export async function storeTokens(
  env: Env,
  { owner, actor, changes }: { owner: string; actor: string; changes: readonly TokenChange[] },
): Promise<void> {
  if (changes.length === 0) return
  const statements: D1PreparedStatement[] = []
  for (const change of changes) {
    statements.push(await statementOf(env, owner, change))
    statements.push(auditIfChanged(env.DB, { owner, actor, action: 'provider_token.stored', subject: change.provider }))
  }
  await env.DB.batch(statements)
}

async function statementOf(env: Env, owner: string, change: TokenChange): Promise<D1PreparedStatement> {
  const { provider, token, host, userId } = change
  if (token === null) {
    return env.DB.prepare('UPDATE provider_tokens SET host = ?3 WHERE owner = ?1 AND provider = ?2').bind(
      owner,
      provider,
      host,
    )
  }
  return env.DB.prepare(
    `INSERT INTO provider_tokens (owner, provider, token, host, user_id, position)
     VALUES (?1, ?2, ?3, ?4, ?5, (SELECT coalesce(max(position), 0) + 1 FROM provider_tokens WHERE owner = ?1))
     ON CONFLICT (owner, provider) DO UPDATE SET token = ?3, host = ?4, user_id = ?5`,
  ).bind(owner, provider, await sealValue(env, token, place(owner, provider)), host, userId)
}

/** Removes every token of the owner. */
export async function unsetTokens(env: Env, { owner, actor }: { owner: string; actor: string }): Promise<void> {
  await env.DB.batch([
    env.DB.prepare('DELETE FROM provider_tokens WHERE owner = ?').bind(owner),
    auditIfChanged(env.DB, { owner, actor, action: 'provider_tokens.unset', subject: null }),
  ])
}
