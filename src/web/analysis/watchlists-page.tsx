// Groups of stocks: their contents and order, notes, changes, import and export.

import './watchlists.css'
import { useEffect, useState } from 'preact/hooks'
import { messageOf, request, sendJson } from '../api.ts'
import { Form, Labelled, RefusalNotice } from '../form.tsx'
import { noteChange, useChanges } from '../frame/tabs.ts'
import { navigate, usePageTitle } from '../router.tsx'
import { SureButton } from '../settings/fields.tsx'
import { useStockNames } from '../stock-names.ts'
import { say } from '../texts.ts'
import { Notice, QueryState, useAnswer } from '../ui.tsx'
import { analyseCodes } from './history-pages.tsx'
import { SubNav } from './sub-nav.tsx'
import { WatchlistChanges } from './watchlist-changes.tsx'
import { WatchlistImport } from './watchlist-import.tsx'
import { PATH, type Watchlist } from './watchlists-api.ts'

const one = (id: string) => `${PATH}/${encodeURIComponent(id)}`

export function WatchlistsPage() {
  usePageTitle(say('Watchlists'))
  const { found, problem, setProblem, again } = useAnswer(() => request<{ watchlists: Watchlist[] }>(PATH), [])
  const lists = found?.watchlists ?? null
  useChanges('watchlists', again)
  const changed = () => {
    setProblem(null)
    noteChange('watchlists')
    again()
  }
  /** Returns whether it succeeded; an error is shown, and the input is kept. */
  const change: Change = async (path, init) => {
    try {
      await request(path, init)
      changed()
      return true
    } catch (error) {
      setProblem(messageOf(error))
      return false
    }
  }
  return (
    <main class="page">
      <h1>{say('Watchlists')}</h1>
      <SubNav current="watchlists" />
      <QueryState found={lists} problem={problem} onAgain={again} />
      <WatchlistChanges lists={lists ?? []} />
      {lists?.length === 0 && <p class="empty">{say('No watchlists yet. Name one below.')}</p>}
      <Cards lists={lists ?? []} onChange={change} onAdded={changed} />
      <NewList hasLists={lists !== null && lists.length > 0} onAdded={changed} />
      <WatchlistImport lists={lists ?? []} onImported={changed} />
    </main>
  )
}

type Change = (path: string, init: RequestInit) => Promise<boolean>

type CardsProps = Pick<CardProps, 'onChange' | 'onAdded'> & { lists: readonly Watchlist[] }

const Cards = ({ lists, onChange, onAdded }: CardsProps) => (
  <>
    {lists.map((list, i) => {
      const ids = orderOf(lists, i)
      const up = () => void onChange(PATH, sendJson('PUT', { watchlist_ids: ids }))
      return <ListCard key={list.watchlist_id} list={list} onChange={onChange} onAdded={onAdded} onUp={ids && up} />
    })}
  </>
)

function NewList({ hasLists, onAdded }: { hasLists: boolean; onAdded: () => void }) {
  const [name, setName] = useState('')
  const [error, setError] = useState<unknown>(null)
  const add = async () => {
    setError(null)
    try {
      await request(PATH, sendJson('POST', { name: name.trim() }))
      setName('')
      onAdded()
    } catch (fault) {
      setError(fault)
    }
  }
  return (
    <Form class="filters" error={error} onSubmit={() => void add()}>
      <Labelled label={say('A new list')} name="name">
        {(attributes) => (
          <input
            autocomplete="off"
            {...attributes}
            {...{ value: name, maxLength: 100, required: true }}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        )}
      </Labelled>
      <button type="submit" disabled={name.trim() === ''}>
        {say('Add')}
      </button>
      {hasLists && (
        <a class="button" href={`${PATH}/export`} download="watchlists.csv">
          {say('Export all')}
        </a>
      )}
      <RefusalNotice />
    </Form>
  )
}

/** The ids after moving this list up by one; null if it is the first that can move. */
function orderOf(lists: readonly Watchlist[], place: number): string[] | null {
  const [list, above] = [lists[place], lists[place - 1]]
  if (list === undefined || above === undefined || above.is_default) return null
  const rest = lists.filter((other) => other !== list)
  return rest.toSpliced(place - 1, 0, list).map(({ watchlist_id: id }) => id)
}

type CardProps = { list: Watchlist; onChange: Change; onAdded: () => void; onUp: (() => void) | null }

function ListCard({ list, onChange, onAdded, onUp }: CardProps) {
  const path = one(list.watchlist_id)
  return (
    <section class="card watchlist" aria-label={list.name}>
      <div class="watchlist-head">
        <h2>
          {list.name} <span class="badge">{list.stocks.length}</span>
        </h2>
        {onUp !== null && (
          <button type="button" class="quiet" aria-label={say('Move {name} up', { name: list.name })} onClick={onUp}>
            ↑
          </button>
        )}
      </div>
      <NoteField
        label={say('Note on {name}', { name: list.name })}
        note={list.note}
        onNote={(note) => onChange(path, sendJson('PUT', { note }))}
      />
      {list.stocks.length > 0 && <Stocks list={list} path={path} onChange={onChange} />}
      <AddStocks path={path} onAdded={onAdded} />
      <ListActions list={list} path={path} onChange={onChange} />
    </section>
  )
}

