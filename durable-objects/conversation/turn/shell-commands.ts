// The shell of a conversation: its commands besides the interpreter's own, and the command that runs in it. Commands
// that use the network go through the guarded fetch, and a `node` program runs in an isolate of its own.

import type { CommandOutcome } from '../../../src/agent/turn-deps.ts'
import { programHost } from '../../../src/bindings.ts'
import { config } from '../../../src/config.ts'
import { gitCommand } from '../../../src/kits/git/index.ts'
import { hostedPrograms, nodeCommands, ownIsolates, type ProgramPort } from '../../../src/kits/node-program/index.ts'
import { runScript, type ShellCommand, type ShellState, workspaceCommands } from '../../../src/kits/shell/index.ts'
import { type GitOwner, gitAccess } from '../repository/git-access.ts'
import type { TurnHost } from './turn-host.ts'

/** The owner, the conversation, and the repository that it was made for. */
type CommandOwner = GitOwner & { id: string }

export function shellCommands(env: Env, whose: CommandOwner): ShellCommand[] {
  const { addressPolicy: policy } = config(env)
  const programs = programPort(env, whose)
  return [
    gitCommand(gitAccess(env, whose)),
    ...workspaceCommands({ network: { policy } }),
    ...nodeCommands({ programs }),
  ]
}

/** With a program host, an endless program does not block the runtime. */
function programPort(env: Env, { owner, id }: CommandOwner): ProgramPort {
  const host = programHost(env)
  return host === null ? ownIsolates(env.LOADER) : hostedPrograms(host, JSON.stringify([owner, id]))
}

export type Bounds = { signal: AbortSignal; timeoutMs: number }

/** Runs a command in a session. The output and the new session contain no secret. */
export async function runCommand(
  { env, record, files, secrets }: Pick<TurnHost, 'env' | 'record' | 'files' | 'secrets'>,
  { command, shell, signal, timeoutMs }: { command: string; shell: ShellState } & Bounds,
): Promise<CommandOutcome> {
  await secrets.open()
  return runScript({
    ...shell,
    fs: files,
    script: command,
    secrets: secrets.variables,
    commands: shellCommands(env, record.value),
    signal,
    limits: { timeoutMs },
    filter: secrets.stream(),
  })
}
