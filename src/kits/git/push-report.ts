// The output of a push for each ref, with advice for refused ones.

import { GitFailure } from './failure.ts'
import type { Invocation } from './invocation.ts'
import type { Judged } from './receive-pack.ts'
import { abbreviate } from './revisions.ts'
import { isForward } from './transfers.ts'

type Outcome = {
  judged: readonly Judged[]
  url: string
  branch: string | null
  quiet: boolean
  verbose: boolean
  /** One line for each ref, for scripts, on the standard output. */
  isPorcelain: boolean
}

/** Fails if any was refused. */
export async function report(git: Invocation, outcome: Outcome): Promise<void> {
  const { judged, url, branch, quiet, verbose, isPorcelain } = outcome
  const ofKind = (...kinds: string[]) => judged.filter(({ verdict }) => kinds.includes(verdict.kind))
  const [done, refused] = [ofKind('accepted'), ofKind('rejected', 'remote-rejected')]
  const shown = [...(verbose || isPorcelain ? ofKind('unchanged') : []), ...done, ...refused]
  const rows: string[] = []
  for (const item of quiet ? refused : shown) rows.push(await rowOf(git, item, isPorcelain))
  if (isPorcelain) {
    if (rows.length > 0) git.out([`To ${url}`, ...rows, ''].join('\n'))
    if (refused.length === 0) git.line('Done')
  }
  const listed = isPorcelain || rows.length === 0 ? [] : [`To ${url}`, ...rows]
  if (refused.length > 0) {
    const last = `error: failed to push some refs to '${url}'`
    throw new GitFailure([...listed, last, ...hintFor(refused, branch)].join('\n'), 1)
  }
  if (quiet) return
  if (listed.length > 0) git.err(listed.join('\n'))
  if (done.length === 0 && !isPorcelain) git.err('Everything up-to-date')
}

const short = (name: string) => name.replace(/^refs\/(heads|tags|remotes)\//, '')

async function rowOf(git: Invocation, judged: Judged, isPorcelain: boolean): Promise<string> {
  const { update, verdict } = judged
  const { source, remoteRef } = update
  const { flag, what, why } = await outcomeOf(git, judged)
  const more = why === undefined ? '' : ` (${why})`
  if (isPorcelain) return `${flag}\t${source ?? ''}:${remoteRef}\t${what}${more}`
  const isRemoval = source === null && verdict.kind !== 'unchanged'
  const names = `${isRemoval ? '' : `${short(source ?? '')} -> `}${short(remoteRef)}`
  return ` ${flag} ${what.padEnd(17)} ${names}${more}`
}

async function outcomeOf(
  git: Invocation,
  { update, before, verdict }: Judged,
): Promise<{ flag: string; what: string; why?: string }> {
  const { remoteRef, oid } = update
  if (verdict.kind === 'unchanged') return { flag: '=', what: '[up to date]' }
  if (verdict.kind === 'rejected') return { flag: '!', what: '[rejected]', why: verdict.reason }
  if (verdict.kind === 'remote-rejected') return { flag: '!', what: '[remote rejected]', why: verdict.reason }
  if (oid === null) return { flag: '-', what: '[deleted]' }
  if (before === null) {
    const kind = /^refs\/(tag|head)s\//.exec(remoteRef)?.[1] ?? ''
    return { flag: '*', what: `[new ${{ tag: 'tag', head: 'branch' }[kind] ?? 'reference'}]` }
  }
  const repo = git.repo()
  const isOnward = !remoteRef.startsWith('refs/tags/') && (await isForward(repo, before, oid))
  const what = `${await abbreviate(repo, before)}${isOnward ? '..' : '...'}${await abbreviate(repo, oid)}`
  return isOnward ? { flag: ' ', what } : { flag: '+', what, why: 'forced update' }
}

const NOTE = "hint: See the 'Note about fast-forwards' in 'git push --help' for details."

function hintFor(refused: readonly Judged[], branch: string | null): string[] {
  const ofReason = (reason: string) =>
    refused.filter(({ verdict }) => verdict.kind === 'rejected' && verdict.reason === reason)
  const behind = ofReason('non-fast-forward')
  if (behind.some(({ update }) => update.source === `refs/heads/${branch}` || update.source === 'HEAD'))
    return [
      'hint: Updates were rejected because the tip of your current branch is behind',
      "hint: its remote counterpart. Integrate the remote changes (e.g.\nhint: 'git pull ...') before pushing again.",
      NOTE,
    ]
  if (behind.length > 0)
    return [
      'hint: Updates were rejected because a pushed branch tip is behind its remote',
      'hint: counterpart. Check out this branch and integrate the remote changes',
      "hint: (e.g. 'git pull ...') before pushing again.",
      NOTE,
    ]
  if (ofReason('already exists').length > 0)
    return ['hint: Updates were rejected because the tag already exists in the remote.']
  if (ofReason('fetch first').length === 0) return []
  return [
    'hint: Updates were rejected because the remote contains work that you do',
    'hint: not have locally. This is usually caused by another repository pushing',
    'hint: to the same ref. You may want to first integrate the remote changes',
    "hint: (e.g., 'git pull ...') before pushing again.",
    NOTE,
  ]
}
