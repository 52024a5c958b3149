import { type Arguments, parseArguments } from '../arguments.ts'
import { utf8 } from '../bytes.ts'
import { indexTree, makeCommit, tidyMessage } from '../commits.ts'
import { showDate } from '../dates.ts'
import { changeSummary, shortstat } from '../diffstat.ts'
import { failed, fatal, GitFailure } from '../failure.ts'
import { runPreCommitHook } from '../hooks.ts'
import { parseDate, parseIdentity } from '../identity.ts'
import type { Invocation } from '../invocation.ts'
import { type Commit, type FileState, MODE, type Signature } from '../objects.ts'
import { quoted, relativeTo } from '../pathspec.ts'
import { subjectOf } from '../pretty.ts'
import { readText } from '../refs.ts'
import { withRenames } from '../renames.ts'
import { abbreviate, commitId } from '../revisions.ts'
import { stage } from '../staging.ts'
import { treeChanges } from '../status.ts'
import { gatherStatus, longStatus } from '../status-report.ts'
import { flatTree, writeTree } from '../tree.ts'

const OPTIONS = [
  'message|m=',
  'all|a',
  'quiet|q',
  'amend',
  'no-edit',
  'edit|e',
  'allow-empty',
  'allow-empty-message',
  'author=',
  'date=',
  'file|F=',
  'signoff|s',
  'no-verify|n',
  'verify',
  'verbose|v',
  'reuse-message|C=',
  'reset-author',
  'only|o',
  'include|i',
  'no-gpg-sign',
  'dry-run',
  'trailer=',
  'cleanup=',
  'no-status',
  'status',
]

export async function commit(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('commit', OPTIONS, args)
  const repo = git.repo()
  await refuseUnmerged(git, options)
  const head = await repo.refs.head()
  if (options.has('amend') && head.oid === null) throw fatal('You have nothing to amend.')
  const previous = head.oid === null ? null : await repo.commit(head.oid)
  const partialTree = await stageFor(git, options)
  if (!options.has('no-verify')) await runPreCommitHook(git)
  const tree = partialTree ?? (await indexTree(repo))
  const mergeHeads = await readMergeHeads(git)
  const parents = options.has('amend')
    ? (previous?.parents ?? [])
    : [...(head.oid === null ? [] : [head.oid]), ...mergeHeads]
  if (
    !options.has('allow-empty') &&
    !options.has('amend') &&
    mergeHeads.length === 0 &&
    tree === (previous?.tree ?? (await emptyTree(git)))
  ) {
    return sayNothingToCommit(git)
  }
  if (options.has('amend') && !options.has('allow-empty') && (await isEmptied(git, parents, tree)))
    return refuseEmptyAmend(git)
  const message = await messageFor(git, options, previous)
  if (options.has('dry-run')) return 0
  const author = await authorFor(git, options, previous)
  const action = options.has('amend')
    ? 'commit (amend)'
    : head.oid === null
      ? 'commit (initial)'
      : mergeHeads.length > 0
        ? 'commit (merge)'
        : 'commit'
  const made = await makeCommit(git, { tree, parents, message, author, action })
  if (!options.has('quiet'))
    await report(git, {
      ...made,
      branch: head.ref,
      isAmended: options.has('amend'),
      showsDate: ['amend', 'date', 'reuse-message'].some((name) => options.has(name)),
    })
  return 0
}

async function emptyTree(git: Invocation): Promise<string> {
  return git.repo().objects.write('tree', utf8(''))
}

async function refuseUnmerged(git: Invocation, options: Arguments): Promise<void> {
  const repo = git.repo()
  const unmerged = (await repo.index()).unmergedPaths()
  if (unmerged.length === 0) return
  if (options.has('all')) {
    // Everything that is tracked is about to be staged, which says that it is merged.
    return
  }
  for (const path of unmerged) git.line(`U\t${quoted(path)}`)
  throw new GitFailure(
    'error: Committing is not possible because you have unmerged files.\n' +
      "hint: Fix them up in the work tree, and then use 'git add/rm <file>'\n" +
      'hint: as appropriate to mark resolution and make a commit.\nfatal: Exiting because of an unresolved conflict.',
    128,
  )
}

/** Stages what `-a` and named paths ask for. The tree to commit, if it is not that of the index. */
async function stageFor(git: Invocation, options: Arguments): Promise<string | null> {
  const repo = git.repo()
  if (options.has('all')) {
    if (options.rest.length > 0) throw fatal(`paths '${options.rest[0]} ...' with -a does not make sense`)
    await stage(repo, { filter: () => true, untracked: false })
    return null
  }
  if (options.rest.length === 0) return null
  const pathspec = git.pathspec(options.rest)
  await stage(repo, { filter: (path) => pathspec.matches(path), untracked: false })
  const head = await flatTree(repo, await repo.headTree())
  for (const path of head.keys()) pathspec.matches(path)
  const [missing] = pathspec.unmatched()
  if (missing !== undefined) throw failed(`pathspec '${missing}' did not match any file(s) known to git`)
  if (options.has('include')) return null
  const files = new Map<string, FileState>([...head].filter(([path]) => !pathspec.matches(path)))
  for (const { path, mode, oid } of (await repo.index()).entries)
    if (pathspec.matches(path)) files.set(path, { mode, oid })
  return writeTree(
    repo,
    [...files].map(([path, state]) => ({ path, ...state })),
  )
}

