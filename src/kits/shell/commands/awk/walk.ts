// The parts of an awk expression or statement.

import type { Expression, Program, Redirection, Statement } from './syntax.ts'

export function partsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'element':
    case 'in':
      return expression.index
    case 'field':
    case 'unary':
      return [expression.of]
    case 'assign':
      return [expression.target, expression.value]
    case 'step':
      return [expression.target]
    case 'binary':
    case 'match':
    case 'both':
    case 'either':
      return [expression.left, expression.right]
    case 'choice':
      return [expression.condition, expression.yes, expression.no]
    case 'call':
    case 'builtin':
      return expression.args
    case 'list':
      return expression.items
    case 'getline':
      return [expression.from, expression.target].filter((part) => part !== null)
    default:
      return []
  }
}

/** The statements and expressions directly inside. */
export function contentsOf(statement: Statement): {
  statements: readonly Statement[]
  expressions: readonly Expression[]
} {
  const there = <Part>(parts: readonly (Part | null)[]): Part[] => parts.filter((part) => part !== null)
  switch (statement.kind) {
    case 'block':
      return { statements: statement.body, expressions: [] }
    case 'expression':
      return { statements: [], expressions: [statement.value] }
    case 'print':
    case 'printf':
      return { statements: [], expressions: [...statement.args, ...nameOf(statement.redirection)] }
    case 'if':
      return { statements: there([statement.yes, statement.no]), expressions: [statement.condition] }
    case 'while':
    case 'do':
      return { statements: [statement.body], expressions: [statement.condition] }
    case 'for': {
      const { start, each, body, condition } = statement
      return { statements: there([start, each, body]), expressions: there([condition]) }
    }
    case 'for-in':
      return { statements: [statement.body], expressions: [statement.target] }
    case 'delete':
      return { statements: [], expressions: statement.index ?? [] }
    case 'exit':
    case 'return':
      return { statements: [], expressions: there([statement.value]) }
    default:
      return { statements: [], expressions: [] }
  }
}

function nameOf(redirection: Redirection | null): Expression[] {
  return redirection ? [redirection.name] : []
}

/** Asynchronous functions: other work may run while they wait. */
const WAITING_BUILTINS = new Set(['system', 'close', 'fflush'])

const known = new WeakMap<Expression, boolean>()

/** Whether the value may have to be awaited. */
export function waits(expression: Expression): boolean {
  const before = known.get(expression)
  if (before !== undefined) return before
  const { kind } = expression
  const answer =
    kind === 'call' ||
    kind === 'getline' ||
    (kind === 'builtin' && WAITING_BUILTINS.has(expression.name)) ||
    partsOf(expression).some(waits)
  known.set(expression, answer)
  return answer
}

/** Each body of the program with its function, null for the rules; patterns as statements. */
export function* bodiesOf(program: Program): Generator<{ owner: string | null; body: Statement }> {
  for (const { when, body } of program.rules) {
    const patterns = when.kind === 'pattern' ? [when.pattern] : when.kind === 'range' ? [when.from, when.to] : []
    for (const value of patterns) yield { owner: null, body: { kind: 'expression', value } }
    if (body) yield { owner: null, body }
  }
  for (const { name, body } of program.functions.values()) yield { owner: name, body }
}
