import { useEffect, useState } from 'preact/hooks'
import { listConversations, messageOf, startConversation } from '../api.ts'
import { Link, navigate, usePageTitle } from '../router.tsx'
import { Ago, Notice } from '../ui.tsx'
import type { ConversationInfo } from '../wire.ts'

export function ConversationsPage() {
  usePageTitle('Conversations')
  return (
    <main class="page">
      <h1>Conversations</h1>
      <StartForm />
      <ConversationList />
    </main>
  )
}

function StartForm() {
  const [text, setText] = useState('')
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const start = async (event: SubmitEvent) => {
    event.preventDefault()
    setBusy(true)
    setProblem(null)
    try {
      const { conversation_id } = await startConversation(text.trim())
      navigate(`/conversations/${encodeURIComponent(conversation_id)}`)
    } catch (error) {
      setProblem(messageOf(error))
      setBusy(false)
    }
  }
  return (
    <form class="card" onSubmit={start}>
      <label for="first-message">
        First message <span class="hint">optional</span>
      </label>
      <textarea
        id="first-message"
        rows={2}
        class="mono"
        spellcheck={false}
        placeholder="ls -la"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      <button type="submit" class="primary start" disabled={busy}>
        {busy ? 'Starting…' : 'Start a conversation'}
      </button>
    </form>
  )
}

type Listing = { items: ConversationInfo[]; next: string | null; loaded: boolean; problem: string | null }

function ConversationList() {
  const [list, setList] = useState<Listing>({ items: [], next: null, loaded: false, problem: null })
  const [busy, setBusy] = useState(false)
  const load = async (pageId: string | null) => {
    setBusy(true)
    try {
      const page = await listConversations(pageId)
      const join = (before: ConversationInfo[]) => (pageId === null ? page.results : [...before, ...page.results])
      setList((before) => ({ items: join(before.items), next: page.next_page_id, loaded: true, problem: null }))
    } catch (error) {
      setList((before) => ({ ...before, problem: messageOf(error) }))
    }
    setBusy(false)
  }
  useEffect(() => void load(null), [])
  return (
    <section aria-label="Your conversations">
      {list.problem !== null && (
        <Notice kind="error" action={{ label: 'Try again', run: () => void load(null) }}>
          {list.problem}
        </Notice>
      )}
      {list.loaded && list.items.length === 0 && (
        <p class="empty">None yet. A conversation is a terminal with a durable workspace: start one above.</p>
      )}
      <ul class="rows">
        {list.items.map((item) => (
          <Row key={item.conversation_id} item={item} />
        ))}
      </ul>
      {list.next !== null && (
        <button type="button" class="more" disabled={busy} onClick={() => void load(list.next)}>
          Show more
        </button>
      )}
    </section>
  )
}

function Row({ item }: { item: ConversationInfo }) {
  return (
    <li>
      <Link to={`/conversations/${encodeURIComponent(item.conversation_id)}`} class="row">
        <span class="row-title">{item.title}</span>
        {item.status !== 'STOPPED' && (
          <span class={`badge ${item.status.toLowerCase()}`}>{item.status.toLowerCase()}</span>
        )}
        <span class="row-time">
          <Ago time={item.last_updated_at ?? item.created_at} />
        </span>
      </Link>
    </li>
  )
}
