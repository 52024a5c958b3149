// The priority of a program's process: a process that waits for input goes first, one that computes for long goes last.
// Where Linux makes a group of each session (autogroup), a priority counts within the session alone. A program in a session
// of its own would then get as much as the whole service, so its group is lowered as well.

import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { usageOf } from '../start/usage.ts'

const AT_FIRST = constants.priority.PRIORITY_BELOW_NORMAL / 2
const OF_LONG = constants.priority.PRIORITY_LOW
/** Lower would bring the service nothing more, and a program to a standstill on a machine that others keep busy. */
const OF_LONG_SESSION = constants.priority.PRIORITY_BELOW_NORMAL
/** Of the processor, not of the clock: on a busy machine a short program takes long. */
const LONG_MS = 300

/** Who may not set what it likes is heard ten times a second, all of them together. */
const RETRY_MS = 120
const ATTEMPTS = 20

export function lowerAtFirst(pid: number): void {
  lower(pid, AT_FIRST)
}

/** Looks after the leader of a session until it has computed for long; answers with what ends that. */
export function lowerWhenLong(pid: number): () => void {
  const before = usageOf(pid)?.ranMs ?? 0
  const timer = setInterval(() => {
    const usage = usageOf(pid)
    // Where the machine does not tell, the clock has to.
    if (usage !== null && usage.ranMs - before < LONG_MS) return
    clearInterval(timer)
    for (const thread of threadsOf(pid)) lower(thread, OF_LONG)
    lowerSession(pid, OF_LONG_SESSION)
  }, LONG_MS)
  return () => clearInterval(timer)
}

/** Where a thread has a priority of its own, those that collect garbage and compile count as well. */
function threadsOf(pid: number): number[] {
  const tasks = `/proc/${pid}/task`
  if (!existsSync('/proc/self/task')) return [pid]
  return unlessRefused(() => readdirSync(tasks).map(Number)) ?? []
}

/** One that has ended meanwhile needs no priority. */
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

/** Null for a process that has ended, and where we may not. */
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
