// The operands of a built-in function, as functions made by the compiler.

import type { Evaluate, Machine, Slots } from './machine.ts'
import type { Finder } from './operations.ts'
import type { Expression, Target } from './syntax.ts'
import type { Table, Value } from './values.ts'

/** A variable, an element or a field that can be read and written. */
export interface LValue {
  /** Its key, computed once for a read and a write. */
  key(slots: Slots): string | number
  get(slots: Slots, key: string | number): Value
  set(slots: Slots, key: string | number, value: Value): void
}

export interface Operands {
  readonly run: Machine
  expression(node: Expression): Evaluate
  operands(nodes: readonly Expression[]): Evaluate[]
  table(name: string): (slots: Slots) => Table
  isArray(name: string): boolean
  place(target: Target): { parts: readonly Expression[]; make: (parts: readonly Evaluate[]) => LValue }
  finder(node: Expression, evaluate: Evaluate | null): Finder
}
