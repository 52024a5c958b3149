// Brings the selected repository into the workspace. It can begin again at any time: what an interrupted run left behind
// is removed first, and what a finished one brought is left alone.

import { checkoutFreshBranch, cloneRepository, type GitRemotes } from '../../../src/kits/git/index.ts'
import type { ShellState } from '../../../src/kits/shell/index.ts'
import { type FileSystem, isFileError } from '../../../src/workspace/file-system.ts'
import { WORKSPACE_ROOT } from '../../../src/workspace/paths.ts'
import type { SelectedRepository } from '../record.ts'
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
 * Clones the repository and checks out the selected branch, or a new branch from the remote's default. Then runs the scripts
 * of the repository. Throws only when aborted.
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
