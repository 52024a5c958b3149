// What a function that awk brings along is made of: its operands, as the compiler makes functions of them.

import type { Evaluate, Machine, Slots } from './machine.ts'
import type { Finder } from './operations.ts'
import type { Expression, Target } from './syntax.ts'
import type { Table, Value } from './values.ts'

/** What a variable, an element or a field is when it is read and written. */
export interface LValue {
  /** Which one it is: worked out once, also where it is read and written. */
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
