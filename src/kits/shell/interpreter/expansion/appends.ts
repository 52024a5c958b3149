// `s+=text` and `a+=(text)`, which loops may execute thousands of times. The interpreter copies the whole text each
// time, and searches all elements for the last; here the cost depends only on the added text.

import type { ShellArray, SimpleCommand } from '../shape.ts'
import { fieldsOfWord } from './braces.ts'
import type { Expander } from './expander.ts'

/** Longer texts are left to the interpreter, which has limits for them. */
const MAX_LENGTH = 4_000_000
const MAX_ELEMENTS = 90_000

type Assignment = SimpleCommand['assignments'][number]

/** Whether it was done here. Only for a variable without attributes, in a command without other parts. */
export async function appended(expander: Expander, node: SimpleCommand): Promise<boolean> {
  const [assignment, ...others] = node.assignments
  if (!assignment?.append || others.length > 0 || node.name !== null || node.redirections.length > 0) return false
  const { name } = assignment
  const { integerVars, namerefs, readonlyVars, options } = expander.state
  if (!/^[A-Za-z_]\w*$/.test(name) || options.allexport || options.xtrace) return false
  if (integerVars?.has(name) || namerefs?.has(name) || readonlyVars?.has(name)) return false
  return assignment.array ? appendedElements(expander, assignment) : appendedText(expander, assignment)
}

async function appendedText(expander: Expander, { name, value }: Assignment): Promise<boolean> {
  const { state } = expander
  if (value === null || state.arrays?.has(name) || !state.env.has(name)) return false
  if ((state.env.get(name) ?? '').length > MAX_LENGTH) return false
  const added = await expander.text(value.parts, 'assignment')
  // A substitution replaces the map of variables.
  const { env } = expander.state
  env.set(name, (env.get(name) ?? '') + added)
  return true
}

async function appendedElements(expander: Expander, { name, array }: Assignment): Promise<boolean> {
  const known = expander.state.arrays?.get(name)
  if (known?.kind !== 'indexed' || known.elements.size > MAX_ELEMENTS) return false
  if (!array || array.some(({ parts: [first] }) => first?.type === 'Glob')) return false
  const texts: string[] = []
  for (const word of array) texts.push(...(await fieldsOfWord(expander, word)))
  const target = expander.state.arrays?.get(name)
  if (target?.kind !== 'indexed') return true
  const elements = countedElements(target)
  for (const text of texts) elements.set(String(elements.last + 1), text)
  return true
}

function countedElements(array: ShellArray): CountedElements {
  if (array.elements instanceof CountedElements) return array.elements
  const elements = new CountedElements()
  for (const [key, value] of array.elements) elements.set(key, value)
  array.elements = elements
  return elements
}

/** Stores its last index. */
class CountedElements extends Map<string, string> {
  #last: number | null = null

  get last(): number {
    if (this.#last === null) {
      let last = -1
      for (const key of this.keys()) last = Math.max(last, Number(key))
      this.#last = last
    }
    return this.#last
  }

  override set(key: string, value: string): this {
    if (this.#last !== null) this.#last = Math.max(this.#last, Number(key))
    return super.set(key, value)
  }

  override delete(key: string): boolean {
    this.#last = null
    return super.delete(key)
  }

  override clear(): void {
    this.#last = null
    super.clear()
  }
}
