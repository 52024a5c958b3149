import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { getConversation, messageOf, newestEvents, newestStateEvent } from '../api.ts'
import { type Connection, ConversationStream, type Outgoing } from '../stream.ts'
import { say } from '../texts.ts'
import type { Delta, StoredEvent } from '../wire.ts'
import { type AgentState, lastState } from './entries.ts'
import { type Cost, costOf, eventsAround, extended, pageBeside, type Side, withLive } from './window.ts'

export type Chat = {
  phase: 'opening' | 'open' | 'missing'
  title: string
  /** What is loaded of the log: a window without a gap, at first its end. */
  events: StoredEvent[]
  /** The id of the newest event that there is; -1 for none. */
  newest: number
  /** The event that was jumped to, to be brought into view. */
  focus: { id: number } | null
  cost: Cost | null
  agent: AgentState | null
  /** What the service says while it sets the session up. */
  progress: string
  connection: Connection
  outbox: Outgoing[]
  problem: string | null
  /** What the agent has written of the answer under way. */
  draft: Draft | null
  /** What commands under way have printed so far, by the id of their action. */
  live: ReadonlyMap<number, string>
}

export type Draft = { answer: number; attempt: number; text: string }

export type ChatControls = {
  say: (text: string, pictures?: string[], files?: string[]) => void
  stop: () => void
  pause: () => void
  resume: () => void
  /** Whether the action that waits may run. */
  answer: (confirmed: boolean, actionId: number | undefined) => void
  sendAgain: (ref: string) => void
  discard: (ref: string) => void
  reconnectNow: () => void
  /** Moves the window by a page. */
  load: (side: Side) => Promise<void>
  /** Moves the window to an event, or to the end of the log. */
  jump: (eventId: number | null) => Promise<void>
  dismissProblem: () => void
  /** Shows another title, which is stored already. */
  retitle: (title: string) => void
}

const OPENING: Chat = {
  phase: 'opening',
  title: say('Conversation'),
  events: [],
  newest: -1,
  focus: null,
  cost: null,
  agent: null,
  progress: '',
  connection: { state: 'connecting' },
  outbox: [],
  problem: null,
  draft: null,
  live: new Map(),
}

type Update = (change: (before: Chat) => Partial<Chat>) => void

/** One conversation, from its newest page on and live. A long log is not read from its beginning to be joined at its end. */
export function useConversation(id: string): [Chat, ChatControls] {
  const [chat, setChat] = useState(OPENING)
  const stream = useRef<ConversationStream | null>(null)
  const update = useCallback<Update>((change) => setChat((before) => ({ ...before, ...change(before) })), [])

  useEffect(() => {
    let shown = true
    const updateShown: Update = (change) => {
      if (shown) update(change)
    }
    const open = async () => {
      const after = await loadEnd(id, updateShown)
      if (shown && after !== null) stream.current = listen(id, after, updateShown)
    }
    open().catch((error: unknown) => updateShown(() => ({ phase: 'open', problem: messageOf(error) })))
    return () => {
      shown = false
      stream.current?.close()
    }
  }, [id, update])

  const controls: ChatControls = {
    ...streamControls(() => stream.current),
    load: (side) => load(id, { chat, side }, update),
    jump: (eventId) => jump(id, eventId, update),
    dismissProblem: () => update(() => ({ problem: null })),
    retitle: (title) => update(() => ({ title })),
  }
  return [chat, controls]
}

type StreamControls = Omit<ChatControls, 'load' | 'jump' | 'dismissProblem' | 'retitle'>

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

/** Shows the end of the log and answers the id to go on after, or `null` when there is no such conversation. */
async function loadEnd(id: string, update: Update): Promise<number | null> {
  const page = newestEvents(id, null)
  // Of a conversation that is not there they are refused as well.
  page.catch(() => undefined)
  const info = await getConversation(id)
  if (info === null) {
    update(() => ({ phase: 'missing' }))
    return null
  }
  const { events, has_more } = await page
  const agent = lastState(events)
  const newest = events.at(-1)?.id ?? -1
  update(() => ({ phase: 'open', title: info.title, events, newest, agent, cost: costOf(events) }))
  if (agent === null && has_more) await findState(id, update)
  return newest
}

/** The log is read meanwhile. */
async function findState(id: string, update: Update): Promise<void> {
  const event = await newestStateEvent(id)
  update(({ agent }) => ({ agent: agent ?? (event ? lastState([event]) : null) }))
}

function listen(id: string, after: number, update: Update): ConversationStream {
  return new ConversationStream(id, after, {
    events: (fresh) =>
      update((before) => ({
        events: withLive(before.events, fresh, before.newest),
        newest: fresh.at(-1)?.id ?? before.newest,
        cost: costOf(fresh) ?? before.cost,
        agent: lastState(fresh) ?? before.agent,
        progress: '',
        // Whatever the agent does now, it has written first.
        live: withoutEnded(before.live, fresh),
        draft: fresh.some(({ source }) => source === 'agent') ? null : before.draft,
      })),
    output: ({ action_id: id, text }) => update((before) => ({ live: printed(before.live, id, text) })),
    delta: (delta) => update((before) => ({ draft: grown(before.draft, delta) })),
    // Whoever becomes live is told anew what the step under way has shown.
    connection: (connection) =>
      update(() => (connection.state === 'live' ? { connection, live: new Map(), draft: null } : { connection })),
    outbox: (outbox) => update(() => ({ outbox })),
    status: ({ message, conversation_title }) =>
      update(() => (conversation_title === undefined ? { progress: message } : { title: conversation_title })),
    trouble: (problem) => update(() => ({ problem })),
    stillThere: async () => (await getConversation(id)) !== null,
  })
}

/** The end of a long output is what is looked at while it runs; the whole of it comes with the event. */
const MAX_LIVE = 64 * 1024

const printed = (live: Chat['live'], id: number, text: string): Chat['live'] =>
  new Map(live).set(id, `${live.get(id) ?? ''}${text}`.slice(-MAX_LIVE))

function withoutEnded(live: Chat['live'], fresh: StoredEvent[]): Chat['live'] {
  const ended = fresh.filter(({ observation, cause }) => observation !== undefined && live.has(cause ?? -1))
  if (ended.length === 0) return live
  const rest = new Map(live)
  for (const { cause } of ended) rest.delete(cause ?? -1)
  return rest
}

/** The text of another answer, or of another attempt at one, begins anew. */
function grown(draft: Draft | null, { answer, attempt, kind, text }: Delta): Draft | null {
  if (kind !== 'text') return draft
  const goesOn = draft !== null && draft.answer === answer && draft.attempt === attempt
  return { answer, attempt, text: goesOn ? draft.text + text : text }
}

async function load(id: string, { chat, side }: { chat: Chat; side: Side }, update: Update): Promise<void> {
  try {
    const page = await pageBeside(id, chat.events, side)
    update((before) => ({ events: extended(before.events, page, side), focus: null }))
  } catch (error) {
    update(() => ({ problem: messageOf(error) }))
  }
}

async function jump(id: string, eventId: number | null, update: Update): Promise<void> {
  try {
    const events = eventId === null ? (await newestEvents(id, null)).events : await eventsAround(id, eventId)
    update(() => ({ events, focus: eventId === null ? null : { id: eventId } }))
  } catch (error) {
    update(() => ({ problem: messageOf(error) }))
  }
}
