import { useEffect, useState } from 'preact/hooks'
import {
  deleteConversation,
  getSetup,
  listConversations,
  messageOf,
  request,
  sendJson,
  startConversation,
} from '../api.ts'
import { noteChange, useChanges } from '../frame/tabs.ts'
import { useUnsaved } from '../frame/unsaved.ts'
import { Link, navigate, usePageTitle } from '../router.tsx'
import { say } from '../texts.ts'
import { Notice, RelativeTime } from '../ui.tsx'
import type { ConversationInfo, Setup } from '../wire.ts'
import { nameOfState } from './entries.ts'
import { type Part, withNewest, withOlder } from './listing.ts'

export function ConversationsPage() {
  usePageTitle(say('Conversations'))
  const [setup, setSetup] = useState<Setup | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => {
    getSetup().then(setSetup, (error: unknown) => setProblem(messageOf(error)))
  }, [])
  return (
    <main class="page">
      <h1>{say('Conversations')}</h1>
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      {setup !== null && setup.model.state !== 'ready' && <Missing model={setup.model} />}
      <StartForm agent={setup?.agent ?? null} />
      <ConversationList />
    </main>
  )
}

/** Tells new users what is missing before the first message, which would be a shell command without a model. */
const Missing = ({ model: { state, id } }: { model: Setup['model'] }) =>
  state === 'ready' ? null : (
    <Notice kind={state === 'none' ? 'info' : 'warning'}>
      {say(MISSING[state], { model: id ?? '' })}{' '}
      <Link to="/settings/model">{state === 'none' ? say('Choose a model') : say('Open the settings')}</Link>
    </Notice>
  )

const MISSING = {
  none: 'No model is chosen: messages run as shell commands.',
  'needs-key': 'The model {model} needs an API key, and none is stored.',
  'needs-address': 'Nobody here knows where the model {model} is asked: it needs an address.',
  unreadable: 'The stored settings cannot be read any more. Set them anew.',
} as const

type Beginning = () => Promise<{ conversation_id: string }>

/** Creates a conversation and opens it. */
function useBeginning() {
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const begin = async (make: Beginning, made = () => {}) => {
    setBusy(true)
    setProblem(null)
    try {
      const { conversation_id } = await make()
      made()
      noteChange('conversations')
      navigate(`/conversations/${encodeURIComponent(conversation_id)}`)
    } catch (error) {
      setProblem(messageOf(error))
      setBusy(false)
    }
  }
  return { busy, problem, begin }
}

/** The agent is that of the settings; another one can be selected for this conversation. */
function StartForm({ agent }: { agent: string | null }) {
  const [text, setText] = useUnsaved('first message', '')
  const [choices, setChoices] = useState<Readonly<Record<string, string>>>({})
  const { busy, problem, begin } = useBeginning()
  const start = (event: SubmitEvent) => {
    event.preventDefault()
    void begin(
      () => startConversation(text.trim(), choices),
      () => setText(''),
    )
  }
  return (
    <form class="card" onSubmit={start}>
      <label for="first-message">
        {say('First message')} <span class="hint">{say('optional')}</span>
      </label>
      <FirstMessage text={text} isShell={(choices.agent || agent) === 'ShellAgent'} onText={setText} />
      <Choices choices={choices} onChoose={(name, value) => setChoices((before) => ({ ...before, [name]: value }))} />
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      <div class="start-actions">
        <button type="submit" class="primary" disabled={busy}>
          {busy ? say('Starting…') : say('Start a conversation')}
        </button>
        <button type="button" class="quiet" disabled={busy} onClick={() => void begin(playExample)}>
          {say('Watch an example')}
        </button>
      </div>
    </form>
  )
}

/** Needs no model: the model's answers are recorded, and the actions are executed again. */
async function playExample() {
  const { exampleReplay } = await import('./example.ts')
  return request<{ conversation_id: string }>('/api/conversations', sendJson('POST', { replay_json: exampleReplay() }))
}

type FirstProps = { text: string; isShell: boolean; onText: (text: string) => void }

