// The connection of a conversation to its runner. It survives hibernation: what must is in the attachment of the socket and
// in the stored record. Frames are taken one after the other, however long each takes; what a runner sends beyond its window
// closes the connection.

import { z } from 'zod'
import { errorFields, log } from '../../../src/lib/log.ts'
import { BadFrame, decodeFrame, encodeFrame, type Frame } from '../../../src/runners/frames.ts'
import { RpcError, RpcPeer } from '../../../src/runners/rpc.ts'
import {
  type CallEnded,
  type CredentialAsk,
  MAX_FRAME_BYTES,
  RPC_ERRORS,
  RunnerId,
  type SessionHello,
  type SessionWelcome,
  type TransferCommit,
  type TransferStored,
  TransferStored as TransferStoredAnswer,
  WINDOW_BYTES,
  WIRE_VERSION,
} from '../../../src/runners/wire.ts'
import type { StoredRecord } from '../../stored-record.ts'
import type { WorkspaceStore } from '../workspace/store.ts'
import type { RunnerRecord } from './runner-record.ts'
import type { TreeChanges } from './tree-changes.ts'
import { treeFrames } from './tree-down.ts'
import { UpTransfer } from './tree-up.ts'

/** The tag of a runner's socket: clients' sockets have none. */
export const RUNNER_TAG = 'runner'
/** Not synced upwards: they are made again from what is synced, and are large. */
const EXCLUDED = ['node_modules', '.venv', 'venv', '__pycache__', 'target', '.cache', '.tox', '.gradle', '.npm']
/** Frames that may wait to be taken, bytes: two windows, of a transfer and of output. */
const MAX_WAITING_BYTES = 2 * WINDOW_BYTES + 2 * MAX_FRAME_BYTES
const TRANSFER_TIMEOUT_MS = 300_000
const ACK_TIMEOUT_MS = 60_000

const Attachment = z.object({
  kind: z.literal('runner'),
  runner: RunnerId.nullable(),
  life: z.string(),
})
type Attachment = z.infer<typeof Attachment>

type LinkDeps = {
  ctx: DurableObjectState
  record: StoredRecord<RunnerRecord>
  changes: TreeChanges
  files: WorkspaceStore
  limits: { maxFileBytes: number; maxWorkspaceBytes: number }
  /** A piece of output; false when the pieces before it are missing. */
  output(key: string, seq: number, bytes: Uint8Array): boolean
  /** The call ended; resolves when its outcome is stored. `place` gives the files of its transfer their places. */
  ended(call: CallEnded, place: () => TransferStored): Promise<TransferStored>
  credential(ask: CredentialAsk): Promise<unknown>
  /** A runner has said hello, or its connection is gone. */
  changed(): void
}

export class RunnerLink {
  readonly #deps: LinkDeps
  #socket: WebSocket | null
  #peer: RpcPeer | null = null
  /** Resolves when all frames that came so far are taken. */
  #frames: Promise<void> = Promise.resolve()
  #waitingBytes = 0
  #up: { transfer: number; files: UpTransfer } | null = null
  #lastDown = 0
  #acked: { stream: string; seq: number; wake: () => void } | null = null
  #needsWhole = false

