import type { ActionEvent } from '../../src/agent/events.ts'
import { modelNow } from '../../src/agent/step-config.ts'
import { credentialOf } from '../../src/bindings.ts'
import { storeCounts } from '../../src/db/metrics.ts'
import { errorFields, log, methodsLoggedAs } from '../../src/lib/log.ts'
import { isStoreDue } from '../../src/lib/metrics.ts'
import { COST_MS, charged } from '../../src/limits/share.ts'
import type { Storage } from './lifecycle/usage-report.ts'
import { RUNNER_TAG } from './sockets/session-attachment.ts'
import type { Newcomer } from './sockets/sessions.ts'
import { TERMINAL_TAG } from './sockets/terminal-viewer.ts'
import type { AlarmName, ConversationState } from './state.ts'
import { TalkingConversation } from './talk/talking-conversation.ts'
import { receiveForm, sendZip } from './workspace/transfers.ts'

/** Why no socket is opened; the Worker writes the message for the client. */
const REFUSED = { ended: 401, full: 429, unknown: 503 } as const

const STOPPED = 'The conversation is stopped; start it first'

/** Close codes that only report; they must not be sent. */
const REPORTING_CODES = new Set([1004, 1005, 1006, 1015])

/** A response header for the Worker, not for the client: connecting has started the loop. */
const STARTED_HEADER = 'x-loop-started'

/** The handler of each named alarm. */
const ALARMS: Readonly<Record<AlarmName, (state: ConversationState) => void | Promise<void>>> = {
  turn: work,
  setup: ({ setup }) => setup.run(),
  outbox: ({ index }) => index.deliver(),
  title: async ({ titles, turn }) => titles.improve(await modelNow(turn.configs)),
  search: (state) => state.fillSearch(),
  deadline: ({ talk }) => talk?.expire(),
  idle: ({ opening }) => opening.idle.look(),
  expiry: ({ sessions, runner }) => {
    sessions.expire(Date.now())
    runner.terminal.viewers.expire(Date.now())
  },
  sockets: ({ sessions }) => sessions.ping(Date.now()),
  spans: ({ spans }) => spans.deliver(),
}

/** Does nothing while the workspace is being prepared: the end of the set-up wakes the loop again. */
async function work({ setup, secrets, loop }: ConversationState): Promise<void> {
  if (setup.isPending) return
  await secrets.open()
  await loop.work()
}

/** One conversation of one owner: its event log, its sockets, its agent and its workspace. */
export class Conversation extends TalkingConversation {
  static {
    methodsLoggedAs(Conversation.prototype, (self) => self.whole?.logContext ?? null)
  }

  /** Null for an unknown conversation. */
  async rename(title: string): Promise<true | null> {
    await this.whenOpen()
    const { state } = this
    if (state === null) return null
    state.titles.rename(title)
    await this.listed(state)
    return true
  }

  /** Notes the number of a pull or merge request; null for an unknown conversation. */
  async addPullRequest(number: number): Promise<true | null> {
    const { state } = this
    if (state === null) return null
    if (state.addPullRequest(number)) await this.listed(state)
    return true
  }

  /**
   * Returns the id of the stored event, `stopped` when the loop accepts no events, `other_event` when the ref names another one, the
   * exceeded limit when the owner stores too much, or null for an unknown conversation.
   */
  async addEvent(event: ActionEvent, ref: string | null): Promise<number | 'stopped' | 'other_event' | Storage | null> {
    if (this.state === null) return null
    await this.whenOpen()
    const full = this.state?.usage.full ? await this.state.usage.stillFull() : null
    const { state } = this
    if (full !== null || state === null) return full
    if (!state.opening.isRunning) return 'stopped'
    const wasAtWork = state.loop.state === 'running'
    const stored = state.receive(event, ref)
    // A message to a running agent changes nothing in lists. An agent at rest starts with the message, so lists change.
    if (!wasAtWork || state.index.isBehind) await this.listed(state)
    return stored
  }

  /** The exceeded limit when the owner stores too much to upload more files; null when there is room. */
  async storageFull(): Promise<Storage | null> {
    return (await this.state?.usage.stillFull()) ?? null
  }

