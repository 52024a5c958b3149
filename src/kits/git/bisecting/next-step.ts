// Continues a search: reports the state, finds the next commit to test and checks it out, or names the result.

import { changeSummary, diffstat } from '../diffstat.ts'
import { GitFailure } from '../failure.ts'
import { ancestorsOf, mergeBases, type Visited, walkHistory } from '../history.ts'
import type { Invocation } from '../invocation.ts'
import type { Commit } from '../objects.ts'
import { Pathspec } from '../pathspec.ts'
import { prettyCommit } from '../pretty.ts'
import { withRenames } from '../renames.ts'
import type { Repository } from '../repository.ts'
import { treeChanges } from '../status.ts'
import { switchTo } from '../switching.ts'
import { awayFromSkipped, type Candidate, halve, stepsFor } from './halving.ts'
import { described, log, type Marks, marksOf, pathsOf, read, type Terms, termsOf, write } from './state.ts'

/** `found` if nothing is left to test. */
export type Outcome = 'testing' | 'found' | 'waiting' | 'only-skipped'

const ONLY_SKIPPED = 2

export async function autoNext(git: Invocation): Promise<Outcome> {
  const repo = git.repo()
  const marks = await marksOf(repo)
  if (marks.bad !== null && marks.good.length > 0) return next(git)
  let status = 'waiting for both good and bad commits'
  const count = marks.good.length
  if (marks.bad !== null) status = 'waiting for good commit(s), bad commit known'
  else if (count > 0) status = `waiting for bad commit, ${count} good commit${count === 1 ? '' : 's'} known`
  git.line(`status: ${status}`)
  await log(repo, `# status: ${status}`)
  return 'waiting'
}

export async function next(git: Invocation): Promise<Outcome> {
  const repo = git.repo()
  const marks = await marksOf(repo)
  const terms = await termsOf(repo)
  const { bad } = marks
  if (bad === null) throw new GitFailure(`You need to give me at least one ${terms.bad} and ${terms.good} revision.`, 1)
  if (marks.good.length === 0) git.err(`warning: bisecting only with a ${terms.bad} commit`)
  if (await testsMergeBase(git, bad, marks)) return 'testing'
  const commits = await candidates(git, bad, marks)
  if (commits.length === 0) {
    git.line(`${bad} was both ${terms.good} and ${terms.bad}`)
    throw new GitFailure('', 1)
  }
  if (!commits.some(({ counts }) => counts))
    throw new GitFailure('No testable commit found.\nMaybe you started with bad path arguments?', 4)
  const { ranked, all, reached } = halve(commits, { ranksAll: marks.skipped.length > 0 })
  const { next: oid, tried } = awayFromSkipped(ranked, { skipped: new Set(marks.skipped), bad })
  if (oid === null || (oid === bad && tried.length > 0))
    return onlySkipped(git, { tried: oid === null ? tried : [...tried, bad], bad, good: marks.good })
  if (oid === bad) return found(git, bad)
  const left = all - reached - 1
  const steps = stepsFor(all)
  git.line(
    `Bisecting: ${left} revision${left === 1 ? '' : 's'} left to test after this (roughly ${steps} step${steps === 1 ? '' : 's'})`,
  )
  await checkOut(git, oid)
  return 'testing'
}

async function candidates(git: Invocation, bad: string, { good }: Marks): Promise<Candidate[]> {
  const repo = git.repo()
  const pathspec = new Pathspec(repo, repo.root, await pathsOf(repo))
  const firstOnly = (await read(repo, 'BISECT_FIRST_PARENT')) !== null
  const known = await ancestorsOf(repo, good)
  const kept: Candidate[] = []
  const parentsOf = async ({ oid, commit }: Visited): Promise<string[]> => {
    const parents = firstOnly ? commit.parents.slice(0, 1) : commit.parents
    const { same, counts } = await changed(
      repo,
      { ...commit, parents },
      { pathspec, isLeftOut: (id) => known.has(id) && !good.includes(id) },
    )
    const followed = same === null ? parents : [same]
    kept.push({ oid, parents: followed, counts })
    return followed
  }
  const walk = walkHistory(repo, { include: [bad], exclude: good, parentsOf })
  for await (const _visited of walk);
  return kept
}

/**
 * Whether a commit changes any of the paths. If a parent has the same versions, only that parent is followed; parents
 * known to be good are ignored.
 */
async function changed(
  repo: Repository,
  { tree, parents }: Commit,
  { pathspec, isLeftOut }: { pathspec: Pathspec; isLeftOut: (oid: string) => boolean },
): Promise<{ same: string | null; counts: boolean }> {
  if (pathspec.isEmpty) return { same: null, counts: true }
  const differs = async (before: string | null) =>
    (await treeChanges(repo, before, tree)).some(({ path }) => pathspec.matches(path))
  if (parents.length === 0) return { same: null, counts: await differs(null) }
  const found = { left: false, within: false, isWithin: false }
  for (const parent of parents) {
    const isOut = isLeftOut(parent)
    const isChanged = await differs((await repo.commit(parent)).tree)
    if (!isChanged && !isOut) return { same: parent, counts: false }
    found.isWithin ||= !isOut
    if (isOut) found.left ||= isChanged
    else found.within ||= isChanged
  }
  return { same: null, counts: found.isWithin ? found.within : found.left }
}

