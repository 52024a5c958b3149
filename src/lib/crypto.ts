// Encodings, hashes, and values that must be encrypted in a database.

import { Buffer } from 'node:buffer'
import { timingSafeEqual } from 'node:crypto'

const encoder = new TextEncoder()

export function toBase64Url(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64url')
}

/** The bytes, or null when the text is not base64url (or base64). */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0))
  } catch {
    // atob throws for any character outside the alphabet; the caller wants a value, not an exception.
    return null
  }
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}

export function randomToken(byteLength: number): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(byteLength)))
}

export async function sha256Hex(text: string): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(text))))
}

/** Equality whose time depends only on the lengths. */
export function constantTimeEqual(a: string, b: string): boolean {
  const [left, right] = [encoder.encode(a), encoder.encode(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** 32 lower-case hex digits: a random UUID without its hyphens. */
export function hexId(): string {
  return crypto.randomUUID().replaceAll('-', '')
}

// Rows in a hash chain: changing, removing or moving one row changes every hash after it.

/** The hash before the first row. */
export const FIRST_HASH = '0'.repeat(64)

export type Link = { place: number; content: string; previousHash: string; hash: string }

export const linkHash = (previousHash: string, content: string): Promise<string> =>
  sha256Hex(`${previousHash}\n${content}`)

/** The position of the first row that does not fit the chain; null when all do. `before` is the hash that the first
 * row must contain, `isSound` checks a further condition of a row. */
export async function brokenAt<Row extends Link>(
  links: readonly Row[],
  { place: first, hash: before }: { place: number; hash: string } = { place: 1, hash: FIRST_HASH },
  isSound: (row: Row) => boolean = () => true,
): Promise<number | null> {
  let [place, previous] = [first, before]
  for (const link of links) {
    const isBound = link.place === place && link.previousHash === previous && isSound(link)
    if (!isBound || link.hash !== (await linkHash(link.previousHash, link.content))) return place
    previous = link.hash
    place += 1
  }
  return null
}

// Values that must be encrypted in a database: AES-GCM with a key derived from a root key for this purpose. A sealed
// text is bound to a context (its owner and name): in another row it cannot be decrypted. It contains the id of its
// key. So after a change of keys the old key still decrypts it, and an unknown key is distinguished from tampering.

/** Root keys of 32 bytes in base64. */
export type SealKeys = { current: string; previous: string | null }

export type Unsealed =
  | { ok: true; text: string /** Sealed under the previous key. */; isStale: boolean }
  | { ok: false; reason: 'malformed' | 'unknown_key' | 'tampered' }

type DerivedKey = { id: string; key: CryptoKey }

const SEALED = /^v1\.([0-9a-f]{8})\.([A-Za-z0-9_-]+)$/
const IV_BYTES = 12
const KEY_ID_BYTES = 4

// Resolved keys, not promises: a promise belongs to the request that created it.
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

/** The id of a root key: the second part of a sealed text. */
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
    // A byte order mark at the beginning is part of the text.
    return new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(plain)
  } catch {
    // Decryption only throws when the bytes or their context are not what was sealed.
    return null
  }
}

const aesGcm = (iv: Uint8Array, context: readonly string[]) => ({
  name: 'AES-GCM',
  iv,
  // As JSON, so that no two contexts have the same bytes.
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
