// `${x@Q}` and its like. The interpreter quotes otherwise than bash, and knows arrays for few of them.

import type { Node } from './heads.ts'
import type { Position, Watched } from './position.ts'
import { asKey, asValue, asWord } from './quoting.ts'
import type { StepResult } from './shape.ts'
import type { Temporaries } from './temporaries.ts'
import { asAssignment, attributesOf, entriesOf, type Values, valuesOf } from './values.ts'
import { type Part, type Run, textOfParts } from './words-alone.ts'

export type Filling = { shell: Watched; position: Position; run: Run; temporaries: Temporaries }
type Expansion = Extract<Part, { type: 'ParameterExpansion' }>
type Transform = Extract<NonNullable<Expansion['operation']>, { type: 'Transform' }>

export function transformOf(node: Node): Transform | null {
  if (node.type !== 'ParameterExpansion') return null
  const { operation } = node as unknown as Expansion
  return operation?.type === 'Transform' ? operation : null
}

/** A variable that holds what it comes to; null where the interpreter may do it. */
export async function transformed(node: Node, filling: Filling): Promise<Node | StepResult | null> {
  const operator = transformOf(node)?.operator
  const { shell, temporaries } = filling
  const found = valuesOf(shell.ctx.state, String(node.parameter))
  if (found === null || operator === undefined) return null
  if (operator === 'P') return prompt(node, found, filling)
  const results = await byOperator(found, operator, filling)
  if (results === null || !Array.isArray(results)) return results
  return temporaries.hold(results, found.all)
}

async function byOperator(found: Values, operator: string, { shell, position }: Filling) {
  const { values, all, array, name } = found
  const { state } = shell.ctx
  switch (operator) {
    case 'Q':
      return values.map(asWord)
    case 'A':
      return name === null ? null : [asAssignment(state, found)]
    case 'a':
      return name === null || (all && !array) ? null : values.map(() => attributesOf(state, name))
    case 'K':
      return all && array ? [pairs(found)] : values.map(asWord)
    case 'k':
      return all && array ? entriesOf(array).flat() : values.map(asWord)
    case 'E':
      return values.map((value) => unescaped(value, position))
    case 'u':
      return values.map((value) => value.replace(/^./u, (first) => first.toUpperCase()))
    default:
      return null
  }
}

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

/** The interpreter reads the escapes of a prompt; what they leave is a text in double quotes. */
async function prompt(node: Node, { all }: Values, { shell, position, run, temporaries }: Filling) {
  const text = await textOfParts(shell, [node as unknown as Part], { run })
  if (typeof text !== 'string' || all || !/[$`]/.test(text)) return typeof text === 'string' ? null : text
  const command = position.parse(`: "${text.replace(/["\\]/g, '\\$&')}"`).statements[0]?.pipelines[0]?.commands[0]
  const parts = command?.type === 'SimpleCommand' ? (command.args[0]?.parts ?? []) : []
  const expanded = await textOfParts(shell, parts, { run })
  return typeof expanded === 'string' ? temporaries.hold([expanded], null) : expanded
}
