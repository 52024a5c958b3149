import { parseArguments } from '../arguments.ts'
import { GitFailure } from '../failure.ts'
import { walkHistory } from '../history.ts'
import type { Invocation } from '../invocation.ts'
import { subjectOf } from '../message-parts.ts'
import { abbreviate, commitId, upstreamOf } from '../revisions.ts'
import { planRebase } from '../sequencer/rebase-plan.ts'

/** Which commits of a branch are missing in its upstream, by id or by equal changes. */
export async function cherry(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('cherry', ['verbose|v', 'abbrev?'], args)
  const repo = git.repo()
  const [given, headWord = 'HEAD', limit, ...more] = options.rest
  if (more.length > 0) throw new GitFailure('usage: git cherry [-v] [<upstream> [<head> [<limit>]]]', 129)
  const upstream = await commitId(repo, given ?? (await followed(git)))
  const head = await commitId(repo, headWord)
  const exclude = [upstream, ...(limit === undefined ? [] : [await commitId(repo, limit)])]
  const { skipped } = await planRebase(repo, { upstream, head })
  const lines: string[] = []
  for await (const { oid, commit } of walkHistory(repo, { include: [head], exclude })) {
    if (commit.parents.length > 1) continue
    const length = Number(options.value('abbrev')) || undefined
    const id = options.has('abbrev') ? await abbreviate(repo, oid, length) : oid
    const subject = options.has('verbose') ? ` ${subjectOf(commit.message)}` : ''
    lines.unshift(`${skipped.includes(oid) ? '-' : '+'} ${id}${subject}\n`)
  }
  git.out(lines.join(''))
  return 0
}

async function followed(git: Invocation): Promise<string> {
  const branch = (await git.repo().refs.head()).ref?.replace(/^refs\/heads\//, '')
  const upstream = branch === undefined ? null : await upstreamOf(git.repo(), branch)
  if (upstream) return upstream.ref
  throw new GitFailure('Could not find a tracked remote branch, please specify <upstream> manually.', 129)
}
