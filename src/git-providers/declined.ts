// The provider's message when it refuses to create something, short enough to be shown.

import { z } from 'zod'
import type { Fetch } from '../lib/http-client.ts'

/** Statuses of a refusal of a valid request. */
const DECLINING: ReadonlySet<number> = new Set([400, 409, 422])
const MAX_READ_BYTES = 64 * 1024
const MAX_REASON_CHARS = 300

const Words = z.union([z.string(), z.array(z.string()).transform((words) => words.join('; '))])
const Answer = z
  .object({
    message: z.union([Words, z.record(z.string(), Words).transform((fields) => Object.values(fields).join('; '))]),
    errors: z.array(z.object({ message: z.string() }).partial()),
    error: z.union([z.string(), z.object({ message: z.string() }).transform(({ message }) => message)]),
  })
  .partial()

/** A fetch that notes the message of a refusal; the response itself is unchanged. */
export function notingReason(ask: Fetch, note: (reason: string) => void): Fetch {
  return async (url, init) => {
    const response = await ask(url, init)
    if (!DECLINING.has(response.status)) return response
    const { status, headers } = response
    note(reasonIn(await firstBytes(response)) ?? `it answered HTTP ${status}`)
    return new Response(null, { status, headers })
  }
}

async function firstBytes(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > MAX_READ_BYTES) break
  }
  return text
}

function reasonIn(text: string): string | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // An HTML page, or nothing: only the status is known.
    return null
  }
  const { data } = Answer.safeParse(value)
  const details = (data?.errors ?? []).flatMap(({ message }) => (message ? [message] : []))
  const words = [data?.message, data?.error, ...details].filter(Boolean).join(': ')
  return words === '' ? null : words.replace(/\s+/g, ' ').slice(0, MAX_REASON_CHARS)
}

/** GitHub answers "forbidden" for "too many requests", which says nothing about the token. */
export function tellingQuota(ask: Fetch): Fetch {
  return async (url, init) => {
    const response = await ask(url, init)
    const { headers } = response
    const isQuota = headers.get('x-ratelimit-remaining') === '0' || headers.has('retry-after')
    if (response.status !== 403 || !isQuota) return response
    await response.body?.cancel()
    return new Response(null, { status: 429, headers: { 'retry-after': headers.get('retry-after') ?? '60' } })
  }
}
