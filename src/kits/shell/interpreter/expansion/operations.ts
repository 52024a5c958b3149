// The operation after the name in `${name…}`, for one value or for each of several.

import { byteText, charText } from '../../byte-locale.ts'
import type { Expression } from '../arithmetic/expression.ts'
import type { StepResult } from '../shape.ts'
import { isOn } from '../shell-options.ts'
import { transformedValues } from '../transforms.ts'
import type { Part, Word } from '../words-alone.ts'
import type { Expands } from './expands.ts'
import { ExpansionFailure } from './failure.ts'
import { countsBytes } from './locale.ts'
import type { Parameter } from './parameters.ts'
import type { Pattern } from './pattern.ts'

export type Expanding = Extract<Part, { type: 'ParameterExpansion' }>
export type Operation = NonNullable<Expanding['operation']>
type OperationOf<Name extends Operation['type']> = Extract<Operation, { type: Name }>
type Holder = OperationOf<'Substring'>['offset']

const OVER_LIMIT = 126

/** The resulting values; null if it is not an operation on values. */
export async function operated(
  expander: Expands,
  operation: Operation,
  parameter: Parameter,
): Promise<string[] | null> {
  if (!countsBytes(expander.state) || operation.type === 'Transform')
    return operatedAsText(expander, operation, parameter)
  const values = await operatedAsText(expander, operation, { ...parameter, values: parameter.values.map(byteText) })
  return values?.map(charText) ?? null
}

async function operatedAsText(expander: Expands, operation: Operation, parameter: Parameter): Promise<string[] | null> {
  const { values } = parameter
  switch (operation.type) {
    case 'Length':
      return [String(parameter.all ? values.length : Array.from(values[0] ?? '').length)]
    case 'Substring':
      return substrings(expander, operation, parameter)
    case 'PatternRemoval': {
      const pattern = await expander.pattern(operation.pattern, { folds: false })
      return values.map((value) => removed(value, pattern, operation))
    }
    case 'PatternReplacement':
      return replaced(expander, operation, values)
    case 'CaseModification': {
      const pattern = operation.pattern?.parts.length
        ? await expander.pattern(operation.pattern, { isRaw: true })
        : null
      return values.map((value) => inCase(value, pattern, operation))
    }
    case 'Transform':
      return transformedValues(expander, parameter, operation.operator)
    default:
      return null
  }
}

function removed(value: string, pattern: Pattern, { side, greedy }: OperationOf<'PatternRemoval'>): string {
  if (side === 'prefix') return value.slice(pattern.prefix(value, greedy) ?? 0)
  return value.slice(0, pattern.suffix(value, greedy) ?? value.length)
}

function inCase(value: string, pattern: Pattern | null, { direction, all }: OperationOf<'CaseModification'>): string {
  // Set by `noteToggle`.
  const isToggle = (direction as string) === 'toggle'
  const changed = (char: string) => {
    if (pattern && !pattern.matches(char)) return char
    const isLarge = isToggle ? char === char.toLowerCase() : direction === 'upper'
    const other = isLarge ? char.toUpperCase() : char.toLowerCase()
    // One character stays one.
    return Array.from(other).length === 1 ? other : char
  }
  const [first = '', ...rest] = Array.from(value)
  return all ? [first, ...rest].map(changed).join('') : changed(first) + rest.join('')
}

async function replaced(expander: Expands, operation: OperationOf<'PatternReplacement'>, values: readonly string[]) {
  const pattern = await expander.pattern(withSign(operation))
  const hasMatch = isOn(expander.position, 'patsub_replacement')
  const template = operation.replacement ? await expander.template(operation.replacement, hasMatch) : []
  const anchor = operation.all ? null : operation.anchor
  const most = expander.shell.ctx.limits.maxStringLength
  let length = 0
  const put = (match: string) => {
    const text = template.map((piece) => piece ?? match).join('')
    length += text.length
    if (length > most) throw new ExpansionFailure(limited(most))
    return text
  }
  return values.map((value) => {
    if (anchor === 'start') {
      const end = pattern.prefix(value, true)
      return end === null ? value : put(value.slice(0, end)) + value.slice(end)
    }
    if (anchor === 'end') {
      const start = pattern.suffix(value, true)
      return start === null ? value : value.slice(0, start) + put(value.slice(start))
    }
    return everywhere(value, pattern, operation.all, put)
  })
}

const limited = (most: number): StepResult => ({
  stdout: '',
  stderr: `bash: pattern replacement: string length limit exceeded (${most} bytes)\n`,
  exitCode: OVER_LIMIT,
})

/** After two slashes, `#` and `%` are literal characters of the pattern. */
function withSign({ pattern, all, anchor }: OperationOf<'PatternReplacement'>): Word {
  if (!all || anchor === null) return pattern
  return { ...pattern, parts: [{ type: 'Literal', value: anchor === 'start' ? '#' : '%' }, ...pattern.parts] }
}

function everywhere(value: string, pattern: Pattern, all: boolean, put: (match: string) => string): string {
  let [text, at] = ['', 0]
  for (let from = 0; from <= value.length; ) {
    const span = pattern.find(value, from)
    if (!span) break
    const [start, end] = span
    if (end === start) {
      // An empty match replaces nothing, except in an empty text.
      if (value === '' && pattern.matches('') && !pattern.isEmpty) return put('')
      from = start + ((value.codePointAt(start) ?? 0) > 0xffff ? 2 : 1)
      continue
    }
    text += value.slice(at, start) + put(value.slice(start, end))
    at = end
    from = end
    if (!all) break
  }
  return text + value.slice(at)
}

/** Evaluated by our expression, which replaces the interpreter's (`arithmetic/mend.ts`) unless there is none. */
async function numberOf(expander: Expands, holder: Holder): Promise<number> {
  const tree = holder.expression as unknown as { left?: { command: Expression } }
  if (!tree.left) return 0
  await tree.left.command.run(expander.shell)
  return Number(tree.left.command.outcome.value)
}

async function substrings(expander: Expands, { offset, length }: OperationOf<'Substring'>, parameter: Parameter) {
  const start = await numberOf(expander, offset)
  const count = length ? await numberOf(expander, length) : null
  if (parameter.all === null) return [substring(expander, parameter, { start, count })]
  if (count !== null && count < 0) throw expander.failure(`${count}: substring expression < 0`, { isReported: false })
  const { array, values } = parameter
  if (array?.kind === 'indexed') {
    const keys = parameter.keys.map(Number)
    const from = start < 0 ? (keys.at(-1) ?? -1) + 1 + start : start
    const found = from < 0 ? [] : values.filter((_, i) => (keys[i] ?? 0) >= from)
    return count === null ? found : found.slice(0, count)
  }
  // An associative array counts from one, and so do the arguments, which follow the name of the script.
  const list = array ? values : parameter.name === null ? [expander.state.env.get('0') ?? 'bash', ...values] : values
  const first = start < 0 ? (array ? values.length + 1 : list.length) + start : start
  const from = array ? Math.max(first - 1, 0) : first
  if (first < 0) return []
  return list.slice(from, count === null ? undefined : from + count)
}

type Range = { start: number; count: number | null }

function substring(expander: Expands, { values: [value = ''] }: Parameter, { start, count }: Range): string {
  const chars = Array.from(value)
  const from = start < 0 ? chars.length + start : start
  if (from < 0 || from > chars.length) return ''
  if (count === null || count >= 0) return chars.slice(from, count === null ? undefined : from + count).join('')
  const end = chars.length + count
  if (end < from) throw expander.failure(`${count}: substring expression < 0`, { isReported: false })
  return chars.slice(from, end).join('')
}
