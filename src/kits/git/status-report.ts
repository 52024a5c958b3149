// All data of `git status`, collected once, in its long and its short format.

import { byteOrder } from './bytes.ts'
import { aheadBehind } from './history.ts'
import type { Invocation } from './invocation.ts'
import { type PairedChange, withRenames } from './renames.ts'
import { abbreviate, fullRefName, upstreamOf } from './revisions.ts'
import { type UnderWay, underWay } from './sequencer/under-way.ts'
import {
  type Change,
  changeKind,
  type PathFilter,
  stagedChanges,
  type Untracked,
  unstagedChanges,
  type WalkOptions,
  walkWorktree,
} from './status.ts'
import { stateText } from './status-state.ts'

export interface Upstreaming {
  /** `origin/main` */
  name: string
  /** Null if its branch no longer exists. */
  distance: { ahead: number; behind: number } | null
}

export interface StatusReport {
  /** The short name; null if HEAD is detached. */
  branch: string | null
  detached: string | null
  hasCommits: boolean
  upstream: Upstreaming | null
  staged: PairedChange[]
  unstaged: Change[]
  unmerged: { path: string; code: string }[]
  untracked: string[]
  ignored: string[]
  /** Unfinished operations, the outermost first. */
  states: UnderWay[]
  showsUntracked: boolean
  /** For an amended commit that would be empty. */
  isEmptyAmend?: boolean
}

export interface StatusOptions {
  untracked: Untracked
  ignored?: WalkOptions['ignored']
  filter?: PathFilter
  /** Whether deleted files are paired with new ones. */
  renames?: boolean
}

