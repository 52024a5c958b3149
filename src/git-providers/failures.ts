// What a failed provider is called where people read it.

import { DoorError } from '../lib/guarded-fetch.ts'
import type { UpstreamError } from '../lib/http-client.ts'

export type FailureWord =
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  | 'rate-limited'
  | 'timeout'
  | 'unreachable'
  | 'malformed'
  | 'failed'

export type Failure = { word: FailureWord; sentence: string; retryAfterMs: number | null; cause: UpstreamError }

const SENTENCES: Readonly<Record<FailureWord, string>> = {
  unauthorized: 'it does not accept the stored token',
  forbidden: 'the stored token may not do this',
  'not-found': 'it has no such thing',
  'rate-limited': 'it is asked too often just now',
  timeout: 'it did not answer in time',
  unreachable: 'it cannot be reached',
  malformed: 'it answered something that cannot be read',
  failed: 'it failed',
}

export function failureOf(error: UpstreamError): Failure {
  const word = wordOf(error)
  const { cause, status } = error
  const refused = cause instanceof DoorError && cause.reason === 'refused' ? cause.message : null
  const sentence = refused ?? (word === 'failed' && status !== null ? `it answered HTTP ${status}` : SENTENCES[word])
  return { word, sentence, retryAfterMs: error.retryAfterMs, cause: error }
}

function wordOf({ reason, status, cause }: UpstreamError): FailureWord {
  if (status === 401) return 'unauthorized'
  if (status === 403) return 'forbidden'
  if (status === 404) return 'not-found'
  if (reason === 'rate_limited') return 'rate-limited'
  if (reason === 'timeout' || status === 504 || (cause instanceof DoorError && cause.reason === 'timeout'))
    return 'timeout'
  if (reason === 'malformed' || reason === 'too_large' || reason === 'not_json') return 'malformed'
  if (cause instanceof DoorError && cause.reason === 'too-large') return 'malformed'
  return status === null ? 'unreachable' : 'failed'
}
