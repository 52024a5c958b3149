// API keys as they travel: `bw_<id>_<secret>`. The id finds the row, the secret is compared by its hash. Each isolate
// remembers what it checked for a few seconds, so that most requests cost one look into a map.

import { type ApiKey, findKey } from '../db/keys.ts'
import { constantTimeEqual, randomToken, sha256Hex } from '../lib/crypto.ts'

const KEY = /^bw_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/
const MAX_REMEMBERED = 10_000

type Remembered = { key: ApiKey | null; at: number }

const byId = new Map<string, Remembered>()
/** Full key texts whose secret was found right, and the id that they belong to. */
const verified = new Map<string, string>()

/** A new key: its id, the text that its owner gets to see once, and the hash that is stored. */
export async function makeKey(): Promise<{ id: string; text: string; secretHash: string }> {
  const id = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )
  const secret = randomToken(32)
  return { id, text: `bw_${id}_${secret}`, secretHash: await sha256Hex(secret) }
}

/** The key that a text stands for, or null when it is malformed, unknown, revoked or expired. */
export async function checkKey(env: Env, text: string, cacheMs: number): Promise<ApiKey | null> {
  const [, id, secret] = KEY.exec(text) ?? []
  if (id === undefined || secret === undefined) return null
  const key = await keyInForce(env, id, cacheMs)
  if (key === null) return null
  if (verified.get(text) === id) return key
  if (!constantTimeEqual(await sha256Hex(secret), key.secretHash)) return null
  if (verified.size >= MAX_REMEMBERED) verified.clear()
  verified.set(text, id)
  return key
}

/** The key of an id, or null when it is unknown, revoked or expired. Reads D1 unless it did within `cacheMs`. */
export async function keyInForce(env: Env, id: string, cacheMs: number): Promise<ApiKey | null> {
  const now = Date.now()
  let entry = byId.get(id)
  if (entry === undefined || now - entry.at >= cacheMs) {
    if (byId.size >= MAX_REMEMBERED) byId.clear()
    entry = { key: await findKey(env.DB, id), at: now }
    byId.set(id, entry)
  }
  const { key } = entry
  if (key === null || key.revokedAt !== null) return null
  return key.expiresAt !== null && Date.parse(key.expiresAt) <= now ? null : key
}

/** Drops what this isolate remembers of a key, so that its revocation holds here at once. */
export function forgetKey(id: string): void {
  byId.delete(id)
}
