// A new rule: its kind decides which fields there are.

import { useEffect, useState } from 'preact/hooks'
import { messageOf, request, sendJson } from '../api.ts'
import { Choice } from '../controls.tsx'
import { say, type Text } from '../texts.ts'
import { Notice } from '../ui.tsx'
import { ALERT_KINDS, type AlertScope, type Field, SCOPE_NAMES } from './alert-kinds.ts'
import { PATH, type Watchlist } from './watchlists-api.ts'

export const ALERTS = '/api/v1/alerts'

/** What is typed or chosen, by the name of its field. */
type Values = Readonly<Record<string, string | readonly string[]>>

const SEVERITIES: readonly (readonly [value: string, label: Text])[] = [
  ['info', 'Info'],
  ['warning', 'Warning'],
  ['critical', 'Critical'],
]
const MARKETS: readonly (readonly [value: string, label: Text])[] = [
  ['cn', 'Mainland China'],
  ['hk', 'Hong Kong'],
  ['us', 'United States'],
]
const TEXT_FIELDS = ['name', 'from', 'to', 'hours', 'expires'] as const
const EMPTY = { name: '', from: '', to: '', hours: '', expires: '' }

function presetsOf(kind: string): Values {
  const fields = ALERT_KINDS[kind]?.fields ?? []
  return Object.fromEntries(
    fields.map((field) => {
      if (!('values' in field)) return [field.name, field.preset === undefined ? '' : String(field.preset)]
      return [field.name, field.isSeveral ? [] : (field.values[0]?.[0] ?? '')]
    }),
  )
}

export function AlertForm({ onMade }: { onMade: () => void }) {
  const [kind, setKind] = useState('price_cross')
  const [scope, setScope] = useState<AlertScope>('single_symbol')
  const [target, setTarget] = useState('')
  const [severity, setSeverity] = useState('warning')
  const [values, setValues] = useState<Values>(presetsOf('price_cross'))
  const [more, setMore] = useState<Record<(typeof TEXT_FIELDS)[number], string>>(EMPTY)
  const [problem, setProblem] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const choose = (next: string) => {
    setKind(next)
    setValues(presetsOf(next))
    const [first = 'single_symbol'] = ALERT_KINDS[next]?.scopes ?? []
    if (!ALERT_KINDS[next]?.scopes.includes(scope)) changeScope(first)
  }
  const changeScope = (next: AlertScope) => {
    setScope(next)
    setTarget(FIRST_TARGET[next])
  }
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    setBusy(true)
    setProblem(null)
    try {
      const rule = { alert_type: kind, target_scope: scope, target, severity, parameters: values, ...extras(more) }
      await request(`${ALERTS}/rules`, sendJson('POST', rule))
      setValues(presetsOf(kind))
      setMore(EMPTY)
      if (scope === 'single_symbol') setTarget('')
      onMade()
    } catch (error) {
      setProblem(messageOf(error))
    }
    setBusy(false)
  }
  const scopes = ALERT_KINDS[kind]?.scopes ?? []
  return (
    <form class="card alert-form" aria-labelledby="alert-form-head" onSubmit={(event) => void submit(event)}>
      <h2 id="alert-form-head">{say('A new rule')}</h2>
      <div class="alert-fields">
        <Choice
          label={say('What')}
          value={kind}
          options={Object.entries(ALERT_KINDS).map(([value, { label }]) => [value, say(label)])}
          onValue={choose}
        />
        <Choice
          label={say('Of')}
          value={scope}
          options={scopes.map((one) => [one, say(SCOPE_NAMES[one])])}
          onValue={(next) => changeScope(next as AlertScope)}
        />
        <TargetField scope={scope} target={target} onTarget={setTarget} />
        {(ALERT_KINDS[kind]?.fields ?? []).map((field) => (
          <FieldOf
            key={`${kind} ${field.name}`}
            field={field}
            value={values[field.name] ?? ''}
            onChange={(value) => setValues((before) => ({ ...before, [field.name]: value }))}
          />
        ))}
        <Choice
          label={say('How much it matters')}
          value={severity}
          options={SEVERITIES.map(([value, label]) => [value, say(label)])}
          onValue={setSeverity}
        />
      </div>
      <More values={more} onChange={(name, text) => setMore((before) => ({ ...before, [name]: text }))} />
      <p class="hint">{say('What holds already does not fire: a rule waits until its condition begins to hold.')}</p>
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      <button type="submit" class="primary start" disabled={busy || target.trim() === ''}>
        {say('Make the rule')}
      </button>
    </form>
  )
}

