// What the shell evaluates inside words, redirections and expressions: substitutions, and the variables they use.

import type { Fact } from './facts.ts'
import type { Expansion, Statement, Word } from './words.ts'

export type Inside =
  /** A substitution. `isFed`: something is written into it, as into `>(…)`. */
  | { kind: 'statements'; statements: readonly Statement[]; isFed: boolean }
  /** The text of a substitution that is parsed when it runs. */
  | { kind: 'script'; text: string }
  /** A text that is expanded once more: an index, the inside of braces in arithmetic. */
  | { kind: 'text'; text: string }
  /** A name with an index: the index is an expression. */
  | { kind: 'index'; text: string }
  /** A word whose text is read as an expression. */
  | { kind: 'expression'; word: Word }
  | { kind: 'assignment'; name: string; word: Word }
  | { kind: 'variable'; name: string }
  /** A variable whose value is read as an expression. */
  | { kind: 'arithmetic'; name: string }
  | { kind: 'fact'; fact: Fact }

/** Without recursion, as depth is a stranger's choice. In the order of the text. */
export function* partsInside(root: unknown): Generator<Inside> {
  const open: unknown[] = [root]
  while (open.length > 0) {
    const node = open.pop()
    if (typeof node !== 'object' || node === null) continue
    if (!('type' in node)) {
      pushAll(open, Object.values(node))
      continue
    }
    yield* insideOf(node as Node)
    if (!CLOSED.has(String(node.type))) pushAll(open, Object.values(node))
  }
}

function pushAll(open: unknown[], values: unknown[]): void {
  for (let at = values.length - 1; at >= 0; at--) open.push(values[at])
}

/** The functions that a script defines, wherever. */
export function functionsIn(root: unknown): Set<string> {
  const names = new Set<string>()
  const open: unknown[] = [root]
  while (open.length > 0) {
    const node = open.pop()
    if (typeof node !== 'object' || node === null) continue
    if ('type' in node && node.type === 'FunctionDef' && 'name' in node) names.add(String(node.name))
    for (const value of Object.values(node)) if (typeof value === 'object') open.push(value)
  }
  return names
}

type Node = { readonly type: string }

/** What is inside of them is judged as a script of its own. */
const CLOSED: ReadonlySet<string> = new Set(['CommandSubstitution', 'ProcessSubstitution', 'ArithCommandSubst'])

function* insideOf(node: Node): Generator<Inside> {
  switch (node.type) {
    case 'CommandSubstitution':
    case 'ProcessSubstitution': {
      const { body, direction } = node as unknown as { body: { statements: Statement[] }; direction?: string }
      yield { kind: 'statements', statements: body.statements, isFed: direction === 'output' }
      return
    }
    case 'ArithCommandSubst':
      yield { kind: 'script', text: String((node as unknown as { command: unknown }).command) }
      return
    case 'ParameterExpansion':
      yield* insideExpansion(node as unknown as Expansion)
      return
    case 'ArithVariable':
    case 'ArithArrayElement':
    case 'ArithAssignment': {
      yield* insideArithmetic(node)
      return
    }
    case 'Glob': {
      const { pattern } = node as unknown as { pattern: string }
      // Of a substitution inside brackets the parser keeps only that there is one.
      if (/\[\w*(Substitution|Expansion)\]/.test(pattern)) yield { kind: 'fact', fact: 'not-parsed' }
      if (/[$`]/.test(pattern)) yield { kind: 'text', text: pattern }
      return
    }
    case 'CondBinary': {
      yield* insideComparison(node as unknown as { operator: string; left: Word; right: Word })
      return
    }
    case 'CondUnary': {
      const { operator, operand } = node as unknown as { operator: string; operand: Word }
      if (operator === '-v' || operator === '-R') yield { kind: 'expression', word: operand }
      return
    }
    default:
      if (node.type.startsWith('Arith')) yield* texts(node)
  }
}

function* insideArithmetic(node: Node): Generator<Inside> {
  const { name, array, variable } = node as unknown as Readonly<Record<string, unknown>>
  const [named = ''] = [name, array, variable].filter((text) => typeof text === 'string')
  yield { kind: 'variable', name: named }
  yield { kind: 'arithmetic', name: named }
  yield* texts(node)
}

/** What `[[ ]]` compares as numbers, it computes first. */
function* insideComparison({
  operator,
  left,
  right,
}: {
  operator: string
  left: Word
  right: Word
}): Generator<Inside> {
  if (!/^-(eq|ne|lt|le|gt|ge)$/.test(operator)) return
  for (const found of partsInside([left, right]))
    if (found.kind === 'variable') yield { kind: 'arithmetic', name: found.name }
  for (const word of [left, right]) yield { kind: 'expression', word }
}

function* insideExpansion({ parameter, operation }: Expansion): Generator<Inside> {
  const [name = ''] = parameter.split('[', 1)
  yield { kind: 'variable', name }
  if (parameter.includes('[')) yield { kind: 'index', text: parameter }
  if (operation?.type === 'AssignDefault' && /^\w+$/.test(parameter)) {
    yield { kind: 'assignment', name: parameter, word: operation.word }
  }
  if (operation?.type === 'Transform' && operation.operator === 'P') {
    yield { kind: 'fact', fact: 'indirect-variable' }
    yield { kind: 'arithmetic', name }
  }
  if (operation?.type === 'Indirection') yield { kind: 'fact', fact: 'indirect-variable' }
  if (operation?.type === 'BadSubstitution') yield { kind: 'text', text: operation.text }
}

/** Parts of an expression that the interpreter keeps as text. */
const TEXT_FIELDS = ['content', 'baseExpr', 'stringKey', 'prefix', 'originalText'] as const

function* texts(node: Node): Generator<Inside> {
  const fields = node as unknown as Readonly<Record<string, unknown>>
  for (const field of TEXT_FIELDS) {
    const text = fields[field]
    if (typeof text !== 'string') continue
    // What stands between the braces of `${…}`.
    if (field === 'content') yield { kind: 'text', text: `\${${text}}` }
    // What the parser has read has nodes of its own; what it has not read is expanded all the same when the script runs.
    else if (field === 'originalText' ? isUnread(text, node) : /[$`]/.test(text)) yield { kind: 'text', text }
  }
}

/** Whether the text of an expression holds substitutions that are not in the tree which the parser made of it. */
function isUnread(text: string, node: Node): boolean {
  if (text.includes('`')) return true
  if (!text.includes('$(') && !text.includes('${')) return false
  let rest = text
  const open: unknown[] = [(node as unknown as { expression?: unknown }).expression]
  while (open.length > 0) {
    const part = open.pop()
    if (typeof part !== 'object' || part === null) continue
    const { command, content, baseExpr, prefix } = part as Readonly<Record<string, unknown>>
    if (typeof command === 'string') rest = rest.replace(`$(${command})`, '')
    for (const braced of [content, baseExpr, prefix]) {
      if (typeof braced === 'string') rest = rest.replace(`\${${braced}}`, '')
    }
    pushAll(open, Object.values(part))
  }
  return /\$\((?!\()|\$\{/.test(rest)
}
