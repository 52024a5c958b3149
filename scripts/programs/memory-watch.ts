// Measures the memory of the programs' processes often enough that a fast one cannot use too much.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { residentBytes } from './program-process.ts'

const LOOK_EVERY_MS = 20
/** Calling another program is more expensive. */
const ASK_EVERY_MS = 250

type Watched = { limitBytes: number; onExceeded: () => void }

export class MemoryWatch {
  readonly #watched = new Map<number, Watched>()
  readonly #hasProc = existsSync('/proc/self/statm')
  #timer: NodeJS.Timeout | null = null

  /** Returns a function that stops watching. */
  watch(pid: number, watched: Watched): () => void {
    this.#watched.set(pid, watched)
    this.#timer ??= setInterval(() => this.#look(), this.#hasProc ? LOOK_EVERY_MS : ASK_EVERY_MS)
    return () => {
      this.#watched.delete(pid)
      if (this.#watched.size > 0 || this.#timer === null) return
      clearInterval(this.#timer)
      this.#timer = null
    }
  }

  #look(): void {
    if (this.#hasProc) for (const pid of this.#watched.keys()) this.#judge(pid, residentBytes(pid) ?? 0)
    else this.#ask()
  }

  #judge(pid: number, bytes: number): void {
    const watched = this.#watched.get(pid)
    if (watched && bytes > watched.limitBytes) watched.onExceeded()
  }

  #ask(): void {
    execFile('ps', ['-o', 'pid=,rss=', '-p', [...this.#watched.keys()].join(',')], (_, stdout) => {
      for (const line of stdout.split('\n')) {
        const [pid, kilobytes] = line.trim().split(/\s+/).map(Number)
        if (pid !== undefined && kilobytes !== undefined) this.#judge(pid, kilobytes * 1024)
      }
    })
  }
}
