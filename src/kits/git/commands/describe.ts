import { type Arguments, parseArguments } from '../arguments.ts'
import { fatal, GitFailure } from '../failure.ts'
import { ancestorsOf, walkHistory } from '../history.ts'
import type { Invocation } from '../invocation.ts'
import { parseTag } from '../objects.ts'
import { abbreviate, revision } from '../revisions.ts'
import { stagedChanges, unstagedChanges } from '../status.ts'
import { wildcard } from '../wildcards.ts'

const OPTIONS = [
  'all',
  'tags',
  'always',
  'long',
  'dirty?',
  'broken?',
  'abbrev=',
  'exact-match',
  'candidates=',
  'match=',
  'exclude=',
  'first-parent',
]

interface Name {
  /** The displayed name: a tag without its folder, other refs with it. */
  name: string
  /** Annotated tags rank above lightweight ones, and those above branches. */
  rank: 2 | 1 | 0
  /** The time of the tag. */
  seconds: number
}

export async function describe(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('describe', OPTIONS, args)
  const repo = git.repo()
  const isDirty = options.has('dirty') || options.has('broken')
  if (isDirty && options.rest.length > 0)
    throw fatal(`option '--${options.has('dirty') ? 'dirty' : 'broken'}' and commit-ishes cannot be used together`)
  const names = await knownNames(git, options)
  // `--broken` only marks an unreadable index.
  const mark = isDirty && (await hasChanges(git)) ? options.value('dirty') || '-dirty' : ''
  for (const word of options.rest.length > 0 ? options.rest : ['HEAD']) {
    const oid = await revision(repo, word)
    if (oid === null) throw fatal(`Not a valid object name ${word}`)
    git.line((await described(git, { oid: await repo.peel(oid, 'commit'), names, options })) + mark)
  }
  return 0
}

async function hasChanges(git: Invocation): Promise<boolean> {
  const repo = git.repo()
  if ((await repo.index()).unmergedPaths().length > 0) return true
  return (await unstagedChanges(repo)).length > 0 || (await stagedChanges(repo, await repo.headTree())).length > 0
}

/** The best name of each commit. */
async function knownNames(git: Invocation, options: Arguments): Promise<Map<string, Name>> {
  const repo = git.repo()
  const [wanted, unwanted] = [options.all('match'), options.all('exclude')].map((all) =>
    all.map((pattern) => wildcard(pattern)),
  )
  const names = new Map<string, Name>()
  for (const [ref, oid] of await repo.refs.list('refs/')) {
    const isTag = ref.startsWith('refs/tags/')
    if (!isTag && !options.has('all')) continue
    const short = ref.replace(isTag ? 'refs/tags/' : /^refs\/(heads|remotes)\//, '')
    if (wanted && wanted.length > 0 && !(isTag && wanted.some((pattern) => pattern.test(short)))) continue
    if (unwanted?.some((pattern) => pattern.test(short))) continue
    const { type, bytes } = await repo.objects.read(oid)
    if (type !== 'tag' && type !== 'commit') continue
    const rank = type === 'tag' ? 2 : isTag ? 1 : 0
    const seconds = type === 'tag' ? (parseTag(bytes).tagger?.seconds ?? 0) : 0
    const name = { name: options.has('all') ? ref.slice('refs/'.length) : short, rank, seconds } as const
    const commit = await repo.peel(oid, 'commit')
    const known = names.get(commit)
    if (!known || known.rank < rank || (known.rank === rank && rank === 2 && known.seconds < seconds))
      names.set(commit, name)
  }
  return names
}

type DescribeRequest = { oid: string; names: ReadonlyMap<string, Name>; options: Arguments }

async function described(git: Invocation, { oid, names, options }: DescribeRequest): Promise<string> {
  const repo = git.repo()
  const length = options.has('abbrev') ? Number(options.value('abbrev')) : undefined
  if (length !== undefined && !Number.isInteger(length))
    throw new GitFailure("error: option `abbrev' expects a numerical value", 129)
  const short = async () => abbreviate(repo, oid, length === undefined ? undefined : Math.min(40, length))
  const isEnough = ({ rank }: Name) => rank === 2 || options.has('tags') || options.has('all')
  const exact = [names.get(oid)].find((name) => name !== undefined && isEnough(name))
  if (exact) return options.has('long') && length !== 0 ? `${exact.name}-0-g${await short()}` : exact.name
  if (options.has('exact-match') || options.value('candidates') === '0') {
    if (options.has('always')) return short()
    throw fatal(`no tag exactly matches '${oid}'`)
  }
  const found = await nearest(git, { oid, names, options })
  if (found) return length === 0 ? found.name : `${found.name}-${found.depth}-g${await short()}`
  if (options.has('always')) return short()
  throw fatal(
    names.size === 0
      ? 'No names found, cannot describe anything.'
      : options.has('tags') || options.has('all')
        ? `No tags can describe '${oid}'.\nTry --always, or create some tags.`
        : `No annotated tags can describe '${oid}'.\nHowever, there were unannotated tags: try --tags.`,
  )
}

const CANDIDATES = 10

/** The name with the fewest commits that are not reachable from it. */
async function nearest(
  git: Invocation,
  { oid, names, options }: DescribeRequest,
): Promise<{ name: string; depth: number } | null> {
  const isEnough = ({ rank }: Name) => rank === 2 || options.has('tags') || options.has('all')
  const repo = git.repo()
  const parentsOf = options.has('first-parent')
    ? async ({ commit }: { commit: { parents: string[] } }) => commit.parents.slice(0, 1)
    : undefined
  const limit = Number(options.value('candidates') ?? CANDIDATES)
  const order: string[] = []
  const candidates: { name: string; oid: string; at: number }[] = []
  for await (const visited of walkHistory(repo, { include: [oid], ...(parentsOf && { parentsOf }) })) {
    const name = names.get(visited.oid)
    if (name && isEnough(name) && candidates.length < limit)
      candidates.push({ name: name.name, oid: visited.oid, at: order.length })
    order.push(visited.oid)
  }
  let best: { name: string; depth: number } | null = null
  for (const candidate of candidates) {
    const within = await ancestorsOf(repo, [candidate.oid])
    const depth = order.filter((other) => !within.has(other)).length
    if (!best || depth < best.depth) best = { name: candidate.name, depth }
  }
  return best
}
