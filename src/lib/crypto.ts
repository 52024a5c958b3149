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

/** Equality whose time depends on the lengths alone. */
export function constantTimeEqual(a: string, b: string): boolean {
  const [left, right] = [encoder.encode(a), encoder.encode(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** 32 lower-case hex digits: a random UUID without its hyphens. */
export function hexId(): string {
  return crypto.randomUUID().replaceAll('-', '')
}

// Rows that are each bound to the one before: whoever changes, drops or moves one changes every hash after it.

/** What stands before the first row. */
export const FIRST_HASH = '0'.repeat(64)

export type Link = { place: number; content: string; previousHash: string; hash: string }

export const linkHash = (previousHash: string, content: string): Promise<string> =>
  sha256Hex(`${previousHash}\n${content}`)

/** The place of the first row that does not fit; null where all do. `before` is the hash that the first one must name, `isSound` what
 * else must be true of a row. */
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
