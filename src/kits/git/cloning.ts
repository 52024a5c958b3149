// Clones a remote repository: with its whole history if that fits, otherwise without.

import type { FileSystem } from '../../workspace/file-system.ts'
import { lstatAt } from '../../workspace/stat.ts'
import type { Advertisement } from './advertisement.ts'
import { applyChanges, changesBetween } from './checkout.ts'
import { createRepository } from './commands/init.ts'
import { fatal, GitFailure } from './failure.ts'
import type { Signature } from './objects.ts'
import { localPath, parseAddress } from './remote-address.ts'
import type { Credential } from './remotes.ts'
import { Repository } from './repository.ts'
import { branchesOf, type FetchedRef, openTransport, type TransferOptions, tagsInReach, tagsOf } from './transfers.ts'

import type { Pace } from './tree.ts'
import { assertComplete, fetchPack, type Remote } from './upload-pack.ts'

export interface CloneRequest extends TransferOptions {
  fs: FileSystem
  url: string
  /** Absolute; created if it does not exist. */
  root: string
  /** A branch or a tag; null for the remote's default branch. */
  branch: string | null
  /** Null for all commits, or for the last one of each branch if there are too many. */
  depth: number | null
  /** Only the branch that is checked out. */
  singleBranch: boolean
  tags: boolean
  remote: string
  checkout: boolean
  /** Without a working tree; a mirror has every ref under its own name and is updated as a whole. */
  layout?: 'worktree' | 'bare' | 'mirror'
  by: Signature
  pace?: Pace
  credential?: Credential | null
  /** Called if the history was cut off. */
  onWarning?: (text: string) => void
}

export interface Cloned {
  repo: Repository
  /** The checked out commit; null if the remote has no commits. */
  oid: string | null
}

/** After a failure, everything created is removed. */
export async function cloneInto(request: CloneRequest): Promise<Cloned> {
  const { fs, root } = request
  const before = lstatAt(fs, root)
  if (before && (before.kind !== 'directory' || fs.list(root).length > 0)) {
    throw fatal(`destination path '${root.split('/').at(-1)}' already exists and is not an empty directory.`)
  }
  fs.makeDirectory(root, { recursive: true })
  try {
    return await cloneHere(request)
  } catch (error) {
    for (const { name } of fs.list(root)) fs.remove(`${root}/${name}`, { recursive: true })
    if (!before) fs.remove(root)
    throw error
  }
}

type Session = { repo: Repository; transport: Remote; advertisement: Advertisement }