/** The merge base must be good: otherwise the bug was fixed on one side, not introduced. */
async function testsMergeBase(git: Invocation, bad: string, marks: Marks): Promise<boolean> {
  const repo = git.repo()
  if ((await read(repo, 'BISECT_ANCESTORS_OK')) !== null) return false
  const known = await ancestorsOf(repo, [bad])
  const terms = await termsOf(repo)
  if (!marks.good.every((oid) => known.has(oid))) {
    const bases = new Set<string>()
    for (const oid of marks.good) for (const base of await mergeBases(repo, bad, oid)) bases.add(base)
    for (const base of bases) {
      if (base === bad)
        throw badBase(base, marks.good, { ...terms, isTested: (await read(repo, 'BISECT_EXPECTED_REV')) === bad })
      if (marks.good.includes(base)) continue
      if (marks.skipped.includes(base)) {
        git.err(skippedBase(base, bad, marks.good))
        continue
      }
      git.line('Bisecting: a merge base must be tested')
      await checkOut(git, base)
      return true
    }
  }
  await write(repo, 'BISECT_ANCESTORS_OK', '')
  return false
}

function badBase(base: string, good: readonly string[], terms: Terms & { isTested: boolean }): GitFailure {
  if (!terms.isTested)
    return new GitFailure(
      `Some ${terms.good} revs are not ancestors of the ${terms.bad} rev.\ngit bisect cannot work properly in this case.\nMaybe you mistook ${terms.good} and ${terms.bad} revs?`,
      1,
    )
  const list = good.join(' ')
  const text =
    terms.bad === 'bad' && terms.good === 'good'
      ? `The merge base ${base} is bad.\nThis means the bug has been fixed between ${base} and [${list}].`
      : terms.bad === 'new' && terms.good === 'old'
        ? `The merge base ${base} is new.\nThe property has changed between ${base} and [${list}].`
        : `The merge base ${base} is ${terms.bad}.\nThis means the first '${terms.good}' commit is between ${base} and [${list}].`
  return new GitFailure(text, 3)
}

function skippedBase(base: string, bad: string, good: readonly string[]): string {
  return (
    `warning: the merge base between ${bad} and [${good.join(' ')}] must be skipped.\n` +
    `So we cannot be sure the first bad commit is between ${base} and ${bad}.\nWe continue anyway.`
  )
}

export async function checkOut(git: Invocation, oid: string): Promise<void> {
  const repo = git.repo()
  await write(repo, 'BISECT_EXPECTED_REV', `${oid}\n`)
  if ((await read(repo, 'BISECT_HEAD')) === null)
    await switchTo(git, { ref: null, oid, name: oid, isNew: false, quiet: true })
  else await write(repo, 'BISECT_HEAD', `${oid}\n`)
  git.line(await described(repo, oid))
}

type Skipped = { tried: readonly string[]; bad: string; good: readonly string[] }

async function onlySkipped(git: Invocation, { tried, bad, good }: Skipped): Promise<Outcome> {
  const terms = await termsOf(git.repo())
  git.line(`There are only 'skip'ped commits left to test.\nThe first ${terms.bad} commit could be any of:`)
  for (const oid of tried) git.line(oid)
  git.line('We cannot bisect more!')
  const repo = git.repo()
  await log(repo, '# only skipped commits left to test')
  for await (const { oid } of walkHistory(repo, { include: [bad], exclude: good }))
    await log(repo, `# possible first ${terms.bad} commit: ${await described(repo, oid)}`)
  return 'only-skipped'
}

async function found(git: Invocation, oid: string): Promise<Outcome> {
  const repo = git.repo()
  const { bad } = await termsOf(repo)
  const commit = await repo.commit(oid)
  git.line(`${oid} is the first ${bad} commit`)
  const options = { format: 'medium', date: 'default', abbreviates: false, decorations: null }
  git.line(await prettyCommit(repo, { oid, commit }, options))
  const [parent] = commit.parents
  const before = parent === undefined ? null : (await repo.commit(parent)).tree
  const changes = await withRenames(repo, await treeChanges(repo, before, commit.tree))
  if (changes.length > 0) git.out(`\n${await diffstat(repo, changes)}${changeSummary(repo, changes)}`)
  await log(repo, `# first ${bad} commit: ${await described(repo, oid)}`)
  return 'found'
}

export function exitCodeOf(outcome: Outcome): number {
  return outcome === 'only-skipped' ? ONLY_SKIPPED : 0
}
