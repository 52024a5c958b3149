// Questions about reports and stocks: the list of talks, and the open one.

import './talks.css'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, messageOf, request, sendJson } from '../api.ts'
import { Markdown } from '../markdown.tsx'
import { Link, navigate, usePageTitle } from '../router.tsx'
import { say } from '../texts.ts'
import { Notice, RelativeTime, useAnswer } from '../ui.tsx'
import { SubNav } from './sub-nav.tsx'
import { askTalk, type Frame } from './talk-stream.ts'

const PATH = '/analysis/talks'
const SESSIONS = '/api/v1/agent/chat/sessions'
const MOST_CHARACTERS = 8_000

type Session = { session_id: string; title: string; message_count: number; last_active: string }
type Message = { id: string; role: 'user' | 'assistant'; content: string }

export function TalksPage() {
  usePageTitle(say('Talks'))
  const query = new URLSearchParams(useSearch())
  const { found, problem, setProblem, again } = useAnswer(() => request<{ sessions: Session[] }>(SESSIONS), [])
  const fresh = useRef(crypto.randomUUID())
  const open = query.get('session')
  const remove = async (id: string) => {
    try {
      await request(`${SESSIONS}/${encodeURIComponent(id)}`, { method: 'DELETE' })
      fresh.current = crypto.randomUUID()
      navigate(PATH)
      again()
    } catch (error) {
      setProblem(messageOf(error))
    }
  }
  return (
    <main class="page talks-page">
      <h1>{say('Talks')}</h1>
      <SubNav current="talks" />
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      <div class="talks">
        <SessionList
          sessions={found?.sessions ?? null}
          open={open}
          onNew={() => (fresh.current = crypto.randomUUID())}
        />
        <Talk
          key={open ?? fresh.current}
          session={open ?? fresh.current}
          isNew={open === null}
          shown={contextOf(query)}
          onAnswered={again}
          onRemove={remove}
        />
      </div>
    </main>
  )
}

/** The context from a report's link: the stock of the question. */
function contextOf(query: URLSearchParams): Record<string, string> | null {
  const stock = query.get('stock')
  if (stock === null) return null
  const [name, record] = [query.get('name'), query.get('record')]
  return { stock_code: stock, ...(name && { stock_name: name }), ...(record && { record_id: record }) }
}

function useSearch(): string {
  const [search, setSearch] = useState(location.search)
  useEffect(() => {
    const follow = () => setSearch(location.search)
    addEventListener('popstate', follow)
    return () => removeEventListener('popstate', follow)
  }, [])
  return search
}

type ListProps = { sessions: Session[] | null; open: string | null; onNew: () => void }

