// Creates branches, and sets their upstream.

import { fatal } from './failure.ts'
import type { Invocation } from './invocation.ts'
import { isRefName } from './ref-names.ts'
import { fullRefName, previousBranch, startPoint } from './revisions.ts'

export interface NewBranch {
  name: string
  /** As given by the user; HEAD if nothing was given. */
  start: string | null
  /** The name of an unnamed start in the reflog; HEAD by default. */
  startName?: string
  force?: boolean
  /** It will be checked out again, so it may be the current one. */
  isNext?: boolean
  /** Undefined: only if it starts from a remote's branch. */
  track?: boolean | undefined
  quiet?: boolean
}

/** Creates the branch and returns its commit. */
export async function makeBranch(git: Invocation, given: NewBranch): Promise<string> {
  const { name, start, force = false, track } = given
  const repo = git.repo()
  const ref = branchRef(name)
  const oid = await startCommit(git, start)
  const existing = await repo.refs.resolve(ref)
  if (existing !== null && !force) throw fatal(`a branch named '${name}' already exists`)
  if (existing !== null && !given.isNext && (await repo.refs.head()).ref === ref && existing !== oid) {
    throw fatal(`cannot force update the branch '${name}' checked out at '${repo.root}'`)
  }
  const from = (await previousBranch(repo, start ?? '')) ?? start ?? given.startName ?? 'HEAD'
  const message = existing === null ? `branch: Created from ${from}` : `branch: Reset to ${from}`
  await repo.refs.change(ref, { oid, by: await git.signature('committer'), message })
  const followed = start === null ? (track ? (await repo.refs.head()).ref : null) : await fullRefName(repo, start)
  const isRemote = followed?.startsWith('refs/remotes/') ?? false
  if (followed && ((track === undefined && isRemote) || track))
    await setUpstream(git, name, { followed, quiet: given.quiet ?? false })
  return oid
}

async function startCommit(git: Invocation, start: string | null): Promise<string> {
  const repo = git.repo()
  if (start !== null) {
    try {
      const oid = await startPoint(repo, start)
      if (oid !== null) return oid
    } catch {
      // Invalid words name no commit, whatever the error.
    }
    throw fatal(`not a valid object name: '${start}'`)
  }
  const { oid, ref } = await repo.refs.head()
  if (oid === null) throw fatal(`not a valid object name: '${ref?.replace(/^refs\/heads\//, '')}'`)
  return oid
}

export function branchRef(name: string): string {
  if (!isRefName(`refs/heads/${name}`) || name.startsWith('-') || name === 'HEAD')
    throw fatal(`'${name}' is not a valid branch name`)
  return `refs/heads/${name}`
}

type Following = { followed: string; quiet: boolean }

/** Sets the upstream of the branch, and reports it. */
export async function setUpstream(git: Invocation, branch: string, { followed, quiet }: Following): Promise<void> {
  const config = await git.repo().config()
  const remote = /^refs\/remotes\/([^/]+)\/(.+)$/.exec(followed)
  config.set(`branch.${branch}.remote`, remote?.[1] ?? '.')
  config.set(`branch.${branch}.merge`, remote ? `refs/heads/${remote[2]}` : followed)
  await git.repo().saveConfig(config)
  if (!quiet) git.line(`branch '${branch}' set up to track '${followed.replace(/^refs\/(remotes|heads)\//, '')}'.`)
}
