// The connection of a conversation to its runner. It survives hibernation, because everything that it needs afterwards
// is in the attachment of the socket and in the stored record. Frames are processed one after the other. A runner that
// sends more than its window is disconnected.

import { z } from 'zod'
import { errorFields, log } from '../../../../src/lib/log.ts'
import { BadFrame, decodeFrame, encodeFrame, type Frame } from '../../../../src/runners/frames.ts'
import { streamIn } from '../../../../src/runners/port-streams.ts'
import { RpcError, RpcPeer } from '../../../../src/runners/rpc.ts'
import {
  type CallEnded,
  type CredentialAsk,
  type HostAsk,
  MAX_FRAME_BYTES,
  RPC_ERRORS,
  RunnerId,
  type ServerMessage,
  type SessionHello,
  type SessionWelcome,
  type TransferStored,
  WINDOW_BYTES,
  WIRE_VERSION,
} from '../../../../src/runners/wire.ts'
import type { StoredRecord } from '../../../stored-record.ts'
import { RUNNER_TAG } from '../../sockets/session-attachment.ts'
import type { WorkspaceStore } from '../../workspace/store.ts'
import type { PortLink, PortStreams } from './port-streams.ts'
import type { RunnerRecord } from './runner-record.ts'
import type { ConversationTerminal } from './terminal.ts'
import type { ConversationProcesses } from './tool-processes.ts'
import type { ProcessLink } from './tool-programs.ts'
import type { TreeChanges } from './tree-changes.ts'
import { TreeReceiver } from './tree-receiver.ts'
import { type Connection, TreeSender } from './tree-sender.ts'

/** The most bytes of frames that may wait: two windows, of a transfer and of output. */
const MAX_WAITING_BYTES = 2 * WINDOW_BYTES + 2 * MAX_FRAME_BYTES

const RunnerAttachment = z.object({
  kind: z.literal('runner'),
  runner: RunnerId.nullable(),
  life: z.string(),
  /** Set for a runner that may only report outcomes of calls that were given up. */
  late: RunnerId.nullable().default(null),
})
export type RunnerAttachment = z.infer<typeof RunnerAttachment>

type LinkDeps = {
  ctx: DurableObjectState
  record: StoredRecord<RunnerRecord>
  changes: TreeChanges
  files: WorkspaceStore
  limits: { maxFileBytes: number; maxWorkspaceBytes: number }
  /** Stores a piece of output; false when pieces before it are missing. */
  output(key: string, seq: number, bytes: Uint8Array): boolean
  /** The call ended; resolves when its outcome is stored. `place` moves the files of its transfer into the tree. */
  ended(call: CallEnded, place: (isRepeated: boolean) => TransferStored): Promise<TransferStored>
  credential(ask: CredentialAsk): Promise<unknown>
  isGitHost(ask: HostAsk): Promise<boolean>
  /** Names that the runner does not sync to the service. */
  exclude(): string[]
  processes: Pick<ConversationProcesses, 'received' | 'exited'>
  /** A message of a program, whether or not anybody waits for it. */
  heard(piece: ServerMessage): void
  ports(): PortStreams
  terminal(): ConversationTerminal
  greeted(hello: SessionHello, peer: RpcPeer): void
  /** A runner has said hello, or the connection is lost. */
  changed(): void
}

export class RunnerLink {
  /** Brings the runner's copy of the workspace up to date. */
  readonly sender: TreeSender
  readonly #receiver: TreeReceiver
  readonly #deps: LinkDeps
  #socket: WebSocket | null
  #peer: RpcPeer | null = null
  /** Resolves when all frames that have arrived are processed. */
  #frames: Promise<void> = Promise.resolve()
  #waitingBytes = 0
  /** When a message or a frame last came, epoch ms. */
  heardAt = 0
  /** Whether the last connection was closed here for a protocol violation. */
  hasBrokenRules = false

