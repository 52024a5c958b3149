import { useEffect, useMemo, useState } from 'preact/hooks'
import { messageOf, renameConversation } from '../api.ts'
import { Link, usePageTitle } from '../router.tsx'
import type { Connection } from '../stream.ts'
import { say } from '../texts.ts'
import { Notice, useMedia } from '../ui.tsx'
import type { StoredEvent } from '../wire.ts'
import { Composer } from './composer.tsx'
import { type AgentState, toEntries } from './entries.ts'
import { Files } from './files.tsx'
import { Log } from './log.tsx'
import { type Chat, type ChatControls, useConversation } from './use-conversation.ts'

export function ChatPage({ id }: { id: string }) {
  const [chat, controls] = useConversation(id)
  usePageTitle(chat.title)
  if (chat.phase === 'opening') return <p class="opening">{say('Opening…')}</p>
  if (chat.phase === 'missing') return <Missing />
  return <OpenChat id={id} chat={chat} controls={controls} />
}

/** The title, which is renamed where it stands. */
function Title({ id, title, onRenamed }: { id: string; title: string; onRenamed: (title: string) => void }) {
  const [draft, setDraft] = useState<string | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const rename = async (event: SubmitEvent) => {
    event.preventDefault()
    try {
      const wanted = draft?.trim() ?? ''
      await renameConversation(id, wanted)
      if (wanted !== '') onRenamed(wanted)
      setDraft(null)
      setProblem(null)
    } catch (error) {
      setProblem(messageOf(error))
    }
  }
  if (draft === null) {
    return (
      <>
        <h1>{title}</h1>
        <button type="button" class="quiet rename" onClick={() => setDraft(title)}>
          {say('Rename')}
        </button>
      </>
    )
  }
  return (
    <form class="rename-form" onSubmit={(event) => void rename(event)}>
      <input
        aria-label={say('Title')}
        value={draft}
        maxLength={200}
        ref={(input) => input?.focus()}
        onInput={(event) => setDraft(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Escape' && setDraft(null)}
      />
      <button type="submit">{say('Save')}</button>
      {problem !== null && <Notice kind="error">{problem}</Notice>}
    </form>
  )
}

type ChatProps = { id: string; chat: Chat; controls: ChatControls }

function OpenChat({ id, chat, controls }: ChatProps) {
  const revision = useMemo(() => lastChange(chat.events), [chat.events])
  const [showFiles, setShowFiles] = useState(false)
  const wide = useMedia('(min-width: 64rem)')
  return (
    <main class={showFiles ? 'chat with-files' : 'chat'}>
      <header class="chat-head">
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
        <button
          type="button"
          class="files-toggle"
          aria-expanded={showFiles}
          aria-controls="files"
          onClick={() => setShowFiles(!showFiles)}
        >
          {say('Files')}
        </button>
      </header>
      <div class="chat-body">
        <Talk chat={chat} controls={controls} />
        <aside class="files" id="files" aria-label={say('Files')}>
          {(wide || showFiles) && <Files id={id} revision={revision} />}
        </aside>
      </div>
    </main>
  )
}

/** The agent stops before its next step, and goes on with it. */
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

function Talk({ chat, controls }: Omit<ChatProps, 'id'>) {
  const entries = useMemo(() => toEntries(chat.events), [chat.events])
  const said = useMemo(() => saidByUser(chat.events), [chat.events])
  const running = chat.agent?.name === 'running'
  const disabled = chat.connection.state === 'ended'
  return (
    <section class="talk" aria-label={say('Talk')}>
      <Log
        entries={entries}
        outbox={chat.outbox}
        draft={chat.draft?.text ?? ''}
        hasEarlier={chat.hasEarlier}
        running={running}
        live={chat.live}
        onEarlier={controls.loadEarlier}
        onSendAgain={controls.sendAgain}
        onDiscard={controls.discard}
      />
      {chat.problem !== null && (
        <Notice kind="error" action={{ label: say('Dismiss'), run: controls.dismissProblem }}>
          {chat.problem}
        </Notice>
      )}
      {chat.agent?.name === 'awaiting_user_confirmation' && (
        <Confirmation waiting={waitingAction(chat.events)} onAnswer={controls.answer} />
      )}
      <ConnectionNotice connection={chat.connection} onReconnect={controls.reconnectNow} />
      <Composer said={said} running={running} disabled={disabled} onSay={controls.say} onStop={controls.stop} />
    </section>
  )
}

type ConfirmationProps = { waiting: StoredEvent | undefined; onAnswer: ChatControls['answer'] }

/** The answer names the action, so that no other one takes it for its own. */
function Confirmation({ waiting, onAnswer }: ConfirmationProps) {
  const { security_risk: risk, security_reasons: reasons } = waiting?.args ?? {}
  const level = typeof risk === 'number' ? RISKS[risk] : undefined
  return (
    <fieldset class="confirmation">
      <legend>
        {level === undefined
          ? say('May this action run?')
          : say('May this action run? Its risk is {level}.', { level: say(level) })}
      </legend>
      {Array.isArray(reasons) && (
        <ul>
          {reasons.map((reason) => (
            <li key={String(reason)}>{String(reason)}</li>
          ))}
        </ul>
      )}
      <button type="button" class="primary" onClick={() => onAnswer(true, waiting?.id)}>
        {say('Run it')}
      </button>
      <button type="button" class="danger" onClick={() => onAnswer(false, waiting?.id)}>
        {say('Reject')}
      </button>
    </fieldset>
  )
}

function Missing() {
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

const RISKS = ['low', 'medium', 'high'] as const

const waitingAction = (events: StoredEvent[]): StoredEvent | undefined =>
  events.findLast(({ args }) => args?.confirmation_state === 'awaiting_confirmation')

const CHANGING = new Set(['run', 'run_ipython', 'write', 'edit', 'mcp'])

/** The newest event that may have changed a file. */
const lastChange = (events: StoredEvent[]): number =>
  events.findLast(({ observation }) => observation !== undefined && CHANGING.has(observation))?.id ?? -1

const saidByUser = (events: StoredEvent[]): string[] =>
  events
    .filter(({ source, action }) => source === 'user' && action === 'message')
    .map(({ args }) => (typeof args?.content === 'string' ? args.content : ''))

// What the agent is doing, and whether this page still hears of it.

const LABELS = {
  init: 'Setting up',
  loading: 'Setting up',
  running: 'Running',
  awaiting_user_input: 'Waiting for you',
  awaiting_user_confirmation: 'Waiting for a confirmation',
  paused: 'Paused',
  stopped: 'Stopped',
  finished: 'Finished',
  rejected: 'Declined',
  error: 'Error',
  rate_limited: 'Waiting for the model provider',
} as const

function StateBadge({ agent, progress }: { agent: AgentState | null; progress: string }) {
  const name = agent?.name ?? 'loading'
  const label = name in LABELS ? say(LABELS[name as keyof typeof LABELS]) : name.replaceAll('_', ' ')
  const detail = name === 'loading' ? progress : (agent?.reason ?? '')
  return (
    <output class={`state ${name}`} title={detail} data-state={name}>
      <span class="dot" aria-hidden="true" />
      {label}
    </output>
  )
}

type Props = { connection: Connection; onReconnect: () => void }

function ConnectionNotice({ connection, onReconnect }: Props) {
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
  // Silent for screen readers, which would otherwise read every second aloud.
  return <span aria-hidden="true">{seconds === 0 ? say('now') : say('in {seconds} s', { seconds })}</span>
}
