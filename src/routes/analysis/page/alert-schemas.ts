// The JSON shapes of alerts, as read by the existing analysis page.

import { z } from '@hono/zod-openapi'
import { SCOPES } from '../../../alerts/kinds.ts'
import { laxBool, laxInt } from '../../../lib/lax.ts'

const SEVERITIES = ['info', 'warning', 'critical'] as const
export const TRIGGER_STATES = ['triggered', 'skipped', 'degraded', 'failed'] as const
const Text = z.string().nullable()
const Figure = z.number().nullable()

const CLOCK = /^([01]\d|2[0-3]):[0-5]\d$/
const DAY_SECONDS = 86_400
const MOST_COOLDOWN_SECONDS = 30 * DAY_SECONDS
const MOST_CHANNELS = 20

const QuietHours = z
  .object({
    from: z.string().regex(CLOCK, 'a time of the 24-hour clock such as 22:00 is wanted'),
    to: z.string().regex(CLOCK, 'a time of the 24-hour clock such as 07:30 is wanted'),
    zone: z.string().max(64),
  })
  .openapi('AlertQuietHours')

const ruleFields = {
  name: z.string().trim().max(64).nullish().describe('Its name; made from its kind and target where there is none'),
  target_scope: z.enum(SCOPES).describe('What `target` names'),
  target: z
    .string()
    .trim()
    .min(1)
    .max(64)
    .describe('A code or name, `default` or the id of a group, `all` or an account, or a market'),
  alert_type: z.string().max(64).describe('What it looks for'),
  parameters: z
    .record(z.string(), z.unknown())
    .nullish()
    .describe('Of the kind; what is left out is preset where it can be'),
  severity: z.enum(SEVERITIES).describe('How much it matters'),
  enabled: laxBool().describe('Whether it is looked at'),
  source: z.string().max(32).nullish().describe('Who made it, a word of your choice'),
  cooldown_policy: z
    .object({
      cooldown_seconds: laxInt({ min: 0, max: MOST_COOLDOWN_SECONDS })
        .nullish()
        .describe('After a message, for one target; a day for rules about quotes, nothing for others'),
    })
    .nullish()
    .describe('How long it is silent'),
  notification_policy: z
    .object({
      channels: z
        .array(z.string().min(1).max(100))
        .max(MOST_CHANNELS)
        .nullish()
        .describe('The ids of the channels; null for all'),
      quiet_hours: QuietHours.nullish().describe('Messages wait for their end'),
    })
    .nullish()
    .describe('Where and when messages are sent'),
  expires_at: z.string().max(64).nullish().describe('ISO 8601: switched off by then; null for never'),
  confirm: laxBool().nullish().describe('Takes the first candidate of a target that is not clear'),
}

export const AlertRuleInput = z
  .object({
    ...ruleFields,
    target_scope: ruleFields.target_scope.default('single_symbol'),
    severity: ruleFields.severity.default('warning'),
    enabled: ruleFields.enabled.default(true),
  })
  .openapi('AlertRuleInput')
export type AlertRuleInput = z.infer<typeof AlertRuleInput>

export const AlertRuleChange = z
  .object({
    ...ruleFields,
    target_scope: ruleFields.target_scope.optional(),
    target: ruleFields.target.optional(),
    alert_type: ruleFields.alert_type.optional(),
    severity: ruleFields.severity.optional(),
    enabled: ruleFields.enabled.optional(),
  })
  .openapi('AlertRuleChange')

export const AlertRuleItem = z
  .object({
    id: z.int().describe('The number of the rule'),
    name: z.string().describe('Its name'),
    target_scope: z.enum(SCOPES).describe('What `target` names'),
    target: z.string().describe('What it looks at'),
    alert_type: z.string().describe('What it looks for'),
    parameters: z.record(z.string(), z.unknown()).describe('Of the kind'),
    severity: z.enum(SEVERITIES).describe('How much it matters'),
    enabled: z.boolean().describe('Whether it is looked at'),
    source: z.string().describe('Who made it'),
    cooldown_policy: z
      .object({ cooldown_seconds: z.int().describe('For one target') })
      .describe('How long it is silent'),
    notification_policy: z
      .object({
        channels: z.array(z.string()).nullable().describe('Null for all'),
        quiet_hours: QuietHours.nullable().describe('Messages wait for their end'),
      })
      .describe('Where and when messages are sent'),
    expires_at: Text.describe('When it is switched off; null for never'),
    last_triggered_at: Text.describe('When it fired last'),
    cooldown_until: Text.describe('Until when the target that fired last is silent'),
    cooldown_active: z.boolean().describe('Whether that is still to come'),
    has_doubts: z.boolean().describe('Whether the last look left something out'),
    message: z.string().describe('What the last look found, and what it left out and why'),
    created_at: z.string().describe('When it was made'),
    updated_at: z.string().describe('When it was changed last'),
  })
  .openapi('AlertRule')

