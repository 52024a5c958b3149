// API keys in the form `bw_<id>_<secret>`. The id finds the row; the secret is compared by its hash. Each isolate caches
// checked keys for a few seconds, so most requests need one map lookup.

import { createHmac, hkdfSync } from 'node:crypto'
import { z } from 'zod'
import { type ApiKey, findKey } from '../db/keys.ts'
import { constantTimeEqual, fromBase64, sha256Hex, toBase64Url } from '../lib/crypto.ts'

const KEY = /^bw_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/
const MAX_REMEMBERED = 10_000

type Remembered = { key: ApiKey | null; at: number }

const byId = new Map<string, Remembered>()
/** Key texts whose secret was found valid, with their ids. */
const verified = new Map<string, string>()

/** The key of a text, or null when it is malformed, unknown, revoked or expired. */
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

/** Like `checkKey`, if the answer is in the cache: without the database or a hash. Null says nothing. */
export function rememberedKey(text: string, cacheMs: number): ApiKey | null {
  const id = verified.get(text)
  const entry = id === undefined ? undefined : byId.get(id)
  const now = Date.now()
  return entry === undefined || isStale(entry, cacheMs, now) ? null : inForce(entry, now)
}

/** The key with that id, or null when it is unknown, revoked or expired. Reads D1 unless it did within `cacheMs`. */
export async function keyInForce(env: Env, id: string, cacheMs: number): Promise<ApiKey | null> {
  const now = Date.now()
  let entry = byId.get(id)
  if (entry === undefined || isStale(entry, cacheMs, now)) {
    if (byId.size >= MAX_REMEMBERED) byId.clear()
    entry = { key: await findKey(env.DB, id), at: now }
    byId.set(id, entry)
  }
  return inForce(entry, now)
}

/** For an owner who is being deleted the cache is not used, so that the end of the deletion is seen at once. */
const isStale = ({ key, at }: Remembered, cacheMs: number, now: number): boolean =>
  now - at >= cacheMs || key?.isLeaving === true

function inForce({ key }: Remembered, now: number): ApiKey | null {
  if (key === null || key.revokedAt !== null) return null
  return key.expiresAt !== null && Date.parse(key.expiresAt) <= now ? null : key
}

/** Removes a key from this isolate's cache, so that its revocation takes effect here at once. */
export function forgetKey(id: string): void {
  byId.delete(id)
}

// Signed tokens: `<prefix>_<payload>.<signature>`, both parts base64url, HMAC-SHA-256 with a key derived from
// SECRETS_KEY for this purpose. They contain no secret and are not stored; each is bound to the API key that obtained
// it and ends with it. When a cookie's session is ended, its id is stored with the key.

const encoder = new TextEncoder()
const KEY_BYTES = 32

/** Grants access to one conversation of one owner. `until` is epoch ms. */
const ConversationToken = z.object({ owner: z.string(), conversation: z.string(), key: z.string(), until: z.number() })

const SessionToken = z.object({ key: z.string(), session: z.string(), until: z.number() })
/** The console's cookie: stands for an API key until its session ends. `until` is epoch ms. */
export type SessionToken = z.infer<typeof SessionToken>

const KINDS = { bwc: ConversationToken, bws: SessionToken } as const
type Kind = keyof typeof KINDS

const signingKeys = new Map<string, Uint8Array>()

/** Synchronous, because a page of conversations needs a token for each. */
export function signToken<K extends Kind>(secretsKey: string, kind: K, payload: z.infer<(typeof KINDS)[K]>): string {
  const text = `${kind}_${toBase64Url(encoder.encode(JSON.stringify(payload)))}`
  return `${text}.${signature(secretsKey, text)}`
}

/** The payload, or null when the token is of another kind, forged, malformed or expired. */
export function readToken<K extends Kind>(
  secretsKey: string,
  kind: K,
  token: string,
): z.infer<(typeof KINDS)[K]> | null {
  const [, signed, text, given] = /^(([a-z]{3})_[A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{43})$/.exec(token) ?? []
  if (signed === undefined || text !== kind || given === undefined) return null
  if (!constantTimeEqual(signature(secretsKey, signed), given)) return null
  const bytes = fromBase64(signed.slice(4))
  if (bytes === null) return null
  // A token of an earlier version may lack a field that is required today.
  const { data } = KINDS[kind].safeParse(JSON.parse(new TextDecoder().decode(bytes)))
  return data !== undefined && data.until > Date.now() ? (data as z.infer<(typeof KINDS)[K]>) : null
}

function signature(secretsKey: string, text: string): string {
  const key = signingKeys.get(secretsKey) ?? deriveKey(secretsKey)
  signingKeys.set(secretsKey, key)
  return createHmac('sha256', key).update(text).digest('base64url')
}

function deriveKey(secretsKey: string): Uint8Array {
  const bytes = fromBase64(secretsKey)
  if (bytes === null) throw new Error('SECRETS_KEY is not base64')
  const info = encoder.encode('bellwether signed tokens v1')
  return new Uint8Array(hkdfSync('sha256', bytes, new Uint8Array(), info, KEY_BYTES))
}
