// Samples the memory of the runtime under load, to detect growth.

import { readFileSync } from 'node:fs'

const EVERY_MS = 2_000
const MIB = 1024

export class Memory {
  readonly #mib: number[] = []
  readonly #timer: NodeJS.Timeout

  constructor(pid: () => number | null) {
    this.#timer = setInterval(() => this.#look(pid()), EVERY_MS)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** MiB: the middle of the second fifth of the time, of the last one, and the most. The first fifth warms up. */
  summary(): { early: number; late: number; most: number } {
    const fifth = Math.floor(this.#mib.length / 5)
    const middle = (from: number) => this.#mib.slice(from, from + fifth).toSorted((a, b) => a - b)[fifth >> 1] ?? 0
    return { early: middle(fifth), late: middle(this.#mib.length - fifth), most: Math.max(0, ...this.#mib) }
  }

  #look(pid: number | null): void {
    if (pid === null) return
    const [, kib] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    if (kib !== undefined) this.#mib.push(Number(kib) / MIB)
  }
}
