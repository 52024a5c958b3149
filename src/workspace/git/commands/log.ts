import { type Arguments, parseArguments } from '../arguments.ts'
import { fatal, type GitFailure } from '../failure.ts'
import type { Visited } from '../history.ts'
import type { Invocation } from '../invocation.ts'
import { lineLog } from '../line-log-output.ts'
import { graphedLog } from '../log-graph.ts'
import { type Found, searchFile, searchHistory, wantedBy } from '../log-search.ts'
import { notesOf, notesRef, type ShownNotes } from '../notes.ts'
import type { Pathspec } from '../pathspec.ts'
import { PICKAXE_OPTIONS } from '../pickaxe.ts'
import { decorationsOf, isSeparated, type PrettyOptions, parseFormat, prettyCommit } from '../pretty.ts'
import { type ShownEntry, walkReflogs } from '../reflog-walk.ts'
import { splitRevisions } from '../revision-arguments.ts'
import { range } from '../revisions.ts'
import {
  asksForSummary,
  CHANGE_OPTIONS,
  changesBelow,
  idLength,
  refuseColor,
  showChanges,
  showPaired,
} from '../show-changes.ts'
import { onOneSide, sides } from '../sides.ts'
import { type Change, treeChanges } from '../status.ts'

/** Which commits are shown. */
export const FILTER_OPTIONS = [
  'max-count|n=',
  'skip=',
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
  'regexp-ignore-case|i',
  'invert-grep',
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
  'oneline',
  'pretty?',
  'format=',
  'date=',
  'abbrev-commit',
  'no-abbrev-commit',
  'abbrev?',
  'no-abbrev',
  'decorate?',
  'no-decorate',
  'follow',
  'graph',
  'no-walk',
  'L=',
  'relative-date',
  'notes?',
  'show-notes',
  'no-notes',
  'left-right',
  'left-only',
  'right-only',
  'walk-reflogs|g',
]

export async function log(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('log', OPTIONS, withNot(withCounts(args)))
  for (const other of ['reverse', 'no-walk']) {
    if (options.has('graph') && options.has(other))
      throw fatal(`options '--${other}' and '--graph' cannot be used together`)
  }
  if (options.has('null')) throw fatal('git log -z is not available here')
  if (options.has('no-walk')) throw fatal('git log --no-walk is not available here; use git show')
  const { revisions, paths } = await splitRevisions(git, options)
  if (options.has('walk-reflogs')) return reflogged(git, { options, revisions, paths })
  const starts = await onOneSide(git, { options, revisions, starts: await startsOf(git, options, revisions) })
  const pathspec = git.pathspec(paths)
  const pretty = await prettyOptions(git, options)
  if (options.has('L')) return lineLog(git, { options, starts, pretty, paths })
  const search = { options, starts, pathspec }
  const found = options.has('follow') ? await searchFile(git, search, paths) : await searchHistory(git, search)
  const sideOf = await sides(git, options, revisions)
  if (options.has('graph') && options.has('left-right')) throw fatal('--left-right with --graph is not available here')
  pretty.sides = { of: sideOf, isShown: options.has('left-right') }
  git.out(await (options.has('graph') ? graphed : listed)(git, found, { options, pathspec, pretty }))
  return 0
}

/** The commits that refs pointed at, by the logs of the refs. */
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
  const isWanted = wantedBy(options)
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
  const found: Found = { commits, parentsOf: () => [], changes: new Map() }
  pretty.entryOf = (visited) => entries.get(visited) ?? null
  git.out(await listed(git, found, { options, pathspec, pretty }))
  return 0
}

async function isTouched(git: Invocation, { commit }: Visited, pathspec: Pathspec): Promise<boolean> {
  const [parent] = commit.parents
  const before = parent === undefined ? null : (await git.repo().commit(parent)).tree
  return (await treeChanges(git.repo(), before, commit.tree)).some(({ path }) => pathspec.matches(path))
}

async function listed(git: Invocation, found: Found, shown: Shown): Promise<string> {
  const { format } = shown.pretty
  let text = ''
  for (const [i, visited] of found.commits.entries()) {
    if (i > 0 && isSeparated(format)) text += '\n'
    text += await prettyCommit(git.repo(), visited, shown.pretty)
    if (format !== 'tformat:' && !format.startsWith('format:')) text += '\n'
    text += await changesText(git, visited, { ...shown, changes: found.changes })
  }
  return text
}

function graphed(git: Invocation, found: Found, shown: Shown): Promise<string> {
  const { format } = shown.pretty
  const end = /^t?format:/.test(format) || !isSeparated(format) ? '' : '\n'
  return graphedLog(found, {
    message: async (visited) => `${await prettyCommit(git.repo(), visited, shown.pretty)}${end}`,
    changes: (visited) => changesText(git, visited, { ...shown, changes: found.changes }),
    isSeparated: isSeparated(format),
  })
}

function showsChanges(options: Arguments): boolean {
  return options.has('patch') || options.has('unified') || (asksForSummary(options) && !options.has('no-patch'))
}

/** `-5` is short for `-n 5`. */
export function withCounts(args: readonly string[]): string[] {
  const end = args.indexOf('--')
  return args.map((arg, i) => (/^-\d+$/.test(arg) && (end < 0 || i < end) ? `--max-count=${arg.slice(1)}` : arg))
}

/** `--not` turns round each revision behind it, up to the next one. */
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
  refuseColor(options)
  if (options.value('decorate') === 'full') throw fatal('--decorate=full is not available here')
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
    abbreviates:
      (options.has('oneline') || options.has('abbrev-commit')) &&
      !options.has('no-abbrev') &&
      (options.has('oneline') || !options.has('no-abbrev-commit')),
    idLength: idLength(options),
    notes: await shownNotes(git, options, { format, isNamed: given !== null || options.has('oneline') }),
    decorations: isDecorated && !options.has('no-decorate') ? await decorationsOf(git.repo()) : null,
  }
}

/** Formats of one's own show them where they say so. */
async function shownNotes(
  git: Invocation,
  options: Arguments,
  { format, isNamed }: { format: string; isNamed: boolean },
): Promise<ShownNotes | null> {
  const given = options.value('notes') ?? ''
  const isAsked = options.has('notes') || options.has('show-notes') || /%N/.test(format)
  if (options.has('no-notes') || (isNamed && !isAsked)) return null
  const ref = given === '' ? await notesRef(git) : given.startsWith('refs/') ? given : `refs/notes/${given}`
  return { ref, byCommit: await notesOf(git.repo(), ref) }
}

interface Shown {
  options: Arguments
  pathspec: Pathspec
  pretty: PrettyOptions
  /** Of commits that were found by their changes. */
  changes?: Found['changes']
}

async function changesText(
  git: Invocation,
  { oid, commit }: Visited,
  { options, pathspec, pretty, changes: known }: Shown,
): Promise<string> {
  const [parent, ...others] = commit.parents
  if (!showsChanges(options) || others.length > 0) return ''
  const before = parent === undefined ? null : (await git.repo().commit(parent)).tree
  const chosen = known?.get(oid)
  if (chosen) return separated(await showPaired(git, chosen, options), pretty, options)
  const changes: Change[] = (await treeChanges(git.repo(), before, commit.tree)).filter(({ path }) =>
    pathspec.matches(path),
  )
  return separated(await showChanges(git, changes, options), pretty, options)
}

function separated(text: string, { format }: PrettyOptions, options: Arguments): string {
  return text === '' || format === 'oneline' ? text : changesBelow(text, options)
}
