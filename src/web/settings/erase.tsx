// The deletion of all the owner's data. The service does it itself and continues after this page is closed. The page
// starts it and shows the progress.

import { useEffect, useState } from 'preact/hooks'
import { ApiError, messageOf, request } from '../api.ts'
import { noteChange } from '../frame/tabs.ts'
import { say, type Text } from '../texts.ts'
import { Notice } from '../ui.tsx'
import type { Session } from '../wire.ts'
import { Field, Input } from './fields.tsx'

type Deletion = {
  phase: 'deleting' | 'waiting' | 'ending'
  conversations: number
  tasks: number
  files: number
  rows: number
  problem: string | null
}
type OwnerStanding = { deletion: Deletion | null; ledger_rows: number }

type Standing = {
  kind: 'asking' | 'working' | 'done'
  deletion: Deletion | null
  ledgerRows: number
  problem: string | null
}

const ASKING: Standing = { kind: 'asking', deletion: null, ledgerRows: 0, problem: null }
const LOOK_EVERY_MS = 1_000

const PHASES: Readonly<Record<Deletion['phase'], Text>> = {
  deleting: 'Everything is being deleted.',
  waiting: 'Everything is deleted; what was on its way runs out.',
  ending: 'The last of it is being deleted.',
}

const COUNTS: readonly (readonly [Text, keyof Pick<Deletion, 'conversations' | 'tasks' | 'files' | 'rows'>])[] = [
  ['Conversations and talks', 'conversations'],
  ['Entries of the queue', 'tasks'],
  ['Large files', 'files'],
  ['Rows of the database', 'rows'],
]

const look = () => request<OwnerStanding>('/api/owner')

/** Follows a deletion to its end, even one that was started before this page was opened. */
function useErasing(owner: string) {
  const [standing, setStanding] = useState<Standing>(ASKING)
  const show = ({ deletion, ledger_rows: ledgerRows }: OwnerStanding) =>
    setStanding((before) => {
      if (deletion !== null) return { kind: 'working', deletion, ledgerRows, problem: null }
      return before.kind === 'working' ? { ...before, kind: 'done', ledgerRows } : before
    })
  const fail = (error: unknown) => setStanding((before) => ({ ...before, problem: messageOf(error) }))
  useEffect(() => void look().then(show, fail), [])
  useEffect(() => {
    if (standing.kind === 'done') noteChange('conversations')
    if (standing.kind !== 'working') return
    const timer = setInterval(() => void look().then(show, fail), LOOK_EVERY_MS)
    return () => clearInterval(timer)
  }, [standing.kind])
  const erase = async () => {
    const body = JSON.stringify({ owner, confirm: 'delete everything' })
    const headers = { 'content-type': 'application/json' }
    try {
      show(await request<OwnerStanding>('/api/owner', { method: 'DELETE', headers, body }))
    } catch (error) {
      if (error instanceof ApiError) fail(error)
      else throw error
    }
  }
  return { standing, erase }
}

const ErasureScope = () => (
  <>
    <p>
      {say(
        'Deletes all that you have here: conversations with their workspaces, reports, talks, signals, watchlists, portfolio, alerts, screens, schedules, channels, feedback, secrets, tokens, settings, records, and your API keys last.',
      )}
    </p>
    <p class="hint">
      {say('Only your rows in the ledger of advice stay, as nothing can take one out. It cannot be taken back.')}
    </p>
  </>
)

export function EraseAll({ session }: { session: Session }) {
  const [typed, setTyped] = useState('')
  const { standing, erase } = useErasing(session.owner)
  const word = say('delete')
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    setTyped('')
    void erase()
  }
  return (
    <>
      <ErasureScope />
      <form class="card settings-form" onSubmit={submit}>
        <Field label={say('To delete everything, type the word')} hint={<code>{word}</code>}>
          {(attributes) => (
            <Input kind="text" {...attributes} value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
          )}
        </Field>
        <div class="form-actions">
          <button type="submit" class="danger" disabled={typed.trim() !== word || standing.kind === 'working'}>
            {standing.kind === 'working' ? say('Deleting…') : say('Delete everything')}
          </button>
        </div>
      </form>
      <ErasureProgress standing={standing} />
    </>
  )
}

const ErasureProgress = ({ standing: { kind, deletion, ledgerRows, problem } }: { standing: Standing }) => (
  <>
    {problem !== null && <Notice kind="error">{problem}</Notice>}
    {kind === 'working' && deletion !== null && <Notice kind="info">{say(PHASES[deletion.phase])}</Notice>}
    {kind === 'working' && deletion !== null && deletion.problem !== null && (
      <Notice kind="error">{deletion.problem}</Notice>
    )}
    {kind === 'done' && <Notice kind="info">{say('Everything is deleted.')}</Notice>}
    {deletion !== null && (
      <ul class="rows">
        {COUNTS.map(([name, field]) => (
          <li key={name} class="settings-row settings-row-head">
            <span class="row-title">{say(name)}</span> <span>{deletion[field]}</span>
          </li>
        ))}
        {ledgerRows > 0 && (
          <li class="settings-row settings-row-head">
            <span class="row-title">{say('Stays: rows in the ledger of advice')}</span> <span>{ledgerRows}</span>
          </li>
        )}
      </ul>
    )}
  </>
)
