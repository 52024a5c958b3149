// The values of a parameter: `$x`, `$1`, `$@`, `${a[1]}`, `${m[key]}`, `${a[@]}`. Dynamic variables are read from the
// interpreter.

import { evaluateText } from '../arithmetic/expression.ts'
import { NounsetError } from '../arithmetic/variables.ts'
import { shellFlags } from '../own-options.ts'
import type { ShellArray } from '../shape.ts'
import { entriesOf, type Values } from '../values.ts'
import { type Part, withOption } from '../words-alone.ts'
import type { Expands } from './expands.ts'

export interface Parameter extends Values {
  /** The form in error messages. */
  label: string
  /** The same if the original form differs, for example through a reference. */
  shown?: string
  /** Of each value of an array. */
  keys: string[]
}

const ELEMENT = /^([A-Za-z_]\w*)\[([\s\S]+)\]$/
/** Variables that are computed when they are read. */
const MADE =
  /^(?:_|[?$!#0-]|RANDOM|SECONDS|LINENO|U?E?UID|PPID|BASHPID|HOST(?:NAME|TYPE)|(?:OS|MACH)TYPE|FUNCNAME|PIPESTATUS|DIRSTACK|GROUPS|BASHOPTS|SHELLOPTS|BASH_\w+|EPOCH\w+|SRANDOM|COLUMNS|LINES|OLDPWD|PWD|IFS|SHLVL)$/

export async function parameterOf(expander: Expands, label: string): Promise<Parameter> {
  const { env, arrays } = expander.state
  if (label === '@' || label === '*') {
    const values = Array.from({ length: Number(env.get('#') ?? 0) }, (_, i) => env.get(String(i + 1)) ?? '')
    return { label, values, all: label, name: null, array: null, keys: [] }
  }
  if (label.endsWith('[]')) throw expander.failure(`\${${label}}: bad substitution`)
  const [, base, subscript] = ELEMENT.exec(label) ?? []
  const name = base ?? label
  const array = arrays?.get(name) ?? null
  if (name === '!' && expander.state.lastBackgroundPid === 0) {
    return { label, values: [], all: null, name, array, keys: [] }
  }
  if (name === '-' || name === 'BASHOPTS') {
    return { label, values: [shellFlags(expander, name)], all: null, name, array, keys: [] }
  }
  if (!array && !env.has(name) && MADE.test(name)) return madeParameter(expander, label, subscript)
  const found = { label, name, array, all: null, keys: [] }
  if (subscript === '@' || subscript === '*') {
    const entries = array ? entriesOf(array) : env.has(name) ? [['0', env.get(name) ?? ''] as const] : []
    return { ...found, all: subscript, values: entries.map(([, value]) => value), keys: entries.map(([key]) => key) }
  }
  const value = await valueAt(expander, { name, array, subscript })
  return { ...found, values: value === undefined ? [] : [value] }
}

async function valueAt(
  expander: Expands,
  { name, array, subscript }: { name: string; array: ShellArray | null; subscript: string | undefined },
): Promise<string | undefined> {
  const { env } = expander.state
  if (array?.kind === 'associative') return array.elements.get(subscript ? await expander.key(subscript) : '0')
  // In a reference, an index is a text that may contain variables (`r='a[$i]'; ${!r}`).
  const isWritten = subscript !== undefined && /\$[\w{]/.test(subscript) && !/\$\(|`/.test(subscript)
  const text = isWritten ? await expander.key(subscript) : subscript
  const index = text === undefined ? 0 : Number(evaluateText(expander.shell, text))
  if (!array && index < (env.has(name) ? -1 : 0)) return noElement(expander, name)
  if (!array) return index === 0 || index === -1 ? env.get(name) : undefined
  if (index >= 0) return array.elements.get(String(index))
  let last = -1
  for (const key of array.elements.keys()) last = Math.max(last, Number(key))
  if (last + 1 + index < 0) return noElement(expander, name)
  return array.elements.get(String(last + 1 + index))
}

/** This is reported, and the word continues without it. */
function noElement(expander: Expands, name: string): undefined {
  expander.stderr += `bash: line ${expander.state.currentLine}: ${name}: bad array subscript\n`
}

async function madeParameter(expander: Expands, label: string, subscript: string | undefined): Promise<Parameter> {
  const all = subscript === '@' || subscript === '*' ? subscript : null
  const asked = (word: string): Part => {
    const operation =
      word === '' ? null : { type: 'UseAlternative', checkEmpty: false, word: { type: 'Word', parts: [] } }
    const filled = operation && { ...operation, word: { type: 'Word', parts: [{ type: 'Literal', value: word }] } }
    return { type: 'ParameterExpansion', parameter: label, operation: filled } as unknown as Part
  }
  const { options } = expander.state
  const isSet = await withOption(options, 'nounset', false, async () => {
    return (await expander.asked(asked('set'))).join('') !== ''
  })
  const isTraced = label === '-' && options.xtrace === true
  const values = (isSet ? await expander.asked(asked('')) : []).map((value) => (isTraced ? withTrace(value) : value))
  const array: ShellArray | null = all
    ? { kind: 'indexed', elements: new Map(values.map((v, i) => [String(i), v])) }
    : null
  return { label, values, all, name: /^\w+/.exec(label)?.[0] ?? null, array, keys: values.map((_, i) => String(i)) }
}

/** In `$-`, the letter that is switched off during the request to the interpreter. */
const withTrace = (letters: string): string =>
  letters.includes('x') ? letters : letters.replace(/^[abd-rt-z]*/, (before) => `${before}x`)

/** Under `set -u`, and for a single value. */
export function refuseUnset(expander: Expands, { values, all, label, shown }: Parameter): void {
  if (values.length > 0 || all !== null || !expander.state.options.nounset) return
  throw new NounsetError(shown ?? label)
}

/** For `${#a[@]}`. */
export function refuseNoArray(expander: Expands, { values, array, name }: Parameter): void {
  if (values.length > 0 || array !== null || name === null || !expander.state.options.nounset) return
  throw new NounsetError(name)
}
