import { type Arguments, parseArguments } from '../arguments.ts'
import { failed, fatal, GitFailure } from '../failure.ts'
import { walkHistory } from '../history.ts'
import type { Invocation } from '../invocation.ts'
import { assertStrategy, mergeStyle } from '../merge-options.ts'
import type { Repository } from '../repository.ts'
import { isRange, rangesOrCommits } from '../revisions.ts'
import type { Action } from '../sequencer/apply-commit.ts'
import { runSeries } from '../sequencer/series.ts'
import {
  COMMANDS,
  forgetSeries,
  type SeriesOptions,
  seriesFolder,
  stoppedAction,
  storedSeries,
} from '../sequencer/series-state.ts'
import { resetMerge } from '../switching.ts'
import { commit } from './commit.ts'

const OPTIONS = [
  'continue',
  'abort',
  'skip',
  'quit',
  'no-commit|n',
  'commit',
  'edit|e',
  'no-edit',
  'signoff|s',
  'mainline|m=',
  'strategy=',
  'strategy-option|X=',
  'no-gpg-sign',
]
const PICK_OPTIONS = [...OPTIONS, 'x', 'ff', 'allow-empty', 'allow-empty-message', 'keep-redundant-commits']

export function cherryPick(git: Invocation, args: string[]): Promise<number> {
  return series(git, 'pick', parseArguments('cherry-pick', PICK_OPTIONS, args))
}

export function revert(git: Invocation, args: string[]): Promise<number> {
  return series(git, 'revert', parseArguments('revert', OPTIONS, args))
}

const NOT_FORWARD = [
  ['signoff', '--signoff'],
  ['no-commit', '--no-commit'],
  ['x', '-x'],
  ['edit', '--edit'],
] as const

/** A commit that is fast-forwarded to cannot be changed. */
function refuseWithForward(options: Arguments): void {
  const other = NOT_FORWARD.find(([name]) => options.has(name))
  if (options.has('ff') && other) throw fatal(`cherry-pick: ${other[1]} cannot be used with --ff`)
}

async function series(git: Invocation, action: Action, options: Arguments): Promise<number> {
  options.assertOne('continue', 'abort', 'skip', 'quit')
  const isAboutSeries = ['continue', 'abort', 'skip', 'quit'].some((name) => options.has(name))
  if (isAboutSeries && options.rest.length > 0)
    throw new GitFailure(`usage: git ${COMMANDS[action]} (--continue | --skip | --abort | --quit)`, 129)
  refuseWithForward(options)
  if (options.has('continue')) return goOn(git, action)
  if (options.has('skip')) return skip(git, action)
  if (options.has('abort')) return abort(git, action)
  if (options.has('quit')) {
    forgetSeries(git.repo())
    return 0
  }
  assertStrategy(options.value('strategy'))
  if (options.value('strategy') === 'ours') throw fatal(`${COMMANDS[action]} --strategy=ours is not available here`)
  const how = await seriesOptions(git, action, options)
  if (options.rest.length === 0)
    throw new GitFailure(`usage: git ${COMMANDS[action]} [--edit] [-n] [-m <parent-number>] [-s] <commit>...`, 129)
  const oids = await commitsNamed(git, options.rest, action)
  if (oids.length === 0) throw refusal(action, 'empty commit set passed')
  const isSeries = oids.length > 1
  if (isSeries && seriesFolder(git.repo()).exists) {
    const stored = await storedSeries(git.repo())
    const name = COMMANDS[stored?.options.action ?? action]
    throw new GitFailure(
      `error: ${name} is already in progress\nhint: try "git ${name} (--continue | --skip | --abort | --quit)"\n` +
        `fatal: ${COMMANDS[action]} failed`,
      128,
    )
  }
  const { oid } = await git.repo().refs.head()
  return runSeries(git, { options: how, oids, start: isSeries ? oid : null })
}

