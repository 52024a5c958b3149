// Forms for what happened: a new account, a trade, a payment, a dividend or a split. Figures are sent as they were typed.

import { useState } from 'preact/hooks'
import { messageOf, request, sendJson } from '../api.ts'
import { Choice } from '../controls.tsx'
import { say, type Text } from '../texts.ts'
import { Notice } from '../ui.tsx'
import { type Account, BASE } from './portfolio-api.ts'

type Field = {
  name: string
  label: Text
  kind: 'text' | 'date' | 'figure'
  isOptional?: boolean
  options?: readonly (readonly [string, Text])[]
}
type Form = { path: string; name: Text; fields: readonly Field[] }

const CODE: Field = { name: 'symbol', label: 'Code or name', kind: 'text' }
const CURRENCY: Field = { name: 'currency', label: 'Currency', kind: 'text', isOptional: true }
const FORMS: readonly Form[] = [
  {
    path: 'trades',
    name: 'Trade',
    fields: [
      {
        name: 'side',
        label: 'Side',
        kind: 'text',
        options: [
          ['buy', 'Bought'],
          ['sell', 'Sold'],
        ],
      },
      CODE,
      { name: 'trade_date', label: 'Day', kind: 'date' },
      { name: 'quantity', label: 'Shares', kind: 'figure' },
      { name: 'price', label: 'Price of one', kind: 'figure' },
      { name: 'fee', label: 'Fee', kind: 'figure', isOptional: true },
      { name: 'tax', label: 'Tax', kind: 'figure', isOptional: true },
    ],
  },
  {
    path: 'cash-ledger',
    name: 'Payment',
    fields: [
      {
        name: 'direction',
        label: 'Direction',
        kind: 'text',
        options: [
          ['in', 'Paid in'],
          ['out', 'Paid out'],
        ],
      },
      { name: 'event_date', label: 'Day', kind: 'date' },
      { name: 'amount', label: 'Amount', kind: 'figure' },
      CURRENCY,
    ],
  },
  {
    path: 'corporate-actions',
    name: 'Dividend',
    fields: [
      CODE,
      { name: 'effective_date', label: 'Day', kind: 'date' },
      { name: 'cash_dividend_per_share', label: 'Of one share', kind: 'figure' },
    ],
  },
  {
    path: 'corporate-actions',
    name: 'Split',
    fields: [
      CODE,
      { name: 'effective_date', label: 'Day', kind: 'date' },
      { name: 'split_ratio', label: 'New shares for one', kind: 'figure' },
    ],
  },
]
const ACTIONS: Readonly<Partial<Record<Text, string>>> = { Dividend: 'cash_dividend', Split: 'split_adjustment' }

type Props = { accounts: Account[]; chosen: string; onBooked: () => void }

export function Booking({ accounts, chosen, onBooked }: Props) {
  const [kind, setKind] = useState(accounts.length === 0 ? -1 : 0)
  const form = FORMS[kind]
  return (
    <section class="card booking" aria-labelledby="booking-head">
      <h2 id="booking-head">{say('Book')}</h2>
      <fieldset class="tabs-like">
        <legend class="visually-hidden">{say('What to book')}</legend>
        {[...FORMS.map(({ name }, i) => [name, i] as const), ['Account', -1] as const].map(([name, i]) => (
          <label key={name}>
            <input
              type="radio"
              name="booking"
              checked={kind === i}
              disabled={i >= 0 && accounts.length === 0}
              onChange={() => setKind(i)}
            />{' '}
            {say(name)}
          </label>
        ))}
      </fieldset>
      {form === undefined ? (
        <NewAccount onBooked={onBooked} />
      ) : (
        <Fields key={form.name} {...{ form, accounts, chosen, onBooked }} />
      )}
    </section>
  )
}

