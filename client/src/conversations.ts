import type { Calls, ConversationInfo, InitSessionRequest } from './api.generated.ts'
import { BellwetherError } from './errors.ts'
import { type Event, type FollowOptions, type Frame, follow } from './events.ts'
import type { Common, Http, Reply } from './http.ts'
import { WorkspaceFiles } from './workspace-files.ts'

const ONE = '/api/conversations/{conversation_id}'
type ConversationPath = typeof ONE

export type ClientAction = Calls[`POST ${ConversationPath}/events`]['body']
type EventQuery = NonNullable<Calls[`GET ${ConversationPath}/events`]['query']>

/** The agent's state. */
export type Stand = {
  /** The event that was sent. */
  eventId: number
  /** Whether it is finished until the next message or confirmation. */
  atRest: boolean
  state: string
  /** When it is finished, the agent's last message; without one, the output of its last command. */
  message: string | null
  lastEventId: number
}

/** How long one request waits; the next one continues. */
const WAIT_SECONDS = 50
const TIME_TO_ANSWER_MS = 15_000
const PAGE = 100

export class Conversations {
  readonly #http: Http

  constructor(http: Http) {
    this.#http = http
  }

  async create(
    body: InitSessionRequest = {},
    query: NonNullable<Calls['POST /api/conversations']['query']> = {},
  ): Promise<Conversation> {
    const { conversation_id: id } = await this.#http.call('POST /api/conversations', { body, query })
    return this.open(id)
  }

  /** An existing one; no request is sent. */
  open(id: string): Conversation {
    return new Conversation(this.#http, id)
  }

  /** All of them, newest first; further pages are requested as they are read. */
  async *list(
    query: Omit<NonNullable<Calls['GET /api/conversations']['query']>, 'page_id'> = {},
  ): AsyncGenerator<ConversationInfo> {
    let page_id: string | null | undefined
    do {
      const page = await this.#http.call('GET /api/conversations', {
        query: { limit: PAGE, ...query, page_id: page_id ?? null },
      })
      yield* page.results
      page_id = page.next_page_id
    } while (page_id)
  }
}

export class Conversation {
  readonly id: string
  readonly files: WorkspaceFiles
  readonly #http: Http
  readonly #path: { conversation_id: string }

  constructor(http: Http, id: string) {
    this.#http = http
    this.id = id
    this.files = new WorkspaceFiles(http, id)
    this.#path = { conversation_id: id }
  }

  /** Null if there is no such conversation. */
  info(): Promise<ConversationInfo | null> {
    return this.#http.call(`GET ${ONE}`, { path: this.#path })
  }

  /** Sends a message without waiting for its result. */
  send(text: string, options: Common & { imageUrls?: string[] } = {}): Promise<Stand> {
    return this.act(messageOf(text, options.imageUrls), options)
  }

