// What is not synced by choice: names of a list, unless git tracks them, and files ignored by git beyond a size. Git
// decides with its own rules, in the conversation's sandbox, because a repository's configuration can name programs. It
// is run only after a large file was added or the rules changed, so most walks need no process.

import type { Manifest } from './manifest.ts'
import type { Walk } from './walk.ts'

/** Runs git in a folder of the workspace, and returns its output split at each NUL; null if it failed. */
export type AskGit = (folder: string, args: readonly string[]) => Promise<string[] | null>

/** Ignored files and folders are sent up to this size; each file counts as at least one disk block. */
export const IGNORED_BYTES = 1024 * 1024
const BLOCK_BYTES = 4096
/** Each question is a process. */
const MAX_REPOSITORIES = 20
const MAX_ASKED_PATHS = 200

const IGNORED = ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z']

export class Staying {
  /** Ignored and too large, from the top of the workspace. */
  paths: ReadonlySet<string>
  /** Paths with a listed name that git tracks, with the folders above them. */
  tracked: ReadonlySet<string>
  /** The paths before the rules changed. They stay if git cannot be run, for example at the end of a runner. */
  #before: ReadonlySet<string> = new Set()
  /** Of new files since git was last run. */
  #newBytes = 0
  #rules: string | null = null

  constructor(paths: readonly string[] = [], tracked: readonly string[] = []) {
    this.paths = new Set(paths)
    this.tracked = new Set(tracked)
  }

  /** Whether the walk must be repeated, because more of the excluded paths must be walked. */
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
    // They are classified again.
    if (hadPaths) {
      this.#before = this.paths
      this.paths = new Set()
    }
    this.#newBytes = hadPaths ? Number.POSITIVE_INFINITY : this.#newBytes
    return isMore || hadPaths
  }

  /** Removes new, ignored and too large files from the walk; returns the newly excluded paths. */
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

/** The path itself, or the folder above it that is in the set. */
function topIn(path: string, set: ReadonlySet<string>): string | null {
  if (set.size === 0) return null
  for (let cut = path.indexOf('/'); cut > 0; cut = path.indexOf('/', cut + 1)) {
    if (set.has(path.slice(0, cut))) return path.slice(0, cut)
  }
  return set.has(path) ? path : null
}

/** The folders with a `.git`, '' for the workspace itself. */
function repositoriesIn({ seen }: Walk): string[] {
  const tops: string[] = []
  for (const path of seen.keys()) {
    if (path === '.git') tops.push('')
    else if (path.endsWith('/.git')) tops.push(path.slice(0, -5))
    if (tops.length >= MAX_REPOSITORIES) break
  }
  return tops
}

/** Changes whenever git's answer may change: with the excluded paths, and with the files of its rules. */
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
