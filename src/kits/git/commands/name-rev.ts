import { parseArguments } from '../arguments.ts'
import { fatal } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { parseTag } from '../objects.ts'
import { abbreviate, revision } from '../revisions.ts'
import { wildcard } from '../wildcards.ts'

/** A name for a commit: its distance along first parents, and the number of merges in between. */
interface Reached {
  tip: string
  seconds: number
  generation: number
  distance: number
  isTag: boolean
}

const MERGE_WEIGHT = 65_535

const OPTIONS = ['tags', 'name-only', 'refs=', 'exclude=', 'undefined', 'no-undefined', 'always']

export async function nameRev(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('name-rev', OPTIONS, args)
  const repo = git.repo()
  const names = await reachedNames(git, {
    tagsOnly: options.has('tags'),
    isBare: options.has('name-only'),
    wanted: options.all('refs'),
    unwanted: options.all('exclude'),
  })
  const mustBeNamed = options.latest('undefined', 'no-undefined') === 'no-undefined'
  for (const word of options.rest) {
    const oid = await revision(repo, word)
    if (oid === null) {
      git.err(`Could not get sha1 for ${word}. Skipping.`)
      continue
    }
    const tag = (await repo.objects.read(oid)).type === 'tag' ? await tagNamed(git, oid) : null
    const reached = names.get(await repo.peel(oid, 'commit'))
    const isNameless = tag === null && reached === undefined
    if (!options.has('name-only')) git.out(`${word} `)
    if (isNameless && mustBeNamed && !options.has('always')) throw fatal(`cannot describe '${oid}'`)
    const fallback = mustBeNamed ? await abbreviate(repo, oid) : 'undefined'
    git.line(tag ?? (reached ? shown(reached) : fallback))
  }
  return 0
}

/** A tag object has the name of its ref. */
async function tagNamed(git: Invocation, oid: string): Promise<string | null> {
  const found = [...(await git.repo().refs.list('refs/'))].find(([, other]) => other === oid)
  return found?.[0].replace(/^refs\//, '') ?? null
}

function shown({ tip, generation }: Reached): string {
  return generation === 0 ? tip : `${tip.replace(/\^0$/, '')}~${generation}`
}

interface NamingOptions {
  tagsOnly: boolean
  isBare: boolean
  /** Patterns of the refs that may be used, all if there are none; and of those that may not. */
  wanted: string[]
  unwanted: string[]
}

/** How the pattern matches the ref or its part after a slash. Null if it does not match. */
function matchOf(ref: string, pattern: string): 'whole' | 'end' | null {
  const regex = wildcard(pattern)
  if (regex.test(ref)) return 'whole'
  const ends = [...ref.matchAll(/\//g)].map(({ index }) => ref.slice(index + 1))
  return ends.some((end) => regex.test(end)) ? 'end' : null
}

/** The form of the ref in names; null if the ref is not used. */
function nameOfRef(ref: string, { tagsOnly, isBare, wanted, unwanted }: NamingOptions): string | null {
  if (tagsOnly && !ref.startsWith('refs/tags/')) return null
  if (unwanted.some((pattern) => matchOf(ref, pattern) !== null)) return null
  const matches = wanted.map((pattern) => matchOf(ref, pattern))
  if (wanted.length > 0 && matches.every((match) => match === null)) return null
  if ((tagsOnly && isBare) || matches.includes('end')) return ref.replace(/^refs\/(heads|tags|remotes)\//, '')
  return ref.replace(/^refs\/(heads\/)?/, '')
}

async function reachedNames(git: Invocation, options: NamingOptions): Promise<Map<string, Reached>> {
  const repo = git.repo()
  const tips: { oid: string; reached: Reached }[] = []
  for (const [ref, oid] of await repo.refs.list('refs/')) {
    const isTag = ref.startsWith('refs/tags/')
    const name = nameOfRef(ref, options)
    if (name === null) continue
    const { type, bytes } = await repo.objects.read(oid)
    if (type !== 'tag' && type !== 'commit') continue
    const commit = await repo.peel(oid, 'commit')
    const tagged = type === 'tag' ? parseTag(bytes).tagger?.seconds : undefined
    const seconds = tagged ?? (await repo.commit(commit)).committer.seconds
    const tip = type === 'tag' ? `${name}^0` : name
    tips.push({ oid: commit, reached: { tip, seconds, generation: 0, distance: 0, isTag } })
  }
  const names = new Map<string, Reached>()
  for (const { oid, reached } of tips.sort(
    (a, b) => Number(b.reached.isTag) - Number(a.reached.isTag) || a.reached.seconds - b.reached.seconds,
  ))
    await spread(git, names, { oid, reached })
  return names
}

async function spread(
  git: Invocation,
  names: Map<string, Reached>,
  start: { oid: string; reached: Reached },
): Promise<void> {
  const repo = git.repo()
  const open = [start]
  for (let next = open.pop(); next; next = open.pop()) {
    const pause = repo.pace()
    if (pause) await pause
    const known = names.get(next.oid)
    if (known && !isBetter(next.reached, known)) continue
    names.set(next.oid, next.reached)
    const { reached } = next
    const { parents } = await repo.commit(next.oid)
    for (const [i, oid] of parents.entries()) {
      const base = { ...reached }
      if (i === 0)
        open.push({ oid, reached: { ...base, generation: reached.generation + 1, distance: reached.distance + 1 } })
      else {
        const tip = `${shown(reached).replace(/\^0$/, '')}^${i + 1}`
        open.push({ oid, reached: { ...base, tip, generation: 0, distance: reached.distance + MERGE_WEIGHT } })
      }
    }
  }
}

function isBetter(a: Reached, b: Reached): boolean {
  if (a.isTag !== b.isTag) return a.isTag
  const [x, y] = [a, b].map(({ distance, generation }) => distance + (generation > 0 ? MERGE_WEIGHT : 0))
  if (a.isTag) return (x ?? 0) < (y ?? 0)
  if (x !== y) return (x ?? 0) < (y ?? 0)
  return a.seconds < b.seconds
}
