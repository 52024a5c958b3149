import { type Arguments, parseArguments } from '../arguments.ts'
import { fatal, GitFailure } from '../failure.ts'
import type { Visited } from '../history.ts'
import type { Invocation } from '../invocation.ts'
import { prettyOptions } from '../log-format.ts'
import { searchHistory } from '../log-search.ts'
import { prettyCommit } from '../pretty.ts'
import { splitRevisions } from '../revision-arguments.ts'
import { abbreviate } from '../revisions.ts'
import { onOneSide, sides } from '../sides.ts'
import { FILTER_OPTIONS, REF_OPTIONS, startsOf, withCounts, withNot } from './log.ts'

const OPTIONS = [
  ...FILTER_OPTIONS,
  'count',
  'left-right',
  'left-only',
  'right-only',
  'parents',
  'oneline',
  'pretty?',
  'format=',
  'abbrev-commit',
  'date=',
  'no-commit-header',
  'quiet',
]

/** Lists commits, or counts them. */
export async function revList(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('rev-list', OPTIONS, withNot(withCounts(args)))
  const { revisions, paths } = await splitRevisions(git, options)
  const names = ['all', ...REF_OPTIONS].some((name) => options.has(name))
  if (revisions.length === 0 && !names)
    throw new GitFailure('usage: git rev-list [<options>] <commit>... [--] [<path>...]', 129)
  const starts = await onOneSide(git, { options, revisions, starts: await startsOf(git, options, revisions) })
  const { commits } = await searchHistory(git, { options, starts, pathspec: git.pathspec(paths) })
  const sideOf = (await sides(git, options, revisions)) ?? (() => '>')
  // With `--quiet` nothing is counted, but the count is shown.
  if (options.has('count')) git.line(countText(options.has('quiet') ? [] : commits, options, sideOf))
  else if (!options.has('quiet'))
    for (const visited of commits)
      await show(git, visited, { options, mark: options.has('left-right') ? sideOf(visited.oid) : '' })
  return 0
}

type SideOf = NonNullable<Awaited<ReturnType<typeof sides>>>

function countText(shown: readonly Visited[], options: Arguments, sideOf: SideOf): string {
  if (!options.has('left-right')) return String(shown.length)
  const left = shown.filter(({ oid }) => sideOf(oid) === '<').length
  return `${left}\t${shown.length - left}`
}

async function show(
  git: Invocation,
  visited: Visited,
  { options, mark }: { options: Arguments; mark: string },
): Promise<void> {
  const repo = git.repo()
  const { oid, commit } = visited
  const shorten = (id: string) => (options.has('abbrev-commit') ? abbreviate(repo, id) : id)
  const parents = options.has('parents') ? commit.parents : []
  const ids = await Promise.all([oid, ...parents].map(shorten))
  const head = mark + ids.join(' ')
  if (options.has('oneline')) {
    const pretty = await prettyOptions(git, options)
    const text = await prettyCommit(repo, visited, pretty)
    git.line(mark + text)
    // A format of several lines ends with an empty one.
    if (pretty.format !== 'oneline') git.line()
    return
  }
  if (!options.has('format') && !options.has('pretty')) {
    git.line(head)
    return
  }
  const pretty = await prettyOptions(git, options)
  if (!/^t?format:/.test(pretty.format)) throw fatal(`rev-list --pretty=${pretty.format} is not available here`)
  if (!options.has('no-commit-header')) git.line(`commit ${head}`)
  git.line(await prettyCommit(repo, visited, pretty))
}
