// The state of a program for `bc`: its variables, and the numbers that control calculation and output.

import { holds } from '../comparison.ts'
import {
  add,
  compare,
  type Decimal,
  divide,
  integer,
  integerOf,
  multiply,
  parseNumber,
  power,
  remainder,
  truth,
  ZERO,
} from './number.ts'
import type { Assignable, Local } from './syntax.ts'

const MAX_SCALE = 10_000
const MAX_BASE = 999

/** The arguments of a function. */
interface CallArguments {
  variables: ReadonlyMap<string, Decimal>
  arrays: ReadonlyMap<string, Map<number, Decimal>>
}

export class Memory {
  #variables = new Map<string, Decimal>()
  #arrays = new Map<string, Map<number, Decimal>>()
  scale = 0
  #inBase = 10
  outBase = 10
  last = ZERO

  number(text: string): Decimal {
    return parseNumber(text, this.#inBase)
  }

  applied(operator: string, a: Decimal, b: Decimal): Decimal {
    switch (operator) {
      case '+':
        return add(a, b)
      case '-':
        return add(a, b, -1n)
      case '*':
        return multiply(a, b, this.scale)
      case '/':
        return divide(a, b, this.scale)
      case '%':
        return remainder(a, b, this.scale)
      case '^':
        return power(a, b, this.scale)
      case '&&':
        return truth(a.digits !== 0n && b.digits !== 0n)
      case '||':
        return truth(a.digits !== 0n || b.digits !== 0n)
      default:
        return truth(holds(operator, compare(a, b)))
    }
  }

  read(place: Assignable, index: number): Decimal {
    if (place.kind === 'variable') return this.#variables.get(place.name) ?? ZERO
    if (place.kind === 'element') return this.#arrays.get(place.name)?.get(index) ?? ZERO
    if (place.name === 'scale') return integer(this.scale)
    if (place.name === 'ibase') return integer(this.#inBase)
    return place.name === 'obase' ? integer(this.outBase) : this.last
  }

  store(place: Assignable, index: number, value: Decimal): Decimal {
    if (place.kind === 'variable') this.#variables.set(place.name, value)
    else if (place.kind === 'element') {
      const array = this.#arrays.get(place.name) ?? new Map<number, Decimal>()
      this.#arrays.set(place.name, array.set(index, value))
    } else if (place.name === 'last') this.last = value
    else this.#setSpecial(place.name, integerOf(value))
    return value
  }

  #setSpecial(name: string, value: number): void {
    if (name === 'scale') this.scale = Math.max(0, Math.min(MAX_SCALE, value))
    else if (name === 'ibase') this.#inBase = Math.max(2, Math.min(16, value))
    else this.outBase = Math.max(2, Math.min(MAX_BASE, value))
  }

  /** A copy of an array for a function. */
  copyOf(array: string): Map<number, Decimal> {
    return new Map(this.#arrays.get(array))
  }

  /** Creates the local names of a function; the returned function restores the caller's names. */
  enter(locals: readonly Local[], given: CallArguments): () => void {
    const restore = this.#hide(locals)
    for (const [local, value] of given.variables) this.#variables.set(local, value)
    for (const [local, array] of given.arrays) this.#arrays.set(local, array)
    return restore
  }

  #hide(locals: readonly Local[]): () => void {
    const variables = locals
      .filter(({ isArray }) => !isArray)
      .map(({ name }) => [name, this.#variables.get(name)] as const)
    const arrays = locals.filter(({ isArray }) => isArray).map(({ name }) => [name, this.#arrays.get(name)] as const)
    for (const [name] of variables) this.#variables.delete(name)
    for (const [name] of arrays) this.#arrays.delete(name)
    return () => {
      for (const [name, value] of variables) value ? this.#variables.set(name, value) : this.#variables.delete(name)
      for (const [name, array] of arrays) array ? this.#arrays.set(name, array) : this.#arrays.delete(name)
    }
  }
}
