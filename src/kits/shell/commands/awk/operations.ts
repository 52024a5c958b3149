// The operators of awk.

import type { PosixRegex } from '../../posix-regex/posix-regex.ts'
import type { Evaluate, Machine, Slots } from './machine.ts'
import type { Binary } from './syntax.ts'
import { compare, toNumber } from './values.ts'

export type Finder = (slots: Slots) => PosixRegex

interface Operands {
  left: Evaluate
  right: Evaluate
  machine: Machine
}

export function operationOf(operator: Binary, { left, right, machine }: Operands): Evaluate {
  const { variables } = machine
  const arithmetic = ARITHMETIC[operator]
  if (arithmetic) return arithmetic(left, right)
  if (operator === 'concat') return (slots) => variables.text(left(slots)) + variables.text(right(slots))
  const holds = COMPARISONS[operator]
  if (!holds) throw new Error(`no such operator: ${operator}`)
  return (slots) => {
    const first = left(slots)
    return holds(compare(first, right(slots), variables.convfmt)) ? 1 : 0
  }
}

/** Separate functions, so that the JavaScript engine can optimize each. */
const ARITHMETIC: Partial<Record<Binary, (left: Evaluate, right: Evaluate) => Evaluate>> = {
  '+': (left, right) => (slots) => toNumber(left(slots)) + toNumber(right(slots)),
  '-': (left, right) => (slots) => toNumber(left(slots)) - toNumber(right(slots)),
  '*': (left, right) => (slots) => toNumber(left(slots)) * toNumber(right(slots)),
  '/': (left, right) => (slots) => toNumber(left(slots)) / toNumber(right(slots)),
  '%': (left, right) => (slots) => toNumber(left(slots)) % toNumber(right(slots)),
  '^': (left, right) => (slots) => toNumber(left(slots)) ** toNumber(right(slots)),
}

const COMPARISONS: Partial<Record<Binary, (order: number) => boolean>> = {
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '==': (order) => order === 0,
  '!=': (order) => order !== 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
}
