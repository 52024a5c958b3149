// Rules of alerts: create, change, enable, disable and test.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { SCOPES } from '../../../alerts/kinds.ts'
import { ruleOf } from '../../../alerts/rule.ts'
import { ALERT_TEXTS } from '../../../alerts/texts.ts'
import { monitorOf, ruleItem } from '../../../alerts/told.ts'
import { config } from '../../../config.ts'
import {
  type AlertRule,
  addRule,
  changeRule,
  deleteRule,
  findRule,
  listRules,
  type NewRule,
  sweepsDone,
} from '../../../db/alerts.ts'
import type { AppEnv } from '../../../http/app-env.ts'
import { callerLanguage } from '../../../http/caller-language.ts'
import { AppError, analysisEnvelope } from '../../../http/errors.ts'
import { endpoint } from '../../../http/openapi.ts'
import { router } from '../../../http/router.ts'
import { must } from '../../../lib/assert.ts'
import { isoMicros } from '../../../lib/clock.ts'
import { laxBool } from '../../../lib/lax.ts'
import { enteredRule } from './alert-entry.ts'
import * as wire from './alert-schemas.ts'
import { pageTexts } from './texts.ts'

const app = router(analysisEnvelope)

/** For one owner. */
const MOST_RULES = 500

export const reading = {
  scope: 'analysis',
  bodyLimit: 'standard',
  tag: 'Alerts',
  method: 'get',
  limit: 'reads',
} as const
const changing = { ...reading, method: 'post', limit: 'writes' } as const
const ONE = '/api/v1/alerts/rules/{rule_id}'
const params = z.object({ rule_id: z.string().describe('The number of the rule') })
const missing = { 404: { description: 'No such rule' } }
const asItIs = { 200: { description: 'The rule as it is now', schema: wire.AlertRuleItem }, ...missing }
const goneAtOnce = { 404: { description: 'It was deleted at the same moment' } }
const refused = { 400: { description: 'Something in it is wrong; `message` names the field' } }

/** Additional data that is returned with the rules. */
async function circumstances(c: Context<AppEnv>, rules: readonly AlertRule[]) {
  const [now, language] = [Date.now(), callerLanguage(c)]
  const isLive = config(c.env).marketData.some((name) => name !== 'sample')
  const since = Math.min(now, ...rules.map(({ createdAt }) => Date.parse(createdAt)))
  const monitor = monitorOf({ sweeps: await sweepsDone(c.env.DB), isLive, now, since }, language)
  return { monitor, language, now }
}

const told = async (c: Context<AppEnv>, rule: AlertRule) => ruleItem(rule, await circumstances(c, [rule]))

async function ruleAt(c: Context<AppEnv>, id: string): Promise<AlertRule> {
  const isNumber = /^[1-9]\d{0,14}$/.test(id)
  const rule = isNumber ? await findRule(c.env.DB, c.get('principal').owner, Number(id)) : null
  if (rule === null) throw new AppError('not_found', pageTexts(callerLanguage(c)).alerts.noRule)
  return rule
}

endpoint(
  app,
  {
    ...reading,
    path: '/api/v1/alerts/rules',
    summary: 'Rules of alerts',
    query: z.object({
      enabled: laxBool().optional().describe('Only those that are on, or off'),
      alert_type: z.string().max(64).optional().describe('Only of this kind'),
      target_scope: z.enum(SCOPES).optional().describe('Only with targets of this sort'),
      target: z.string().max(64).optional().describe('Only with this target'),
      source: z.string().max(32).optional().describe('Only made by this one'),
      ...wire.pageQuery,
    }),
    replies: { 200: { description: 'A page of them', schema: wire.AlertRulePage } },
  },
  async (c, { query }) => {
    const { page, page_size } = query
    const filter = {
      enabled: query.enabled ?? null,
      type: query.alert_type || null,
      scope: query.target_scope ?? null,
      target: query.target || null,
      source: query.source || null,
    }
    const window = { limit: page_size, offset: (page - 1) * page_size }
    const { items, total } = await listRules(c.env.DB, c.get('principal').owner, filter, window)
    const beside = await circumstances(c, items)
    return c.json({ items: items.map((row) => ruleItem(row, beside)), total, page, page_size, monitor: beside.monitor })
  },
)

endpoint(
  app,
  {
    ...changing,
    path: '/api/v1/alerts/rules',
    summary: 'Make a rule; what holds already when it is made does not fire',
    body: { required: true, schema: wire.AlertRuleInput },
    example: {
      body: {
        ...{ name: 'Maotai above 1,700', target_scope: 'single_symbol', target: '600519', alert_type: 'price_cross' },
        ...{ parameters: { direction: 'above', price: 1700 }, severity: 'warning', enabled: true },
      },
    },
    replies: { 200: { description: 'The rule', schema: wire.AlertRuleItem }, ...refused, ...goneAtOnce },
  },
  async (c, { body }) => {
    const rule = await enteredRule(c, body)
    const now = Date.now()
    const id = await addRule(c.env.DB, rule, { now, at: isoMicros(now), most: MOST_RULES })
    if (id === null) throw new AppError('bad_request', ALERT_TEXTS[callerLanguage(c)].tooMany(MOST_RULES))
    return c.json(await told(c, await ruleAt(c, String(id))))
  },
)

