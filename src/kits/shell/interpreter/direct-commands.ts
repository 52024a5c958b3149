// Commands that every bash has built in, and that the interpreter runs like programs: with a file tree, variables and
// limits of their own, each made anew for the call, which costs three times the rest of it. These need none of that.

import type { CommandCall, Interpreter, RegisteredCommand, StepResult } from './shape.ts'

const DIRECT: ReadonlySet<string> = new Set(['echo', 'printf', 'pwd'])

/** Null for a command that is to be run like any other. */
export function runDirectly({ ctx }: Interpreter, [name, args]: CommandCall): Promise<StepResult> | null {
  if (!DIRECT.has(name)) return null
  // `printf -v` assigns, as only the interpreter can.
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
