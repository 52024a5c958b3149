// Imports a broker's file: it is read, unknown columns are selected, the rows are reviewed and tested, and only then
// booked.

import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, messageOf, request } from '../api.ts'
import { Choice } from '../controls.tsx'
import { price } from '../format.ts'
import { say, type Text } from '../texts.ts'
import { Notice, useAnswer } from '../ui.tsx'
import { type Account, BASE } from './portfolio-api.ts'

type Broker = { broker: string; display_name: string }
type Record_ = {
  row: number
  trade_date: string
  symbol: string
  side: 'buy' | 'sell'
  quantity: number
  price: number
  currency: string
}
type Preview = {
  record_count: number
  dividend_count: number
  cash_count: number
  skipped_count: number
  error_count: number
  records: Record_[]
  errors: string[]
  dividends: { row: number; date: string; symbol: string; amount: number; fee: number; tax: number; currency: string }[]
  cash: { row: number; date: string; direction: 'in' | 'out'; amount: number; currency: string }[]
  skipped: { row: number; column: string; text: string }[]
  columns: string[]
  mapping: Record<string, string | null>
}
type Result = {
  inserted_count: number
  duplicate_count: number
  failed_count: number
  dry_run: boolean
  errors: string[]
}
type Columns = Record<string, string>

const FIELDS: readonly (readonly [field: string, name: Text, isNeeded: boolean])[] = [
  ['date', 'Day', true],
  ['symbol', 'Code', true],
  ['side', 'Side', true],
  ['quantity', 'Shares', true],
  ['price', 'Price of one', true],
  ['fee', 'Fee', false],
  ['tax', 'Tax', false],
  ['amount', 'Sum of a dividend or payment', false],
  ['currency', 'Currency', false],
  ['uid', 'Number of the trade', false],
]
const SHOWN = 50

type Props = { accounts: Account[]; chosen: string; onBooked: () => void }

const brokersThere = () => request<{ brokers: Broker[] }>(`${BASE}/imports/csv/brokers`)

function send<T>(path: string, source: File, fields: Columns): Promise<T> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  form.append('file', source, source.name)
  return request<T>(`${BASE}/imports/csv/${path}`, { method: 'POST', body: form })
}

/** The contents of the file, read with the broker's columns or the selected ones. */
function useReading() {
  const [file, setFile] = useState<File | null>(null)
  const [columns, setColumns] = useState<string[]>([])
  const [mapping, setMapping] = useState<Columns>({})
  const [preview, setPreview] = useState<Preview | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const newest = useRef(0)
  const read = async (source: File | null, using: string, wanted: Columns) => {
    const turn = ++newest.current
    setFile(source)
    setMapping(wanted)
    if (source === null) return
    try {
      const found = await send<Preview>('parse', source, { broker: using, mapping: JSON.stringify(wanted) })
      // Keyboard users pass through several columns, and each one causes a request.
      if (turn !== newest.current) return
      setPreview(found)
      setColumns(found.columns)
      setProblem(null)
    } catch (error) {
      if (turn !== newest.current) return
      setPreview(null)
      setColumns(columnsOf(error) ?? (source === file ? columns : []))
      setProblem(messageOf(error))
    }
  }
  return { file, columns, mapping, preview, problem, read }
}

/** The import, as a test or a booking. */
function useBooking(onBooked: () => void) {
  const [result, setResult] = useState<Result | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const clear = () => {
    setResult(null)
    setProblem(null)
  }
  const commit = async (file: File, fields: Columns, isTrial: boolean) => {
    try {
      setResult(await send<Result>('commit', file, { ...fields, dry_run: String(isTrial) }))
      setProblem(null)
      if (!isTrial) onBooked()
    } catch (error) {
      setResult(null)
      setProblem(messageOf(error))
    }
  }
  return { result, problem, clear, commit }
}

