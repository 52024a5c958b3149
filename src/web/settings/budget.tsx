// The budget for language models, and the amount used.

import { useState } from 'preact/hooks'
import { clockTime } from '../format.ts'
import { locale, say, type Text } from '../texts.ts'
import { Loading, SaveForm, TextField, useAction, useLoaded } from './fields.tsx'
import { type Budget, type BudgetAmount, type BudgetChange, getBudget, saveBudget } from './settings-api.ts'

export function BudgetSettings() {
  const loaded = useLoaded(getBudget)
  return (
    <>
      <h2>{say('Budget for models')}</h2>
      <Loading loaded={loaded}>{(budget) => <BudgetForm budget={budget} />}</Loading>
    </>
  )
}

type Draft = Record<keyof BudgetChange, string>

const FIELDS: readonly (readonly [keyof BudgetChange, Text])[] = [
  ['day_usd', 'US dollars a day'],
  ['day_tokens', 'Tokens a day'],
  ['month_usd', 'US dollars a month'],
  ['month_tokens', 'Tokens a month'],
]

function BudgetForm({ budget: before }: { budget: Budget }) {
  const [budget, setBudget] = useState(before)
  const [draft, setDraft] = useState(() => draftOf(before))
  const saving = useAction()
  const save = () =>
    saving.run(async () => {
      setBudget(await saveBudget(changeOf(draft)))
      return undefined
    })
  return (
    <SaveForm action={saving} onSave={() => void save()}>
      <p class="hint">
        {say(
          'Empty for no limit. Days and months are those of UTC; a budget is overspent by one call at most. Of a model whose price nobody knows only the tokens count.',
        )}{' '}
        {!budget.is_counted && say('Nothing is counted while no limit is set.')}
      </p>
      {FIELDS.map(([name, label]) => (
        <TextField
          key={name}
          label={label}
          kind="number"
          value={draft[name]}
          onText={(text) => setDraft((now) => ({ ...now, [name]: text }))}
          hint={<Standing name={name} budget={budget} />}
        />
      ))}
    </SaveForm>
  )
}

function Standing({ name, budget }: { name: keyof BudgetChange; budget: Budget }) {
  const span = budget[name.startsWith('day') ? 'day' : 'month']
  const isMoney = name.endsWith('usd')
  const { ceiling, used, reserved } = isMoney ? span.usd : span.tokens
  const amount = (value: number) => (isMoney ? dollars(value) : value.toLocaleString(locale))
  return (
    <>
      {budget.is_counted &&
        say('{used} used, {reserved} set aside for calls under way.', {
          used: amount(used),
          reserved: amount(reserved),
        })}{' '}
      {ceiling !== null && say('The operator allows {ceiling}.', { ceiling: amount(ceiling) })}{' '}
      {isMoney && span.unpriced_calls > 0 && say('{n} calls have no known price.', { n: span.unpriced_calls })}{' '}
      {budget.is_counted && say('Counts anew at {time}.', { time: clockTime(span.resets_at) })}
    </>
  )
}

const dollars = (value: number): string => `$${value.toLocaleString(locale, { maximumFractionDigits: 4 })}`

const textOf = ({ own }: BudgetAmount): string => (own === null ? '' : String(own))

const draftOf = ({ day, month }: Budget): Draft => ({
  day_usd: textOf(day.usd),
  day_tokens: textOf(day.tokens),
  month_usd: textOf(month.usd),
  month_tokens: textOf(month.tokens),
})

const numberOf = (text: string): number | null => (text.trim() === '' ? null : Number(text))

const changeOf = (draft: Draft): BudgetChange => ({
  day_usd: numberOf(draft.day_usd),
  day_tokens: numberOf(draft.day_tokens),
  month_usd: numberOf(draft.month_usd),
  month_tokens: numberOf(draft.month_tokens),
})
