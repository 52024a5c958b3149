// Brings the runner's copy of the workspace up to date: sends all of it, or the changes. At most a window of frames is
// unacknowledged at a time, because the socket does not show how much the other side has read.

import { z } from 'zod'
import { joinBytes } from '../../../../src/lib/bytes.ts'
import { encodeFrame } from '../../../../src/runners/frames.ts'
import { RpcError, type RpcPeer } from '../../../../src/runners/rpc.ts'
import { RPC_ERRORS, WINDOW_BYTES } from '../../../../src/runners/wire.ts'
import { isFileError } from '../../../../src/workspace/file-system.ts'
import type { StoredRecord } from '../../../stored-record.ts'
import type { WorkspaceStore } from '../../workspace/store.ts'
import type { RunnerRecord } from './runner-record.ts'
import type { TreeChanges } from './tree-changes.ts'
import { treeFrames } from './tree-down.ts'

const TRANSFER_TIMEOUT_MS = 300_000
const ACK_TIMEOUT_MS = 60_000
const TRIES = 3

export type Connection = { readonly socket: WebSocket; readonly peer: RpcPeer }

type SenderDeps = {
  record: StoredRecord<RunnerRecord>
  changes: TreeChanges
  files: WorkspaceStore
  /** The open connection, or null. */
  connection(): Connection | null
}

export class TreeSender {
  /** True when the runner has no copy that could be updated. */
  needsWhole = false
  readonly #deps: SenderDeps
  /** Settles when the last requested update has ended. */
  #bringing: Promise<unknown> = Promise.resolve()
  #last = 0
  /** The open transfer: how far it is sent and acknowledged. */
  #acked: { stream: string; sent: number; seq: number; wake: () => void } | null = null

  constructor(deps: SenderDeps) {
    this.#deps = deps
  }

  /**
   * Sends until no change is due, including changes made meanwhile. One call at a time, because the runner accepts one
   * transfer at a time.
   */
  bringUp(): Promise<void> {
    const mine = this.#bringing.then(() => this.#bringUp())
    this.#bringing = mine.catch(() => undefined)
    return mine
  }

  async #bringUp(): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#sendAllDue()
      } catch (error) {
        // A file was changed while it was read.
        if (!isFileError(error) || tries >= TRIES) throw error
      }
    }
  }

  async #sendAllDue(): Promise<void> {
    const { changes } = this.#deps
    if (this.needsWhole) await this.#send(true)
    while (!changes.isEmpty) await this.#send(false)
  }

  /** The runner has taken the frames up to this one; false when it was not sent. */
  acked(stream: string, seq: number): boolean {
    const acked = this.#acked
    // An acknowledgement of an earlier transfer.
    if (acked?.stream !== stream) return true
    if (seq > acked.sent) return false
    if (seq > acked.seq) {
      acked.seq = seq
      acked.wake()
    }
    return true
  }

  /** The connection is lost. */
  lost(): void {
    this.#acked?.wake()
    this.#acked = null
  }

  async #send(isWhole: boolean): Promise<void> {
    const { record, changes, files } = this.#deps
    const { peer } = this.#connected()
    if (isWhole) {
      record.change({ epoch: crypto.randomUUID(), revision: 0, lastUp: null })
      changes.begin()
    }
    const due = changes.due()
    const { epoch, revision } = record.value
    const transfer = ++this.#last
    const next = revision + 1
    try {
      const begin = { transfer, epoch, base: isWhole ? null : revision, revision: next }
      await peer.call('transfer/begin', begin, z.unknown())
      const sent = await this.#sendFrames(transfer, treeFrames(files, isWhole ? null : due.changes))
      await peer.call('transfer/commit', { transfer, ...sent }, z.unknown(), TRANSFER_TIMEOUT_MS)
    } catch (error) {
      // Part of the transfer may have been applied, so the state of the copy is uncertain.
      this.needsWhole = true
      throw error
    }
    record.change({ revision: next })
    changes.sent(due.upTo)
    if (isWhole) this.needsWhole = false
  }

  async #sendFrames(
    transfer: number,
    parts: ReturnType<typeof treeFrames>,
  ): Promise<{ frames: number; entries: number }> {
    const { socket } = this.#connected()
    const window: { seq: number; bytes: number }[] = []
    let [frames, entries, unacked] = [0, 0, 0]
    this.#acked = { stream: `transfer:${transfer}`, sent: -1, seq: -1, wake: () => undefined }
    for await (const part of parts) {
      const head = { t: 'files', transfer, seq: frames, entries: part.entries } as const
      const frame = encodeFrame({ head, bytes: joinBytes(part.bytes) })
      for (let upTo = this.#acked?.seq ?? -1; ; upTo = await this.#nextAck()) {
        while (window[0] !== undefined && window[0].seq <= upTo) unacked -= window.shift()?.bytes ?? 0
        if (unacked === 0 || unacked + frame.byteLength <= WINDOW_BYTES) break
      }
      if (this.#connected().socket !== socket) throw gone()
      socket.send(frame)
      if (this.#acked !== null) this.#acked.sent = frames
      window.push({ seq: frames, bytes: frame.byteLength })
      unacked += frame.byteLength
      frames += 1
      // A large file takes many frames but is one entry.
      entries += part.entries.filter(({ offset = 0 }) => offset === 0).length
    }
    return { frames, entries }
  }

  /** Waits for the next acknowledgement and returns its number. */
  async #nextAck(): Promise<number> {
    const acked = this.#acked
    if (acked === null) throw gone()
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new RpcError(RPC_ERRORS.internal, 'frames were not taken')), ACK_TIMEOUT_MS)
      acked.wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    return acked.seq
  }

  #connected(): Connection {
    const connection = this.#deps.connection()
    if (connection === null) throw gone()
    return connection
  }
}

const gone = () => new RpcError(RPC_ERRORS.internal, 'the runner is gone')