  /**
   * Requests with streams: uploaded files, the workspace as a ZIP, and a socket of either protocol. `after` is the id
   * of the last event that the client has; `start=false` only watches. 404 when nobody created this conversation.
   */
  override async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname === '/files') {
      const owner = this.state?.record.value.owner ?? null
      return receiveForm(request, this.env, { owner, files: () => this.state?.files ?? null })
    }
    if (this.state === null) return new Response(null, { status: 404 })
    if (pathname === '/runner') return this.state.runner.accept(request.headers.get('x-ticket') ?? '')
    if (pathname === '/port') return this.state.runner.ports.serve(request)
    if (pathname === '/terminal') return this.#openTerminal(request, searchParams)
    if (pathname === '/zip') return this.#zip(searchParams.get('at'), request.signal)
    return this.#connect(pathname === '/socket.io' ? 'socket.io' : 'plain', searchParams)
  }

  #zip(at: string | null, signal: AbortSignal): Response | Promise<Response> {
    const files = this.filesAt(at === null ? null : Number(at))
    if (files === null) return new Response(null, { status: 404 })
    return 'reason' in files ? Response.json(files, { status: 400 }) : sendZip(files, signal)
  }

  async #openTerminal(request: Request, query: URLSearchParams): Promise<Response> {
    await this.whenOpen()
    const isOpen = this.state?.opening.isRunning ?? true
    const why = isOpen ? ((await this.state?.runner.terminal.whyNone()) ?? null) : STOPPED
    if (request.headers.get('upgrade') !== 'websocket') return Response.json({ why })
    if (why !== null) return Response.json({ reason: 'none', why }, { status: 409 })
    const credential = credentialOf(query)
    const permit = await this.state?.permits.admit(credential.key)
    const terminal = this.state?.opening.isRunning ? this.state.runner.terminal : undefined
    if (terminal === undefined || permit === undefined) return new Response(null, { status: 404 })
    if (!permit.ok) return Response.json(permit, { status: REFUSED[permit.reason] })
    if (terminal.isFull)
      return Response.json({ reason: 'crowded', used: terminal.viewers.count }, { status: REFUSED.full })
    const { key, until } = credential
    const cols = query.get('cols')
    const webSocket = terminal.accept({
      kind: 'terminal',
      key,
      until,
      isReader: query.get('read_only') === 'true',
      size: cols === null ? null : { cols: Number(cols), rows: Number(query.get('rows')) },
      terminal: query.get('terminal'),
      position: Number(query.get('position')),
    })
    return new Response(null, { status: 101, webSocket })
  }

  async #connect(protocol: Newcomer['protocol'], query: URLSearchParams): Promise<Response> {
    const way = this.state === null ? null : charged(this.state.record.value.owner, COST_MS.socket)
    if (way !== null) await way
    const credential = credentialOf(query)
    const permit = await this.state?.permits.admit(credential.key)
    // The conversation may have been deleted meanwhile.
    const { state } = this
    if (state === null || permit === undefined) return new Response(null, { status: 404 })
    if (!permit.ok) return Response.json(permit, { status: REFUSED[permit.reason] })
    const started = query.get('start') !== 'false' && state.opening.start()
    const webSocket = state.sessions.accept({ protocol, after: Number(query.get('after')), credential })
    if (started) await this.listed(state)
    return new Response(null, { status: 101, webSocket, headers: { [STARTED_HEADER]: String(started) } })
  }

  /** For the owner's object: the key was revoked, so its sockets are closed. */
  endKey(key: string): void {
    this.state?.permits.ended(key)
  }

  /**
   * For the owner's object: the runner was released. `barred` is the id of a runner whose key has ended, so it does not
   * come back.
   */
  dropRunner(barred: string | null): void {
    this.state?.runner.drop(barred)
  }

  /** Revokes the address of a port; false when the port has none. Null for an unknown conversation. */
  revokePort(port: number): boolean | null {
    return this.state?.runner.ports.revoke(port) ?? null
  }

  /** For the owner's object: the number of open sockets of each key. */
  heldSockets(): { key: string | null; sockets: number }[] {
    const counts = this.state?.sessions.countByKey() ?? new Map<string | null, number>()
    for (const { attachment } of this.state?.runner.terminal.viewers.all ?? [])
      counts.set(attachment.key, (counts.get(attachment.key) ?? 0) + 1)
    return [...counts].map(([key, sockets]) => ({ key, sockets }))
  }

  /**
   * For the owner's object: a secret, or another variable of the shell, was changed. The next event waits until the new
   * values are read; output that is being streamed continues with the old mask.
   */
  async secretsChanged(): Promise<void> {
    if (this.whole === null) return
    const { secrets, loop, setup } = this.whole
    secrets.changed()
    if (loop.state === 'running' || setup.isPending || !loop.isQuiet) await secrets.open()
  }

  override async alarm(info?: AlarmInvocationInfo): Promise<void> {
    const scheduledTime = info?.scheduledTime ?? Date.now()
    await this.whenOpen()
    const { whole } = this
    await whole?.alarms.fire(scheduledTime, async (name) => ALARMS[name](whole))
    await this.settleDeletion()
    if (isStoreDue()) this.ctx.waitUntil(storeCounts(this.env.DB))
  }

  override async webSocketMessage(socket: WebSocket, data: string | ArrayBuffer): Promise<void> {
    const opening = this.whenOpen()
    if (opening !== null) await opening
    const { state } = this
    if (state === null) return
    // A socket that follows the events is in memory. So the call into the runtime that reads its tag is not needed.
    if (state.sessions.of(socket) === null && this.#is(RUNNER_TAG, socket)) await state.runner.receive(socket, data)
    else if (state.sessions.of(socket) === null && this.#is(TERMINAL_TAG, socket)) this.#typed(socket, data)
    else state.messages.receive(socket, data)
  }

  override webSocketClose(socket: WebSocket, code: number): void {
    this.#leave(socket)
    socket.close(REPORTING_CODES.has(code) ? 1000 : code)
  }

  override webSocketError(socket: WebSocket, error: unknown): void {
    log.debug('socket.failed', errorFields(error))
    this.#leave(socket)
  }

  #is(tag: string, socket: WebSocket): boolean {
    return this.ctx.getTags(socket).includes(tag)
  }

  /** Accepts nothing from a viewer whose key has not been checked. */
  #typed(socket: WebSocket, data: string | ArrayBuffer): void {
    if (this.state === null) return
    const { permits, runner } = this.state
    const viewer = runner.terminal.viewers.of(socket)
    if (viewer === null) return
    const length = typeof data === 'string' ? data.length : data.byteLength
    permits.pass(viewer.attachment.key, length, () => runner.terminal.said(socket, data))
  }

  /** What a socket sent before it closed is still processed. */
  #leave(socket: WebSocket): void {
    if (this.state === null) return
    const { permits, sessions, runner } = this.state
    if (this.#is(RUNNER_TAG, socket)) {
      runner.left(socket)
      return
    }
    if (this.#is(TERMINAL_TAG, socket)) {
      const { viewers } = runner.terminal
      permits.behind(viewers.of(socket)?.attachment.key ?? null, () => viewers.forget(socket))
      return
    }
    permits.behind(sessions.of(socket)?.attachment.key ?? null, () => sessions.forget(socket))
  }
}
