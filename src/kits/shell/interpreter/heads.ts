// The parts of a command that it expands itself: its words, assignments, redirections and expressions, but not the
// commands within it, which are separate steps. Parts can be searched, and replaced in a copy of the command.

import type { Command } from './shape.ts'

/** A node of any kind; the parser's own types distinguish them. */
export type Node = { readonly type: string } & Readonly<Record<string, unknown>>

export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

/** Their contents are run step by step. */
const STEPS: ReadonlySet<string> = new Set(['Script', 'Statement', 'FunctionDef'])
/** Lists of statements within clauses, which have no type. */
const BODIES: ReadonlySet<string> = new Set(['body', 'elseBody', 'clauses', 'condition'])

export function* partsOf(command: Command): Generator<Node> {
  const open: unknown[] = [command]
  while (open.length > 0) {
    const value = open.pop()
    if (Array.isArray(value)) open.push(...value)
    else if (isPlain(value)) {
      if (isNode(value)) {
        if (STEPS.has(value.type)) continue
        yield value
      }
      for (const [field, inner] of Object.entries(value)) if (!isBody(value, field)) open.push(inner)
    }
  }
}

/** `change` returns the node itself if it is unchanged; the returned node is not searched. */
export function withParts<Part>(part: Part, change: (node: Node) => Node): Part {
  return changed(part, change) as Part
}

function changed(value: unknown, change: (node: Node) => Node): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => changed(item, change))
    return items.some((item, i) => item !== value[i]) ? items : value
  }
  if (!isPlain(value)) return value
  if (isNode(value)) {
    if (STEPS.has(value.type)) return value
    const other = change(value)
    if (other !== value) return other
  }
  const others = Object.entries(value).flatMap(([field, inner]) => {
    if (isBody(value, field)) return []
    const other = changed(inner, change)
    return other === inner ? [] : [[field, other]]
  })
  return others.length === 0 ? value : copyWith(value, Object.fromEntries(others))
}

/** Properties that are evaluated when they are read (`arithmetic/indexes.ts`) stay so. */
export function copyWith<Part extends object>(part: Part, fields: Readonly<Record<string, unknown>>): Part {
  const copy: Record<string, unknown> = Object.defineProperties({}, Object.getOwnPropertyDescriptors(part))
  for (const [field, value] of Object.entries(fields)) {
    Object.defineProperty(copy, field, { value, enumerable: true, configurable: true, writable: true })
  }
  return copy as Part
}

/** A node of the parser, not one of our runnable objects among them, which must not be read before it runs. */
function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

/** The condition of `for ((…))` and of `a ? b : c` is an expression. */
function isBody(owner: object, field: string): boolean {
  return (
    BODIES.has(field) && (field !== 'condition' || ('type' in owner && /^(?:While|Until)$/.test(String(owner.type))))
  )
}
