// The usage of the machine by one conversation, checked while it works: the kernel limits processes and single files,
// and also memory if the runner has control groups; total disk usage, and memory otherwise, must be watched.

import { spawn } from 'node:child_process'
import { readFileSync, statfsSync } from 'node:fs'
import { isCode } from '../sync/folder.ts'
import { descendantsOf } from './processes.ts'

export type GuardDeps = {
  readonly folder: string
  readonly memoryBytes: number
  readonly diskBytes: number
  /** The number of programs that the kernel killed because of memory since the last call. */
  readonly kills: () => number
  /** The first process of each sandbox of the conversation. */
  readonly pids: () => readonly number[]
  /** A limit was exceeded. */
  readonly onOver: (text: string) => void
  /** The folder was deleted. */
  readonly onFolderGone: () => void
}

/** The minimum interval between measurements of the folder, which take long for a large one. */
const DISK_EVERY_MS = 10_000
/** Reserved for the machine itself, whatever the limit of a conversation. */
const LEAST_FREE_BYTES = 256 * 1024 * 1024
/** Explains why a disk with free space is reported as full. */
const LEAST_LEFT = 'less than 256 MiB left, which its machine needs'

export class Guard {
  readonly #deps: GuardDeps
  #countedAt = Number.NEGATIVE_INFINITY
  #isCounting = false

  constructor(deps: GuardDeps) {
    this.#deps = deps
  }

  look(): void {
    const { pids, memoryBytes, folder, onOver, onFolderGone } = this.#deps
    const first = pids()
    if (first.length === 0) return
    const used = first.reduce((sum, pid) => sum + memoryOf(pid), 0)
    if (freeMemory() < LEAST_FREE_BYTES) onOver(`The command was killed: the runner's memory has ${LEAST_LEFT}.`)
    else if (used > memoryBytes)
      onOver(`The command was killed: it used ${used} bytes of memory and may have ${memoryBytes}.`)
    const free = freeDisk(folder)
    if (free === null) onFolderGone()
    else if (free < LEAST_FREE_BYTES) onOver(`The command was killed: the runner's disk has ${LEAST_LEFT}.`)
    else if (!this.#isCounting && performance.now() - this.#countedAt > DISK_EVERY_MS) this.#countDisk()
  }

  /** The kernel's kill as text; null if there was none. Reported once. */
  memoryKill(): string | null {
    if (this.#deps.kills() === 0) return null
    return `A program was killed by the system: the conversation may have ${this.#deps.memoryBytes} bytes of memory.`
  }

  #countDisk(): void {
    this.#isCounting = true
    const { folder, diskBytes, onOver } = this.#deps
    const child = spawn('du', ['-s', '--block-size=1', folder], { stdio: ['ignore', 'pipe', 'ignore'] })
    let text = ''
    child.stdout.on('data', (chunk) => {
      text += String(chunk)
    })
    const done = () => {
      this.#isCounting = false
      this.#countedAt = performance.now()
      // If a folder changes during the measurement, `du` reports errors, but the sum is still usable.
      const used = Number.parseInt(text, 10)
      if (used > diskBytes)
        onOver(`The command was killed: the conversation uses ${used} bytes of disk and may have ${diskBytes}.`)
    }
    child.on('close', done)
    child.on('error', done)
  }
}

/** Null if the folder does not exist. */
function freeDisk(folder: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  } catch (error) {
    if (isCode(error, 'ENOENT')) return null
    throw error
  }
}

/** Of the machine: files in memory file systems belong to no process, and only control groups count them. */
function freeMemory(): number {
  const kilobytes = /^MemAvailable:\s+(\d+)/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]
  return kilobytes === undefined ? Number.POSITIVE_INFINITY : Number(kilobytes) * 1024
}

/** Resident memory, without the part shared with other processes. */
function memoryOf(first: number): number {
  let pages = 0
  for (const pid of descendantsOf(first)) {
    const [, resident = 0, shared = 0] = statmOf(pid).split(' ').map(Number)
    pages += Math.max(0, resident - shared)
  }
  return pages * 4096
}

/** Empty for a process that has ended. */
function statmOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/statm`, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && ['ENOENT', 'ESRCH'].includes(String(error.code))) return ''
    throw error
  }
}
