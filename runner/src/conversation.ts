// One conversation on this machine: its copy of the workspace, its calls, and the connection to its object, which may
// break and return at any time.

import { existsSync, lstatSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { BadFrame, type Frame } from '../../src/runners/frames.ts'
import {
  type CallStart,
  Credential,
  type CredentialAsk,
  HostAnswer,
  type HostAsk,
  type ParamsOf,
  RPC_ERRORS,
  type SessionWelcome,
  WIRE_VERSION,
} from '../../src/runners/wire.ts'
import { type Handlers, type Peer, RpcError } from './connect/peer.ts'
import { SessionLink } from './connect/session-link.ts'
import { Lock } from './lock.ts'
import type { Log } from './log.ts'
import { type ConversationParts, openParts } from './parts.ts'
import type { CgroupBase } from './sandbox/cgroup.ts'
import { type ConversationFolders, folderInShell, type LaunchPlan, shellLaunch } from './sandbox/launch.ts'
import { type CallStateName, Calls } from './session/calls.ts'
import { Delivery } from './session/delivery.ts'
import { Guard } from './session/guard.ts'
import { type Session, Shell, type ShellEvents } from './session/shell.ts'
import { Downloads } from './sync/downloads.ts'
import { erase } from './sync/erase.ts'
import { LiveSync } from './sync/live-sync.ts'
import { Uploads } from './sync/upload.ts'
import type { ToolServersDeps } from './tool-servers.ts'

export type ConversationDeps = {
  readonly id: string
  readonly folder: string
  readonly runnerId: string
  readonly life: string
  readonly plan: LaunchPlan
  readonly cgroups: CgroupBase | null
  readonly allow: readonly string[]
  readonly isAllowExact: boolean
  /** The Python of the notebook's kernel; null on a machine without one. */
  readonly kernel: string | null
  /** Chromium; null on a machine without one, or if it cannot run in a sandbox. */
  readonly chromium: string | null
  readonly log: Log
  /** It had another folder here, which was deleted. */
  readonly hadFolder: boolean
  readonly onLetGo: (isFolderGone: boolean) => void
  /** For tests without processes; a shell in the sandbox otherwise. */
  readonly startShell?: ((folder: string, events: ShellEvents) => Session) | undefined
  readonly startProgram?: ToolServersDeps['startProgram']
}

type ConversationEnd = { readonly isErased: boolean; readonly reason: string; readonly isFolderGone?: boolean }

/** Nulls if the owner configured nothing for the host. */
const AnsweredCredential = z.object({
  username: Credential.shape.username.nullable(),
  password: Credential.shape.password.nullable(),
})

const GUARD_MS = 500
/** The refusal may be about an old ticket while the next one is on its way. */
const FORSAKEN_MS = 5_000

export class Conversation {
  readonly id: string
  readonly #deps: ConversationDeps
  readonly #parts: ConversationParts
  readonly #uploads: Uploads
  readonly #downloads: Downloads
  readonly #guard: Guard
  readonly #calls: Calls
  readonly #delivery: Delivery
  readonly #sync: LiveSync
  readonly #link: SessionLink
  readonly #guarding: NodeJS.Timeout | null = null
  readonly #root: bigint
  #isOver = false

  constructor(deps: ConversationDeps) {
    this.#deps = deps
    this.id = deps.id
    this.#parts = openParts(deps, {
      ask: (wanted) => askCredential(this.#link.peer, wanted),
      mayReach: (wanted) => this.#mayReach(wanted),
    })
    const { tree, journal, servers, folders, log } = this.#parts
    this.#root = lstatSync(folders.workspace, { bigint: true }).ino
    this.#forgetUncertain()
    const treeLock = new Lock()
    this.#uploads = new Uploads(tree, (path, reason) => log('sync.refused', { path, reason }))
    this.#downloads = new Downloads(tree, treeLock)
    this.#guard = this.#newGuard()
    this.#calls = this.#newCalls()
    const up = { uploads: this.#uploads, treeLock, log }
    this.#delivery = new Delivery({ ...up, calls: this.#calls, journal })
    this.#sync = new LiveSync({
      ...up,
      isBusy: () => this.#hasWork || servers.isAnyRunning,
      remark: (text) => this.#delivery.remark(text),
    })
    this.#link = new SessionLink({
      handlers: this.#handlers(),
      log,
      hello: () => this.#hello(),
      onFrame: (frame) => this.#received(frame),
      onWelcome: (welcome, peer) => this.#welcomed(welcome, peer),
      onLost: () => this.#lost(),
      onGivenUp: (reason) => this.end({ isErased: false, reason }),
    })
    if (deps.plan.isolation !== 'none')
      this.#guarding = setInterval(() => this.#hasWork && this.#guard.look(), GUARD_MS)
    for (const { key } of journal.unacknowledged()) this.#delivery.add(key)
  }

  get #hasWork(): boolean {
    return this.#calls.hasWork || this.#calls.isBrowserOpen || this.#parts.views.terminal.hasWork
  }

  /** No call is running and no result is unsent. */
  get isIdle(): boolean {
    return !this.#calls.isCalling && this.#delivery.untold === 0
  }

  /** The number of results that cannot be sent because the service refuses this machine. They stay in the journal. */
  get forsaken(): number {
    const isForsaken = !this.#calls.isCalling && this.#link.refusedMs > FORSAKEN_MS
    return isForsaken ? this.#delivery.untold : 0
  }

  /** Interrupts the running call and sends its result. */
  handBack(): void {
    this.#calls.handBack()
  }

  /** With a new ticket at first, and again whenever the service sends another one. */
  open(address: { url: URL; bearer: string }): void {
    this.#link.open(address)
  }

  /** Ends running calls. The folder is kept unless it must be erased. */
  end({ isErased, reason, isFolderGone = false }: ConversationEnd): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#guarding !== null) clearInterval(this.#guarding)
    this.#sync.stop()
    this.#link.end(reason)
    this.#calls.end()
    this.#delivery.end()
    const { servers, views, network, services, cgroup, tree, journal, log } = this.#parts
    servers.end()
    views.end()
    network?.end()
    services.close()
    cgroup?.end()
    tree.close()
    journal.close()
    try {
      if (isErased) erase(dirname(this.#deps.folder), basename(this.#deps.folder))
      log('conversation.closed', { reason, erased: isErased })
    } finally {
      // If erasing failed, it is repeated after the next connection; the slot is free at once.
      this.#deps.onLetGo(isFolderGone)
    }
  }

  #newGuard(): Guard {
    const { cgroup, views, plan } = this.#parts
    const { memoryBytes, diskBytes } = plan.limits
    return new Guard({
      folder: this.#deps.folder,
      memoryBytes,
      diskBytes,
      kills: () => cgroup?.newKills() ?? 0,
      pids: () => [...this.#calls.sessionPids, views.terminal.pid].filter((pid) => pid !== null),
      onOver: (text) => this.#overLimit(text),
      onFolderGone: () => this.end({ isErased: false, reason: 'its folder was deleted', isFolderGone: true }),
    })
  }

  #newCalls(): Calls {
    const { folder, startShell } = this.#deps
    const { folders, plan } = this.#parts
    return new Calls({
      ...this.#parts,
      folder: join(folder, 'journal'),
      hadSession: this.#deps.hadFolder || this.#parts.journal.hadShell,
      startShell: (events) => startShell?.(folder, events) ?? new Shell(shellLaunch(folders, plan), events),
      folderInShell: (cwd) => folderInShell(cwd, folders, plan),
      onEnded: (key) => this.#delivery.add(key),
      lastRemark: () => this.#guard.memoryKill(),
    })
  }

  #overLimit(text: string): void {
    const { terminal } = this.#parts.views
    if (this.#calls.hasWork) this.#calls.overLimit(text)
    if (terminal.hasWork) terminal.end(text)
  }

  /**
   * If the runner died during a command, the changed files belong to no result: the copy is uncertain then. Files of a
   * call with a result in the journal are sent with that result.
   */
  #forgetUncertain(): void {
    const { tree, journal, log } = this.#parts
    const lost = journal.takeLost()
    if (lost.length > 0) tree.forget()
    else if (journal.unacknowledged().length === 0 && tree.isChanged()) tree.forget()
    for (const key of lost) log('call.lost', { key })
  }

  #hello(): ParamsOf<'session/hello'> {
    return {
      wire: WIRE_VERSION,
      runner: this.#deps.runnerId,
      life: this.#deps.life,
      tree: this.#parts.tree.position,
      calls: this.#calls.open().slice(0, 1000),
    }
  }

  #welcomed({ exclude, maxFileBytes, maxWorkspaceBytes, stored }: SessionWelcome, peer: Peer): void {
    if (stored !== null) this.#uploads.recovered(stored)
    const { diskBytes, fileBytes } = this.#deps.plan.limits
    const { tree, servers, views } = this.#parts
    tree.follow({
      exclude: new Set(exclude),
      limits: { fileBytes: Math.min(maxFileBytes, fileBytes), treeBytes: Math.min(maxWorkspaceBytes, diskBytes) },
    })
    this.#calls.outputs.connect(peer)
    this.#delivery.connect(peer)
    servers.connect(peer)
    views.connect(peer)
    this.#sync.start(peer)
  }

  #lost(): void {
    this.#sync.stop()
    this.#downloads.disconnected()
    this.#uploads.disconnected()
    this.#calls.outputs.disconnect()
    this.#delivery.disconnect()
    this.#parts.servers.disconnect()
    this.#parts.views.disconnect()
  }

  #handlers(): Handlers {
    const { servers, views } = this.#parts
    return {
      'transfer/begin': (begin) => this.#downloads.begin(begin),
      'transfer/commit': (commit) => this.#downloads.commit(commit),
      'frame/ack': ({ stream, seq }) => this.#acknowledged(stream, seq),
      'call/start': (call) => this.#startCall(call),
      'call/query': ({ key }) => ({ state: this.#retold(key, this.#calls.stateOf(key)) }),
      'call/stop': ({ key }) => this.#calls.stop(key),
      'server/start': (server) => servers.start(server),
      'server/stop': ({ name }) => servers.stop(name),
      'server/message': (piece) => servers.send(piece),
      'server/query': (query) => servers.query(query),
      ...views.handlers,
    }
  }

  #startCall(call: CallStart): { state: CallStateName } {
    const { tree, journal, folders } = this.#parts
    const { position } = tree
    const isNew = this.#calls.stateOf(call.key) === 'unknown' && journal.get(call.key) === null
    if (isNew && !isStillThere(folders, this.#root)) {
      // After the answer: the next request gets a new conversation, with the whole tree.
      setImmediate(() => this.end({ isErased: false, reason: 'its folder was deleted', isFolderGone: true }))
      throw new RpcError(RPC_ERRORS.internal, 'the folder of the conversation was deleted')
    }
    const isThere = position !== null && position.epoch === call.epoch && position.revision >= call.revision
    // A call that was started before is answered, whatever the state of the tree.
    if (!isThere && isNew) {
      throw new RpcError(RPC_ERRORS.wrongRevision, `the copy is at revision ${position?.revision ?? 'none'}`)
    }
    return { state: this.#retold(call.key, this.#calls.start(call)) }
  }

  /** The object requests a result that was acknowledged: it is sent again. */
  #retold(key: string, state: CallStateName): CallStateName {
    if (state === 'ended') this.#delivery.add(key)
    return state
  }

  async #mayReach(wanted: HostAsk): Promise<boolean> {
    const { peer, isConnected } = this.#link
    if (this.#deps.isAllowExact || peer === null || !isConnected) return false
    return HostAnswer.parse(await peer.call('host/ask', wanted)).isAllowed
  }

  #received(frame: Frame): void {
    const { head } = frame
    if (this.#parts.views.received(frame)) return
    if (head.t !== 'files') throw new BadFrame('output comes from the runner alone')
    const { transfer, seq } = head
    this.#downloads.receive(frame, () => this.#link.peer?.notify('frame/ack', { stream: `transfer:${transfer}`, seq }))
  }

  #acknowledged(stream: string, seq: number): void {
    if (this.#parts.views.acknowledged(stream, seq)) return
    const [kind, name] = [stream.slice(0, stream.indexOf(':')), stream.slice(stream.indexOf(':') + 1)]
    if (kind === 'transfer') this.#uploads.acknowledged(Number(name), seq)
    else if (kind === 'output') this.#calls.outputs.get(name)?.acknowledge(seq)
  }
}

/** The folders were neither deleted nor replaced. */
function isStillThere({ workspace, run }: ConversationFolders, root: bigint): boolean {
  return existsSync(run) && lstatSync(workspace, { bigint: true, throwIfNoEntry: false })?.ino === root
}

async function askCredential(peer: Peer | null, wanted: CredentialAsk): Promise<Credential | null> {
  const { username, password } = AnsweredCredential.parse(await peer?.call('credential/ask', wanted))
  return username === null || password === null ? null : { username, password }
}
