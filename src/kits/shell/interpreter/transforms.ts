// `${x@Q}` and similar. The interpreter quotes differently from bash, and supports arrays for few of them.

import type { Expands } from './expansion/expands.ts'
import type { Position } from './position.ts'
import { asKey, asValue, asWord } from './quoting.ts'
import { asAssignment, attributesOf, entriesOf, type Values } from './values.ts'

/** The result for each value; null for an unknown operator. */
export async function transformedValues(expander: Expands, found: Values, operator: string): Promise<string[] | null> {
  const { values, all, array, name } = found
  const { state, position } = expander
  switch (operator) {
    case 'Q':
      return values.map(asWord)
    case 'A':
      if (name === null) return ['set', '--', ...values.map(asWord)]
      if (values.length === 0) return []
      return all === '@' ? wordsOfDeclaration(asAssignment(state, found)) : [asAssignment(state, found)]
    case 'a':
      if (name === null) return values.map(() => '')
      return (values.length > 0 || all !== null ? values : ['']).map(() => attributesOf(state, name))
    case 'K':
      return all && array ? [pairs(found)] : values.map(asWord)
    case 'k':
      return all && array ? entriesOf(array).flat() : values.map(asWord)
    case 'E':
      return values.map((value) => unescaped(value, position))
    case 'P':
      return prompts(expander, values)
    case 'u':
      return values.map((value) => value.replace(/^./u, (first) => first.toUpperCase()))
    case 'U':
      return values.map((value) => value.toUpperCase())
    case 'L':
      return values.map((value) => value.toLowerCase())
    default:
      return null
  }
}

/** `declare`, its letters, and the value. */
const wordsOfDeclaration = (text: string): string[] => /^(declare) (\S+) ([\s\S]*)$/.exec(text)?.slice(1) ?? [text]

function pairs({ array }: Values): string {
  if (!array) return ''
  const text = entriesOf(array).map(([key, value]) => `${asKey(key)} ${asValue(value)}`)
  return `${text.join(' ')}${array.kind === 'associative' && text.length > 0 ? ' ' : ''}`
}

/** As the parser reads `$'…'`. */
function unescaped(value: string, { parse }: Position): string {
  const inside = value.replace(/\\[\s\S]|'|\\$/g, (one) => (one === "'" ? "\\'" : one === '\\' ? '\\\\' : one))
  const command = parse(`: $'${inside}'`).statements[0]?.pipelines[0]?.commands[0]
  const parts = command?.type === 'SimpleCommand' ? (command.args[0]?.parts ?? []) : []
  return parts.map((part) => ('value' in part ? part.value : '')).join('')
}

/** One after another, because the interpreter can process only one at a time. */
async function prompts(expander: Expands, values: readonly string[]): Promise<string[]> {
  const texts: string[] = []
  for (const value of values) texts.push(await prompt(expander, value))
  return texts
}

/** The interpreter processes the escapes of a prompt; the result is expanded like text in double quotes. */
async function prompt(expander: Expands, value: string): Promise<string> {
  let name = '_prompt_'
  while (expander.state.env.has(name)) name += '_'
  expander.state.env.set(name, value)
  const operation = { type: 'Transform' as const, operator: 'P' as const }
  const text = (await expander.asked({ type: 'ParameterExpansion', parameter: name, operation })).join(' ')
  expander.state.env.delete(name)
  if (!/[$`]/.test(text)) return text
  const { parse } = expander.position
  const command = parse(`: "${text.replace(/["\\]/g, '\\$&')}"`).statements[0]?.pipelines[0]?.commands[0]
  return expander.text(command?.type === 'SimpleCommand' ? (command.args[0]?.parts ?? []) : [])
}
