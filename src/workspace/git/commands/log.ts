import { type Arguments, parseArguments } from '../arguments.ts'
import { parseMoment } from '../dates.ts'
import { fatal, type GitFailure } from '../failure.ts'
import { type Visited, walkHistory } from '../history.ts'
import type { Invocation } from '../invocation.ts'
import type { Pathspec } from '../pathspec.ts'
import { decorationsOf, isSeparated, type PrettyOptions, parseFormat, prettyCommit } from '../pretty.ts'
import { withRenames } from '../renames.ts'
import { splitRevisions } from '../revision-arguments.ts'
import { range } from '../revisions.ts'
import { asksForSummary, CHANGE_OPTIONS, showChanges, withLetters } from '../show-changes.ts'
import { type Change, treeChanges } from '../status.ts'

const OPTIONS = [
  ...CHANGE_OPTIONS,
  'max-count|n=',
  'skip=',
  'oneline',
  'pretty?',
  'format=',
  'date=',
  'abbrev-commit',
  'no-abbrev-commit',
  'abbrev=',
  'decorate?',
  'no-decorate',
  'all',
  'branches',
  'tags',
  'remotes',
  'reverse',
  'no-merges',
  'merges',
  'first-parent',
  'author=',
  'committer=',
  'grep=',
  'since|after=',
  'until|before=',
  'follow',
  'regexp-ignore-case|i',
  'invert-grep',
  'topo-order',
  'date-order',
  'no-walk',
  'm',
  'fixed-strings|F',
  'extended-regexp|E',
  'perl-regexp|P',
  'relative-date',
]
const MAX_PATTERN = 200

export async function log(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('log', OPTIONS, withCounts(args))
  const { revisions, paths } = await splitRevisions(git, options)
  const starts = await startsOf(git, options, revisions)
  const pathspec = git.pathspec(paths)
  const pretty = await prettyOptions(git, options)
  const showsChanges =
    options.has('patch') || options.has('unified') || (asksForSummary(options) && !options.has('no-patch'))
  const found = await collect(git, { options, starts, pathspec })
  const isOwn = pretty.format.startsWith('format:')
  let text = ''
  for (const [i, visited] of found.entries()) {
    if (i > 0 && isSeparated(pretty.format) && (showsChanges || !isOwn)) text += '\n'
    const shown = await prettyCommit(git.repo(), visited, pretty)
    text += shown === '' && pretty.format === 'tformat:' ? '' : `${shown}\n`
    if (showsChanges && visited.commit.parents.length < 2)
      text += await changesText(git, visited, { options, pathspec, pretty })
  }
  git.out(isOwn && !showsChanges ? text.replace(/\n$/, '') : text)
  return 0
}

/** `-5` is short for `-n 5`. */
function withCounts(args: string[]): string[] {
  const end = args.indexOf('--')
  return args.map((arg, i) => (/^-\d+$/.test(arg) && (end < 0 || i < end) ? `--max-count=${arg.slice(1)}` : arg))
}

async function startsOf(
  git: Invocation,
  options: Arguments,
  revisions: string[],
): Promise<{ include: string[]; exclude: string[] }> {
  const repo = git.repo()
  const starts = { include: [] as string[], exclude: [] as string[] }
  for (const words of revisions) {
    const { include, exclude } = await range(repo, words)
    starts.include.push(...include)
    starts.exclude.push(...exclude)
  }
  const prefixes = ['all', 'branches', 'tags', 'remotes'].filter((name) => options.has(name))
  for (const name of prefixes) {
    const prefix = name === 'all' ? 'refs/' : name === 'branches' ? 'refs/heads/' : `refs/${name}/`
    for (const [, oid] of await repo.refs.list(prefix)) starts.include.push(await repo.peel(oid, 'commit'))
  }
  const head = await repo.refs.head()
  if (options.has('all') && head.oid !== null) starts.include.push(head.oid)
  if (revisions.length > 0 || prefixes.length > 0) return starts
  if (head.oid === null) throw noCommits(head.ref)
  return { include: [head.oid], exclude: [] }
}

export function noCommits(ref: string | null): GitFailure {
  return fatal(`your current branch '${ref?.replace(/^refs\/heads\//, '')}' does not have any commits yet`)
}

export async function prettyOptions(git: Invocation, options: Arguments): Promise<PrettyOptions> {
  const given = options.has('format')
    ? options.value('format') || 'tformat:'
    : options.has('pretty')
      ? options.value('pretty')
      : null
  const format = options.has('oneline')
    ? 'oneline'
    : parseFormat(given ?? (await git.setting('format.pretty')) ?? 'medium')
  const isDecorated = (options.has('decorate') && options.value('decorate') !== 'no') || /%[dD]/.test(format)
  return {
    format,
    date: options.has('relative-date')
      ? 'relative'
      : (options.value('date') ?? (await git.setting('log.date')) ?? 'default'),
    abbreviates: (options.has('oneline') || options.has('abbrev-commit')) && !options.has('no-abbrev-commit'),
    decorations: isDecorated && !options.has('no-decorate') ? await decorationsOf(git.repo()) : null,
  }
}

type Search = { options: Arguments; starts: { include: string[]; exclude: string[] }; pathspec: Pathspec }

