// The visible names during compilation.

import type { Definition, Node } from './ast.ts'
import { JqSyntaxError } from './lexer.ts'
import type { Filter, Machine } from './machine.ts'

/** A function of the program or of the prelude; its body is set when it is compiled. */
export interface Code {
  readonly params: Definition['params']
  body: Filter | null
}

export type Name =
  | { kind: 'variable' | 'closure' | 'label'; name: string }
  | { kind: 'function'; name: string; code: Code }

/** The newest first. `depth` is the number of bindings below, as in the environment. */
export interface Scope {
  readonly entry: Name
  readonly parent: Scope | null
  readonly depth: number
}

export function childScope(parent: Scope | null, entry: Name): Scope {
  return { entry, parent, depth: (parent?.depth ?? 0) + 1 }
}

export const signature = (name: string, arity: number): string => `${name}/${arity}`

type Lookup = { entry: Name; hops: number; scope: Scope }

export function lookUp(scope: Scope | null, isWanted: (entry: Name) => boolean): Lookup | null {
  const depth = scope?.depth ?? 0
  for (let at = scope; at !== null; at = at.parent) {
    if (isWanted(at.entry)) return { entry: at.entry, hops: depth - at.depth, scope: at }
  }
  return null
}

export function undefinedName(name: string): JqSyntaxError {
  return new JqSyntaxError(`${name} is not defined`)
}

/** Compiles nodes to filters; the compilers of single kinds call it for their parts. */
export interface Compiler {
  readonly machine: Machine
  filter(node: Node, scope: Scope | null): Filter
}
