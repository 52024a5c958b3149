// The waiters for the end of a call in this instance, and ends that arrived before anybody waited.

import type { CallEnded, TransferStored } from '../../../../src/runners/wire.ts'

export type CallEnd = { call: CallEnded; stored: TransferStored }
type Waiter = { onOutput(bytes: Uint8Array): void; end: (end: CallEnd) => void; fail: (error: Error) => void }
type Early = {
  call: CallEnded
  place: () => TransferStored
  answer: (stored: TransferStored) => void
  refuse: (error: unknown) => void
}

export class CallWaiters {
  readonly #waiters = new Map<string, Waiter>()
  readonly #early = new Map<string, Early>()

  output(key: string, bytes: Uint8Array): void {
    this.#waiters.get(key)?.onOutput(bytes)
  }

  /**
   * Places the files of the call and gives the outcome to its waiter, in one write. Without a waiter the end is kept
   * until one comes.
   */
  ended(call: CallEnded, place: () => TransferStored): Promise<TransferStored> {
    const waiter = this.#waiters.get(call.key)
    if (waiter !== undefined) return Promise.resolve(settled(waiter, call, place))
    return new Promise((answer, refuse) => this.#early.set(call.key, { call, place, answer, refuse }))
  }

  /** Resolves with the end of the call; throws when the connection is lost before. */
  wait(key: string, onOutput: (bytes: Uint8Array) => void): Promise<CallEnd> {
    return new Promise((end, fail) => {
      const waiter = { onOutput, end, fail }
      this.#waiters.set(key, waiter)
      const early = this.#early.get(key)
      if (early === undefined) return
      this.#early.delete(key)
      try {
        early.answer(settled(waiter, early.call, early.place))
      } catch (error) {
        early.refuse(error)
      }
    })
  }

  leave(key: string): void {
    this.#waiters.delete(key)
  }

  /** The connection is lost: the runner reports the ends again over the next one. */
  disconnected(error: Error): void {
    for (const { refuse } of this.#early.values()) refuse(error)
    this.#early.clear()
    for (const { fail } of this.#waiters.values()) fail(error)
    this.#waiters.clear()
  }
}

function settled(waiter: Waiter, call: CallEnded, place: () => TransferStored): TransferStored {
  const stored = place()
  waiter.end({ call, stored })
  return stored
}
