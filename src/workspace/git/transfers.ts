// Fetching from one remote, one request of the user at a time.

import { type Advertisement, remoteRefOf } from './advertisement.ts'
import { fatal, GitFailure } from './failure.ts'
import { isAncestor } from './history.ts'
import type { Signature } from './objects.ts'
import { parseAddress } from './remote-address.ts'
import type { Credential, GitRemotes } from './remotes.ts'
import type { Repository } from './repository.ts'
import { Transport } from './transport.ts'
import { assertComplete, fetchPack } from './upload-pack.ts'

export interface TransferOptions {
  remotes: GitRemotes
  signal?: AbortSignal | undefined
  onProgress?: ((text: string) => void) | undefined
}

/** Tags that lead to what was fetched come along unless none or all are wanted. */
export type TagWish = 'all' | 'followed' | 'none'

export interface FetchRequest extends TransferOptions {
  /** Its name, under which its branches are noted; empty for an address alone. */
  remote: string
  url: string
  /** Branches, tags or ids as the user named them; null for all branches. */
  names: readonly string[] | null
  depth: number | null
  tags: TagWish
  /** Forget branches that the remote does not have. */
  prune: boolean
  /** Move tags that are elsewhere here. */
  force: boolean
  by: Signature
}

export interface FetchedRef {
  /** In full; null for an id. */
  ref: string | null
  oid: string
}

export interface Fetched {
  /** What each of the names means, in their order; without names HEAD, if there is one. */
  found: FetchedRef[]
  pruned: string[]
  /** Tags that are elsewhere here, and stayed so. */
  keptTags: string[]
}

const ID = /^[0-9a-f]{40}$/

export function openTransport(
  { remotes, signal, onProgress }: TransferOptions,
  given: string,
  own?: Credential | null,
) {
  const { url, credential } = parseAddress(given)
  let shown = 0
  return new Transport({
    url,
    remotes,
    credential: own ?? credential,
    signal,
    onBytes: (received) => {
      // A word for every megabyte.
      if (received >> 20 === shown) return
      shown = received >> 20
      onProgress?.(`Receiving objects: ${shown} MiB`)
    },
  })
}

/** What the remote has, without fetching it; annotated tags are followed by what they lead to, as `name^{}`. */
export async function listRemoteRefs(
  request: TransferOptions & { url: string },
): Promise<{ ref: string; oid: string }[]> {
  const library = await import('../lazy/isomorphic-git.ts')
  const transport = openTransport(request, request.url)
  const options = { http: transport.client, url: transport.url, corsProxy: '', protocolVersion: 1 } as const
  const refs = await library.listServerRefs({ ...options, peelTags: true }).catch((error: unknown) => {
    if (error instanceof GitFailure) throw error
    throw fatal(`the answer of '${transport.url}/' is not understood`, { cause: error, reason: 'unreachable' })
  })
  return refs.flatMap(({ ref, oid, peeled }) => {
    return peeled === undefined
      ? [{ ref, oid }]
      : [
          { ref, oid },
          { ref: `${ref}^{}`, oid: peeled },
        ]
  })
}

/** Brings objects, and notes under `refs/remotes` and `refs/tags` where the remote's refs are. */
export async function fetchFrom(repo: Repository, request: FetchRequest): Promise<Fetched> {
  const { depth, onProgress, prune, names } = request
  const transport = openTransport(request, request.url)
  const advertisement = await transport.advertised('git-upload-pack')
  const found = (names ?? []).map((name) => named(advertisement, name))
  const branches = names === null ? branchesOf(advertisement) : found
  const tags = request.tags === 'all' ? tagsOf(advertisement) : []
  const bring = (refs: readonly FetchedRef[], how: number | null) =>
    fetchPack(
      { repo, transport, advertisement },
      {
        wants: refs.map(({ oid }) => oid),
        depth: how,
        includesTags: request.tags !== 'none',
        onMessage: onProgress,
      },
    )
  await withAdvice(() => bring([...branches, ...tags], depth))
  for (const { oid } of branches) await assertComplete(repo, oid)
  const pruned = prune && names === null ? await pruneBranches(repo, advertisement, request) : []
  await noteBranches(repo, branches, request)
  const followed = request.tags === 'followed' ? await tagsInReach(repo, advertisement) : []
  await bring(followed, null)
  const keptTags = await noteTags(repo, [...tags, ...followed], request)
  const head = advertisement.refs.get('HEAD')
  const first = names === null && head !== undefined ? [{ ref: advertisement.head, oid: head }] : []
  return { found: [...found, ...first], pruned, keptTags }
}

