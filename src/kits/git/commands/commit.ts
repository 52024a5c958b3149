import { type Arguments, parseArguments } from '../arguments.ts'
import { messageFor } from '../commit-message.ts'
import { reportCommit } from '../commit-report.ts'
import { indexTree, makeCommit } from '../commits.ts'
import { givenDate } from '../dates.ts'
import { failed, fatal } from '../failure.ts'
import { walkHistory } from '../history.ts'
import { runPreCommitHook } from '../hooks.ts'
import { parseIdentity } from '../identity.ts'
import type { Invocation } from '../invocation.ts'
import { unmergedRefusal } from '../merging.ts'
import { cleanupOf } from '../message-cleanup.ts'
import { sayEmptyPick, sayNothingToCommit } from '../nothing-to-commit.ts'
import { type Commit, EMPTY_TREE, type FileState, type Signature } from '../objects.ts'
import { relativeTo } from '../pathspec.ts'
import { compilePattern } from '../patterns.ts'
import { readText } from '../ref-files.ts'
import { commitId } from '../revisions.ts'
import { forgetSeries, storedSeries } from '../sequencer/series-state.ts'
import { stage } from '../staging.ts'
import { gatherStatus, longStatus } from '../status-report.ts'
import { flatTree, writeTree } from '../tree.ts'
import { zoneIn } from '../zone-offset.ts'

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
  'reedit-message|c=',
  'fixup=',
  'squash=',
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
  if (options.has('reset-author') && !['reuse-message', 'reedit-message', 'amend'].some((name) => options.has(name)))
    throw fatal('--reset-author can be used only with -C, -c or --amend.')
  cleanupOf(options.value('cleanup') ?? 'default', false)
  if (options.has('dry-run')) return dryRun(git, options)
  const repo = git.repo()
  await refuseUnmerged(git, options)
  const head = await repo.refs.head()
  const previous = head.oid === null ? null : await repo.commit(head.oid)
  const mergeHeads = await readMergeHeads(git)
  const picked = await pickedCommit(git)
  const isAmended = options.has('amend')
  const isMerge = mergeHeads.length > 0
  if (isAmended) refuseAmend(head.oid, isMerge ? 'merge' : picked ? 'cherry-pick' : null)
  const partialTree = await stageFor(git, options)
  if (!options.has('no-verify')) await runPreCommitHook(git)
  const tree = partialTree ?? (await indexTree(repo))
  const parents = isAmended ? (previous?.parents ?? []) : [...(head.oid === null ? [] : [head.oid]), ...mergeHeads]
  const isEmpty = tree === (previous?.tree ?? EMPTY_TREE)
  if (!options.has('allow-empty') && !isAmended && !isMerge && isEmpty)
    return picked ? sayEmptyPick(git) : sayNothingToCommit(git)
  if (isAmended && !options.has('allow-empty') && (await isEmptied(git, parents, tree))) return refuseEmptyAmend(git)
  const message = await messageFor(git, options, previous)
  const author = await authorFor(git, options, isAmended ? previous : picked)
  const what = kindOfCommit({ isAmended, isMerge, isInitial: head.oid === null, isPicked: picked !== null })
  const made = await makeCommit(git, { tree, parents, message, author, action: git.logged(`commit${what}`) })
  await forgetFinishedSeries(git)
  if (!options.has('quiet'))
    await reportCommit(git, {
      ...made,
      branch: head.ref,
      isAmended,
      showsDate: showsDate(options, picked !== null),
    })
  return 0
}

/** Whether the date is shown, because it is not the current one. */
function showsDate(options: Arguments, isPicked: boolean): boolean {
  if (options.has('date')) return true
  const isTaken = ['amend', 'reuse-message', 'reedit-message'].some((name) => options.has(name))
  return !options.has('reset-author') && (isPicked || isTaken)
}

/** Shows what would be committed, in the form of the status; the index is restored. */
async function dryRun(git: Invocation, options: Arguments): Promise<number> {
  if (options.has('verbose')) throw fatal('git commit --dry-run -v is not available here')
  if (options.has('amend')) throw fatal('git commit --dry-run --amend is not available here')
  await refuseUnmerged(git, options)
  const repo = git.repo()
  const path = `${repo.gitDir}/index`
  const before = repo.fs.exists(path) ? (await repo.fs.read(path)).slice() : null
  try {
    const partial = await stageFor(git, options)
    if (partial !== null && !options.has('include'))
      throw fatal('git commit --dry-run of named paths is not available here')
    const isEmpty = (await indexTree(repo)) === ((await repo.headTree()) ?? EMPTY_TREE)
    await sayNothingToCommit(git)
    return isEmpty && !options.has('allow-empty') ? 1 : 0
  } finally {
    if (before) await repo.fs.write(path, before)
    else if (repo.fs.exists(path)) repo.fs.remove(path)
  }
}

