// The runner: one socket to the pool, which assigns conversations to this machine, and the assigned conversations.

import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type OpenConversation, RPC_ERRORS, type RunnerDescription, WIRE_VERSION } from '../../src/runners/wire.ts'
import { Backoff, isRefusal } from './connect/backoff.ts'
import { Disconnected, Peer, RpcError } from './connect/peer.ts'
import { Conversation, type ConversationDeps } from './conversation.ts'
import { heldConversations, isConversationId } from './identity.ts'
import { type Log, messageOf } from './log.ts'
import type { CgroupBase } from './sandbox/cgroup.ts'
import type { LaunchPlan } from './sandbox/launch.ts'
import { erase } from './sync/erase.ts'
import { isDiskFailure } from './sync/folder.ts'

export type RunnerDeps = {
  readonly url: URL
  readonly key: string
  readonly description: RunnerDescription
  readonly workspaces: string
  readonly plan: LaunchPlan
  /** Divided among the conversations; null if the system has none. */
  readonly cgroups: CgroupBase | null
  /** The hosts that a sandbox may reach with `--network list`. */
  readonly allow: readonly string[]
  /** The service is not asked about other hosts. */
  readonly isAllowExact: boolean
  readonly kernel: string | null
  readonly chromium: string | null
  readonly isOnce: boolean
  readonly log: Log
  /** Everything has ended: no conversation, no connection. */
  readonly onEnded: (code: number) => void
  readonly startShell?: ConversationDeps['startShell']
  readonly startProgram?: ConversationDeps['startProgram']
}

/** Well below the seven seconds that a call waits for its runner while another one is free, even on a busy machine. */
const MOST_WAIT_MS = 2_000
/** For calls that end by themselves. */
const HAND_BACK_MS = 1_000
/** A refused key or version is seldom fixed quickly. */
const REFUSED_MS = 30_000
const LASTING: ReadonlySet<number> = new Set([RPC_ERRORS.wrongVersion, RPC_ERRORS.invalidParams, RPC_ERRORS.refused])

export class Runner {
  readonly #deps: RunnerDeps
  readonly #life = randomUUID()
  readonly #conversations = new Map<string, Conversation>()
  /** Conversations whose folder was deleted, including all data about their sessions. */
  readonly #withoutFolder = new Set<string>()
  readonly #backoff = new Backoff({ firstMs: 250, mostMs: MOST_WAIT_MS })
  #peer: Peer | null = null
  #isDraining = false
  /** The service does not accept this runner's description. */
  #isRefused = false
  #isOver = false
  /** Running calls are interrupted from this time on; null while they may run. */
  #handsBackFrom: number | null = null
  #drainCheck: NodeJS.Timeout | null = null

  constructor(deps: RunnerDeps) {
    this.#deps = deps
  }

