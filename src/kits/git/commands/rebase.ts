import { type Arguments, parseArguments } from '../arguments.ts'
import { applyAutostash, createAutostash } from '../autostash.ts'
import { storeCommit } from '../commits.ts'
import { isTrue } from '../config-file.ts'
import { editFile } from '../editor.ts'
import { fatal, GitFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { assertStrategy, mergeStyle } from '../merge-options.ts'
import type { Head } from '../refs.ts'
import type { Repository } from '../repository.ts'
import { abbreviate, commitId, previousBranch, revision, startPoint, upstreamOf } from '../revisions.ts'
import { continueRebase, skipStep } from '../sequencer/rebase-continue.ts'
import { abortRebase, quitRebase } from '../sequencer/rebase-end.ts'
import { isInPlace, planRebase } from '../sequencer/rebase-plan.ts'
import { runRebase } from '../sequencer/rebase-run.ts'
import { RebaseState } from '../sequencer/rebase-state.ts'
import {
  autosquashed,
  formatSteps,
  parseTodo,
  pickSteps,
  type Step,
  shownSteps,
  TODO_HELP,
  withCommands,
} from '../sequencer/todo.ts'
import { stagedChanges, unstagedChanges } from '../status.ts'
import { bringTree } from '../switching.ts'
import { writeTree } from '../tree.ts'
import { show as showCommand } from './show.ts'

const OPTIONS = [
  'continue',
  'abort',
  'skip',
  'quit',
  'edit-todo',
  'show-current-patch',
  'onto=',
  'root',
  'interactive|i',
  'autosquash',
  'no-autosquash',
  'exec|x=',
  'force-rebase|f|no-ff',
  'quiet|q',
  'merge|m',
  'strategy|s=',
  'strategy-option|X=',
  'reapply-cherry-picks',
  'no-reapply-cherry-picks',
  'no-fork-point',
  'autostash',
  'no-autostash',
  'no-stat|n',
  'no-verify',
  'no-gpg-sign',
]

export async function rebase(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('rebase', OPTIONS, args)
  options.assertOne('continue', 'abort', 'skip', 'quit', 'edit-todo', 'show-current-patch')
  const state = new RebaseState(git.repo())
  const action = ['continue', 'abort', 'skip', 'quit', 'edit-todo', 'show-current-patch'].find((name) =>
    options.has(name),
  )
  if (action !== undefined && options.rest.length > 0)
    throw new GitFailure(`usage: git rebase --continue | --abort | --skip | --edit-todo`, 129)
  if (action !== undefined && !state.exists) throw fatal('No rebase in progress?')
  switch (action) {
    case 'continue':
      return continueRebase(git, state)
    case 'skip':
      return skipStep(git, state)
    case 'abort':
      await abortRebase(git, state)
      return 0
    case 'quit':
      await quitRebase(git, state)
      return 0
    case 'edit-todo':
      return editTodo(git, state)
    case 'show-current-patch':
      return showCommand(git, ['REBASE_HEAD', '--'])
    default:
      return start(git, state, options)
  }
}

interface Goal {
  upstream: string | null
  onto: string
  /** The name given by the user. */
  ontoName: string
  /** `refs/heads/topic`; null if HEAD is detached. */
  ref: string | null
  head: string
  /** The user's name of the rebased branch; null for HEAD. */
  branch: string | null
  /** With `--root`, if no other commit comes before the first one. */
  isFromNothing: boolean
}

async function start(git: Invocation, state: RebaseState, options: Arguments): Promise<number> {
  if (state.exists) throw alreadyThere()
  assertStrategy(options.value('strategy'))
  if (options.value('strategy') === 'ours') throw fatal('rebase --strategy=ours is not available here')
  const style = await mergeStyle(git, options.all('strategy-option'))
  const goal = await goalOf(git, options)
  const autostash = (await wantsAutostash(git, options)) ? await createAutostash(git) : null
  if (autostash === null) await refuseChanges(git)
  try {
    return await startFrom(git, state, { goal, options, style, autostash })
  } catch (error) {
    // Before the first step it is restored at once; afterwards the state contains it.
    if (autostash !== null && !state.has('autostash')) await applyAutostash(git, autostash)
    throw error
  }
}

export async function wantsAutostash(git: Invocation, options: Arguments): Promise<boolean> {
  if (options.has('no-autostash')) return false
  return options.has('autostash') || isTrue((await git.setting('rebase.autoStash')) ?? 'false')
}

type Starting = Omit<Beginning, 'steps'> & { autostash: string | null }

async function startFrom(git: Invocation, state: RebaseState, starting: Starting): Promise<number> {
  const { goal, options, autostash } = starting
  const repo = git.repo()
  const squashes = options.has('autosquash') || (await git.setting('rebase.autoSquash')) === 'true'
  const isAutosquash = squashes && !options.has('no-autosquash')
  const isInteractive = options.has('interactive')
  const isPlain = !isInteractive && !options.has('exec') && !options.has('root')
  if (isPlain && !(isAutosquash && options.has('autosquash')) && (await isInPlace(repo, goal))) {
    const isForced = options.has('force-rebase')
    const name = goal.ref?.replace(/^refs\/heads\//, '')
    const what = name === undefined ? 'HEAD' : `Current branch ${name}`
    if (!options.has('quiet')) git.line(`${what} is up to date${isForced ? ', rebase forced' : ''}.`)
    if (!isForced) {
      await moveTo(git, goal)
      if (autostash !== null) await applyAutostash(git, autostash)
      return 0
    }
  }
  const plan = await planRebase(repo, {
    upstream: goal.upstream ?? (options.has('onto') ? goal.onto : null),
    head: goal.head,
  })
  if (options.has('reapply-cherry-picks')) throw fatal('--reapply-cherry-picks is not available here')
  for (const oid of plan.skipped) git.err(`warning: skipped previously applied commit ${await abbreviate(repo, oid)}`)
  if (plan.skipped.length > 0) {
    git.err(
      'hint: use --reapply-cherry-picks to include skipped commits\n' +
        'hint: Disable this message with "git config advice.skippedCherryPicks false"',
    )
  }
  let steps = await pickSteps(repo, plan.oids)
  if (isAutosquash && (isInteractive || options.has('autosquash'))) steps = autosquashed(steps)
  if (options.has('exec')) steps = withCommands(steps, options.all('exec'))
  if (isInteractive) steps = await editedSteps(git, state, { steps, goal })
  return begin(git, state, { ...starting, steps })
}

function alreadyThere(): GitFailure {
  return fatal(
    'It seems that there is already a rebase-merge directory, and\nI wonder if you are in the middle of another rebase.  If that is the\n' +
      'case, please try\n\tgit rebase (--continue | --abort | --skip)\nIf that is not the case, please\n\trm -fr ".git/rebase-merge"\n' +
      'and run me again.  I am stopping in case you still have something\nvaluable there.\n',
  )
}

/** `work` is the operation that is impossible with uncommitted changes. */
export async function refuseChanges(git: Invocation, work = 'rebase'): Promise<void> {
  const repo = git.repo()
  const unstaged = (await unstagedChanges(repo)).length > 0 || (await repo.index()).unmergedPaths().length > 0
  const staged = (await stagedChanges(repo, await repo.headTree())).length > 0
  if (!unstaged && !staged) return
  const lines = [
    ...(unstaged ? [`cannot ${work}: You have unstaged changes.`] : []),
    ...(staged
      ? [`${unstaged ? 'additionally, your' : `cannot ${work}: Your`} index contains uncommitted changes.`]
      : []),
    work === 'rebase' ? 'Please commit or stash them.' : 'please commit or stash them.',
  ]
  throw new GitFailure(lines.map((line) => `error: ${line}`).join('\n'), work === 'rebase' ? 1 : 128)
}

async function goalOf(git: Invocation, options: Arguments): Promise<Goal> {
  const repo = git.repo()
  const words = [...options.rest]
  const isRoot = options.has('root')
  const named = isRoot ? null : (words.shift() ?? (await defaultUpstream(git)))
  const upstreamWord = named === '-' ? '@{-1}' : named
  const found = upstreamWord === null ? null : await revision(repo, upstreamWord)
  if (upstreamWord !== null && found === null) throw fatal(`invalid upstream '${upstreamWord}'`)
  const upstream = found === null ? null : await repo.peel(found, 'commit')
  const isFromNothing = isRoot && !options.has('onto')
  const ontoName = isFromNothing ? await emptyCommit(git) : (options.value('onto') ?? upstreamWord ?? '')
  const onto = await ontoCommit(repo, ontoName)
  const [branch, ...more] = words
  if (more.length > 0) throw new GitFailure('usage: git rebase [<options>] [<upstream> [<branch>]]', 129)
  if (branch !== undefined) {
    if ((await revision(repo, branch)) === null) throw fatal(`no such branch/commit '${branch}'`)
  }
  const head = branch === undefined ? await repo.refs.head() : await namedHead(repo, branch)
  if (head.oid === null) throw fatal('Could not resolve HEAD to a revision')
  return { upstream, onto, ontoName, ref: head.ref, head: head.oid, branch: branch ?? null, isFromNothing }
}

/** The base of the first commit when a whole history is rebased; it does not become a parent. */
async function emptyCommit(git: Invocation): Promise<string> {
  const by = await git.signature('committer')
  const tree = await writeTree(git.repo(), [])
  return storeCommit(git.repo(), { tree, parents: [], author: by, committer: by, message: '' })
}

/** The branch or commit that is rebased instead of HEAD. */
async function namedHead(repo: Repository, word: string): Promise<Head> {
  const name = (await previousBranch(repo, word)) ?? word
  const ref = (await repo.refs.resolve(`refs/heads/${name}`)) === null ? null : `refs/heads/${name}`
  return { ref, oid: await commitId(repo, ref ?? name) }
}

/** Nothing must be rebased, but the given branch is checked out. */
async function moveTo(git: Invocation, { ref, head: oid, branch: word }: Goal): Promise<void> {
  const repo = git.repo()
  if (word === null || (await repo.refs.head()).ref === ref) return
  await bringTree(git, { oid })
  await repo.refs.moveHead(
    ref ? { ref } : { oid },
    await git.signature('committer'),
    `${git.logged('rebase')}: checkout ${word}`,
  )
}

async function ontoCommit(repo: Repository, name: string): Promise<string> {
  const oid = await startPoint(repo, name)
  if (oid !== null) return oid
  throw fatal(
    name.includes('...') ? `'${name}': need exactly one merge base` : `Does not point to a valid commit '${name}'`,
  )
}

async function defaultUpstream(git: Invocation): Promise<string> {
  const { ref } = await git.repo().refs.head()
  const branch = ref?.replace(/^refs\/heads\//, '')
  const upstream = branch === undefined ? null : await upstreamOf(git.repo(), branch)
  if (upstream) return upstream.ref
  git.line(
    branch === undefined
      ? "You are not currently on a branch.\nPlease specify which branch you want to rebase against.\nSee git-rebase(1) for details.\n\n    git rebase '<branch>'\n"
      : 'There is no tracking information for the current branch.\nPlease specify which branch you want to rebase against.\n' +
          "See git-rebase(1) for details.\n\n    git rebase '<branch>'\n\nIf you wish to set tracking information for this branch you can do so with:\n\n" +
          `    git branch --set-upstream-to=<remote>/<branch> ${branch}\n`,
  )
  throw new GitFailure('', 1)
}

async function editedSteps(
  git: Invocation,
  state: RebaseState,
  { steps, goal }: { steps: readonly Step[]; goal: Goal },
): Promise<Step[]> {
  const repo = git.repo()
  const shown = steps.length === 0 ? 'noop\n' : await shownSteps(repo, steps)
  const ids = [goal.upstream ?? goal.onto, goal.head, goal.onto]
  const [from = '', to = '', onto = ''] = await Promise.all(ids.map((oid) => abbreviate(repo, oid)))
  const range = goal.isFromNothing ? to : `${from}..${to}`
  const head = `\n# Rebase ${range} onto ${onto} (${steps.length} command${steps.length === 1 ? '' : 's'})\n#\n`
  const text = `${shown}${head}${TODO_HELP.map((line) => `# ${line}\n`).join('')}`
  await state.write('git-rebase-todo', text)
  await state.write('git-rebase-todo.backup', text)
  try {
    const edited = await parseTodo(repo, await editFile(git, `${state.path}/git-rebase-todo`, 'sequence'))
    if (edited.length === 0) throw new GitFailure('error: nothing to do', 1)
    return edited
  } catch (error) {
    state.remove()
    throw error
  }
}

async function editTodo(git: Invocation, state: RebaseState): Promise<number> {
  await state.write('git-rebase-todo', await shownSteps(git.repo(), await state.steps()))
  const text = await editFile(git, `${state.path}/git-rebase-todo`, 'sequence')
  const steps = await parseTodo(git.repo(), text, { isRest: true })
  await state.write('git-rebase-todo', formatSteps(steps))
  await state.write('end', `${steps.length + (await state.done()).length}\n`)
  return 0
}

type Beginning = { goal: Goal; steps: Step[]; style: Awaited<ReturnType<typeof mergeStyle>>; options: Arguments }

async function begin(
  git: Invocation,
  state: RebaseState,
  { goal, steps, style, options, autostash }: Starting & { steps: Step[] },
): Promise<number> {
  const repo = git.repo()
  const { left, done, base } =
    options.has('force-rebase') || goal.isFromNothing
      ? { left: steps, done: [], base: goal.onto }
      : await withoutThoseInPlace(repo, steps, goal.onto)
  const by = await git.signature('committer')
  await detach(git, base)
  await repo.refs.change('ORIG_HEAD', { oid: goal.head, by, message: '' })
  await repo.refs.moveHead({ oid: base }, by, `${git.logged('rebase')} (start): checkout ${goal.ontoName}`)
  await state.begin({
    headName: goal.ref ?? 'detached HEAD',
    onto: goal.onto,
    original: goal.head,
    steps: left,
    done,
    style,
    quiet: options.has('quiet'),
    autostash,
    isFromRoot: goal.isFromNothing,
  })
  return runRebase(git, state, { fastForwards: !options.has('force-rebase') })
}

async function detach(git: Invocation, oid: string): Promise<void> {
  try {
    await bringTree(git, { oid })
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error
    throw new GitFailure(`${error.message}\nerror: could not detach HEAD`, error.exitCode)
  }
}

/** Leading picks that are already in order are not repeated. */
async function withoutThoseInPlace(repo: Repository, steps: readonly Step[], onto: string) {
  let [base, count] = [onto, 0]
  for (const step of steps) {
    if (step.verb !== 'pick') break
    const { parents } = await repo.commit(step.oid)
    if (parents.length !== 1 || parents[0] !== base) break
    base = step.oid
    count++
  }
  return { left: steps.slice(count), done: steps.slice(0, count), base }
}
