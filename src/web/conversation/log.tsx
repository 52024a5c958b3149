import { Component } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Markdown } from '../markdown.tsx'
import type { Outgoing } from '../stream.ts'
import { say } from '../texts.ts'
import { WayToSetting } from '../ui.tsx'
import { visible } from '../visible.ts'
import { EditCard, LiveOutput, OutputText, StepCard, standing } from './cards.tsx'
import { type Entry, entryOf, type Focus, isSame, type Output } from './entries.ts'
import { MessageEntry, Speaker, WithWords } from './message-entry.tsx'
import { type Anchor, anchorOf, keepInSight, restore } from './place.ts'
import type { Side } from './window.ts'

/** The log follows new entries if it is this close to its end, in pixels. */
const FOLLOW_WITHIN = 80
/** More events are loaded this close to an end of the window, in pixels. */
const LOAD_WITHIN = 900

type Props = {
  entries: Entry[]
  outbox: Outgoing[]
  /** The text that the agent is writing now. */
  draft: string
  has: Readonly<Record<Side, boolean>>
  focus: Focus | null
  /** Whether a result of the last command can still arrive. */
  running: boolean
  /** The service's message about the current step, for example that the model is called again. */
  progress: string
  live: ReadonlyMap<number, string>
  onLoad: (side: Side) => Promise<void>
  /** Goes to the end of the log. */
  onEnd: () => Promise<void>
  onSendAgain: (ref: string) => void
  onDiscard: (ref: string) => void
}

export function Log(props: Props) {
  const { entries, has } = props
  const box = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const place = usePlace({ box, content }, props)
  const waiting = waitingOf(props.outbox)
  return (
    <div class="log-frame">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <div class="log" ref={box} role="log" aria-label={say('Conversation')} tabIndex={0} onScroll={place.onScroll}>
        <div class="log-content" ref={content}>
          {has.earlier && (
            <button type="button" class="quiet earlier" onClick={() => void place.load('earlier')}>
              {say('Show earlier events')}
            </button>
          )}
          {entries.length === 0 && waiting.length === 0 && <p class="empty">{say('Nothing has happened here yet.')}</p>}
          <Entries {...props} />
          {has.later && (
            <button type="button" class="quiet earlier later" onClick={() => void place.load('later')}>
              {say('Show later events')}
            </button>
          )}
          {!has.later && <UnderWay {...props} waiting={waiting} />}
        </div>
      </div>
      {(place.isBehind || has.later) && (
        <button type="button" class="to-end" onClick={place.toEnd}>
          {say('Newest')} ↓
        </button>
      )}
    </div>
  )
}

/** Messages without an event yet, or refused ones. */
const waitingOf = (outbox: readonly Outgoing[]): Outgoing[] =>
  outbox.filter(({ command, isShown, error }) => command.action === 'message' && (!isShown || error !== null))

function Entries({ entries, focus, running, live }: Pick<Props, 'entries' | 'focus' | 'running' | 'live'>) {
  const focused = focus === null ? null : (entryOf(entries, focus)?.id ?? null)
  return (
    <>
      {entries.map((entry) => (
        <EntryView
          key={entry.id}
          entry={entry}
          running={running}
          live={live.get(entry.id) ?? ''}
          isFocused={entry.id === focused}
        />
      ))}
    </>
  )
}

/** Content without an event yet: what the agent writes or thinks, and unsent messages. */
function UnderWay({ entries, draft, running, progress, waiting, ...on }: Props & { waiting: readonly Outgoing[] }) {
  const last = entries.at(-1)
  return (
    <>
      {draft !== '' && <MessageEntry by="agent" text={draft} at={null} files={[]} pictures={[]} />}
      {running && draft === '' && !isUnderWay(last) && <Thinking key={last?.id} progress={progress} />}
      {waiting.map((outgoing) => (
        <Waiting key={outgoing.ref} outgoing={outgoing} onSendAgain={on.onSendAgain} onDiscard={on.onDiscard} />
      ))}
    </>
  )
}

/** Whether the entry itself shows that it is in progress. */
const isUnderWay = (entry: Entry | undefined): boolean =>
  (entry?.kind === 'command' && entry.output === null) || (entry?.kind === 'step' && entry.result === null)

