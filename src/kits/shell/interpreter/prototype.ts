// The library exports its shell, and not the interpreter within, whose steps are what has to be watched: what it offers
// instead, a plugin that rewrites scripts, would leave traces that a script can see. The interpreter binds three of its
// methods when it is made. So one is made here, once, while `bind` of async functions looks who is bound. From the call
// to the moment at which `bind` is back nothing is awaited, so nothing else can come in between.

import type { Bash } from 'just-bash/browser'
import type { Interpreter } from './shape.ts'

/** In the release that is installed they all are methods; another one may differ. */
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
