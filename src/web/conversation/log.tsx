import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Outgoing } from '../stream.ts'
import type { Entry, Output } from './entries.ts'

/** Past this many characters an output is folded; a phone takes long to lay out more. */
const FOLD_AT = 5_000
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
  onEarlier: () => Promise<void>
  onSendAgain: (ref: string) => void
  onDiscard: (ref: string) => void
}

export function Log({ entries, outbox, draft, hasEarlier, running, onEarlier, onSendAgain, onDiscard }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const { behind, onScroll, toEnd, holdPlace } = useFollow(box, [entries, outbox, draft])
  const waiting = outbox.filter(({ command }) => command.action === 'message')
  return (
    <div class="log-frame">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <div class="log" ref={box} role="log" aria-label="Conversation" tabIndex={0} onScroll={onScroll}>
        {hasEarlier && (
          <button type="button" class="quiet earlier" onClick={() => void holdPlace(onEarlier)}>
            Show earlier events
          </button>
        )}
        {entries.length === 0 && waiting.length === 0 && <p class="empty">Nothing has happened here yet.</p>}
        {entries.map((entry) => (
          <EntryView key={entry.id} entry={entry} running={running} />
        ))}
        {draft !== '' && <Said by="agent" text={draft} files={[]} />}
        {waiting.map((outgoing) => (
          <Waiting key={outgoing.ref} outgoing={outgoing} onSendAgain={onSendAgain} onDiscard={onDiscard} />
        ))}
      </div>
      {behind && (
        <button type="button" class="to-end" onClick={toEnd}>
          Newest ↓
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

function EntryView({ entry, running }: { entry: Entry; running: boolean }) {
  if (entry.kind === 'command') return <CommandView entry={entry} running={running} />
  if (entry.kind === 'said') return <Said by={entry.by} text={entry.text} files={entry.files} />
  if (entry.kind === 'step') {
    return (
      <details class="entry step" open={entry.pictures.length > 0}>
        <summary>{entry.title}</summary>
        <OutputText text={entry.body} atEnd={false} />
        {entry.pictures.map((url, index) => (
          <img key={index} src={url} alt={`Output ${index + 1} of the cell`} />
        ))}
      </details>
    )
  }
  return <p class={`entry ${entry.kind}`}>{entry.text}</p>
}

type SaidProps = { by: 'user' | 'agent'; text: string; files: string[]; children?: ComponentChildren }

function Said({ by, text, files, children }: SaidProps) {
  const user = by === 'user'
  return (
    <article class="entry">
      <div class={user ? 'from-user' : ''}>
        <h2 class="who">{user ? 'You' : 'Agent'}</h2>
        <p class={user ? 'text typed' : 'text'}>{text}</p>
      </div>
      {files.length > 0 && <p class="hint">With {files.join(', ')}</p>}
      {children}
    </article>
  )
}

type CommandProps = { entry: Extract<Entry, { kind: 'command' }>; running: boolean }

function CommandView({ entry, running }: CommandProps) {
  return (
    <article class="entry">
      <div class={entry.byUser ? 'from-user' : ''}>
        <h2 class="who">{entry.byUser ? 'You' : 'Agent'}</h2>
        {entry.thought !== '' && <p class="text">{entry.thought}</p>}
        <pre class="line">
          <span class="prompt">$ </span>
          {entry.command}
        </pre>
      </div>
      {entry.output === null ? (
        <p class="hint">{running ? 'Running…' : 'No result.'}</p>
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
      {exitCode === -1 && <p class="exit">no exit code: cut off or still running</p>}
      {exitCode !== null && exitCode !== -1 && (
        <p class={exitCode === 0 ? 'exit ok' : 'exit failed'}>exit code {exitCode}</p>
      )}
    </>
  )
}

/** What went wrong is told last, so that an output too tall to be seen whole opens at its end then. */
function OutputText({ text, atEnd }: { text: string; atEnd: boolean }) {
  const [folded, setFolded] = useState(text.length > FOLD_AT)
  const box = useRef<HTMLPreElement>(null)
  useLayoutEffect(() => {
    if (atEnd && box.current !== null) box.current.scrollTop = box.current.scrollHeight
  }, [atEnd])
  return (
    <>
      <pre class="output" ref={box}>
        {folded ? (atEnd ? text.slice(-FOLD_AT) : text.slice(0, FOLD_AT)) : text}
      </pre>
      {folded && (
        <button type="button" class="quiet" onClick={() => setFolded(false)}>
          Show all {text.length.toLocaleString('en')} characters
        </button>
      )}
    </>
  )
}

type WaitingProps = { outgoing: Outgoing; onSendAgain: (ref: string) => void; onDiscard: (ref: string) => void }

function Waiting({ outgoing: { ref, command, error }, onSendAgain, onDiscard }: WaitingProps) {
  if (command.action !== 'message') return null
  return (
    <Said by="user" text={command.args.content} files={[]}>
      {error === null ? (
        <p class="hint">Sending…</p>
      ) : (
        <div class="refused" role="alert">
          Not sent: {error}
          <button type="button" class="quiet" onClick={() => onSendAgain(ref)}>
            Send again
          </button>
          <button type="button" class="quiet" onClick={() => onDiscard(ref)}>
            Discard
          </button>
        </div>
      )}
    </Said>
  )
}
