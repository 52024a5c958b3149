// Receives changes from the runner, one transfer at a time. The files of a transfer are moved into the tree when it is
// complete.

import { BadFrame, type Frame } from '../../../../src/runners/frames.ts'
import { RpcError } from '../../../../src/runners/rpc.ts'
import { RPC_ERRORS, type TransferBegin, type TransferCommit, TransferStored } from '../../../../src/runners/wire.ts'
import type { StoredRecord } from '../../../stored-record.ts'
import type { WorkspaceStore } from '../../workspace/store.ts'
import type { RunnerRecord } from './runner-record.ts'
import type { TreeChanges } from './tree-changes.ts'
import { UpTransfer } from './tree-up.ts'

type ReceiverDeps = {
  record: StoredRecord<RunnerRecord>
  changes: TreeChanges
  files: WorkspaceStore
  maxFileBytes: number
}

export class TreeReceiver {
  readonly #deps: ReceiverDeps
  #open: { transfer: number; files: UpTransfer } | null = null

  constructor(deps: ReceiverDeps) {
    this.#deps = deps
  }

  async begin({ transfer, epoch }: TransferBegin): Promise<void> {
    const { record, files, maxFileBytes } = this.#deps
    if (epoch !== record.value.epoch) {
      throw new RpcError(RPC_ERRORS.wrongRevision, 'this is another copy of the workspace')
    }
    await this.discard()
    this.#open = { transfer, files: new UpTransfer(files, maxFileBytes) }
  }

  /** Takes a frame; false for a transfer that is not open. Throws a `BadFrame` when a frame before it is missing. */
  async take({ head, bytes }: Frame): Promise<boolean> {
    if (head.t !== 'files' || this.#open?.transfer !== head.transfer) return false
    const { files } = this.#open
    if (head.seq !== files.frames) throw new BadFrame('a transfer with a gap')
    await files.take(head.entries, bytes)
    return true
  }

  commit({ transfer, frames, entries }: TransferCommit): TransferStored {
    const came = this.#open?.transfer === transfer ? this.#open.files : null
    if (came !== null && (came.frames !== frames || came.entries !== entries)) {
      const text = `of ${entries} entries in ${frames} frames ${came.entries} in ${came.frames} came`
      throw new RpcError(RPC_ERRORS.invalidParams, text)
    }
    return this.place(transfer)
  }

  /**
   * Moves the files of the transfer into the tree and answers with the new revision. A null transfer means that nothing
   * changed.
   */
  place(transfer: number | null, isRepeated = false): TransferStored {
    const { record, changes } = this.#deps
    const { lastUp } = record.value
    if (transfer === null) return { revision: record.value.revision, refused: [] }
    if (this.#open?.transfer !== transfer) {
      // The runner repeats the request because the first answer was lost.
      if (lastUp?.transfer === transfer) return { revision: lastUp.revision, refused: [] }
      throw new RpcError(RPC_ERRORS.wrongRevision, 'this transfer is not known: send it again')
    }
    const { files } = this.#open
    if (files.isWithinFile) throw new RpcError(RPC_ERRORS.invalidParams, 'this transfer ends within a file')
    this.#open = null
    const refused = files.place(changes, isRepeated)
    const revision = record.value.revision + 1
    record.change({ revision, lastUp: { transfer, revision } })
    return TransferStored.parse({ revision, refused })
  }

  /** Discards a transfer that will not be completed. */
  async discard(): Promise<void> {
    const open = this.#open
    this.#open = null
    await open?.files.discard()
  }
}
