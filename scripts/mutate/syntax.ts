// The syntax tree of a source file, as far as mutations need it.

import { parseSync } from 'vite'

export type Node = { readonly type: string; readonly start: number; readonly end: number } & Readonly<
  Record<string, unknown>
>

export type Source = { readonly path: string; readonly text: string; readonly program: Node }

/** A function as it is written: all of it, and its body, which may be a mere expression. */
export type FunctionSpan = { start: number; end: number; body: Node }

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])

export function parse(path: string, text: string): Source {
  const { program, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message}`)
  if (!isNode(program)) throw new Error(`${path} has no program`)
  return { path, text, program }
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

/** The nodes directly beneath this one, in the order in which they are written. */
export function childrenOf(node: Node): Node[] {
  return Object.values(node)
    .flatMap((value) => (Array.isArray(value) ? value : [value]))
    .filter(isNode)
    .sort((a, b) => a.start - b.start)
}

/** In the order in which they begin; the number of a function is its place in this list. */
export function functionsOf({ program }: Source): FunctionSpan[] {
  const found: FunctionSpan[] = []
  const visit = (node: Node): void => {
    if (FUNCTIONS.has(node.type) && isNode(node.body)) found.push({ start: node.start, end: node.end, body: node.body })
    for (const child of childrenOf(node)) visit(child)
  }
  visit(program)
  return found
}

/** The innermost function around a place, or null at the level of the module. */
export function functionAt(functions: readonly FunctionSpan[], { start, end }: { start: number; end: number }) {
  const around = functions.map((span, index) => ({ ...span, index })).filter((one) => holds(one.body, start, end))
  return around.sort((a, b) => a.body.end - a.body.start - (b.body.end - b.body.start))[0]?.index ?? null
}

function holds(outer: { start: number; end: number }, start: number, end: number): boolean {
  return outer.start <= start && end <= outer.end
}
