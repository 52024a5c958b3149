// The state folder belongs to one server at a time: two runtimes on the same databases would each see half of the truth.

import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { alone } from './alone.ts'
import { Fault, messageOf, outOfRoom } from './fault.ts'
import { makeFolder, missingFolders, removeEmpty } from './make-folder.ts'
import { listProcesses } from './processes.ts'

export const MIB = 1024 * 1024
/** The size of the databases of an empty service, with space for the first conversations. */
export const LEAST_FREE_BYTES = 64 * MIB
/** The folder is taken under it, so that one looks and writes at a time. */
const LOCK = 'lock'
/** A server that is stopping needs a moment to release the folder. */
const PATIENCE_MS = 2_000

export type StateFolder = {
  readonly path: string
  /** A private folder inside it for what the start writes itself. */
  readonly own: string
  /** Gives it back, without the folders that were made for it and hold nothing. */
  release(): void
}

const ADVICE = 'Stop that one, or start with another: BELLWETHER_STATE=<folder> npm start'

type Taking = { readonly advice?: string; readonly leastFreeBytes?: number }

/** Makes and locks the folder, or throws a `Fault` that names the process that uses it, with the advice. */
export async function takeStateFolder(
  path: string,
  { advice = ADVICE, leastFreeBytes = LEAST_FREE_BYTES }: Taking = {},
): Promise<StateFolder> {
  const own = join(path, 'start')
  const [pidFile, lock] = [join(own, 'pid'), join(own, LOCK)]
  const made = missingFolders(own)
  try {
    makeFolder(path)
    makeFolder(own, 0o700)
    const { bavail, bsize } = statfsSync(own)
    if (leastFreeBytes > 0) requireRoom(path, bavail * bsize)
    chmodSync(own, 0o700)
    const deadline = Date.now() + PATIENCE_MS
    for (;;) {
      // Two that start in the same moment must not both find it free.
      const holder = await alone(lock, () => takenBy(pidFile))
      if (holder === null) break
      if (Date.now() > deadline) throw inUse(path, holder, advice)
      await sleep(50)
    }
  } catch (error) {
    // Who is refused leaves nothing behind.
    unmake(made, lock)
    if (error instanceof Fault) throw error
    if (outOfRoom(error) !== null) throw error
    throw new Fault(`BELLWETHER_STATE: the folder ${path} cannot be used: ${messageOf(error)}`)
  }
  const release = () => {
    rmSync(pidFile, { force: true })
    unmake(made, lock)
  }
  return { path, own, release }
}

/** Where a restore unpacks, and under which names it moves a former folder aside. */
export const restoringAt = (path: string): string => `${path}.restoring`
export const ASIDE = '.before-'

/**
 * Throws a `Fault` where a restore was killed before the new folder was in place, and so late that the former one was moved aside: a
 * service that started then would begin with an empty state.
 */
export function requireRestored(path: string): void {
  if (existsSync(join(path, 'v3')) || !existsSync(restoringAt(path))) return
  const beside = readdirSync(dirname(path)).filter((name) => name.startsWith(`${basename(path)}${ASIDE}`))
  const former = beside.toSorted().at(-1)
  const note = former === undefined ? '' : ` What was there before is in ${join(dirname(path), former)}.`
  throw new Fault(`A restore into ${path} was killed before it was done. Run npm run restore again.${note}`)
}

/** A runtime that cannot make its databases exits with its own stack trace, so a full disk is reported here. */
export function requireRoom(path: string, freeBytes: number): void {
  if (freeBytes >= LEAST_FREE_BYTES) return
  const [free, least] = [freeBytes, LEAST_FREE_BYTES].map((bytes) => Math.floor(bytes / MIB))
  throw new Fault(
    `The disk of ${path} is full: ${free} MiB are free, and at least ${least} are needed. Make room first.`,
  )
}

function unmake(made: readonly string[], lock: string): void {
  const [own] = made
  if (own !== undefined && existsSync(own) && readdirSync(own).every((name) => name === LOCK))
    rmSync(lock, { force: true })
  removeEmpty(made)
}

/** Whose it is; null when it is this process's from now on. */
function takenBy(pidFile: string): number | null {
  const holder = holderOf(pidFile)
  if (holder === null) writeFileSync(pidFile, `${process.pid}\n`)
  return holder
}

/** The server that wrote its id there, when it is still that server: ids are given out again. */
function holderOf(pidFile: string): number | null {
  let text: string
  try {
    text = readFileSync(pidFile, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
  const pid = Number(text.trim())
  if (pid === process.pid) return null
  return listProcesses().some((one) => one.pid === pid && /scripts.(start|dev|backup)\.mjs/.test(one.command))
    ? pid
    : null
}

function inUse(path: string, pid: number, advice: string): Fault {
  return new Fault(`The state folder ${path} is in use by process ${pid}. ${advice}`)
}
