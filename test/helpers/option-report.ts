// An option of a program, tried in the shell over a file tree in memory.

import { gitCommand } from '../../src/kits/git/index.ts'
import { workspaceCommands } from '../../src/kits/shell/index.ts'
import { STRANGER } from '../../src/lib/address-policy.ts'
import type { CorpusEntry, FixtureEntry } from '../support/real-shell-types.ts'
import { reportIn, treeOf, WORKSPACE } from './memory-report.ts'
import { CLOSED } from './policies.ts'
import type { OurReport } from './shell-verdict.ts'

const LIMITS = { timeoutMs: 60_000, maxOutputChars: 4_000_000 }

export async function optionReport(entry: CorpusEntry, files: readonly FixtureEntry[]): Promise<OurReport> {
  const fs = await treeOf(files)
  // What is written into a folder touches it.
  for (const { kind, path, mtimeMs } of files) if (kind !== 'symlink') fs.utimes(`${WORKSPACE}/${path}`, mtimeMs)
  const commands = [
    gitCommand({ policy: CLOSED, chosenBy: STRANGER }),
    ...workspaceCommands({ network: { policy: CLOSED } }),
  ]
  return reportIn(fs, { script: entry.script, commands, limits: LIMITS })
}
