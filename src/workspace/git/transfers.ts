// Fetching and pushing, one remote and one request of the user at a time.

import type { FileSystem } from '../file-system.ts'
import { gitFs } from '../git-fs.ts'
import { GitFailure } from './failure.ts'
import { EMPTY_TREE } from './objects.ts'
import { parseAddress } from './remote-address.ts'
import type { Credential, GitRemotes } from './remotes.ts'
import { Repository } from './repository.ts'
import { Transport, transferFailure } from './transport.ts'

export interface TransferOptions {
  remotes: GitRemotes
  signal?: AbortSignal | undefined
  onProgress?: ((text: string) => void) | undefined
}

export interface FetchRequest extends TransferOptions {
  remote: string
  url: string
  credential?: Credential | null
  /** One branch or tag, or all branches. */
  ref: string | null
  depth: number | null
  tags: boolean
  prune: boolean
}

export interface Fetched {
  /** What was asked for; null from an empty repository. */
  oid: string | null
  /** The full name of the branch that the remote shows first. */
  defaultBranch: string | null
  pruned: string[]
  isBranch: boolean
}

/** Brings objects, and notes under `refs/remotes` where the remote's branches are. */
export async function fetchFrom(repo: Repository, request: FetchRequest): Promise<Fetched> {
  const library = await import('../lazy/isomorphic-git.ts')
  const { url, credential: written } = parseAddress(request.url)
  const transport = transportFor(repo, request, request.credential ?? written)
  try {
    const result = await library.fetch({
      fs: gitFs(repo.fs),
      cache: {},
      http: transport.client,
      onAuth: transport.onAuth,
      onAuthFailure: transport.onAuthFailure,
      onMessage: (line: string) => request.onProgress?.(line),
      dir: repo.root,
      gitdir: repo.gitDir,
      url,
      remote: request.remote,
      // An address in the configuration must not take requests, and what they carry, elsewhere.
      corsProxy: '',
      singleBranch: request.ref !== null,
      ...(request.ref !== null && { ref: request.ref, remoteRef: request.ref }),
      ...(request.depth !== null && { depth: request.depth }),
      tags: request.tags,
      prune: request.prune,
    })
    const isBranch = result.fetchHeadDescription?.startsWith('branch ') ?? false
    return { oid: result.fetchHead, defaultBranch: result.defaultBranch ?? null, pruned: result.pruned ?? [], isBranch }
  } catch (error) {
    throw transferFailure(error, url)
  }
}

export interface RemoteRef {
  ref: string
  oid: string
}

/** What the remote has, without fetching it. */
export async function listRemoteRefs(request: TransferOptions & { fs: FileSystem; url: string }): Promise<RemoteRef[]> {
  const library = await import('../lazy/isomorphic-git.ts')
  const { url, credential } = parseAddress(request.url)
  const repo = new Repository({ fs: request.fs, root: '/' })
  const transport = transportFor(repo, request, credential)
  try {
    const refs = await library.listServerRefs({
      http: transport.client,
      onAuth: transport.onAuth,
      onAuthFailure: transport.onAuthFailure,
      url,
      corsProxy: '',
      protocolVersion: 1,
    })
    return refs.map(({ ref, oid }) => ({ ref, oid }))
  } catch (error) {
    throw transferFailure(error, url)
  }
}

export interface PushRequest extends TransferOptions {
  remote: string
  url: string
  /** Our branch or tag in full, or null to remove theirs. */
  ref: string | null
  remoteRef: string
  force: boolean
}

export type Pushed = { ok: true } | { ok: false; reason: string; isRejection: boolean }

export async function pushTo(repo: Repository, request: PushRequest): Promise<Pushed> {
  const library = await import('../lazy/isomorphic-git.ts')
  const { url, credential } = parseAddress(request.url)
  const transport = transportFor(repo, request, credential)
  try {
    await library.push({
      fs: gitFs(repo.fs),
      cache: {},
      http: transport.client,
      onAuth: transport.onAuth,
      onAuthFailure: transport.onAuthFailure,
      onMessage: (line: string) => request.onProgress?.(line),
      dir: repo.root,
      gitdir: repo.gitDir,
      url,
      remote: request.remote,
      corsProxy: '',
      ref: request.ref ?? request.remoteRef,
      remoteRef: request.remoteRef,
      force: request.force,
      delete: request.ref === null,
    })
    return { ok: true }
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal) return refusal
    throw transferFailure(error, url)
  }
}

interface LibraryRefusal {
  code?: string
  data?: { reason?: string; prettyDetails?: string }
}

/** Null when it was something else than the remote, or what it has, that said no. */
function refusalOf(error: unknown): Extract<Pushed, { ok: false }> | null {
  const { code, data } = (error ?? {}) as LibraryRefusal
  if (code === 'PushRejectedError') {
    const reason = data?.reason === 'tag-exists' ? 'already exists' : 'non-fast-forward'
    return { ok: false, reason, isRejection: true }
  }
  if (code !== 'GitPushError') return null
  const reason = /- [^:]+: (.*)/.exec(data?.prettyDetails ?? '')?.[1] ?? 'refused'
  return { ok: false, reason: reason.trim(), isRejection: false }
}

function transportFor(
  repo: Repository,
  { remotes, signal, onProgress }: TransferOptions,
  credential: Credential | null,
): Transport {
  let shown = 0
  return new Transport({
    repo,
    remotes,
    credential,
    signal,
    onBytes: (received) => {
      // A word for every megabyte.
      if (received >> 20 === shown) return
      shown = received >> 20
      onProgress?.(`Receiving objects: ${shown} MiB`)
    },
  })
}

/** Fails for a commit that is known by name only: its history was not fetched. */
export async function assertComplete(repo: Repository, oid: string): Promise<void> {
  if (oid !== EMPTY_TREE && !(await repo.objects.has(oid)))
    throw new GitFailure(`fatal: remote did not send all necessary objects`, 128)
}
