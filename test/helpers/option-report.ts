// An option of a program, tried in the shell over a file tree in memory.

import { gitCommand } from '../../src/kits/git/index.ts'
import { runScript, workspaceCommands } from '../../src/kits/shell/index.ts'
import { STRANGER } from '../../src/lib/address-policy.ts'
import { MemoryFileSystem } from '../support/memory-file-system.ts'
import { type CorpusEntry, type FixtureEntry, SHELL_ENV } from '../support/real-shell-types.ts'
import { summaryOf } from '../support/shell-tree.ts'
import { CLOSED } from './policies.ts'
import type { OurReport } from './shell-verdict.ts'

const ROOT = '/workspace'
const LIMITS = { timeoutMs: 60_000, maxOutputChars: 4_000_000 }

export async function optionReport(entry: CorpusEntry, files: readonly FixtureEntry[]): Promise<OurReport> {
  const fs = new MemoryFileSystem()
  for (const file of files) await put(fs, file)
  // What is written into a folder touches it.
  for (const { kind, path, mtimeMs } of files) if (kind !== 'symlink') fs.utimes(`${ROOT}/${path}`, mtimeMs)
  const commands = [
    gitCommand({ policy: CLOSED, chosenBy: STRANGER }),
    ...workspaceCommands({ network: { policy: CLOSED } }),
  ]
  const run = { fs, script: entry.script, cwd: ROOT, env: { ...SHELL_ENV }, commands, limits: LIMITS }
  const { output, exitCode } = await runScript(run)
  const reader = {
    list: async (path: string) =>
      fs.list(path).map(({ name, kind }) => {
        const executable = kind === 'file' && (fs.lstat(`${path}/${name}`).mode & 0o100) !== 0
        return { name, kind, executable }
      }),
    read: (path: string) => fs.read(path),
    readLink: async (path: string) => fs.readLink(path),
  }
  return { output, exitCode, tree: await summaryOf(reader, ROOT) }
}

async function put(fs: MemoryFileSystem, file: FixtureEntry): Promise<void> {
  const path = `${ROOT}/${file.path}`
  if (file.kind === 'directory') fs.makeDirectory(path)
  else if (file.kind === 'symlink') fs.symlink(file.target, path)
  else
    await fs.write(path, new Uint8Array(Buffer.from(file.base64, 'base64')), { mode: file.executable ? 0o755 : 0o644 })
}
