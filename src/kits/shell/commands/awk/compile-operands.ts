// The parts of compiled expressions: slots and steps, operands in order, and the places that are read and written.

import { RegexError } from '../../posix-regex/syntax.ts'
import type { Evaluate, Label, Machine, Slots, Step } from './machine.ts'
import type { Finder } from './operations.ts'
import type { LValue, Operands } from './places.ts'
import type { Names } from './resolve.ts'
import { AwkError, type Expression, type Target } from './syntax.ts'
import { type Table, toNumber, type Value } from './values.ts'
import { waits } from './walk.ts'

export interface Scope {
  owner: string | null
  parameters: readonly string[]
  /** For parameters and for stored values of steps. */
  slots: number
}

export abstract class OperandCompiler implements Operands {
  protected readonly machine: Machine
  protected readonly names: Names
  protected scope: Scope = { owner: null, parameters: [], slots: 0 }

  constructor(machine: Machine, names: Names) {
    this.machine = machine
    this.names = names
  }

  abstract expression(node: Expression): Evaluate

  protected emit(step: Step): void {
    this.machine.code.push(step)
  }

  protected here(label: Label): void {
    label.at = this.machine.code.length
  }

  protected slot(): number {
    return this.scope.slots++
  }

  /** In order: operands before an asynchronous one are evaluated before it. */
  operands(nodes: readonly Expression[]): Evaluate[] {
    const last = nodes.findLastIndex(waits)
    return nodes.map((node, i) => {
      const evaluate = this.expression(node)
      return i >= last || node.kind === 'number' || node.kind === 'string' ? evaluate : this.#kept(evaluate)
    })
  }

  protected pair(left: Expression, right: Expression): [Evaluate, Evaluate] {
    const first = this.expression(left)
    return [waits(right) ? this.#kept(first) : first, this.expression(right)]
  }

  #kept(evaluate: Evaluate): Evaluate {
    const at = this.slot()
    this.emit((slots) => {
      slots[at] = evaluate(slots)
      return null
    })
    return (slots) => slots[at] as Value
  }

  table(name: string): (slots: Slots) => Table {
    const at = this.scope.parameters.indexOf(name)
    if (at >= 0) return (slots) => slots[at] as Table
    const table = this.machine.variables.array(name)
    return () => table
  }

  isArray(name: string): boolean {
    return this.names.isArray(this.names.keyOf(this.scope.owner, name))
  }

  /** The text that is the key of an element. */
  keyOf(index: readonly Evaluate[]): (slots: Slots) => string {
    const { variables } = this.machine
    const [first] = index
    if (index.length === 1 && first) {
      return (slots) => {
        const value = first(slots)
        return typeof value === 'string' ? value : variables.text(value)
      }
    }
    return (slots) => index.map((part) => variables.text(part(slots))).join(variables.subsep)
  }

  /** The expressions in the target must be evaluated first, and are passed to `make`. */
  place(target: Target): { parts: readonly Expression[]; make: (parts: readonly Evaluate[]) => LValue } {
    if (target.kind === 'name') return { parts: [], make: () => this.#variablePlace(target.name) }
    if (target.kind === 'field') return { parts: [target.of], make: ([of]) => this.#fieldPlace(of) }
    const table = this.table(target.array)
    const make = (index: readonly Evaluate[]): LValue => ({
      key: this.keyOf(index),
      get: (slots, key) => elementOf(table(slots), String(key)),
      set: (slots, key, value) => table(slots).set(String(key), value),
    })
    return { parts: target.index, make }
  }

  #variablePlace(name: string): LValue {
    const at = this.scope.parameters.indexOf(name)
    const key = () => ''
    if (at >= 0) {
      const set = (slots: Slots, _: string | number, value: Value) => {
        slots[at] = value
      }
      return { key, get: (slots) => slots[at] as Value, set }
    }
    const variable = this.machine.variables.variable(name)
    return { key, get: variable.get, set: (_, __, value) => variable.set(value) }
  }

  #fieldPlace(of: Evaluate | undefined): LValue {
    const { record } = this.machine.variables
    return {
      key: (slots) => toNumber(of?.(slots)),
      get: (_, key) => record.field(Number(key)),
      set: (_, key, value) => record.setField(Number(key), value),
    }
  }

  /** The expression that a text is matched with; if it is not a constant, it is evaluated each time. */
  finder(node: Expression, evaluate: Evaluate | null): Finder {
    if (node.kind === 'regex' || !evaluate) {
      const regex = this.regex(node.kind === 'regex' ? node.source : '')
      return () => regex
    }
    const { variables } = this.machine
    return (slots) => this.regex(variables.text(evaluate(slots)))
  }

  protected regex(source: string): ReturnType<Finder> {
    try {
      return this.machine.regexes.get(source)
    } catch (error) {
      if (error instanceof RegexError)
        throw new AwkError(`regular expression compile failed (${error.message})\n${source}`)
      throw error
    }
  }

  get run(): Machine {
    return this.machine
  }
}

/** Reading an element creates it. */
export function elementOf(table: Table, key: string): Value {
  const value = table.get(key)
  if (value === undefined && !table.has(key)) table.set(key, undefined)
  return value
}
