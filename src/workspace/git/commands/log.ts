import { type Arguments, parseArguments } from '../arguments.ts'
import { fatal, type GitFailure } from '../failure.ts'
import type { Visited } from '../history.ts'
import type { Invocation } from '../invocation.ts'
import { graphedLog } from '../log-graph.ts'
import { type Found, searchHistory } from '../log-search.ts'
import type { Pathspec } from '../pathspec.ts'
import { decorationsOf, isSeparated, type PrettyOptions, parseFormat, prettyCommit } from '../pretty.ts'
import { splitRevisions } from '../revision-arguments.ts'
import { range } from '../revisions.ts'
import { asksForSummary, CHANGE_OPTIONS, showChanges } from '../show-changes.ts'
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
  'graph',
  'topo-order',
  'date-order',
  'no-walk',
  'm',
  'fixed-strings|F',
  'extended-regexp|E',
  'perl-regexp|P',
  'relative-date',
]

export async function log(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('log', OPTIONS, withCounts(args))
  for (const other of ['reverse', 'no-walk']) {
    if (options.has('graph') && options.has(other))
      throw fatal(`options '--${other}' and '--graph' cannot be used together`)
  }
  const { revisions, paths } = await splitRevisions(git, options)
  const starts = await startsOf(git, options, revisions)
  const pathspec = git.pathspec(paths)
  const pretty = await prettyOptions(git, options)
  const found = await searchHistory(git, { options, starts, pathspec })
  git.out(await (options.has('graph') ? graphed : listed)(git, found, { options, pathspec, pretty }))
  return 0
}

async function listed(git: Invocation, { commits }: Found, shown: Shown): Promise<string> {
  const { format } = shown.pretty
  let text = ''
  for (const [i, visited] of commits.entries()) {
    if (i > 0 && isSeparated(format)) text += '\n'
    text += await prettyCommit(git.repo(), visited, shown.pretty)
    if (format !== 'tformat:' && !format.startsWith('format:')) text += '\n'
    text += await changesText(git, visited, shown)
  }
  return text
}

function graphed(git: Invocation, found: Found, shown: Shown): Promise<string> {
  const { format } = shown.pretty
  const end = /^t?format:/.test(format) || !isSeparated(format) ? '' : '\n'
  return graphedLog(found, {
    message: async (visited) => `${await prettyCommit(git.repo(), visited, shown.pretty)}${end}`,
    changes: (visited) => changesText(git, visited, shown),
    isSeparated: isSeparated(format),
  })
}

function showsChanges(options: Arguments): boolean {
  return options.has('patch') || options.has('unified') || (asksForSummary(options) && !options.has('no-patch'))
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

type Shown = { options: Arguments; pathspec: Pathspec; pretty: PrettyOptions }

async function changesText(
  git: Invocation,
  { commit }: Visited,
  { options, pathspec, pretty }: Shown,
): Promise<string> {
  const [parent, ...others] = commit.parents
  if (!showsChanges(options) || others.length > 0) return ''
  const before = parent === undefined ? null : (await git.repo().commit(parent)).tree
  const changes: Change[] = (await treeChanges(git.repo(), before, commit.tree)).filter(({ path }) =>
    pathspec.matches(path),
  )
  const text = await showChanges(git, changes, options)
  return text === '' || pretty.format === 'oneline' ? text : `\n${text}`
}
