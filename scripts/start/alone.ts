import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'

const LOOK_EVERY_MS = 50
const SQLITE_BUSY = 5

type Patience = { readonly signal?: AbortSignal | undefined; readonly onWait?: () => void }

/**
 * Waits until no other process holds the lock of this file, then runs the work. The lock is that of an empty SQLite database, so
 * the operating system releases it when the process ends, also after a crash.
 */
export async function alone<T>(
  file: string,
  work: () => T | Promise<T>,
  { signal, onWait }: Patience = {},
): Promise<T> {
  const lock = new DatabaseSync(file)
  try {
    for (let isTold = false; !isTaken(lock); isTold = true) {
      if (!isTold) onWait?.()
      await sleep(LOOK_EVERY_MS, undefined, { signal })
    }
    return await work()
  } finally {
    lock.close()
  }
}

function isTaken(lock: DatabaseSync): boolean {
  try {
    lock.exec('BEGIN EXCLUSIVE')
    return true
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return false
    throw error
  }
}
