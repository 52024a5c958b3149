// Forms for entries: a new account, a trade, a payment, a dividend or a split. Figures are sent as they were entered.

import { useState } from 'preact/hooks'
import { request, sendJson } from '../api.ts'
import { Choice } from '../controls.tsx'
import { Form, Labelled, RefusalNotice } from '../form.tsx'
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
type Entry = { path: string; name: Text; fields: readonly Field[] }

const CODE: Field = { name: 'symbol', label: 'Code or name', kind: 'text' }
const CURRENCY: Field = { name: 'currency', label: 'Currency', kind: 'text', isOptional: true }
const FORMS: readonly Entry[] = [
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
  const [error, setError] = useState<unknown>(null)
  const [told, setTold] = useState<string | null>(null)
  /** Returns whether it succeeded; an error is shown, and the input is kept. */
  const send = async (path: string, body: object): Promise<boolean> => {
    setTold(null)
    setError(null)
    try {
      await request(`${BASE}/${path}`, sendJson('POST', body))
      setTold(say('Booked.'))
      onBooked()
      return true
    } catch (fault) {
      setError(fault)
      return false
    }
  }
  const notices = (
    <>
      <RefusalNotice />
      {told !== null && <Notice kind="info">{told}</Notice>}
    </>
  )
  return { send, error, notices }
}

function Fields({ form, accounts, chosen, onBooked }: Props & { form: Entry }) {
  const [values, setValues] = useState<Record<string, string>>({})
  const [own, setOwn] = useState('')
  const { send, error, notices } = useSending(onBooked)
  const account = own || chosen || String(accounts[0]?.id ?? '')
  const typedIn = ({ name, options }: Field) => values[name] ?? options?.[0]?.[0] ?? ''
  const book = async () => {
    const filled = form.fields
      .map((field) => [field.name, typedIn(field).trim()] as const)
      .filter(([, value]) => value !== '')
    const action = ACTIONS[form.name]
    const body = { account_id: Number(account), ...Object.fromEntries(filled), ...(action && { action_type: action }) }
    if (await send(form.path, body)) setValues({})
  }
  return (
    <Form class="filters" error={error} onSubmit={() => void book()}>
      <Choice
        label={say('Account')}
        name="account_id"
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
    </Form>
  )
}

function OneField({ field, value, onValue }: { field: Field; value: string; onValue: (value: string) => void }) {
  const { name, label, kind, options, isOptional = false } = field
  if (options !== undefined) {
    const named = options.map(([code, words]): [string, string] => [code, say(words)])
    return <Choice label={say(label)} name={name} value={value} options={named} onValue={onValue} />
  }
  const required = !isOptional
  return (
    <Labelled label={say(label)} name={name}>
      {(attributes) =>
        kind === 'date' ? (
          <input
            type="date"
            {...attributes}
            {...{ required, value }}
            onInput={(event) => onValue(event.currentTarget.value)}
          />
        ) : (
          <input
            type="text"
            autocomplete="off"
            inputMode={kind === 'figure' ? 'decimal' : 'text'}
            {...attributes}
            {...{ required, value }}
            onInput={(event) => onValue(event.currentTarget.value)}
          />
        )
      }
    </Labelled>
  )
}

function NewAccount({ onBooked }: { onBooked: () => void }) {
  const [name, setName] = useState('')
  const [currency, setCurrency] = useState('CNY')
  const [market, setMarket] = useState('cn')
  const { send, error, notices } = useSending(onBooked)
  const add = async () => {
    if (await send('accounts', { name: name.trim(), base_currency: currency.trim(), market })) setName('')
  }
  return (
    <Form class="filters" error={error} onSubmit={() => void add()}>
      <Typed label="Name of the account" name="name" value={name} longest={64} onValue={setName} />
      <Typed label="Currency" name="base_currency" value={currency} longest={8} onValue={setCurrency} />
      <Choice
        label={say('Market')}
        name="market"
        value={market}
        options={['cn', 'hk', 'us', 'jp', 'kr', 'tw'].map((code) => [code, code.toUpperCase()])}
        onValue={setMarket}
      />
      <button type="submit" class="primary" disabled={name.trim() === ''}>
        {say('Add the account')}
      </button>
      {notices}
    </Form>
  )
}

type TypedProps = { label: Text; name: string; value: string; longest: number; onValue: (value: string) => void }

const Typed = ({ label, name, value, longest, onValue }: TypedProps) => (
  <Labelled label={say(label)} name={name}>
    {(attributes) => (
      <input
        autocomplete="off"
        {...attributes}
        {...{ value, maxLength: longest, required: true }}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
    )}
  </Labelled>
)