async function seriesOptions(git: Invocation, action: Action, options: Arguments): Promise<SeriesOptions> {
  const mainline = options.value('mainline')
  if (mainline !== null && !/^[1-9]\d*$/.test(mainline))
    throw new GitFailure("error: option `mainline' expects a number greater than zero", 129)
  return {
    action,
    commits: !options.has('no-commit'),
    edits: options.has('edit'),
    signsOff: options.has('signoff'),
    tellsOrigin: options.has('x'),
    fastForwards: options.has('ff'),
    allowsEmpty: options.has('allow-empty') || options.has('keep-redundant-commits'),
    keepsRedundant: options.has('keep-redundant-commits'),
    mainline: mainline === null ? null : Number(mainline),
    style: await mergeStyle(git, options.all('strategy-option')),
  }
}

/** Commits given one by one are applied in the given order, those of a range in the order of their creation. */
async function commitsNamed(git: Invocation, words: readonly string[], action: Action): Promise<string[]> {
  const repo = git.repo()
  const starts = await rangesOrCommits(repo, words)
  if (!words.some(isRange)) return starts.include
  const found: string[] = []
  for await (const { oid } of walkHistory(repo, starts)) found.push(oid)
  return action === 'pick' ? found.reverse() : found
}

function refusal(action: Action, words: string): GitFailure {
  return new GitFailure(`error: ${words}\nfatal: ${COMMANDS[action]} failed`, 128)
}

async function goOn(git: Invocation, action: Action): Promise<number> {
  const repo = git.repo()
  const [stopped, stored] = [stoppedAction(repo), await storedSeries(repo)]
  if (!stopped && !stored) throw refusal(action, 'no cherry-pick or revert in progress')
  if (stopped) {
    const exitCode = await commit(git, ['--no-edit', '--cleanup=strip'])
    if (exitCode !== 0 || !stored) return exitCode
  } else if ((await repo.index()).unmergedPaths().length > 0) {
    throw refusal(action, 'commit is not possible because you have unmerged files.')
  }
  return stored ? runRest(git, stored) : 0
}

function runRest(
  git: Invocation,
  { options, oids, start }: { options: SeriesOptions; oids: readonly string[]; start: string },
): Promise<number> {
  return runSeries(git, { options, oids: oids.slice(1), start })
}

async function skip(git: Invocation, action: Action): Promise<number> {
  const repo = git.repo()
  const stored = await storedSeries(repo)
  const isOwn = stoppedAction(repo) === action || stored?.options.action === action
  if (!isOwn) throw refusal(action, `no ${COMMANDS[action]} in progress`)
  await backTo(git, (await repo.refs.head()).oid)
  return stored ? runRest(git, stored) : 0
}

/** Resets the remains of the last commit, and ends the series. */
async function backTo(git: Invocation, oid: string | null): Promise<void> {
  const repo = git.repo()
  await resetMerge(git, oid === null ? null : (await repo.commit(oid)).tree)
  const head = await repo.refs.head()
  if (oid !== null && head.oid !== null) {
    const by = await git.signature('committer')
    await repo.refs.change('ORIG_HEAD', { oid: head.oid, by, message: '' })
    await repo.refs.change(head.ref ?? 'HEAD', { oid, by, message: `reset: moving to ${oid}` })
  }
  for (const name of ['CHERRY_PICK_HEAD', 'REVERT_HEAD', 'MERGE_MSG']) removeFile(repo, name)
}

function removeFile(repo: Repository, name: string): void {
  if (repo.fs.list(repo.gitDir).some((entry) => entry.name === name)) repo.fs.remove(`${repo.gitDir}/${name}`)
}

async function abort(git: Invocation, action: Action): Promise<number> {
  const repo = git.repo()
  const stored = await storedSeries(repo)
  if (!stored && !stoppedAction(repo)) throw refusal(action, 'no cherry-pick or revert in progress')
  const head = await repo.refs.head()
  const goal = stored ? stored.start : head.oid
  const safe = await seriesFolder(repo).read('abort-safety')
  if (stored && safe !== head.oid) {
    git.err('warning: You seem to have moved HEAD. Not rewinding, check your HEAD!')
    forgetSeries(repo)
    return 0
  }
  if (goal === null) throw failed('cannot abort from a branch yet to be born')
  await backTo(git, goal)
  forgetSeries(repo)
  return 0
}
