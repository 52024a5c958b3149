// The connection to a remote, and its refs.

import type { Advertisement } from './advertisement.ts'
import { fatal, GitFailure } from './failure.ts'
import { isAncestor } from './history.ts'
import { type LocalDeps, LocalTransport } from './local-transport.ts'
import { localPath, parseAddress } from './remote-address.ts'
import type { Credential, GitRemotes } from './remotes.ts'
import type { Repository } from './repository.ts'
import { Transport } from './transport.ts'

export interface TransferOptions {
  remotes: GitRemotes
  signal?: AbortSignal | undefined
  onProgress?: ((text: string) => void) | undefined
  /** The base of workspace paths; without it only URLs are remotes. */
  place?: LocalDeps
}

export interface FetchedRef {
  /** The full name; null for an id. */
  ref: string | null
  oid: string
}

export function openTransport(
  { remotes, signal, onProgress, place }: TransferOptions,
  given: string,
  own?: Credential | null,
): Transport | LocalTransport {
  if (place && localPath(given) !== null) return new LocalTransport(given, place)
  const { url, credential } = parseAddress(given)
  let shown = 0
  return new Transport({
    url,
    remotes,
    credential: own ?? credential,
    signal,
    onBytes: (received) => {
      // Reports once for every megabyte.
      if (received >> 20 === shown) return
      shown = received >> 20
      onProgress?.(`Receiving objects: ${shown} MiB`)
    },
  })
}

/** The refs of the remote, without fetching; annotated tags are followed by their targets, as `name^{}`. */
export async function listRemoteRefs(
  request: TransferOptions & { url: string },
): Promise<{ ref: string; oid: string }[]> {
  const transport = openTransport(request, request.url)
  if (transport instanceof LocalTransport) return localRefs(transport)
  const library = await import('./lazy/isomorphic-git.ts')
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

async function localRefs(transport: LocalTransport): Promise<{ ref: string; oid: string }[]> {
  const { refs, peeled } = await transport.advertised('git-upload-pack')
  return [...refs].flatMap(([ref, oid]) => {
    const target = peeled.get(ref)
    return [{ ref, oid }, ...(target === undefined ? [] : [{ ref: `${ref}^{}`, oid: target }])]
  })
}

export function branchesOf({ refs }: Advertisement): FetchedRef[] {
  return [...refs].flatMap(([ref, oid]) => (ref.startsWith('refs/heads/') ? [{ ref, oid }] : []))
}

export function tagsOf({ refs }: Advertisement): FetchedRef[] {
  return [...refs].flatMap(([ref, oid]) => (ref.startsWith('refs/tags/') ? [{ ref, oid }] : []))
}

/** New tags of the remote whose targets exist locally. */
export async function tagsInReach(repo: Repository, advertisement: Advertisement): Promise<FetchedRef[]> {
  const known = await repo.refs.list('refs/tags/')
  const reachable: FetchedRef[] = []
  for (const tag of tagsOf(advertisement)) {
    const target = advertisement.peeled.get(tag.ref ?? '') ?? tag.oid
    if (!known.has(tag.ref ?? '') && (await repo.objects.has(target))) reachable.push(tag)
  }
  return reachable
}

export async function withAdvice(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof GitFailure) || error.reason !== 'too-large') throw error
    const advice = 'This is more than can be fetched at once here; with --depth=<n> less comes.'
    throw new GitFailure(`${error.message}\n${advice}`, error.exitCode, { reason: 'too-large', cause: error })
  }
}

/** A commit with a truncated history is no descendant. */
export async function isForward(repo: Repository, before: string, after: string): Promise<boolean> {
  return (await repo.objects.has(before)) && isAncestor(repo, before, after)
}
