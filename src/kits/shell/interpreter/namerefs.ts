// Name references (`local -n ref=$1`). The interpreter follows a reference to a plain variable on reads. Here each
// reference in a command that names a variable is replaced by the target's name before the command is run.

import { LateName } from './arithmetic/indexes.ts'
import { copyWith, isNode, type Node, withParts } from './heads.ts'
import type { Position, Watched } from './position.ts'
import type { Command, CommandCall, ShellVariables, StepResult } from './shape.ts'
import { discard } from './unset-errors.ts'

const NAME = /^[A-Za-z_]\w*/
const TARGET = /^([A-Za-z_]\w*)(\[[\s\S]+\])?$/

/** The final target of the name; the name itself if it is not a reference, or has no target. */
function targetOf({ namerefs, env }: ShellVariables, name: string): string {
  const seen = new Set<string>()
  let [at, subscript] = [name, '']
  while (namerefs?.has(at) && !seen.has(at)) {
    seen.add(at)
    const [, base, index = ''] = TARGET.exec(env.get(at) ?? '') ?? []
    if (base === undefined) return name
    ;[at, subscript] = [base, index === '' ? subscript : index]
  }
  return seen.has(at) ? name : at + subscript
}

/** The same for a word that starts with a name, such as `ref[1]`. */
function renamed(state: ShellVariables, text: string): string {
  const name = NAME.exec(text)?.[0]
  if (name === undefined || !state.namerefs?.has(name)) return text
  const rest = text.slice(name.length)
  const target = targetOf(state, name)
  // An element has no elements.
  return target.endsWith(']') && rest.startsWith('[') ? text : target + rest
}

export function withTargets(state: ShellVariables, command: Command): Command {
  return state.namerefs?.size ? withParts(command, (node) => withTarget(state, node)) : command
}

