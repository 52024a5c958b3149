// Integer variables (`declare -i`): a value assigned to them is an expression. The library would evaluate it and ignore
// errors; so it gets the resulting number.

import type { Watched } from '../position.ts'
import type { Command, SimpleCommand, StepResult } from '../shape.ts'
import type { Word } from '../words-alone.ts'
import { ENDED, evaluateText, mistakeInAssignment, variablesOf } from './expression.ts'
import { add, type Int } from './int64.ts'
import { expansionOf, type Runnable } from './mend.ts'
import { expandedWord } from './template.ts'

type Assignment = SimpleCommand['assignments'][number]

/** `n=…` and `n+=…`, after the value is expanded. */
class IntegerValue implements Runnable {
  readonly outcome = { type: 'ArithNumber', value: '' }
  readonly #assignment: Assignment

  constructor(assignment: Assignment) {
    this.#assignment = assignment
  }

  async run(shell: Watched): Promise<StepResult> {
    const { name, value, append } = this.#assignment
    const parts = value?.parts ?? []
    const text =
      parts.length === 0 ? '' : await expandedWord({ type: 'Word', parts: [{ type: 'DoubleQuoted', parts }] }, shell)
    try {
      const given = evaluateText(shell, text)
      this.outcome.value = String(append ? add(currentValue(shell, String(name)), given) : given)
    } catch (error) {
      throw mistakeInAssignment(shell, error)
    }
    return ENDED
  }
}

function currentValue(shell: Watched, name: string): Int {
  const [, base = name, subscript] = ELEMENT.exec(name) ?? []
  const variables = variablesOf(shell)
  const isNumber = subscript !== undefined && !variables.isMap(base)
  const key = isNumber ? String(evaluateText(shell, subscript)) : (subscript ?? null)
  return evaluateText(shell, variables.read({ name: base, key }) ?? '')
}

const ELEMENT = /^([A-Za-z_]\w*)\[([\s\S]+)\]$/
/** A name, or the array of an element. */
const baseOf = (name: string): string => ELEMENT.exec(name)?.[1] ?? name

const WITH_INTEGERS = new WeakMap<Command, Command>()

/** The command with numbers in place of the values for integers; null if there are none. */
export function withIntegers({ ctx }: Watched, node: Command): { as: Command; names: string[] } | null {
  const { integerVars, namerefs } = ctx.state
  if (!integerVars?.size || node.type !== 'SimpleCommand' || node.assignments.length === 0) return null
  const isInteger = ({ name, array }: Assignment) =>
    !array && integerVars.has(baseOf(String(name))) && !namerefs?.has(baseOf(String(name)))
  const names = [...new Set(node.assignments.filter(isInteger).map(({ name }) => baseOf(String(name))))]
  if (names.length === 0) return null
  const known = WITH_INTEGERS.get(node)
  // A variable set for one command only is an integer for that command too.
  if (node.name !== null) names.length = 0
  if (known) return { as: known, names }
  const assignments = node.assignments.map((one) =>
    isInteger(one) ? { ...one, append: false, value: wordOf(new IntegerValue(one)) } : one,
  )
  const as = { ...node, assignments }
  WITH_INTEGERS.set(node, as)
  return { as, names }
}

const wordOf = (runnable: Runnable): Word => ({ type: 'Word', parts: [expansionOf(runnable, {})] })

/** The library parses a number again, with 53 bits only: so the attribute is hidden from it. */
export async function withoutAttribute<T>({ ctx }: Watched, names: string[], run: () => Promise<T>): Promise<T> {
  const { integerVars } = ctx.state
  for (const name of names) integerVars?.delete(name)
  try {
    return await run()
  } finally {
    for (const name of names) ctx.state.integerVars?.add(name)
  }
}

const VALUE = /^([A-Za-z_]\w*)(\+?)=(.*)$/s

/** The arguments of `declare` with numbers in them. Values that the library must not see are set by `keep`. */
export function declaredIntegers(
  shell: Watched,
  args: readonly string[],
  quoted: readonly boolean[],
): { args: string[]; keep: () => void } | null {
  const { integerVars, env } = shell.ctx.state
  const options = args.filter((arg) => /^-\w/.test(arg)).join('')
  const isKind = options.includes('i')
  const isOther = /[aAfFn]/.test(options) || args.some((arg) => /^\+\w*i/.test(arg))
  if (isOther || (!isKind && !integerVars?.size)) return null
  const exact = new Map<string, string>()
  const before = new Map<string, string | undefined>()
  const numbers = args.map((arg, at) => {
    const [, name = '', append = '', text = ''] = VALUE.exec(arg) ?? []
    if (name === '' || !(isKind || integerVars?.has(name))) return arg
    if (text.startsWith('(') && quoted[at] !== true) return arg
    try {
      const given = evaluateText(shell, text)
      const value = String(append === '' ? given : add(currentValue(shell, name), given))
      exact.set(name, value)
      // The following ones see it.
      if (!before.has(name)) before.set(name, env.get(name))
      env.set(name, value)
      return `${name}=${value}`
    } catch (error) {
      throw mistakeInAssignment(shell, error, 'declare: ')
    }
  })
  for (const [name, value] of before) {
    if (value === undefined) env.delete(name)
    else env.set(name, value)
  }
  const keep = () => {
    for (const [name, value] of exact) if (env.get(name) !== undefined) shell.ctx.state.env.set(name, value)
  }
  return { args: numbers, keep }
}