  constructor(deps: LinkDeps) {
    this.#deps = deps
    this.#socket = deps.ctx.getWebSockets(RUNNER_TAG).find(isOpen) ?? null
    if (this.#socket !== null) this.#peer = this.#peerOf(this.#socket)
  }

  /** Whether a runner is connected and has said hello. */
  get isUp(): boolean {
    return this.#socket !== null && isOpen(this.#socket) && attachmentOf(this.#socket).runner !== null
  }

  get peer(): RpcPeer | null {
    return this.isUp ? this.#peer : null
  }

  /** Takes the runner's socket; the one before it goes. */
  accept(): WebSocket {
    this.close('connected again')
    const { 0: client, 1: server } = new WebSocketPair()
    this.#deps.ctx.acceptWebSocket(server, [RUNNER_TAG])
    server.serializeAttachment({ kind: 'runner', runner: null, life: '' } satisfies Attachment)
    this.#socket = server
    this.#peer = this.#peerOf(server)
    this.#frames = Promise.resolve()
    this.#waitingBytes = 0
    return client
  }

  async receive(socket: WebSocket, data: string | ArrayBuffer): Promise<void> {
    if (socket !== this.#socket || this.#peer === null) return
    if (typeof data === 'string') return this.#peer.receive(data)
    this.#waitingBytes += data.byteLength
    if (data.byteLength > MAX_FRAME_BYTES || this.#waitingBytes > MAX_WAITING_BYTES) {
      return this.close('more was sent than the window allows', 1008)
    }
    const taken = this.#frames.then(() => this.#take(socket, new Uint8Array(data)))
    this.#frames = taken
    await taken
  }

  /** The socket is closed: by the runner, or by a fault. */
  left(socket: WebSocket): void {
    if (socket === this.#socket) this.#forget('the runner is gone')
  }

  close(reason: string, code = 1000): void {
    const socket = this.#socket
    if (socket === null) return
    this.#forget(reason)
    if (isOpen(socket)) socket.close(code, reason.slice(0, 120))
  }

  /** Brings the runner's copy to the state of the tree. Afterwards nothing is due: what came meanwhile is sent as well. */
  async bringUp(): Promise<void> {
    const { changes } = this.#deps
    if (this.#needsWhole) await this.#send(true)
    while (!changes.isEmpty) await this.#send(false)
  }

  async #send(isWhole: boolean): Promise<void> {
    const { record, changes, files } = this.#deps
    const peer = this.#connected()
    if (isWhole) {
      record.change({ epoch: crypto.randomUUID(), revision: 0, lastUp: null })
      changes.begin()
    }
    const due = changes.due()
    const { epoch, revision } = record.value
    const transfer = ++this.#lastDown
    const next = revision + 1
    await peer.call('transfer/begin', { transfer, epoch, base: isWhole ? null : revision, revision: next }, z.unknown())
    const sent = await this.#sendFrames(transfer, treeFrames(files, isWhole ? null : due.changes))
    await peer.call('transfer/commit', { transfer, ...sent }, z.unknown(), TRANSFER_TIMEOUT_MS)
    record.change({ revision: next })
    changes.sent(due.upTo)
    if (isWhole) this.#needsWhole = false
  }

  async #sendFrames(
    transfer: number,
    parts: ReturnType<typeof treeFrames>,
  ): Promise<{ frames: number; entries: number }> {
    const socket = this.#socket
    const stream = `transfer:${transfer}`
    const open: { seq: number; bytes: number }[] = []
    let [frames, entries, unacked] = [0, 0, 0]
    this.#acked = { stream, seq: -1, wake: () => undefined }
    for await (const part of parts) {
      const head = { t: 'files', transfer, seq: frames, entries: part.entries } as const
      const frame = encodeFrame({ head, bytes: joined(part.bytes) })
      while (unacked > 0 && unacked + frame.byteLength > WINDOW_BYTES) {
        await this.#nextAck()
        const upTo = this.#acked.seq
        while (open[0] !== undefined && open[0].seq <= upTo) unacked -= open.shift()?.bytes ?? 0
      }
      if (socket === null || socket !== this.#socket) throw new RpcError(RPC_ERRORS.internal, 'the runner is gone')
      socket.send(frame)
      open.push({ seq: frames, bytes: frame.byteLength })
      unacked += frame.byteLength
      frames += 1
      entries += part.entries.length
    }
    return { frames, entries }
  }

  #nextAck(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new RpcError(RPC_ERRORS.internal, 'frames were not taken')), ACK_TIMEOUT_MS)
      const acked = this.#acked
      if (acked === null) return reject(new RpcError(RPC_ERRORS.internal, 'the runner is gone'))
      acked.wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  async #take(socket: WebSocket, data: Uint8Array): Promise<void> {
    if (socket !== this.#socket) return
    try {
      const frame = decodeFrame(data)
      const stream = await this.#taken(frame)
      if (stream !== null) this.#peer?.tell('frame/ack', { stream, seq: frame.head.seq })
    } catch (error) {
      log.warn('runner.bad_frame', errorFields(error))
      this.close(error instanceof BadFrame ? error.message : 'a frame could not be stored', 1008)
    } finally {
      this.#waitingBytes -= data.byteLength
    }
  }

  async #taken({ head, bytes }: Frame): Promise<string | null> {
    if (head.t === 'output') {
      if (!this.#deps.output(head.key, head.seq, bytes)) throw new BadFrame('output with a gap')
      return `output:${head.key}`
    }
    if (this.#up?.transfer !== head.transfer) return null
    if (head.seq !== this.#up.files.frames) throw new BadFrame('a transfer with a gap')
    await this.#up.files.take(head.entries, bytes)
    return `transfer:${head.transfer}`
  }

  #peerOf(socket: WebSocket): RpcPeer {
    return new RpcPeer((text) => socket.send(text), {
      'session/hello': (hello) => this.#greet(socket, hello),
      'transfer/begin': async ({ transfer, epoch }) => {
        await this.#frames
        this.#demandCopy(epoch)
        await this.#up?.files.discard()
        const { files, limits } = this.#deps
        this.#up = { transfer, files: new UpTransfer(files, limits.maxFileBytes) }
      },
      'transfer/commit': async (commit) => {
        await this.#frames
        this.#demandTransfer(commit)
        return this.#place(commit.transfer)
      },
      'call/ended': async (call) => {
        await this.#frames
        const { transfer } = call
        return this.#deps.ended(call, () => (transfer === null ? this.#unchanged() : this.#place(transfer)))
      },
      'frame/ack': ({ stream, seq }) => this.#ack(stream, seq),
      'credential/ask': (ask) => this.#deps.credential(ask),
    })
  }

  #greet(socket: WebSocket, { wire, runner, life, tree }: SessionHello): SessionWelcome {
    if (wire !== WIRE_VERSION) {
      throw new RpcError(RPC_ERRORS.wrongVersion, 'another version of the wire', { supported: [WIRE_VERSION] })
    }
    const { record, limits, changes } = this.#deps
    const { epoch, revision, lastUp } = record.value
    if (record.value.runner?.id !== runner)
      throw new RpcError(RPC_ERRORS.refused, 'this ticket was given to another runner')
    const known = tree !== null && tree.epoch === epoch && epoch !== ''
    // One more: a transfer down whose end we did not hear of, all of which is still due. One less: one up, told below.
    const isNear = known && [revision, revision + 1].includes(tree.revision)
    const isBehindUp = known && lastUp?.revision === revision && tree.revision === revision - 1
    this.#needsWhole = !(isNear || isBehindUp)
    if (isNear && tree.revision > revision) record.change({ revision: tree.revision })
    if (this.#needsWhole) changes.begin()
    socket.serializeAttachment({ kind: 'runner', runner, life } satisfies Attachment)
    this.#deps.changed()
    return { wire: WIRE_VERSION, stored: isBehindUp ? lastUp : null, exclude: [...EXCLUDED], ...limits }
  }

  /** The files of a transfer get their places, and the copy is at the revision that is answered. */
  #place(transfer: number): TransferStored {
    const { record, changes } = this.#deps
    const { lastUp } = record.value
    if (this.#up?.transfer !== transfer) {
      // Told again, because the first answer was lost.
      if (lastUp?.transfer === transfer) return { revision: lastUp.revision, refused: [] }
      throw new RpcError(RPC_ERRORS.wrongRevision, 'this transfer is not known: send it again')
    }
    const { files } = this.#up
    this.#up = null
    const refused = files.place(changes)
    const revision = record.value.revision + 1
    record.change({ revision, lastUp: { transfer, revision } })
    return TransferStoredAnswer.parse({ revision, refused })
  }

  #unchanged(): TransferStored {
    return { revision: this.#deps.record.value.revision, refused: [] }
  }

  #demandCopy(epoch: string): void {
    if (epoch === this.#deps.record.value.epoch && !this.#needsWhole) return
    throw new RpcError(RPC_ERRORS.wrongRevision, 'this is another copy of the workspace')
  }

  #demandTransfer({ transfer, frames, entries }: TransferCommit): void {
    if (this.#up?.transfer !== transfer) return
    const came = this.#up.files
    if (came.frames === frames && came.entries === entries) return
    throw new RpcError(
      RPC_ERRORS.invalidParams,
      `of ${entries} entries in ${frames} frames ${came.entries} in ${came.frames} came`,
    )
  }

  #ack(stream: string, seq: number): void {
    if (this.#acked?.stream !== stream || seq <= this.#acked.seq) return
    this.#acked.seq = seq
    this.#acked.wake()
  }

  #connected(): RpcPeer {
    const { peer } = this
    if (peer === null) throw new RpcError(RPC_ERRORS.internal, 'the runner is gone')
    return peer
  }

  #forget(why: string): void {
    this.#peer?.close(why)
    this.#peer = null
    this.#socket = null
    this.#acked?.wake()
    this.#acked = null
    const up = this.#up
    this.#up = null
    if (up !== null) this.#deps.ctx.waitUntil(up.files.discard())
    this.#deps.changed()
  }
}

const attachmentOf = (socket: WebSocket): Attachment => Attachment.parse(socket.deserializeAttachment())
const isOpen = ({ readyState }: WebSocket): boolean => readyState === WebSocket.READY_STATE_OPEN

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [first] = parts
  if (first !== undefined && parts.length === 1) return first
  const bytes = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.byteLength
  }
  return bytes
}
