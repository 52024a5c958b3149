// Puts our expressions (`expression.ts`) in place of a script's arithmetic: `$((…))`, `((…))`, `for ((…))`, `${x:…}`,
// `[[ … -eq … ]]` and indexes.

import type { Watched } from '../position.ts'
import type { Script, StepResult } from '../shape.ts'
import type { Part, Word } from '../words-alone.ts'
import { Comparison } from './comparison.ts'
import { Expression, type Loop, type Use } from './expression.ts'
import { Index, LateName } from './indexes.ts'
import { piecesOf } from './template.ts'

type Parse = (text: string) => Script
/** The library's type. */
type Holder = { type: 'ArithmeticExpression'; expression: object; originalText?: string | undefined }
export type Runnable = { outcome: object; run(shell: Watched): StepResult | Promise<StepResult> }

/** The original nodes, by the ones now in the script. */
const WRITTEN = new WeakMap<object, unknown>()
const MENDED = new WeakSet<object>()

const IN_COMMAND: Use = { prefix: '((: ', isCommand: true }
const NUMBER: Use = { prefix: '', isCommand: false }

/** A copy of the tree with the original nodes. */
export function wholeAsWritten<Node>(node: Node): Node {
  if (typeof node !== 'object' || node === null) return node
  if (Array.isArray(node)) return node.map(wholeAsWritten) as Node
  const written = WRITTEN.get(node)
  if (written !== undefined) return written as Node
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, wholeAsWritten(value)])) as Node
}

/** Whether the command that the library wants to run is one of our expressions. */
export function isRunnable(command: unknown): command is Runnable {
  return typeof command === 'object' && command !== null && 'run' in command
}

/** For a node of a script, before the nodes within it. */
export function mendArithmetic(node: object, parse: Parse): void {
  if ('parts' in node && Array.isArray(node.parts)) node.parts = withIndexes(node.parts as Part[], parse)
  if (!('type' in node)) return
  const { expression, operation } = node as { expression?: unknown; operation?: unknown }
  switch (node.type) {
    case 'ArithmeticExpansion':
      if (isHolder(expression)) mend(expression, parse)
      return
    case 'ArithmeticCommand':
      if (isHolder(expression)) mend(expression, parse, IN_COMMAND)
      return
    case 'CStyleFor':
      mendLoop(node as unknown as LoopNode, parse)
      return
    case 'ParameterExpansion':
      mendSubstring(operation, String((node as { parameter?: unknown }).parameter), parse)
      return
    case 'CondBinary':
      mendComparison(node as unknown as ComparisonNode)
      return
    case 'ArithmeticExpression':
      mend(node as unknown as Holder, parse, NUMBER)
      return
    default:
      if ('assignments' in node && Array.isArray(node.assignments)) mendAssignments(node.assignments, parse)
  }
}

function isHolder(node: unknown): node is Holder {
  return typeof node === 'object' && node !== null && 'type' in node && node.type === 'ArithmeticExpression'
}

function mend(holder: Holder, parse: Parse, use?: Use): void {
  if (MENDED.has(holder)) return
  MENDED.add(holder)
  const { originalText } = holder
  if (originalText === undefined) return
  const text = withoutEnd(originalText).replaceAll('\\\n', '')
  holder.expression = treeOf(new Expression(text, piecesOf(text, parse), use), { type: 'ArithVariable', name: text })
  // The library would parse the text again if it contained names.
  holder.originalText = undefined
}

/** If it starts with parentheses, or a substitution contains another expression, the library's text includes the end. */
function withoutEnd(text: string): string {
  const open = [...text].reduce((sum, char) => sum + (char === '(' ? 1 : char === ')' ? -1 : 0), 0)
  return open === -2 ? text.replace(/\)\)\s*$/, '') : text
}

/** The tree for the library, see `expression.ts`. */
function treeOf(runnable: Runnable, written: object): object {
  const left = { type: 'ArithCommandSubst', command: runnable }
  const tree = { type: 'ArithBinary', operator: ',', left, right: runnable.outcome }
  WRITTEN.set(tree, written)
  return tree
}

export function expansionOf(runnable: Runnable, written: object): Part {
  const expression = { type: 'ArithmeticExpression', expression: treeOf(runnable, written) }
  MENDED.add(expression)
  const part = { type: 'ArithmeticExpansion', expression }
  return part as unknown as Part
}