  constructor(deps: LinkDeps) {
    this.#deps = deps
    const { record, changes, files, limits } = deps
    this.#receiver = new TreeReceiver({ record, changes, files, maxFileBytes: limits.maxFileBytes })
    this.sender = new TreeSender({ record, changes, files, connection: () => this.#connection })
    this.#socket = deps.ctx.getWebSockets(RUNNER_TAG).find(isOurs) ?? null
    if (this.#socket !== null) this.#peer = this.#peerOf(this.#socket)
  }

  /** Whether a runner is connected and has said hello. */
  get isUp(): boolean {
    return this.#socket !== null && isOpen(this.#socket) && attachmentOf(this.#socket).runner !== null
  }

  get peer(): RpcPeer | null {
    return this.isUp ? this.#peer : null
  }

  /** The runner's peer and the life of its process; null while none is connected. */
  get withLife(): ProcessLink | null {
    const { peer } = this
    return peer === null || this.#socket === null ? null : { peer, life: attachmentOf(this.#socket).life }
  }

  get forPorts(): PortLink | null {
    const { peer } = this
    const socket = this.#socket
    if (peer === null || socket === null) return null
    return { peer, sendFrame: (frame) => isOpen(socket) && socket.send(encodeFrame(frame)) }
  }

  get #connection(): Connection | null {
    const { peer } = this
    return peer === null || this.#socket === null ? null : { socket: this.#socket, peer }
  }

  /** Accepts the runner's socket; the socket before it is closed. */
  accept(): WebSocket {
    this.close('connected again')
    const { 0: client, 1: server } = new WebSocketPair()
    this.#deps.ctx.acceptWebSocket(server, [RUNNER_TAG])
    server.serializeAttachment({ kind: 'runner', runner: null, life: '', late: null } satisfies RunnerAttachment)
    this.#socket = server
    this.#peer = this.#peerOf(server)
    this.#frames = Promise.resolve()
    this.#waitingBytes = 0
    return client
  }

  async receive(socket: WebSocket, data: string | ArrayBuffer): Promise<void> {
    if (socket !== this.#socket || this.#peer === null) return
    this.heardAt = Date.now()
    if (typeof data === 'string') return this.#peer.receive(data)
    this.#waitingBytes += data.byteLength
    if (data.byteLength > MAX_FRAME_BYTES || this.#waitingBytes > MAX_WAITING_BYTES) {
      return this.close('more was sent than the window allows', 1008)
    }
    const taken = this.#frames.then(() => this.#take(socket, new Uint8Array(data)))
    this.#frames = taken
    await taken
  }

  /** The socket was closed, by the runner or by a fault. */
  left(socket: WebSocket): void {
    if (socket !== this.#socket) return
    this.hasBrokenRules = false
    this.#forget('the runner is gone')
  }

  close(reason: string, code = 1000): void {
    const socket = this.#socket
    if (socket === null) return
    this.hasBrokenRules = code === 1008
    this.#forget(reason)
    if (isOpen(socket)) socket.close(code, reason.slice(0, 120))
  }

  async #take(socket: WebSocket, data: Uint8Array): Promise<void> {
    if (socket !== this.#socket) return
    try {
      const frame = decodeFrame(data)
      const stream = await this.#taken(frame)
      if (stream !== null) this.#peer?.tell('frame/ack', { stream, seq: frame.head.seq })
    } catch (error) {
      log.warn('runner.bad_frame', errorFields(error))
      // If the connection is already over, there is nothing to close.
      if (socket === this.#socket)
        this.close(error instanceof BadFrame ? error.message : 'a frame could not be stored', 1008)
    } finally {
      // Storing may take longer than sending.
      this.heardAt = Date.now()
      this.#waitingBytes -= data.byteLength
    }
  }

  /** The stream on which the frame is acknowledged; null for a frame that is acknowledged later or not at all. */
  async #taken(frame: Frame): Promise<string | null> {
    const { head, bytes } = frame
    if (head.t === 'port' || head.t === 'terminal') {
      // It is acknowledged when it has been read.
      if (head.t === 'port') this.#deps.ports().received(frame)
      else this.#deps.terminal().received(frame)
      return null
    }
    if (head.t === 'files') return (await this.#receiver.take(frame)) ? `transfer:${head.transfer}` : null
    if (!this.#deps.output(head.key, head.seq, bytes)) throw new BadFrame('output with a gap')
    return `output:${head.key}`
  }

  #peerOf(socket: WebSocket): RpcPeer {
    return new RpcPeer((text) => socket.send(text), {
      'session/hello': (hello) => this.#greet(socket, hello),
      'transfer/begin': async (begin) => {
        await this.#frames
        if (this.sender.needsWhole) throw new RpcError(RPC_ERRORS.wrongRevision, 'the copy is not current')
        await this.#receiver.begin(begin)
      },
      'transfer/commit': async (commit) => {
        await this.#frames
        return this.#receiver.commit(commit)
      },
      'call/ended': async (call) => {
        await this.#frames
        return this.#deps.ended(call, (isRepeated) => this.#receiver.place(call.transfer, isRepeated))
      },
      'frame/ack': ({ stream, seq }) => {
        if (!this.#acked(stream, seq)) this.close('what was not sent was acknowledged', 1008)
      },
      'credential/ask': (ask) => this.#deps.credential(ask),
      'host/ask': async (ask) => ({ isAllowed: await this.#deps.isGitHost(ask) }),
      'server/message': (piece) => {
        this.#deps.processes.received(piece)
        this.#deps.heard(piece)
      },
      'server/exited': (exit) => this.#deps.processes.exited(exit),
      'port/head': (head) => this.#deps.ports().head(head),
      'port/close': async (closed) => {
        // Frames that came before this message are still in the queue.
        await this.#frames
        this.#deps.ports().closed(closed)
      },
      'terminal/ended': async (ended) => {
        await this.#frames
        this.#deps.terminal().ended(ended)
      },
    })
  }

  /** False when the acknowledged frame was never sent. */
  #acked(name: string, seq: number): boolean {
    const found = streamIn(name)
    if (found === null) return this.sender.acked(name, seq)
    if (found.kind === 'port') this.#deps.ports().acked(found.stream, seq)
    else this.#deps.terminal().acked(found.stream, seq)
    return true
  }

  #greet(socket: WebSocket, hello: SessionHello): SessionWelcome {
    const { runner, life, tree } = hello
    if (attachmentOf(socket).runner !== null)
      throw new RpcError(RPC_ERRORS.invalidRequest, 'this connection has said hello before')
    const { record, limits, changes } = this.#deps
    const { epoch, revision, lastUp } = record.value
    if (record.value.runner?.id !== runner)
      throw new RpcError(RPC_ERRORS.refused, 'this ticket was given to another runner')
    const known = tree !== null && tree.epoch === epoch && epoch !== ''
    // One revision ahead: a transfer to the runner whose end did not reach this side; its changes are still due. One
    // behind: a transfer from the runner, which `stored` reports below.
    const isNear = known && [revision, revision + 1].includes(tree.revision)
    const isBehindUp = known && lastUp?.revision === revision && tree.revision === revision - 1
    this.sender.needsWhole = !(isNear || isBehindUp)
    if (isNear && tree.revision > revision) record.change({ revision: tree.revision })
    if (this.sender.needsWhole) changes.begin()
    socket.serializeAttachment({ kind: 'runner', runner, life, late: null } satisfies RunnerAttachment)
    if (this.#peer !== null) this.#deps.greeted(hello, this.#peer)
    this.#deps.changed()
    return { wire: WIRE_VERSION, stored: isBehindUp ? lastUp : null, exclude: this.#deps.exclude(), ...limits }
  }

  #forget(why: string): void {
    this.#peer?.close(why)
    this.#peer = null
    this.#socket = null
    this.sender.lost()
    this.#deps.ports().lost()
    this.#deps.terminal().lost()
    this.#deps.ctx.waitUntil(this.#receiver.discard())
    this.#deps.changed()
  }
}

export const attachmentOf = (socket: WebSocket): RunnerAttachment =>
  RunnerAttachment.parse(socket.deserializeAttachment())
const isOurs = (socket: WebSocket): boolean => isOpen(socket) && attachmentOf(socket).late === null
export const isOpen = ({ readyState }: WebSocket): boolean => readyState === WebSocket.READY_STATE_OPEN
