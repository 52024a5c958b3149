// Imports a list from a file, a picture or the clipboard into a group, after a preview.

import { useRef, useState } from 'preact/hooks'
import { messageOf, request, sendJson } from '../api.ts'
import { hasFiles } from '../frame/dropped.ts'
import { say } from '../texts.ts'
import { Notice } from '../ui.tsx'
import type { StockReading } from '../wire.ts'
import { PATH, type Watchlist } from './watchlists-api.ts'

type Item = StockReading & {
  code: string | null
  name: string | null
  reading: string | null
  message: string | null
  confidence: 'high' | 'medium' | 'low'
  row: number
  group: string | null
  note: string | null
}
type Row = { item: Item; isTaken: boolean; code: string }

const rowOf = (item: Item): Row => ({ item, isTaken: item.confidence !== 'low', code: item.code ?? '' })

/** The rows for the group: their own one, or the selected one. */
const importOf = (rows: readonly Row[], group: string) =>
  rows
    .filter(({ isTaken, code }) => isTaken && code !== '')
    .map(({ item, code }) => ({
      stock_code: code,
      group: item.group ?? (group === '' ? null : group),
      note: item.note,
      row: item.row,
    }))

/** The rows that are read but not imported yet, and the two steps: read a source, import its rows. */
function useImport(onImported: () => void) {
  const [rows, setRows] = useState<Row[] | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [told, setTold] = useState<string | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  const work = async (doing: () => Promise<void>) => {
    setIsBusy(true)
    setProblem(null)
    setTold(null)
    try {
      await doing()
    } catch (error) {
      setProblem(messageOf(error))
    }
    setIsBusy(false)
  }
  const read = (init: RequestInit, path = 'parse-import') =>
    void work(async () => {
      const { items } = await request<{ items: Item[] }>(`/api/v1/stocks/${path}`, init)
      setRows(items.map(rowOf))
    })
  const take = (group: string) =>
    void work(async () => {
      const body = { rows: importOf(rows ?? [], group) }
      const { added } = await request<{ added: number }>(`${PATH}/import`, sendJson('POST', body))
      setRows(null)
      setTold(say('{count} stocks were added.', { count: added }))
      onImported()
    })
  return { rows, problem, told, isBusy, setRows, read, take }
}

export function WatchlistImport({ lists, onImported }: { lists: readonly Watchlist[]; onImported: () => void }) {
  const { rows, problem, told, isBusy, setRows, read, take } = useImport(onImported)
  return (
    <section class="card import" aria-labelledby="import-head">
      <h2 id="import-head">{say('Import')}</h2>
      <Source
        isBusy={isBusy}
        onText={(text) => read(sendJson('POST', { text }))}
        onFile={(file) => {
          const form = new FormData()
          form.append('file', file, file.name)
          const isPicture = file.type.startsWith('image/')
          read({ method: 'POST', body: form }, isPicture ? 'extract-from-image' : 'parse-import')
        }}
      />
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      {told !== null && <Notice kind="info">{told}</Notice>}
      {rows !== null && <Preview rows={rows} lists={lists} isBusy={isBusy} onRows={setRows} onTake={take} />}
    </section>
  )
}

type SourceProps = { isBusy: boolean; onText: (text: string) => void; onFile: (file: File) => void }

