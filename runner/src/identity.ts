// The folder of a runner: its permanent id, and a mark of the process that uses the folder.

import { randomBytes } from 'node:crypto'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { RunnerId } from '../../src/runners/wire.ts'
import { messageOf } from './log.ts'
import { UsageError } from './options.ts'

export class FolderInUse extends Error {}

/** As a single name of a folder, whatever the service sends. */
export function isConversationId(id: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(id)
}

export function takeFolder(folder: string): { id: string; letGo: () => void } {
  makeWorkspaces(folder)
  const mark = join(folder, 'runner.pid')
  const holder = existsSync(mark) ? readFileSync(mark, 'utf8').trim() : ''
  if (holder !== '' && holder === processMark(Number(holder.split(' ')[0]))) {
    throw new FolderInUse(
      `${folder} is used by the runner with process id ${holder.split(' ')[0]}: give this one another with --workspaces, or BELLWETHER_RUNNER_WORKSPACES under npm start`,
    )
  }
  const id = usable(folder, () => {
    writeFileSync(mark, `${processMark(process.pid)}\n`, { mode: 0o600 })
    return keptId(join(folder, 'runner-id'))
  })
  return { id, letGo: () => rmSync(mark, { force: true }) }
}

/** Throws a `UsageError` that names the folder and why it cannot be used. */
export function makeWorkspaces(folder: string): void {
  usable(folder, () => {
    makeWithParents(folder)
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  })
}

function usable<T>(folder: string, action: () => T): T {
  try {
    return action()
  } catch (error) {
    throw new UsageError(`--workspaces ${folder} cannot be used: ${messageOf(error)}`)
  }
}

/** Node's own recursion never ends if a parent cannot be created, for example below /proc. */
function makeWithParents(folder: string): void {
  if (existsSync(folder)) return
  const parent = dirname(folder)
  if (parent !== folder) makeWithParents(parent)
  mkdirSync(folder, { mode: 0o700 })
}

export function heldConversations(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() && isConversationId(entry.name) ? [entry.name] : [],
  )
}

function keptId(file: string): string {
  const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
  if (RunnerId.safeParse(kept).success) return kept
  const id = randomBytes(16).toString('hex')
  writeFileSync(`${file}.new`, `${id}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
  return id
}

/** Process ids are reused; together with the start time they are unique. Empty if there is no such process. */
function processMark(pid: number): string {
  const file = `/proc/${pid}/stat`
  if (!existsSync('/proc/self/stat')) return String(pid)
  if (!existsSync(file)) return ''
  const stat = readFileSync(file, 'utf8')
  return `${pid} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`
}
