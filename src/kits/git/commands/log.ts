import { type Arguments, parseArguments } from '../arguments.ts'
import { fatal, type GitFailure } from '../failure.ts'
import type { Visited } from '../history.ts'
import type { Invocation } from '../invocation.ts'
import { lineLog } from '../line-log-output.ts'
import { FORMAT_OPTIONS, prettyOptions } from '../log-format.ts'
import { graphedLog } from '../log-graph.ts'
import { type SearchResult, searchFile, searchHistory, wantedBy } from '../log-search.ts'
import type { Pathspec } from '../pathspec.ts'
import { PICKAXE_OPTIONS } from '../pickaxe.ts'
import { isSeparated, prettyCommit } from '../pretty.ts'
import type { PrettyOptions } from '../pretty-options.ts'
import { type ShownEntry, walkReflogs } from '../reflog-walk.ts'
import { splitRevisions } from '../revision-arguments.ts'
import { ranges } from '../revisions.ts'
import { asksForSummary, CHANGE_OPTIONS, changesBelow, showChanges, showPaired } from '../show-changes.ts'
import { onOneSide, sides } from '../sides.ts'
import { type Change, treeChanges } from '../status.ts'
import { wildcard } from '../wildcards.ts'
import { zoneIn } from '../zone-offset.ts'

/** The options that select commits. */
export const FILTER_OPTIONS = [
  'max-count|n=',
  'skip=',
  'all',
  'branches?',
  'tags?',
  'remotes?',
  'glob=',
  'reverse',
  'no-merges',
  'merges',
  'first-parent',
  'author=',
  'committer=',
  'grep=',
  'since|after=',
  'until|before=',
  'regexp-ignore-case|i',
  'invert-grep',
  'all-match',
  'topo-order',
  'date-order',
  'fixed-strings|F',
  'extended-regexp|E',
  'basic-regexp',
  'perl-regexp|P',
  'max-parents=',
  'min-parents=',
]

const OPTIONS = [
  ...CHANGE_OPTIONS,
  ...FILTER_OPTIONS,
  ...PICKAXE_OPTIONS,
  ...FORMAT_OPTIONS,
  'follow',
  'graph',
  'no-walk',
  'L=',
  'left-right',
  'left-only',
  'right-only',
  'walk-reflogs|g',
  'clear-decorations',
  'm',
]

