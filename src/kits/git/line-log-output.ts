// The log of line ranges: `git log -L`.

import type { Arguments } from './arguments.ts'
import { fatal } from './failure.ts'
import type { Invocation } from './invocation.ts'
import { lineHistory, trackedLines } from './line-log.ts'
import { isSeparated, prettyCommit } from './pretty.ts'
import type { PrettyOptions } from './pretty-options.ts'

interface Lines {
  options: Arguments
  pretty: PrettyOptions
  starts: { include: string[]; exclude: string[] }
  paths: readonly string[]
}

/** The history of the lines given by `-L`. */
export async function lineLog(git: Invocation, { options, starts, pretty, paths }: Lines): Promise<number> {
  if (paths.length > 0) throw fatal('-L<range>:<file> cannot be used with pathspec')
  for (const name of ['graph', 'follow', 'stat', 'numstat', 'name-only', 'name-status', 'S', 'G', 'diff-filter'])
    if (options.has(name)) throw fatal(`-L with ${name.length === 1 ? '-' : '--'}${name} is not available here`)
  const repo = git.repo()
  const [first = '', ...others] = starts.include
  if (others.length > 0) throw fatal('More than one commit to dig from')
  const limit = Number(options.value('max-count') ?? Number.POSITIVE_INFINITY)
  const tracked = await trackedLines(repo, first, options.all('L'))
  let count = 0
  for await (const { patch, ...visited } of lineHistory(repo, starts, tracked)) {
    if (count >= limit) break
    if (count > 0 && isSeparated(pretty.format)) git.line()
    count++
    git.out(await prettyCommit(repo, visited, pretty))
    if (pretty.format !== 'tformat:' && !pretty.format.startsWith('format:')) git.line()
    if (!options.has('no-patch')) git.out(`\n${patch}`)
  }
  return 0
}
