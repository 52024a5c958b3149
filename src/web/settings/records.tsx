// Read-only data: the usage of each limit, and the audit log.

import { clockTime } from '../format.ts'
import { locale, say } from '../texts.ts'
import { BudgetSettings } from './budget.tsx'
import { Loading, Paged, useLoaded } from './fields.tsx'
import { AUDIT_NAMES, type AuditRecord, getUsage, listAudit, type UsageLimit } from './settings-api.ts'

export function UsageLimits() {
  const loaded = useLoaded(getUsage)
  return (
    <>
      <Loading loaded={loaded}>
        {(limits) => (
          <ul class="rows">
            {limits.map((limit) => (
              <UsageRow key={limit.limit} limit={limit} />
            ))}
          </ul>
        )}
      </Loading>
      <BudgetSettings />
    </>
  )
}

const LIMIT_NAMES = {
  conversations: 'Conversations',
  stored_bytes: 'Stored files and events',
  sockets: 'Open sockets',
  streams: 'Open task streams',
  streams_per_key: 'Open task streams of this key',
  open_analyses: 'Analyses under way',
  analyses_per_day: 'Analyses today',
  feedback: 'Feedback',
  large_body_bytes: 'Large bodies on their way',
} as const

function UsageRow({ limit: { limit, used, allowed, unit, resets_at } }: { limit: UsageLimit }) {
  const name = limit in LIMIT_NAMES ? say(LIMIT_NAMES[limit as keyof typeof LIMIT_NAMES]) : limit
  const amount = (value: number): string => (unit === 'bytes' ? size(value) : value.toLocaleString(locale))
  return (
    <li class="settings-row">
      <div class="settings-row-head">
        <span class="row-title">{name}</span>
        <span>{say('{used} of {allowed}', { used: amount(used), allowed: amount(allowed) })}</span>
      </div>
      <progress max={Math.max(1, allowed)} value={Math.min(used, allowed)} aria-label={name} />
      {resets_at !== null && <p class="hint">{say('Counts anew at {time}.', { time: clockTime(resets_at) })}</p>}
    </li>
  )
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB'] as const

export function size(bytes: number): string {
  const step = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  return `${(bytes / 1024 ** step).toLocaleString(locale, { maximumFractionDigits: 1 })} ${UNITS[step] ?? ''}`
}

export const AuditLog = () => (
  <Paged load={listAudit} empty="Nothing was changed yet.">
    {(record) => <AuditRow key={record.id} record={record} />}
  </Paged>
)

const AuditRow = ({ record: { at, actor, action, subject, fields } }: { record: AuditRecord }) => (
  <li class="settings-row settings-row-head">
    <span class="audit-action" title={action}>
      {action in AUDIT_NAMES ? say(AUDIT_NAMES[action as keyof typeof AUDIT_NAMES]) : <code>{action}</code>}
    </span>
    <span class="row-title">
      {[subject, fields.join(', ')].filter((text) => text !== null && text !== '').join(' · ')}
    </span>
    <span class="row-time">{say('by {actor}', { actor })}</span>
    <time class="row-time" dateTime={at}>
      {clockTime(at)}
    </time>
  </li>
)
