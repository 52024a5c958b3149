// Brings the selected repository into the workspace. It can begin again at any time: what an interrupted run left behind
// is removed first, and what a finished one brought is left alone.

import { type FileSystem, isFileError } from '../../src/workspace/file-system.ts'
import type { GitRemotes } from '../../src/workspace/git/remotes.ts'
import { checkoutFreshBranch, cloneRepository } from '../../src/workspace/git.ts'
import { WORKSPACE_ROOT } from '../../src/workspace/paths.ts'
import type { SelectedRepository } from './meta.ts'

export type SetupOutcome = { ok: true; folder: string } | { ok: false; reason: string }

type Setup = {
  fs: FileSystem
  repository: SelectedRepository
  remotes: GitRemotes
  onProgress: (text: string) => void
  signal: AbortSignal
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

/** Clones and checks out: the selected branch, or a fresh one from the remote's default. Throws only when aborted. */
export async function setUpRepository({ fs, repository, remotes, onProgress, signal }: Setup): Promise<SetupOutcome> {
  const folder = folderOf(repository)
  removeIfThere(fs, folder)
  const { url, branch, name } = repository
  const cloned = await cloneRepository({ fs, url, directory: folder, branch, remotes, onProgress, signal })
  if (!cloned.ok) return { ok: false, reason: `Cloning ${name} failed: ${cloned.message}` }
  if (branch === null && cloned.commit !== null) await checkoutFreshBranch({ fs, directory: folder })
  return { ok: true, folder }
}

function removeIfThere(fs: FileSystem, path: string): void {
  try {
    fs.remove(path, { recursive: true })
  } catch (error) {
    if (!isFileError(error, 'ENOENT')) throw error
  }
}
