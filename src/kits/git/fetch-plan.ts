// Which refs of a remote a fetch brings, where each is noted here, and which of them a pull would merge.

import { type Advertisement, remoteRefOf } from './advertisement.ts'
import { fatal } from './failure.ts'
import { goalOf, matchesSource, type Refspec } from './refspecs.ts'

export interface PlannedRef {
  /** In full, at the remote; an id for what was named by its id. */
  source: string
  oid: string
  /** The ref here that is to be the same; null for none. */
  goal: string | null
  force: boolean
  /** How `FETCH_HEAD` has it. */
  use: 'merge' | 'kept' | 'unlisted'
}

export interface FetchWish {
  /** From the command line. */
  given: readonly Refspec[]
  /** Of the remote's configuration. */
  configured: readonly Refspec[]
  /** What the current branch follows at this remote, in full. */
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

/** A short name here is one of the same kind. */
function kindOf(ref: string): string {
  return /^refs\/(tags|remotes)\//.exec(ref)?.[0] ?? 'refs/heads/'
}

/** What was asked for by name is noted as well where the configuration says that it goes. */
function alongTheWay(planned: readonly PlannedRef[], configured: readonly Refspec[]): PlannedRef[] {
  return planned.flatMap((ref) =>
    configured.flatMap((spec): PlannedRef[] => {
      const goal = goalOf(spec, ref.source)
      const isNoted = goal !== null && !planned.some((other) => other.goal === goal)
      return isNoted ? [{ ...ref, goal, force: spec.force, use: 'unlisted' }] : []
    }),
  )
}
