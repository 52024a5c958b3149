// Alerts: the rules, whether they are evaluated, which fired, and the state of the messages.

import './alerts.css'
import { useState } from 'preact/hooks'
import { messageOf, request, sendJson } from '../api.ts'
import { SwitchButton } from '../controls.tsx'
import { noteChange, useChanges } from '../frame/tabs.ts'
import { Link, usePageTitle } from '../router.tsx'
import { SureButton } from '../settings/fields.tsx'
import { say, type Text } from '../texts.ts'
import { Notice, QueryState, RelativeTime, useAnswer } from '../ui.tsx'
import { ALERTS, AlertForm } from './alert-form.tsx'
import { ALERT_KINDS } from './alert-kinds.ts'
import { SubNav } from './sub-nav.tsx'

type Rule = {
  id: number
  name: string
  target: string
  alert_type: string
  severity: 'info' | 'warning' | 'critical'
  enabled: boolean
  has_doubts: boolean
  message: string
  last_triggered_at: string | null
}
type Trigger = {
  id: number
  rule_name: string
  target: string
  status: 'triggered' | 'skipped' | 'degraded' | 'failed'
  reason: string | null
  triggered_at: string
}
type Notification = { id: number; trigger_id: number; channel: string; success: boolean; diagnostics: string | null }
type Rules = { items: Rule[]; total: number; monitor: { state: 'on' | 'late' | 'off'; message: string | null } }
type Page<T> = { items: T[]; total: number }

const SHOWN = 100
const SEVERITIES: Readonly<Record<Rule['severity'], Text>> = { info: 'Info', warning: 'Warning', critical: 'Critical' }

export function AlertsPage() {
  usePageTitle(say('Alerts'))
  const { found, problem, again } = useAnswer(rulesAndTriggers, [])
  const [rules = null, triggers = null] = found ?? []
  useChanges('alerts', again)
  const changed = () => {
    noteChange('alerts')
    again()
  }
  const monitor = rules?.monitor
  return (
    <main class="page">
      <h1>{say('Alerts')}</h1>
      <SubNav current="alerts" />
      <QueryState {...{ found, problem }} onAgain={again} />
      {monitor?.message != null && <Notice kind="warning">{monitor.message}</Notice>}
      <AlertForm onMade={changed} />
      <RuleList rules={rules} onChanged={changed} />
      <section aria-labelledby="triggers-head" class="alert-rules">
        <h2 id="triggers-head">{say('What fired')}</h2>
        <p class="hint">
          {say('Messages go to your channels.')} <Link to="/settings/notifications">{say('Notifications')}</Link>
        </p>
        {triggers?.items.length === 0 && <p class="empty">{say('Nothing has fired yet.')}</p>}
        <ul class="alert-list">
          {triggers?.items.map((trigger) => (
            <TriggerRow key={trigger.id} trigger={trigger} />
          ))}
        </ul>
      </section>
    </main>
  )
}

const rulesAndTriggers = (): Promise<[Rules, Page<Trigger>]> =>
  Promise.all([
    request<Rules>(`${ALERTS}/rules?page_size=${SHOWN}`),
    request<Page<Trigger>>(`${ALERTS}/triggers?page_size=50`),
  ])

const RuleList = ({ rules, onChanged }: { rules: Rules | null; onChanged: () => void }) => (
  <section aria-labelledby="rules-head" class="alert-rules">
    <h2 id="rules-head">
      {say('Rules')} {rules !== null && <span class="badge">{rules.total}</span>}
    </h2>
    {rules?.items.length === 0 && <p class="empty">{say('No rules yet. Make one above.')}</p>}
    {rules !== null && rules.total > rules.items.length && (
      <p class="hint">{say('The last {count} that were changed are shown.', { count: rules.items.length })}</p>
    )}
    <ul class="alert-list">
      {rules?.items.map((rule) => (
        <RuleRow key={rule.id} rule={rule} onChanged={onChanged} />
      ))}
    </ul>
  </section>
)

