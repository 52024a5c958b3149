// The priority of a program's process: a process that waits for I/O has precedence, one that computes for long has the lowest priority.
// Where Linux puts each session in a scheduling group (autogroup), a priority only counts within the session. A program in its
// own session would then get as much CPU as the whole service, so the group's priority is lowered as well.

import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { usageOf } from '../start/usage.ts'

const AT_FIRST = constants.priority.PRIORITY_BELOW_NORMAL / 2
const OF_LONG = constants.priority.PRIORITY_LOW
/** A lower priority would not help the service more, and would stop a program on a busy machine. */
const OF_LONG_SESSION = constants.priority.PRIORITY_BELOW_NORMAL
/** CPU time, not wall-clock time, because on a busy machine a short program takes long. */
const LONG_MS = 300

/** Linux allows unprivileged processes ten changes of group priorities per second, for all processes together. */
const RETRY_MS = 120
const ATTEMPTS = 20

export function lowerAtFirst(pid: number): void {
  lower(pid, AT_FIRST)
}

/** Watches the leader of a session until it has computed for long; returns a function that stops watching. */
export function lowerWhenLong(pid: number): () => void {
  const before = usageOf(pid)?.ranMs ?? 0
  const timer = setInterval(() => {
    const usage = usageOf(pid)
    // Without CPU times from the system, wall-clock time is used.
    if (usage !== null && usage.ranMs - before < LONG_MS) return
    clearInterval(timer)
    for (const thread of threadsOf(pid)) lower(thread, OF_LONG)
    lowerSession(pid, OF_LONG_SESSION)
  }, LONG_MS)
  return () => clearInterval(timer)
}

/** Where each thread has its own priority, this includes the threads for garbage collection and compilation. */
function threadsOf(pid: number): number[] {
  const tasks = `/proc/${pid}/task`
  if (!existsSync('/proc/self/task')) return [pid]
  return unlessRefused(() => readdirSync(tasks).map(Number)) ?? []
}

/** Ignores a process that has ended meanwhile. */
function lower(pid: number, priority: number): void {
  try {
    setPriority(pid, priority)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_SYSTEM_ERROR')) throw error
  }
}

function lowerSession(pid: number, priority: number, attempt = 1): void {
  const file = `/proc/${pid}/autogroup`
  if (!existsSync(file)) return
  const isHeard = unlessRefused(() => {
    writeFileSync(file, String(priority))
    return true
  })
  if (isHeard === null && attempt < ATTEMPTS) {
    setTimeout(() => lowerSession(pid, priority, attempt + 1), RETRY_MS).unref()
  }
}

/** Null for a process that has ended, or without permission. */
function unlessRefused<T>(act: () => T): T | null {
  try {
    return act()
  } catch (error) {
    if (error instanceof Error && 'code' in error && REFUSALS.has(String(error.code))) return null
    throw error
  }
}

const REFUSALS: ReadonlySet<string> = new Set([
  'ENOENT',
  'ESRCH',
  'EAGAIN',
  'EPERM',
  'EACCES',
  'EINVAL',
  'EIO',
  'EROFS',
])
