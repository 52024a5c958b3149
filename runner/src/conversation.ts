// One conversation that this machine lends its processes to: its copy of the workspace, its calls, and the connection to its
// object, which may break and come back at any moment.

import { mkdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { BadFrame, type Frame } from '../../src/runners/frames.ts'
import {
  Credential,
  type CredentialAsk,
  HostAnswer,
  type HostAsk,
  RPC_ERRORS,
  SessionWelcome,
  WIRE_VERSION,
} from '../../src/runners/wire.ts'
import { Backoff } from './connect/backoff.ts'
import { Disconnected, type Handlers, Peer, RpcError } from './connect/peer.ts'
import { Lock } from './lock.ts'
import { type Log, messageOf } from './log.ts'
import { openParts } from './parts.ts'
import { askGit } from './sandbox/ask-git.ts'
import { Cgroup, type CgroupBase } from './sandbox/cgroup.ts'
import {
  type LaunchPlan,
  makeFolders,
  programLaunch,
  shellLaunch,
  terminalLaunch,
  workspaceInShell,
} from './sandbox/launch.ts'
import { OwnNetwork } from './sandbox/own-network.ts'
import { writeRunFiles } from './sandbox/run-files.ts'
import { SandboxServices } from './sandbox/services.ts'
import { Calls } from './session/calls.ts'
import { Delivery } from './session/delivery.ts'
import { folderInShell } from './session/folder-in-shell.ts'
import { Guard } from './session/guard.ts'
import { Journal } from './session/journal.ts'
import { type Session, Shell, type ShellEvents } from './session/shell.ts'
import { Downloads } from './sync/downloads.ts'
import { erase } from './sync/erase.ts'
import { Tree } from './sync/tree.ts'
import { Uploads } from './sync/upload.ts'
import { ToolServers, type ToolServersDeps } from './tool-servers.ts'
import { Views } from './views.ts'

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
  /** Chromium; null on a machine without one, or where it cannot be confined. */
  readonly chromium: string | null
  readonly log: Log
  readonly onLetGo: (reason: string) => void
  /** For who has no processes to lend; a shell in the sandbox otherwise. */
  readonly startShell?: ((folder: string, events: ShellEvents) => Session) | undefined
  readonly startProgram?: ToolServersDeps['startProgram']
}

/** Nulls where the owner configured nothing for the host. */
const AnsweredCredential = z.object({
  username: Credential.shape.username.nullable(),
  password: Credential.shape.password.nullable(),
})

/** A ticket opens the conversation for so long; then the service has given the conversation to somebody else. */
const TICKET_MS = 10 * 60_000
const SYNC_MS = 500
const SYNC_REST = 4
const GUARD_MS = 500

export class Conversation {
  readonly id: string
  readonly #deps: ConversationDeps
  readonly #journal: Journal
  readonly #tree: Tree
  readonly #uploads: Uploads
  readonly #downloads: Downloads
  readonly #calls: Calls
  readonly #delivery: Delivery
  readonly #services: SandboxServices
  readonly #guard: Guard
  readonly #guarding: NodeJS.Timeout | null = null
  readonly #servers: ToolServers
  readonly #cgroup: Cgroup | null
  readonly #network: OwnNetwork | null
  readonly #views: Views
  readonly #treeLock = new Lock()
  readonly #backoff = new Backoff({ firstMs: 100, mostMs: 2_000 })
  #address: { url: URL; bearer: string } | null = null
  #peer: Peer | null = null
  #isWelcome = false
  #lostAt: number | null = null
  #retry: NodeJS.Timeout | null = null
  #sync: NodeJS.Timeout | null = null
  #wasBusy = false
  #syncAgainAt = 0
  #isOver = false