type PartProps = { path: string; onChange: Change }

function ListActions({ list, path, onChange }: PartProps & { list: Watchlist }) {
  const [problem, setProblem] = useState<string | null>(null)
  const run = async () => {
    try {
      await request(`${path}/run`, sendJson('POST', {}))
      navigate('/analysis')
    } catch (error) {
      setProblem(messageOf(error))
    }
  }
  return (
    <>
      <div class="form-actions">
        <button
          type="button"
          class="primary"
          disabled={list.stocks.length === 0}
          onClick={() => analyseCodes(list.stocks.map(({ stock_code }) => stock_code))}
        >
          {say('Analyse {count}', { count: list.stocks.length })}
        </button>
        <button type="button" disabled={list.stocks.length === 0} onClick={() => void run()}>
          {say('Run as a batch')}
        </button>
        <a class="button" href={`${PATH}/export?watchlist_id=${list.watchlist_id}`} download={`${list.name}.csv`}>
          {say('Export')}
        </a>
        {!list.is_default && (
          <SureButton
            label={say('Delete the list')}
            question="Delete this list with its notes?"
            onSure={() => void onChange(path, { method: 'DELETE' })}
          />
        )}
      </div>
      {problem !== null && <Notice kind="error">{problem}</Notice>}
    </>
  )
}

function Stocks({ list, path, onChange }: PartProps & { list: Watchlist }) {
  const codes = list.stocks.map(({ stock_code }) => stock_code)
  const names = useStockNames(codes)
  const up = (place: number) => {
    const [moved = ''] = codes.slice(place)
    const order = codes.toSpliced(place, 1).toSpliced(place - 1, 0, moved)
    void onChange(path, sendJson('PUT', { stock_codes: order }))
  }
  return (
    <ul class="watched">
      {list.stocks.map((stock, i) => (
        <Watched
          key={stock.stock_code}
          stock={stock}
          name={names.get(stock.stock_code) || stock.stock_name || stock.stock_code}
          onUp={i === 0 ? null : () => up(i)}
          onChange={(init) => onChange(`${path}/stocks/${encodeURIComponent(stock.stock_code)}`, init)}
        />
      ))}
    </ul>
  )
}

type WatchedProps = {
  stock: Watchlist['stocks'][number]
  /** In the user's language, if it is known. */
  name: string
  onUp: (() => void) | null
  onChange: (init: RequestInit) => Promise<boolean>
}

const Watched = ({ stock: { stock_code: code, note }, name, onUp, onChange }: WatchedProps) => (
  <li>
    <span class="watched-name">
      {name} <span class="code">{code}</span>
    </span>
    <NoteField
      label={say('Note on {name}', { name })}
      note={note}
      onNote={(text) => onChange(sendJson('PUT', { note: text }))}
    />
    <button
      type="button"
      class="quiet"
      disabled={onUp === null}
      aria-label={say('Move {name} up', { name: code })}
      onClick={() => onUp?.()}
    >
      ↑
    </button>
    <button
      type="button"
      class="quiet"
      aria-label={say('Remove {name}', { name: code })}
      onClick={() => void onChange({ method: 'DELETE' })}
    >
      ×
    </button>
  </li>
)

type NoteProps = { label: string; note: string; onNote: (note: string) => Promise<boolean> }

/** Saved when it loses the focus; a refused text stays for correction. */
function NoteField({ label, note, onNote }: NoteProps) {
  const [text, setText] = useState(note)
  useEffect(() => setText(note), [note])
  const leave = () => {
    if (text.trim() !== note) void onNote(text)
  }
  return (
    <input
      class="note"
      aria-label={label}
      placeholder={say('Note')}
      maxLength={500}
      value={text}
      onInput={(event) => setText(event.currentTarget.value)}
      onBlur={leave}
      onKeyDown={(event) => {
        if (event.key === 'Enter') leave()
      }}
    />
  )
}

function AddStocks({ path, onAdded }: { path: string; onAdded: () => void }) {
  const [entry, setEntry] = useState('')
  const [error, setError] = useState<unknown>(null)
  const add = async () => {
    setError(null)
    const entries = entry.split(/[,，、;；\n]/).map((part) => part.trim())
    let left = entries.filter((part) => part !== '')
    try {
      // One after another: refused entries stay in the field, accepted ones are removed.
      for (; left[0] !== undefined; left = left.slice(1)) {
        await request(`${path}/stocks`, sendJson('POST', { stock_code: left[0] }))
      }
    } catch (fault) {
      setError(fault)
    }
    setEntry(left.join(', '))
    if (left.length < entries.length) onAdded()
  }
  return (
    <Form class="filters" error={error} onSubmit={() => void add()}>
      <Labelled label={say('Codes or names')} name="stock_code">
        {(attributes) => (
          <input
            autocomplete="off"
            {...attributes}
            value={entry}
            onInput={(event) => setEntry(event.currentTarget.value)}
          />
        )}
      </Labelled>
      <button type="submit" disabled={entry.trim() === ''}>
        {say('Add')}
      </button>
      <RefusalNotice />
    </Form>
  )
}
