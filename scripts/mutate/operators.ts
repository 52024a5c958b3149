// What can be changed in a place of the code. The kinds are those of the usual mutation testers.

import { isNode, type Node } from './syntax.ts'

/** The text from `start` to `end` is replaced. */
export type Change = { start: number; end: number; replacement: string; kind: string }

type Operator = (node: Node, text: string) => Change[]

const BINARY: Readonly<Record<string, readonly [string, string]>> = {
  '<': ['<=', 'comparison'],
  '<=': ['<', 'comparison'],
  '>': ['>=', 'comparison'],
  '>=': ['>', 'comparison'],
  '===': ['!==', 'equality'],
  '!==': ['===', 'equality'],
  '+': ['-', 'arithmetic'],
  '-': ['+', 'arithmetic'],
  '*': ['/', 'arithmetic'],
  '/': ['*', 'arithmetic'],
  '%': ['*', 'arithmetic'],
  '&&': ['||', 'logic'],
  '||': ['&&', 'logic'],
  '+=': ['-=', 'arithmetic'],
  '-=': ['+=', 'arithmetic'],
  '++': ['--', 'arithmetic'],
  '--': ['++', 'arithmetic'],
}

const METHODS: Readonly<Record<string, string>> = {
  round: 'floor',
  floor: 'ceil',
  ceil: 'floor',
  min: 'max',
  max: 'min',
  some: 'every',
  every: 'some',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
  trimStart: 'trimEnd',
  trimEnd: 'trimStart',
  toLowerCase: 'toUpperCase',
  toUpperCase: 'toLowerCase',
  indexOf: 'lastIndexOf',
  lastIndexOf: 'indexOf',
}

/** Smaller numbers count something; larger ones are limits, of which one more or less says nothing. */
const COUNTING = 1000

function child(node: Node, key: string): Node {
  const found = node[key]
  if (!isNode(found)) throw new Error(`${node.type} without ${key}`)
  return found
}

const around = ({ start, end }: Node, replacement: string, kind: string): Change => ({ start, end, replacement, kind })

function isText(node: Node): boolean {
  return node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node.value === 'string')
}

const swapOperator: Operator = (node, text) => {
  const operator = String(node.operator)
  const swap = BINARY[operator]
  const [left, right] = [child(node, 'left'), child(node, 'right')]
  if (!swap || (operator.startsWith('+') && (isText(left) || isText(right)))) return []
  const start = text.indexOf(operator, left.end)
  return [{ start, end: start + operator.length, replacement: swap[0], kind: swap[1] }]
}

const logic: Operator = (node, text) => {
  if (node.operator !== '??') return swapOperator(node, text)
  const left = child(node, 'left')
  return [around(node, text.slice(left.start, left.end), 'fallback')]
}

const update: Operator = (node) => {
  const operator = String(node.operator)
  const start = node.prefix === true ? node.start : node.end - operator.length
  return [{ start, end: start + operator.length, replacement: BINARY[operator]?.[0] ?? operator, kind: 'arithmetic' }]
}

const unary: Operator = (node, text) => {
  const argument = child(node, 'argument')
  if (node.operator !== '!' && node.operator !== '-') return []
  return [around(node, text.slice(argument.start, argument.end), 'unary')]
}

const condition: Operator = (node, text) => {
  const asked = child(node, 'test')
  return [around(asked, `!(${text.slice(asked.start, asked.end)})`, 'condition')]
}

const RETURNING = new Set(['ReturnStatement', 'ContinueStatement', 'BreakStatement', 'ThrowStatement'])

const earlyReturn: Operator = (node) => {
  const then = child(node, 'consequent')
  const block = then.type === 'BlockStatement' && Array.isArray(then.body) ? then.body : [then]
  const [only] = block
  const leaves = block.length === 1 && isNode(only) && RETURNING.has(only.type)
  return leaves && !isNode(node.alternate) ? [around(node, ';', 'early return')] : []
}

const statement: Operator = (node) => {
  const expression = child(node, 'expression')
  const called = expression.type === 'AwaitExpression' ? child(expression, 'argument') : expression
  return called.type === 'CallExpression' ? [around(node, ';', 'call')] : []
}

const method: Operator = (node) => {
  const callee = child(node, 'callee')
  if (callee.type !== 'MemberExpression' || callee.computed === true) return []
  const name = child(callee, 'property')
  const other = METHODS[String(name.name)]
  return other === undefined ? [] : [around(name, other, 'method')]
}

const literal: Operator = (node, text) => {
  const { value } = node
  if (typeof value === 'boolean') return [around(node, String(!value), 'boolean')]
  if (typeof value === 'number') {
    if (value >= COUNTING) return [around(node, String(value * 2), 'number')]
    return [around(node, String(value + 1), 'number'), around(node, `(${value} - 1)`, 'number')]
  }
  if (typeof value !== 'string') return []
  if (value === '') return [around(node, "'x'", 'string')]
  const quote = text[node.start] ?? "'"
  return [around(node, "''", 'string'), around(node, `${text.slice(node.start, node.end - 1)}_${quote}`, 'string')]
}

const template: Operator = (node) => [around(node, "''", 'string')]

const key: Operator = (node) => {
  const name = child(node, 'key')
  if (node.shorthand === true || node.computed === true || name.type !== 'Identifier') return []
  return [around(name, `${String(name.name)}_`, 'key')]
}

/** By the type of node. */
export const OPERATORS: Readonly<Record<string, readonly Operator[]>> = {
  BinaryExpression: [swapOperator],
  LogicalExpression: [logic],
  AssignmentExpression: [swapOperator],
  UpdateExpression: [update],
  UnaryExpression: [unary],
  IfStatement: [condition, earlyReturn],
  ConditionalExpression: [condition],
  WhileStatement: [condition],
  ExpressionStatement: [statement],
  CallExpression: [method],
  Literal: [literal],
  TemplateLiteral: [template],
  Property: [key],
}
