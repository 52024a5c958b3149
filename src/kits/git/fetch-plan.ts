// Which refs of a remote are fetched, where each is stored locally, and which of them a pull merges.

import { type Advertisement, remoteRefOf } from './advertisement.ts'
import { fatal } from './failure.ts'
import { goalOf, matchesSource, type Refspec } from './refspecs.ts'

export interface PlannedRef {
  /** The full name at the remote; an id if it was requested by id. */
  source: string
  oid: string
  /** The local ref that is set to it; null for none. */
  goal: string | null
  force: boolean
  /** Its kind in `FETCH_HEAD`. */
  use: 'merge' | 'kept' | 'unlisted'
}

export interface FetchWish {
  /** From the command line. */
  given: readonly Refspec[]
  /** From the remote's configuration. */
  configured: readonly Refspec[]
  /** The full names of the current branch's upstreams at this remote. */
  merged: readonly string[]
  allTags: boolean
}

const ID = /^[0-9a-f]{40}$/

export function planFetch(advertisement: Advertisement, wish: FetchWish): PlannedRef[] {
  const { given, configured } = wish
  const planned = given.length > 0 ? givenRefs(advertisement, wish) : configuredRefs(advertisement, wish)
  if (wish.allTags)
    for (const [ref, oid] of advertisement.refs)
      if (ref.startsWith('refs/tags/')) planned.push({ source: ref, oid, goal: ref, force: false, use: 'kept' })
  if (given.length > 0) planned.push(...alongTheWay(planned, configured))
  const excluded = [...given, ...configured].filter(({ isExclusion }) => isExclusion)
  const wanted = planned.filter(({ source }) => !excluded.some((spec) => matchesSource(spec, source)))
  return wanted.filter((ref, i) => !wanted.slice(0, i).some((other) => isSame(other, ref)))
}

function isSame(a: PlannedRef, b: PlannedRef): boolean {
  return a.source === b.source && a.goal === b.goal
}

function givenRefs(advertisement: Advertisement, { given }: FetchWish): PlannedRef[] {
  return given
    .filter(({ isExclusion }) => !isExclusion)
    .flatMap((spec) => expanded(advertisement, spec).map((ref): PlannedRef => ({ ...ref, use: 'merge' })))
}

function configuredRefs(advertisement: Advertisement, { configured, merged }: FetchWish): PlannedRef[] {
  const specs = configured.filter(({ isExclusion }) => !isExclusion)
  if (specs.length === 0 && merged.length === 0) {
    const oid = advertisement.refs.get('HEAD')
    if (oid === undefined) throw fatal("couldn't find remote ref HEAD", { reason: 'not-found' })
    return [{ source: 'HEAD', oid, goal: null, force: false, use: 'merge' }]
  }
  const planned = specs.flatMap((spec) => expanded(advertisement, spec))
  for (const ref of merged) {
    const there = planned.find(({ source }) => source === ref)
    const oid = advertisement.refs.get(ref)
    if (there) there.use = 'merge'
    else if (oid !== undefined) planned.push({ source: ref, oid, goal: null, force: false, use: 'merge' })
  }
  const [first] = planned
  if (merged.length === 0 && first && !specs[0]?.source.includes('*')) first.use = 'merge'
  return planned
}

function expanded(advertisement: Advertisement, spec: Refspec): PlannedRef[] {
  const { source, force } = spec
  if (source.includes('*'))
    return [...advertisement.refs].flatMap(([ref, oid]): PlannedRef[] =>
      ref.startsWith('refs/') && matchesSource(spec, ref)
        ? [{ source: ref, oid, goal: goalOf(spec, ref), force, use: 'kept' }]
        : [],
    )
  const ref = remoteRefOf(advertisement, source) ?? (ID.test(source) ? source : null)
  if (ref === null) throw fatal(`couldn't find remote ref ${source}`, { reason: 'not-found' })
  const goal = spec.goal === null || spec.goal.startsWith('refs/') ? spec.goal : `${kindOf(ref)}${spec.goal}`
  return [{ source: ref, oid: advertisement.refs.get(ref) ?? ref, goal, force, use: 'kept' }]
}

/** A local short name is of the same kind. */
function kindOf(ref: string): string {
  return /^refs\/(tags|remotes)\//.exec(ref)?.[0] ?? 'refs/heads/'
}

/** Refs requested by name also update their configured tracking refs. */
function alongTheWay(planned: readonly PlannedRef[], configured: readonly Refspec[]): PlannedRef[] {
  return planned.flatMap((ref) =>
    configured.flatMap((spec): PlannedRef[] => {
      const goal = goalOf(spec, ref.source)
      const isNoted = goal !== null && !planned.some((other) => other.goal === goal)
      return isNoted ? [{ ...ref, goal, force: spec.force, use: 'unlisted' }] : []
    }),
  )
}
