// The commands that the shell of a conversation has besides the interpreter's own: what reaches the network passes the
// guarded door, and a program runs in an isolate of its own.

import { config } from '../../src/config.ts'
import { workspaceCommands } from '../../src/workspace/commands/all.ts'
import { gitCommand } from '../../src/workspace/git.ts'
import type { ShellCommand } from '../../src/workspace/shell-extensions.ts'
import { gitAccess } from './git-access.ts'

export function shellCommands(env: Env, owner: string): ShellCommand[] {
  const { addressPolicy: policy } = config(env)
  return [gitCommand(gitAccess(env, owner)), ...workspaceCommands({ network: { policy }, loader: env.LOADER })]
}