const SECOND_MS = 1_000
/** In seconds; before that, users do not notice the wait. */
const SHOWN_FROM = 3

/** The model was called and has not answered yet. */
function Thinking({ progress }: { progress: string }) {
  const [seconds, setSeconds] = useState(0)
  useEffect(() => {
    const begun = performance.now()
    const timer = setInterval(() => setSeconds(Math.floor((performance.now() - begun) / SECOND_MS)), SECOND_MS)
    return () => clearInterval(timer)
  }, [])
  return (
    <p class="entry note thinking">
      {say('The agent is thinking…')}{' '}
      {seconds >= SHOWN_FROM && <span aria-hidden="true">{say('{seconds} s', { seconds })}</span>}
      {progress !== '' && (
        <span class="progress" lang="en">
          {progress}
        </span>
      )}
    </p>
  )
}

type Box = { current: HTMLDivElement | null }
type Boxes = { box: Box; content: Box }

/** Moves the window by one page at a time. */
function useLoading({ has, onLoad }: Pick<Props, 'has' | 'onLoad'>) {
  const loading = useRef(false)
  return async (side: Side) => {
    if (loading.current || !has[side]) return
    loading.current = true
    await onLoad(side)
    loading.current = false
  }
}

/**
 * Follows the end of the log until the user scrolls away from it, and again after they return; moves the window with
 * the scroll position.
 */
function usePlace(boxes: Boxes, props: Props) {
  const { box } = boxes
  const { has, focus, onEnd } = props
  const following = useRef(true)
  const anchor = useRef<Anchor | null>(null)
  const left = useRef<Props['focus']>(null)
  const [isBehind, setIsBehind] = useState(false)
  const load = useLoading(props)
  const onScroll = () => {
    const log = box.current
    if (!log) return
    const below = log.scrollHeight - log.scrollTop - log.clientHeight
    const isAtEnd = !has.later && below < FOLLOW_WITHIN
    // The target of a jump may be near the end; then new entries must not scroll it away.
    following.current = isAtEnd && (focus === null || focus === left.current)
    anchor.current = following.current ? null : anchorOf(log)
    setIsBehind(!isAtEnd)
    if (log.scrollTop < LOAD_WITHIN) void load('earlier')
    else if (below < LOAD_WITHIN) void load('later')
  }
  const toEnd = () => {
    following.current = true
    anchor.current = null
    left.current = props.focus
    // The button is removed.
    box.current?.focus({ preventScroll: true })
    if (has.later) void onEnd()
    else box.current?.scrollTo({ top: box.current.scrollHeight })
  }
  useStaying(boxes, props, { following, anchor, left })
  return { isBehind, onScroll, toEnd, load }
}

/** `left` is the jump from whose target the user has scrolled away. */
type ScrollState = {
  following: { current: boolean }
  anchor: { current: Anchor | null }
  left: { current: Props['focus'] }
}

/** After rendering or growth: the end stays visible if it is followed, otherwise the anchor keeps its position. */
function useStaying(
  { box, content }: Boxes,
  { entries, outbox, draft, has, focus, live }: Props,
  { following, anchor, left }: ScrollState,
): void {
  useLayoutEffect(() => {
    const log = box.current
    if (!log) return
    if (following.current && !has.later) log.scrollTo({ top: log.scrollHeight })
    else if (anchor.current !== null) restore(log, anchor.current)
  }, [entries, outbox, draft, live])
  useLayoutEffect(() => {
    const log = box.current
    if (focus === null || focus === left.current || !log) return
    following.current = false
    const leave = () => {
      left.current = focus
    }
    const follow = () => {
      anchor.current = anchorOf(log)
    }
    return keepInSight(log, follow, leave)
    // A page that is loaded around it later moves it too.
  }, [focus, entries])
  // Before the first frame: otherwise growth would look like scrolling away from the end.
  useLayoutEffect(() => {
    const log = box.current
    if (!log || !content.current) return
    const observer = new ResizeObserver(() => {
      if (following.current) log.scrollTo({ top: log.scrollHeight })
    })
    observer.observe(log)
    // An entry below the visible area gets its height only when it is rendered.
    observer.observe(content.current)
    return () => observer.disconnect()
  }, [box, content])
}

