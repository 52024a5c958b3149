// Signed tokens: `<prefix>_<payload>.<signature>`, both parts base64url, HMAC-SHA-256 under a key derived from
// SECRETS_KEY for this purpose alone. They carry no secret and are stored nowhere; each is bound to the API key that
// obtained it and dies with it. Of a cookie's session that was ended, its id is kept beside the key.

import { createHmac, hkdfSync } from 'node:crypto'
import { z } from 'zod'
import { constantTimeEqual, fromBase64, toBase64Url } from '../lib/crypto.ts'

const encoder = new TextEncoder()
const KEY_BYTES = 32

const ConversationToken = z.object({ owner: z.string(), conversation: z.string(), key: z.string(), until: z.number() })
/** Opens one conversation of one owner. `until` is epoch ms. */
export type ConversationToken = z.infer<typeof ConversationToken>

const SessionToken = z.object({ key: z.string(), session: z.string(), until: z.number() })
/** The console's cookie: stands for an API key until its session is ended. `until` is epoch ms. */
export type SessionToken = z.infer<typeof SessionToken>

const KINDS = { bwc: ConversationToken, bws: SessionToken } as const
type Kind = keyof typeof KINDS

const signingKeys = new Map<string, Uint8Array>()

/** A page of conversations takes a token for each, which is why nothing here is a promise. */
export function signToken<K extends Kind>(secretsKey: string, kind: K, payload: z.infer<(typeof KINDS)[K]>): string {
  const text = `${kind}_${toBase64Url(encoder.encode(JSON.stringify(payload)))}`
  return `${text}.${signature(secretsKey, text)}`
}

/** The payload, or null when the token is of another kind, forged, malformed or past its time. */
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
  // One of an earlier version may lack what is asked for today.
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