type LoopNode = { init: Holder | null; condition: Holder | null; update: Holder | null }

function mendLoop(node: LoopNode, parse: Parse): void {
  const loop: Loop = { hasFailed: false }
  const use: Use = { ...IN_COMMAND, loop }
  for (const holder of [node.init, node.update]) if (holder) mend(holder, parse, use)
  const isWithout = node.condition === null || node.condition.originalText?.trim() === ''
  if (isWithout) node.condition = { type: 'ArithmeticExpression', expression: {}, originalText: '1' }
  if (!node.condition) return
  mend(node.condition, parse, { ...use, part: 'condition' })
  if (isWithout) WRITTEN.set(node.condition.expression, { type: 'ArithVariable', name: '' })
}

function mendSubstring(operation: unknown, parameter: string, parse: Parse): void {
  if (typeof operation !== 'object' || operation === null || !('type' in operation)) return
  if (operation.type !== 'Substring') return
  const { offset, length } = operation as { offset?: unknown; length?: unknown }
  // The parser treats a missing part as zero.
  if (!length && isHolder(offset) && offset.originalText === undefined && !MENDED.has(offset)) {
    Object.assign(operation, { type: 'BadSubstitution', text: `${parameter}:` })
    return
  }
  const use: Use = { prefix: `${parameter}: `, isCommand: false }
  for (const holder of [offset, length]) if (isHolder(holder)) mend(holder, parse, use)
}

type ComparisonNode = { type: 'CondBinary'; operator: string; left: Word; right: Word }

const COMPARES = /^-(?:eq|ne|lt|le|gt|ge)$/

function mendComparison(node: ComparisonNode): void {
  if (MENDED.has(node) || !COMPARES.test(node.operator)) return
  MENDED.add(node)
  const { operator, left, right } = node
  const written = { type: 'CondBinary', operator, left, right }
  WRITTEN.set(node, written)
  node.left = { type: 'Word', parts: [expansionOf(new Comparison(operator, left, right), written)] }
  node.operator = '-ne'
  node.right = { type: 'Word', parts: [{ type: 'Literal', value: '0' }] }
}

const ELEMENT = /^([A-Za-z_]\w*)\[(.+)\]$/s
/** An index that is a number already, or all elements. */
const IS_PLAIN = /^(?:[@*]|0|-?[1-9]\d{0,8})$/

function indexOf(text: string, parse: Parse): Index | null {
  const [, name = '', subscript = ''] = ELEMENT.exec(text) ?? []
  if (name === '' || IS_PLAIN.test(subscript)) return null
  return new Index(name, subscript, piecesOf(subscript, parse))
}

const NOTHING = { type: 'ArithVariable', name: '' }

/** Inserts an empty word that evaluates the index before `${a[i]}`. */
function withIndexes(parts: readonly Part[], parse: Parse): Part[] {
  return parts.flatMap((part) => {
    if (part.type !== 'ParameterExpansion' || MENDED.has(part) || part.operation?.type === 'Indirection') return [part]
    MENDED.add(part)
    const index = indexOf(part.parameter, parse)
    if (index === null) return [part]
    WRITTEN.set(part, { ...part })
    Object.defineProperty(part, 'parameter', { get: () => index.current, enumerable: true, configurable: true })
    const before = expansionOf(index, NOTHING)
    WRITTEN.set(before, { type: 'Literal', value: '' })
    return [before, part]
  })
}

type Assignment = { name: string; value: Word | null; array: unknown }

/** The index of `a[i]=value` is evaluated after the value. */
function mendAssignments(assignments: Assignment[], parse: Parse): void {
  for (const assignment of assignments) {
    if (MENDED.has(assignment) || assignment.array) continue
    MENDED.add(assignment)
    const index = indexOf(assignment.name, parse)
    if (index === null) continue
    const name = new LateName(index)
    const { value } = assignment
    const last = expansionOf(index, NOTHING)
    WRITTEN.set(last, { type: 'Literal', value: '' })
    assignment.value = { type: 'Word', parts: [...(value?.parts ?? []), last] }
    // The library takes the name before it expands the value, and reads it afterwards.
    WRITTEN.set(name, index.written)
    assignment.name = name as unknown as string
  }
}
