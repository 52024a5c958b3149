// Creates a rule: its kind determines the fields.

import { useEffect, useState } from 'preact/hooks'
import { request, sendJson } from '../api.ts'
import { Choice } from '../controls.tsx'
import { Form, Labelled, RefusalNotice, useFault } from '../form.tsx'
import { say, type Text } from '../texts.ts'
import { ALERT_KINDS, type AlertScope, type Field, SCOPE_NAMES } from './alert-kinds.ts'
import { PATH, type Watchlist } from './watchlists-api.ts'

export const ALERTS = '/api/v1/alerts'

/** The entered or selected values, by the name of their field. */
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
const EMPTY = { name: '', from: '', to: '', hours: '', expires: '' }
type TextFields = typeof EMPTY

/** A rule that is not saved yet. */
type Draft = { kind: string; scope: AlertScope; target: string; severity: string; values: Values; more: TextFields }
const FIRST_KIND = 'price_cross'

function presetsOf(kind: string): Values {
  const fields = ALERT_KINDS[kind]?.fields ?? []
  return Object.fromEntries(
    fields.map((field) => {
      if (!('values' in field)) return [field.name, field.preset === undefined ? '' : String(field.preset)]
      return [field.name, field.isSeveral ? [] : (field.values[0]?.[0] ?? '')]
    }),
  )
}

const emptyDraft = (): Draft => ({
  ...{ kind: FIRST_KIND, scope: 'single_symbol', target: '', severity: 'warning' },
  ...{ values: presetsOf(FIRST_KIND), more: EMPTY },
})

/** If the new kind supports the scope, it is kept. */
function withKind(draft: Draft, kind: string): Draft {
  const next = { ...draft, kind, values: presetsOf(kind) }
  const scopes = ALERT_KINDS[kind]?.scopes ?? []
  return scopes.includes(draft.scope) ? next : withScope(next, scopes[0] ?? 'single_symbol')
}

const withScope = (draft: Draft, scope: AlertScope): Draft => ({ ...draft, scope, target: FIRST_TARGET[scope] })

function ruleOf({ kind, scope, target, severity, values, more }: Draft) {
  return { alert_type: kind, target_scope: scope, target, severity, parameters: values, ...extras(more) }
}

export function AlertForm({ onMade }: { onMade: () => void }) {
  const [draft, setDraft] = useState(emptyDraft)
  const [error, setError] = useState<unknown>(null)
  const [busy, setBusy] = useState(false)
  const submit = async () => {
    setBusy(true)
    setError(null)
    try {
      await request(`${ALERTS}/rules`, sendJson('POST', ruleOf(draft)))
      setDraft((before) => {
        const target = before.scope === 'single_symbol' ? '' : before.target
        return { ...before, values: presetsOf(before.kind), more: EMPTY, target }
      })
      onMade()
    } catch (fault) {
      setError(fault)
    }
    setBusy(false)
  }
  return (
    <Form class="card alert-form" labelledBy="alert-form-head" error={error} onSubmit={() => void submit()}>
      <h2 id="alert-form-head">{say('A new rule')}</h2>
      <Condition draft={draft} onDraft={setDraft} />
      <MoreFields
        values={draft.more}
        onChange={(name, text) => setDraft((before) => ({ ...before, more: { ...before.more, [name]: text } }))}
      />
      <p class="hint">{say('What holds already does not fire: a rule waits until its condition begins to hold.')}</p>
      <RefusalNotice />
      <button type="submit" class="primary start" disabled={busy || draft.target.trim() === ''}>
        {say('Make the rule')}
      </button>
    </Form>
  )
}

type ConditionProps = { draft: Draft; onDraft: (change: (before: Draft) => Draft) => void }

/** The condition, its target, and its severity. */
function Condition({ draft: { kind, scope, target, severity, values }, onDraft }: ConditionProps) {
  const { scopes = [], fields = [] } = ALERT_KINDS[kind] ?? {}
  const set = (part: Partial<Draft>) => onDraft((before) => ({ ...before, ...part }))
  return (
    <div class="alert-fields">
      <Choice
        label={say('What')}
        name="alert_type"
        value={kind}
        options={Object.entries(ALERT_KINDS).map(([value, { label }]) => [value, say(label)])}
        onValue={(next) => onDraft((before) => withKind(before, next))}
      />
      <Choice
        label={say('Of')}
        name="target_scope"
        value={scope}
        options={scopes.map((one) => [one, say(SCOPE_NAMES[one])])}
        onValue={(next) => onDraft((before) => withScope(before, next as AlertScope))}
      />
      <TargetField scope={scope} target={target} onTarget={(next) => set({ target: next })} />
      {fields.map((field) => (
        <FieldOf
          key={`${kind} ${field.name}`}
          field={field}
          value={values[field.name] ?? ''}
          onChange={(value) => onDraft((before) => ({ ...before, values: { ...before.values, [field.name]: value } }))}
        />
      ))}
      <Choice
        label={say('How much it matters')}
        name="severity"
        value={severity}
        options={SEVERITIES.map(([value, label]) => [value, say(label)])}
        onValue={(next) => set({ severity: next })}
      />
    </div>
  )
}

