// What bodies of errors look like, in the words of the document. Which of them an endpoint answers with follows from the
// envelope of its router and from the door before it, so that no endpoint has to say it, and none can say it wrong.

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

/** What may go wrong before a request reaches its endpoint. */
const AT_THE_DOOR: ReadonlySet<ErrorCode> = new Set([
  'unauthorized',
  'forbidden',
  'rate_limited',
  'request_timeout',
  'payload_too_large',
  'unavailable',
])

type Place = { app: Router; path: string; status: number }

/** The schema of an error's body: what the endpoint itself answers, or what is given for that, and what the door does. */
export function errorSchema({ app, path, status }: Place, given: z.ZodType | undefined): z.ZodType | undefined {
  const codes = codesOf(status).filter((code) => code !== 'unknown_conversation' || path.includes('{conversation_id}'))
  const own = given === undefined ? codes.map((code) => envelopeOf(app).shape(code)) : []
  const door = codes.filter((code) => AT_THE_DOOR.has(code)).map((code) => envelopeFor(path).shape(code))
  const shapes = [...new Set([...own, ...door])].map((shape) => SCHEMAS[shape])
  const [first, second, ...others] = given === undefined ? shapes : [given, ...shapes]
  return first === undefined || second === undefined ? first : z.union([first, second, ...others])
}

/** The schema of one shape, for an answer that an endpoint words by itself. */
export const errorBody = (shape: ErrorShape): z.ZodType => SCHEMAS[shape]
