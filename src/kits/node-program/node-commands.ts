// The commands that run JavaScript, as the shell takes them. What they need is loaded when one is used for the first time.

import type { ShellCommand } from '../shell/index.ts'
import type { NodeOptions } from './node-command.ts'

/** `node`, and `js`, which is the same. */
export function nodeCommands(options: NodeOptions): ShellCommand[] {
  const run: ShellCommand['run'] = async (args, call) => {
    const { runNode } = await import('./node-command.ts')
    return runNode(args, call, options)
  }
  return [
    { name: 'node', run },
    { name: 'js', run },
  ]
}
