// The side of commits in `a...b`.

import type { Arguments } from './arguments.ts'
import { fatal } from './failure.ts'
import { ancestorsOf } from './history.ts'
import type { Invocation } from './invocation.ts'
import { commitId } from './revisions.ts'

export type SideOf = (oid: string) => '<' | '>'

/** Null if it is not requested. */
export async function sides(git: Invocation, options: Arguments, revisions: readonly string[]): Promise<SideOf | null> {
  if (!['left-right', 'left-only', 'right-only'].some((name) => options.has(name))) return null
  const words = revisions.filter((word) => word.includes('...'))
  if (words.length > 1) throw fatal('more than one symmetric difference is not available here')
  const [left = ''] = (words[0] ?? '').split('...')
  if (words.length === 0) return () => '>'
  const within = await ancestorsOf(git.repo(), [await commitId(git.repo(), left || 'HEAD')])
  return (oid) => (within.has(oid) ? '<' : '>')
}

export type Starts = { include: string[]; exclude: string[] }

/** With `--left-only` or `--right-only`, commits of the other side are excluded from the start. */
export async function onOneSide(
  git: Invocation,
  { options, revisions, starts }: { options: Arguments; revisions: readonly string[]; starts: Starts },
): Promise<Starts> {
  if (!options.has('left-only') && !options.has('right-only')) return starts
  const [left, right] = revisions.find((word) => word.includes('...'))?.split('...') ?? []
  // Without sides nothing is on the left; the walk is not needed for this.
  if (left === undefined)
    return options.has('left-only') && starts.exclude.length > 0 ? { include: [], exclude: [] } : starts
  const other = await commitId(git.repo(), (options.has('left-only') ? right : left) || 'HEAD')
  return { include: starts.include.filter((oid) => oid !== other), exclude: [...starts.exclude, other] }
}
