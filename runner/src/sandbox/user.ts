// A runner started by root becomes an ordinary user before it does anything: processes that are root outside the
// sandbox could read protected files, and are not bound by process limits.

import { accessSync, chownSync, constants, lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { makeWorkspaces } from '../identity.ts'
import { type Options, UsageError } from '../options.ts'
import { type CgroupBase, takeCgroups } from './cgroup.ts'

const DEFAULT_USER = 'bellwether'
/** Unused on a usual system: above normal users and below the range for services. */
const DEFAULT_ID = 61500
const ROOTS_FOLDER = '/var/lib/bellwether-runner'

/**
 * Returns the folder of the copies, and the control groups that it may divide. Without a sandbox nothing changes: then
 * commands run in the operator's own shell.
 */
export function becomeOrdinaryUser(options: Options): { workspaces: string; cgroups: CgroupBase | null } {
  const { isolation, workspaces } = options
  if (isolation === 'none') return { workspaces, cgroups: null }
  if (process.getuid?.() !== 0) return { workspaces, cgroups: takeCgroups(null) }
  const ids = idsOf(options.user)
  const cgroups = takeCgroups(ids)
  return { workspaces: become(ids, options), cgroups }
}

function become({ uid, gid }: { uid: number; gid: number }, options: Options): string {
  const isDefault = options.workspaces === join(process.env.HOME ?? '/root', '.bellwether-runner')
  // Root's home is not accessible for other users.
  const workspaces = isDefault ? ROOTS_FOLDER : options.workspaces
  makeWorkspaces(workspaces)
  const owner = lstatSync(workspaces).uid
  if (owner !== 0 && owner !== uid)
    throw new UsageError(`--workspaces ${workspaces} belongs to user ${owner} and not to ${uid}`)
  chownSync(workspaces, uid, gid)
  process.chdir('/')
  process.setgroups?.([])
  process.setgid?.(gid)
  process.setuid?.(uid)
  if (process.getuid?.() !== uid || process.geteuid?.() !== uid) throw new Error('the user could not be changed')
  process.env.HOME = workspaces
  assertReachable(workspaces, uid)
  return workspaces
}

function assertReachable(folder: string, uid: number): void {
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch {
    const way =
      'a folder above it is closed to others. Give another one, or start the runner as the user that it is to be'
    throw new UsageError(
      `--workspaces ${folder}: the runner, started by root, becomes user ${uid}, who cannot reach it: ${way}`,
    )
  }
}

function idsOf(user: string | null): { uid: number; gid: number } {
  if (user !== null && /^\d+$/.test(user)) return ordinary(Number(user), Number(user))
  const wanted = user ?? DEFAULT_USER
  for (const line of readFileSync('/etc/passwd', 'utf8').split('\n')) {
    const [name, , uid, gid] = line.split(':')
    if (name === wanted) return ordinary(Number(uid), Number(gid))
  }
  if (user !== null) throw new UsageError(`--user ${user}: there is no such user`)
  return { uid: DEFAULT_ID, gid: DEFAULT_ID }
}

function ordinary(uid: number, gid: number): { uid: number; gid: number } {
  if (uid === 0) throw new UsageError('--user is not root')
  return { uid, gid }
}