async function collect(git: Invocation, { options, starts, pathspec }: Search): Promise<Visited[]> {
  const repo = git.repo()
  const limit = options.has('max-count') ? Number(options.value('max-count')) : Number.POSITIVE_INFINITY
  const skip = Number(options.value('skip') ?? 0)
  if (Number.isNaN(limit) || Number.isNaN(skip)) throw fatal('the number of commits is no number')
  const touching = new Set<string>()
  const parentsOf = async (visited: Visited) => {
    const parents = options.has('first-parent') ? visited.commit.parents.slice(0, 1) : visited.commit.parents
    return pathspec.isEmpty ? parents : simplified(git, { visited, parents, pathspec, touching })
  }
  const isWanted = wantedBy(options)
  const filter = options.value('diff-filter')
  // Which commits the filter leaves is known only once their changes are.
  const enough = filter === null ? limit + skip : Number.POSITIVE_INFINITY
  let found: Visited[] = []
  let held: Visited | null = null
  const take = (visited: Visited) => {
    if ((pathspec.isEmpty || touching.has(visited.oid)) && isWanted(visited)) found.push(visited)
  }
  // Whether a commit touches the paths is known when the walk goes on to its parents.
  for await (const visited of walkHistory(repo, { ...starts, parentsOf })) {
    if (held) take(held)
    held = visited
    if (found.length >= enough) break
  }
  if (held && found.length < enough) {
    await parentsOf(held)
    take(held)
  }
  if (filter !== null) found = await changing(git, found, { filter, pathspec, renames: !options.has('no-renames') })
  const shown = found.slice(skip, skip + limit)
  return options.has('reverse') ? shown.reverse() : shown
}

type Filter = { filter: string; pathspec: Pathspec; renames: boolean }

/** The commits with a change of the kinds that the filter names. */
async function changing(git: Invocation, found: Visited[], { filter, pathspec, renames }: Filter): Promise<Visited[]> {
  const repo = git.repo()
  const kept: Visited[] = []
  for (const visited of found) {
    const [parent, ...others] = visited.commit.parents
    if (others.length > 0) continue
    const before = parent === undefined ? null : (await repo.commit(parent)).tree
    const all = (await treeChanges(repo, before, visited.commit.tree)).filter(({ path }) => pathspec.matches(path))
    if (withLetters(renames ? await withRenames(repo, all) : all, filter).length > 0) kept.push(visited)
  }
  return kept
}

type Simplifying = { visited: Visited; parents: readonly string[]; pathspec: Pathspec; touching: Set<string> }

/** Follows the parent that has the paths as they are; only where none has did the commit change them. */
async function simplified(
  git: Invocation,
  { visited, parents, pathspec, touching }: Simplifying,
): Promise<readonly string[]> {
  const repo = git.repo()
  const { oid, commit } = visited
  const differsFrom = async (parent: string | null) => {
    const tree = parent === null ? null : (await repo.commit(parent)).tree
    return (await treeChanges(repo, tree, commit.tree)).some(({ path }) => pathspec.matches(path))
  }
  if (parents.length === 0) {
    if (await differsFrom(null)) touching.add(oid)
    return []
  }
  for (const parent of parents) if (!(await differsFrom(parent))) return [parent]
  touching.add(oid)
  return parents
}

function wantedBy(options: Arguments): (visited: Visited) => boolean {
  const flags = options.has('regexp-ignore-case') ? 'i' : ''
  const pattern = (name: string) =>
    options.all(name).map((text) => patternOf(text, flags, options.has('fixed-strings')))
  const [authors, committers, words] = [pattern('author'), pattern('committer'), pattern('grep')]
  const since = options.has('since') ? parseMoment(options.value('since') ?? '') : null
  const until = options.has('until') ? parseMoment(options.value('until') ?? '') : null
  const any = (patterns: RegExp[], text: string) => patterns.length === 0 || patterns.some((regex) => regex.test(text))
  return ({ commit }) => {
    const { author, committer, message, parents } = commit
    if ((options.has('no-merges') && parents.length > 1) || (options.has('merges') && parents.length < 2)) return false
    if (since !== null && committer.seconds < since) return false
    if (until !== null && committer.seconds > until) return false
    if (words.length > 0 && any(words, message) === options.has('invert-grep')) return false
    return any(authors, `${author.name} <${author.email}>`) && any(committers, `${committer.name} <${committer.email}>`)
  }
}

/** A pattern that could take for ever, or that is none, is looked for by its letters. */
function patternOf(text: string, flags: string, isFixed: boolean): RegExp {
  const literal = text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const isRisky =
    text.length > MAX_PATTERN || /\([^)]*[*+{][^)]*\)[*+{]/.test(text) || (text.match(/[*+{]/g)?.length ?? 0) > 3
  try {
    return new RegExp(isFixed || isRisky ? literal : text, flags)
  } catch {
    // Not a pattern: then it is a text.
    return new RegExp(literal, flags)
  }
}

type Shown = { options: Arguments; pathspec: Pathspec; pretty: PrettyOptions }

async function changesText(
  git: Invocation,
  { commit }: Visited,
  { options, pathspec, pretty }: Shown,
): Promise<string> {
  const [parent] = commit.parents
  const before = parent === undefined ? null : (await git.repo().commit(parent)).tree
  const changes: Change[] = (await treeChanges(git.repo(), before, commit.tree)).filter(({ path }) =>
    pathspec.matches(path),
  )
  const text = await showChanges(git, changes, options)
  return text === '' || pretty.format === 'oneline' ? text : `\n${text}`
}
