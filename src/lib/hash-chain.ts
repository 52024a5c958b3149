// Rows that are each bound to the one before: whoever changes, drops or moves one changes every hash after it.

import { sha256Hex } from './crypto.ts'

/** What stands before the first row. */
export const FIRST_HASH = '0'.repeat(64)

export type Link = { place: number; content: string; previousHash: string; hash: string }

export const linkHash = (previousHash: string, content: string): Promise<string> =>
  sha256Hex(`${previousHash}\n${content}`)

/** The place of the first row that does not fit; null where all do. `before` is the hash that the first one must name. */
export async function brokenAt(
  links: readonly Link[],
  { place: first, hash: before }: { place: number; hash: string } = { place: 1, hash: FIRST_HASH },
): Promise<number | null> {
  let [place, previous] = [first, before]
  for (const link of links) {
    const isBound = link.place === place && link.previousHash === previous
    if (!isBound || link.hash !== (await linkHash(link.previousHash, link.content))) return place
    previous = link.hash
    place += 1
  }
  return null
}