async function readMergeHeads(git: Invocation): Promise<string[]> {
  const text = await readText(git.fs, `${git.repo().gitDir}/MERGE_HEAD`)
  return (text ?? '').split('\n').filter((line) => /^[0-9a-f]{40}$/.test(line))
}

async function sayNothingToCommit(git: Invocation): Promise<number> {
  const repo = git.repo()
  const report = await gatherStatus(git, { untracked: 'normal' })
  git.out(longStatus(report, (path) => quoted(relativeTo(repo, git.cwd, path)), true))
  return 1
}

/** Whether a commit that replaces the newest one would leave nothing of it. */
async function isEmptied(git: Invocation, parents: readonly string[], tree: string): Promise<boolean> {
  const [parent, ...others] = parents
  if (others.length > 0) return false
  return tree === (parent === undefined ? await emptyTree(git) : (await git.repo().commit(parent)).tree)
}

async function refuseEmptyAmend(git: Invocation): Promise<number> {
  const repo = git.repo()
  const report = { ...(await gatherStatus(git, { untracked: 'normal' })), staged: [], isEmptyAmend: true }
  git.out(longStatus(report, (path) => quoted(relativeTo(repo, git.cwd, path)), true))
  git.err(
    'You asked to amend the most recent commit, but doing so would make\n' +
      'it empty. You can repeat your command with --allow-empty, or you can\n' +
      'remove the commit entirely with "git reset HEAD^".',
  )
  return 1
}

async function messageFor(git: Invocation, options: Arguments, previous: Commit | null): Promise<string> {
  let text = await givenMessage(git, options)
  if (text === null && options.has('amend')) text = previous?.message ?? ''
  text ??= await readText(git.fs, `${git.repo().gitDir}/MERGE_MSG`)
  if (text === null) {
    throw new GitFailure(
      'error: Terminal is dumb, but EDITOR unset\nPlease supply the message using either -m or -F option.',
      1,
    )
  }
  let message = tidyMessage(text)
  const trailers = options.all('trailer').map((trailer) => trailer.replace(/^([^:=]+)[:=]\s*/, '$1: '))
  if (options.has('signoff')) {
    const { name, email } = await git.signature('committer')
    trailers.push(`Signed-off-by: ${name} <${email}>`)
  }
  const added = trailers.filter((trailer) => !message.includes(`${trailer}\n`))
  if (added.length > 0) message += `${/\n[\w-]+: [^\n]*\n$/.test(message) ? '' : '\n'}${added.join('\n')}\n`
  if (message === '' && !options.has('allow-empty-message'))
    throw new GitFailure('Aborting commit due to empty commit message.', 1)
  return message
}

async function givenMessage(git: Invocation, options: Arguments): Promise<string | null> {
  if (options.has('message')) return options.all('message').join('\n\n')
  const file = options.value('file')
  if (file === '-') return git.stdin
  if (file !== null) {
    const text = await readText(git.fs, git.resolve(file))
    if (text === null) throw fatal(`could not read log file '${file}': No such file or directory`)
    return text
  }
  const reused = options.value('reuse-message')
  return reused === null ? null : (await git.repo().commit(await commitId(git.repo(), reused))).message
}

async function authorFor(git: Invocation, options: Arguments, previous: Commit | null): Promise<Signature> {
  const reused = options.value('reuse-message')
  const kept =
    reused !== null
      ? (await git.repo().commit(await commitId(git.repo(), reused))).author
      : options.has('amend')
        ? previous?.author
        : undefined
  const own = await git.signature('author')
  const base = options.has('reset-author') || !kept ? own : kept
  const author = options.value('author')
  const date = options.value('date')
  return {
    ...base,
    ...(author !== null && parseIdentity(author)),
    ...(date !== null && parseDate(date === 'now' ? `@${Math.floor(Date.now() / 1000)}` : date)),
  }
}

type Made = { oid: string; commit: Commit; branch: string | null; isAmended: boolean; showsDate: boolean }

async function report(git: Invocation, { oid, commit: made, branch, isAmended, showsDate }: Made): Promise<void> {
  const repo = git.repo()
  const name = branch === null ? 'detached HEAD' : branch.replace(/^refs\/heads\//, '')
  const root = made.parents.length === 0 && !isAmended ? ' (root-commit)' : ''
  git.line(`[${name}${root} ${await abbreviate(repo, oid)}] ${subjectOf(made.message)}`)
  const { author, committer } = made
  if (author.name !== committer.name || author.email !== committer.email)
    git.line(` Author: ${author.name} <${author.email}>`)
  if (showsDate) git.line(` Date: ${showDate(author, 'default')}`)
  if (made.parents.length > 1) return
  const before = made.parents[0] === undefined ? null : (await repo.commit(made.parents[0])).tree
  const changes = await withRenames(repo, await treeChanges(repo, before, made.tree))
  const files = changes.filter(({ after, before: old }) => (after ?? old)?.mode !== MODE.tree)
  git.out(await shortstat(repo, files))
  git.out(changeSummary(files))
}
