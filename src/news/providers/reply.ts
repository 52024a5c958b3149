import type { z } from 'zod'
import { UpstreamError } from '../../lib/http-client.ts'

/** A reply in the shape that was promised; anything else is the service's failure, not an empty answer. */
export function checked<T>(service: string, schema: z.ZodType<T>, reply: unknown): T {
  const parsed = schema.safeParse(reply)
  if (parsed.success) return parsed.data
  const at = parsed.error.issues[0]?.path.join('.') ?? ''
  throw new UpstreamError({ service, reason: 'malformed', detail: `unexpected shape at ${at || 'the top'}` })
}