const FIRST_TARGET: Readonly<Record<AlertScope, string>> = {
  single_symbol: '',
  watchlist: 'default',
  portfolio_holdings: 'all',
  portfolio_account: 'all',
  market: 'cn',
}

/** Empty fields are left out. */
function extras({ name, from, to, hours, expires }: TextFields) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  return {
    source: 'console',
    ...(name.trim() === '' ? {} : { name: name.trim() }),
    ...(hours === '' ? {} : { cooldown_policy: { cooldown_seconds: Math.round(Number(hours) * 3600) } }),
    ...(from === '' && to === '' ? {} : { notification_policy: { quiet_hours: { from, to, zone } } }),
    ...(expires === '' ? {} : { expires_at: new Date(expires).toISOString() }),
  }
}

type MoreFieldsProps = {
  values: TextFields
  onChange: (name: keyof TextFields, text: string) => void
}

/** In the order of the form: the input, and the name of the field in the API. */
const MORE = [
  { key: 'name', label: 'Name', name: 'name', input: { type: 'text', maxLength: 64 } },
  {
    ...{ key: 'hours', label: 'Silent after a message, hours', name: 'cooldown_policy.cooldown_seconds' },
    input: { type: 'number', min: 0, max: 720, step: 'any' },
  },
  { key: 'from', label: 'Quiet from', name: 'notification_policy.quiet_hours.from', input: { type: 'time' } },
  { key: 'to', label: 'Quiet until', name: 'notification_policy.quiet_hours.to', input: { type: 'time' } },
  {
    ...{ key: 'expires', label: 'Ends', name: 'expires_at' },
    // JavaScript cannot parse later dates.
    input: { type: 'datetime-local', max: '9999-12-31T23:59' },
  },
] as const satisfies readonly { key: keyof TextFields; label: Text; name: string; input: object }[]

const MoreFields = ({ values, onChange }: MoreFieldsProps) => (
  <details>
    <summary>{say('Name, quiet hours, end')}</summary>
    <div class="alert-fields">
      {MORE.map(({ key, label, name, input }) => (
        <Labelled key={key} label={say(label)} name={name}>
          {(attributes) => (
            <input
              {...input}
              {...attributes}
              value={values[key]}
              onInput={(event) => onChange(key, event.currentTarget.value)}
            />
          )}
        </Labelled>
      ))}
    </div>
  </details>
)

type FieldProps = {
  field: Field
  value: string | readonly string[]
  onChange: (value: string | readonly string[]) => void
}

function FieldOf({ field, value, onChange }: FieldProps) {
  const name = `parameters.${field.name}`
  if (!('values' in field)) {
    return (
      <Labelled label={say(field.label)} name={name}>
        {(attributes) => (
          <input
            inputMode="decimal"
            autocomplete="off"
            required
            {...attributes}
            value={String(value)}
            onInput={(event) => onChange(event.currentTarget.value)}
          />
        )}
      </Labelled>
    )
  }
  const options = field.values.map(([one, label]) => [one, say(label)] as const)
  if (!field.isSeveral) {
    return <Choice label={say(field.label)} name={name} value={String(value)} options={options} onValue={onChange} />
  }
  const chosen = Array.isArray(value) ? (value as readonly string[]) : []
  return <CheckboxGroup label={say(field.label)} {...{ name, options, chosen, onChange }} />
}

type CheckboxGroupProps = {
  label: string
  name: string
  options: readonly (readonly [value: string, label: string])[]
  chosen: readonly string[]
  onChange: (chosen: string[]) => void
}

function CheckboxGroup({ label, name, options, chosen, onChange }: CheckboxGroupProps) {
  const { attributes, note } = useFault(name)
  return (
    <fieldset class="alert-several">
      <legend>{label}</legend>
      {options.map(([one, words]) => (
        <label key={one}>
          <input
            type="checkbox"
            {...attributes}
            checked={chosen.includes(one)}
            onChange={() => onChange(chosen.includes(one) ? chosen.filter((other) => other !== one) : [...chosen, one])}
          />
          {words}
        </label>
      ))}
      {note}
    </fieldset>
  )
}

type TargetProps = { scope: AlertScope; target: string; onTarget: (target: string) => void }
type Account = { id: number; name: string }

/** Without them the default group and all accounts can still be selected. */
function useNamed(scope: AlertScope) {
  const [lists, setLists] = useState<Watchlist[]>([])
  const [accounts, setAccounts] = useState<Account[]>([])
  useEffect(() => {
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
  return { lists, accounts }
}

function TargetField({ scope, target, onTarget }: TargetProps) {
  const { lists, accounts } = useNamed(scope)
  if (scope === 'single_symbol') {
    return (
      <Labelled label={say('Code or name')} name="target">
        {(attributes) => (
          <input
            autocomplete="off"
            {...attributes}
            {...{ value: target, maxLength: 64, required: true }}
            onInput={(event) => onTarget(event.currentTarget.value)}
          />
        )}
      </Labelled>
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
  return <Choice label={say('Which')} name="target" value={target} options={options} onValue={onTarget} />
}
