// Fetches from one remote: gets the objects, updates the tracking refs, and reports it.

import type { Advertisement } from './advertisement.ts'
import { fatal, GitFailure } from './failure.ts'
import { type PlannedRef, planFetch } from './fetch-plan.ts'
import type { FetchOrder } from './fetch-report.ts'
import { FetchReport } from './fetch-report.ts'
import type { Invocation } from './invocation.ts'
import { isRefName } from './ref-names.ts'
import { type Refspec, sourceOf } from './refspecs.ts'
import { isForward, openTransport, tagsInReach, withAdvice } from './transfers.ts'
import { assertComplete, fetchPack } from './upload-pack.ts'

/** Returns the fetched refs, in the order of `FETCH_HEAD`. */
export async function fetchOrdered(git: Invocation, order: FetchOrder): Promise<PlannedRef[]> {
  const repo = git.repo()
  const transport = openTransport(git.transfers(), order.url)
  const advertisement = await transport.advertised('git-upload-pack')
  const planned = planFetch(advertisement, order.wish)
  if (!order.movesHead) await refuseHead(git, planned)
  const bring = (oids: readonly string[], depth: number | null) =>
    fetchPack({ repo, transport, advertisement }, { wants: oids, depth, includesTags: order.followsTags })
  const report = new FetchReport(git, order)
  if (order.prunes) await prune(git, { order, advertisement, report })
  await withAdvice(() =>
    bring(
      planned.map(({ oid }) => oid),
      order.depth,
    ),
  )
  for (const { oid } of planned) await assertComplete(repo, oid)
  if (order.followsTags) {
    const tags = await followed(git, { advertisement, planned })
    await bring(
      tags.map(({ oid }) => oid),
      null,
    )
    planned.push(...tags)
  }
  const sorted = (['merge', 'kept', 'unlisted'] as const).flatMap((use) => planned.filter((ref) => ref.use === use))
  await report.measure(sorted)
  for (const ref of sorted) await note(git, ref, { order, report })
  report.say()
  if (report.hasRefusals) throw new GitFailure('', 1)
  return sorted.filter(({ use }) => use !== 'unlisted')
}

/** A bare repository has no working tree that could become outdated. */
async function refuseHead(git: Invocation, planned: readonly PlannedRef[]): Promise<void> {
  const repo = git.repo()
  const { ref } = await repo.refs.head()
  if (!repo.isBare && ref !== null && planned.some(({ goal }) => goal === ref))
    throw fatal(`refusing to fetch into branch '${ref}' checked out at '${repo.root}'`)
}

type FetchPlan = { advertisement: Advertisement; planned: readonly PlannedRef[] }

async function followed(git: Invocation, { advertisement, planned }: FetchPlan): Promise<PlannedRef[]> {
  const tags = await tagsInReach(git.repo(), advertisement)
  return tags.flatMap(({ ref, oid }): PlannedRef[] =>
    ref === null || planned.some(({ goal }) => goal === ref)
      ? []
      : [{ source: ref, oid, goal: ref, force: false, use: 'kept' }],
  )
}

/** Removes the tracking refs of refs that the remote no longer has. */
async function prune(
  git: Invocation,
  { order, advertisement, report }: { order: FetchOrder; advertisement: Advertisement; report: FetchReport },
): Promise<void> {
  const { given, configured } = order.wish
  for (const name of await staleRefs(git, given.length > 0 ? given : configured, advertisement)) {
    await git.repo().refs.change(name, { oid: null, by: await git.signature('committer'), message: '' })
    report.deleted(name)
  }
}

export async function staleRefs(
  git: Invocation,
  specs: readonly Refspec[],
  { refs }: Pick<Advertisement, 'refs'>,
): Promise<string[]> {
  const { refs: own } = git.repo()
  const stale: string[] = []
  for (const name of (await own.list('refs/')).keys()) {
    const sources = specs.flatMap((spec) => sourceOf(spec, name) ?? [])
    if (sources.length === 0 || sources.some((source) => refs.has(source))) continue
    if ((await own.symbolicTarget(name)) === null) stale.push(name)
  }
  return stale
}

type Noting = { order: FetchOrder; report: FetchReport }

async function note(git: Invocation, ref: PlannedRef, { order, report }: Noting): Promise<void> {
  const { goal, oid } = ref
  if (goal === null) return report.unnoted(ref)
  const repo = git.repo()
  if (!isRefName(goal)) throw fatal(`invalid refspec '${goal}'`)
  const before = await repo.refs.resolve(goal)
  if (before === oid) return report.row('=', '[up to date]', ref)
  const change = async (what: string) =>
    repo.refs.change(goal, { oid, by: await git.signature('committer'), message: `${order.action}: ${what}` })
  if (before === null) {
    const kind = ref.source.startsWith('refs/tags/') ? 'tag' : ref.source.startsWith('refs/heads/') ? 'branch' : 'ref'
    await change(`storing ${kind === 'branch' ? 'head' : kind}`)
    return report.row('*', `[new ${kind}]`, ref)
  }
  const force = ref.force || order.force
  if (goal.startsWith('refs/tags/')) {
    if (!force) return report.row('!', '[rejected]', ref, 'would clobber existing tag')
    await change('updating tag')
    return report.row('t', '[tag update]', ref)
  }
  const isOnward = await isForward(repo, before, oid)
  if (!isOnward && !force) return report.row('!', '[rejected]', ref, 'non-fast-forward')
  await change(isOnward ? 'fast-forward' : 'forced-update')
  const ids = await report.ids(before, oid, isOnward)
  return isOnward ? report.row(' ', ids, ref) : report.row('+', ids, ref, 'forced update')
}
