import { z } from '@hono/zod-openapi'
import { lenientRegions, strictRegions } from '../../analysis/market-review/regions.ts'
import { ReportLanguage } from '../../analysis/schemas.ts'
import { reviewRequest } from '../../analysis/task.ts'
import { textsOf } from '../../analysis/texts/book.ts'
import { taskQueue } from '../../bindings.ts'
import { config } from '../../config.ts'
import { AppError, analysisEnvelope } from '../../http/errors.ts'
import { idempotencyHeaders, keyedRequest, otherRequest } from '../../http/idempotency.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { laxBool } from '../../lib/lax.ts'
import { tooManyAnalyses } from './refusals.ts'

const MAX_REGION = 64

/** The regions of a request, as one text. */
const RegionText = z
  .string()
  .min(1)
  .max(MAX_REGION)
  .refine((text) => strictRegions(text) !== null, {
    error: 'regions are cn, hk, us, jp, kr and tw, separated by commas, or the single word both',
  })

const MarketReviewRequest = z
  .object({
    send_notification: laxBool().default(true),
    report_language: ReportLanguage.nullish(),
    reportLanguage: ReportLanguage.nullish().describe('Another name of `report_language`'),
    region: RegionText.nullish().describe('`cn`, `hk`, `us`, `jp`, `kr`, `tw`, several with commas, or `both`'),
  })
  .openapi('MarketReviewRequest')

const MarketReviewAccepted = z
  .object({
    status: z.literal('accepted'),
    message: z.string(),
    send_notification: z.boolean(),
    region: z.string(),
    task_id: z.string(),
    trace_id: z.string(),
  })
  .openapi('MarketReviewAccepted')

const app = router(analysisEnvelope)

endpoint(
  app,
  {
    method: 'post',
    path: '/api/v1/analysis/market-review',
    scope: 'analysis',
    limit: 'analyses',
    bodyLimit: 'standard',
    tag: 'Analysis',
    summary: 'Queue a review of one or several markets; one at a time, on any day',
    headers: idempotencyHeaders,
    body: { schema: MarketReviewRequest.nullable(), required: false },
    replies: {
      202: { description: 'Queued', schema: MarketReviewAccepted },
      409: { description: 'A review is unfinished; `existing_task_id` when it is your own' },
      429: { description: 'Too many unfinished tasks, or too many analyses on this day' },
      500: { description: 'The review could not be queued' },
    },
  },
  async (c, { body }) => {
    const settings = config(c.env)
    const wish = body ?? MarketReviewRequest.parse({})
    const request = reviewRequest({
      // A text that is valid in the schema contains regions.
      regions: (wish.region ? strictRegions(wish.region) : null) ?? lenientRegions(settings.tasks.reviewRegion),
      reportLanguage: wish.report_language ?? wish.reportLanguage ?? null,
      configuredLanguage: settings.reportLanguage,
      notify: wish.send_notification,
      channels: null,
      priority: 'interactive',
    })
    const say = textsOf(request.language).task
    const keyed = await keyedRequest(c, wish)
    const answer = await taskQueue(c.env).submitReview(c.get('principal').owner, request, null, keyed)
    if (answer.ok) {
      const id = answer.taskId
      return c.json(
        {
          status: 'accepted' as const,
          message: say.reviewAccepted,
          send_notification: wish.send_notification,
          region: request.region ?? '',
          task_id: id,
          trace_id: id,
        },
        202,
      )
    }
    if (answer.reason === 'other_request') throw otherRequest(c, say.keyReused)
    if (answer.reason === 'full') throw tooManyAnalyses(answer)
    const extra = answer.taskId === null ? {} : { existing_task_id: answer.taskId }
    const headers = { 'retry-after': String(Math.ceil(answer.retryAfterMs / 1000)) }
    throw new AppError('duplicate_market_review', say.reviewDuplicate, { extra, headers })
  },
)

export { app as marketReview }
