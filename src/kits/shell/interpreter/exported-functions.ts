// `export -f`: a function is passed to child shells like in bash, in an environment variable with a special name. The
// contents of such a variable are used as a function only if a function of this run was exported so: no other text
// becomes code.

import { functionText } from './function-text.ts'
import type { Position, Watched } from './position.ts'
import type { FunctionDefinition, ShellVariables, StepResult } from './shape.ts'

const VARIABLE = /^BASH_FUNC_(.+)%%$/
const variableOf = (name: string): string => `BASH_FUNC_${name}%%`

export const isExported = ({ exportedVars }: ShellVariables, name: string): boolean =>
  exportedVars?.has(variableOf(name)) ?? false

/** `export` with `-f`; null for any other use. */
export function exportFunctions(shell: Watched, position: Position, args: readonly string[]): StepResult | null {
  const letters = args.filter((arg) => /^-[a-z]/.test(arg)).join('')
  if (!letters.includes('f')) return null
  const names = args.filter((arg) => !/^-/.test(arg))
  const { functions } = shell.ctx.state
  if (names.length === 0) return { stdout: listed(shell, position), stderr: '', exitCode: 0 }
  let stderr = ''
  for (const name of names) {
    const definition = functions.get(name)
    if (!definition) stderr += `bash: export: ${name}: not a function\n`
    else if (letters.includes('n')) withdraw(shell.ctx.state, name)
    else passOn(shell, position, definition)
  }
  return { stdout: '', stderr, exitCode: stderr === '' ? 0 : 1 }
}

function listed(shell: Watched, position: Position): string {
  const { state } = shell.ctx
  const names = [...state.functions.keys()].filter((name) => isExported(state, name)).sort()
  return names.map((name) => `${functionText(shell, position, name)}\ndeclare -fx ${name}\n`).join('')
}

/** Called again for a function that is redefined. */
export function passOn({ ctx }: Watched, position: Position, definition: FunctionDefinition): void {
  const { state } = ctx
  const variable = variableOf(definition.name)
  const text = functionText({ ctx }, position, definition.name).replace(/^\S+ /, '')
  state.env.set(variable, text)
  state.exportedVars ??= new Set()
  state.exportedVars.add(variable)
  position.watch.passedFunctions.set(`${variable}=${text}`, { ...definition, sourceFile: 'environment' })
}

export function withdraw({ env, exportedVars }: ShellVariables, name: string): void {
  env.delete(variableOf(name))
  exportedVars?.delete(variableOf(name))
}

/** At the start of a shell. */
export function takeFunctions({ ctx }: Watched, { watch }: Position): void {
  const { env, functions, exportedVars } = ctx.state
  if (watch.passedFunctions.size === 0) return
  for (const [variable, text] of env) {
    const [, name] = VARIABLE.exec(variable) ?? []
    const definition = watch.passedFunctions.get(`${variable}=${text}`)
    if (name === undefined || definition === undefined) continue
    functions.set(name, definition)
    exportedVars?.add(variable)
  }
}
