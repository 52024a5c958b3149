// Variables whose values are converted to upper case (`declare -u`), lower case (`-l`) or a capitalized form (`-c`).
// The interpreter does this for assignments outside of functions; here it applies to every source of a value (`read`,
// `for`, `printf -v`), and in a function until that returns.

import type { Kind } from './letter-cases.ts'
import type { Position, Watched } from './position.ts'
import type { CommandCall, ShellVariables, StepResult } from './shape.ts'

const OPTION = /^[-+][A-Za-z]*[ulc]/
const NAME = /^([A-Za-z_]\w*)(\+?=)?/

export function declaresCase(args: readonly string[]): boolean {
  return args.some((arg) => OPTION.test(arg))
}

type Declaring = { call: CommandCall; runAs: (call: CommandCall) => Promise<StepResult> }

/**
 * For a `declare` or `local` with or without one of these letters; the interpreter gets it without `c`, which it does
 * not support.
 */
export async function declareCases(
  shell: Watched,
  position: Position,
  { call, runAs }: Declaring,
): Promise<StepResult> {
  const [name, args, ...rest] = call
  const { state } = shell.ctx
  const letters = args.filter((arg) => /^-[A-Za-z]/.test(arg)).join('')
  const isLocal = state.callDepth > 0 && !letters.includes('g') && !/[pfF]/.test(letters)
  const names = args.flatMap((arg) => (/^[-+]/.test(arg) ? [] : [NAME.exec(arg)]))
  if (isLocal) for (const found of names) if (found?.[1] !== undefined) makeLocal(state, position, found[1])
  if (!declaresCase(args) || letters.includes('p')) return runAs(call)
  const given = /[ulc]/.exec([...letters].reverse().join(''))?.[0] as Kind | undefined
  const plain = args.map((arg) => (/^[-+][A-Za-z]/.test(arg) ? arg.replaceAll(/[ulc]/g, '') : arg))
  const result = await runAs([name, plain.filter((arg) => arg !== '-' && arg !== '+'), ...rest])
  for (const found of names) {
    const [, variable = '', assigns] = found ?? []
    if (variable === '') continue
    setKind(state, position, { name: variable, kind: given })
    const value = state.env.get(variable)
    if (assigns === undefined && value !== undefined) position.cases.exempt.set(variable, value)
    else position.cases.exempt.delete(variable)
  }
  applyCases(shell, position)
  return result
}

/** A separate variable, without the attributes of another one with that name. */
function makeLocal(state: ShellVariables, position: Position, name: string): void {
  const { kinds, locals } = position.cases
  if (locals.has(name)) return
  locals.set(name, kinds.get(name))
  setKind(state, position, { name, kind: undefined })
}

function setKind(state: ShellVariables, { cases }: Position, { name, kind }: { name: string; kind: Kind | undefined }) {
  if (kind === undefined) cases.kinds.delete(name)
  else cases.kinds.set(name, kind)
  state.uppercaseVars ??= new Set()
  state.lowercaseVars ??= new Set()
  // The interpreter's own sets show how it is declared.
  for (const [letter, names] of [
    ['u', state.uppercaseVars],
    ['l', state.lowercaseVars],
  ] as const) {
    if (letter === kind) names.add(name)
    else names.delete(name)
  }
}

/** For the call of a function. */
export async function withOwnCases<T>(shell: Watched, position: Position, run: () => Promise<T>): Promise<T> {
  const outer = position.cases.locals
  position.cases.locals = new Map()
  try {
    return await run()
  } finally {
    for (const [name, kind] of position.cases.locals) setKind(shell.ctx.state, position, { name, kind })
    position.cases.locals = outer
  }
}

export function forgetCases({ ctx }: Watched, position: Position, names: readonly string[]): void {
  for (const name of names) if (position.cases.kinds.has(name)) setKind(ctx.state, position, { name, kind: undefined })
}

/** Called before and after each command. */
export function applyCases({ ctx }: Watched, { cases }: Position): void {
  if (cases.kinds.size === 0) return
  const { env, arrays } = ctx.state
  for (const [name, kind] of cases.kinds) {
    const value = env.get(name)
    if (value !== undefined && value !== cases.exempt.get(name)) env.set(name, inCase(value, kind))
    const elements = arrays?.get(name)?.elements
    for (const [key, element] of elements ?? []) elements?.set(key, inCase(element, kind))
  }
}

function inCase(value: string, kind: Kind): string {
  if (kind === 'u') return value.toUpperCase()
  const small = value.toLowerCase()
  const [first = ''] = small
  return kind === 'l' ? small : first.toUpperCase() + small.slice(first.length)
}
