import { parseArguments } from '../arguments.ts'
import { fatal, GitFailure } from '../failure.ts'
import { isAncestor, mergeBases } from '../history.ts'
import type { Invocation } from '../invocation.ts'
import type { Repository } from '../repository.ts'
import { revision } from '../revisions.ts'

/** Shows the common ancestors of commits. */
export async function mergeBase(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('merge-base', ['all|a', 'octopus', 'independent', 'is-ancestor'], args)
  const repo = git.repo()
  const oids: string[] = []
  for (const word of options.rest) {
    const oid = await revision(repo, word)
    if (oid === null) throw fatal(`Not a valid object name ${word}`)
    oids.push(await repo.peel(oid, 'commit'))
  }
  const [first, ...others] = oids
  if (options.has('is-ancestor')) {
    const [second] = others
    if (first === undefined || second === undefined || others.length > 1)
      throw fatal('--is-ancestor takes exactly two commits')
    return (await isAncestor(repo, first, second)) ? 0 : 1
  }
  const isFew = options.has('octopus') || options.has('independent')
  if (first === undefined || (others.length === 0 && !isFew))
    throw new GitFailure('usage: git merge-base [-a | --all] <commit> <commit>...', 129)
  if (options.has('independent')) {
    for (const oid of await withoutAncestors(repo, oids)) git.line(oid)
    return 0
  }
  const found = options.has('octopus') ? await ofAll(repo, oids) : await ofAny(repo, first, others)
  for (const base of options.has('all') ? found : found.slice(0, 1)) git.line(base)
  return found.length > 0 ? 0 : 1
}

/** Of the first and a hypothetical merge of the others. */
async function ofAny(repo: Repository, first: string, others: readonly string[]): Promise<string[]> {
  const bases: string[] = []
  for (const other of others) bases.push(...(await mergeBases(repo, first, other)))
  return withoutAncestors(repo, bases)
}

/** Of all commits together, step by step. */
async function ofAll(repo: Repository, oids: readonly string[]): Promise<string[]> {
  let found = oids.slice(0, 1)
  for (const oid of oids.slice(1)) {
    const next: string[] = []
    for (const base of found) next.push(...(await mergeBases(repo, base, oid)))
    found = await withoutAncestors(repo, next)
  }
  return found
}

async function withoutAncestors(repo: Repository, given: readonly string[]): Promise<string[]> {
  const oids = [...new Set(given)]
  const kept: string[] = []
  for (const oid of oids) {
    const above = await Promise.all(oids.map((other) => other !== oid && isAncestor(repo, oid, other)))
    if (!above.includes(true)) kept.push(oid)
  }
  return kept
}
