// Groups of stocks that are looked at together.

import { useEffect, useState } from 'preact/hooks'
import { messageOf, request, sendJson } from '../api.ts'
import { noteChange, useChanges } from '../frame/tabs.ts'
import { usePageTitle } from '../router.tsx'
import { say } from '../texts.ts'
import { Notice } from '../ui.tsx'
import { analyseCodes } from './history-pages.tsx'
import { SubNav } from './sub-nav.tsx'

type Watchlist = {
  watchlist_id: string
  name: string
  is_default: boolean
  stocks: { stock_code: string; stock_name: string | null }[]
}

const PATH = '/api/v1/analysis/watchlists'
const one = (id: string) => `${PATH}/${encodeURIComponent(id)}`

export function WatchlistsPage() {
  usePageTitle(say('Watchlists'))
  const [lists, setLists] = useState<Watchlist[] | null>(null)
  const [name, setName] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const load = () => {
    request<{ watchlists: Watchlist[] }>(PATH).then(
      (found) => setLists(found.watchlists),
      (error: unknown) => setProblem(messageOf(error)),
    )
  }
  useEffect(load, [])
  useChanges('watchlists', load)
  /** Whether it was done; a refusal is shown, and what was typed stays. */
  const change = async (path: string, init: RequestInit): Promise<boolean> => {
    try {
      await request(path, init)
      setProblem(null)
      noteChange('watchlists')
      load()
      return true
    } catch (error) {
      setProblem(messageOf(error))
      return false
    }
  }
  const add = async (event: SubmitEvent) => {
    event.preventDefault()
    if (await change(PATH, sendJson('POST', { name: name.trim() }))) setName('')
  }
  return (
    <main class="page">
      <h1>{say('Watchlists')}</h1>
      <SubNav current="watchlists" />
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      {lists?.length === 0 && <p class="empty">{say('No watchlists yet. Name one below.')}</p>}
      {lists?.map((list) => (
        <ListCard key={list.watchlist_id} list={list} onChange={change} />
      ))}
      <form class="filters" onSubmit={(event) => void add(event)}>
        <label class="choice">
          <span>{say('A new list')}</span>
          <input value={name} maxLength={100} required onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <button type="submit" disabled={name.trim() === ''}>
          {say('Add')}
        </button>
      </form>
    </main>
  )
}

type CardProps = { list: Watchlist; onChange: (path: string, init: RequestInit) => Promise<boolean> }

function ListCard({ list, onChange }: CardProps) {
  const [entry, setEntry] = useState('')
  const path = one(list.watchlist_id)
  const add = async (event: SubmitEvent) => {
    event.preventDefault()
    const entries = entry.split(/[,，、;；\n]/).map((part) => part.trim())
    // One after the other: what is refused stays in the field, what was taken does not.
    let left = entries.filter((part) => part !== '')
    while (left[0] !== undefined && (await onChange(`${path}/stocks`, sendJson('POST', { stock_code: left[0] })))) {
      left = left.slice(1)
    }
    setEntry(left.join(', '))
  }
  return (
    <section class="card watchlist" aria-label={list.name}>
      <h2>
        {list.name} <span class="badge">{list.stocks.length}</span>
      </h2>
      <div class="suggestions">
        {list.stocks.map(({ stock_code: code, stock_name: stock }) => (
          <button
            key={code}
            type="button"
            class="chip"
            onClick={() => void onChange(`${path}/stocks/${encodeURIComponent(code)}`, { method: 'DELETE' })}
          >
            {stock ?? code} <span class="code">{code}</span> <span aria-hidden="true">×</span>
            <span class="visually-hidden">{say('Remove')}</span>
          </button>
        ))}
      </div>
      <form class="filters" onSubmit={(event) => void add(event)}>
        <label class="choice">
          <span>{say('Codes or names')}</span>
          <input value={entry} onInput={(event) => setEntry(event.currentTarget.value)} />
        </label>
        <button type="submit" disabled={entry.trim() === ''}>
          {say('Add')}
        </button>
        <button
          type="button"
          class="primary"
          disabled={list.stocks.length === 0}
          onClick={() => analyseCodes(list.stocks.map(({ stock_code }) => stock_code))}
        >
          {say('Analyse {count}', { count: list.stocks.length })}
        </button>
        {!list.is_default && (
          <button type="button" class="danger" onClick={() => void onChange(path, { method: 'DELETE' })}>
            {say('Delete the list')}
          </button>
        )}
      </form>
    </section>
  )
}
