// Selects the commits of a log.

import type { Zone } from '../../lib/clock.ts'
import type { Arguments } from './arguments.ts'
import { parseMoment } from './dates.ts'
import { fatal } from './failure.ts'
import { followedPath, followFile } from './following.ts'
import { type Visited, walkHistory } from './history.ts'
import type { Invocation } from './invocation.ts'
import type { Pathspec } from './pathspec.ts'
import { compilePattern, type Notation } from './patterns.ts'
import { changeFilter } from './pickaxe.ts'
import { type PairedChange, withRenames } from './renames.ts'
import { treeChanges } from './status.ts'
import { inTopologicalOrder } from './topology.ts'
import { zoneIn } from './zone-offset.ts'

export interface Search {
  options: Arguments
  starts: { include: string[]; exclude: string[] }
  pathspec: Pathspec
}

/** The commits of a log, in order. */
export interface SearchResult {
  commits: Visited[]
  /** For a commit in a graph: its nearest shown ancestors. */
  parentsOf: (oid: string) => string[]
  /** For a commit found by its changes: the matching changes. */
  changes: ReadonlyMap<string, PairedChange[]>
}

/** The commits that changed one file, through renames. */
export async function searchFile(
  git: Invocation,
  { options, starts }: Search,
  paths: readonly string[],
): Promise<SearchResult> {
  const repo = git.repo()
  if (options.has('graph')) throw fatal('--follow with --graph is not available here')
  const path = followedPath(repo, git.cwd, paths)
  const limit = Number(options.value('max-count') ?? Number.POSITIVE_INFINITY)
  const skip = Number(options.value('skip') ?? 0)
  const filter = changeFilter(repo, options)
  const isWanted = wantedBy(options, zoneIn(git.env))
  const changes = new Map<string, PairedChange[]>()
  const commits: Visited[] = []
  const firstParent = options.has('first-parent')
  for await (const followed of followFile(repo, path, { ...starts, firstParent })) {
    const left = filter === null ? followed.changes : await filter(followed.changes)
    if (left.length === 0 || !isWanted(followed)) continue
    commits.push(followed)
    changes.set(followed.oid, left)
    if (commits.length >= limit + skip) break
  }
  const shown = commits.slice(skip)
  return { commits: options.has('reverse') ? shown.reverse() : shown, parentsOf: () => [], changes }
}

export async function searchHistory(git: Invocation, search: Search): Promise<SearchResult> {
  const { options, pathspec } = search
  const limit = options.has('max-count') ? Number(options.value('max-count')) : Number.POSITIVE_INFINITY
  const skip = Number(options.value('skip') ?? 0)
  if (Number.isNaN(limit) || Number.isNaN(skip)) throw fatal('the number of commits is no number')
  const isOrdered = ['graph', 'topo-order', 'date-order'].some((name) => options.has(name))
  const filter = changeFilter(git.repo(), options)
  const isWanted = wantedBy(options, zoneIn(git.env))
  const walk: Walk = { parents: new Map(), before: new Map(), touching: new Set() }
  const isTouching = ({ oid }: Visited) => pathspec.isEmpty || walk.touching.has(oid)
  const isShown = (visited: Visited) => isTouching(visited) && isWanted(visited)
  let found = await walked(git, search, {
    walk,
    isKept: isOrdered ? () => true : isShown,
    // The result of the filter needs the changes of the commits, and an order needs all commits.
    enough: filter === null && !isOrdered ? limit + skip : Number.POSITIVE_INFINITY,
  })
  if (isOrdered) {
    found = inTopologicalOrder(found, { parents: walk.before, byDate: options.has('date-order') }).filter(isShown)
  }
  const changes = new Map<string, PairedChange[]>()
  if (filter !== null)
    found = await changing(git, found, { filter, pathspec, renames: !options.has('no-renames'), changes })
  const commits = found.slice(skip, skip + limit)
  return {
    changes,
    commits: options.has('reverse') ? commits.reverse() : commits,
    parentsOf: nearestShown(walk, { shown: new Set(found.map(({ oid }) => oid)), hasPaths: !pathspec.isEmpty }),
  }
}

interface Walk {
  /** The parents that the walk followed from a commit. */
  parents: Map<string, readonly string[]>
  /** Commits that must come later in a sorted list, including parents that the walk did not follow. */
  before: Map<string, readonly string[]>
  /** The commits that changed something below the given paths. */
  touching: Set<string>
}

type Walking = { walk: Walk; isKept: (visited: Visited) => boolean; enough: number }

