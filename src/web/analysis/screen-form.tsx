// The form of a screen: conditions on figures, how they are combined, and the order of the results.

import { Choice } from '../controls.tsx'
import { Labelled } from '../form.tsx'
import { say, type Text } from '../texts.ts'

export type FieldSpec = {
  name: string
  title: string
  meaning: string
  group: 'listing' | 'close' | 'bars'
  kind: 'number' | 'text' | 'flag'
  unit: string
  ops: string[]
}

type Condition = { field: string; op: string; value: unknown }
export type Screen = {
  markets: string[]
  kinds: string[]
  where: Record<string, unknown> | null
  sort: { field: string; order: 'asc' | 'desc' }[]
  limit: number | null
  max_age_sessions: number | string
}

/** A condition that is being edited. */
export type Row = { id: number; field: string; op: string; value: string; until: string; other: string }

export type Draft = {
  markets: string[]
  join: 'and' | 'or'
  rows: Row[]
  /** A filter that this form cannot show: it is kept unchanged. */
  nested: Record<string, unknown> | null
  sort: string
  order: 'asc' | 'desc'
  age: string
  /** The fields of an opened screen that the form does not show. */
  rest: Pick<Screen, 'kinds' | 'limit'>
}

let lastId = 0
const emptyRow = (field: string, op: string): Row => {
  lastId += 1
  return { id: lastId, field, op, value: '', until: '', other: '' }
}

export const EMPTY: Draft = {
  ...{ markets: [], join: 'and', rows: [emptyRow('pe_ratio', 'lte')], nested: null },
  ...{ sort: '', order: 'desc', age: '3', rest: { kinds: ['stock'], limit: null } },
}

const isCondition = (value: unknown): value is Condition =>
  typeof value === 'object' && value !== null && 'field' in value && 'op' in value

function rowOf({ field, op, value }: Condition): Row {
  const row = emptyRow(field, op)
  if (Array.isArray(value)) {
    const [first = '', second = ''] = value.map(String)
    return op === 'between' ? { ...row, value: first, until: second } : { ...row, value: value.join(', ') }
  }
  if (typeof value === 'object' && value !== null)
    return { ...row, other: String((value as { field?: unknown }).field) }
  return { ...row, value: String(value) }
}

/** Converts a screen to the form. */
export function draftOf(screen: Screen): Draft {
  const { markets, where, sort, kinds, limit, max_age_sessions } = screen
  const join = where !== null && 'or' in where ? 'or' : 'and'
  const parts = where === null ? [] : isCondition(where) ? [where] : where[join]
  const isFlat = Array.isArray(parts) && parts.every(isCondition)
  const [first] = sort
  return {
    ...{ markets, join, rows: isFlat ? parts.map(rowOf) : [], nested: isFlat ? null : where },
    ...{
      sort: first?.field ?? '',
      order: first?.order ?? 'desc',
      age: String(max_age_sessions),
      rest: { kinds, limit },
    },
  }
}

/** Text that is not a number is kept: the service reports the error. */
const numberIn = (text: string): number | string =>
  text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text)

function conditionOf({ field, op, value, until, other }: Row): Condition {
  if (other !== '') return { field, op, value: { field: other } }
  if (op === 'between') return { field, op, value: [numberIn(value), numberIn(until)] }
  if (op === 'is') return { field, op, value: value !== 'false' }
  if (op === 'in' || op === 'not_in') {
    const values = value.split(/[,，]/).map((one) => one.trim())
    return { field, op, value: values.filter((one) => one !== '') }
  }
  return { field, op, value: numberIn(value) }
}

export function screenOf({ markets, join, rows, nested, sort, order, age, rest }: Draft): Screen {
  const where = nested ?? (rows.length === 0 ? null : { [join]: rows.map(conditionOf) })
  const max_age_sessions = age.trim() === '' ? 3 : age.trim()
  return { ...rest, markets, where, sort: sort === '' ? [] : [{ field: sort, order }], max_age_sessions }
}

