// The whole conversation: search, a slider over its events, the files at an event, and a fork from there.

import { useEffect, useRef, useState } from 'preact/hooks'
import { messageOf, request, sendJson } from '../api.ts'
import { clockTime, compact } from '../format.ts'
import { navigate } from '../router.tsx'
import { locale, say } from '../texts.ts'
import { Notice } from '../ui.tsx'
import type { Chat } from './use-conversation.ts'
import { type Cost, type Hit, searchEvents } from './window.ts'

type Props = {
  id: string
  chat: Chat
  /** The event for which the files are shown; null for the current files. */
  at: number | null
  onJump: (eventId: number) => Promise<void>
  onAt: (eventId: number | null) => void
}

export function Timeline({ id, chat, at, onJump, onAt }: Props) {
  const [dragged, setDragged] = useState<number | null>(null)
  const middle = chat.focus?.id ?? chat.events.at(-1)?.id ?? 0
  const shown = Math.max(0, Math.min(dragged ?? at ?? middle, chat.newest))
  const event = chat.events.find(({ id: known }) => known === shown)
  const go = (eventId: number) => {
    setDragged(eventId)
    if (at !== null) onAt(eventId)
    void onJump(eventId)
  }
  const count = chat.newest.toLocaleString(locale)
  const position = say('Event {n} of {count}', { n: shown.toLocaleString(locale), count })
  return (
    <section class="timeline" id="timeline" aria-label={say('History')}>
      <Search id={id} onPick={go} />
      <label class="timeline-slider">
        <span>
          {position}
          {event !== undefined && <time dateTime={event.timestamp}> · {clockTime(event.timestamp)}</time>}
        </span>
        <input
          type="range"
          min={0}
          max={Math.max(0, chat.newest)}
          value={shown}
          aria-label={say('Event')}
          aria-valuetext={position}
          onInput={(input) => setDragged(input.currentTarget.valueAsNumber)}
          onChange={(input) => go(input.currentTarget.valueAsNumber)}
        />
      </label>
      <div class="timeline-actions">
        <button type="button" aria-pressed={at !== null} onClick={() => onAt(at === null ? shown : null)}>
          {at === null ? say('Files as they were here') : say('Files as they are now')}
        </button>
        <Fork id={id} title={chat.title} eventId={shown} />
      </div>
    </section>
  )
}

/** The maximum length of a title is 200 characters. */
const MOST_OF_TITLE = 160

function Fork({ id, title, eventId }: { id: string; title: string; eventId: number }) {
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  const isAsked = useRef(false)
  const fork = async () => {
    // A second click would create a second conversation.
    if (isAsked.current) return
    isAsked.current = true
    setIsBusy(true)
    setProblem(null)
    try {
      const named = say('{title}, from event {n}', { title: title.slice(0, MOST_OF_TITLE), n: eventId })
      const body = sendJson('POST', { event_id: eventId, title: named })
      const made = await request<{ conversation_id: string }>(`/api/conversations/${encodeURIComponent(id)}/fork`, body)
      navigate(`/conversations/${encodeURIComponent(made.conversation_id)}`)
    } catch (error) {
      setProblem(messageOf(error))
    }
    isAsked.current = false
    setIsBusy(false)
  }
  return (
    <>
      <button type="button" aria-busy={isBusy} onClick={() => void fork()}>
        {isBusy ? say('Forking…') : say('Fork here')}
      </button>
      {problem !== null && <Notice kind="error">{problem}</Notice>}
    </>
  )
}

const WAIT_MS = 250

/** The results for the latest text, after a short delay. */
function useHits(id: string, text: string) {
  const [hits, setHits] = useState<Hit[] | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const newest = useRef('')
  useEffect(() => {
    const wanted = text.trim()
    newest.current = wanted
    setHits(null)
    setProblem(null)
    if (wanted === '') return
    const timer = setTimeout(() => {
      searchEvents(id, wanted).then(
        (found) => {
          if (newest.current === wanted) setHits(found)
        },
        (error: unknown) => {
          if (newest.current === wanted) setProblem(messageOf(error))
        },
      )
    }, WAIT_MS)
    return () => clearTimeout(timer)
  }, [id, text])
  return { hits, problem }
}

function Search({ id, onPick }: { id: string; onPick: (eventId: number) => void }) {
  const [text, setText] = useState('')
  const { hits, problem } = useHits(id, text)
  return (
    <div class="timeline-search">
      <input
        type="search"
        aria-label={say('Search in this conversation')}
        placeholder={say('Search in this conversation')}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      {hits?.length === 0 && <p class="hint">{say('Nothing found.')}</p>}
      {hits !== null && hits.length > 0 && (
        <ul class="hits">
          {hits.map((hit) => (
            <li key={hit.id}>
              <button type="button" class="hit" onClick={() => onPick(hit.id)}>
                <span class="hint">#{hit.id}</span> {hit.text}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** The cost so far, and how full the model's context window is. */
export const CostLine = ({ cost: { dollars, tokens, fill } }: { cost: Cost }) => (
  <p class="cost-line">
    <span>{dollars.toLocaleString(locale, { style: 'currency', currency: 'USD', maximumFractionDigits: 4 })}</span>
    <span>{say('{count} tokens', { count: compact(tokens) })}</span>
    {fill !== null && (
      <label>
        <meter min={0} max={1} high={0.8} value={fill} />
        {say('context {share} %', { share: Math.round(fill * 100) })}
      </label>
    )}
  </p>
)