const paged = {
  total: z.int().describe('How many match'),
  page: z.int().describe('From 1'),
  page_size: z.int().describe('Of a page'),
}

export const pageQuery = {
  page: laxInt({ min: 1, max: 100_000 }).describe('From 1').default(1),
  page_size: laxInt({ min: 1, max: 100 }).describe('Of a page').default(20),
}

const AlertMonitor = z.object({
  state: z.enum(['on', 'late', 'off']).describe('Whether rules are looked at'),
  last_run_at: Text.describe('When they were last'),
  message: Text.describe('What is wrong; null for nothing'),
})

export const AlertRulePage = z
  .object({
    items: z.array(AlertRuleItem).describe('The last changed first'),
    ...paged,
    monitor: AlertMonitor.describe('Whether anybody looks at them'),
  })
  .openapi('AlertRulePage')

export const AlertTriggerItem = z
  .object({
    id: z.int().describe('The number of the trigger'),
    uid: z.string().describe('The same for the same condition and data point'),
    rule_id: z.int().nullable().describe('The number of its rule, which may be gone'),
    rule_name: z.string().describe('The name that the rule had'),
    alert_type: z.string().describe('What the rule looked for'),
    severity: z.string().describe('How much it matters'),
    target: z.string().describe('What it is about'),
    observed_value: Figure.describe('The figure that was found'),
    threshold: Figure.describe('The line that it crossed'),
    reason: Text.describe('Why, as a sentence'),
    data_source: Text.describe('Which source told it'),
    data_timestamp: Text.describe('When the figure was made'),
    triggered_at: z.string().describe('When it was noticed'),
    status: z.enum(TRIGGER_STATES).describe('`triggered`, or why not'),
    diagnostics: Text.describe('What kept the rule from looking, as a sentence'),
    market_phase_summary: z.unknown().describe('Always null'),
    analysis_context_pack_overview: z.unknown().describe('Always null'),
  })
  .openapi('AlertTrigger')

export const AlertTriggerPage = z
  .object({ items: z.array(AlertTriggerItem).describe('The newest first'), ...paged })
  .openapi('AlertTriggerPage')

export const AlertNotificationItem = z
  .object({
    id: z.int().describe('Of the message; negative where none was sent'),
    trigger_id: z.int().nullable().describe('The number of the trigger'),
    channel: z.string().describe('The channel; between underscores, why there is none'),
    attempt: z.int().describe('Which attempt it was'),
    success: z.boolean().describe('Whether the channel took it'),
    error_code: Text.describe('Why not, as a word'),
    retryable: z.boolean().describe('Whether it is tried again'),
    latency_ms: z.int().nullable().describe('How long the channel took'),
    diagnostics: Text.describe('Why not, as a sentence'),
    created_at: z.string().describe('When it was made'),
  })
  .openapi('AlertNotification')

export const AlertNotificationPage = z
  .object({ items: z.array(AlertNotificationItem).describe('The newest first'), ...paged })
  .openapi('AlertNotificationPage')

export const AlertTestResult = z
  .object({
    rule_id: z.int().describe('The number of the rule'),
    target_scope: z.enum(SCOPES).describe('What `target` names'),
    status: z.enum(['triggered', 'not_triggered', 'evaluation_error']).describe('Of all targets together'),
    triggered: z.boolean().describe('Whether the condition holds for a target'),
    observed_value: Figure.describe('The figure of the first target'),
    message: z.string().describe('What was found'),
    evaluated_count: z.int().describe('Targets that were looked at'),
    triggered_count: z.int().describe('Those that it holds for'),
    degraded_count: z.int().describe('Always 0'),
    skipped_count: z.int().describe('Those that could not be looked at'),
    target_results: z
      .array(
        z.object({
          target: z.string().describe('What was looked at'),
          display_target: z.string().describe('The same'),
          status: z.enum(['triggered', 'not_triggered', 'evaluation_error']).describe('What was found'),
          record_status: z.enum(['triggered', 'skipped']).nullable().describe('What would be recorded'),
          triggered: z.boolean().describe('Whether the condition holds'),
          observed_value: Figure.describe('The figure'),
          threshold: Figure.describe('The line'),
          message: z.string().describe('What was found, as a sentence'),
        }),
      )
      .describe('At most 20'),
  })
  .openapi('AlertTestResult')