export function FileImport({ accounts, chosen, onBooked }: Props) {
  const brokers = useAnswer(brokersThere, [])
  const [broker, setBroker] = useState('huatai')
  const [account, setAccount] = useState('')
  const { file, columns, mapping, preview, ...reading } = useReading()
  const { result, ...booking } = useBooking(onBooked)
  const problem = booking.problem ?? reading.problem ?? brokers.problem
  const into = account || chosen || String(accounts[0]?.id ?? '')
  const there = brokers.found?.brokers ?? []
  const read = (source: File | null, using: string, wanted: Columns) => {
    booking.clear()
    void reading.read(source, using, wanted)
  }
  const use = (next: string) => {
    setBroker(next)
    read(file, next, {})
  }
  const fields = { account_id: into, broker, mapping: JSON.stringify(mapping) }
  const commit = (isTrial: boolean) => file !== null && void booking.commit(file, fields, isTrial)
  return (
    <section class="card booking" aria-labelledby="csv-head">
      <h2 id="csv-head">{say('Import a broker’s file')}</h2>
      <div class="filters">
        <ImportSource {...{ accounts, broker, into }} brokers={there} onBroker={use} onInto={setAccount} />
        <FileButton name={file?.name ?? null} onFile={(source) => read(source, broker, mapping)} />
      </div>
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      {file !== null && columns.length > 0 && (
        <ColumnChoice
          key={`${file.name} ${file.lastModified} ${file.size}`}
          {...{ columns, mapping, taken: preview?.mapping ?? {} }}
          onMapping={(next) => read(file, broker, next)}
        />
      )}
      {preview !== null && <ImportPreview preview={preview} onCommit={commit} />}
      {result !== null && <ImportResult result={result} />}
    </section>
  )
}

type ImportSourceProps = {
  brokers: readonly Broker[]
  broker: string
  accounts: readonly Account[]
  into: string
  onBroker: (code: string) => void
  onInto: (id: string) => void
}

const ImportSource = ({ brokers, broker, accounts, into, onBroker, onInto }: ImportSourceProps) => (
  <>
    <Choice
      label={say('Broker')}
      value={broker}
      options={brokers.map(({ broker: code, display_name: name }) => [code, name])}
      onValue={onBroker}
    />
    <Choice
      label={say('Into the account')}
      value={into}
      options={accounts.map(({ id, name }) => [String(id), name])}
      onValue={onInto}
    />
  </>
)

/** The columns of a file without the required ones; null for another error. */
function columnsOf(error: unknown): string[] | null {
  const detail = error instanceof ApiError ? error.body.detail : null
  if (typeof detail !== 'object' || detail === null || !('columns' in detail) || !Array.isArray(detail.columns))
    return null
  return detail.columns.map(String)
}

function FileButton({ name, onFile }: { name: string | null; onFile: (file: File) => void }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <button type="button" onClick={() => input.current?.click()}>
        {say('Choose a file')}
      </button>
      {name !== null && <span class="hint">{name}</span>}
      <input
        ref={input}
        type="file"
        class="visually-hidden"
        tabIndex={-1}
        aria-label={say('Choose a file')}
        accept=".csv,.txt,.tsv,.xls"
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? []
          if (file !== undefined) onFile(file)
          event.currentTarget.value = ''
        }}
      />
    </>
  )
}

type ColumnProps = {
  columns: string[]
  mapping: Columns
  taken: Record<string, string | null>
  onMapping: (next: Columns) => void
}

/** Collapsed if every column is known; it stays open while the user selects the last one. */
function ColumnChoice({ columns, mapping, taken, onMapping }: ColumnProps) {
  const [isOpen, setIsOpen] = useState(false)
  const isUnknown = Object.keys(taken).length === 0
  useEffect(() => {
    if (isUnknown) setIsOpen(true)
  }, [isUnknown])
  return (
    <details open={isOpen} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>{say('Columns')}</summary>
      <div class="filters">
        {FIELDS.map(([field, name, isNeeded]) => (
          <label key={field} class="choice">
            <span>{isNeeded ? say(name) : `${say(name)} (${say('optional')})`}</span>
            <select
              value={mapping[field] ?? taken[field]?.split(', ')[0] ?? ''}
              onChange={(event) => onMapping({ ...mapping, [field]: event.currentTarget.value })}
            >
              <option value="" disabled={mapping[field] !== undefined}>
                –
              </option>
              {columns
                .filter((column) => column !== '')
                .map((column) => (
                  <option key={column} value={column}>
                    {column}
                  </option>
                ))}
            </select>
          </label>
        ))}
      </div>
    </details>
  )
}

