// All mutations that a file allows: of code that runs, on one line, and not of texts.

import { type Change, OPERATORS } from './operators.ts'
import { childrenOf, functionAt, functionsOf, isNode, type Node, parse, type Source } from './syntax.ts'

export type Mutation = Change & {
  path: string
  /** From 1. */
  line: number
  original: string
  /** The place of the innermost function around it among the functions of the file; null at the level of the module. */
  inFunction: number | null
  /** What is around it: the function, or the line. */
  around: { start: number; text: string }
}

const TYPES_WITH_CODE = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression'])
const NO_CODE = new Set(['ImportDeclaration', 'ExportAllDeclaration', 'ImportExpression'])
const LOG = /^log\.\w+$/
/** What they are given is for readers of the document. */
const TELLING = /\.(describe|openapi|meta)$/

export function mutationsOf(path: string, text: string): Mutation[] {
  const source = parse(path, text)
  const functions = functionsOf(source)
  return changesOf(source).map((change) => {
    const inFunction = functionAt(functions, change)
    const span = inFunction === null ? lineAround(text, change.start) : functions[inFunction]
    if (!span) throw new Error(`${path} has no function ${inFunction}`)
    return {
      ...change,
      path,
      line: text.slice(0, change.start).split('\n').length,
      original: text.slice(change.start, change.end),
      inFunction,
      around: { start: span.start, text: text.slice(span.start, span.end) },
    }
  })
}

/** The text of the file with this mutation. */
export function mutated(text: string, { start, end, replacement }: Change): string {
  return text.slice(0, start) + replacement + text.slice(end)
}

function changesOf({ program, text }: Source): Change[] {
  const found: Change[] = []
  const visit = (node: Node): void => {
    if (isSkipped(node, text)) return
    for (const operator of OPERATORS[node.type] ?? []) found.push(...operator(node, text))
    for (const child of childrenOf(node)) if (!isNameIn(node, child) && !isToldIn(node, child, text)) visit(child)
  }
  visit(program)
  return found.filter(({ start, end }) => !text.slice(start, end).includes('\n'))
}

function isSkipped(node: Node, text: string): boolean {
  if (NO_CODE.has(node.type)) return true
  if (node.type.startsWith('TS')) return !TYPES_WITH_CODE.has(node.type)
  if (node.type === 'ExpressionStatement') return isNode(node.expression) && isSkipped(node.expression, text)
  if (typeof node.directive === 'string') return true
  return LOG.test(calleeOf(node, text))
}

function calleeOf(node: Node, text: string): string {
  const { callee } = node
  return node.type === 'CallExpression' && isNode(callee) ? text.slice(callee.start, callee.end) : ''
}

/** A key is not a value, even when it is written as one. */
function isNameIn(node: Node, child: Node): boolean {
  return node.key === child && node.computed !== true
}

function isToldIn(node: Node, child: Node, text: string): boolean {
  return TELLING.test(calleeOf(node, text)) && child !== node.callee
}

function lineAround(text: string, at: number): { start: number; end: number } {
  const start = text.lastIndexOf('\n', at) + 1
  const end = text.indexOf('\n', at)
  return { start, end: end < 0 ? text.length : end }
}
