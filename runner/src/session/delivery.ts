// Sends results until the object has them: first the files that the call changed, then the result that names this
// transfer, so that the object stores both in one write. If the connection breaks in between, everything is sent again.

import { MAX_LEFT } from '../../../src/runners/wire.ts'
import { Backoff } from '../connect/backoff.ts'
import { Disconnected, type Peer } from '../connect/peer.ts'
import type { Lock } from '../lock.ts'
import { type Log, messageOf } from '../log.ts'
import type { Uploads } from '../sync/upload.ts'
import type { Calls } from './calls.ts'
import type { Journal } from './journal.ts'

export type DeliveryDeps = {
  readonly calls: Calls
  readonly journal: Journal
  readonly uploads: Uploads
  readonly treeLock: Lock
  readonly log: Log
}

/** After that the result is sent without its files, so that the turn continues. */
const UPLOAD_ATTEMPTS = 3

export class Delivery {
  readonly #deps: DeliveryDeps
  readonly #waiting = new Set<string>()
  readonly #failures = new Map<string, number>()
  readonly #backoff = new Backoff({ firstMs: 250, mostMs: 30_000 })
  #peer: Peer | null = null
  /** Remarks that arose between two results: sent with the next one. */
  #remarks: string[] = []
  #isTelling = false
  #isOver = false

  constructor(deps: DeliveryDeps) {
    this.#deps = deps
  }

  /** Results that the object has not accepted yet. */
  get untold(): number {
    return this.#waiting.size
  }

  add(key: string): void {
    this.#waiting.add(key)
    this.#run()
  }

  remark(text: string): void {
    if (this.#remarks.length < 20) this.#remarks.push(text.slice(0, 500))
  }

  connect(peer: Peer): void {
    this.#peer = peer
    this.#backoff.reset()
    this.#run()
  }

  disconnect(): void {
    this.#peer = null
  }

  end(): void {
    this.#isOver = true
    this.#peer = null
  }

  #run(): void {
    if (this.#isTelling) return
    this.#isTelling = true
    void this.#tellAll().finally(() => {
      this.#isTelling = false
      const [next] = this.#waiting
      if (next !== undefined && this.#peer !== null) this.#run()
    })
  }

  async #tellAll(): Promise<void> {
    for (let [key] = this.#waiting; key !== undefined; [key] = this.#waiting) {
      const peer = this.#peer
      if (peer === null || this.#isOver) return
      const told = key
      try {
        await this.#deps.treeLock.run(() => this.#tell(peer, told))
        this.#waiting.delete(key)
        this.#failures.delete(key)
        this.#backoff.reset()
      } catch (error) {
        if (error instanceof Disconnected) {
          // It is closing, and the event has not arrived yet.
          if (this.#peer === peer) this.#peer = null
          continue
        }
        this.#failures.set(told, (this.#failures.get(told) ?? 0) + 1)
        this.#deps.log('call.untold', { key, message: messageOf(error) })
        await new Promise((resolve) => setTimeout(resolve, this.#backoff.next()).unref())
      }
    }
  }

  async #tell(peer: Peer, key: string): Promise<void> {
    const { calls, journal, uploads } = this.#deps
    const entry = journal.get(key)
    if (entry === null || entry.outcome === null) return
    const canSend = (this.#failures.get(key) ?? 0) < UPLOAD_ATTEMPTS
    // Each is made once, so it is kept until a result with it was sent, in case this attempt fails.
    const sent = canSend ? await uploads.send(peer, (text) => this.remark(text)) : null
    const told = this.#remarks.length
    const unsent = canSend ? [] : ['What the command changed could not be sent; it stays on the runner for now.']
    const remarks = [...this.#remarks, ...unsent]
    const output = calls.outputs.get(key)
    if (output !== null) await output.sent(peer)
    const left = uploads.left.slice(0, MAX_LEFT).map((path) => path.slice(0, 500))
    const outcome = { ...entry.outcome, remarks: [...entry.outcome.remarks, ...remarks].slice(0, 20), left }
    const answer = await peer.call('call/ended', { key, outcome, transfer: sent?.upload.transfer ?? null })
    if (this.#isOver) return
    this.#remarks.splice(0, told)
    uploads.stored(sent?.upload ?? null, answer)
    calls.acknowledged(key)
  }
}
