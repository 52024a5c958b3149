import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, getConversation, messageOf, newestEvents, newestStateEvent } from '../api.ts'
import { type Connection, ConversationStream, type Outgoing, Retry } from '../stream.ts'
import { say } from '../texts.ts'
import type { Delta, StoredEvent } from '../wire.ts'
import { type AgentState, type Focus, lastState } from './entries.ts'
import { type Cost, costOf, eventsAround, extended, pageBeside, type Side, withLive } from './window.ts'

export type Chat = {
  phase: 'opening' | 'open' | 'missing'
  title: string
  /** The loaded part of the log: a window without gaps, at first its end. */
  events: StoredEvent[]
  /** The id of the newest existing event; -1 for none. */
  newest: number
  /** The target event of a jump, which is scrolled into view. */
  focus: Focus | null
  cost: Cost | null
  agent: AgentState | null
  /** The newest action that required confirmation, wherever the user is in the log. */
  asked: StoredEvent | null
  /** The service's message while it starts the session. */
  progress: string
  connection: Connection
  outbox: Outgoing[]
  problem: string | null
  /** The text of the current answer so far. */
  draft: Draft | null
  /** The output so far of running commands, by the id of their action; also of one whose result was lost. */
  live: ReadonlyMap<number, string>
  /** Commands with output from before the connection was lost: it is sent again if the service still has it. */
  told: ReadonlySet<number>
}

export type Draft = { answer: number; attempt: number; text: string }

export type ChatControls = {
  say: (text: string, pictures?: string[], files?: string[]) => void
  /** Runs a command of the user, whatever the agent. */
  run: (command: string) => void
  stop: () => void
  pause: () => void
  resume: () => void
  /** Confirms or rejects the waiting action. */
  answer: (confirmed: boolean, actionId: number | undefined) => void
  sendAgain: (ref: string) => void
  discard: (ref: string) => void
  reconnectNow: () => void
  /** Ends the wait before the next attempt to open the conversation. */
  openNow: () => void
  /** Moves the window by a page. */
  load: (side: Side) => Promise<void>
  /** Moves the window to an event, or to the end of the log. */
  jump: (eventId: number | null) => Promise<void>
  dismissProblem: () => void
  /** Shows another title, which is already stored. */
  retitle: (title: string) => void
}

const OPENING: Chat = {
  phase: 'opening',
  title: '',
  events: [],
  newest: -1,
  focus: null,
  cost: null,
  agent: null,
  asked: null,
  progress: '',
  connection: { state: 'connecting' },
  outbox: [],
  problem: null,
  draft: null,
  live: new Map(),
  told: new Set(),
}

type Update = (change: (before: Chat) => Partial<Chat>) => void

/** One conversation, starting with its newest page, with live updates. A long log is not read from its beginning. */
export function useConversation(id: string): [Chat, ChatControls] {
  const [chat, setChat] = useState<Chat>(() => ({ ...OPENING, title: say('Conversation') }))
  const update = useCallback<Update>((change) => setChat((before) => ({ ...before, ...change(before) })), [])
  const { stream, retry } = useOpening(id, update)
  const jumps = useRef(0)
  const controls: ChatControls = {
    ...streamControls(() => stream.current),
    openNow: () => retry.current?.now(),
    load: (side) => load(id, { chat, side }, update),
    jump: (eventId) => {
      jumps.current += 1
      const mine = jumps.current
      // A slider requests many: the last request counts, whatever the order of the answers.
      return jump(id, eventId, (change) => mine === jumps.current && update(change))
    },
    dismissProblem: () => update(() => ({ problem: null })),
    retitle: (title) => update(() => ({ title })),
  }
  return [chat, controls]
}