function SessionList({ sessions, open, onNew }: ListProps) {
  return (
    <nav class="talk-list" aria-label={say('Talks')}>
      <button
        type="button"
        onClick={() => {
          onNew()
          navigate(`${PATH}?new=${Date.now()}`)
        }}
      >
        {say('New talk')}
      </button>
      {sessions?.length === 0 && <p class="hint">{say('No talks yet.')}</p>}
      <ul>
        {sessions?.map(({ session_id: id, title, message_count: count, last_active: last }) => (
          <li key={id}>
            <Link to={`${PATH}?session=${encodeURIComponent(id)}`} current={id === open}>
              <span class="talk-title">{title}</span>
              <span class="hint">
                {say('{count} messages', { count })} · <RelativeTime time={last} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}

type TalkProps = {
  session: string
  isNew: boolean
  shown: Record<string, string> | null
  onAnswered: () => void
  onRemove: (id: string) => Promise<void>
}

function Talk({ session, isNew, shown, onAnswered, onRemove }: TalkProps) {
  const talk = useTalk({ session, isNew, shown, onAnswered })
  const { messages, steps, problem, isAsking } = talk
  const end = useRef<HTMLDivElement>(null)
  useEffect(() => end.current?.scrollIntoView({ block: 'nearest' }), [messages.length, steps.length])
  return (
    <section class="talk" aria-label={say('Talk')}>
      {shown?.stock_code !== undefined && (
        <p class="hint">{say('About {stock}', { stock: `${shown.stock_name ?? ''} ${shown.stock_code}`.trim() })}</p>
      )}
      {messages.length === 0 && !isAsking && (
        <p class="empty">{say('Ask about a stock or a report. Figures are looked up, and each is cited or marked.')}</p>
      )}
      <ol class="talk-messages">
        {messages.map(({ id, role, content }) => (
          <li key={id} class={role}>
            <span class="visually-hidden">{role === 'user' ? say('You') : say('Answer')}</span>
            {role === 'user' ? <p>{content}</p> : <Markdown text={content} />}
          </li>
        ))}
      </ol>
      {isAsking && <Steps steps={steps} />}
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      <div ref={end} />
      <Composer isAsking={isAsking} onAsk={talk.ask} />
      {messages.length > 0 && !isAsking && <TalkActions session={session} onRemove={onRemove} />}
    </section>
  )
}

function Steps({ steps }: { steps: readonly Frame[] }) {
  const tools = steps.filter(({ type }) => type === 'tool_start' || type === 'tool_done')
  const last = steps.findLast(({ message }) => message !== undefined)
  return (
    <div class="talk-steps" role="status">
      <p>{last?.message ?? say('Asking…')}</p>
      <ul>
        {tools
          .filter(({ type, step, tool }, i) => {
            const isDone = tools.slice(i + 1).some((later) => later.step === step && later.tool === tool)
            return type === 'tool_done' || !isDone
          })
          .map(({ type, display_name: name, success, duration }, i) => (
            <li key={i} class={type === 'tool_start' ? 'running' : success ? 'good' : 'bad'}>
              <span aria-hidden="true">{type === 'tool_start' ? '…' : success ? '✓' : '✗'}</span> {name}
              {duration !== undefined && ` (${duration.toFixed(1)} s)`}
            </li>
          ))}
      </ul>
    </div>
  )
}

function Composer({ isAsking, onAsk }: { isAsking: boolean; onAsk: (message: string) => void }) {
  const [text, setText] = useState('')
  const submit = () => {
    if (text.trim() === '' || isAsking) return
    onAsk(text.trim())
    setText('')
  }
  return (
    <form
      class="talk-composer"
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <label>
        <span class="visually-hidden">{say('Question')}</span>
        <textarea
          rows={2}
          maxLength={MOST_CHARACTERS}
          placeholder={say('Question')}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
            event.preventDefault()
            submit()
          }}
        />
      </label>
      <button type="submit" class="primary" disabled={isAsking || text.trim() === ''}>
        {say('Ask')}
      </button>
    </form>
  )
}

function TalkActions({ session, onRemove }: { session: string; onRemove: (id: string) => Promise<void> }) {
  const [isSure, setIsSure] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const goOn = async () => {
    try {
      const made = await request<{ conversation_id: string }>(
        '/api/conversations/continue-chat',
        sendJson('POST', { session_id: session }),
      )
      navigate(`/conversations/${encodeURIComponent(made.conversation_id)}`)
    } catch (error) {
      setProblem(messageOf(error))
    }
  }
  return (
    <div class="form-actions">
      <button type="button" onClick={() => void goOn()}>
        {say('Continue with files')}
      </button>
      <button type="button" class="danger" onClick={() => (isSure ? void onRemove(session) : setIsSure(true))}>
        {isSure ? say('Delete it for good') : say('Delete the talk')}
      </button>
      {problem !== null && <Notice kind="error">{problem}</Notice>}
    </div>
  )
}

type OpenTalkProps = Omit<TalkProps, 'onRemove'>

/** The id of a question that is not stored yet. */
const ASKED = 'asked'

async function messagesOf(session: string): Promise<Message[]> {
  const path = `${SESSIONS}/${encodeURIComponent(session)}?limit=200`
  return (await request<{ messages: Message[] }>(path)).messages
}

const withoutAsked = (messages: Message[]): Message[] => messages.filter(({ id }) => id !== ASKED)

/** The messages of a talk and the running turn. A question without an answer has a running turn, which the page joins. */
function useTalk({ session, isNew, shown, onAnswered }: OpenTalkProps) {
  const [messages, setMessages] = useState<Message[]>([])
  const [problem, setProblem] = useState<string | null>(null)
  const turn = useTurn(session, shown)
  const read = async () => {
    const found = await messagesOf(session)
    setMessages(found)
    return found
  }
  const follow = async (message: string) => {
    setProblem(null)
    try {
      const last = await turn.follow(message)
      if (last.type === 'error') setProblem(last.message ?? say('The talk is gone.'))
      await read()
      onAnswered()
    } catch (error) {
      if (turn.isLeft()) return
      // A refused question was not stored, so it is removed again.
      if (error instanceof ApiError && error.status !== 0) setMessages(withoutAsked)
      setProblem(messageOf(error))
    }
    turn.end()
  }
  const ask = (message: string) => {
    setMessages((before) => [...before, { id: ASKED, role: 'user', content: message }])
    if (isNew) history.replaceState(history.state, '', `${PATH}?${addressOf(session, shown)}`)
    void follow(message)
  }
  const resume = async () => {
    const last = (await read()).at(-1)
    if (last?.role === 'user') void follow(last.content)
  }
  useEffect(() => {
    if (!isNew) resume().catch((error: unknown) => setProblem(messageOf(error)))
  }, [])
  return { messages, steps: turn.steps, problem, isAsking: turn.isAsking, ask }
}

/** One question in progress, with the steps of its answer; aborted when the page is left. */
function useTurn(session: string, shown: TalkProps['shown']) {
  const [steps, setSteps] = useState<Frame[]>([])
  const [isAsking, setIsAsking] = useState(false)
  const abort = useRef(new AbortController())
  useEffect(() => () => abort.current.abort(), [])
  const follow = (message: string) => {
    setIsAsking(true)
    setSteps([])
    const onFrame = (frame: Frame) => setSteps((before) => [...before, frame])
    return askTalk({ message, session_id: session, context: shown }, { onFrame, signal: abort.current.signal })
  }
  return { steps, isAsking, follow, isLeft: () => abort.current.signal.aborted, end: () => setIsAsking(false) }
}

/** The talk's own URL, with the context. */
function addressOf(session: string, shown: Record<string, string> | null): URLSearchParams {
  const { stock_code: stock, stock_name: name, record_id: record } = shown ?? {}
  return new URLSearchParams({ session, ...(stock && { stock }), ...(name && { name }), ...(record && { record }) })
}
