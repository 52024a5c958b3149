import { type Arguments, parseArguments } from '../arguments.ts'
import { fatal, GitFailure } from '../failure.ts'
import { ancestorsOf } from '../history.ts'
import type { Invocation } from '../invocation.ts'
import { type ListedRef, RefFormat } from '../ref-format.ts'
import { sortRefs } from '../ref-sorting.ts'
import { commitId, revision } from '../revisions.ts'
import { wildcard } from '../wildcards.ts'

const OPTIONS = ['format=', 'sort=', 'count=', 'points-at=?', 'merged=?', 'no-merged=?', 'contains=?', 'no-contains=?']

const DEFAULT_FORMAT = '%(objectname) %(objecttype)\t%(refname)'

export async function forEachRef(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('for-each-ref', OPTIONS, args)
  const given = options.value('count') ?? '0'
  if (!/^\d+$/.test(given)) throw new GitFailure(`error: invalid --count argument: \`${given}'`, 129)
  const repo = git.repo()
  const patterns = [...options.rest]
  const filter = await refFilter(git, options)
  const rows: ListedRef[] = []
  for (const [ref, oid] of await repo.refs.list('refs/')) {
    if (patterns.length > 0 && !patterns.some((pattern) => isBelow(ref, pattern))) continue
    if (await filter(oid)) rows.push({ ref, oid })
  }
  const count = options.has('count') ? Number(options.value('count')) : Number.POSITIVE_INFINITY
  if (Number.isNaN(count)) throw fatal("option `count' expects a numerical value")
  const format = new RefFormat({ repo, env: git.env }, options.value('format') ?? DEFAULT_FORMAT)
  for (const row of (await sortRefs(repo, rows, options.all('sort'))).slice(0, count || rows.length))
    git.line(await format.fill(row))
  return 0
}

function isBelow(ref: string, pattern: string): boolean {
  const plain = pattern.replace(/\/$/, '')
  return ref === plain || ref.startsWith(`${plain}/`) || wildcard(pattern, { passesSlashes: false }).test(ref)
}

/** Filters refs by the commits that they lead to. */
export async function refFilter(git: Invocation, options: Arguments): Promise<(oid: string) => Promise<boolean>> {
  const repo = git.repo()
  const named = async (option: string) => (options.has(option) ? commitId(repo, options.value(option) || 'HEAD') : null)
  const [contains, without] = [await named('contains'), await named('no-contains')]
  const [merged, unmerged] = [await named('merged'), await named('no-merged')]
  const within = merged === null ? null : await ancestorsOf(repo, [merged])
  const beyond = unmerged === null ? null : await ancestorsOf(repo, [unmerged])
  const at = options.has('points-at') ? await revision(repo, options.value('points-at') || 'HEAD') : null
  if (options.has('points-at') && at === null) throw fatal(`malformed object name '${options.value('points-at')}'`)
  const isPlain = [contains, without, merged, unmerged].every((oid) => oid === null)
  return async (oid) => {
    const { type } = await repo.objects.read(oid)
    const commit = type === 'commit' || type === 'tag' ? await repo.peel(oid, 'commit') : null
    if (at !== null && oid !== at && commit !== at) return false
    if (isPlain) return true
    if (commit === null) return false
    if ((within && !within.has(commit)) || beyond?.has(commit)) return false
    const before = contains !== null || without !== null ? await ancestorsOf(repo, [commit]) : null
    return (contains === null || before?.has(contains) === true) && !(without !== null && before?.has(without))
  }
}