function Source({ isBusy, onText, onFile }: SourceProps) {
  const [text, setText] = useState('')
  const [isOver, setIsOver] = useState(false)
  return (
    <form
      class={`drop-place${isOver ? ' over' : ''}`}
      onSubmit={(event) => {
        event.preventDefault()
        onText(text)
      }}
      onDragOver={(event) => {
        // Text is dropped into the field.
        if (!hasFiles(event)) return
        event.preventDefault()
        setIsOver(true)
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={(event) => {
        if (!hasFiles(event)) return
        event.preventDefault()
        setIsOver(false)
        withFirst(event.dataTransfer?.files, onFile)
      }}
    >
      <p class="hint">
        {say('Drop a file here (CSV, XLSX, a picture), choose one, or paste a list. Nothing is stored yet.')}
      </p>
      <label>
        <span>{say('A list')}</span>
        <textarea rows={3} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <div class="form-actions">
        <button type="submit" disabled={isBusy || text.trim() === ''}>
          {say('Read the list')}
        </button>
        <FileButton isBusy={isBusy} onFile={onFile} />
      </div>
    </form>
  )
}

function withFirst(files: FileList | null | undefined, onFile: (file: File) => void): void {
  const [file] = files ?? []
  if (file !== undefined) onFile(file)
}

function FileButton({ isBusy, onFile }: { isBusy: boolean; onFile: (file: File) => void }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <button type="button" disabled={isBusy} onClick={() => input.current?.click()}>
        {say('Choose a file')}
      </button>
      <input
        ref={input}
        type="file"
        hidden
        accept=".csv,.txt,.tsv,.xlsx,image/png,image/jpeg,image/webp,image/gif"
        onChange={(event) => {
          withFirst(event.currentTarget.files, onFile)
          event.currentTarget.value = ''
        }}
      />
    </>
  )
}

type PreviewProps = {
  rows: Row[]
  lists: readonly Watchlist[]
  isBusy: boolean
  onRows: (rows: Row[] | null) => void
  onTake: (group: string) => void
}

function Preview({ rows, lists, isBusy, onRows, onTake }: PreviewProps) {
  const groups = lists.filter(({ is_default: isDefault }) => !isDefault).map(({ name }) => name)
  const [group, setGroup] = useState(groups[0] ?? '')
  const taken = rows.filter(({ isTaken, code }) => isTaken && code !== '').length
  const change = (place: number, to: Partial<Row>) =>
    onRows(rows.map((row, i) => (i === place ? { ...row, ...to } : row)))
  if (rows.length === 0) return <p class="empty">{say('Nothing in it is a stock.')}</p>
  return (
    <>
      <ul class="watched import-rows">
        {rows.map((row, i) => (
          <ImportLine key={`${row.item.row} ${row.item.input}`} row={row} onChange={(to) => change(i, to)} />
        ))}
      </ul>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault()
          onTake(group.trim())
        }}
      >
        <GroupField groups={groups} group={group} onGroup={setGroup} />
        <button type="submit" class="primary" disabled={isBusy || taken === 0}>
          {say('Import {count}', { count: taken })}
        </button>
        <button type="button" onClick={() => onRows(null)}>
          {say('Discard')}
        </button>
      </form>
    </>
  )
}

type GroupProps = { groups: readonly string[]; group: string; onGroup: (group: string) => void }

const GroupField = ({ groups, group, onGroup }: GroupProps) => (
  <>
    <label class="choice">
      <span>{say('Into the group')}</span>
      <input
        list="groups"
        maxLength={100}
        placeholder={say('default')}
        value={group}
        onInput={(event) => onGroup(event.currentTarget.value)}
      />
    </label>
    <datalist id="groups">
      {groups.map((name) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  </>
)

function ImportLine({ row, onChange }: { row: Row; onChange: (to: Partial<Row>) => void }) {
  const { item, isTaken, code } = row
  const shown = item.name === null ? (item.code ?? item.input) : `${item.name} ${item.code ?? ''}`
  return (
    <li class={item.confidence}>
      <label class="watched-name">
        <input
          type="checkbox"
          checked={isTaken}
          disabled={code === ''}
          onChange={(event) => onChange({ isTaken: event.currentTarget.checked })}
        />{' '}
        <span class="hint">{say('row {row}', { row: item.row })}</span> {item.confidence === 'low' ? item.input : shown}
      </label>
      <span class="what">
        {item.message !== null && <span>{item.message}</span>}
        {item.reading !== null && <span>{item.reading}</span>}
        {item.note !== null && <span>{item.note}</span>}
        {item.group !== null && <span class="badge">{item.group}</span>}
        {item.candidates.length > 0 && (
          <select
            aria-label={say('Which stock is meant in row {row}', { row: item.row })}
            value={code}
            onChange={(event) => onChange({ code: event.currentTarget.value, isTaken: true })}
          >
            {item.candidates.map((one) => (
              <option key={one.stock_code} value={one.stock_code}>
                {`${one.stock_name} ${one.stock_code} ${one.market_label}`}
              </option>
            ))}
          </select>
        )}
      </span>
    </li>
  )
}