function useSending(onBooked: () => void) {
  const [problem, setProblem] = useState<string | null>(null)
  const [told, setTold] = useState<string | null>(null)
  /** Whether it was done; a refusal is shown, and what was typed stays. */
  const send = async (path: string, body: object): Promise<boolean> => {
    setTold(null)
    try {
      await request(`${BASE}/${path}`, sendJson('POST', body))
      setProblem(null)
      setTold(say('Booked.'))
      onBooked()
      return true
    } catch (error) {
      setProblem(messageOf(error))
      return false
    }
  }
  const notices = (
    <>
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      {told !== null && <Notice kind="info">{told}</Notice>}
    </>
  )
  return { send, notices }
}

function Fields({ form, accounts, chosen, onBooked }: Props & { form: Form }) {
  const [values, setValues] = useState<Record<string, string>>({})
  const [own, setOwn] = useState('')
  const { send, notices } = useSending(onBooked)
  const account = own || chosen || String(accounts[0]?.id ?? '')
  const typedIn = ({ name, options }: Field) => values[name] ?? options?.[0]?.[0] ?? ''
  const book = async (event: SubmitEvent) => {
    event.preventDefault()
    const filled = form.fields
      .map((field) => [field.name, typedIn(field).trim()] as const)
      .filter(([, value]) => value !== '')
    const action = ACTIONS[form.name]
    const body = { account_id: Number(account), ...Object.fromEntries(filled), ...(action && { action_type: action }) }
    if (await send(form.path, body)) setValues({})
  }
  return (
    <form class="filters" onSubmit={(event) => void book(event)}>
      <Choice
        label={say('Account')}
        value={account}
        options={accounts.map(({ id, name }) => [String(id), name])}
        onValue={setOwn}
      />
      {form.fields.map((field) => (
        <OneField
          key={field.name}
          field={field}
          value={typedIn(field)}
          onValue={(value) => setValues((before) => ({ ...before, [field.name]: value }))}
        />
      ))}
      <button type="submit" class="primary">
        {say('Book it')}
      </button>
      {notices}
    </form>
  )
}

function OneField({ field, value, onValue }: { field: Field; value: string; onValue: (value: string) => void }) {
  const { label, kind, options, isOptional = false } = field
  if (options !== undefined) {
    const named = options.map(([code, name]): [string, string] => [code, say(name)])
    return <Choice label={say(label)} value={value} options={named} onValue={onValue} />
  }
  const shared = { required: !isOptional, value }
  if (kind === 'date') {
    return (
      <label class="choice">
        <span>{say(label)}</span>
        <input type="date" {...shared} onInput={(event) => onValue(event.currentTarget.value)} />
      </label>
    )
  }
  return (
    <label class="choice">
      <span>{say(label)}</span>
      <input
        type="text"
        inputMode={kind === 'figure' ? 'decimal' : 'text'}
        {...shared}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
    </label>
  )
}

function NewAccount({ onBooked }: { onBooked: () => void }) {
  const [name, setName] = useState('')
  const [currency, setCurrency] = useState('CNY')
  const [market, setMarket] = useState('cn')
  const { send, notices } = useSending(onBooked)
  const add = async (event: SubmitEvent) => {
    event.preventDefault()
    if (await send('accounts', { name: name.trim(), base_currency: currency.trim(), market })) setName('')
  }
  return (
    <form class="filters" onSubmit={(event) => void add(event)}>
      <label class="choice">
        <span>{say('Name of the account')}</span>
        <input value={name} maxLength={64} required onInput={(event) => setName(event.currentTarget.value)} />
      </label>
      <label class="choice">
        <span>{say('Currency')}</span>
        <input value={currency} maxLength={8} required onInput={(event) => setCurrency(event.currentTarget.value)} />
      </label>
      <Choice
        label={say('Market')}
        value={market}
        options={['cn', 'hk', 'us', 'jp', 'kr', 'tw'].map((code) => [code, code.toUpperCase()])}
        onValue={setMarket}
      />
      <button type="submit" class="primary" disabled={name.trim() === ''}>
        {say('Add the account')}
      </button>
      {notices}
    </form>
  )
}
