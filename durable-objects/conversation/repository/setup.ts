// Brings the selected repository into the workspace. The set-up can be repeated at any time: it first removes what an
// interrupted run left behind, and keeps what a complete run made.

import { errorObservation } from '../../../src/agent/observations.ts'
import { checkoutFreshBranch, cloneRepository, type GitRemotes } from '../../../src/kits/git/index.ts'
import type { ShellState } from '../../../src/kits/shell/index.ts'
import { checkAddress, STRANGER } from '../../../src/lib/address-policy.ts'
import { type FileSystem, isFileError } from '../../../src/workspace/file-system.ts'
import { WORKSPACE_ROOT } from '../../../src/workspace/paths.ts'
import type { SelectedRepository } from '../schema.ts'
import { LentSetup } from './on-runner.ts'
import {
  installPreCommitHook,
  runSetupScript,
  type SetupHost,
  settleInterrupted,
  wasInterrupted,
} from './setup-script.ts'

export type SetupOutcome =
  /** `shell` is the session that the repository's set-up script left; null when there was no script. */
  | { ok: true; folder: string; shell: ShellState | null }
  /** `reason` is for the user, `statusId` for clients that can translate it. */
  | { ok: false; reason: string; statusId: 'STATUS$ERROR' | 'STATUS$GIT_PROVIDER_AUTHENTICATION_ERROR' }

type Setup = {
  fs: FileSystem
  repository: SelectedRepository
  remotes: GitRemotes
  maxFileBytes: number
  onProgress: (text: string) => void
  signal: AbortSignal
  host: SetupHost
}

/** Where the repository's working copy belongs. */
export function folderOf({ name }: SelectedRepository): string {
  const last = name.replace(/\/+$/, '').split('/').at(-1) ?? ''
  const folder = last.replace(/\.git$/, '').replace(/[^\w.-]/g, '_')
  return `${WORKSPACE_ROOT}/${/^\.*$/.test(folder) ? 'repository' : folder}`
}

export function isThere(fs: FileSystem, folder: string): boolean {
  try {
    return fs.stat(`${folder}/.git`).kind === 'directory'
  } catch (error) {
    if (isFileError(error)) return false
    throw error
  }
}

/**
 * Clones the repository and checks out the selected branch, or a new branch from the remote's default; on a runner if the
 * conversation has one. Then runs the scripts of the repository. Throws only when aborted.
 */
export async function setUpRepository(setup: Setup): Promise<SetupOutcome> {
  const { fs, repository, signal, host } = setup
  const folder = folderOf(repository)
  const lent = new LentSetup(host)
  if (wasInterrupted(host) && !lent.isOpen('script')) {
    settleInterrupted(host)
    if (isThere(fs, folder)) {
      lent.end()
      return { ok: true, folder, shell: null }
    }
  }
  if (!lent.isCloned || !isThere(fs, folder)) {
    const failure = await cloneAnywhere({ ...setup, folder, lent })
    if (failure !== null) return failure
  }
  await installPreCommitHook({ fs, folder })
  const shell = await runSetupScript(host, { fs, folder, lent }, signal)
  lent.end()
  return { ok: true, folder, shell }
}

type Failure = Extract<SetupOutcome, { ok: false }>
type Cloning = Setup & { folder: string; lent: LentSetup }

/** Clones on a runner, on another one if that is lost, else with the interpreter. Null when the working copy exists. */
async function cloneAnywhere(cloning: Cloning): Promise<Failure | null> {
  const { fs, repository, remotes, maxFileBytes, onProgress, signal, host, folder, lent } = cloning
  const refusal = refusedBy(remotes, repository)
  if (refusal !== null) return failureOf(repository, refusal, false)
  for (;;) {
    const isFollowed = lent.isOpen('clone')
    const { runner } = await lent.choose('clone')
    signal.throwIfAborted()
    // If the clone is still followed, its files may already be here.
    if (!isFollowed || runner === null) removeIfThere(fs, folder)
    if (runner === null) return cloneHere(cloning)
    const maxHistoryBytes = remotes.limits?.maxBytes ?? maxFileBytes
    const identity = (await remotes.identity?.()) ?? { name: null, email: null }
    const limits = { maxHistoryBytes, maxFileBytes }
    const cloned = await lent.clone(runner, { repository, folder, identity, ...limits, onProgress, signal })
    if (cloned.kind === 'failed') return failureOf(repository, cloned.message, cloned.isAuthentication)
    if (cloned.kind === 'cloned') {
      if (!isThere(fs, folder)) return failureOf(repository, `the workspace did not take it. ${cloned.remark}`, false)
      if (cloned.remark !== '') host.emit([errorObservation('environment', `${repository.name}: ${cloned.remark}`)])
      return null
    }
    onProgress('The runner was lost in the clone, which is begun again')
  }
}

async function cloneHere({ fs, repository, remotes, onProgress, signal, folder }: Cloning): Promise<Failure | null> {
  const { url, branch } = repository
  const cloned = await cloneRepository({ fs, url, directory: folder, branch, remotes, onProgress, signal })
  if (!cloned.ok) return failureOf(repository, cloned.message, cloned.reason === 'authentication')
  if (branch === null && cloned.commit !== null) await checkoutFreshBranch({ fs, directory: folder })
  return null
}

/** The reason for a refusal, or null. An address that no user chose may reach no more from a runner than from here. */
function refusedBy({ policy }: GitRemotes, { url, isTyped }: SelectedRepository): string | null {
  const verdict = isTyped ? null : checkAddress(url, { policy, chosenBy: STRANGER })
  return verdict === null || verdict.ok ? null : verdict.reason
}

function failureOf({ name }: SelectedRepository, message: string, isAuthentication: boolean): Failure {
  const statusId = isAuthentication ? 'STATUS$GIT_PROVIDER_AUTHENTICATION_ERROR' : 'STATUS$ERROR'
  return { ok: false, reason: `Cloning ${name} failed: ${message}`, statusId }
}

function removeIfThere(fs: FileSystem, path: string): void {
  try {
    fs.remove(path, { recursive: true })
  } catch (error) {
    if (!isFileError(error, 'ENOENT')) throw error
  }
}
