// The classes and the functions of a file, and how long they are.

import { parseSync } from 'vite'
import { textOf } from '../../test/support/source-tree.ts'

export type Shape = { path: string; kind: 'class' | 'function'; name: string; lines: number; methods: number }

type Node = { type: string; start: number; end: number } & Record<string, unknown>

const CLASSES = new Set(['ClassDeclaration', 'ClassExpression'])
const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])

export function shapesOf(path: string): Shape[] {
  const text = textOf(path)
  const { program, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message}`)
  const found: Shape[] = []
  const visit = (value: unknown, name: string): void => {
    if (Array.isArray(value)) for (const item of value) visit(item, name)
    if (!isNode(value)) return
    const own = nameOf(value) ?? name
    const kind = CLASSES.has(value.type) ? 'class' : FUNCTIONS.has(value.type) ? 'function' : null
    if (kind !== null) {
      const lines = text.slice(value.start, value.end).split('\n').length
      found.push({ path, kind, name: own, lines, methods: methodsOf(value) })
    }
    for (const child of Object.values(value)) visit(child, own)
  }
  visit(program, '')
  return found
}

/** Without empty lines and comments. */
export function codeLines(path: string): number {
  const text = textOf(path)
  const { comments } = parseSync(path, text)
  let code = text
  for (const { start, end } of comments) {
    code = code.slice(0, start) + text.slice(start, end).replace(/[^\n]/g, ' ') + code.slice(end)
  }
  return code.split('\n').filter((line) => line.trim() !== '').length
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

/** What a declaration, a variable, a property or a method is called. */
function nameOf(node: Node): string | null {
  const named =
    node.id ?? (['MethodDefinition', 'Property', 'PropertyDefinition'].includes(node.type) ? node.key : null)
  return isNode(named) && typeof named.name === 'string' ? named.name : null
}

function methodsOf(node: Node): number {
  const members = isNode(node.body) && Array.isArray(node.body.body) ? node.body.body : []
  return members.filter((member) => isNode(member) && member.type === 'MethodDefinition').length
}