export function named(advertisement: Advertisement, name: string): FetchedRef {
  const full = remoteRefOf(advertisement, name)
  // HEAD is noted as the branch that it is.
  const ref = full === 'HEAD' ? null : full
  const oid = advertisement.refs.get(full ?? '') ?? (ID.test(name) ? name : undefined)
  if (oid === undefined) throw fatal(`couldn't find remote ref ${name}`, { reason: 'not-found' })
  return { ref, oid }
}

export function branchesOf({ refs }: Advertisement): FetchedRef[] {
  return [...refs].flatMap(([ref, oid]) => (ref.startsWith('refs/heads/') ? [{ ref, oid }] : []))
}

export function tagsOf({ refs }: Advertisement): FetchedRef[] {
  return [...refs].flatMap(([ref, oid]) => (ref.startsWith('refs/tags/') ? [{ ref, oid }] : []))
}

/** New tags of the remote that lead to what is here. */
export async function tagsInReach(repo: Repository, advertisement: Advertisement): Promise<FetchedRef[]> {
  const known = await repo.refs.list('refs/tags/')
  const reachable: FetchedRef[] = []
  for (const tag of tagsOf(advertisement)) {
    const target = advertisement.peeled.get(tag.ref ?? '') ?? tag.oid
    if (!known.has(tag.ref ?? '') && (await repo.objects.has(target))) reachable.push(tag)
  }
  return reachable
}

async function withAdvice(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof GitFailure) || error.reason !== 'too-large') throw error
    const advice = 'This is more than can be fetched at once here; with --depth=<n> less comes.'
    throw new GitFailure(`${error.message}\n${advice}`, error.exitCode, { reason: 'too-large', cause: error })
  }
}

async function pruneBranches(
  repo: Repository,
  { refs }: Advertisement,
  { remote, by }: FetchRequest,
): Promise<string[]> {
  const prefix = `refs/remotes/${remote}/`
  const pruned: string[] = []
  for (const name of (await repo.refs.list(prefix)).keys()) {
    if (name === `${prefix}HEAD` || refs.has(name.replace(prefix, 'refs/heads/'))) continue
    await repo.refs.change(name, { oid: null, by, message: '' })
    pruned.push(name)
  }
  return pruned
}

/** A clone of one branch knows one branch; what was asked for by name is kept as well, to be checked out. */
async function noteBranches(repo: Repository, branches: readonly FetchedRef[], request: FetchRequest): Promise<void> {
  const { remote, by } = request
  if (remote === '') return
  for (const { ref, oid } of branches) {
    if (!ref?.startsWith('refs/heads/')) continue
    const goal = ref.replace('refs/heads/', `refs/remotes/${remote}/`)
    const before = await repo.refs.resolve(goal)
    if (before === oid) continue
    const how =
      before === null ? 'storing head' : (await isForward(repo, before, oid)) ? 'fast-forward' : 'forced-update'
    await repo.refs.change(goal, { oid, by, message: `fetch ${remote}: ${how}` })
  }
}

/** What was cut off from its history leads nowhere. */
export async function isForward(repo: Repository, before: string, after: string): Promise<boolean> {
  return (await repo.objects.has(before)) && isAncestor(repo, before, after)
}

async function noteTags(repo: Repository, tags: readonly FetchedRef[], { force, by }: FetchRequest): Promise<string[]> {
  const kept: string[] = []
  const known = await repo.refs.list('refs/tags/')
  for (const { ref, oid } of tags) {
    const before = known.get(ref ?? '')
    if (ref === null || before === oid) continue
    if (before !== undefined && !force) kept.push(ref)
    else await repo.refs.change(ref, { oid, by, message: 'fetch: storing tag' })
  }
  return kept
}