async function cloneHere(request: CloneRequest): Promise<Cloned> {
  const { fs, root, remote } = request
  const isBare = isBareClone(request)
  const isHere = request.place !== undefined && localPath(request.url) !== null
  const { url, credential } = isHere ? { url: request.url, credential: null } : parseAddress(request.url)
  const transport = openTransport(request, url, request.credential ?? credential)
  const advertisement = await transport.advertised('git-upload-pack')
  await createRepository(fs, root, { branch: 'main', isBare })
  const repo = new Repository({ fs, root, isBare, ...(request.pace && { pace: request.pace }) })
  const config = await repo.config()
  config.set(`remote.${remote}.url`, url)
  if (request.layout === 'mirror') config.set(`remote.${remote}.fetch`, '+refs/*:refs/*')
  else if (!isBare) config.set(`remote.${remote}.fetch`, refspec(remote, '*'))
  if (!request.tags) config.set(`remote.${remote}.tagOpt`, '--no-tags')
  if (request.layout === 'mirror') config.set(`remote.${remote}.mirror`, 'true')
  await repo.saveConfig(config)
  const start = startOf(advertisement, request)
  if (start === null) {
    const branch = advertisement.head?.replace(/^refs\/heads\//, '') ?? 'main'
    await repo.refs.setSymbolic('HEAD', `refs/heads/${branch}`)
    if (!isBare) await follow(repo, { remote, branch, only: null })
    return { repo, oid: null }
  }
  const session = { repo, transport, advertisement }
  const isNarrow = await bringHistory(session, request, start)
  const oid = await repo.peel(start.oid, 'commit')
  await noteStart(session, request, { start, oid, isNarrow })
  if (request.checkout && !isBare) await fillTree(repo, oid)
  return { repo, oid }
}

function isBareClone({ layout = 'worktree' }: CloneRequest): boolean {
  return layout !== 'worktree'
}

function refspec(remote: string, branch: string): string {
  return `+refs/heads/${branch}:refs/remotes/${remote}/${branch}`
}

/** The checked out ref: a branch or a tag with this name, or HEAD, which may not be a branch. Null if there is none. */
function startOf({ refs, head }: Advertisement, { branch, remote }: CloneRequest): FetchedRef | null {
  if (branch === null) {
    const oid = refs.get('HEAD')
    return oid === undefined ? null : { ref: head, oid }
  }
  for (const ref of [`refs/heads/${branch}`, `refs/tags/${branch}`]) {
    const oid = refs.get(ref)
    if (oid !== undefined) return { ref, oid }
  }
  throw fatal(`Remote branch ${branch} not found in upstream ${remote}`, { reason: 'not-found' })
}

/** Fetches objects and the refs to them. True if only the first branch was fetched. */
async function bringHistory(session: Session, request: CloneRequest, start: FetchedRef): Promise<boolean> {
  const { depth, singleBranch } = request
  try {
    await bring(session, request, { start, depth, isNarrow: singleBranch })
    return singleBranch
  } catch (error) {
    if (depth !== null || !(error instanceof GitFailure) || error.reason !== 'too-large') throw error
    request.onWarning?.(
      `warning: the whole history is more than can be cloned here (${error.message.replace(/^fatal: /, '')})\n` +
        "warning: cloned only the last commit of one branch, as with --depth=1; 'git fetch --depth=<n>' brings more if it fits",
    )
    await bring(session, request, { start, depth: 1, isNarrow: true })
    return true
  }
}

type Extent = { start: FetchedRef; depth: number | null; isNarrow: boolean }

async function bring(session: Session, request: CloneRequest, { start, depth, isNarrow }: Extent): Promise<void> {
  const { tags, onProgress } = request
  const { repo, advertisement } = session
  const wanted = isNarrow ? [start] : [start, ...whole(advertisement, request)]
  const ask = (refs: readonly FetchedRef[], how: number | null) =>
    fetchPack(session, {
      wants: refs.map(({ oid }) => oid),
      depth: how,
      includesTags: tags,
      onMessage: onProgress,
    })
  await ask(wanted, depth)
  for (const { oid } of wanted) await assertComplete(repo, oid)
  const followed = tags && isNarrow ? await tagsInReach(repo, advertisement) : []
  await ask(followed, null)
  const refs = new Map<string, string>()
  for (const { ref, oid } of [...wanted, ...followed])
    if (ref !== null && (tags || !ref.startsWith('refs/tags/')))
      refs.set(isBareClone(request) ? ref : ref.replace('refs/heads/', `refs/remotes/${request.remote}/`), oid)
  await repo.refs.fill(refs, advertisement.peeled)
}

function whole(advertisement: Advertisement, { tags, layout }: CloneRequest): FetchedRef[] {
  if (layout === 'mirror')
    return [...advertisement.refs].flatMap(([ref, oid]) => (ref.startsWith('refs/') ? [{ ref, oid }] : []))
  return [...branchesOf(advertisement), ...(tags ? tagsOf(advertisement) : [])]
}

type CloneStart = { start: FetchedRef; oid: string; isNarrow: boolean }

async function noteStart(
  { repo, advertisement: { head } }: Session,
  request: CloneRequest,
  { start, oid, isNarrow }: CloneStart,
): Promise<void> {
  const { remote, by, url } = request
  const message = `clone: from ${localPath(url) === null ? parseAddress(url).url : url}`
  const branch = start.ref?.startsWith('refs/heads/') ? start.ref.slice('refs/heads/'.length) : null
  if (isBareClone(request)) {
    await repo.refs.moveHead(branch === null ? { oid } : { ref: `refs/heads/${branch}` }, by, '')
    return
  }
  if (branch !== null) await follow(repo, { remote, branch, only: isNarrow ? branch : null })
  // The branch of the remote's HEAD is stored only if it was fetched.
  const named = head?.replace(/^refs\/heads\//, '') ?? null
  const shown = isNarrow && named !== branch ? null : named
  if (shown !== null) await repo.refs.setSymbolic(`refs/remotes/${remote}/HEAD`, `refs/remotes/${remote}/${shown}`)
  await repo.refs.moveHead(
    branch === null ? { oid } : { ref: `refs/heads/${branch}` },
    by,
    branch === null ? message : '',
  )
  if (branch !== null) await repo.refs.change(`refs/heads/${branch}`, { oid, by, message })
}

type Followed = { remote: string; branch: string; only: string | null }

async function follow(repo: Repository, { remote, branch, only }: Followed): Promise<void> {
  const config = await repo.config()
  if (only !== null) config.set(`remote.${remote}.fetch`, refspec(remote, only))
  config.set(`branch.${branch}.remote`, remote)
  config.set(`branch.${branch}.merge`, `refs/heads/${branch}`)
  await repo.saveConfig(config)
}

async function fillTree(repo: Repository, oid: string): Promise<void> {
  const changes = await changesBetween(repo, null, (await repo.commit(oid)).tree)
  await applyChanges(repo, changes)
  await repo.saveIndex(await repo.index())
}
