// What a command expands by itself: its words, assignments, redirections and expressions, but not the commands within it, which
// are steps of their own. Parts of it can be looked for, and the command put together anew with others in their place.

import type { Command } from './shape.ts'

/** Of a node of any kind; the parser's own types name each of them. */
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

/** `change` answers with the node itself where it leaves it, and what it answers is not looked into. */
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

/** What is found out when it is read (`arithmetic/indexes.ts`) stays so. */
export function copyWith<Part extends object>(part: Part, fields: Readonly<Record<string, unknown>>): Part {
  const copy: Record<string, unknown> = Object.defineProperties({}, Object.getOwnPropertyDescriptors(part))
  for (const [field, value] of Object.entries(fields)) {
    Object.defineProperty(copy, field, { value, enumerable: true, configurable: true, writable: true })
  }
  return copy as Part
}

/** A node of the parser's, and nothing of ours that was put among them: that is asked when it is run. */
function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

/** The condition of `for ((…))` and of `a ? b : c` is an expression. */
function isBody(owner: object, field: string): boolean {
  return (
    BODIES.has(field) && (field !== 'condition' || ('type' in owner && /^(?:While|Until)$/.test(String(owner.type))))
  )
}
