// The connection of a runner that had the conversation, was away, and reconnects with its old ticket while another
// runner has the conversation. It may report the outcomes of calls that were given up, and nothing else. Its changes to
// files are not taken, because the tree has moved on.

import { errorFields, log } from '../../../../src/lib/log.ts'
import { BadFrame, decodeFrame } from '../../../../src/runners/frames.ts'
import { type Handlers, RpcError, RpcPeer } from '../../../../src/runners/rpc.ts'
import { MAX_FRAME_BYTES, RPC_ERRORS, type TransferStored, WIRE_VERSION } from '../../../../src/runners/wire.ts'
import { StoredRecord } from '../../../stored-record.ts'
import { RUNNER_TAG } from '../../sockets/session-attachment.ts'
import { type LateDeps, LateOutcomes, NONE_LATE } from './late-outcomes.ts'
import { attachmentOf, isOpen, type RunnerAttachment } from './runner-link.ts'

type Deps = Omit<LateDeps, 'record'> & {
  limits: { maxFileBytes: number; maxWorkspaceBytes: number }
  /** Whether the owner still trusts the runner. */
  isGood(runner: string): Promise<boolean>
}

export class LateDoor {
  readonly outcomes: LateOutcomes
  readonly #deps: Deps
  readonly #peers = new Map<WebSocket, RpcPeer>()

  constructor(deps: Deps) {
    this.#deps = deps
    const record = new StoredRecord(deps.ctx.storage.sql, 'late_outcomes', NONE_LATE, 'on-change')
    this.outcomes = new LateOutcomes({ ...deps, record })
  }

  /**
   * What an earlier ticket opens: `current` if its runner still has the conversation, a socket for late outcomes, or
   * null.
   */
  async opens(hash: string): Promise<'current' | WebSocket | null> {
    const holder = this.outcomes.holderOf(hash)
    // The ticket may have been revoked while the owner's object was asked.
    if (holder === null || !(await this.#deps.isGood(holder)) || this.outcomes.holderOf(hash) === null) return null
    if (holder === this.#deps.runner()?.id) return 'current'
    return this.outcomes.isAwaited(holder) ? this.#accept(holder) : null
  }

  #accept(runner: string): WebSocket {
    for (const socket of this.#sockets()) if (runnerOf(socket) === runner) this.#close(socket, 'connected again')
    const { 0: client, 1: server } = new WebSocketPair()
    this.#deps.ctx.acceptWebSocket(server, [RUNNER_TAG])
    server.serializeAttachment({ kind: 'runner', runner: null, life: '', late: runner } satisfies RunnerAttachment)
    return client
  }

  has(socket: WebSocket): boolean {
    return attachmentOf(socket).late !== null
  }

  async receive(socket: WebSocket, data: string | ArrayBuffer): Promise<void> {
    const peer = this.#peerOf(socket)
    if (typeof data === 'string') return peer.receive(data)
    try {
      if (data.byteLength > MAX_FRAME_BYTES) throw new BadFrame('a frame that is too large')
      const { head, bytes } = decodeFrame(new Uint8Array(data))
      if (head.t !== 'output') throw new BadFrame('only output comes of a call that was given up')
      if (this.outcomes.output(head, bytes, runnerOf(socket)) === false) throw new BadFrame('output with a gap')
      peer.tell('frame/ack', { stream: `output:${head.key}`, seq: head.seq })
    } catch (error) {
      log.warn('runner.bad_frame', errorFields(error))
      this.#close(socket, error instanceof BadFrame ? error.message : 'a frame could not be stored', 1008)
    }
  }

  left(socket: WebSocket): void {
    this.#peers.get(socket)?.close('the runner is gone')
    this.#peers.delete(socket)
  }

  /** Revokes all tickets. */
  close(): void {
    this.outcomes.forgetTickets()
    for (const socket of this.#sockets()) this.#close(socket, 'the runner was let go', 1008)
  }

  #sockets(): WebSocket[] {
    return this.#deps.ctx.getWebSockets(RUNNER_TAG).filter((socket) => isOpen(socket) && this.has(socket))
  }

  #close(socket: WebSocket, reason: string, code = 1000): void {
    this.left(socket)
    socket.close(code, reason.slice(0, 120))
  }

  #peerOf(socket: WebSocket): RpcPeer {
    const known = this.#peers.get(socket)
    if (known !== undefined) return known
    const peer = new RpcPeer((text) => socket.send(text), this.#handlers(socket))
    this.#peers.set(socket, peer)
    return peer
  }

  #handlers(socket: WebSocket): Handlers {
    const elsewhere = () => {
      throw new RpcError(RPC_ERRORS.wrongRevision, 'this copy of the workspace is not current any more')
    }
    return {
      'session/hello': (hello) => {
        if (hello.runner !== runnerOf(socket))
          throw new RpcError(RPC_ERRORS.refused, 'this ticket was given to another runner')
        this.outcomes.greeted(hello, this.#peerOf(socket))
        return { wire: WIRE_VERSION, stored: null, exclude: [], ...this.#deps.limits }
      },
      'transfer/begin': elsewhere,
      'transfer/commit': elsewhere,
      'call/ended': (call) => {
        if (call.transfer !== null || this.#deps.calls.get(call.key) !== null) elsewhere()
        this.outcomes.ended(call, null, runnerOf(socket))
        return { revision: 0, refused: [] } satisfies TransferStored
      },
      'credential/ask': () => ({ username: null, password: null }),
      'host/ask': () => ({ isAllowed: false }),
      'server/message': (piece) => this.outcomes.heard(piece, runnerOf(socket)),
    }
  }
}

/** The runner whose ticket opened the socket. */
const runnerOf = (socket: WebSocket): string => attachmentOf(socket).late ?? ''
