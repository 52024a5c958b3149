// The header `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header): a client that did not receive the answer sends
// the same request again and gets the result of the first one. Calls that start an analysis read it with `keyedRequest`; an
// added event has its own rule.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { sha256Hex } from '../lib/crypto.ts'
import type { AppEnv } from './app-env.ts'
import { AppError } from './errors.ts'

const HEADER = 'Idempotency-Key'

/** A quoted string as in the draft, or the same without quotes. */
export const idempotencyHeaders = z.object({
  [HEADER]: z
    .string()
    .regex(/^(?:"[!#-~ ]{1,255}"|[!#-~]{1,255})$/)
    .optional()
    .describe(
      'A text of your choice, at most 255 characters, that names this request for 24 hours: the same request under it is answered ' +
        'as the first one was and begins nothing again; another body under it is a 422',
    ),
})

/** The key of a request and a digest of its validated body; null without a key. */
export async function keyedRequest(c: Context<AppEnv>, body: unknown) {
  const text = c.req.header(HEADER)
  if (text === undefined) return null
  const key = text.replace(/^"(.*)"$/, '$1')
  return { key, digest: await sha256Hex(JSON.stringify([c.req.path, body])) }
}

/** 422: the key was used for a different request. */
export function otherRequest(c: Context<AppEnv>, message: string): AppError {
  const input = c.req.header(HEADER) ?? null
  return new AppError('unprocessable', message, {
    items: [{ type: 'idempotency_key_reused', loc: ['header', HEADER], msg: message, input }],
  })
}
