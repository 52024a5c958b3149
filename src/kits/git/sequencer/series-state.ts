// The state of a `cherry-pick` or a `revert`: `.git/sequencer` for several commits, and `CHERRY_PICK_HEAD` or
// `REVERT_HEAD` for the one at which it stopped.

import { endMerge } from '../commits.ts'
import { ConfigFile, isTrue } from '../config-file.ts'
import { failed } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import type { MergeStyle } from '../merge-text.ts'
import { subjectOf } from '../message-parts.ts'
import type { Repository } from '../repository.ts'
import { abbreviate, revision } from '../revisions.ts'
import type { Action } from './apply-commit.ts'
import { hasGitFile, StateFolder } from './state-files.ts'

export interface SeriesOptions {
  action: Action
  commits: boolean
  edits: boolean
  signsOff: boolean
  /** Whether the message contains the id of the original commit. */
  tellsOrigin: boolean
  fastForwards: boolean
  allowsEmpty: boolean
  keepsRedundant: boolean
  mainline: number | null
  style: MergeStyle
}

export const HEADS: Record<Action, string> = { pick: 'CHERRY_PICK_HEAD', revert: 'REVERT_HEAD' }
export const COMMANDS: Record<Action, 'cherry-pick' | 'revert'> = { pick: 'cherry-pick', revert: 'revert' }

export function seriesFolder(repo: Repository): StateFolder {
  return new StateFolder(repo, 'sequencer')
}

/** Stores the remaining commits, the current one first. */
export async function saveSeries(
  git: Invocation,
  { options, oids, start }: { options: SeriesOptions; oids: readonly string[]; start: string },
): Promise<void> {
  const repo = git.repo()
  const folder = seriesFolder(repo)
  const lines: string[] = []
  for (const oid of oids) {
    const subject = subjectOf((await repo.commit(oid)).message)
    lines.push(`${options.action} ${await abbreviate(repo, oid)} ${subject}\n`)
  }
  await folder.write('todo', lines.join(''))
  await folder.write('head', `${start}\n`)
  await folder.write('abort-safety', `${(await repo.refs.head()).oid ?? ''}\n`)
  const stored = optionsText(options)
  if (stored !== '') await folder.write('opts', stored)
}

function optionsText(options: SeriesOptions): string {
  const file = new ConfigFile('')
  const flags = {
    'no-commit': !options.commits,
    edit: options.edits,
    'allow-empty': options.allowsEmpty,
    'keep-redundant-commits': options.keepsRedundant,
    signoff: options.signsOff,
    'record-origin': options.tellsOrigin,
    'allow-ff': options.fastForwards,
  }
  for (const [name, isSet] of Object.entries(flags)) if (isSet) file.set(`options.${name}`, 'true')
  if (options.mainline !== null) file.set('options.mainline', String(options.mainline))
  if (options.style.favour) file.set('options.strategy-option', options.style.favour)
  return file.format()
}

export interface StoredSeries {
  options: SeriesOptions
  oids: string[]
  /** HEAD before the first of them. */
  start: string
}

/** Null if no series of several commits is running. */
export async function storedSeries(repo: Repository): Promise<StoredSeries | null> {
  const folder = seriesFolder(repo)
  const todo = await folder.text('todo')
  if (todo === null) return null
  const lines = todo.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const oids: string[] = []
  for (const line of lines) {
    const oid = await revision(repo, line.split(' ')[1] ?? '')
    if (oid === null) throw failed(`invalid line in the list of what is left to do: ${line}`, 128)
    oids.push(oid)
  }
  const file = new ConfigFile((await folder.text('opts')) ?? '')
  const has = (name: string) => isTrue(file.get(`options.${name}`))
  const [mainline, favour] = [file.get('options.mainline'), file.get('options.strategy-option')]
  const options: SeriesOptions = {
    action: lines[0]?.startsWith('revert') ? 'revert' : 'pick',
    commits: !has('no-commit'),
    edits: has('edit'),
    signsOff: has('signoff'),
    tellsOrigin: has('record-origin'),
    fastForwards: has('allow-ff'),
    allowsEmpty: has('allow-empty'),
    keepsRedundant: has('keep-redundant-commits'),
    mainline: mainline === null ? null : Number(mainline),
    style: favour === 'ours' || favour === 'theirs' ? { favour } : {},
  }
  return { options, oids, start: (await folder.read('head')) ?? '' }
}

/** The action that stopped at a commit, or null. */
export function stoppedAction(repo: Repository): Action | null {
  if (hasGitFile(repo, HEADS.pick)) return 'pick'
  return hasGitFile(repo, HEADS.revert) ? 'revert' : null
}

export function forgetSeries(repo: Repository): void {
  seriesFolder(repo).remove()
  endMerge(repo)
}