type EntryProps = { entry: Entry; running: boolean; live: string; isFocused: boolean }

/** Rendered again only if its content changed, because a window of hundreds of entries moves during scrolling. */
class EntryView extends Component<EntryProps> {
  override shouldComponentUpdate(next: EntryProps): boolean {
    const { entry, running, live, isFocused } = this.props
    const waits = ('output' in entry && entry.output === null) || ('hasFailed' in entry && entry.result === null)
    if (live !== next.live || isFocused !== next.isFocused || (waits && running !== next.running)) return true
    return !isSame(entry, next.entry)
  }

  override render({ isFocused, ...props }: EntryProps) {
    return (
      <div class={isFocused ? 'entry-frame focused' : 'entry-frame'} data-entry={props.entry.id}>
        <EntryBody {...props} />
      </div>
    )
  }
}

function EntryBody({ entry, running, live }: Omit<EntryProps, 'isFocused'>) {
  switch (entry.kind) {
    case 'command':
      return <CommandView entry={entry} running={running} live={live} />
    case 'said':
      return <MessageEntry {...entry} />
    case 'step':
      return (
        <WithWords {...entry}>
          <StepCard entry={entry} live={live} running={running} />
        </WithWords>
      )
    case 'edit':
      return (
        <WithWords {...entry}>
          <EditCard entry={entry} />
        </WithWords>
      )
    case 'thought':
      return (
        <div class="entry thought">
          <Markdown text={entry.text} />
        </div>
      )
    default:
      return <Line kind={entry.kind} text={entry.text} />
  }
}

const Line = ({ kind, text }: { kind: 'error' | 'note'; text: string }) => (
  <p class={`entry ${kind}`}>
    {text}
    {kind === 'error' && <WayToSetting said={text} />}
  </p>
)

type CommandProps = { entry: Extract<Entry, { kind: 'command' }>; running: boolean; live: string }

function CommandView({ entry, running, live }: CommandProps) {
  return (
    <article class="entry">
      <div class={entry.byUser ? 'from-user' : ''}>
        <Speaker byUser={entry.byUser} at={entry.at} />
        {entry.thought !== '' && <Markdown text={entry.thought} />}
        <pre class="line">
          <span class="prompt">$ </span>
          {visible(entry.command)}
        </pre>
      </div>
      {entry.output === null && live !== '' && <LiveOutput text={live} />}
      {entry.output === null ? (
        <p class="hint">{standing(entry.answer, running || live !== '')}</p>
      ) : (
        <OutputView output={entry.output} printed={live} />
      )}
    </article>
  )
}

/** `printed`: the live output while it ran. */
function OutputView({ output: { text, exitCode, fault }, printed }: { output: Output; printed: string }) {
  return (
    <>
      {fault !== '' && <p class="exit failed">{fault}</p>}
      {text === '' && fault !== '' && printed !== '' && <LostOutput printed={printed} />}
      {text !== '' && <OutputText text={text} atEnd={exitCode !== null && exitCode !== 0} />}
      {exitCode === -1 && <p class="exit">{say('no exit code: cut off or still running')}</p>}
      {exitCode !== null && exitCode !== -1 && (
        <p class={exitCode === 0 ? 'exit ok' : 'exit failed'}>{say('exit code {code}', { code: exitCode })}</p>
      )}
    </>
  )
}

/** For an output that the service lost. */
const LostOutput = ({ printed }: { printed: string }) => (
  <>
    <p class="hint">{say('What it had printed before, as long as this page is open:')}</p>
    <LiveOutput text={printed} />
  </>
)

type WaitingProps = { outgoing: Outgoing; onSendAgain: (ref: string) => void; onDiscard: (ref: string) => void }

function Waiting({ outgoing: { ref, command, error }, onSendAgain, onDiscard }: WaitingProps) {
  if (command.action !== 'message') return null
  return (
    <MessageEntry
      by="user"
      text={command.args.content}
      at={null}
      files={command.args.file_urls ?? []}
      pictures={command.args.image_urls ?? []}
    >
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
    </MessageEntry>
  )
}
