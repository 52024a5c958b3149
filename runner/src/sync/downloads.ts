// Transfers from the service, one at a time and never during an upload. Frames that arrive too early wait; there are at
// most a window of them, because none is acknowledged.

import { BadFrame, type Frame } from '../../../src/runners/frames.ts'
import { RPC_ERRORS, type TransferBegin, type TransferCommit, WINDOW_BYTES } from '../../../src/runners/wire.ts'
import { Disconnected, RpcError } from '../connect/peer.ts'
import type { Lock } from '../lock.ts'
import { diskFull, isDiskFailure } from './folder.ts'
import type { Tree } from './tree.ts'

type Waiting = { readonly frame: Frame; readonly acknowledge: () => void }

export class Downloads {
  readonly #tree: Tree
  readonly #lock: Lock
  #transfer: number | null = null
  #release: (() => void) | null = null
  #waiting: Waiting[] = []
  #waitingBytes = 0
  #failure: Error | null = null
  /** Each connection is a generation: what waited in an earlier one is discarded. */
  #generation = 0

  constructor(tree: Tree, lock: Lock) {
    this.#tree = tree
    this.#lock = lock
  }

  async begin(begin: TransferBegin): Promise<void> {
    this.#abandon()
    this.#transfer = begin.transfer
    const generation = this.#generation
    const release = await this.#lock.acquire()
    if (generation !== this.#generation) {
      release()
      throw new Disconnected('another transfer began')
    }
    this.#release = release
    try {
      this.#tree.begin(begin)
    } catch (error) {
      this.#abandon()
      throw error
    }
    for (const { frame, acknowledge } of this.#waiting.splice(0)) this.#write(frame, acknowledge)
  }

  receive(frame: Frame, acknowledge: () => void): void {
    if (frame.head.t !== 'files' || frame.head.transfer !== this.#transfer) {
      throw new BadFrame('a frame that no transfer announced')
    }
    if (this.#release !== null) {
      this.#write(frame, acknowledge)
      return
    }
    this.#waiting.push({ frame, acknowledge })
    this.#waitingBytes += frame.bytes.byteLength
    if (this.#waitingBytes > 2 * WINDOW_BYTES || this.#waiting.length > 10_000)
      throw new BadFrame('frames beyond the window')
  }

  commit(commit: TransferCommit): void {
    if (this.#release === null || this.#transfer !== commit.transfer) {
      throw new RpcError(RPC_ERRORS.invalidParams, `no transfer ${commit.transfer} is under way`)
    }
    try {
      if (this.#failure !== null) throw this.#failure
      this.#tree.commit(commit)
      this.#end()
    } catch (error) {
      this.#abandon()
      throw isDiskFailure(error) ? new RpcError(RPC_ERRORS.noRoom, diskFull(error)) : error
    }
  }

  disconnected(): void {
    this.#abandon()
  }

  #write(frame: Frame, acknowledge: () => void): void {
    if (this.#failure === null) this.#tryToWrite(frame)
    acknowledge()
  }

  /** Disk errors are reported at the end of the transfer; protocol violations end the connection. */
  #tryToWrite(frame: Frame): void {
    try {
      this.#tree.receive(frame)
    } catch (error) {
      if (error instanceof BadFrame || !(error instanceof Error)) throw error
      this.#failure = error
    }
  }

  #abandon(): void {
    this.#generation += 1
    if (this.#release !== null) this.#tree.abandon()
    this.#end()
  }

  #end(): void {
    this.#release?.()
    this.#release = null
    this.#transfer = null
    this.#waiting = []
    this.#waitingBytes = 0
    this.#failure = null
  }
}
