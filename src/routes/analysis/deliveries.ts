import { z } from '@hono/zod-openapi'
import { taskQueue } from '../../bindings.ts'
import { type DeliveryItem, findDelivery, listDeliveries, retryDelivery } from '../../db/deliveries.ts'
import { AppError, analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { PAGE_QUERY, pageIdOf, pageKeyOf, pageOf } from '../../http/paging.ts'
import { router } from '../../http/router.ts'
import { isoMicros } from '../../lib/clock.ts'
import { DELIVERY_STATES, PART_STATES } from '../../notify/delivery.ts'

const app = router(analysisEnvelope)
const tag = 'Notifications'
const PATH = '/api/v1/analysis/deliveries'
const ONE = `${PATH}/{delivery_id}`
const params = z.object({ delivery_id: z.string() })
const missing = { 404: { description: 'No such delivery' } }

/** The number of a delivery; it increases with each. */
const DeliveryCursor = z.tuple([z.int()])

const Delivery = z
  .object({
    delivery_id: z.string(),
    subject: z.string().describe('`report:` and the id of a task, or `digest:` and that of a batch'),
    channel_id: z.string(),
    kind: z.string(),
    mode: z.enum(['single', 'digest']),
    title: z.string(),
    status: z
      .enum(DELIVERY_STATES)
      .describe(
        '`uncertain`: of some parts no answer came, so they may have arrived; they are not sent again by themselves',
      ),
    parts: z.int(),
    sent: z.int(),
    unknown: z.int().describe('Parts of which nobody knows whether they arrived'),
    attempts: z.int().describe('In vain, since a part was last taken'),
    error: z.string().nullable(),
    next_attempt_at: z
      .string()
      .nullable()
      .describe('When a pending one is tried at the earliest; null when it is over, or its turn is now'),
    created_at: z.string(),
    finished_at: z.string().nullable(),
  })
  .openapi('Delivery')

const DeliveryDetail = Delivery.extend({
  part_list: z.array(
    z.object({
      part: z.int(),
      status: z.enum(PART_STATES),
      attempts: z.int(),
      started_at: z.string().nullable(),
      settled_at: z.string().nullable(),
    }),
  ),
}).openapi('DeliveryDetail')

endpoint(
  app,
  {
    method: 'get',
    path: PATH,
    scope: 'analysis',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'What was sent, or is to be, newest first',
    query: z.object({
      ...PAGE_QUERY,
      cursor: z.string().optional().describe('Another name of `page_id`'),
      status: z.enum(DELIVERY_STATES).optional(),
      channel_id: z.string().optional(),
      task_id: z.string().optional(),
    }),
    replies: {
      200: {
        description: 'One page',
        schema: z.object({
          deliveries: z.array(Delivery),
          next_page_id: z.string().nullable(),
          next_cursor: z.string().nullable().describe('Another name of `next_page_id`'),
        }),
      },
      400: { description: 'A page_id that is not one of ours' },
    },
  },
  async (c, { query }) => {
    const { limit, cursor, page_id = cursor, status, channel_id, task_id } = query
    const found = await listDeliveries(c.env.DB, {
      owner: c.get('principal').owner,
      before: pageKeyOf(page_id, DeliveryCursor)?.[0] ?? null,
      limit: limit + 1,
      state: status ?? null,
      channelId: channel_id ?? null,
      subject: task_id === undefined ? null : `report:${task_id}`,
    })
    const { page, next_page_id } = pageOf(found, limit, ({ seq }) => pageIdOf([seq]))
    return c.json({ deliveries: page.map(wire), next_page_id, next_cursor: next_page_id })
  },
)

endpoint(
  app,
  {
    method: 'get',
    path: ONE,
    scope: 'analysis',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'One delivery with its parts',
    params,
    replies: { 200: { description: 'The delivery', schema: DeliveryDetail }, ...missing },
  },
  async (c, { params: { delivery_id } }) => c.json(await detailOf(c.env.DB, c.get('principal').owner, delivery_id)),
)

endpoint(
  app,
  {
    method: 'post',
    path: `${ONE}/retry`,
    scope: 'analysis',
    limit: 'writes',
    bodyLimit: 'standard',
    tag,
    summary: 'Send again what failed or is in doubt; a part in doubt may then arrive twice',
    params,
    replies: {
      200: { description: 'The delivery, pending again', schema: DeliveryDetail },
      ...missing,
      409: { description: 'Nothing of it failed, or it has nothing to send' },
    },
  },
  async (c, { params: { delivery_id: id } }) => {
    const { owner } = c.get('principal')
    await detailOf(c.env.DB, owner, id)
    if (!(await retryDelivery(c.env.DB, owner, { id, now: Date.now() }))) {
      throw new AppError('conflict', 'Only a delivery that failed or is uncertain can be sent again')
    }
    await taskQueue(c.env).notify([])
    return c.json(await detailOf(c.env.DB, owner, id))
  },
)

async function detailOf(db: D1Database, owner: string, id: string): Promise<z.infer<typeof DeliveryDetail>> {
  const found = await findDelivery(db, owner, id)
  if (found === null) throw new AppError('not_found', 'No such delivery')
  const time = (at: number | null) => (at === null ? null : isoMicros(at))
  const part_list = found.partList.map(({ n, state, attempts, startedAt, settledAt }) => {
    return { part: n, status: state, attempts, started_at: time(startedAt), settled_at: time(settledAt) }
  })
  return { ...wire(found), part_list }
}

function wire(item: DeliveryItem): z.infer<typeof Delivery> {
  const { id, subject, channelId, kind, mode, title, state, parts, sent, unknown, attempts, error } = item
  return {
    delivery_id: id,
    subject,
    channel_id: channelId,
    kind,
    mode,
    title,
    status: state,
    parts,
    sent,
    unknown,
    attempts,
    error,
    next_attempt_at: state === 'pending' && item.nextAt > Date.now() ? isoMicros(item.nextAt) : null,
    created_at: item.createdAt,
    finished_at: item.finishedAt,
  }
}

export { app as deliveries }