/** The stream of the conversation, if it exists; until then, opening is retried. */
function useOpening(id: string, update: Update) {
  const stream = useRef<ConversationStream | null>(null)
  const retry = useRef<Retry | null>(null)
  useEffect(() => {
    let shown = true
    const updateShown: Update = (change) => {
      if (shown) update(change)
    }
    const open = async () => {
      try {
        const after = await loadEnd(id, updateShown)
        if (shown && after !== null) stream.current = listen(id, after, updateShown)
      } catch (error) {
        updateShown(() => ({ problem: messageOf(error) }))
        if (shown && maySucceed(error)) retry.current?.schedule()
      }
    }
    retry.current = new Retry(() => void open())
    void open()
    return () => {
      shown = false
      retry.current?.cancel()
      stream.current?.close()
    }
  }, [id, update])
  return { stream, retry }
}

/** An invalid request stays invalid. */
const maySucceed = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.status < 400 || error.status >= 500 || error.status === 401 || error.status === 429)

type StreamControls = Omit<ChatControls, 'openNow' | 'load' | 'jump' | 'dismissProblem' | 'retitle'>

function streamControls(stream: () => ConversationStream | null): StreamControls {
  const become = (state: string, about: { action_id?: number } = {}) =>
    stream()?.send({ action: 'change_agent_state', args: { agent_state: state, ...about } })
  return {
    say: (content, pictures = [], files = []) =>
      stream()?.send({
        action: 'message',
        args: {
          content,
          ...(pictures.length === 0 ? {} : { image_urls: pictures }),
          ...(files.length === 0 ? {} : { file_urls: files }),
        },
      }),
    run: (command) => stream()?.send({ action: 'run', args: { command } }),
    stop: () => become('stopped'),
    pause: () => become('paused'),
    resume: () => become('running'),
    answer: (confirmed, actionId) =>
      become(confirmed ? 'user_confirmed' : 'user_rejected', actionId === undefined ? {} : { action_id: actionId }),
    sendAgain: (ref) => stream()?.sendAgain(ref),
    discard: (ref) => stream()?.discard(ref),
    reconnectNow: () => stream()?.reconnectNow(),
  }
}

/** Shows the end of the log and returns the id after which the stream starts, or `null` if the conversation does not exist. */
async function loadEnd(id: string, update: Update): Promise<number | null> {
  const page = newestEvents(id, null)
  // If the conversation does not exist, the events are refused too.
  page.catch(() => undefined)
  const info = await getConversation(id)
  if (info === null) {
    update(() => ({ phase: 'missing' }))
    return null
  }
  const { events, has_more } = await page
  const agent = lastState(events)
  const newest = events.at(-1)?.id ?? -1
  const asked = askedIn(events)
  update(() => ({
    phase: 'open',
    title: info.title,
    events,
    newest,
    agent,
    asked,
    cost: costOf(events),
    problem: null,
  }))
  if (agent === null && has_more)
    findState(id, update).catch((error: unknown) => update(() => ({ problem: messageOf(error) })))
  return newest
}

const askedIn = (events: StoredEvent[]): StoredEvent | null =>
  events.findLast(({ args }) => args?.confirmation_state === 'awaiting_confirmation') ?? null

/** The log is read at the same time. */
async function findState(id: string, update: Update): Promise<void> {
  const event = await newestStateEvent(id)
  update(({ agent }) => ({ agent: agent ?? (event ? lastState([event]) : null) }))
}

