// The shell of a conversation: the commands that it has besides the interpreter's own, and a command of the user's in it.
// What reaches the network passes the guarded door, and a program runs in an isolate of its own.

import { config } from '../../src/config.ts'
import { workspaceCommands } from '../../src/workspace/commands/all.ts'
import type { FileSystem } from '../../src/workspace/file-system.ts'
import { gitCommand } from '../../src/workspace/git.ts'
import { runScript } from '../../src/workspace/shell.ts'
import type { ShellCommand } from '../../src/workspace/shell-extensions.ts'
import type { ShellState } from '../../src/workspace/shell-state.ts'
import type { CommandOutcome } from './command-step.ts'
import { gitAccess } from './git-access.ts'
import type { Vault } from './vault.ts'

export function shellCommands(env: Env, owner: string): ShellCommand[] {
  const { addressPolicy: policy } = config(env)
  return [gitCommand(gitAccess(env, owner)), ...workspaceCommands({ network: { policy }, loader: env.LOADER })]
}

type Place = { env: Env; owner: string; files: FileSystem; vault: Vault }
export type Bounds = { signal: AbortSignal; timeoutMs: number }

/** Runs a command in a session. What it shows and leaves holds no secret. */
export async function runCommand(
  { env, owner, files, vault }: Place,
  { command, shell, signal, timeoutMs }: { command: string; shell: ShellState } & Bounds,
): Promise<CommandOutcome> {
  return runScript({
    ...shell,
    fs: files,
    script: command,
    secrets: vault.variables,
    commands: shellCommands(env, owner),
    signal,
    limits: { timeoutMs },
    filter: vault.stream(),
  })
}
