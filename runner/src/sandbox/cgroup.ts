// Control groups: the kernel's limits of processor time, memory and processes for one conversation, all its programs
// together. The runner needs its own group to divide: root creates one before it becomes an ordinary user; a service
// manager can delegate one (`Delegate=yes`). If there is none, the sandbox has a lower priority and the guard watches
// the usage.

import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Limits } from '../options.ts'

type Controller = 'cpu' | 'memory' | 'pids'
const CONTROLLERS: readonly Controller[] = ['cpu', 'memory', 'pids']

/** Where the groups of conversations are created: one folder for all (version 2), or one for each controller (version 1). */
export type CgroupBase = { readonly version: 1 | 2; readonly folders: Readonly<Partial<Record<Controller, string>>> }

const ROOT = '/sys/fs/cgroup'
const PERIOD_US = 100_000
/**
 * In addition to the limit of a session, for the sandboxes' own processes, so that a session at its limit still gets
 * its next shell.
 */
const OWN_PROCESSES = 64

/**
 * Null if the system does not allow this process to create groups. Called before root becomes an ordinary user, who
 * becomes their owner.
 */
export function takeCgroups(owner: { uid: number; gid: number } | null): CgroupBase | null {
  try {
    if (owner !== null) removeLeftBehind()
    return existsSync(join(ROOT, 'cgroup.controllers')) ? unified(owner) : separate(owner)
  } catch (error) {
    // Read-only, as in most containers, or owned by another user.
    if (error instanceof Error && 'code' in error) return null
    throw error
  }
}

export function letCgroupsGo(base: CgroupBase | null): void {
  for (const folder of new Set(Object.values(base?.folders ?? {}))) removeGroup(folder)
}

/** Only root may remove root's groups: those of ended runners are removed at the next start. */
function removeLeftBehind(): void {
  for (const parent of [ROOT, ...CONTROLLERS.map((one) => join(ROOT, one))].filter((one) => existsSync(one))) {
    for (const name of readdirSync(parent)) {
      const pid = /^bellwether-runner-(\d+)$/.exec(name)?.[1]
      if (pid === undefined || existsSync(`/proc/${pid}`)) continue
      for (const inner of readdirSync(join(parent, name), { withFileTypes: true }))
        if (inner.isDirectory()) removeGroup(join(parent, name, inner.name))
      removeGroup(join(parent, name))
    }
  }
}

/**
 * Version 2: a group with processes of its own cannot be divided, so the runner moves into a leaf next to its
 * conversations.
 */
function unified(owner: { uid: number; gid: number } | null): CgroupBase | null {
  const own = join(ROOT, /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1] ?? '')
  const folder = owner === null ? own : join(ROOT, `bellwether-runner-${process.pid}`)
  if (owner !== null) mkdirSync(folder)
  const leaf = join(folder, 'runner')
  mkdirSync(leaf, { recursive: true })
  writeFileSync(join(leaf, 'cgroup.procs'), String(process.pid))
  const known = readFileSync(join(folder, 'cgroup.controllers'), 'utf8').trim().split(' ')
  const usable = CONTROLLERS.filter((one) => known.includes(one))
  if (usable.length === 0) return null
  writeFileSync(join(folder, 'cgroup.subtree_control'), usable.map((one) => `+${one}`).join(' '))
  if (owner !== null) giveTo(owner, [folder, join(folder, 'cgroup.procs'), leaf, join(leaf, 'cgroup.procs')])
  return { version: 2, folders: Object.fromEntries(usable.map((one) => [one, folder])) }
}

function separate(owner: { uid: number; gid: number } | null): CgroupBase | null {
  const folders: Partial<Record<Controller, string>> = {}
  for (const controller of CONTROLLERS) {
    const parent = join(ROOT, controller)
    if (!existsSync(join(parent, 'cgroup.procs'))) continue
    const folder = join(parent, `bellwether-runner-${process.pid}`)
    mkdirSync(folder)
    if (owner !== null) giveTo(owner, [folder, join(folder, 'cgroup.procs')])
    folders[controller] = folder
  }
  return Object.keys(folders).length === 0 ? null : { version: 1, folders }
}

function giveTo({ uid, gid }: { uid: number; gid: number }, paths: readonly string[]): void {
  for (const path of paths) chownSync(path, uid, gid)
}

/** The groups of one conversation. */
export class Cgroup {
  readonly #base: CgroupBase
  readonly #id: string
  readonly #folders: readonly string[]
  #kills = 0

  constructor(base: CgroupBase, id: string, limits: Limits) {
    this.#base = base
    this.#id = id
    this.#folders = [...new Set(Object.values(base.folders))].map((folder) => join(folder, `c-${id}`))
    for (const folder of this.#folders) mkdirSync(folder, { recursive: true })
    for (const [controller, file, value] of settings(base, limits)) {
      if (base.folders[controller] !== undefined) writeFileSync(join(this.#in(controller), file), value)
    }
    this.#kills = this.#countKills()
  }

  /** A process that writes its id into each of these files is in the groups, and so are its children. */
  get entrances(): string[] {
    return this.#folders.map((folder) => join(folder, 'cgroup.procs'))
  }

  /** The number of programs that the kernel killed because of memory since the last call. */
  newKills(): number {
    const now = this.#countKills()
    const more = now - this.#kills
    this.#kills = now
    return more
  }

  /**
   * Only possible when all processes have ended, which may take a moment; the groups are removed with the runner's at
   * the latest.
   */
  end(): void {
    for (const folder of this.#folders) removeGroup(folder)
  }

  #in(controller: Controller): string {
    return join(this.#base.folders[controller] ?? '', `c-${this.#id}`)
  }

  #countKills(): number {
    if (this.#base.folders.memory === undefined) return 0
    const file = join(this.#in('memory'), this.#base.version === 2 ? 'memory.events' : 'memory.oom_control')
    return Number(/^oom_kill (\d+)/m.exec(readFileSync(file, 'utf8'))?.[1] ?? 0)
  }
}

function settings({ version }: CgroupBase, limits: Limits): (readonly [Controller, string, string])[] {
  const quota = String(Math.round(limits.cpus * PERIOD_US))
  const memory = String(limits.memoryBytes)
  const processes = ['pids', 'pids.max', String(limits.processes + OWN_PROCESSES)] as const
  if (version === 2) return [['cpu', 'cpu.max', `${quota} ${PERIOD_US}`], ['memory', 'memory.max', memory], processes]
  return [
    ['cpu', 'cpu.cfs_period_us', String(PERIOD_US)],
    ['cpu', 'cpu.cfs_quota_us', quota],
    ['memory', 'memory.limit_in_bytes', memory],
    processes,
  ]
}

function removeGroup(folder: string): void {
  try {
    rmdirSync(folder)
  } catch (error) {
    if (
      !(
        error instanceof Error &&
        'code' in error &&
        ['EBUSY', 'ENOENT', 'EACCES', 'EPERM', 'ENOTEMPTY'].includes(String(error.code))
      )
    )
      throw error
  }
}
