import { Disconnected, type Peer } from '../connect/peer.ts'
import type { Lock } from '../lock.ts'
import { type Log, messageOf } from '../log.ts'
import type { Uploads } from './upload.ts'

export type LiveSyncDeps = {
  readonly uploads: Uploads
  readonly treeLock: Lock
  /** A program is running that may change files. */
  readonly isBusy: () => boolean
  readonly remark: (text: string) => void
  readonly log: Log
}

const EVERY_MS = 500
/** Walking a very large tree takes time from other conversations: at most a fifth of the runner's time. */
const REST = 4

/** While a program runs, its changes are sent every half second; once more when it has ended. */
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
