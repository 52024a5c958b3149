// `local x="(a b)"`: a value that starts and ends with a parenthesis. Array literals of a script are parsed as
// assignments (`array-declarations.ts`), so a value in this form is a text; the interpreter would make it an array.

import type { CommandCall, ShellVariables, StepResult } from './shape.ts'

const DECLARES: ReadonlySet<string> = new Set(['declare', 'typeset', 'local', 'readonly'])
const TEXT = /^([A-Za-z_]\w*)(\+?)=(\([\s\S]*\))$/
const STAND_IN = '\u0001parenthesized'

export async function withParenthesized(
  { state }: { readonly state: ShellVariables },
  call: CommandCall,
  run: (as: CommandCall) => Promise<StepResult>,
): Promise<StepResult> {
  const [name, args, ...rest] = call
  // With these letters it is an array in bash too, or an expression.
  if (!DECLARES.has(name) || args.some((arg) => /^-\w*[aAi]/.test(arg)) || !args.some((arg) => TEXT.test(arg))) {
    return run(call)
  }
  const values = new Map<string, string>()
  const others = args.map((arg) => {
    const [, variable, isAdded, text] = TEXT.exec(arg) ?? []
    if (variable === undefined || text === undefined) return arg
    values.set(variable, (isAdded ? (state.env.get(variable) ?? '') : '') + text)
    return `${variable}=${STAND_IN}`
  })
  const result = await run([name, others, ...rest])
  for (const [variable, value] of values) {
    if (state.env.get(variable) === STAND_IN) state.env.set(variable, value)
    const elements = state.arrays?.get(variable)?.elements
    if (elements?.get('0') === STAND_IN) elements.set('0', value)
  }
  return result
}