const OPS: Readonly<Record<string, Text>> = {
  gt: 'is above',
  gte: 'is at least',
  lt: 'is below',
  lte: 'is at most',
  eq: 'is equal to',
  between: 'Between',
  in: 'One of',
  not_in: 'None of',
  is: 'equal to',
}

type FormProps = {
  fields: readonly FieldSpec[]
  markets: readonly string[]
  draft: Draft
  onDraft: (draft: Draft) => void
}

export function Conditions({ fields, draft, onDraft }: FormProps) {
  const change = (id: number, part: Partial<Row>) =>
    onDraft({ ...draft, rows: draft.rows.map((row) => (row.id === id ? { ...row, ...part } : row)) })
  if (draft.nested !== null) return <Nested filter={draft.nested} />
  return (
    <>
      <ol class="screen-rows">
        {draft.rows.map((row, i) => (
          <ConditionRow
            key={row.id}
            {...{ row, fields, n: i + 1, path: `where.${draft.join}.${i}`, onChange: (part) => change(row.id, part) }}
            onRemove={() => onDraft({ ...draft, rows: draft.rows.filter(({ id }) => id !== row.id) })}
          />
        ))}
      </ol>
      <div class="form-actions">
        <button
          type="button"
          onClick={() => onDraft({ ...draft, rows: [...draft.rows, emptyRow('change_pct', 'gte')] })}
        >
          {say('Add a condition')}
        </button>
        {draft.rows.length > 1 && (
          <Choice
            label={say('A condition')}
            value={draft.join}
            options={[
              ['and', say('All conditions')],
              ['or', say('Any condition')],
            ]}
            onValue={(join) => onDraft({ ...draft, join: join as Draft['join'] })}
          />
        )}
      </div>
    </>
  )
}

const Nested = ({ filter }: { filter: Record<string, unknown> }) => (
  <>
    <p class="hint">{say('The filter is nested; it is run and saved as it is.')}</p>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
    <pre tabIndex={0}>{JSON.stringify(filter, null, 1)}</pre>
  </>
)

type RowProps = {
  row: Row
  n: number
  /** Its position in the filter. */
  path: string
  fields: readonly FieldSpec[]
  onChange: (part: Partial<Row>) => void
  onRemove: () => void
}

function ConditionRow({ row, n, path, fields, onChange, onRemove }: RowProps) {
  const spec = fields.find(({ name }) => name === row.field)
  const pick = (name: string) => {
    const next = fields.find((one) => one.name === name)
    const keepsOp = next?.ops.includes(row.op) ?? false
    onChange({ field: name, other: '', ...(keepsOp ? {} : { op: next?.ops[0] ?? 'gte', value: '', until: '' }) })
  }
  return (
    <li>
      <Choice
        label={say('A condition')}
        name={`${path}.field`}
        value={row.field}
        options={fields.map(({ name, title, unit, kind }) => [
          name,
          kind === 'number' ? say('{title} ({unit})', { title, unit }) : title,
        ])}
        onValue={pick}
      />
      <Choice
        label={say('Comparison')}
        name={`${path}.op`}
        value={row.op}
        options={(spec?.ops ?? []).map((op) => [op, say(OPS[op] ?? 'is equal to')])}
        onValue={(op) => onChange({ op, ...(op === 'between' ? { other: '' } : {}) })}
      />
      <ValueField {...{ row, spec, fields, onChange }} name={`${path}.value`} />
      <button type="button" class="quiet" onClick={onRemove} aria-label={say('Remove the condition {n}', { n })}>
        ×
      </button>
      {spec !== undefined && <p class="hint">{spec.meaning}</p>}
    </li>
  )
}

type ValueProps = Pick<RowProps, 'row' | 'fields' | 'onChange'> & { spec: FieldSpec | undefined; name: string }

const FLAGS: readonly (readonly [value: string, name: Text])[] = [
  ['true', 'yes'],
  ['false', 'no'],
]