function listen(id: string, after: number, update: Update): ConversationStream {
  const stream = new ConversationStream(id, after, {
    events: (fresh) =>
      update((before) => ({
        events: withLive(before.events, fresh, before.newest),
        newest: fresh.at(-1)?.id ?? before.newest,
        cost: costOf(fresh) ?? before.cost,
        agent: lastState(fresh) ?? before.agent,
        asked: askedIn(fresh) ?? before.asked,
        progress: '',
        live: withoutEnded(before.live, fresh),
        // An event of the agent contains its complete text.
        draft: fresh.some(({ source }) => source === 'agent') ? null : before.draft,
      })),
    output: ({ action_id: id, text }) => update((before) => printed(before, id, text)),
    delta: (delta) => update((before) => ({ draft: grown(before.draft, delta) })),
    // After connecting, the service sends the output of the current step again.
    connection: (connection) =>
      update(({ live }) =>
        connection.state === 'live' ? { connection, told: new Set(live.keys()), draft: null } : { connection },
      ),
    outbox: (outbox) => {
      update(() => ({ outbox }))
      // A refused message stays in the log with its options; a refused button press is not shown there.
      const refused = outbox.find(({ command, error }) => command.action !== 'message' && error !== null)
      if (refused === undefined) return
      update(() => ({ problem: refused.error }))
      stream.discard(refused.ref)
    },
    status: ({ message, conversation_title }) =>
      update(() => (conversation_title === undefined ? { progress: message } : { title: conversation_title })),
    trouble: (problem) => update(() => ({ problem })),
    stillThere: async () => (await getConversation(id)) !== null,
  })
  return stream
}

/** Only the end of a long output is shown while it runs; the event contains all of it. */
const MAX_LIVE = 64 * 1024

function printed({ live, told }: Chat, id: number, text: string): Pick<Chat, 'live' | 'told'> {
  const before = told.has(id) ? '' : (live.get(id) ?? '')
  return {
    live: new Map(live).set(id, `${before}${text}`.slice(-MAX_LIVE)),
    told: new Set([...told].filter((other) => other !== id)),
  }
}

/** A result contains the whole output, unless it was lost: then the received output is all there is. */
function withoutEnded(live: Chat['live'], fresh: StoredEvent[]): Chat['live'] {
  const ended = fresh.filter(
    ({ observation, cause }) => observation !== undefined && observation !== 'error' && live.has(cause ?? -1),
  )
  if (ended.length === 0) return live
  const rest = new Map(live)
  for (const { cause } of ended) rest.delete(cause ?? -1)
  return rest
}

/** The text of another answer, or of another attempt, starts from empty. */
function grown(draft: Draft | null, { answer, attempt, kind, text }: Delta): Draft | null {
  if (kind !== 'text') return draft
  const goesOn = draft !== null && draft.answer === answer && draft.attempt === attempt
  return { answer, attempt, text: goesOn ? draft.text + text : text }
}

async function load(id: string, { chat, side }: { chat: Chat; side: Side }, update: Update): Promise<void> {
  try {
    const page = await pageBeside(id, chat.events, side)
    update((before) => {
      const events = extended(before.events, page, side)
      // The target of a jump stays marked as long as it is loaded.
      return { events, focus: events.some(({ id }) => id === before.focus?.id) ? before.focus : null }
    })
  } catch (error) {
    update(() => ({ problem: messageOf(error) }))
  }
}

async function jump(id: string, eventId: number | null, update: Update): Promise<void> {
  try {
    const events = eventId === null ? (await newestEvents(id, null)).events : await eventsAround(id, eventId)
    update(() => ({ events, focus: eventId === null ? null : focusOn(events, eventId) }))
  } catch (error) {
    update(() => ({ problem: messageOf(error) }))
  }
}

/** A link may name an event that does not exist yet. */
function focusOn(events: readonly StoredEvent[], eventId: number): Focus | null {
  const event = events.findLast(({ id }) => id <= eventId)
  return event === undefined ? null : { id: event.id, cause: event.cause ?? null }
}

/** The props of the log, whatever part of the conversation is shown. */
export const logState = (chat: Chat, controls: ChatControls) => ({
  outbox: chat.outbox,
  has: { earlier: (chat.events[0]?.id ?? 0) > 0, later: (chat.events.at(-1)?.id ?? -1) < chat.newest },
  running: chat.agent?.name === 'running',
  progress: chat.progress,
  live: chat.live,
  onLoad: controls.load,
  onEnd: () => controls.jump(null),
  onSendAgain: controls.sendAgain,
  onDiscard: controls.discard,
})
