// The schemas of error bodies for the document. The envelope of an endpoint's router and the checks before it decide which
// of them apply, so no endpoint declares them by itself.

import { z } from '@hono/zod-openapi'
import { codesOf, type ErrorCode, type ErrorShape, envelopeFor } from './errors.ts'
import { envelopeOf, type Router } from './router.ts'

const ValidationError = z
  .object({
    type: z.string(),
    loc: z.array(z.union([z.string(), z.int()])),
    msg: z.string(),
    input: z.unknown(),
    ctx: z.record(z.string(), z.unknown()).optional(),
  })
  .openapi('ValidationError')

/** The body of a 422 in the conversation family. */
const HTTPValidationError = z.object({ detail: z.array(ValidationError) }).openapi('HTTPValidationError')

/** The body of a 422 in the analysis family. */
const AnalysisValidationError = z
  .object({ error: z.string(), message: z.string(), detail: z.array(ValidationError) })
  .openapi('AnalysisValidationError')

const SCHEMAS: Readonly<Record<ErrorShape, z.ZodType>> = {
  detail: z.object({ detail: z.string() }).openapi('DetailError'),
  validation: HTTPValidationError,
  rate: z.object({ message: z.string() }).openapi('TooManyRequests'),
  error: z.object({ error: z.string() }).openapi('ErrorBody'),
  text: z.string().openapi('ErrorText'),
  status: z
    .object({ status: z.literal('error'), message: z.string(), msg_id: z.string() })
    .openapi('ConversationError'),
  flat: z.object({ error: z.string(), message: z.string(), detail: z.unknown().optional() }).openapi('ErrorResponse'),
  'flat-validation': AnalysisValidationError,
}

/** The errors that can occur before a request reaches its endpoint. */
const BEFORE_ENDPOINT: ReadonlySet<ErrorCode> = new Set([
  'unauthorized',
  'forbidden',
  'rate_limited',
  'request_timeout',
  'payload_too_large',
  'unavailable',
])

type ErrorReply = { app: Router; path: string; status: number }

/** The schema of an error's body: the endpoint's own or the given one, together with those of the checks before it. */
export function errorSchema({ app, path, status }: ErrorReply, given: z.ZodType | undefined): z.ZodType | undefined {
  const codes = codesOf(status).filter((code) => code !== 'unknown_conversation' || path.includes('{conversation_id}'))
  const own = given === undefined ? codes.map((code) => envelopeOf(app).shape(code)) : []
  const before = codes.filter((code) => BEFORE_ENDPOINT.has(code)).map((code) => envelopeFor(path).shape(code))
  const shapes = [...new Set([...own, ...before])].map((shape) => SCHEMAS[shape])
  const [first, second, ...others] = given === undefined ? shapes : [given, ...shapes]
  return first === undefined || second === undefined ? first : z.union([first, second, ...others])
}

/** The schema of one error shape, for an endpoint that writes the body itself. */
export const errorBody = (shape: ErrorShape): z.ZodType => SCHEMAS[shape]