function ValueField({ spec, ...props }: ValueProps) {
  const { row, name, onChange } = props
  if (spec?.kind === 'flag') {
    return (
      <Choice
        label={say('Values')}
        name={name}
        value={row.value === 'false' ? 'false' : 'true'}
        options={FLAGS.map(([value, words]) => [value, say(words)])}
        onValue={(value) => onChange({ value })}
      />
    )
  }
  if (spec?.kind === 'text') {
    return (
      <Typed
        label={say('Values, with commas')}
        name={name}
        value={row.value}
        onValue={(value) => onChange({ value })}
      />
    )
  }
  return row.op === 'between' ? <Span {...props} /> : <Figure {...props} unit={spec?.unit} />
}

type PartProps = Omit<ValueProps, 'spec'>

const Span = ({ row, name, onChange }: PartProps) => (
  <>
    <Typed label={say('From')} name={`${name}.0`} value={row.value} isNumber onValue={(value) => onChange({ value })} />
    <Typed label={say('To')} name={`${name}.1`} value={row.until} isNumber onValue={(until) => onChange({ until })} />
  </>
)

/** A number, or another figure of the same unit. */
function Figure({ row, fields, name, unit, onChange }: PartProps & { unit: string | undefined }) {
  const alike = fields.filter((one) => one.kind === 'number' && one.unit === unit && one.name !== row.field)
  const value = (text: string) => onChange({ value: text })
  return (
    <>
      <Choice
        label={say('Compared with')}
        name={row.other === '' ? undefined : name}
        value={row.other}
        options={[['', say('A number')], ...alike.map((one) => [one.name, one.title] as const)]}
        onValue={(other) => onChange({ other })}
      />
      {row.other === '' && <Typed label={say('A number')} name={name} value={row.value} isNumber onValue={value} />}
    </>
  )
}

type TypedProps = {
  label: string
  name: string
  value: string
  isNumber?: boolean
  onValue: (value: string) => void
}

export const Typed = ({ label, name, value, isNumber = false, onValue }: TypedProps) => (
  <Labelled label={label} name={name}>
    {(attributes) => (
      <input
        type="text"
        autocomplete="off"
        inputMode={isNumber ? 'decimal' : 'text'}
        {...attributes}
        value={value}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
    )}
  </Labelled>
)

const MARKETS: Readonly<Record<string, Text>> = {
  cn: 'Mainland China',
  hk: 'Hong Kong',
  us: 'United States',
  jp: 'Japan',
  kr: 'Korea',
  tw: 'Taiwan',
}
export const marketName = (market: string): string => (MARKETS[market] === undefined ? market : say(MARKETS[market]))

export function Order({ fields, markets, draft, onDraft }: FormProps) {
  const numbers = fields.filter(({ kind }) => kind === 'number')
  const set = (part: Partial<Draft>) => onDraft({ ...draft, ...part })
  return (
    <div class="alert-fields">
      {markets.length > 1 && (
        <Choice
          label={say('A market')}
          name="markets"
          value={draft.markets[0] ?? ''}
          options={[['', say('all')], ...markets.map((one) => [one, marketName(one)] as const)]}
          onValue={(one) => set({ markets: one === '' ? [] : [one] })}
        />
      )}
      <Choice
        label={say('In this order')}
        name="sort"
        value={draft.sort}
        options={[['', say('by code')], ...numbers.map(({ name, title }) => [name, title] as const)]}
        onValue={(sort) => set({ sort })}
      />
      {draft.sort !== '' && (
        <Choice
          label={say('Direction')}
          value={draft.order}
          options={[
            ['desc', say('Largest first')],
            ['asc', say('Smallest first')],
          ]}
          onValue={(order) => set({ order: order as Draft['order'] })}
        />
      )}
      <Age age={draft.age} onAge={(age) => set({ age })} />
    </div>
  )
}

const Age = ({ age, onAge }: { age: string; onAge: (age: string) => void }) => (
  <Typed label={say('Age of figures, sessions')} name="max_age_sessions" value={age} isNumber onValue={onAge} />
)
