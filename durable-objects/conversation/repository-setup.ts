// Brings the selected repository into the workspace. It can begin again at any time: what an interrupted run left behind
// is removed first, and what a finished one brought is left alone.

import { type FileSystem, isFileError } from '../../src/workspace/file-system.ts'
import type { GitRemotes } from '../../src/workspace/git/remotes.ts'
import { checkoutFreshBranch, cloneRepository } from '../../src/workspace/git.ts'
import { WORKSPACE_ROOT } from '../../src/workspace/paths.ts'
import type { ShellState } from '../../src/workspace/shell-state.ts'
import {
  installPreCommitHook,
  runSetupScript,
  type SetupHost,
  settleInterrupted,
  wasInterrupted,
} from './git-setup-script.ts'
import type { SelectedRepository } from './meta.ts'

export type SetupOutcome =
  /** `shell` is what the repository's set-up script left; null when there was none. */
  | { ok: true; folder: string; shell: ShellState | null }
  /** `reason` is for the user, `statusId` for the client that knows what to do about it. */
  | { ok: false; reason: string; statusId: 'STATUS$ERROR' | 'STATUS$GIT_PROVIDER_AUTHENTICATION_ERROR' }

type Setup = {
  fs: FileSystem
  repository: SelectedRepository
  remotes: GitRemotes
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
 * Clones and checks out the selected branch, or a fresh one from the remote's default, and does what the repository
 * asks for. Throws only when aborted.
 */
export async function setUpRepository(setup: Setup): Promise<SetupOutcome> {
  const { fs, repository, remotes, onProgress, signal, host } = setup
  const folder = folderOf(repository)
  if (wasInterrupted(host)) {
    settleInterrupted(host)
    if (isThere(fs, folder)) return { ok: true, folder, shell: null }
  }
  removeIfThere(fs, folder)
  const { url, branch, name } = repository
  const cloned = await cloneRepository({ fs, url, directory: folder, branch, remotes, onProgress, signal })
  if (!cloned.ok) {
    const statusId = cloned.reason === 'authentication' ? 'STATUS$GIT_PROVIDER_AUTHENTICATION_ERROR' : 'STATUS$ERROR'
    return { ok: false, reason: `Cloning ${name} failed: ${cloned.message}`, statusId }
  }
  if (branch === null && cloned.commit !== null) await checkoutFreshBranch({ fs, directory: folder })
  await installPreCommitHook({ fs, folder })
  return { ok: true, folder, shell: await runSetupScript(host, { fs, folder }, signal) }
}

function removeIfThere(fs: FileSystem, path: string): void {
  try {
    fs.remove(path, { recursive: true })
  } catch (error) {
    if (!isFileError(error, 'ENOENT')) throw error
  }
}