function ImportPreview({ preview, onCommit }: { preview: Preview; onCommit: (isTrial: boolean) => void }) {
  const { record_count: count, dividend_count: dividends, cash_count: payments } = preview
  const { skipped_count: skipped, error_count: faults } = preview
  return (
    <>
      <p role="status">
        {say(
          'Trades: {trades}, dividends: {dividends}, payments: {payments}, other rows: {skipped}, rows at fault: {faults}.',
          {
            trades: count - dividends - payments,
            ...{ dividends, payments, skipped, faults },
          },
        )}
      </p>
      <Faults faults={preview.errors} />
      {preview.skipped.length > 0 && <Skipped rows={preview.skipped} />}
      <Dividends rows={preview.dividends} />
      <Payments rows={preview.cash} />
      <Trades records={preview.records} />
      <div class="form-actions">
        <button type="button" disabled={count === 0} onClick={() => onCommit(true)}>
          {say('Try it')}
        </button>
        <button type="button" class="primary" disabled={count === 0 || faults > 0} onClick={() => onCommit(false)}>
          {say('Book {count}', { count })}
        </button>
      </div>
    </>
  )
}

type TableProps = {
  label: Text
  heads: readonly Text[]
  /** The number of the row in the file, then its cells. */
  rows: readonly (readonly [row: number, ...cells: string[]])[]
}

const Rows = ({ label, heads, rows }: TableProps) =>
  rows.length === 0 ? null : (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="table-scroll" aria-label={say(label)} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {heads.map((name) => (
              <th key={name} scope="col">
                {say(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, SHOWN).map(([row, ...cells]) => (
            <tr key={row}>
              <th scope="row">{row}</th>
              {cells.map((cell, i) => (
                <td key={heads[i + 1]}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )

const sum = (amount: number, currency: string): string => `${price(amount)} ${currency}`

const Dividends = ({ rows }: { rows: Preview['dividends'] }) => (
  <Rows
    label="Dividends of the file"
    heads={['Row', 'Day', 'Code', 'Dividend before tax', 'Fee', 'Tax']}
    rows={rows.map(({ row, date, symbol, amount, fee, tax, currency }) => {
      return [row, date, symbol, sum(amount, currency), price(fee), price(tax)]
    })}
  />
)

const Payments = ({ rows }: { rows: Preview['cash'] }) => (
  <Rows
    label="Payments of the file"
    heads={['Row', 'Day', 'Payment', 'Amount']}
    rows={rows.map(({ row, date, direction, amount, currency }) => {
      return [row, date, say(direction === 'in' ? 'Paid in' : 'Paid out'), sum(amount, currency)]
    })}
  />
)

const Trades = ({ records }: { records: readonly Record_[] }) => (
  <Rows
    label="Trades of the file"
    heads={['Row', 'Day', 'Side', 'Code', 'Shares', 'Price of one']}
    rows={records.map(({ row, trade_date: day, side, symbol, quantity, price: paid, currency }) => {
      const shares = quantity.toLocaleString('en', { maximumFractionDigits: 8 })
      return [row, day, say(side === 'buy' ? 'Bought' : 'Sold'), symbol, shares, sum(paid, currency)]
    })}
  />
)

const Skipped = ({ rows }: { rows: Preview['skipped'] }) => (
  <details>
    <summary>{say('Rows that are not booked')}</summary>
    <ul class="plain">
      {rows.map(({ row, column, text }) => (
        <li key={row}>
          <span class="hint">{say('row {row}', { row })}</span>{' '}
          <span>{`${column}: ${text === '' ? say('nothing') : text}`}</span>
        </li>
      ))}
    </ul>
  </details>
)

const Faults = ({ faults }: { faults: readonly string[] }) =>
  faults.length === 0 ? null : (
    <Notice kind="warning">
      <ul class="plain">
        {faults.map((fault) => (
          <li key={fault}>{fault}</li>
        ))}
      </ul>
    </Notice>
  )

function ImportResult({ result }: { result: Result }) {
  const { inserted_count: count, duplicate_count: repeated, failed_count: failed } = result
  const values = { count, repeated, failed }
  return (
    <>
      <Notice kind={failed > 0 ? 'warning' : 'info'}>
        {result.dry_run
          ? say('A trial: {count} would be booked, {repeated} are there already, {failed} cannot be.', values)
          : say('{count} were booked, {repeated} were there already.', values)}
      </Notice>
      <Faults faults={result.errors} />
    </>
  )
}
