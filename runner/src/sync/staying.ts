// What stays on the runner by choice: names of a list, unless git tracks what stands there, and what git ignores beyond a size. Git
// says which, by its own rules and in the sandbox of the conversation, because a repository's configuration can name programs.
// It is asked only when something large came or the rules changed: most looks cost nothing for this.

import type { Manifest } from './manifest.ts'
import type { Walk } from './walk.ts'

/** Runs git in a folder of the workspace, and answers with its output cut at each NUL; null where it failed. */
export type AskGit = (folder: string, args: readonly string[]) => Promise<string[] | null>

/** Ignored files and folders are sent up to this size, each file counted as a block of a disk at least. */
export const IGNORED_BYTES = 1024 * 1024
const BLOCK_BYTES = 4096
/** Each question is a process. */
const MAX_REPOSITORIES = 20
const MAX_ASKED_PATHS = 200

const IGNORED = ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z']

export class Staying {
  /** Ignored and too large, from the top of the workspace. */
  paths: ReadonlySet<string>
  /** What git tracks where a name of the list stands, with the folders above it. */
  tracked: ReadonlySet<string>
  /** What stayed until the rules changed. It does so on where git cannot be asked, at the end of a runner for one. */
  #before: ReadonlySet<string> = new Set()
  /** Of new files since git was last asked. */
  #newBytes = 0
  #rules: string | null = null

  constructor(paths: readonly string[] = [], tracked: readonly string[] = []) {
    this.paths = new Set(paths)
    this.tracked = new Set(tracked)
  }

  /** Whether the walk has to be made again, because more of what stays is to be seen than it saw. */
  async followRules(found: Walk, ask: AskGit): Promise<boolean> {
    if (found.left.length === 0) {
      this.paths = new Set()
      this.#rules = null
      return false
    }
    const rules = rulesIn(found)
    if (rules === this.#rules) return false
    const isFirst = this.#rules === null
    this.#rules = rules
    const before = this.tracked
    this.tracked = await trackedIn(found, ask)
    const isMore = [...this.tracked].some((path) => !before.has(path))
    if (isFirst && !isMore) return false
    const hadPaths = this.paths.size > 0
    // They are judged anew.
    if (hadPaths) {
      this.#before = this.paths
      this.paths = new Set()
    }
    this.#newBytes = hadPaths ? Number.POSITIVE_INFINITY : this.#newBytes
    return isMore || hadPaths
  }

  /** Takes out of the walk what is new, ignored and too large; answers with what stays from now on and did not before. */
  async leaveOut(found: Walk, manifest: Manifest, ask: AskGit): Promise<string[]> {
    this.#newBytes += newBytes(found, manifest)
    if (this.#newBytes <= IGNORED_BYTES) return []
    this.#newBytes = 0
    const ignored = new Set<string>()
    for (const top of repositoriesIn(found)) {
      const prefix = top === '' ? '' : `${top}/`
      const told = await ask(top, IGNORED)
      for (const path of told ?? []) ignored.add(prefix + path.replace(/\/$/, ''))
      if (told === null) for (const path of this.#before) if (path.startsWith(prefix)) ignored.add(path)
    }
    this.#before = new Set()
    const large = tooLarge(found, ignored)
    if (large.length === 0) return []
    this.paths = new Set([...this.paths, ...large])
    for (const path of found.seen.keys()) {
      if (!manifest.has(path) && topIn(path, this.paths) !== null) found.seen.delete(path)
    }
    found.left.push(...large)
    return large
  }
}

function weightOf({ seen }: Walk, path: string): number {
  const entry = seen.get(path)
  return entry === undefined || entry.kind === 'directory' ? 0 : Math.max(entry.stamp.size, BLOCK_BYTES)
}

function newBytes(found: Walk, manifest: Manifest): number {
  let sum = 0
  for (const path of found.seen.keys()) if (!manifest.has(path)) sum += weightOf(found, path)
  return sum
}

function tooLarge(found: Walk, ignored: ReadonlySet<string>): string[] {
  const sizes = new Map<string, number>()
  if (ignored.size === 0) return []
  for (const path of found.seen.keys()) {
    const top = topIn(path, ignored)
    if (top !== null) sizes.set(top, (sizes.get(top) ?? 0) + weightOf(found, path))
  }
  return [...sizes].filter(([, size]) => size > IGNORED_BYTES).map(([path]) => path)
}

/** The path itself or the folder above it that is in the set. */
function topIn(path: string, set: ReadonlySet<string>): string | null {
  if (set.size === 0) return null
  for (let cut = path.indexOf('/'); cut > 0; cut = path.indexOf('/', cut + 1)) {
    if (set.has(path.slice(0, cut))) return path.slice(0, cut)
  }
  return set.has(path) ? path : null
}

/** The folders that have a `.git`, '' for the workspace itself. */
function repositoriesIn({ seen }: Walk): string[] {
  const tops: string[] = []
  for (const path of seen.keys()) {
    if (path === '.git') tops.push('')
    else if (path.endsWith('/.git')) tops.push(path.slice(0, -5))
    if (tops.length >= MAX_REPOSITORIES) break
  }
  return tops
}

/** Changes whenever git may answer otherwise: with what stays, and with the files of its rules. */
function rulesIn({ seen, left }: Walk): string {
  const stamps: string[] = []
  for (const [path, { stamp }] of seen) {
    if (/(^|\/)(\.gitignore|\.git\/index|\.git\/info\/exclude)$/.test(path))
      stamps.push(`${path} ${stamp.ctimeNs} ${stamp.ino}`)
  }
  return JSON.stringify([left, stamps])
}

async function trackedIn(found: Walk, ask: AskGit): Promise<Set<string>> {
  const tracked = new Set<string>()
  for (const top of repositoriesIn(found)) {
    const prefix = top === '' ? '' : `${top}/`
    const inside = found.left.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length))
    if (inside.length === 0) continue
    const args = ['--literal-pathspecs', 'ls-files', '-z', '--', ...inside.slice(0, MAX_ASKED_PATHS)]
    for (const path of (await ask(top, args)) ?? []) {
      for (let cut = path.indexOf('/'); cut > 0; cut = path.indexOf('/', cut + 1))
        tracked.add(prefix + path.slice(0, cut))
      tracked.add(prefix + path)
    }
  }
  return tracked
}