  constructor(deps: ConversationDeps) {
    this.#deps = deps
    this.id = deps.id
    mkdirSync(deps.folder, { recursive: true, mode: 0o700 })
    const made = makeFolders(deps.folder)
    const network = { folder: join(deps.folder, 'network'), run: made.run, hasProxy: deps.plan.network === 'list' }
    // Only where the sandbox has no network of the machine's.
    this.#network = deps.plan.hasOwnNetworks === true ? new OwnNetwork(network) : null
    const folders = this.#network === null ? made : { ...made, network: this.#network }
    const log: Log = (event, fields) => deps.log(event, { conversation: this.id, ...fields })
    this.#cgroup = deps.cgroups === null ? null : new Cgroup(deps.cgroups, deps.id, deps.plan.limits)
    const plan = { ...deps.plan, entrances: this.#cgroup?.entrances ?? [] }
    writeRunFiles(folders.run, plan)
    this.#services = new SandboxServices(folders.run, {
      ...deps,
      ask: (wanted) => this.#askCredential(wanted),
      mayReach: (wanted) => this.#mayReach(wanted),
    })
    this.#servers = new ToolServers({
      launch: (program) => programLaunch(program, { folders, plan }),
      log,
      startProgram: deps.startProgram,
    })
    const { idleMs } = plan
    this.#views = new Views({ network: this.#network, launch: () => terminalLaunch(folders, plan), log, idleMs })
    this.#journal = new Journal(join(deps.folder, 'journal'))
    this.#tree = new Tree(deps.folder, (folder, args) => askGit(folder, args, { folders, plan: deps.plan }))
    this.#forgetUncertain()
    this.#uploads = new Uploads(this.#tree, (path, reason) =>
      deps.log('sync.refused', { conversation: this.id, path, reason }),
    )
    this.#calls = new Calls({
      folder: join(deps.folder, 'journal'),
      journal: this.#journal,
      log,
      startShell: (events) => deps.startShell?.(deps.folder, events) ?? new Shell(shellLaunch(folders, plan), events),
      ...openParts(deps, { folders, plan, root: this.#tree.root }),
      folderInShell: (cwd) => folderInShell(cwd, this.#tree.root, workspaceInShell(folders, plan)),
      onEnded: (key) => this.#delivery.add(key),
      lastRemark: () => this.#guard.memoryKill(),
    })
    this.#downloads = new Downloads(this.#tree, this.#treeLock)
    this.#delivery = new Delivery({
      calls: this.#calls,
      journal: this.#journal,
      uploads: this.#uploads,
      treeLock: this.#treeLock,
      log: deps.log,
      onIdle: () => {},
    })
    const { memoryBytes, diskBytes } = plan.limits
    this.#guard = new Guard({
      folder: deps.folder,
      memoryBytes,
      diskBytes,
      kills: () => this.#cgroup?.newKills() ?? 0,
      pids: () => [
        ...this.#calls.sessionPids,
        ...(this.#views.terminal.pid === null ? [] : [this.#views.terminal.pid]),
      ],
      onOver: (text) => this.#overLimit(text),
    })
    if (deps.plan.isolation !== 'none')
      this.#guarding = setInterval(() => this.#hasWork && this.#guard.look(), GUARD_MS)
    for (const { key } of this.#journal.unacknowledged()) this.#delivery.add(key)
  }

  get #hasWork(): boolean {
    return this.#calls.hasWork || this.#calls.isBrowserOpen || this.#views.terminal.hasWork
  }

  #overLimit(text: string): void {
    if (this.#calls.hasWork) this.#calls.overLimit(text)
    if (this.#views.terminal.hasWork) this.#views.terminal.end(text)
  }

  get isConnected(): boolean {
    return this.#isWelcome
  }

  /** Nothing runs for a call and nothing waits to be told. */
  get isIdle(): boolean {
    return !this.#calls.isCalling && this.#delivery.isIdle
  }

  /** With a new ticket at first, and again whenever the service gives another one. */
  open(address: { url: URL; bearer: string }): void {
    this.#address = address
    this.#lostAt = null
    this.#backoff.reset()
    this.#peer?.close(1000, 'a new ticket came')
    this.#connect()
  }

  /** Ends what runs. The folder stays, unless it is to be erased. */
  end({ isErased, reason }: { isErased: boolean; reason: string }): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#retry !== null) clearTimeout(this.#retry)
    if (this.#guarding !== null) clearInterval(this.#guarding)
    this.#stopSync()
    this.#peer?.close(1000, reason)
    this.#calls.end()
    this.#delivery.end()
    this.#servers.end()
    this.#views.end()
    this.#network?.end()
    this.#services.close()
    this.#cgroup?.end()
    this.#tree.close()
    this.#journal.close()
    if (isErased) erase(dirname(this.#deps.folder), basename(this.#deps.folder))
    this.#deps.log('conversation.closed', { conversation: this.id, reason, erased: isErased })
    this.#deps.onLetGo(reason)
  }

  /**
   * A command in which the runner died left files that belong to no outcome: the copy is not certain then. Files that a call
   * changed whose outcome is in the journal go up with it.
   */
  #forgetUncertain(): void {
    const lost = this.#journal.takeLost()
    if (lost.length > 0) this.#tree.forget()
    else if (this.#journal.unacknowledged().length === 0 && this.#tree.isChanged()) this.#tree.forget()
    for (const key of lost) this.#deps.log('call.lost', { conversation: this.id, key })
  }

  #connect(): void {
    if (this.#isOver || this.#address === null) return
    if (this.#retry !== null) clearTimeout(this.#retry)
    this.#retry = null
    const peer: Peer = new Peer(
      this.#address,
      {
        handlers: this.#handlers(),
        onFrame: (frame) => this.#received(frame),
        onClosed: (reason, status) => this.#disconnected(peer, { reason, status }),
      },
      () => this.#hello(peer),
    )
    this.#peer = peer
  }

  #hello(peer: Peer): void {
    const hello = {
      wire: WIRE_VERSION,
      runner: this.#deps.runnerId,
      life: this.#deps.life,
      tree: this.#tree.position,
      calls: this.#calls.open().slice(0, 1000),
    }
    peer.hello('session/hello', hello).then(
      (answer) => this.#welcomed(peer, answer),
      (error) => this.#refused(peer, error),
    )
  }

  #welcomed(peer: Peer, answer: unknown): void {
    const welcome = SessionWelcome.safeParse(answer)
    if (!welcome.success) {
      peer.close(1008, 'a welcome that is none')
      return
    }
    const { exclude, maxFileBytes, maxWorkspaceBytes, stored } = welcome.data
    if (stored !== null) this.#uploads.recovered(stored)
    const { diskBytes, fileBytes } = this.#deps.plan.limits
    this.#tree.follow({
      exclude: new Set(exclude),
      limits: { fileBytes: Math.min(maxFileBytes, fileBytes), treeBytes: Math.min(maxWorkspaceBytes, diskBytes) },
    })
    this.#isWelcome = true
    this.#lostAt = null
    this.#backoff.reset()
    this.#deps.log('conversation.connected', { conversation: this.id })
    this.#calls.connect(peer)
    this.#delivery.connect(peer)
    this.#servers.connect(peer)
    this.#views.connect(peer)
    this.#sync ??= setInterval(() => this.#syncChanges(), SYNC_MS)
  }

  #refused(peer: Peer, error: unknown): void {
    if (error instanceof Disconnected) return
    this.#deps.log('conversation.refused', { conversation: this.id, message: messageOf(error) })
    peer.close(1000, 'refused')
    if (!(error instanceof RpcError)) return
    if (error.code === RPC_ERRORS.wrongVersion || error.code === RPC_ERRORS.refused) this.#letGo(messageOf(error))
  }

  #disconnected(peer: Peer, { reason, status }: { reason: string; status: number | null }): void {
    if (this.#peer !== peer) return
    this.#peer = null
    this.#isWelcome = false
    this.#stopSync()
    this.#downloads.disconnected()
    this.#uploads.disconnected()
    this.#calls.disconnect()
    this.#delivery.disconnect()
    this.#servers.disconnect()
    this.#views.disconnect()
    if (this.#isOver) return
    this.#lostAt ??= performance.now()
    this.#deps.log('conversation.disconnected', { conversation: this.id, reason, ...(status !== null && { status }) })
    if (performance.now() - this.#lostAt > TICKET_MS) this.#letGo('no connection for ten minutes')
    else this.#retry = setTimeout(() => this.#connect(), this.#backoff.next())
  }

  #letGo(reason: string): void {
    this.end({ isErased: false, reason })
  }

  #handlers(): Handlers {
    return {
      'transfer/begin': (begin) => this.#downloads.begin(begin),
      'transfer/commit': (commit) => this.#downloads.commit(commit),
      'frame/ack': ({ stream, seq }) => this.#acknowledged(stream, seq),
      'call/start': (call) => {
        const { position } = this.#tree
        const isThere = position !== null && position.epoch === call.epoch && position.revision >= call.revision
        // A key that was begun is answered whatever the tree is.
        if (!isThere && this.#calls.stateOf(call.key) === 'unknown' && this.#journal.get(call.key) === null) {
          throw new RpcError(RPC_ERRORS.wrongRevision, `the copy is at revision ${position?.revision ?? 'none'}`)
        }
        return { state: this.#retold(call.key, this.#calls.start(call)) }
      },
      'call/query': ({ key }) => ({ state: this.#retold(key, this.#calls.stateOf(key)) }),
      'call/stop': ({ key }) => this.#calls.stop(key),
      'server/start': (server) => this.#servers.start(server),
      'server/stop': ({ name }) => this.#servers.stop(name),
      'server/message': (piece) => this.#servers.send(piece),
      'server/query': (query) => this.#servers.query(query),
      ...this.#views.handlers,
    }
  }

  async #askCredential(wanted: CredentialAsk): Promise<Credential | null> {
    const answer = AnsweredCredential.parse(await this.#peer?.call('credential/ask', wanted))
    const { username, password } = answer
    return username === null || password === null ? null : { username, password }
  }

  async #mayReach(wanted: HostAsk): Promise<boolean> {
    if (this.#deps.isAllowExact || this.#peer === null || !this.#isWelcome) return false
    return HostAnswer.parse(await this.#peer.call('host/ask', wanted)).isAllowed
  }

  /** Somebody asks for an outcome that was acknowledged: it is told once more. */
  #retold<T extends string>(key: string, state: T): T {
    if (state === 'ended') this.#delivery.add(key)
    return state
  }

  #received(frame: Frame): void {
    const { head } = frame
    if (this.#views.received(frame)) return
    if (head.t !== 'files') throw new BadFrame('output comes from the runner alone')
    const { transfer, seq } = head
    this.#downloads.receive(frame, () => this.#peer?.notify('frame/ack', { stream: `transfer:${transfer}`, seq }))
  }

  #acknowledged(stream: string, seq: number): void {
    if (this.#views.acknowledged(stream, seq)) return
    const [kind, name] = [stream.slice(0, stream.indexOf(':')), stream.slice(stream.indexOf(':') + 1)]
    if (kind === 'transfer') this.#uploads.acknowledged(Number(name), seq)
    else if (kind === 'output') this.#calls.outputOf(name)?.acknowledge(seq)
  }

  #stopSync(): void {
    if (this.#sync !== null) clearInterval(this.#sync)
    this.#sync = null
  }

  /** While something runs, its changes go up every half second; once more when it has ended. */
  #syncChanges(): void {
    const peer = this.#peer
    const isBusy = this.#hasWork || this.#servers.isAnyRunning
    if (peer === null || !this.#isWelcome || (!isBusy && !this.#wasBusy) || this.#treeLock.isHeld) return
    if (performance.now() < this.#syncAgainAt) return
    this.#wasBusy = isBusy
    const beganAt = performance.now()
    this.#treeLock
      .run(() => this.#uploads.sync(peer, (text) => this.#delivery.remark(text)))
      .catch((error) => {
        if (!(error instanceof Disconnected)) {
          this.#deps.log('sync.failed', { conversation: this.id, message: messageOf(error) })
        }
      })
      .finally(() => {
        // A tree of very many files takes the runner's time from other conversations: no more than a fifth of it.
        this.#syncAgainAt = performance.now() + SYNC_REST * (performance.now() - beganAt)
      })
  }
}