  /** Any action that a client may send, executed once however often it is repeated. Returns the agent's state. */
  act(action: ClientAction, options: Common = {}, wait = 0): Promise<Stand> {
    const timeoutMs = options.timeoutMs ?? wait * 1000 + TIME_TO_ANSWER_MS
    const sent = this.#http.call(`POST ${ONE}/events`, {
      ...options,
      path: this.#path,
      query: { wait },
      body: action,
      timeoutMs,
    })
    return sent.then(standOf)
  }

  /** Sends a message and waits until the agent has finished, with as many requests as needed. */
  async ask(text: string, options: Common & { imageUrls?: string[] } = {}): Promise<Stand> {
    const once = { ...options, idempotencyKey: options.idempotencyKey ?? crypto.randomUUID() }
    for (;;) {
      const stand = await this.act(messageOf(text, options.imageUrls), once, WAIT_SECONDS)
      if (stand.atRest) return stand
    }
  }

  /** Sends a message and yields the frames from the message until the agent has finished. */
  turn(text: string, options: Common & { imageUrls?: string[] } = {}): AsyncGenerator<Frame, Stand> {
    return this.perform(messageOf(text, options.imageUrls), options)
  }

  /** Like `turn`, for any action, for example a confirmation. */
  async *perform(action: ClientAction, options: Common = {}): AsyncGenerator<Frame, Stand> {
    const once = { ...options, idempotencyKey: options.idempotencyKey ?? crypto.randomUUID() }
    let stand = await this.act(action, once)
    const watching = { after: stand.eventId - 1, ...(options.signal === undefined ? {} : { signal: options.signal }) }
    for await (const frame of this.follow(watching)) {
      yield frame
      // A state may belong to an earlier message: the service knows whether anything is pending.
      const mayRest =
        frame.type === 'ready' || (frame.type === 'event' && frame.event.observation === 'agent_state_changed')
      if (mayRest) stand = await this.act(action, once)
      if (stand.atRest && frame.type === 'event' && frame.event.id >= stand.lastEventId) return stand
    }
    throw new BellwetherError('aborted', 'Nobody follows the conversation any more')
  }

  /** The events and the frames between them, as they arrive. */
  follow(options: FollowOptions = {}): AsyncGenerator<Frame, void> {
    return follow(this.#http, this.id, options)
  }

  /** Only the events: the stored ones, and then each as it arrives. */
  async *events(options: FollowOptions = {}): AsyncGenerator<Event, void> {
    for await (const frame of this.follow(options)) if (frame.type === 'event') yield frame.event
  }

  /** The stored events that match; further pages are requested as they are read; it ends with the newest. */
  async *search(query: EventQuery = {}): AsyncGenerator<Event> {
    let { start_id = 0, end_id = null } = query
    for (;;) {
      const page = await this.#http.call(`GET ${ONE}/events`, {
        path: this.#path,
        query: { limit: PAGE, ...query, start_id, end_id },
      })
      const events = page.events as unknown as Event[]
      yield* events
      const last = events.at(-1)
      if (!page.has_more || last === undefined) return
      if (query.reverse) end_id = last.id - 1
      else start_id = last.id + 1
    }
  }

  /** Answers the action that waits for a confirmation. */
  confirm(actionId: number): Promise<Stand> {
    return this.act(stateRequest('user_confirmed', actionId))
  }

  reject(actionId: number): Promise<Stand> {
    return this.act(stateRequest('user_rejected', actionId))
  }

  pause(): Promise<Stand> {
    return this.act(stateRequest('paused'))
  }

  resume(): Promise<Stand> {
    return this.act(stateRequest('running'))
  }

  /** Stops the agent's current work; the conversation stays open. */
  interrupt(): Promise<Stand> {
    return this.act(stateRequest('stopped'))
  }

  /** Starts a stopped one. */
  start(): Promise<Reply<`POST ${ConversationPath}/start`>> {
    return this.#http.call(`POST ${ONE}/start`, { path: this.#path, body: {} })
  }

  stop(): Promise<Reply<`POST ${ConversationPath}/stop`>> {
    return this.#http.call(`POST ${ONE}/stop`, { path: this.#path })
  }

  delete(): Promise<boolean> {
    return this.#http.call(`DELETE ${ONE}`, { path: this.#path })
  }

  /** A new conversation from this one's state at an event, including the workspace. */
  async fork(eventId: number, title?: string): Promise<Conversation> {
    const body = { event_id: eventId, ...(title === undefined ? {} : { title }) }
    const { conversation_id: id } = await this.#http.call(`POST ${ONE}/fork`, { path: this.#path, body })
    return new Conversation(this.#http, id)
  }

  /** Every event, as a recording that can be replayed. */
  trajectory(): Promise<Reply<`GET ${ConversationPath}/trajectory`>> {
    return this.#http.call(`GET ${ONE}/trajectory`, { path: this.#path, timeoutMs: 600_000 })
  }
}

function stateRequest(
  agent_state: 'user_confirmed' | 'user_rejected' | 'paused' | 'running' | 'stopped',
  actionId?: number,
): ClientAction {
  const args = { agent_state, ...(actionId === undefined ? {} : { action_id: actionId }) }
  return { action: 'change_agent_state', args } as ClientAction
}

function messageOf(content: string, image_urls?: string[]): ClientAction {
  return { action: 'message', args: { content, image_urls: image_urls ?? null } }
}

function standOf(answer: Reply<`POST ${ConversationPath}/events`>): Stand {
  if (!('at_rest' in answer)) {
    throw new BellwetherError('old_service', 'The service does not know `wait`: it is older than this client')
  }
  const { event_id, at_rest, agent_state, message, last_event_id } = answer
  return { eventId: event_id, atRest: at_rest, state: agent_state, message, lastEventId: last_event_id }
}