export async function log(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('log', OPTIONS, withNot(withCounts(args)))
  for (const other of ['reverse', 'no-walk']) {
    if (options.has('graph') && options.has(other))
      throw fatal(`options '--${other}' and '--graph' cannot be used together`)
  }
  if (options.has('null') && options.has('graph')) throw fatal('git log -z with --graph is not available here')
  if (options.has('m') && !options.has('first-parent'))
    throw fatal('git log -m without --first-parent is not available here')
  refuseColoredWords(options)
  if (options.has('no-walk')) throw fatal('git log --no-walk is not available here; use git show')
  const { revisions, paths } = await splitRevisions(git, options)
  if (options.has('walk-reflogs')) return reflogged(git, { options, revisions, paths })
  const starts = await onOneSide(git, { options, revisions, starts: await startsOf(git, options, revisions) })
  const pathspec = git.pathspec(paths)
  const pretty = await prettyOptions(git, options)
  if (options.has('graph') && /%(?:<|><|>>?)\|\(/.test(pretty.format))
    throw fatal('columns of a line in a format (%<|(N)) with --graph are not available here')
  if (options.has('L')) return lineLog(git, { options, starts, pretty, paths })
  const search = { options, starts, pathspec }
  const found = options.has('follow') ? await searchFile(git, search, paths) : await searchHistory(git, search)
  const sideOf = await sides(git, options, revisions)
  if (options.has('graph') && options.has('left-right')) throw fatal('--left-right with --graph is not available here')
  pretty.sides = { of: sideOf, isShown: options.has('left-right') }
  git.out(await (options.has('graph') ? graphed : listed)(git, found, { options, pathspec, pretty }))
  return 0
}

/** The lines of a commit would also have colors. */
export function refuseColoredWords(options: Arguments): void {
  const isColored = options.has('color-words') || options.value('word-diff') === 'color'
  if (isColored) throw fatal('--color-words of commits is not available here; git diff has it')
}

/** The commits to which refs pointed, from the reflogs. */
async function reflogged(
  git: Invocation,
  { options, revisions, paths }: { options: Arguments; revisions: string[]; paths: string[] },
): Promise<number> {
  const head = await git.repo().refs.head()
  if (revisions.length === 0 && head.oid === null && !options.has('all')) throw noCommits(head.ref)
  const pretty = await prettyOptions(git, options)
  const pathspec = git.pathspec(paths)
  const date = options.has('date') || options.has('relative-date') ? pretty.date : null
  const walked = await walkReflogs(git, { options, words: revisions, date })
  const entries = new Map<Visited, ShownEntry>(walked.map((visited) => [visited, visited.entry]))
  const isWanted = wantedBy(options, zoneIn(git.env))
  const chosen: Visited[] = []
  for (const visited of walked) {
    // Dates are those of the entries.
    const committer = { ...visited.commit.committer, seconds: visited.seconds }
    if (!isWanted({ ...visited, commit: { ...visited.commit, committer } })) continue
    if (pathspec.isEmpty || (await isTouched(git, visited, pathspec))) chosen.push(visited)
  }
  const skip = Number(options.value('skip') ?? 0)
  const limit = Number(options.value('max-count') ?? Number.POSITIVE_INFINITY)
  if (Number.isNaN(limit) || Number.isNaN(skip)) throw fatal('the number of entries is no number')
  const commits = chosen.slice(skip, limit < 0 ? undefined : skip + limit)
  const found: SearchResult = { commits, parentsOf: () => [], changes: new Map() }
  pretty.entryOf = (visited) => entries.get(visited) ?? null
  git.out(await listed(git, found, { options, pathspec, pretty }))
  return 0
}

async function isTouched(git: Invocation, { commit }: Visited, pathspec: Pathspec): Promise<boolean> {
  const [parent] = commit.parents
  const before = parent === undefined ? null : (await git.repo().commit(parent)).tree
  return (await treeChanges(git.repo(), before, commit.tree)).some(({ path }) => pathspec.matches(path))
}

async function listed(git: Invocation, found: SearchResult, shown: LogFormat): Promise<string> {
  const { format } = shown.pretty
  let text = ''
  for (const [i, visited] of found.commits.entries()) {
    const end = shown.options.has('null') ? '\0' : '\n'
    if (i > 0 && isSeparated(format)) text += end
    text += await prettyCommit(git.repo(), visited, shown.pretty)
    if (format !== 'tformat:' && !format.startsWith('format:')) text += isSeparated(format) ? '\n' : end
    text += await changesText(git, visited, { ...shown, changes: found.changes })
  }
  return text
}

function graphed(git: Invocation, found: SearchResult, shown: LogFormat): Promise<string> {
  const { format } = shown.pretty
  const end = /^t?format:/.test(format) || !isSeparated(format) ? '' : '\n'
  return graphedLog(found, {
    message: async (visited) => `${await prettyCommit(git.repo(), visited, shown.pretty)}${end}`,
    changes: (visited) => changesText(git, visited, { ...shown, changes: found.changes }),
    isSeparated: isSeparated(format),
  })
}

function showsChanges(options: Arguments): boolean {
  return (
    ['patch', 'binary', 'unified'].some((name) => options.has(name)) ||
    (asksForSummary(options) && !options.has('no-patch'))
  )
}

/** `-5` is short for `-n 5`. */
export function withCounts(args: readonly string[]): string[] {
  const end = args.indexOf('--')
  return args.map((arg, i) => (/^-\d+$/.test(arg) && (end < 0 || i < end) ? `--max-count=${arg.slice(1)}` : arg))
}

/** `--not` negates each following revision, up to the next `--not`. */
export function withNot(args: readonly string[]): string[] {
  if (!args.includes('--not')) return [...args]
  const end = args.includes('--') ? args.indexOf('--') : args.length
  let isTurned = false
  const words: string[] = []
  for (const [i, arg] of args.entries()) {
    if (i < end && arg === '--not') isTurned = !isTurned
    else if (i >= end || !isTurned || arg.startsWith('-')) words.push(arg)
    else if (arg.includes('..') || NAMES_MANY.has(arg)) throw fatal(`--not ${arg} is not available here`)
    else words.push(arg.startsWith('^') ? arg.slice(1) : `^${arg}`)
  }
  const last = args.slice(0, end).lastIndexOf('--not')
  const many = args.slice(last, end).find((arg) => NAMES_MANY.has(arg))
  if (many !== undefined) throw fatal(`--not ${many} is not available here`)
  return words
}

const NAMES_MANY: ReadonlySet<string> = new Set(['--all', '--branches', '--tags', '--remotes'])

export async function startsOf(
  git: Invocation,
  options: Arguments,
  revisions: string[],
): Promise<{ include: string[]; exclude: string[] }> {
  const repo = git.repo()
  const starts = await ranges(repo, revisions)
  const prefixes = ['all', ...REF_OPTIONS].filter((name) => options.has(name))
  for (const name of prefixes) {
    const prefix = name === 'all' || name === 'glob' ? 'refs/' : name === 'branches' ? 'refs/heads/' : `refs/${name}/`
    for (const pattern of options.all(name)) {
      const isNamed = refPattern(prefix, pattern)
      for (const [ref, oid] of await repo.refs.list(prefix))
        if (isNamed(ref)) starts.include.push(await repo.peel(oid, 'commit'))
    }
  }
  const head = await repo.refs.head()
  if (options.has('all') && head.oid !== null) starts.include.push(head.oid)
  if (revisions.length > 0 || prefixes.length > 0) return starts
  if (head.oid === null) throw noCommits(head.ref)
  return { include: [head.oid], exclude: [] }
}

/** The options that stand for many refs. */
export const REF_OPTIONS = ['branches', 'tags', 'remotes', 'glob']

/** Without a wildcard, the pattern is a folder of refs. */
export function refPattern(prefix: string, pattern: string): (ref: string) => boolean {
  if (pattern === '') return () => true
  const full = pattern.startsWith(prefix) ? pattern : prefix + pattern
  const regex = wildcard(/[*?[]/.test(pattern) ? full : `${full.replace(/\/$/, '')}/*`)
  return (ref) => regex.test(ref)
}

export function noCommits(ref: string | null): GitFailure {
  return fatal(`your current branch '${ref?.replace(/^refs\/heads\//, '')}' does not have any commits yet`)
}

interface LogFormat {
  options: Arguments
  pathspec: Pathspec
  pretty: PrettyOptions
  /** Of commits that were found by their changes. */
  changes?: SearchResult['changes']
}

async function changesText(
  git: Invocation,
  { oid, commit }: Visited,
  { options, pathspec, pretty, changes: known }: LogFormat,
): Promise<string> {
  const [parent, ...others] = commit.parents
  if (!showsChanges(options) || (others.length > 0 && !options.has('first-parent'))) return ''
  const before = parent === undefined ? null : (await git.repo().commit(parent)).tree
  const chosen = known?.get(oid)
  if (chosen) return separated(await showPaired(git, chosen, options), pretty, options)
  const changes: Change[] = (await treeChanges(git.repo(), before, commit.tree)).filter(({ path }) =>
    pathspec.matches(path),
  )
  const text = await showChanges(git, changes, options)
  // An empty summary leaves its empty line.
  const isSilent = text === '' && changes.length > 0 && options.has('summary') && pretty.format !== 'oneline'
  return isSilent ? '\n' : separated(text, pretty, options)
}

function separated(text: string, { format }: PrettyOptions, options: Arguments): string {
  // A format that shows nothing of the commit needs no separator.
  const isAlone = format === 'oneline' || format === 'tformat:' || format === 'format:'
  return text === '' || isAlone ? text : changesBelow(text, options)
}