const FIRST_TARGET: Readonly<Record<AlertScope, string>> = {
  single_symbol: '',
  watchlist: 'default',
  portfolio_holdings: 'all',
  portfolio_account: 'all',
  market: 'cn',
}

/** What was left empty is left out. */
function extras({ name, from, to, hours, expires }: Record<(typeof TEXT_FIELDS)[number], string>) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  return {
    source: 'console',
    ...(name.trim() === '' ? {} : { name: name.trim() }),
    ...(hours === '' ? {} : { cooldown_policy: { cooldown_seconds: Math.round(Number(hours) * 3600) } }),
    ...(from === '' || to === '' ? {} : { notification_policy: { quiet_hours: { from, to, zone } } }),
    ...(expires === '' ? {} : { expires_at: new Date(expires).toISOString() }),
  }
}

type MoreProps = {
  values: Record<(typeof TEXT_FIELDS)[number], string>
  onChange: (name: (typeof TEXT_FIELDS)[number], text: string) => void
}

function More({ values, onChange }: MoreProps) {
  const of = (name: (typeof TEXT_FIELDS)[number]) => ({
    value: values[name],
    onInput: (event: { currentTarget: HTMLInputElement }) => onChange(name, event.currentTarget.value),
  })
  return (
    <details>
      <summary>{say('Name, quiet hours, end')}</summary>
      <div class="alert-fields">
        <label class="choice">
          <span>{say('Name')}</span>
          <input maxLength={64} {...of('name')} />
        </label>
        <label class="choice">
          <span>{say('Silent after a message, hours')}</span>
          <input type="number" min={0} step="any" {...of('hours')} />
        </label>
        <label class="choice">
          <span>{say('Quiet from')}</span>
          <input type="time" {...of('from')} />
        </label>
        <label class="choice">
          <span>{say('Quiet until')}</span>
          <input type="time" {...of('to')} />
        </label>
        <label class="choice">
          <span>{say('Ends')}</span>
          <input type="datetime-local" {...of('expires')} />
        </label>
      </div>
    </details>
  )
}

type FieldProps = {
  field: Field
  value: string | readonly string[]
  onChange: (value: string | readonly string[]) => void
}

function FieldOf({ field, value, onChange }: FieldProps) {
  if (!('values' in field)) {
    return (
      <label class="choice">
        <span>{say(field.label)}</span>
        <input
          inputMode="decimal"
          required
          value={String(value)}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      </label>
    )
  }
  const options = field.values.map(([one, label]) => [one, say(label)] as const)
  if (!field.isSeveral) {
    return <Choice label={say(field.label)} value={String(value)} options={options} onValue={onChange} />
  }
  const chosen = Array.isArray(value) ? (value as readonly string[]) : []
  return (
    <fieldset class="alert-several">
      <legend>{say(field.label)}</legend>
      {options.map(([one, label]) => (
        <label key={one}>
          <input
            type="checkbox"
            checked={chosen.includes(one)}
            onChange={() => onChange(chosen.includes(one) ? chosen.filter((other) => other !== one) : [...chosen, one])}
          />
          {label}
        </label>
      ))}
    </fieldset>
  )
}

type TargetProps = { scope: AlertScope; target: string; onTarget: (target: string) => void }
type Account = { id: number; name: string }

function TargetField({ scope, target, onTarget }: TargetProps) {
  const [lists, setLists] = useState<Watchlist[]>([])
  const [accounts, setAccounts] = useState<Account[]>([])
  useEffect(() => {
    // Without them the default group and all accounts can still be chosen.
    if (scope === 'watchlist') {
      void request<{ watchlists: Watchlist[] }>(PATH).then(
        ({ watchlists }) => setLists(watchlists),
        () => setLists([]),
      )
    }
    if (scope.startsWith('portfolio')) {
      void request<{ accounts: Account[] }>('/api/v1/portfolio/accounts').then(
        (found) => setAccounts(found.accounts),
        () => setAccounts([]),
      )
    }
  }, [scope])
  if (scope === 'single_symbol') {
    return (
      <label class="choice">
        <span>{say('Code or name')}</span>
        <input value={target} maxLength={64} required onInput={(event) => onTarget(event.currentTarget.value)} />
      </label>
    )
  }
  const options: (readonly [string, string])[] =
    scope === 'watchlist'
      ? [
          ['default', say('the default group')],
          ...lists.filter(({ is_default }) => !is_default).map((list) => [list.watchlist_id, list.name] as const),
        ]
      : scope === 'market'
        ? MARKETS.map(([value, label]) => [value, say(label)] as const)
        : [['all', say('all')], ...accounts.map(({ id, name }) => [String(id), name] as const)]
  return <Choice label={say('Which')} value={target} options={options} onValue={onTarget} />
}
