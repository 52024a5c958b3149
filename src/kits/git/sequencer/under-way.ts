// The unfinished merge, pick, revert or rebase for a status.

import { readText } from '../ref-files.ts'
import type { Repository } from '../repository.ts'
import { abbreviate, revision } from '../revisions.ts'
import { hasGitFile, StateFolder } from './state-files.ts'

export type UnderWay =
  | { kind: 'merge' }
  /** A series of mails is being applied. */
  | { kind: 'am' }
  /** `from` is the branch or the commit at which the search started. */
  | { kind: 'bisect'; from: string }
  /** `oid` is null within a series of several commits. */
  | { kind: 'cherry-pick' | 'revert'; oid: string | null }
  | ({ kind: 'rebase' } & Rebasing)

export interface Rebasing {
  /** Null if HEAD was detached before. */
  branch: string | null
  onto: string
  done: string[]
  todo: string[]
  /** A commit must be finished, not amended. */
  isConcluding: boolean
  /** The commit to amend was undone. */
  isSplitting: boolean
}

/** The outermost one comes first; a merge or a pick may be running within a rebase. */
export async function underWay(repo: Repository): Promise<UnderWay[]> {
  const found: UnderWay[] = []
  const rebase = new StateFolder(repo, 'rebase-merge')
  if (rebase.exists) found.push({ kind: 'rebase', ...(await rebasing(repo, rebase)) })
  if (new StateFolder(repo, 'rebase-apply').has('applying')) found.push({ kind: 'am' })
  if (hasGitFile(repo, 'MERGE_HEAD')) found.push({ kind: 'merge' })
  const todo = await new StateFolder(repo, 'sequencer').read('todo')
  const picked = await repo.refs.resolve('CHERRY_PICK_HEAD')
  const reverted = await repo.refs.resolve('REVERT_HEAD')
  const short = async (oid: string) => (todo === null ? abbreviate(repo, oid) : null)
  if (picked !== null) found.push({ kind: 'cherry-pick', oid: await short(picked) })
  else if (reverted !== null) found.push({ kind: 'revert', oid: await short(reverted) })
  else if (todo !== null) found.push({ kind: todo.startsWith('revert') ? 'revert' : 'cherry-pick', oid: null })
  const began = await readText(repo.fs, `${repo.gitDir}/BISECT_START`)
  if (began !== null) found.push({ kind: 'bisect', from: began.trim() })
  return found
}

async function rebasing(repo: Repository, folder: StateFolder): Promise<Rebasing> {
  const name = (await folder.read('head-name')) ?? ''
  const onto = (await folder.read('onto')) ?? ''
  const [amend, head] = [await folder.read('amend'), (await repo.refs.head()).oid]
  const original = await folder.read('orig-head')
  return {
    branch: name.startsWith('refs/heads/') ? name.slice('refs/heads/'.length) : null,
    onto: await abbreviate(repo, onto),
    done: await stepLines(repo, await folder.read('done')),
    todo: await stepLines(repo, await folder.read('git-rebase-todo')),
    isConcluding: hasGitFile(repo, 'MERGE_MSG'),
    isSplitting: amend !== null && amend !== head && head !== original,
  }
}

async function stepLines(repo: Repository, text: string | null): Promise<string[]> {
  const lines = (text ?? '').split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'))
  const shown: string[] = []
  for (const line of lines) {
    const [word = '', id = '', ...rest] = line.split(' ')
    const oid = /^[0-9a-f]{40}$/.test(id) ? await revision(repo, id) : null
    shown.push(oid === null ? line : [word, await abbreviate(repo, oid), ...rest].join(' '))
  }
  return shown
}