type CommitKind = { isAmended: boolean; isInitial: boolean; isMerge: boolean; isPicked: boolean }

/** The kind of commit in the reflog. */
function kindOfCommit({ isAmended, isInitial, isMerge, isPicked }: CommitKind): string {
  if (isAmended) return ' (amend)'
  if (isInitial) return ' (initial)'
  if (isMerge) return ' (merge)'
  return isPicked ? ' (cherry-pick)' : ''
}

/** The commit whose cherry-pick stopped; its author is kept. */
async function pickedCommit(git: Invocation): Promise<Commit | null> {
  const oid = await git.repo().refs.resolve('CHERRY_PICK_HEAD')
  return oid === null ? null : git.repo().commit(oid)
}

/** A series of commits ends when its last one was committed manually. */
async function forgetFinishedSeries(git: Invocation): Promise<void> {
  const stored = await storedSeries(git.repo())
  if (stored && stored.oids.length < 2) forgetSeries(git.repo())
}

function refuseAmend(head: string | null, underWay: 'merge' | 'cherry-pick' | null): void {
  if (head === null) throw fatal('You have nothing to amend.')
  if (underWay !== null) throw fatal(`You are in the middle of a ${underWay} -- cannot amend.`)
}

async function refuseUnmerged(git: Invocation, options: Arguments): Promise<void> {
  const repo = git.repo()
  const unmerged = (await repo.index()).unmergedPaths()
  if (unmerged.length === 0) return
  if (options.has('all')) {
    // All tracked files will be staged, which marks conflicts as resolved.
    return
  }
  for (const path of unmerged) git.line(`U\t${git.repo().quoted(path)}`)
  throw unmergedRefusal('Committing')
}

/** Stages the files of `-a` and of given paths. Returns the tree to commit if it is not that of the index. */
async function stageFor(git: Invocation, options: Arguments): Promise<string | null> {
  const repo = git.repo()
  if (options.has('all')) {
    if (options.rest.length > 0) throw fatal(`paths '${options.rest[0]} ...' with -a does not make sense`)
    await stage(repo, { filter: () => true, untracked: false })
    return null
  }
  // Without a path, `--only` commits nothing of the index.
  if (options.rest.length === 0 && options.has('only') && options.has('amend')) return repo.headTree()
  if (options.rest.length === 0 && (options.has('only') || options.has('include')))
    throw fatal('No paths with --include/--only does not make sense.')
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

/** Whether amending the newest commit would make it empty. */
async function isEmptied(git: Invocation, parents: readonly string[], tree: string): Promise<boolean> {
  const [parent, ...others] = parents
  if (others.length > 0) return false
  return tree === (parent === undefined ? EMPTY_TREE : (await git.repo().commit(parent)).tree)
}

async function refuseEmptyAmend(git: Invocation): Promise<number> {
  const repo = git.repo()
  const report = { ...(await gatherStatus(git, { untracked: 'normal' })), staged: [], isEmptyAmend: true }
  git.out(longStatus(report, (path) => git.repo().quoted(relativeTo(repo, git.cwd, path)), true))
  git.err(
    'You asked to amend the most recent commit, but doing so would make\n' +
      'it empty. You can repeat your command with --allow-empty, or you can\n' +
      'remove the commit entirely with "git reset HEAD^".',
  )
  return 1
}

/** Without an address, `--author` is a pattern for the newest commit with a matching author. */
async function knownAuthor(git: Invocation, words: string): Promise<{ name: string; email: string } | null> {
  if (/<[^>]*>\s*$/.test(words)) return null
  const pattern = compilePattern(words, { notation: 'basic', ignoresCase: true, flags: '' })
  const include = await Promise.all(
    [...(await git.repo().refs.list('refs/heads/')).values()].map((oid) => git.repo().peel(oid, 'commit')),
  )
  const { oid } = await git.repo().refs.head()
  if (oid !== null) include.push(oid)
  for await (const { commit: past } of walkHistory(git.repo(), { include, exclude: [] })) {
    const { name, email } = past.author
    if (pattern.test(`${name} <${email}>`)) return { name, email }
  }
  return null
}

/** `taken` is the commit that is replaced or repeated. */
async function authorFor(git: Invocation, options: Arguments, taken: Commit | null): Promise<Signature> {
  const reused = options.value('reuse-message') ?? options.value('reedit-message')
  const kept = reused !== null ? (await git.repo().commit(await commitId(git.repo(), reused))).author : taken?.author
  const own = await git.signature('author')
  const base = options.has('reset-author') || !kept ? own : kept
  const author = options.value('author')
  const date = options.value('date')
  return {
    ...base,
    ...(author !== null && ((await knownAuthor(git, author)) ?? parseIdentity(author))),
    ...(date !== null && givenDate(date, zoneIn(git.env))),
  }
}
