// A cache of the providers' answers in the isolate. Within some seconds a repeated request is answered from it. After that
// the provider is asked with the entity tag; an answer "not modified" does not count against its quota.

import { toBase64Url } from '../lib/crypto.ts'

export type KeptAnswer = { bytes: Uint8Array; link: string | null; etag: string | null; askedAt: number }

const FRESH_MS = 10_000
const KEPT_MS = 600_000
const MAX_ANSWER_BYTES = 512 * 1024
const MAX_TOTAL_BYTES = 8 * 1024 * 1024

const kept = new Map<string, KeptAnswer>()
let totalBytes = 0

/** An answer that may still be true, and whether it is young enough to be taken without asking. */
export function keptAnswer(key: string, now: number): { answer: KeptAnswer; isFresh: boolean } | null {
  const answer = kept.get(key)
  if (answer === undefined) return null
  const age = now - answer.askedAt
  if (age > KEPT_MS) {
    drop(key)
    return null
  }
  return { answer, isFresh: age < FRESH_MS }
}

/** Keeps an answer; the longest unused ones make room for it. */
export function keepAnswer(key: string, answer: KeptAnswer): void {
  drop(key)
  if (answer.bytes.byteLength > MAX_ANSWER_BYTES) return
  kept.set(key, answer)
  totalBytes += answer.bytes.byteLength
  for (const oldest of kept.keys()) {
    if (totalBytes <= MAX_TOTAL_BYTES) break
    drop(oldest)
  }
}

function drop(key: string): void {
  totalBytes -= kept.get(key)?.bytes.byteLength ?? 0
  kept.delete(key)
}

/** The key of a cached answer. It contains a digest of the token: no answer is given to another token. */
export async function answerKey(parts: readonly (string | null)[]): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(parts)))
  return toBase64Url(new Uint8Array(digest))
}
