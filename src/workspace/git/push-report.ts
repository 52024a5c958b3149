// What a push says of each ref, and what to do about one that was refused.

import { GitFailure } from './failure.ts'
import type { Invocation } from './invocation.ts'
import type { Judged } from './receive-pack.ts'
import { abbreviate } from './revisions.ts'
import { isForward } from './transfers.ts'

type Outcome = { judged: readonly Judged[]; url: string; branch: string | null; quiet: boolean }

/** Fails if any was refused. */
export async function report(git: Invocation, { judged, url, branch, quiet }: Outcome): Promise<void> {
  const done = judged.filter(({ verdict }) => verdict.kind === 'accepted')
  const refused = judged.filter(({ verdict }) => verdict.kind === 'rejected' || verdict.kind === 'remote-rejected')
  const rows: string[] = []
  for (const item of quiet ? refused : [...done, ...refused]) rows.push(await rowOf(git, item))
  if (refused.length > 0) {
    const hints = hintFor(refused, branch)
    const last = `error: failed to push some refs to '${url}'`
    throw new GitFailure([`To ${url}`, ...rows, last, ...hints].join('\n'), 1)
  }
  if (!quiet) git.err(rows.length === 0 ? 'Everything up-to-date' : [`To ${url}`, ...rows].join('\n'))
}

const short = (name: string) => name.replace(/^refs\/(heads|tags)\//, '')

async function rowOf(git: Invocation, { update, before, verdict }: Judged): Promise<string> {
  const { source, remoteRef, oid } = update
  const names = `${source === null ? '' : `${short(source)} -> `}${short(remoteRef)}`
  const row = (flag: string, what: string, more = '') => ` ${flag} ${what.padEnd(17)} ${names}${more}`
  if (verdict.kind === 'rejected') return row('!', '[rejected]', ` (${verdict.reason})`)
  if (verdict.kind === 'remote-rejected') return row('!', '[remote rejected]', ` (${verdict.reason})`)
  if (oid === null) return row('-', '[deleted]')
  if (before === null) {
    const kind = remoteRef.startsWith('refs/tags/')
      ? 'tag'
      : remoteRef.startsWith('refs/heads/')
        ? 'branch'
        : 'reference'
    return row('*', `[new ${kind}]`)
  }
  const repo = git.repo()
  const isOnward = !remoteRef.startsWith('refs/tags/') && (await isForward(repo, before, oid))
  const ids = `${await abbreviate(repo, before)}${isOnward ? '..' : '...'}${await abbreviate(repo, oid)}`
  return isOnward ? row(' ', ids) : row('+', ids, ' (forced update)')
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
