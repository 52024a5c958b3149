// The library exports its shell, but not the interpreter, whose steps must be watched: its own extension mechanism, a
// plugin that rewrites scripts, would be visible to a script. The interpreter binds three of its methods when it is
// created. So one is created here, once, while `bind` of async functions is replaced to get the bound object. From the
// call until `bind` is restored nothing is awaited, so no other code can run in between.

import type { Bash } from 'just-bash/browser'
import type { Interpreter } from './shape.ts'

/** In the installed release they all are methods; another release may differ. */
const STEPS = [
  'executeScript',
  'executeStatement',
  'executePipeline',
  'executeCommand',
  'executeSubshell',
  'runCommand',
  'executeUserScript',
  'buildExportedEnv',
] as const satisfies (keyof Interpreter)[]

const ASYNC_FUNCTIONS: object = Object.getPrototypeOf(async () => undefined)

export async function interpreterPrototype(shell: Bash): Promise<Interpreter> {
  const bound: unknown[] = []
  const { bind } = Function.prototype
  const watching = function (this: (...args: unknown[]) => unknown, owner: unknown, ...args: unknown[]): unknown {
    bound.push(owner)
    return bind.call(this, owner, ...args)
  }
  let running: Promise<unknown>
  Object.defineProperty(ASYNC_FUNCTIONS, 'bind', { value: watching, configurable: true })
  try {
    running = shell.exec(':', { env: { PWD: '/' } })
  } finally {
    Reflect.deleteProperty(ASYNC_FUNCTIONS, 'bind')
  }
  await running
  const found = bound.map((owner) => Object.getPrototypeOf(owner) as object).find(isInterpreter)
  if (!found) throw new Error('this release of just-bash has another interpreter than the one that is known here')
  return found
}

function isInterpreter(prototype: object): prototype is Interpreter {
  return STEPS.every((name) => Object.hasOwn(prototype, name))
}
