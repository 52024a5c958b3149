// The shell of a conversation: the commands that it has besides the interpreter's own, and a command of the user's in it.
// What reaches the network passes the guarded door, and a program runs in an isolate of its own.

import { programHost } from '../../src/bindings.ts'
import { config } from '../../src/config.ts'
import { workspaceCommands } from '../../src/workspace/commands/all.ts'
import { hostedPrograms } from '../../src/workspace/commands/javascript/hosted.ts'
import { ownIsolates } from '../../src/workspace/commands/javascript/own-isolate.ts'
import type { ProgramPort } from '../../src/workspace/commands/javascript/program-port.ts'
import type { FileSystem } from '../../src/workspace/file-system.ts'
import { gitCommand } from '../../src/workspace/git.ts'
import { runScript } from '../../src/workspace/shell.ts'
import type { ShellCommand } from '../../src/workspace/shell-extensions.ts'
import type { ShellState } from '../../src/workspace/shell-state.ts'
import type { CommandOutcome } from './command-step.ts'
import { type GitOwner, gitAccess } from './git-access.ts'
import type { Vault } from './vault.ts'

/** Whose conversation it is, which one, and the repository that it was made for. */
type Whose = GitOwner & { id: string }

export function shellCommands(env: Env, whose: Whose): ShellCommand[] {
  const { addressPolicy: policy } = config(env)
  const programs = programPort(env, whose)
  return [gitCommand(gitAccess(env, whose)), ...workspaceCommands({ network: { policy }, programs })]
}

/** Where there is a program host, a program that never waits keeps nobody else waiting. */
function programPort(env: Env, { owner, id }: Whose): ProgramPort {
  const host = programHost(env)
  return host === null ? ownIsolates(env.LOADER) : hostedPrograms(host, JSON.stringify([owner, id]))
}

type Place = { env: Env; of: Whose; files: FileSystem; vault: Vault }
export type Bounds = { signal: AbortSignal; timeoutMs: number }

/** Runs a command in a session. What it shows and leaves holds no secret. */
export async function runCommand(
  { env, of, files, vault }: Place,
  { command, shell, signal, timeoutMs }: { command: string; shell: ShellState } & Bounds,
): Promise<CommandOutcome> {
  return runScript({
    ...shell,
    fs: files,
    script: command,
    secrets: vault.variables,
    commands: shellCommands(env, of),
    signal,
    limits: { timeoutMs },
    filter: vault.stream(),
  })
}