endpoint(
  app,
  { ...reading, path: ONE, summary: 'One rule', params, replies: asItIs },
  async (c, { params: { rule_id } }) => c.json(await told(c, await ruleAt(c, rule_id))),
)

endpoint(
  app,
  {
    ...changing,
    method: 'patch',
    path: ONE,
    summary: 'Change a rule; what is left out stays',
    params,
    body: { required: true, schema: wire.AlertRuleChange },
    example: { body: { parameters: { direction: 'above', price: 1800 } } },
    replies: { ...asItIs, ...refused },
  },
  async (c, { params: { rule_id }, body }) => {
    const before = await ruleAt(c, rule_id)
    const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
    const merged = wire.AlertRuleInput.parse({ ...inputOf(before), ...given })
    return c.json(await changed(c, before, await enteredRule(c, merged)))
  },
)

/** A stored rule in the form of a request. */
function inputOf(row: AlertRule) {
  const { channels = null, quietHours = null } = ruleOf(row)?.notification ?? {}
  return {
    ...{ name: row.name, target_scope: row.scope, target: row.target, alert_type: row.type, severity: row.severity },
    ...{ parameters: JSON.parse(row.parameters), enabled: row.isEnabled, source: row.source },
    cooldown_policy: { cooldown_seconds: row.cooldownSeconds },
    notification_policy: { channels, quiet_hours: quietHours },
    expires_at: row.expiresAt !== null && Date.parse(row.expiresAt) <= Date.now() ? null : row.expiresAt,
  }
}

async function changed(c: Context<AppEnv>, before: AlertRule, after: NewRule) {
  const looksFor = ({ type, scope, target, parameters }: NewRule) => JSON.stringify([type, scope, target, parameters])
  const isRearmed = looksFor(before) !== looksFor(after) || before.isEnabled !== after.isEnabled
  const now = Date.now()
  await changeRule(c.env.DB, { id: before.id, ...after }, { now, at: isoMicros(now), isRearmed })
  return told(c, await ruleAt(c, String(before.id)))
}

for (const [word, isEnabled] of [
  ['enable', true],
  ['disable', false],
] as const) {
  endpoint(
    app,
    {
      ...changing,
      path: `${ONE}/${word}`,
      summary: isEnabled ? 'Switch a rule on; it begins afresh' : 'Switch a rule off',
      params,
      replies: asItIs,
    },
    async (c, { params: { rule_id } }) => {
      const before = await ruleAt(c, rule_id)
      const isOver = before.expiresAt !== null && Date.parse(before.expiresAt) <= Date.now()
      const after = { ...before, isEnabled, expiresAt: isEnabled && isOver ? null : before.expiresAt }
      return c.json(before.isEnabled === isEnabled ? await told(c, before) : await changed(c, before, after))
    },
  )
}

endpoint(
  app,
  {
    ...changing,
    method: 'delete',
    path: ONE,
    summary: 'Delete a rule; what it told stays',
    params,
    replies: {
      200: { description: 'It is gone', schema: z.object({ deleted: z.literal(1).describe('Always 1') }) },
      ...missing,
    },
  },
  async (c, { params: { rule_id } }) => {
    const { owner, id } = await ruleAt(c, rule_id)
    if (!(await deleteRule(c.env.DB, owner, id)))
      throw new AppError('not_found', pageTexts(callerLanguage(c)).alerts.noRule)
    return c.json({ deleted: 1 as const })
  },
)

const MOST_RESULTS = 20

endpoint(
  app,
  {
    ...changing,
    limit: 'alertTests',
    path: `${ONE}/test`,
    summary: 'What the condition of a rule says now; nothing is stored and nothing is sent',
    params,
    replies: { 200: { description: 'What was found', schema: wire.AlertTestResult }, ...missing },
  },
  async (c, { params: { rule_id } }) => {
    const row = await ruleAt(c, rule_id)
    const rule = must(ruleOf(row), 'a kind that was checked when the rule was made')
    const [{ tryRule }, { sweepDeps }] = await Promise.all([
      import('../../../alerts/trial.ts'),
      import('../../../schedule/alerts.ts'),
    ])
    const { monitor, language, now } = await circumstances(c, [row])
    const trial = await tryRule(await sweepDeps(c.env), rule, { language, now })
    const [first] = trial.results
    const isTriggered = trial.triggered > 0
    const status = isTriggered ? 'triggered' : trial.evaluated > 0 ? 'not_triggered' : 'evaluation_error'
    return c.json({
      ...{ rule_id: row.id, target_scope: rule.scope, status, triggered: isTriggered },
      observed_value: first?.observed ?? null,
      message: [trial.message, monitor.message].filter((text) => text !== null).join(' '),
      ...{ evaluated_count: trial.evaluated, triggered_count: trial.triggered },
      ...{ degraded_count: 0, skipped_count: trial.skipped },
      target_results: trial.results.slice(0, MOST_RESULTS).map((one) => ({
        ...{ target: one.target, display_target: one.target, status: one.status, record_status: one.recordStatus },
        triggered: one.status === 'triggered',
        ...{ observed_value: one.observed, threshold: one.threshold, message: one.message },
      })),
    } satisfies z.infer<typeof wire.AlertTestResult>)
  },
)

export { app as alertRules }
