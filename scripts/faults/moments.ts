// Named moments at which a process is killed: one part of a test reports that it is there, another one waits for it.

import { setTimeout as sleep } from 'node:timers/promises'

export class Moments<Name extends string> {
  readonly #waiting = new Map<Name, (() => void)[]>()

  happened(name: Name): void {
    const waiting = this.#waiting.get(name) ?? []
    this.#waiting.delete(name)
    for (const go of waiting) go()
  }

  /** Settles at the next such instant, or when none came in time. */
  async next(name: Name, patienceMs: number): Promise<void> {
    const came = new Promise<void>((resolve) => {
      this.#waiting.set(name, [...(this.#waiting.get(name) ?? []), resolve])
    })
    await Promise.race([came, sleep(patienceMs)])
  }
}
