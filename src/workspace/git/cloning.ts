// Makes a working copy of a remote repository.

import type { FileSystem } from '../file-system.ts'
import { applyChanges, changesBetween } from './checkout.ts'
import { createRepository } from './commands/init.ts'
import { fatal } from './failure.ts'
import type { Signature } from './objects.ts'
import { parseAddress } from './remote-address.ts'
import type { Credential } from './remotes.ts'
import { Repository } from './repository.ts'
import { assertComplete, fetchFrom, type TransferOptions } from './transfers.ts'
import type { Pace } from './tree.ts'
import { statAt } from './worktree.ts'

export interface CloneRequest extends TransferOptions {
  fs: FileSystem
  url: string
  /** Absolute; made if it is not there. */
  root: string
  /** A branch or a tag; null for the one that the remote shows first. */
  branch: string | null
  /** Null for all commits. */
  depth: number | null
  /** Only the branch that is checked out. */
  singleBranch: boolean
  tags: boolean
  remote: string
  checkout: boolean
  by: Signature
  pace?: Pace
  credential?: Credential | null
}

export interface Cloned {
  repo: Repository
  /** What was checked out; null when the remote has no commits. */
  oid: string | null
}

/** Nothing is left behind when it fails. */
export async function cloneInto(request: CloneRequest): Promise<Cloned> {
  const { fs, root } = request
  const { url, credential } = parseAddress(request.url)
  const before = statAt(fs, root)
  if (before && (before.kind !== 'directory' || fs.list(root).length > 0)) {
    throw fatal(`destination path '${root.split('/').at(-1)}' already exists and is not an empty directory.`)
  }
  fs.makeDirectory(root, { recursive: true })
  try {
    return await cloneHere(request, { url, credential: request.credential ?? credential })
  } catch (error) {
    for (const { name } of fs.list(root)) fs.remove(`${root}/${name}`, { recursive: true })
    if (!before) fs.remove(root)
    throw error
  }
}

async function cloneHere(
  request: CloneRequest,
  { url, credential }: { url: string; credential: Credential | null },
): Promise<Cloned> {
  const { fs, root, branch, depth, singleBranch, remote, by } = request
  await createRepository(fs, root, 'main')
  const repo = new Repository({ fs, root, ...(request.pace && { pace: request.pace }) })
  const config = await repo.config()
  config.set(`remote.${remote}.url`, url)
  config.set(`remote.${remote}.fetch`, refspec(remote, singleBranch && branch !== null ? branch : '*'))
  await repo.saveConfig(config)
  const ref = singleBranch ? (branch ?? 'HEAD') : null
  const fetched = await fetchFrom(repo, { ...request, url, credential, ref, depth, prune: false })
  if (fetched.oid === null) {
    if (branch !== null) throw fatal(`Remote branch ${branch} not found in upstream ${remote}`)
    return { repo, oid: null }
  }
  const place = await startingPlace(repo, {
    request,
    fetched: fetched.oid,
    shown: fetched.defaultBranch?.replace(/^refs\/heads\//, '') ?? null,
  })
  await assertComplete(repo, place.oid)
  await follow(repo, request, place.branch)
  await repo.refs.moveHead(place.branch === null ? { oid: place.oid } : { ref: `refs/heads/${place.branch}` }, by, '')
  if (place.branch !== null)
    await repo.refs.change(`refs/heads/${place.branch}`, { oid: place.oid, by, message: `clone: from ${url}` })
  if (request.checkout) await fillTree(repo, place.oid)
  return { repo, oid: place.oid }
}

function refspec(remote: string, branch: string): string {
  return `+refs/heads/${branch}:refs/remotes/${remote}/${branch}`
}

type Start = { request: CloneRequest; fetched: string; shown: string | null }

/** The commit to begin with, and the branch of ours that it belongs to; a tag belongs to none. */
async function startingPlace(
  repo: Repository,
  { request, fetched, shown }: Start,
): Promise<{ oid: string; branch: string | null }> {
  const { branch, remote } = request
  if (branch === null && shown === null) return { oid: await repo.peel(fetched, 'commit'), branch: null }
  const name = branch ?? shown ?? ''
  const tracked = await repo.refs.resolve(`refs/remotes/${remote}/${name}`)
  if (tracked !== null) return { oid: tracked, branch: name }
  const tagged = await repo.refs.resolve(`refs/tags/${name}`)
  if (tagged !== null) return { oid: await repo.peel(tagged, 'commit'), branch: null }
  if (branch === null) return { oid: await repo.peel(fetched, 'commit'), branch: name }
  throw fatal(`Remote branch ${branch} not found in upstream ${remote}`)
}

async function follow(repo: Repository, { remote, singleBranch }: CloneRequest, branch: string | null): Promise<void> {
  if (branch === null) return
  const config = await repo.config()
  if (singleBranch) config.set(`remote.${remote}.fetch`, refspec(remote, branch))
  config.set(`branch.${branch}.remote`, remote)
  config.set(`branch.${branch}.merge`, `refs/heads/${branch}`)
  await repo.saveConfig(config)
  if ((await repo.refs.resolve(`refs/remotes/${remote}/HEAD`)) === null) {
    await repo.refs.setSymbolic(`refs/remotes/${remote}/HEAD`, `refs/remotes/${remote}/${branch}`)
  }
}

async function fillTree(repo: Repository, oid: string): Promise<void> {
  const changes = await changesBetween(repo, null, (await repo.commit(oid)).tree)
  await applyChanges(repo, changes)
  await repo.saveIndex(await repo.index())
}