async function walked(
  git: Invocation,
  { options, starts, pathspec }: Search,
  { walk, isKept, enough }: Walking,
): Promise<Visited[]> {
  const parentsOf = async (visited: Visited) => {
    const all = options.has('first-parent') ? visited.commit.parents.slice(0, 1) : visited.commit.parents
    const followed = pathspec.isEmpty
      ? all
      : await simplified(git, { visited, parents: all, pathspec, touching: walk.touching })
    walk.parents.set(visited.oid, followed)
    const isPassed = !pathspec.isEmpty && !walk.touching.has(visited.oid)
    const aside = options.has('first-parent') && !isPassed ? visited.commit.parents.slice(1) : []
    walk.before.set(visited.oid, [...followed, ...aside])
    return followed
  }
  const found: Visited[] = []
  let held: Visited | null = null
  // Whether a commit touches the paths is known when the walk continues with its parents.
  for await (const visited of walkHistory(git.repo(), { ...starts, parentsOf })) {
    if (held && isKept(held)) found.push(held)
    held = visited
    if (found.length >= enough) break
  }
  if (held && found.length < enough) {
    await parentsOf(held)
    if (isKept(held)) found.push(held)
  }
  return found
}

function nearestShown(
  { parents, touching }: Walk,
  { shown, hasPaths }: { shown: ReadonlySet<string>; hasPaths: boolean },
): SearchResult['parentsOf'] {
  // A commit that does not touch the paths has at most one parent; the line skips it.
  const nearest = (oid: string | undefined) => {
    let at = oid
    while (hasPaths && at !== undefined && !touching.has(at)) at = parents.get(at)?.[0]
    return at
  }
  return (oid) => {
    const found = (parents.get(oid) ?? []).map(nearest).filter((parent) => parent !== undefined)
    return [...new Set(found)].filter((parent) => shown.has(parent))
  }
}

type Filter = {
  filter: NonNullable<ReturnType<typeof changeFilter>>
  pathspec: Pathspec
  renames: boolean
  changes: Map<string, PairedChange[]>
}

/** The commits with a change that passes the filter. */
async function changing(
  git: Invocation,
  found: Visited[],
  { filter, pathspec, renames, changes }: Filter,
): Promise<Visited[]> {
  const repo = git.repo()
  const kept: Visited[] = []
  for (const visited of found) {
    const [parent, ...others] = visited.commit.parents
    if (others.length > 0) continue
    const before = parent === undefined ? null : (await repo.commit(parent)).tree
    const all = (await treeChanges(repo, before, visited.commit.tree, (folder) => pathspec.mayHold(folder))).filter(
      ({ path }) => pathspec.matches(path),
    )
    const left = await filter(renames ? await withRenames(repo, all) : all)
    if (left.length === 0) continue
    kept.push(visited)
    changes.set(visited.oid, left)
  }
  return kept
}

type Simplifying = { visited: Visited; parents: readonly string[]; pathspec: Pathspec; touching: Set<string> }

/** Follows the parent with the same versions of the paths; only if there is none, the commit changed them. */
async function simplified(
  git: Invocation,
  { visited, parents, pathspec, touching }: Simplifying,
): Promise<readonly string[]> {
  const repo = git.repo()
  const { oid, commit } = visited
  const differsFrom = async (parent: string | null) => {
    const tree = parent === null ? null : (await repo.commit(parent)).tree
    return (await treeChanges(repo, tree, commit.tree, (folder) => pathspec.mayHold(folder))).some(({ path }) =>
      pathspec.matches(path),
    )
  }
  if (parents.length === 0) {
    if (await differsFrom(null)) touching.add(oid)
    return []
  }
  for (const parent of parents) if (!(await differsFrom(parent))) return [parent]
  touching.add(oid)
  return parents
}

function notationOf(options: Arguments): Notation {
  if (options.has('perl-regexp')) return 'perl'
  if (options.has('fixed-strings')) return 'fixed'
  return options.has('extended-regexp') ? 'extended' : 'basic'
}

export function wantedBy(options: Arguments, clock: Zone): (visited: Visited) => boolean {
  const how = { notation: notationOf(options), ignoresCase: options.has('regexp-ignore-case'), flags: 'm' }
  const pattern = (name: string) => options.all(name).map((text) => compilePattern(text, how))
  const [authors, committers, words] = [pattern('author'), pattern('committer'), pattern('grep')]
  const limit = {
    least: Number(options.value('min-parents') ?? 0),
    most: Number(options.value('max-parents') ?? Number.POSITIVE_INFINITY),
  }
  const since = options.has('since') ? parseMoment(options.value('since') ?? '', clock) : null
  const until = options.has('until') ? parseMoment(options.value('until') ?? '', clock) : null
  const any = (patterns: RegExp[], text: string) => patterns.length === 0 || patterns.some((regex) => regex.test(text))
  return ({ commit }) => {
    const { author, committer, message, parents } = commit
    if (parents.length < limit.least || parents.length > limit.most) return false
    if ((options.has('no-merges') && parents.length > 1) || (options.has('merges') && parents.length < 2)) return false
    if (since !== null && committer.seconds < since) return false
    if (until !== null && committer.seconds > until) return false
    const isSaid = options.has('all-match') ? words.every((regex) => regex.test(message)) : any(words, message)
    if (words.length > 0 && isSaid === options.has('invert-grep')) return false
    return any(authors, `${author.name} <${author.email}>`) && any(committers, `${committer.name} <${committer.email}>`)
  }
}
