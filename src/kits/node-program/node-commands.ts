// The shell commands that run JavaScript. Their code is loaded on first use.

import type { ShellCommand } from '../shell/index.ts'
import type { NodeOptions } from './node-command.ts'

/** `node`, and its alias `js`. */
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
