// Signed tokens: `<prefix>_<payload>.<signature>`, both parts base64url, HMAC-SHA-256 under a key derived from
// SECRETS_KEY for this purpose alone. They carry no secret and need no storage; each is bound to the API key that
// obtained it and dies with it.

import { z } from 'zod'
import { constantTimeEqual, fromBase64, toBase64Url } from '../lib/crypto.ts'

const encoder = new TextEncoder()

const ConversationToken = z.object({ owner: z.string(), conversation: z.string(), key: z.string(), until: z.number() })
/** Opens one conversation of one owner. `until` is epoch ms. */
export type ConversationToken = z.infer<typeof ConversationToken>

const SessionToken = z.object({ key: z.string(), until: z.number() })
/** The console's cookie: stands for an API key. `until` is epoch ms. */
export type SessionToken = z.infer<typeof SessionToken>

const KINDS = { bwc: ConversationToken, bws: SessionToken } as const
type Kind = keyof typeof KINDS

// Finished keys, not promises of them: a promise belongs to the request that made it.
const signingKeys = new Map<string, CryptoKey>()

export async function signToken<K extends Kind>(
  secretsKey: string,
  kind: K,
  payload: z.infer<(typeof KINDS)[K]>,
): Promise<string> {
  const text = `${kind}_${toBase64Url(encoder.encode(JSON.stringify(payload)))}`
  return `${text}.${await signature(secretsKey, text)}`
}

/** The payload, or null when the token is of another kind, forged, malformed or past its time. */
export async function readToken<K extends Kind>(
  secretsKey: string,
  kind: K,
  token: string,
): Promise<z.infer<(typeof KINDS)[K]> | null> {
  const [, signed, text, given] = /^(([a-z]{3})_[A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{43})$/.exec(token) ?? []
  if (signed === undefined || text !== kind || given === undefined) return null
  if (!constantTimeEqual(await signature(secretsKey, signed), given)) return null
  const bytes = fromBase64(signed.slice(4))
  if (bytes === null) return null
  const payload = KINDS[kind].parse(JSON.parse(new TextDecoder().decode(bytes)))
  return payload.until > Date.now() ? (payload as z.infer<(typeof KINDS)[K]>) : null
}

async function signature(secretsKey: string, text: string): Promise<string> {
  const key = signingKeys.get(secretsKey) ?? (await deriveKey(secretsKey))
  signingKeys.set(secretsKey, key)
  return toBase64Url(new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(text))))
}

async function deriveKey(secretsKey: string): Promise<CryptoKey> {
  const bytes = fromBase64(secretsKey)
  if (bytes === null) throw new Error('SECRETS_KEY is not base64')
  const root = await crypto.subtle.importKey('raw', bytes, 'HKDF', false, ['deriveKey'])
  const info = encoder.encode('bellwether signed tokens v1')
  const hmac = { name: 'HMAC', hash: 'SHA-256', length: 256 }
  return crypto.subtle.deriveKey({ name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info }, root, hmac, false, [
    'sign',
  ])
}
