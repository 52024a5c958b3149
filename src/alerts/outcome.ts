// What a check of a rule stores: its triggers, one message about all that fired, and the rule's state as codes that are
// put into words later.

import type { Look, NewTrigger, RuleAtWork } from '../db/alerts.ts'
import { isoMicros } from '../lib/clock.ts'
import { sha256Hex } from '../lib/crypto.ts'
import type { Changes, Firing } from './evaluate.ts'
import { alertMessage } from './message.ts'
import { type Findings, quietUntil, type Rule, type StoredFacts } from './rule.ts'
import type { Doubt } from './trust.ts'

/** The result of the last check: how many targets were checked, and why others were not. */
export type RuleStatus = {
  evaluated?: number
  doubts?: { reason: Doubt; count: number; targets: string[] }[]
}

type Looked = {
  rule: Rule
  stored: RuleAtWork
  findings: Findings
  changes: Changes
  /** Since when nothing was checked, if that should be reported. */
  missed: number | null
  /** JSON; null when nothing must be remembered. */
  memories: string | null
  now: number
}

const EXAMPLES = 3
const UID_CHARACTERS = 32

/** Null when the check found nothing new to store. */
export async function lookOf({ rule, stored, findings, changes, missed, memories, now }: Looked): Promise<Look | null> {
  const { status, doubtful } = statusOf(stored.status, findings)
  const told = changes.firings.filter(({ isCoolingDown }) => !isCoolingDown)
  const uids = await Promise.all(changes.firings.map((firing) => uidOf(rule, firing.slot, firing.point)))
  const key = told.length === 0 ? null : `alert:${await sha256Hex(JSON.stringify(uids))}`.slice(0, 6 + UID_CHARACTERS)
  const waitsUntil = key === null ? null : quietUntil(rule.notification.quietHours, now)
  const fired = changes.firings.map((firing, i): NewTrigger => {
    const held = firing.isCoolingDown ? 'cooldown' : waitsUntil === null ? null : isoMicros(waitsUntil)
    return firedTrigger({ rule, findings, firing, uid: uids[i] ?? '', held, notice: firing.isCoolingDown ? null : key })
  })
  const left = await Promise.all(doubtful.map((reason) => leftOut(rule, findings, reason, now)))
  const gaps = missed === null ? [] : [await gapTrigger(rule, missed)]
  const triggers = [...fired, ...left, ...gaps]
  if (triggers.length === 0 && memories === null && status === stored.status) return null
  return {
    rule: stored,
    at: isoMicros(now),
    now,
    memories,
    status,
    triggers,
    notice: key === null ? null : { notice: noticeOf(rule, { key, told, findings }), notBefore: waitsUntil ?? 0 },
    cooldownUntil: told.length === 0 || rule.cooldownMs === 0 ? null : isoMicros(now + rule.cooldownMs),
  }
}

const uidOf = async ({ row }: Rule, slot: string, point: string): Promise<string> =>
  (await sha256Hex(JSON.stringify([row.owner, row.id, row.revision, slot, point]))).slice(0, UID_CHARACTERS)

/** Reasons that are not a fault of the data are reported only in the status. */
const NOT_RECORDED: ReadonlySet<Doubt> = new Set([
  'no_targets',
  'no_levels',
  'no_light_before',
  'not_looked_at',
  'no_light',
])
const FAILED: ReadonlySet<Doubt> = new Set(['no_quote', 'no_bars', 'no_price'])
const DEGRADED: ReadonlySet<Doubt> = new Set(['no_bar', 'gap', 'few_bars', 'no_volume', 'no_rate', 'no_history'])

function statusOf(before: string, { doubts, evaluated }: Findings): { status: string; doubtful: Doubt[] } {
  const known = (JSON.parse(before) as RuleStatus).doubts ?? []
  const status: RuleStatus = {
    evaluated,
    doubts: [...doubts].map(([reason, targets]) => {
      return { reason, count: targets.length, targets: targets.slice(0, EXAMPLES) }
    }),
  }
  const doubtful = [...doubts.keys()].filter(
    (reason) => !NOT_RECORDED.has(reason) && !known.some((one) => one.reason === reason),
  )
  return { status: JSON.stringify(status), doubtful }
}

type Fired = {
  rule: Rule
  findings: Findings
  firing: Firing
  uid: string
  held: string | null
  notice: string | null
}

function firedTrigger({ rule, findings, firing, uid, held, notice }: Fired): NewTrigger {
  const { slot, target, value, threshold, at } = firing
  const facts = findings.facts.get(slot) ?? findings.facts.get(target) ?? {}
  const stored: StoredFacts = { ...facts, parameters: rule.parameters }
  // Advice has no line, and may contain no price.
  const isAdvice = rule.type === 'new_advice'
  const figures = { observed: isAdvice && value === 0 ? null : value, threshold: isAdvice ? null : threshold }
  return {
    ...{ uid, target, status: 'triggered', ...figures, facts: JSON.stringify(stored) },
    ...{ dataSource: facts.source ?? null, dataTimestamp: isoMicros(at), notice, held },
  }
}

/** At most once per reason and day: a lasting problem is shown in the rule's status. */
async function leftOut(rule: Rule, { doubts, refusedBy }: Findings, reason: Doubt, now: number): Promise<NewTrigger> {
  const targets = doubts.get(reason) ?? []
  const status = FAILED.has(reason) ? 'failed' : DEGRADED.has(reason) ? 'degraded' : 'skipped'
  const facts: StoredFacts = {
    ...{ parameters: rule.parameters, reason, count: targets.length },
    text: targets.slice(0, EXAMPLES).join(', '),
    ...(reason === 'withheld' ? { marks: [...refusedBy] } : {}),
  }
  return {
    uid: await uidOf(rule, `left out ${reason}`, isoMicros(now).slice(0, 10)),
    target: targets.length === 1 ? (targets[0] ?? rule.row.target) : rule.row.target,
    ...{ status, observed: null, threshold: null, facts: JSON.stringify(facts) },
    ...{ dataSource: null, dataTimestamp: null, notice: null, held: null },
  }
}

async function gapTrigger(rule: Rule, since: number): Promise<NewTrigger> {
  const facts: StoredFacts = { parameters: rule.parameters, reason: 'missed', since: isoMicros(since) }
  return {
    uid: await uidOf(rule, 'missed', isoMicros(since)),
    ...{ target: rule.row.target, status: 'failed', observed: null, threshold: null, facts: JSON.stringify(facts) },
    ...{ dataSource: null, dataTimestamp: null, notice: null, held: null },
  }
}

type Telling = { key: string; told: readonly Firing[]; findings: Findings }

function noticeOf(rule: Rule, { key, told, findings }: Telling) {
  const message = alertMessage(
    rule,
    told.map((firing) => {
      const facts = findings.facts.get(firing.slot) ?? findings.facts.get(firing.target) ?? {}
      return { ...firing, facts }
    }),
  )
  return { kind: 'text' as const, key, owner: rule.row.owner, channels: rule.notification.channels, ...message }
}
