// `read 'a[i+1]'`: the interpreter does not accept an element as a name. It reads into a temporary variable, whose
// value is then assigned to the element.

import { evaluateText, mistakeInAssignment, variablesOf } from './arithmetic/expression.ts'
import type { Watched } from './position.ts'
import type { CommandCall, StepResult } from './shape.ts'

const ELEMENT = /^([A-Za-z_]\w*)\[([\s\S]+)\]$/
const TEMPORARY = '_read_into_'

type ElementAssignment = { name: string; key: string; temporary: string }

/** Null if no element is given. */
export async function readElements(
  shell: Watched,
  [name, args, ...rest]: CommandCall,
  run: (call: CommandCall) => Promise<StepResult>,
): Promise<StepResult | null> {
  const places: ElementAssignment[] = []
  const words = args.map((arg, i) => {
    const [, array = '', subscript = ''] = ELEMENT.exec(arg) ?? []
    if (array === '' || /^-[A-Za-z]*[aditnNpu]$/.test(args[i - 1] ?? '')) return arg
    const temporary = `${TEMPORARY}${places.length}`
    places.push({ name: array, key: keyOf(shell, array, subscript), temporary })
    return temporary
  })
  if (places.length === 0) return null
  const result = await run([name, words, ...rest])
  for (const { name: array, key, temporary } of places) {
    const { env } = shell.ctx.state
    const value = env.get(temporary)
    env.delete(temporary)
    if (value !== undefined) variablesOf(shell).write({ name: array, key }, value)
  }
  return result
}

function keyOf(shell: Watched, array: string, subscript: string): string {
  if (variablesOf(shell).isMap(array)) return subscript
  try {
    return String(evaluateText(shell, subscript))
  } catch (error) {
    throw mistakeInAssignment(shell, error)
  }
}
