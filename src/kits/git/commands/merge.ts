import { parseArguments } from '../arguments.ts'
import { endMerge } from '../commits.ts'
import { fatal, GitFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { assertStrategy, mergeWishes } from '../merge-options.ts'
import { type MergeRequest, merge, refuseUnfinished } from '../merging.ts'
import { tidyMessage } from '../message-cleanup.ts'
import { fullRefName, previousBranch, revision, upstreamOf } from '../revisions.ts'
import { logReset, resetMerge } from '../switching.ts'
import { signOffLine, withTrailer } from '../trailers.ts'
import { commit } from './commit.ts'

const OPTIONS = [
  'message|m=',
  'no-ff',
  'ff',
  'ff-only',
  'no-commit',
  'commit',
  'squash',
  'no-squash',
  'quiet|q',
  'abort',
  'continue',
  'quit',
  'no-edit',
  'allow-unrelated-histories',
  'stat',
  'no-stat|n',
  'verbose|v',
  'no-verify',
  'verify',
  'strategy|s=',
  'no-rerere-autoupdate',
  'signoff',
  'strategy-option|X=',
]

export async function mergeCommand(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('merge', OPTIONS, args)
  const about = ['abort', 'continue', 'quit'].find((name) => options.has(name))
  if (about !== undefined && args.length > 1) throw new GitFailure(`fatal: --${about} expects no arguments`, 129)
  if (options.has('abort')) return abort(git)
  if (options.has('continue')) return conclude(git)
  if (options.has('quit')) {
    endMerge(git.repo())
    return 0
  }
  assertStrategy(options.value('strategy'))
  if (options.rest.length > 1) throw new GitFailure('git merge: more than one other branch is not available here', 1)
  await refuseUnfinished(git)
  const given = options.rest[0] ?? (await defaultGoal(git))
  const word = (await previousBranch(git.repo(), given)) ?? given
  const oid = await revision(git.repo(), word)
  if (oid === null) throw new GitFailure(`merge: ${word} - not something we can merge`, 1)
  let message = options.has('message')
    ? tidyMessage(options.all('message').join('\n\n'))
    : `${await defaultMessage(git, word)}\n`
  if (options.has('signoff')) message = withTrailer(message, await signOffLine(git))
  return merge(git, {
    oid: await git.repo().peel(oid, 'commit'),
    name: word,
    message,
    ...(await fastForwardMode(
      git,
      options.has('ff-only') ? 'only' : options.has('no-ff') ? 'never' : options.has('ff') ? 'allowed' : null,
    )),
    ...(await mergeWishes(git, options)),
    hasMessage: options.has('message'),
  })
}

async function fastForwardMode(
  git: Invocation,
  given: MergeRequest['fastForward'] | null,
): Promise<Pick<MergeRequest, 'fastForward'>> {
  const setting = await git.setting('merge.ff')
  return { fastForward: given ?? (setting === 'only' ? 'only' : setting === 'false' ? 'never' : 'allowed') }
}

async function defaultGoal(git: Invocation): Promise<string> {
  const { ref } = await git.repo().refs.head()
  const upstream = ref === null ? null : await upstreamOf(git.repo(), ref.replace(/^refs\/heads\//, ''))
  if (!upstream) throw fatal('No remote for the current branch.')
  return upstream.ref.replace(/^refs\/(remotes|heads)\//, '')
}

async function defaultMessage(git: Invocation, word: string): Promise<string> {
  const repo = git.repo()
  const ref = await fullRefName(repo, word)
  const early = /^(.+?)(?:~\d*|\^+)+$/.exec(word)?.[1]
  if (ref === null && early !== undefined && (await fullRefName(repo, early))?.startsWith('refs/heads/'))
    return `Merge branch '${early}' (early part)${await intoBranch(git)}`
  const what = ref?.startsWith('refs/heads/')
    ? `branch '${word}'`
    : ref?.startsWith('refs/remotes/')
      ? `remote-tracking branch '${word}'`
      : ref?.startsWith('refs/tags/')
        ? `tag '${word}'`
        : `commit '${word}'`
  return `Merge ${what}${await intoBranch(git)}`
}

/** Added for every branch except the usual main branches. */
export async function intoBranch(git: Invocation): Promise<string> {
  const name = (await git.repo().refs.head()).ref?.replace(/^refs\/heads\//, '') ?? 'HEAD'
  return name === 'main' || name === 'master' ? '' : ` into ${name}`
}

async function abort(git: Invocation): Promise<number> {
  const repo = git.repo()
  if ((await repo.refs.resolve('MERGE_HEAD')) === null) throw fatal('There is no merge to abort (MERGE_HEAD missing).')
  await resetMerge(git, await repo.headTree())
  await logReset(git)
  endMerge(repo)
  return 0
}

async function conclude(git: Invocation): Promise<number> {
  if ((await git.repo().refs.resolve('MERGE_HEAD')) === null)
    throw fatal('There is no merge in progress (MERGE_HEAD missing).')
  return commit(git, ['--no-edit', '--cleanup=strip'])
}
