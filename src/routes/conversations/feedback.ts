import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { forTrajectory } from '../../agent/trajectory.ts'
import { feedbackKey } from '../../bindings.ts'
import { config } from '../../config.ts'
import { countAllFeedback, countFeedback, type FeedbackRow, insertFeedback } from '../../db/feedback.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { AppError, errorEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { quotaReached } from '../../http/too-many.ts'
import { joinBytes } from '../../lib/bytes.ts'
import { isoMicros } from '../../lib/clock.ts'
import { hexId } from '../../lib/crypto.ts'
import { errorFields, log } from '../../lib/log.ts'
import { inSlices, putInTime } from '../../lib/slices.ts'
import { foundOr404, ownConversation } from './access.ts'
import { jsonArray } from './event-walk.ts'
import { ConversationPath } from './schemas.ts'

/** Each contains a copy of the conversation, so the number is limited. */
const MAX_PER_CONVERSATION = 50

/** Clients show a password for deleting the feedback elsewhere. There is no such function here, so it is empty. */
const NO_PASSWORD = ''

/** Clients also send `token` and `trajectory`; the events are read from the log instead. */
const FeedbackRequest = z
  .object({
    email: z.string().max(320).nullish(),
    version: z.string().max(100).nullish(),
    permissions: z.enum(['public', 'private']).default('private'),
    polarity: z.enum(['positive', 'negative']),
  })
  .openapi('FeedbackRequest')
type FeedbackRequest = z.infer<typeof FeedbackRequest>

const FeedbackResponse = z
  .object({
    statusCode: z.literal(200),
    body: z.object({ message: z.string(), feedback_id: z.string(), password: z.literal(NO_PASSWORD) }),
  })
  .openapi('FeedbackResponse')

const app = router(errorEnvelope)

endpoint(
  app,
  {
    method: 'post',
    path: '/api/conversations/{conversation_id}/submit-feedback',
    scope: 'conversations',
    limit: 'writes',
    bodyLimit: 'standard',
    tag: 'Conversation extras',
    summary: 'Leave a judgement of the conversation with the operator of this server',
    params: ConversationPath,
    body: { schema: FeedbackRequest, required: true },
    replies: {
      200: { description: 'Stored', schema: FeedbackResponse },
      404: { description: 'No such conversation' },
      429: {
        description: `There are ${MAX_PER_CONVERSATION} judgements of this conversation, or as many of the owner as may be`,
      },
      500: { description: 'It could not be stored' },
    },
  },
  async (c, { params, body }) => {
    const id = params.conversation_id
    foundOr404(await ownConversation(c, id).summary(), id)
    const feedbackId = await storing(() => store(c, id, body))
    const message = 'Thank you. Your feedback was stored on this server and sent nowhere.'
    return c.json({ statusCode: 200 as const, body: { message, feedback_id: feedbackId, password: NO_PASSWORD } })
  },
)

/** Any failure to store feedback has the same answer; the cause is logged. */
async function storing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    throw new AppError('declared_failure', 'Failed to submit feedback', { cause })
  }
}

/** Stores the feedback with its events in R2, then a row that refers to it in D1. */
async function store(c: Context<AppEnv>, conversationId: string, given: FeedbackRequest) {
  const { owner } = c.get('principal')
  if ((await countFeedback(c.env.DB, owner, conversationId)) >= MAX_PER_CONVERSATION) {
    throw new AppError('rate_limited', 'There is enough feedback on this conversation')
  }
  const { feedback: allowed } = config(c.env).quotas
  const used = await countAllFeedback(c.env.DB, owner)
  if (used >= allowed) throw enough(used, allowed)
  const { polarity, permissions } = given
  const row = {
    id: hexId(),
    owner,
    conversationId,
    createdAt: isoMicros(Date.now()),
    polarity,
    permissions,
  }
  const key = feedbackKey(owner, row.id)
  await storeText(c.env.FILES, key, await recordOf(c, row, given))
  try {
    // Other requests may have stored feedback in the meantime.
    if (!(await insertFeedback(c.env.DB, row, allowed))) throw enough(allowed, allowed)
  } catch (error) {
    await forget(c.env.FILES, key)
    throw error
  }
  return row.id
}

function enough(used: number, allowed: number): AppError {
  return quotaReached({ limit: 'feedback', used, allowed }, 'Ask the operator of this server to make room.')
}

/** The object in R2: the feedback, then the events. */
async function recordOf(c: Context<AppEnv>, row: FeedbackRow, { email, version }: FeedbackRequest) {
  const stub = ownConversation(c, row.conversationId)
  const first = foundOr404(await stub.readEvents(-1), row.conversationId)
  const record = {
    feedback_id: row.id,
    conversation_id: row.conversationId,
    created_at: row.createdAt,
    email: email ?? '',
    version: version ?? '',
    permissions: row.permissions,
    polarity: row.polarity,
  }
  const head = `${JSON.stringify(record).slice(0, -1)},"trajectory":`
  return jsonArray({ stub, first, pick: forTrajectory }, [head, '}'])
}

/** An object without a row would never be found again. */
async function forget(bucket: R2Bucket, key: string): Promise<void> {
  try {
    await bucket.delete(key)
  } catch (error) {
    log.warn('feedback.record_left_behind', { key, ...errorFields(error) })
  }
}

export { app as feedback }

// Stores a text of unknown length in R2 without having all of it in memory.

/** All parts of an upload except the last must have the same size, at least 5 MiB. */
const PART_BYTES = 8 * 1024 * 1024

/** Stores the text under the key, completely or not at all. */
async function storeText(bucket: R2Bucket, key: string, texts: AsyncIterable<string>): Promise<void> {
  const encoder = new TextEncoder()
  let upload: R2MultipartUpload | null = null
  const parts: R2UploadedPart[] = []
  let waiting: Uint8Array[] = []
  let size = 0
  try {
    for await (const text of texts) {
      const bytes = encoder.encode(text)
      waiting.push(bytes)
      size += bytes.byteLength
      if (size < PART_BYTES) continue
      upload ??= await bucket.createMultipartUpload(key)
      let rest = joinBytes(waiting)
      for (; rest.byteLength >= PART_BYTES; rest = rest.subarray(PART_BYTES)) {
        parts.push(await putInTime(upload.uploadPart(parts.length + 1, inSlices(rest.subarray(0, PART_BYTES)))))
      }
      // A copy, because a view would keep the whole buffer in memory.
      waiting = [rest.slice()]
      size = rest.byteLength
    }
    const end = joinBytes(waiting)
    if (upload === null) return void (await putInTime(bucket.put(key, inSlices(end))))
    if (size > 0) parts.push(await putInTime(upload.uploadPart(parts.length + 1, inSlices(end))))
    await upload.complete(parts)
  } catch (error) {
    await abandon(upload)
    throw error
  }
}

/** Otherwise the uploaded parts would stay until the bucket's own rules remove them. */
async function abandon(upload: R2MultipartUpload | null): Promise<void> {
  try {
    await upload?.abort()
  } catch (error) {
    log.warn('feedback.upload_not_aborted', errorFields(error))
  }
}
