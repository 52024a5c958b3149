// Builtins of every bash that the interpreter runs like programs: with a file tree, variables and limits created for
// each call, which takes three times as long as the rest of it. These commands need none of that.

import type { CommandCall, Interpreter, RegisteredCommand, StepResult } from './shape.ts'

const DIRECT: ReadonlySet<string> = new Set(['echo', 'printf', 'pwd'])

/** Null for a command that is run in the usual way. */
export function runDirectly({ ctx }: Interpreter, [name, args]: CommandCall): Promise<StepResult> | null {
  if (!DIRECT.has(name)) return null
  // `printf -v` assigns, which only the interpreter can do.
  if (name === 'printf' && args[0]?.startsWith('-v')) return null
  const command = ctx.commands.get(name)
  if (!command) return null
  const { state, fs, limits, executionScope } = ctx
  return run(name, command, args, {
    ...{ fs, limits, executionScope, stdin: '', cwd: state.cwd, env: state.env },
    xpgEcho: state.shoptOptions.xpg_echo,
  })
}

async function run(name: string, command: RegisteredCommand, args: string[], context: object): Promise<StepResult> {
  const original = command.internalOriginalCommand
  const whole = original ? { ...context, origCommand: (given: string[]) => original.execute(given, context) } : context
  return { ...(await command.execute(args, whole)), internalProducerCommand: name }
}
