import { Disconnected, type Peer } from '../connect/peer.ts'
import type { Lock } from '../lock.ts'
import { type Log, messageOf } from '../log.ts'
import type { Uploads } from './upload.ts'

export type LiveSyncDeps = {
  readonly uploads: Uploads
  readonly treeLock: Lock
  /** Something runs that may change files. */
  readonly isBusy: () => boolean
  readonly remark: (text: string) => void
  readonly log: Log
}

const EVERY_MS = 500
/** A tree of very many files takes the runner's time from other conversations: no more than a fifth of it. */
const REST = 4

/** While something runs, its changes go up every half second; once more when it has ended. */
export class LiveSync {
  readonly #deps: LiveSyncDeps
  #timer: NodeJS.Timeout | null = null
  #wasBusy = false
  #againAt = 0

  constructor(deps: LiveSyncDeps) {
    this.#deps = deps
  }

  start(peer: Peer): void {
    this.stop()
    this.#timer = setInterval(() => this.#look(peer), EVERY_MS)
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }

  #look(peer: Peer): void {
    const { uploads, treeLock, isBusy, remark, log } = this.#deps
    const isBusyNow = isBusy()
    if ((!isBusyNow && !this.#wasBusy) || treeLock.isHeld || performance.now() < this.#againAt) return
    this.#wasBusy = isBusyNow
    const beganAt = performance.now()
    treeLock
      .run(() => uploads.sync(peer, remark))
      .catch((error) => {
        if (!(error instanceof Disconnected)) log('sync.failed', { message: messageOf(error) })
      })
      .finally(() => {
        this.#againAt = performance.now() + REST * (performance.now() - beganAt)
      })
  }
}
