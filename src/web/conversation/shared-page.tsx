// The page that a link opens: it needs no key and is read-only. The token is in the fragment of the URL, which browsers
// do not send.

import { useEffect, useMemo, useState } from 'preact/hooks'
import { ApiError, messageOf, request } from '../api.ts'
import { clockTime } from '../format.ts'
import { usePageTitle } from '../router.tsx'
import { say } from '../texts.ts'
import { Notice } from '../ui.tsx'
import { visible } from '../visible.ts'
import type { EventPage, StoredEvent } from '../wire.ts'
import { toEntries } from './entries.ts'
import { FileList, FileText } from './files.tsx'
import { Log } from './log.tsx'

type Shared = { title: string; created_at: string; expires_at: string; last_event_id: number; with_files: boolean }
type State = { about: Shared; events: StoredEvent[]; hasEarlier: boolean }
type SharedFiles = { names: string[] | null; text: string | null }

const ask = <T,>(path: string): Promise<T> =>
  request<T>(`/api/shared${path}`, { headers: { 'x-share-token': location.hash.slice(1) }, credentials: 'omit' })

async function page(before: number | null): Promise<{ events: StoredEvent[]; hasEarlier: boolean }> {
  const end = before === null ? '' : `&end_id=${before - 1}`
  const { events, has_more } = await ask<EventPage>(`/events?reverse=true&limit=100${end}`)
  return { events: events.toReversed(), hasEarlier: has_more }
}

/** A log without activity in which nothing can be sent. */
const STILL = {
  ...{ outbox: [], draft: '', focus: null, running: false, progress: '', live: new Map<number, string>() },
  ...{ onEnd: async () => {}, onSendAgain: () => {}, onDiscard: () => {} },
}

const saidOf = (error: unknown): string =>
  error instanceof ApiError && error.status === 401
    ? say('This link is not valid. It may have ended or been taken back.')
    : messageOf(error)

/** The contents of the link, page by page. */
function useShared() {
  const [state, setState] = useState<State | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => {
    const open = async () => {
      const about = await ask<Shared>('')
      setState({ about, ...(await page(null)) })
    }
    open().catch((error: unknown) => setProblem(saidOf(error)))
    // Another link in the same tab differs only in its token, so the browser does not reload the page.
    const again = () => location.reload()
    addEventListener('hashchange', again)
    return () => removeEventListener('hashchange', again)
  }, [])
  const [trouble, setTrouble] = useState<string | null>(null)
  const loadEarlier = async () => {
    const first = state?.events[0]
    if (first === undefined) return
    try {
      const { events, hasEarlier } = await page(first.id)
      setState((before) => before && { ...before, events: [...events, ...before.events], hasEarlier })
      setTrouble(null)
    } catch (error) {
      setTrouble(saidOf(error))
    }
  }
  return { state, problem, trouble, loadEarlier }
}

export function SharedPage() {
  const { state, problem, trouble, loadEarlier } = useShared()
  usePageTitle(state?.about.title ?? say('Shared conversation'))
  const entries = useMemo(() => toEntries(state?.events ?? []), [state?.events])
  if (problem !== null) {
    return (
      <main class="narrow">
        <h1>{say('Shared conversation')}</h1>
        <Notice kind="error">{problem}</Notice>
      </main>
    )
  }
  if (state === null) return <p class="opening">{say('Opening…')}</p>
  const { about, hasEarlier } = state
  return (
    <main class="chat shared">
      <header class="chat-head">
        <div class="chat-title">
          <h1 dir="auto">{about.title}</h1>
          <span class="badge">{say('Read only')}</span>
          <span class="hint">{say('until {time}', { time: clockTime(about.expires_at) })}</span>
        </div>
      </header>
      <div class={about.with_files ? 'chat-body' : 'chat-body alone'}>
        <section class="talk" aria-label={say('Talk')}>
          <Log {...STILL} entries={entries} has={{ earlier: hasEarlier, later: false }} onLoad={loadEarlier} />
          {trouble !== null && <Notice kind="error">{trouble}</Notice>}
        </section>
        {about.with_files && (
          <aside class="files" aria-label={say('Files')}>
            <Files />
          </aside>
        )}
      </div>
    </main>
  )
}

function useNames(path: string, failed: (error: unknown) => void): string[] {
  const [names, setNames] = useState<string[]>([])
  useEffect(() => {
    let isCurrent = true
    ask<SharedFiles>(`/files?${new URLSearchParams({ path })}`).then(
      (found) => isCurrent && setNames(found.names ?? []),
      (error: unknown) => isCurrent && failed(error),
    )
    return () => {
      isCurrent = false
    }
  }, [path])
  return names
}

function Files() {
  const [path, setPath] = useState('')
  const [shown, setShown] = useState<{ name: string; text: string } | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const failed = (error: unknown) => setProblem(saidOf(error))
  const names = useNames(path, failed)
  const open = (name: string) => {
    setProblem(null)
    if (name.endsWith('/')) setPath(name.slice(0, -1))
    else {
      const query = new URLSearchParams({ file: name })
      ask<SharedFiles>(`/files?${query}`).then(({ text }) => setShown({ name, text: text ?? '' }), failed)
    }
  }
  const back = shown !== null ? () => setShown(null) : () => setPath(path.split('/').slice(0, -1).join('/'))
  return (
    <>
      {(shown !== null || path !== '') && (
        <button type="button" class="quiet" onClick={back}>
          ← {visible(shown?.name ?? path)}
        </button>
      )}
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      {shown !== null ? (
        <FileText text={shown.text} />
      ) : (
        <FileList names={names} nameOf={(name) => name} onOpen={open} />
      )}
    </>
  )
}
