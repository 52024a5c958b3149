// Earlier values of refs: `git reflog`, which is another form of `git log -g`.

import { GitFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { log, withCounts } from './log.ts'

const USAGE = 'git reflog [show] [<log options>] [<ref>]'

export async function reflog(git: Invocation, args: string[]): Promise<number> {
  const [first, ...rest] = args
  if (first === 'exists') return exists(git, rest)
  if (first === 'expire' || first === 'delete') throw new GitFailure(`git reflog ${first}: not available here`, 1)
  const words = withCounts(first === 'show' ? rest : args)
  return log(git, ['--walk-reflogs', '--abbrev-commit', '--pretty=oneline', ...words])
}

async function exists(git: Invocation, words: readonly string[]): Promise<number> {
  const [name, ...more] = words
  if (name === undefined || more.length > 0)
    throw new GitFailure(`usage: ${USAGE}\n   or: git reflog exists <ref>`, 129)
  return git.repo().refs.hasLog(name) ? 0 : 1
}