function withTarget(state: ShellVariables, node: Node): Node {
  switch (node.type) {
    case 'ParameterExpansion':
      return parameter(state, node)
    case 'Assignment':
    case 'ArithVariable':
      return field(state, node, 'name')
    case 'ArithArrayElement':
    case 'ArithDoubleSubscript':
      return field(state, node, 'array')
    case 'ArithAssignment':
      return field(state, node, 'variable')
    case 'ArithBracedExpansion':
      return {
        ...node,
        content: String(node.content).replace(/^([#!]?)([A-Za-z_]\w*)/, (_, sign, name) => sign + renamed(state, name)),
      }
    case 'CondUnary':
      return node.operator === '-v' ? tested(state, node) : node
    default:
      return node
  }
}

/** With the changed field; the rest of the node is changed too. */
function field(state: ShellVariables, node: Node, name: string): Node {
  const text = node[name]
  if (text instanceof LateName)
    return within(state, copyWith(node, { [name]: text.as((late) => renamed(state, late)) }))
  const other = typeof text === 'string' ? renamed(state, text) : text
  if (other === text || (name !== 'name' && String(other).includes('['))) return node
  return within(state, { ...node, [name]: other })
}

function within(state: ShellVariables, copy: Node): Node {
  const fields = Object.entries(copy).flatMap(([key, value]) => {
    const other = withParts(value, (node) => withTarget(state, node))
    return other === value ? [] : [[key, other]]
  })
  return copyWith(copy, Object.fromEntries(fields))
}

function parameter(state: ShellVariables, node: Node): Node {
  const name = String(node.parameter)
  const operation = isNode(node.operation) ? node.operation : null
  if (operation?.type === 'ArrayKeys') {
    const array = renamed(state, String(operation.array))
    return array === operation.array ? node : { ...node, operation: { ...operation, array } }
  }
  if (!state.namerefs?.has(NAME.exec(name)?.[0] ?? '')) return node
  // The name of the target, instead of the value of the variable that the target's value names.
  if (operation?.type === 'Indirection' && NAME.exec(name)?.[0] === name) {
    return operation.innerOp ? node : { type: 'Literal', value: targetOf(state, name) }
  }
  const late = Object.getOwnPropertyDescriptor(node, 'parameter')?.get
  if (late === undefined) return within(state, copyWith(node, { parameter: renamed(state, name) }))
  const copy = within(state, node)
  const get = () => renamed(state, String(late.call(node)))
  return Object.defineProperty(copy, 'parameter', { get, enumerable: true, configurable: true })
}

function tested(state: ShellVariables, node: Node): Node {
  const [first, ...rest] = isNode(node.operand) && Array.isArray(node.operand.parts) ? node.operand.parts : []
  if (!isNode(first) || first.type !== 'Literal') return node
  const value = renamed(state, String(first.value))
  return value === first.value ? node : { ...node, operand: { type: 'Word', parts: [{ ...first, value }, ...rest] } }
}

/** A value that is given to a reference to nothing yet is the name for which it stands from then on. */
export async function withBinding(
  shell: Watched,
  command: Command,
  run: () => Promise<StepResult>,
): Promise<StepResult> {
  const { namerefs, env } = shell.ctx.state
  if (!namerefs?.size || command.type !== 'SimpleCommand' || command.name !== null) return run()
  const names = command.assignments.map(({ name }) => name).filter((name) => namerefs.has(name) && !env.get(name))
  for (const name of names) namerefs.delete(name)
  const result = await run()
  for (const name of names) {
    namerefs.add(name)
    const value = env.get(name)
    if (value === undefined || TARGET.test(value)) continue
    env.delete(name)
    const stderr = `${result.stderr}bash: \`${value}': not a valid identifier\n`
    return discard(shell, { stdout: result.stdout, stderr })
  }
  return result
}

/** Options with an argument, and the ones whose argument is a name. */
const NAMING: Readonly<Record<string, { valued: string; named: string; skips?: RegExp; from?: number }>> = {
  read: { valued: 'adinNptu', named: 'a' },
  mapfile: { valued: 'CcdnOsu', named: '' },
  readarray: { valued: 'CcdnOsu', named: '' },
  unset: { valued: '', named: '', skips: /^-\w*[fn]/ },
  export: { valued: '', named: '', skips: /^-\w*[fn]/ },
  readonly: { valued: '', named: '', skips: /^-\w*f/ },
  wait: { valued: 'p', named: 'p', from: Number.POSITIVE_INFINITY },
  printf: { valued: 'v', named: 'v', from: Number.POSITIVE_INFINITY },
  getopts: { valued: '', named: '', from: 1 },
  let: { valued: '', named: '' },
  test: { valued: 'v', named: 'v', from: Number.POSITIVE_INFINITY },
  '[': { valued: 'v', named: 'v', from: Number.POSITIVE_INFINITY },
}

/** For the arguments of a command that takes names of variables. */
export function withNamedTargets(state: ShellVariables, call: CommandCall): CommandCall {
  const [name, args, ...rest] = call
  const naming = Object.hasOwn(NAMING, name) ? NAMING[name] : undefined
  if (!naming || !state.namerefs?.size || (naming.skips && args.some((arg) => naming.skips?.test(arg)))) return call
  let operands = 0
  let option = ''
  const words = args.map((arg) => {
    if (option !== '') {
      const isName = naming.named.includes(option)
      option = ''
      return isName ? renamed(state, arg) : arg
    }
    const letter = /^-\w*?([A-Za-z])$/.exec(arg)?.[1]
    if (arg.startsWith('-')) {
      if (letter !== undefined && naming.valued.includes(letter)) option = letter
      return arg
    }
    return operands++ >= (naming.from ?? 0) ? renamed(state, arg) : arg
  })
  return [name, words, ...rest]
}

/** `unset -n`; null for any other use. */
export function unsetReferences({ namerefs, env }: ShellVariables, args: readonly string[]): StepResult | null {
  if (!args.some((arg) => /^-\w*n/.test(arg))) return null
  for (const name of args) {
    if (name.startsWith('-')) continue
    if (namerefs?.delete(name)) env.delete(name)
  }
  return { stdout: '', stderr: '', exitCode: 0 }
}

const DECLARES_REFERENCE = /^-\w*n/

/**
 * Called before `local` and `declare` run: a local name is a reference only until the function returns. Returns why one
 * cannot be created.
 */
export function noteLocals(
  { state, position }: { state: ShellVariables; position: Position },
  [name, args]: CommandCall,
): StepResult | null {
  const makesReference = args.some((arg) => DECLARES_REFERENCE.test(arg))
  const makesReadonly = args.some((arg) => /^-\w*r/.test(arg))
  const isLocal = state.callDepth > 0 && !args.some((arg) => /^-\w*[gp]/.test(arg))
  for (const arg of args) {
    const [, local, target] = /^([A-Za-z_]\w*)(?:\+?=([\s\S]*))?$/.exec(arg) ?? []
    if (local === undefined) continue
    if (makesReference && target !== undefined && /^([A-Za-z_]\w*)/.exec(target)?.[1] === local) {
      const stderr = `bash: ${name}: ${local}: a reference to its own name is not available here\n`
      return { stdout: '', stderr, exitCode: 1 }
    }
    if (!isLocal) continue
    if (!position.localReferences.has(local)) position.localReferences.set(local, state.namerefs?.has(local) ?? false)
    if (!makesReference) state.namerefs?.delete(local)
    if (makesReadonly && !state.readonlyVars?.has(local)) position.localReadonly.add(local)
  }
  return null
}

/** For the call of a function. */
export async function withOwnNames<T>(state: ShellVariables, position: Position, run: () => Promise<T>): Promise<T> {
  const outer = position.localReferences
  const outerReadonly = position.localReadonly
  position.localReferences = new Map()
  position.localReadonly = new Set()
  // A called function may have variables with the same names.
  for (const name of outerReadonly) state.readonlyVars?.delete(name)
  try {
    return await run()
  } finally {
    for (const [name, wasReference] of position.localReferences) {
      if (wasReference) state.namerefs?.add(name)
      else state.namerefs?.delete(name)
    }
    for (const name of position.localReadonly) state.readonlyVars?.delete(name)
    for (const name of outerReadonly) state.readonlyVars?.add(name)
    position.localReferences = outer
    position.localReadonly = outerReadonly
  }
}
