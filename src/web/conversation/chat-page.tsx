import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { messageOf, renameConversation } from '../api.ts'
import { noteFinished, setWaiting } from '../frame/attention.ts'
import { noteChange } from '../frame/tabs.ts'
import { lazy } from '../lazy.tsx'
import { Link, usePageTitle } from '../router.tsx'
import type { Connection } from '../stream.ts'
import { say } from '../texts.ts'
import { Notice, useMedia } from '../ui.tsx'
import type { StoredEvent } from '../wire.ts'
import { Composer } from './composer.tsx'
import { Confirmation } from './confirmation.tsx'
import { type AgentState, nameOfState, toEntries } from './entries.ts'
import { Files } from './files.tsx'
import { Log } from './log.tsx'
import { CostLine, Timeline } from './timeline.tsx'
import { type Chat, type ChatControls, logState, useConversation } from './use-conversation.ts'

export function ChatPage({ id }: { id: string }) {
  const [chat, controls] = useConversation(id)
  usePageTitle(chat.title)
  useAttention(chat)
  useDeepLink(chat, controls)
  if (chat.phase === 'opening' && chat.problem !== null)
    return (
      <main class="narrow">
        <Notice kind="error" action={{ label: say('Try again'), run: controls.openNow }}>
          {chat.problem}
        </Notice>
      </main>
    )
  if (chat.phase === 'opening') return <p class="opening">{say('Opening…')}</p>
  if (chat.phase === 'missing') return <Missing />
  return <OpenChat id={id} chat={chat} controls={controls} />
}

const LISTED_AFTER_MS = 1_500

/** Notifies users who look elsewhere that the agent waits for them or has finished. */
function useAttention({ agent, title, phase }: Chat): void {
  const before = useRef<string | null>(null)
  const state = phase === 'open' ? (agent?.name ?? null) : null
  useEffect(() => {
    setWaiting(state === 'awaiting_user_confirmation', title)
    const isDone = state === 'awaiting_user_input' || state === 'finished' || state === 'error'
    if (before.current === 'running' && isDone) noteFinished(say('The agent is done'), title)
    before.current = state
    if (state === null) return
    // The list is updated a moment later.
    const timer = setTimeout(() => noteChange('conversations'), LISTED_AFTER_MS)
    return () => clearTimeout(timer)
  }, [state])
  useEffect(() => () => setWaiting(false, ''), [])
}

/** `?event=n` opens the conversation at that event. */
function useDeepLink({ phase }: Chat, { jump }: ChatControls): void {
  useEffect(() => {
    const asked = new URLSearchParams(location.search).get('event')
    if (phase === 'open' && asked !== null && /^\d{1,9}$/.test(asked)) void jump(Number(asked))
  }, [phase])
}

type TitleProps = { id: string; title: string; onRenamed: (title: string) => void }

/** The title, with an inline editor. */
function Title(props: TitleProps) {
  const [isRenamed, setIsRenamed] = useState(false)
  if (isRenamed) return <RenameForm {...props} onClose={() => setIsRenamed(false)} />
  return (
    <>
      <h1 dir="auto">{props.title}</h1>
      <button type="button" class="quiet rename" onClick={() => setIsRenamed(true)}>
        {say('Rename')}
      </button>
    </>
  )
}