type RuleProps = { rule: Rule; onChanged: () => void }

function RuleRow({ rule, onChanged }: RuleProps) {
  const kind = ALERT_KINDS[rule.alert_type]?.label
  return (
    <li>
      <div class="alert-head">
        <span class="alert-name">{rule.name}</span>
        {kind !== undefined && <span class="badge">{say(kind)}</span>}
        <span class={`badge ${rule.severity === 'critical' ? 'failed' : ''}`}>{say(SEVERITIES[rule.severity])}</span>
        {rule.last_triggered_at !== null && (
          <span class="row-time">
            {say('fired')} <RelativeTime time={rule.last_triggered_at} />
          </span>
        )}
      </div>
      <p class={rule.has_doubts && rule.enabled ? 'alert-doubt' : 'hint'}>{rule.message}</p>
      <RuleActions rule={rule} onChanged={onChanged} />
    </li>
  )
}

function RuleActions({ rule, onChanged }: RuleProps) {
  const [problem, setProblem] = useState<string | null>(null)
  const [tried, setTried] = useState<string | null>(null)
  const path = `${ALERTS}/rules/${rule.id}`
  const act = (work: Promise<unknown>) => {
    setProblem(null)
    work.catch((error: unknown) => setProblem(messageOf(error)))
  }
  const change = (way: string, init: RequestInit) => act(request(`${path}${way}`, init).then(onChanged))
  const tryOut = () => {
    const test = request<{ message: string }>(`${path}/test`, sendJson('POST', {}))
    act(test.then(({ message }) => setTried(message)))
  }
  return (
    <>
      {tried !== null && (
        <p class="hint" role="status">
          {say('Tried out: {result}', { result: tried })}
        </p>
      )}
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      <div class="form-actions">
        <button type="button" onClick={tryOut} aria-label={say('Try it out: {name}', { name: rule.name })}>
          {say('Try it out')}
        </button>
        <SwitchButton one={rule} onSwitch={() => change(rule.enabled ? '/disable' : '/enable', sendJson('POST', {}))} />
        <SureButton
          label={say('Delete')}
          name={say('Delete: {name}', { name: rule.name })}
          question="Delete this rule?"
          onSure={() => change('', { method: 'DELETE' })}
        />
      </div>
    </>
  )
}

const STATES: Readonly<Record<Trigger['status'], Text>> = {
  triggered: 'fired',
  skipped: 'skipped',
  degraded: 'degraded',
  failed: 'failed',
}

function TriggerRow({ trigger }: { trigger: Trigger }) {
  const [messages, setMessages] = useState<Notification[] | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const ask = (isOpen: boolean) => {
    if (!isOpen || messages !== null) return
    request<Page<Notification>>(`${ALERTS}/notifications?trigger_id=${trigger.id}`).then(
      ({ items }) => setMessages(items),
      (error: unknown) => setProblem(messageOf(error)),
    )
  }
  const hasFired = trigger.status === 'triggered'
  return (
    <li>
      <div class="alert-head">
        <span class={`badge ${hasFired ? 'running' : trigger.status === 'failed' ? 'failed' : ''}`}>
          {say(STATES[trigger.status])}
        </span>
        <span class="alert-name">{trigger.rule_name}</span>
        <span class="code">{trigger.target}</span>
        <span class="row-time">
          <RelativeTime time={trigger.triggered_at} />
        </span>
      </div>
      <p>{trigger.reason}</p>
      {hasFired && (
        <details onToggle={(event) => ask(event.currentTarget.open)}>
          <summary>{say('Messages')}</summary>
          {problem !== null && <Notice kind="error">{problem}</Notice>}
          <ul class="alert-messages">
            {messages?.map(({ id, channel, success, diagnostics }) => (
              <li key={id}>
                {channel.startsWith('__') ? say('No message') : channel}: {success ? say('delivered') : diagnostics}
              </li>
            ))}
          </ul>
        </details>
      )}
    </li>
  )
}
