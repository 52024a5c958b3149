// Rules, triggers and notifications in the form for clients.

import type { ReportLanguage } from '../analysis/schemas.ts'
import type { Trigger } from '../db/alert-triggers.ts'
import type { AlertRule } from '../db/alerts.ts'
import { isoMicros } from '../lib/clock.ts'
import { isAlertType } from './kinds.ts'
import { storedReason } from './message.ts'
import type { RuleStatus } from './outcome.ts'
import { ruleOf, type StoredFacts } from './rule.ts'
import { REST, SWEEP_EVERY_MS } from './sweep.ts'
import { ALERT_TEXTS } from './texts.ts'

const ROUNDS_MISSED = 3

export type Monitor = { state: 'on' | 'late' | 'off'; last_run_at: string | null; message: string | null }

type MonitorQuestion = { sweeps: ReadonlyMap<string, number>; isLive: boolean; now: number; since: number }

/** Whether the rules are being checked. `since` is when there first was a rule. */
export function monitorOf({ sweeps, isLive, now, since }: MonitorQuestion, language: ReportLanguage): Monitor {
  const words = ALERT_TEXTS[language]
  const last = sweeps.get(REST) ?? null
  const last_run_at = last === null ? null : isoMicros(last)
  if (!isLive) return { state: 'off', last_run_at, message: words.sampleOnly }
  const from = Math.max(last ?? 0, since)
  if (now - from <= ROUNDS_MISSED * SWEEP_EVERY_MS) return { state: 'on', last_run_at, message: null }
  return { state: 'late', last_run_at, message: words.late(isoMicros(from)) }
}

/** The result of the last check, as a sentence. */
function statusText(row: AlertRule, monitor: Monitor, language: ReportLanguage, now: number): string {
  const words = ALERT_TEXTS[language]
  if (row.expiresAt !== null && Date.parse(row.expiresAt) <= now) return words.expired
  if (!row.isEnabled) return words.off
  if (monitor.message !== null) return monitor.message
  const { evaluated, doubts = [] } = JSON.parse(row.status) as RuleStatus
  if (evaluated === undefined) return words.never
  const doubtful = doubts.map(({ reason, count, targets }) => {
    return words.doubtful(words.doubt[reason], count, targets.join(', '))
  })
  return [words.status(evaluated), ...doubtful].join(' · ')
}

export function ruleItem(
  row: AlertRule,
  { monitor, language, now }: { monitor: Monitor; language: ReportLanguage; now: number },
) {
  const { channels = null, quietHours = null } = ruleOf(row)?.notification ?? {}
  const isCoolingDown = row.cooldownUntil !== null && Date.parse(row.cooldownUntil) > now
  const { doubts = [] } = JSON.parse(row.status) as RuleStatus
  return {
    id: row.id,
    name: row.name,
    target_scope: row.scope,
    target: row.target,
    alert_type: row.type,
    parameters: JSON.parse(row.parameters) as Record<string, unknown>,
    severity: row.severity,
    enabled: row.isEnabled,
    source: row.source,
    cooldown_policy: { cooldown_seconds: row.cooldownSeconds },
    notification_policy: { channels, quiet_hours: quietHours },
    expires_at: row.expiresAt,
    last_triggered_at: row.lastTriggeredAt,
    cooldown_until: isCoolingDown ? row.cooldownUntil : null,
    cooldown_active: isCoolingDown,
    has_doubts: doubts.length > 0,
    message: statusText(row, monitor, language, now),
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  }
}

export function triggerItem(trigger: Trigger, language: ReportLanguage) {
  const { id, uid, ruleId, ruleName, type, severity, target, status, observed, threshold, dataSource } = trigger
  const facts = JSON.parse(trigger.facts) as StoredFacts
  const reason = isAlertType(type) ? storedReason({ type, target, observed, threshold, facts }, language) : null
  return {
    id,
    uid,
    rule_id: ruleId,
    rule_name: ruleName,
    alert_type: type,
    severity,
    target,
    observed_value: observed,
    threshold,
    reason,
    data_source: dataSource,
    data_timestamp: trigger.dataTimestamp,
    triggered_at: trigger.triggeredAt,
    status,
    diagnostics: status === 'triggered' ? null : reason,
    market_phase_summary: null,
    analysis_context_pack_overview: null,
  }
}