  connect(): void {
    if (this.#isOver || this.#handsBackFrom !== null) return
    const url = socketUrl(this.#deps.url, '/api/runners/socket')
    const peer: Peer = new Peer(
      { url, bearer: this.#deps.key },
      {
        handlers: {
          'conversation/open': (open) => this.#open(open),
          'conversation/close': ({ conversation, erase }) => this.#close(conversation, erase),
        },
        onFrame: () => {
          throw new RpcError(RPC_ERRORS.invalidRequest, 'a frame on the socket of the pool')
        },
        onClosed: (reason, status) => this.#disconnected(peer, reason, status),
      },
      () => this.#hello(peer),
    )
    this.#peer = peer
  }

  /** Accepts nothing new, waits for running calls, then ends. */
  drain(): void {
    if (this.#isDraining) return
    this.#isDraining = true
    this.#deps.log('runner.draining', { conversations: this.#conversations.size })
    this.#tellDraining()
    this.#drainCheck = setInterval(() => this.#letIdleGo(), 100)
    this.#letIdleGo()
  }

  /**
   * The machine is being stopped, and perhaps its service too: running calls get a short time, then they are
   * interrupted and their results sent. The pool gets no end message, so that the next call waits for this runner as
   * after a lost connection.
   */
  handBack(): void {
    if (this.#isOver || this.#handsBackFrom !== null) return
    this.#handsBackFrom = performance.now() + HAND_BACK_MS
    const peer = this.#peer
    this.#peer = null
    peer?.close(1001, 'the runner ends')
    this.drain()
  }

  /** Immediately: kills running calls. */
  end(code: number): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#drainCheck !== null) clearInterval(this.#drainCheck)
    for (const conversation of this.#conversations.values())
      conversation.end({ isErased: false, reason: 'the runner ends' })
    this.#peer?.close(1000, 'the runner ends')
    this.#deps.log('runner.ended')
    setImmediate(() => this.#deps.onEnded(code))
  }

  #letIdleGo(): void {
    for (const conversation of this.#conversations.values()) {
      const { isIdle, forsaken } = conversation
      if (forsaken > 0) this.#deps.log('conversation.forsaken', { conversation: conversation.id, outcomes: forsaken })
      if (isIdle || forsaken > 0) conversation.end({ isErased: false, reason: 'draining' })
      else if ((this.#handsBackFrom ?? Number.POSITIVE_INFINITY) <= performance.now()) conversation.handBack()
    }
    if (this.#conversations.size === 0) this.end(0)
  }

  #hello(peer: Peer): void {
    const { description, workspaces } = this.#deps
    const holds = heldConversations(workspaces).slice(0, 10_000)
    peer
      .hello('runner/hello', { wire: WIRE_VERSION, runner: description, life: this.#life, holds, clock: Date.now() })
      .then(
        (answer) => this.#welcomed(answer),
        (error) => {
          if (error instanceof Disconnected) return
          this.#deps.log('pool.refused', { message: messageOf(error) })
          this.#isRefused = error instanceof RpcError && LASTING.has(error.code)
          peer.close(1000, 'refused')
        },
      )
  }

  #welcomed(answer: unknown): void {
    this.#backoff.reset()
    const now = typeof answer === 'object' && answer !== null && 'now' in answer ? Number(answer.now) : Number.NaN
    const offMs = Math.round(Date.now() - now)
    this.#deps.log('pool.connected', { url: this.#deps.url.origin })
    if (Math.abs(offMs) > 60_000) this.#deps.log('clock.wrong', { offMs })
    if (this.#isDraining) this.#tellDraining()
  }

  #tellDraining(): void {
    this.#peer?.notify('runner/draining', { conversations: this.#conversations.size })
  }

  #disconnected(peer: Peer, reason: string, status: number | null): void {
    if (this.#peer !== peer || this.#isOver) return
    this.#peer = null
    const isKeyRefused = isRefusal(status)
    const waitMs = isKeyRefused || this.#isRefused ? REFUSED_MS : this.#backoff.next()
    this.#isRefused = false
    const toDo = 'make a key of the scope runner (POST /api/keys) and start the runner with it'
    if (isKeyRefused) this.#deps.log('pool.key_refused', { reason, toDo, retryMs: waitMs })
    else this.#deps.log('pool.disconnected', { reason, retryMs: waitMs })
    // The runner's only conversation is over: to continue it, another runner with another key is needed.
    if (isKeyRefused && this.#deps.isOnce) this.drain()
    setTimeout(() => this.connect(), waitMs)
  }

  #open({ conversation: id, path, ticket }: OpenConversation): void {
    if (!isConversationId(id)) throw new RpcError(RPC_ERRORS.invalidParams, 'no id of a conversation')
    const url = socketUrl(this.#deps.url, path)
    const isPrintable = /^[\x21-\x7e]+$/.test(ticket)
    if (url.host !== this.#deps.url.host || !path.startsWith('/') || !isPrintable) {
      throw new RpcError(RPC_ERRORS.invalidParams, 'a conversation is opened at the host of the service')
    }
    try {
      this.#conversationOf(id).open({ url, bearer: ticket })
    } catch (error) {
      if (!isDiskFailure(error)) throw error
      this.#deps.log('conversation.no_room', { conversation: id, message: messageOf(error) })
      throw new RpcError(RPC_ERRORS.noRoom, messageOf(error))
    }
  }

  #conversationOf(id: string): Conversation {
    const known = this.#conversations.get(id)
    if (known !== undefined) return known
    if (this.#isDraining) throw new RpcError(RPC_ERRORS.full, 'the runner is ending')
    const { capacity } = this.#deps.description
    if (this.#conversations.size >= capacity)
      throw new RpcError(RPC_ERRORS.full, `the runner has its ${capacity} conversations`)
    const conversation = new Conversation({
      id,
      folder: join(this.#deps.workspaces, id),
      runnerId: this.#deps.description.id,
      life: this.#life,
      plan: this.#deps.plan,
      cgroups: this.#deps.cgroups,
      allow: this.#deps.allow,
      isAllowExact: this.#deps.isAllowExact,
      kernel: this.#deps.kernel,
      chromium: this.#deps.chromium,
      log: this.#deps.log,
      hadFolder: this.#withoutFolder.has(id),
      onLetGo: (isFolderGone) => this.#letGo(id, isFolderGone),
      startShell: this.#deps.startShell,
      startProgram: this.#deps.startProgram,
    })
    this.#conversations.set(id, conversation)
    this.#deps.log('conversation.opened', { conversation: id })
    return conversation
  }

  #close(id: string, isErased: boolean): void {
    if (!isConversationId(id)) throw new RpcError(RPC_ERRORS.invalidParams, 'no id of a conversation')
    const known = this.#conversations.get(id)
    if (known !== undefined) known.end({ isErased, reason: 'the service let go' })
    else if (isErased && existsSync(join(this.#deps.workspaces, id))) {
      erase(this.#deps.workspaces, id)
      this.#deps.log('conversation.erased', { conversation: id })
    }
  }

  #letGo(id: string, isFolderGone: boolean): void {
    this.#conversations.delete(id)
    if (isFolderGone) this.#withoutFolder.add(id)
    if (this.#isDraining) this.#tellDraining()
    // After the answer to the message that ended it.
    if (this.#deps.isOnce && this.#conversations.size === 0) setImmediate(() => this.drain())
  }
}

function socketUrl(base: URL, path: string): URL {
  const url = new URL(path, base)
  url.protocol = base.protocol === 'https:' ? 'wss:' : 'ws:'
  return url
}
