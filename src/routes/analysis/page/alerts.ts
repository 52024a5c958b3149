// The results of alerts: which fired, which were skipped and why, and the state of the messages.

import { z } from '@hono/zod-openapi'
import { triggerItem } from '../../../alerts/told.ts'
import { type AlertNotification, listAlertNotifications, listTriggers } from '../../../db/alert-triggers.ts'
import { callerLanguage } from '../../../http/caller-language.ts'
import { analysisEnvelope } from '../../../http/errors.ts'
import { endpoint } from '../../../http/openapi.ts'
import { router } from '../../../http/router.ts'
import { laxBool, laxInt } from '../../../lib/lax.ts'
import { reading } from './alert-rules.ts'
import * as wire from './alert-schemas.ts'
import { type PageTexts, pageTexts } from './texts.ts'

const app = router(analysisEnvelope)

endpoint(
  app,
  {
    ...reading,
    path: '/api/v1/alerts/triggers',
    summary: 'What fired, and what could not be looked at',
    query: z.object({
      rule_id: laxInt({ min: 1 }).optional().describe('Only of this rule'),
      target: z.string().max(64).optional().describe('Only about this target'),
      status: z.enum(wire.TRIGGER_STATES).optional().describe('Only in this state'),
      ...wire.pageQuery,
    }),
    replies: { 200: { description: 'A page of them', schema: wire.AlertTriggerPage } },
  },
  async (c, { query }) => {
    const { page, page_size } = query
    const filter = { ruleId: query.rule_id ?? null, target: query.target || null, status: query.status ?? null }
    const window = { limit: page_size, offset: (page - 1) * page_size }
    const { items, total } = await listTriggers(c.env.DB, c.get('principal').owner, filter, window)
    const language = callerLanguage(c)
    return c.json({
      items: items.map((one) => triggerItem(one, language) as z.infer<typeof wire.AlertTriggerItem>),
      ...{ total, page, page_size },
    })
  },
)

endpoint(
  app,
  {
    ...reading,
    path: '/api/v1/alerts/notifications',
    summary: 'What became of the messages of alerts',
    query: z.object({
      trigger_id: laxInt({ min: 1 }).optional().describe('Only of this trigger'),
      channel: z.string().max(100).optional().describe('Only at this channel'),
      success: laxBool().optional().describe('Only those that a channel took, or did not'),
      ...wire.pageQuery,
    }),
    replies: { 200: { description: 'A page of them', schema: wire.AlertNotificationPage } },
  },
  async (c, { query }) => {
    const { page, page_size } = query
    const filter = {
      triggerId: query.trigger_id ?? null,
      channel: query.channel || null,
      success: query.success ?? null,
    }
    const window = { limit: page_size, offset: (page - 1) * page_size }
    const { items, total } = await listAlertNotifications(c.env.DB, c.get('principal').owner, filter, window)
    const words = pageTexts(callerLanguage(c)).alerts
    return c.json({ items: items.map((one) => notificationItem(one, words)), total, page, page_size })
  },
)

function notificationItem(
  one: AlertNotification,
  words: PageTexts['alerts'],
): z.infer<typeof wire.AlertNotificationItem> {
  const success = one.state === 'delivered'
  return {
    id: one.id,
    trigger_id: one.triggerId,
    channel: one.channel,
    attempt: one.attempt,
    success,
    error_code: success ? null : one.state,
    retryable: one.state === 'pending' || one.state === 'quiet_hours',
    latency_ms: one.latencyMs,
    diagnostics: success ? null : (one.error ?? sentenceOf(one, words)),
    created_at: one.createdAt,
  }
}

function sentenceOf({ state, held }: AlertNotification, words: PageTexts['alerts']): string {
  if (state === 'quiet_hours') return words.quiet(held ?? '')
  if (state === 'cooldown_active') return words.coolingDown
  return state === 'no_channel' ? words.noChannel : words.pending
}

export { app as alerts }
