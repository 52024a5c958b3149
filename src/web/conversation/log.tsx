import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { clockTime } from '../format.ts'
import { Markdown } from '../markdown.tsx'
import { Link } from '../router.tsx'
import type { Outgoing } from '../stream.ts'
import { say } from '../texts.ts'
import { mentionsSettings } from '../ui.tsx'
import { EditCard, LiveOutput, OutputText, Pictures, StepCard } from './cards.tsx'
import type { Entry, Output } from './entries.ts'

/** How close to its end, in pixels, the log still follows what comes. */
const FOLLOW_WITHIN = 80

type Props = {
  entries: Entry[]
  outbox: Outgoing[]
  /** What the agent is writing just now. */
  draft: string
  hasEarlier: boolean
  /** Whether an answer to the last command can still be expected. */
  running: boolean
  live: ReadonlyMap<number, string>
  onEarlier: () => Promise<void>
  onSendAgain: (ref: string) => void
  onDiscard: (ref: string) => void
}

export function Log({ entries, outbox, draft, hasEarlier, running, live, onEarlier, onSendAgain, onDiscard }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const { behind, onScroll, toEnd, holdPlace } = useFollow(box, [entries, outbox, draft, live])
  const waiting = outbox.filter(({ command }) => command.action === 'message')
  return (
    <div class="log-frame">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <div class="log" ref={box} role="log" aria-label={say('Conversation')} tabIndex={0} onScroll={onScroll}>
        {hasEarlier && (
          <button type="button" class="quiet earlier" onClick={() => void holdPlace(onEarlier)}>
            {say('Show earlier events')}
          </button>
        )}
        {entries.length === 0 && waiting.length === 0 && <p class="empty">{say('Nothing has happened here yet.')}</p>}
        {entries.map((entry) => (
          <EntryView key={entry.id} entry={entry} running={running} live={live.get(entry.id) ?? ''} />
        ))}
        {draft !== '' && <Said by="agent" text={draft} at={null} files={[]} pictures={[]} />}
        {waiting.map((outgoing) => (
          <Waiting key={outgoing.ref} outgoing={outgoing} onSendAgain={onSendAgain} onDiscard={onDiscard} />
        ))}
      </div>
      {behind && (
        <button type="button" class="to-end" onClick={toEnd}>
          {say('Newest')} ↓
        </button>
      )}
    </div>
  )
}

/** Follows the end of the log until the reader scrolls away from it, and again once they return. */
function useFollow(box: { current: HTMLDivElement | null }, shown: readonly unknown[]) {
  const following = useRef(true)
  const [behind, setBehind] = useState(false)
  const toEnd = () => {
    box.current?.scrollTo({ top: box.current.scrollHeight })
  }
  const onScroll = () => {
    const log = box.current
    if (!log) return
    following.current = log.scrollHeight - log.scrollTop - log.clientHeight < FOLLOW_WITHIN
    setBehind(!following.current)
  }
  const holdPlace = async (grow: () => Promise<void>) => {
    const before = box.current?.scrollHeight ?? 0
    await grow()
    requestAnimationFrame(() => box.current?.scrollBy({ top: box.current.scrollHeight - before }))
  }
  useLayoutEffect(() => {
    if (following.current) toEnd()
  }, shown)
  useEffect(() => {
    const log = box.current
    if (!log) return
    const observer = new ResizeObserver(() => {
      if (following.current) log.scrollTo({ top: log.scrollHeight })
    })
    observer.observe(log)
    return () => observer.disconnect()
  }, [box])
  return { behind, onScroll, toEnd, holdPlace }
}

type EntryProps = { entry: Entry; running: boolean; live: string }

function EntryView({ entry, running, live }: EntryProps) {
  switch (entry.kind) {
    case 'command':
      return <CommandView entry={entry} running={running} live={live} />
    case 'said':
      return <Said {...entry} />
    case 'step':
      return <StepCard entry={entry} live={live} />
    case 'edit':
      return <EditCard entry={entry} />
    default:
      return <Line kind={entry.kind} text={entry.text} />
  }
}

const Line = ({ kind, text }: { kind: 'error' | 'note'; text: string }) => (
  <p class={`entry ${kind}`}>
    {text}
    {kind === 'error' && mentionsSettings(text) && (
      <>
        {' '}
        <Link to="/settings/model">{say('Open the settings')}</Link>
      </>
    )}
  </p>
)

type SaidProps = {
  by: 'user' | 'agent'
  text: string
  /** Null while it is being written. */
  at: string | null
  files: string[]
  pictures: string[]
  children?: ComponentChildren
}

function Said({ by, text, at, files, pictures, children }: SaidProps) {
  const user = by === 'user'
  return (
    <article class="entry">
      <div class={user ? 'from-user' : ''}>
        <Who byUser={user} at={at} />
        {user ? <p class="text typed">{text}</p> : <Markdown text={text} />}
      </div>
      <Pictures urls={pictures} />
      {files.length > 0 && <p class="hint">{say('With {files}', { files: files.join(', ') })}</p>}
      {children}
    </article>
  )
}

const Who = ({ byUser, at }: { byUser: boolean; at: string | null }) => (
  <h2 class="who">
    {byUser ? say('You') : say('Agent')}{' '}
    {at !== null && (
      <time class="when" dateTime={at}>
        {clockTime(at)}
      </time>
    )}
  </h2>
)

type CommandProps = { entry: Extract<Entry, { kind: 'command' }>; running: boolean; live: string }

function CommandView({ entry, running, live }: CommandProps) {
  return (
    <article class="entry">
      <div class={entry.byUser ? 'from-user' : ''}>
        <Who byUser={entry.byUser} at={entry.at} />
        {entry.thought !== '' && <p class="text">{entry.thought}</p>}
        <pre class="line">
          <span class="prompt">$ </span>
          {entry.command}
        </pre>
      </div>
      {entry.output === null && live !== '' && <LiveOutput text={live} />}
      {entry.output === null ? (
        <p class="hint">{running ? say('Running…') : say('No result.')}</p>
      ) : (
        <OutputView output={entry.output} />
      )}
    </article>
  )
}

function OutputView({ output: { text, exitCode } }: { output: Output }) {
  return (
    <>
      {text !== '' && <OutputText text={text} atEnd={exitCode !== null && exitCode !== 0} />}
      {exitCode === -1 && <p class="exit">{say('no exit code: cut off or still running')}</p>}
      {exitCode !== null && exitCode !== -1 && (
        <p class={exitCode === 0 ? 'exit ok' : 'exit failed'}>{say('exit code {code}', { code: exitCode })}</p>
      )}
    </>
  )
}

type WaitingProps = { outgoing: Outgoing; onSendAgain: (ref: string) => void; onDiscard: (ref: string) => void }

function Waiting({ outgoing: { ref, command, error }, onSendAgain, onDiscard }: WaitingProps) {
  if (command.action !== 'message') return null
  return (
    <Said by="user" text={command.args.content} at={null} files={[]} pictures={[]}>
      {error === null ? (
        <p class="hint">{say('Sending…')}</p>
      ) : (
        <div class="refused" role="alert">
          {say('Not sent: {error}', { error })}
          <button type="button" class="quiet" onClick={() => onSendAgain(ref)}>
            {say('Send again')}
          </button>
          <button type="button" class="quiet" onClick={() => onDiscard(ref)}>
            {say('Discard')}
          </button>
        </div>
      )}
    </Said>
  )
}
