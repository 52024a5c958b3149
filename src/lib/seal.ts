// Values that must not lie readable in a database: AES-GCM under a key derived from a root key for this purpose alone.
// A sealed text is bound to a context (whose it is, and what): moved to another row it does not open. It names the key
// that sealed it, so that after a change of keys the old one still opens it and a third one is told from tampering.

import { fromBase64, toBase64Url, toHex } from './crypto.ts'

/** Root keys of 32 bytes in base64. */
export type SealKeys = { current: string; previous: string | null }

export type Unsealed =
  | { ok: true; text: string /** Sealed under the previous key. */; isStale: boolean }
  | { ok: false; reason: 'malformed' | 'unknown_key' | 'tampered' }

type DerivedKey = { id: string; key: CryptoKey }

const SEALED = /^v1\.([0-9a-f]{8})\.([A-Za-z0-9_-]+)$/
const IV_BYTES = 12
const KEY_ID_BYTES = 4

const encoder = new TextEncoder()
// Finished keys, not promises of them: a promise belongs to the request that made it.
const derived = new Map<string, DerivedKey>()

/** The text as `v1.<key id>.<iv and ciphertext>`. */
export async function seal(keys: SealKeys, text: string, context: readonly string[]): Promise<string> {
  const { id, key } = await derivedKey(keys.current)
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
  const ciphertext = new Uint8Array(await crypto.subtle.encrypt(aesGcm(iv, context), key, encoder.encode(text)))
  const bytes = new Uint8Array(IV_BYTES + ciphertext.length)
  bytes.set(iv)
  bytes.set(ciphertext, IV_BYTES)
  return `v1.${id}.${toBase64Url(bytes)}`
}

export async function unseal(keys: SealKeys, sealed: string, context: readonly string[]): Promise<Unsealed> {
  const [, id, body] = SEALED.exec(sealed) ?? []
  const bytes = body === undefined ? null : fromBase64(body)
  if (id === undefined || bytes === null || bytes.length <= IV_BYTES) return { ok: false, reason: 'malformed' }
  for (const root of [keys.current, keys.previous]) {
    if (root === null) continue
    const candidate = await derivedKey(root)
    if (candidate.id !== id) continue
    const text = await decrypted(candidate.key, bytes, context)
    return text === null ? { ok: false, reason: 'tampered' } : { ok: true, text, isStale: root !== keys.current }
  }
  return { ok: false, reason: 'unknown_key' }
}

/** The name that a root key gives to what it seals: the second part of a sealed text. */
export async function sealKeyId(root: string): Promise<string> {
  return (await derivedKey(root)).id
}

async function decrypted(
  key: CryptoKey,
  bytes: Uint8Array<ArrayBuffer>,
  context: readonly string[],
): Promise<string | null> {
  try {
    const plain = await crypto.subtle.decrypt(
      aesGcm(bytes.subarray(0, IV_BYTES), context),
      key,
      bytes.subarray(IV_BYTES),
    )
    // A mark at the beginning is part of the text.
    return new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(plain)
  } catch {
    // The one thing that decryption throws for: the bytes or their context are not what was sealed.
    return null
  }
}

const aesGcm = (iv: Uint8Array, context: readonly string[]) => ({
  name: 'AES-GCM',
  iv,
  // As JSON, so that no two contexts read alike.
  additionalData: encoder.encode(JSON.stringify(['v1', ...context])),
})

async function derivedKey(root: string): Promise<DerivedKey> {
  const known = derived.get(root)
  if (known !== undefined) return known
  const made = await deriveKey(root)
  derived.set(root, made)
  return made
}

async function deriveKey(root: string): Promise<DerivedKey> {
  const bytes = fromBase64(root)
  if (bytes === null) throw new Error('a sealing key is not base64')
  const material = await crypto.subtle.importKey('raw', bytes, 'HKDF', false, ['deriveKey', 'deriveBits'])
  const purpose = (info: string) => ({
    name: 'HKDF',
    hash: 'SHA-256',
    salt: new Uint8Array(),
    info: encoder.encode(info),
  })
  const [key, idBits] = await Promise.all([
    crypto.subtle.deriveKey(purpose('bellwether sealed values v1'), material, { name: 'AES-GCM', length: 256 }, false, [
      'encrypt',
      'decrypt',
    ]),
    crypto.subtle.deriveBits(purpose('bellwether sealed values key id v1'), material, KEY_ID_BYTES * 8),
  ])
  return { id: toHex(new Uint8Array(idBits)), key }
}
