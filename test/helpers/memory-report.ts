// Runs a script in our shell on an in-memory file tree and reports the result.

import { runScript } from '../../src/kits/shell/index.ts'
import { MemoryFileSystem } from '../support/memory-file-system.ts'
import { type FixtureEntry, SHELL_ENV } from '../support/real-shell-types.ts'
import { summaryOf } from '../support/shell-tree.ts'
import type { OurReport } from './shell-verdict.ts'

export const WORKSPACE = '/workspace'

/** An in-memory file tree with the same files as the real shell at the start. */
export async function treeOf(files: readonly FixtureEntry[]): Promise<MemoryFileSystem> {
  const fs = new MemoryFileSystem()
  for (const file of files) await put(fs, file)
  return fs
}

type Run = Pick<Parameters<typeof runScript>[0], 'script' | 'commands' | 'limits'>

/** Runs the script there; returns output, exit code and the resulting tree. */
export async function reportIn(fs: MemoryFileSystem, run: Run): Promise<OurReport> {
  const { output, exitCode } = await runScript({ ...run, fs, cwd: WORKSPACE, env: { ...SHELL_ENV } })
  const reader = {
    list: async (path: string) =>
      fs.list(path).map(({ name, kind }) => {
        const executable = kind === 'file' && (fs.lstat(`${path}/${name}`).mode & 0o100) !== 0
        return { name, kind, executable }
      }),
    read: (path: string) => fs.read(path),
    readLink: async (path: string) => fs.readLink(path),
  }
  return { output, exitCode, tree: await summaryOf(reader, WORKSPACE) }
}

async function put(fs: MemoryFileSystem, file: FixtureEntry): Promise<void> {
  const path = `${WORKSPACE}/${file.path}`
  if (file.kind === 'directory') fs.makeDirectory(path)
  else if (file.kind === 'symlink') fs.symlink(file.target, path)
  else
    await fs.write(path, new Uint8Array(Buffer.from(file.base64, 'base64')), { mode: file.executable ? 0o755 : 0o644 })
}