const FirstMessage = ({ text, isShell, onText }: FirstProps) => (
  <textarea
    id="first-message"
    rows={2}
    class={isShell ? 'mono' : ''}
    dir="auto"
    spellcheck={false}
    placeholder={isShell ? 'ls -la' : say('What is to be done?')}
    value={text}
    onInput={(event) => onText(event.currentTarget.value)}
  />
)

type ChoicesProps = { choices: Readonly<Record<string, string>>; onChoose: (name: string, value: string) => void }

/** For this conversation only; empty fields use the settings. */
function Choices({ choices, onChoose }: ChoicesProps) {
  const by = (name: string) => ({
    value: choices[name] ?? '',
    onInput: (event: { currentTarget: { value: string } }) => onChoose(name, event.currentTarget.value),
  })
  return (
    <details class="choices">
      <summary>{say('Only for this conversation')}</summary>
      <div class="fields">
        <label class="choice">
          <span>{say('Model')}</span>
          <input class="mono" placeholder={say('as in the settings')} autocomplete="off" {...by('model')} />
        </label>
        <label class="choice">
          <span>{say('Agent')}</span>
          <select {...by('agent')}>
            <option value="">{say('as in the settings')}</option>
            {['CodeActAgent', 'ReadOnlyAgent', 'ShellAgent'].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label class="choice">
          <span>{say('Runtime')}</span>
          <select {...by('runtime')}>
            <option value="">{say('as in the settings')}</option>
            <option value="auto">{say('a runner if one is free')}</option>
            <option value="edge">{say('at the edge')}</option>
            <option value="runner">{say('Only on a runner')}</option>
          </select>
        </label>
      </div>
    </details>
  )
}

/** While an agent works, its state changes often. */
const WORK_EVERY_MS = 3_000

type Listing = Part & { loaded: boolean; problem: string | null }

function useListing() {
  const [list, setList] = useState<Listing>({ items: [], next: null, loaded: false, problem: null })
  const [busy, setBusy] = useState(false)
  const load = async (pageId: string | null) => {
    setBusy(true)
    try {
      const page = await listConversations(pageId)
      const join = pageId === null ? withNewest : withOlder
      setList((before) => ({ ...join(before, page), loaded: true, problem: null }))
    } catch (error) {
      setList((before) => ({ ...before, problem: messageOf(error) }))
    }
    setBusy(false)
  }
  useEffect(() => void load(null), [])
  const look = () => {
    listConversations(null).then(
      (page) => setList((before) => ({ ...withNewest(before, page), loaded: true, problem: null })),
      (error: unknown) => setList((before) => ({ ...before, problem: messageOf(error) })),
    )
  }
  useChanges('conversations', look, list.items.some(isAtWork) ? WORK_EVERY_MS : undefined)
  const drop = (id: string) =>
    setList((before) => ({ ...before, items: before.items.filter((one) => one.conversation_id !== id) }))
  return { list, busy, load, drop }
}

function ConversationList() {
  const { list, busy, load, drop } = useListing()
  return (
    <section aria-label={say('Your conversations')}>
      {list.problem !== null && (
        <Notice kind="error" action={{ label: say('Try again'), run: () => void load(null) }}>
          {list.problem}
        </Notice>
      )}
      {list.loaded && list.items.length === 0 && (
        <p class="empty">
          {say('None yet. A conversation has a workspace of its own, and everything in it is kept: start one above.')}
        </p>
      )}
      <ul class="rows">
        {list.items.map((item) => (
          <Row key={item.conversation_id} item={item} onGone={() => drop(item.conversation_id)} />
        ))}
      </ul>
      {list.next !== null && (
        <button type="button" class="more" disabled={busy} onClick={() => void load(list.next)}>
          {say('Show more')}
        </button>
      )}
    </section>
  )
}

/** For a stopped conversation only the final state of its agent is shown. */
const ENDS: ReadonlySet<string> = new Set(['finished', 'rejected', 'error'])

function StateOf({ item: { status, agent_state: agent } }: { item: ConversationInfo }) {
  if (status === 'STOPPED' && !ENDS.has(agent ?? '')) return null
  const state = status === 'STARTING' ? 'loading' : agent
  return <span class={`badge agent-${state}`}>{state === null ? say('open') : nameOfState(state)}</span>
}

const isAtWork = ({ status, agent_state }: ConversationInfo): boolean =>
  status === 'STARTING' || (status === 'RUNNING' && AT_WORK.has(agent_state ?? ''))
const AT_WORK: ReadonlySet<string> = new Set(['loading', 'running', 'awaiting_user_confirmation', 'rate_limited'])

/** How long a deletion can be undone; only after that the request is sent. */
const UNDO_MS = 6_000

type Departure = { sent: () => void; gone: () => void; failed: (error: unknown) => void }
type Leaver = { timer: ReturnType<typeof setTimeout>; isSent: boolean; remove: () => void; told: Departure }

/** Pending deletions, by id; they continue when the list is left, and are executed at once when the window is closed. */
const leaving = new Map<string, Leaver>()
addEventListener('pagehide', () => {
  for (const { isSent, remove } of leaving.values()) if (!isSent) remove()
})

function leave(id: string, told: Departure): void {
  const remove = () => {
    clearTimeout(one.timer)
    one.isSent = true
    one.told.sent()
    const end = () => leaving.delete(id)
    deleteConversation(id)
      .finally(end)
      .then(
        () => one.told.gone(),
        (error: unknown) => one.told.failed(error),
      )
  }
  const one: Leaver = { timer: setTimeout(remove, UNDO_MS), isSent: false, remove, told }
  leaving.set(id, one)
}

function stay(id: string): void {
  clearTimeout(leaving.get(id)?.timer)
  leaving.delete(id)
}

/** `sent`: it cannot be undone any more. */
type Standing = 'here' | 'leaving' | 'sent'

/** If the list is left and opened again meanwhile, the new one is notified. */
function useLeaving(id: string, onGone: () => void) {
  const before = leaving.get(id)
  const [standing, setStanding] = useState<Standing>(before === undefined ? 'here' : before.isSent ? 'sent' : 'leaving')
  const [problem, setProblem] = useState<string | null>(null)
  const told: Departure = {
    sent: () => setStanding('sent'),
    gone: () => {
      noteChange('conversations')
      onGone()
    },
    failed: (error) => {
      setStanding('here')
      setProblem(messageOf(error))
    },
  }
  useEffect(() => {
    if (before !== undefined) before.told = told
  }, [id])
  const remove = () => {
    setStanding('leaving')
    leave(id, told)
  }
  const undo = () => {
    stay(id)
    setStanding('here')
  }
  return { standing, problem, remove, undo }
}

function Row({ item, onGone }: { item: ConversationInfo; onGone: () => void }) {
  const { conversation_id: id, title } = item
  const { standing, problem, remove, undo } = useLeaving(id, onGone)
  if (standing !== 'here') return <Leaving title={title} onUndo={standing === 'leaving' ? undo : null} />
  return (
    <li class="row-with-actions">
      <RowLink item={item} />
      <button type="button" class="quiet" aria-label={say('Delete “{title}”', { title })} onClick={remove}>
        {say('Delete')}
      </button>
      {problem !== null && <Notice kind="error">{problem}</Notice>}
    </li>
  )
}

const Leaving = ({ title, onUndo }: { title: string; onUndo: (() => void) | null }) => (
  <li class="row">
    <span class="row-title" dir="auto">
      {title}
    </span>
    <span class="row-time" role="status">
      {say('is being deleted')}
    </span>
    {onUndo !== null && (
      <button type="button" class="quiet" onClick={onUndo}>
        {say('Undo')}
      </button>
    )}
  </li>
)

const RowLink = ({ item }: { item: ConversationInfo }) => (
  <Link to={`/conversations/${encodeURIComponent(item.conversation_id)}`} class="row">
    <span class="row-title" dir="auto">
      {item.title}
    </span>
    <StateOf item={item} />
    <span class="row-time">
      <RelativeTime time={item.last_updated_at ?? item.created_at} />
    </span>
  </Link>
)