export async function gatherStatus(git: Invocation, options: StatusOptions): Promise<StatusReport> {
  const repo = git.repo()
  const { filter = () => true } = options
  const head = await repo.refs.head()
  const { untracked, ignored } = await walkWorktree(repo, {
    untracked: options.untracked,
    ignored: options.ignored ?? false,
  })
  const changes = await stagedChanges(repo, await repo.headTree())
  const staged: PairedChange[] = options.renames === false ? changes : await withRenames(repo, changes)
  const branch = head.ref?.replace(/^refs\/heads\//, '') ?? null
  return {
    branch,
    detached: branch === null ? await detachedAt(git, head.oid ?? '') : null,
    hasCommits: head.oid !== null,
    upstream: branch === null ? null : await upstreaming(git, branch),
    staged: staged.filter(({ path, from }) => filter(path) || (from !== undefined && filter(from))),
    unstaged: await unstagedChanges(repo, filter),
    unmerged: await unmergedPaths(git, filter),
    untracked: untracked.filter(filter),
    ignored: ignored.filter(filter),
    states: await underWay(repo),
    showsUntracked: options.untracked !== 'no',
  }
}

const STAGE_CODES: Record<string, string> = { 1: 'DD', 2: 'AU', 3: 'UA', 12: 'UD', 13: 'DU', 23: 'AA', 123: 'UU' }

async function unmergedPaths(git: Invocation, filter: PathFilter): Promise<StatusReport['unmerged']> {
  const stages = new Map<string, string>()
  for (const { path, stage } of (await git.repo().index()).entries) {
    if (stage > 0 && filter(path)) stages.set(path, (stages.get(path) ?? '') + stage)
  }
  return [...stages].map(([path, found]) => ({ path, code: STAGE_CODES[found] ?? 'UU' }))
}

export async function upstreaming(git: Invocation, branch: string): Promise<Upstreaming | null> {
  const repo = git.repo()
  const upstream = await upstreamOf(repo, branch)
  if (!upstream) return null
  const name = upstream.ref.replace(/^refs\/(remotes|heads)\//, '')
  const [own, other] = [await repo.refs.resolve(`refs/heads/${branch}`), await repo.refs.resolve(upstream.ref)]
  if (other === null) return { name, distance: null }
  return own === null ? null : { name, distance: await aheadBehind(repo, own, other) }
}

/** `at v1.0`, or `from main` if commits were added since; empty if the log does not contain it. */
async function detachedAt(git: Invocation, oid: string): Promise<string> {
  const repo = git.repo()
  const left = (await repo.refs.log('HEAD')).find(({ message }) => /^checkout: moving from \S+ to \S+$/.test(message))
  if (!left) return ''
  const word = left.message.split(' ').at(-1) ?? ''
  const ref = await fullRefName(repo, word)
  const target = ref === null || ref === 'HEAD' ? null : await repo.refs.resolve(ref)
  const isRef = target !== null && (await repo.peel(target, 'commit')) === left.after
  const name = ref?.replace(/^refs\/(tags|remotes)\//, '') ?? word
  return `${left.after === oid ? 'at' : 'from'} ${isRef ? name : await abbreviate(repo, left.after)}`
}

export type ShownPath = (path: string) => string

const LABELS: Record<string, string> = {
  A: 'new file:',
  M: 'modified:',
  D: 'deleted:',
  T: 'typechange:',
  R: 'renamed:',
}
const UNMERGED_LABELS: Record<string, string> = {
  DD: 'both deleted:',
  AU: 'added by us:',
  UD: 'deleted by them:',
  UA: 'added by them:',
  DU: 'deleted by us:',
  AA: 'both added:',
  UU: 'both modified:',
}

export function longStatus(report: StatusReport, shown: ShownPath, isCommitting = false): string {
  const sections = [
    opening(report, isCommitting),
    stagedSection(report, shown),
    unmergedSection(report, shown),
    unstagedSection(report, shown),
  ]
  sections.push(listSection('Untracked files', 'git add <file>...', report.untracked.map(shown)))
  sections.push(listSection('Ignored files', 'git add -f <file>...', report.ignored.map(shown)))
  if (!report.showsUntracked && report.staged.length > 0)
    sections.push('Untracked files not listed (use -u option to show untracked files)\n')
  return sections.join('') + closing(report)
}

function opening(report: StatusReport, isCommitting: boolean): string {
  const { branch, detached, upstream, states, unmerged, hasCommits } = report
  const rebase = states.find((state) => state.kind === 'rebase')
  let text =
    branch !== null
      ? `On branch ${branch}\n`
      : rebase
        ? `interactive rebase in progress; onto ${rebase.onto}\n`
        : detached
          ? `HEAD detached ${detached}\n`
          : 'Not currently on any branch.\n'
  if (upstream && hasCommits) text += `${trackingText(upstream)}\n`
  text += stateText(states, unmerged.length > 0)
  return hasCommits ? text : `${text}\n${isCommitting ? 'Initial commit' : 'No commits yet'}\n\n`
}

/** An operation that ends with a commit has its own hint about unstaging. */
function isConcluding({ states }: StatusReport): boolean {
  return states.some(({ kind }) => kind === 'merge' || kind === 'cherry-pick')
}

/** The relation of a branch to its upstream; with a line end. */
export function trackingText({ name, distance }: Upstreaming): string {
  if (!distance) {
    return `Your branch is based on '${name}', but the upstream is gone.\n  (use "git branch --unset-upstream" to fixup)\n`
  }
  const { ahead, behind } = distance
  const commits = (count: number) => `${count} commit${count === 1 ? '' : 's'}`
  if (ahead === 0 && behind === 0) return `Your branch is up to date with '${name}'.\n`
  if (behind === 0) {
    return `Your branch is ahead of '${name}' by ${commits(ahead)}.\n  (use "git push" to publish your local commits)\n`
  }
  if (ahead === 0) {
    return `Your branch is behind '${name}' by ${commits(behind)}, and can be fast-forwarded.\n  (use "git pull" to update your local branch)\n`
  }
  return (
    `Your branch and '${name}' have diverged,\nand have ${ahead} and ${behind} different commits each, respectively.\n` +
    '  (use "git pull" to merge the remote branch into yours)\n'
  )
}

function stagedSection(report: StatusReport, shown: ShownPath): string {
  const { staged, hasCommits } = report
  if (staged.length === 0) return ''
  const hint = hasCommits ? 'git restore --staged <file>...' : 'git rm --cached <file>...'
  const lines = staged.map((change) => {
    const name = change.from === undefined ? shown(change.path) : `${shown(change.from)} -> ${shown(change.path)}`
    return `\t${(LABELS[change.from === undefined ? changeKind(change) : 'R'] ?? '').padEnd(12)}${name}\n`
  })
  return `Changes to be committed:\n${isConcluding(report) ? '' : `  (use "${hint}" to unstage)\n`}${lines.join('')}\n`
}

function unmergedSection(report: StatusReport, shown: ShownPath): string {
  const { unmerged } = report
  if (unmerged.length === 0) return ''
  const isDeletion = unmerged.some(({ code }) => code.includes('D'))
  const hint = isDeletion ? 'git add/rm <file>..." as appropriate to' : 'git add <file>..." to'
  const lines = unmerged.map(({ path, code }) => `\t${(UNMERGED_LABELS[code] ?? '').padEnd(17)}${shown(path)}\n`)
  const unstage = isConcluding(report) ? '' : '  (use "git restore --staged <file>..." to unstage)\n'
  return `Unmerged paths:\n${unstage}  (use "${hint} mark resolution)\n${lines.join('')}\n`
}

function unstagedSection({ unstaged }: StatusReport, shown: ShownPath): string {
  if (unstaged.length === 0) return ''
  const add = unstaged.some(({ after }) => after === null) ? 'git add/rm' : 'git add'
  const lines = unstaged.map((change) => `\t${(LABELS[changeKind(change)] ?? '').padEnd(12)}${shown(change.path)}\n`)
  return (
    `Changes not staged for commit:\n  (use "${add} <file>..." to update what will be committed)\n` +
    `  (use "git restore <file>..." to discard changes in working directory)\n${lines.join('')}\n`
  )
}

function listSection(title: string, command: string, paths: string[]): string {
  if (paths.length === 0) return ''
  return `${title}:\n  (use "${command}" to include in what will be committed)\n${paths.map((path) => `\t${path}\n`).join('')}\n`
}

function closing(report: StatusReport): string {
  const { staged, unstaged, unmerged, untracked, hasCommits, showsUntracked } = report
  if (staged.length > 0) return ''
  if (report.isEmptyAmend) return 'No changes\n'
  if (unstaged.length > 0 || unmerged.length > 0)
    return 'no changes added to commit (use "git add" and/or "git commit -a")\n'
  if (untracked.length > 0) return 'nothing added to commit but untracked files present (use "git add" to track)\n'
  if (!hasCommits) return 'nothing to commit (create/copy files and use "git add" to track)\n'
  return showsUntracked
    ? 'nothing to commit, working tree clean\n'
    : 'nothing to commit (use -u to show untracked files)\n'
}

/** Two letters and a path per line. If `end` is NUL, names are unquoted and a rename is two names. */
export function shortStatus(report: StatusReport, shown: ShownPath, end: '\n' | '\0'): string {
  const rows = new Map<string, { staged: string; unstaged: string; from?: string }>()
  for (const change of report.staged) {
    const { path, from } = change
    rows.set(path, {
      staged: from === undefined ? changeKind(change) : 'R',
      unstaged: ' ',
      ...(from !== undefined && { from }),
    })
  }
  for (const change of report.unstaged) {
    rows.set(change.path, { ...(rows.get(change.path) ?? { staged: ' ' }), unstaged: changeKind(change) })
  }
  for (const { path, code } of report.unmerged) rows.set(path, { staged: code[0] ?? '', unstaged: code[1] ?? '' })
  const tracked = [...rows]
    .sort(([a], [b]) => byteOrder(a, b))
    .map(([path, { staged, unstaged, from }]) => {
      const names =
        from === undefined ? shown(path) : end === '\0' ? `${path}\0${from}` : `${shown(from)} -> ${shown(path)}`
      return `${staged}${unstaged} ${names}${end}`
    })
  const others = report.untracked.map((path) => `?? ${shown(path)}${end}`)
  return [...tracked, ...others, ...report.ignored.map((path) => `!! ${shown(path)}${end}`)].join('')
}

export function branchLine({ branch, hasCommits, upstream }: StatusReport): string {
  if (branch === null) return '## HEAD (no branch)'
  if (!hasCommits) return `## No commits yet on ${branch}`
  if (!upstream) return `## ${branch}`
  const { name, distance } = upstream
  if (!distance) return `## ${branch}...${name} [gone]`
  const parts = [
    distance.ahead > 0 ? `ahead ${distance.ahead}` : '',
    distance.behind > 0 ? `behind ${distance.behind}` : '',
  ]
  const said = parts.filter((part) => part !== '').join(', ')
  return `## ${branch}...${name}${said === '' ? '' : ` [${said}]`}`
}
