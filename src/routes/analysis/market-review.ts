import { taskMessages } from '../../analysis/task-messages.ts'
import { taskQueue } from '../../bindings.ts'
import { config } from '../../config.ts'
import { AppError, analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { lenientRegions, strictRegions } from '../../review/regions.ts'
import { reviewRequest } from '../../review/review-request.ts'
import { MarketReviewAccepted, MarketReviewRequest } from './market-review-schemas.ts'
import { tooManyAnalyses } from './too-many-analyses.ts'

const app = router(analysisEnvelope)

endpoint(
  app,
  {
    method: 'post',
    path: '/api/v1/analysis/market-review',
    tag: 'Analysis',
    summary: 'Queue a review of one or several markets; one at a time, on any day',
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
      // A text that the schema let through names regions.
      regions: (wish.region ? strictRegions(wish.region) : null) ?? lenientRegions(settings.tasks.reviewRegion),
      reportLanguage: wish.report_language ?? wish.reportLanguage ?? null,
      configuredLanguage: settings.reportLanguage,
      notify: wish.send_notification,
      channels: null,
      priority: 'interactive',
    })
    const say = taskMessages(request.language)
    const answer = await taskQueue(c.env).submitReview(c.get('principal').owner, request)
    if (answer.ok) {
      const { id } = answer.task
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
    if (answer.reason === 'full') throw tooManyAnalyses(answer)
    const extra = answer.taskId === null ? {} : { existing_task_id: answer.taskId }
    const headers = { 'retry-after': String(Math.ceil(answer.retryAfterMs / 1000)) }
    throw new AppError('duplicate_market_review', say.reviewDuplicate, { extra, headers })
  },
)

export { app as marketReview }