function RenameForm({ id, title, onRenamed, onClose }: TitleProps & { onClose: () => void }) {
  const [draft, setDraft] = useState(title)
  const [problem, setProblem] = useState<string | null>(null)
  const rename = async (event: SubmitEvent) => {
    event.preventDefault()
    try {
      const wanted = draft.trim()
      await renameConversation(id, wanted)
      if (wanted !== '') onRenamed(wanted)
      noteChange('conversations')
      onClose()
    } catch (error) {
      setProblem(messageOf(error))
    }
  }
  return (
    <form class="rename-form" onSubmit={(event) => void rename(event)}>
      <input
        aria-label={say('Title')}
        value={draft}
        maxLength={200}
        ref={(input) => input?.focus()}
        onInput={(event) => setDraft(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Escape' && onClose()}
      />
      <button type="submit">{say('Save')}</button>
      {problem !== null && <Notice kind="error">{problem}</Notice>}
    </form>
  )
}

const LazyShare = lazy<{ id: string; title: string }>(async () => (await import('./share-panel.tsx')).SharePanel)

const Heading = ({ id, chat, controls }: ChatProps) => (
  <>
    <Link to="/" class="back">
      <span aria-hidden="true">←</span>
      <span class="visually-hidden">{say('All conversations')}</span>
    </Link>
    <div class="chat-title">
      <Title id={id} title={chat.title} onRenamed={controls.retitle} />
      <StateBadge agent={chat.agent} progress={chat.progress} />
    </div>
    <Link to={`/conversations/${id}/workspace`} class="button">
      {say('Workspace')}
    </Link>
    <PauseButton agent={chat.agent} controls={controls} />
  </>
)

/** Its button is labeled in the first frame, even if its content is not loaded yet. */
const Share = (props: { id: string; title: string }) => (
  <section class="share-panel" id="share" aria-label={say('Share')}>
    <LazyShare {...props} />
  </section>
)

type ToggleProps = {
  controls: string
  isOpen: boolean
  class?: string
  onToggle: () => void
  children: ComponentChildren
}

const Toggle = ({ controls, isOpen, onToggle, children, ...look }: ToggleProps) => (
  <button type="button" {...look} aria-expanded={isOpen} aria-controls={controls} onClick={onToggle}>
    {children}
  </button>
)

type ChatProps = { id: string; chat: Chat; controls: ChatControls }

/** One at a time: on a small screen both would leave no room for the conversation. */
type Panel = 'timeline' | 'share' | null

/** The files next to the conversation: the current ones, or those at an event. */
function useFiles({ events }: Chat) {
  const revision = useMemo(() => lastChange(events), [events])
  const [stored, setStored] = useState(0)
  const [isAsked, setIsAsked] = useState(false)
  const [at, setAt] = useState<number | null>(null)
  // A small screen shows them instead of the conversation, so a request for earlier files opens them.
  const isShown = isAsked || at !== null
  return {
    at,
    setAt,
    isShown,
    revision: revision + stored,
    onStored: () => setStored((count) => count + 1),
    toggle: () => {
      setIsAsked(!isShown)
      setAt(null)
    },
  }
}

function OpenChat({ id, chat, controls }: ChatProps) {
  const { at, setAt, isShown, revision, onStored, toggle } = useFiles(chat)
  const [panel, setPanel] = useState<Panel>(null)
  const show = (wanted: Panel) => {
    setPanel(panel === wanted ? null : wanted)
    setAt(null)
  }
  const onKeyDown = ({ key, defaultPrevented }: KeyboardEvent) => {
    if (key === 'Escape' && !defaultPrevented && panel !== null) show(panel)
  }
  const wide = useMedia('(min-width: 64rem)')
  return (
    <main class={isShown ? 'chat with-files' : 'chat'} onKeyDown={onKeyDown}>
      <header class="chat-head">
        <Heading id={id} chat={chat} controls={controls} />
        <Toggle controls="timeline" isOpen={panel === 'timeline'} onToggle={() => show('timeline')}>
          {say('History')}
        </Toggle>
        <Toggle controls="share" isOpen={panel === 'share'} onToggle={() => show('share')}>
          {say('Share')}
        </Toggle>
        <Toggle class="files-toggle" controls="files" isOpen={isShown} onToggle={toggle}>
          {say('Files')}
        </Toggle>
      </header>
      {panel === 'share' && <Share id={id} title={chat.title} />}
      {panel === 'timeline' && <Timeline id={id} chat={chat} at={at} onJump={controls.jump} onAt={setAt} />}
      <div class="chat-body">
        <Talk {...{ id, chat, controls, onStored }} />
        <aside class="files" id="files" aria-label={say('Files')}>
          {(wide || isShown) && <Files id={id} revision={revision} at={at} />}
        </aside>
      </div>
    </main>
  )
}

/** Pauses the agent before its next step, and resumes it. */
function PauseButton({ agent, controls }: { agent: AgentState | null; controls: ChatControls }) {
  if (agent?.name === 'running') {
    return (
      <button type="button" onClick={controls.pause}>
        {say('Pause')}
      </button>
    )
  }
  if (agent?.name !== 'paused') return null
  return (
    <button type="button" class="primary" onClick={controls.resume}>
      {say('Go on')}
    </button>
  )
}

function Talk({ id, chat, controls, onStored }: ChatProps & { onStored: () => void }) {
  const entries = useMemo(() => toEntries(chat.events), [chat.events])
  const said = useMemo(() => saidByUser(chat.events), [chat.events])
  const running = chat.agent?.name === 'running'
  const disabled = chat.connection.state === 'ended'
  return (
    <section class="talk" aria-label={say('Talk')}>
      <Log entries={entries} draft={chat.draft?.text ?? ''} focus={chat.focus} {...logState(chat, controls)} />
      {chat.problem !== null && (
        <Notice kind="error" action={{ label: say('Dismiss'), run: controls.dismissProblem }}>
          {chat.problem}
        </Notice>
      )}
      {chat.agent?.name === 'awaiting_user_confirmation' && (
        <Confirmation waiting={chat.asked} isAnswered={isAnswered(chat)} onAnswer={controls.answer} />
      )}
      <ConnectionNotice connection={chat.connection} onReconnect={controls.reconnectNow} />
      <Composer
        {...{ id, said, running, disabled }}
        isShell={isShell(chat)}
        onSay={controls.say}
        onStored={onStored}
        onStop={controls.stop}
      />
      {chat.cost !== null && <CostLine cost={chat.cost} />}
    </section>
  )
}

/** Also shown in place of a workspace. */
export function Missing() {
  usePageTitle(say('Not found'))
  return (
    <main class="narrow">
      <h1>{say('No such conversation')}</h1>
      <p>
        {say('It may have been deleted, or the address is incomplete.')} <Link to="/">{say('All conversations')}</Link>
      </p>
    </main>
  )
}

/** The answer is being sent. */
const isAnswered = ({ outbox, asked }: Chat): boolean =>
  outbox.some(
    ({ command: { action, args } }) => action !== 'message' && 'action_id' in args && args.action_id === asked?.id,
  )

/**
 * Whether its messages are commands. The loaded part of a long log may not contain this; then it is a shell if there
 * were no model costs.
 */
function isShell({ events, cost }: Chat): boolean {
  const agent = events.findLast(({ action }) => action === 'system')?.args?.agent_class
  return agent === undefined ? cost === null : agent === 'ShellAgent'
}

const CHANGING = new Set(['run', 'run_ipython', 'write', 'edit', 'mcp'])

/** The newest event that may have changed a file. */
const lastChange = (events: StoredEvent[]): number =>
  events.findLast(({ observation }) => observation !== undefined && CHANGING.has(observation))?.id ?? -1

const saidByUser = (events: StoredEvent[]): string[] =>
  events
    .filter(({ source, action }) => source === 'user' && action === 'message')
    .map(({ args }) => (typeof args?.content === 'string' ? args.content : ''))

// The agent's state, and whether the page is connected.

function StateBadge({ agent, progress }: { agent: AgentState | null; progress: string }) {
  const name = agent?.name ?? 'loading'
  const detail = name === 'loading' ? progress : (agent?.reason ?? '')
  return (
    <output class={`state ${name}`} title={detail} data-state={name}>
      <span class="dot" aria-hidden="true" />
      {nameOfState(name)}
    </output>
  )
}

type Props = { connection: Connection; onReconnect: () => void }

export function ConnectionNotice({ connection, onReconnect }: Props) {
  if (connection.state === 'ended') return <Notice kind="error">{connection.reason}</Notice>
  if (connection.state !== 'waiting') return null
  return (
    <Notice kind="warning" action={{ label: say('Reconnect now'), run: onReconnect }}>
      {say('Connection lost.')} {say('Attempt {n}', { n: connection.attempt })} <Countdown until={connection.retryAt} />
      . {say('Nothing is missed: events that come meanwhile are shown then.')}
    </Notice>
  )
}

function Countdown({ until }: { until: number }) {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), 500)
    return () => clearInterval(timer)
  }, [until])
  const seconds = Math.max(0, Math.ceil((until - now) / 1000))
  // Hidden from screen readers, which would otherwise read it every second.
  return <span aria-hidden="true">{seconds === 0 ? say('now') : say('in {seconds} s', { seconds })}</span>
}
