// The binary operators, by precedence.

import type { Int } from './int64.ts'
import * as int64 from './int64.ts'

type Operation = (a: Int, b: Int) => Int
export const truth = (value: boolean): Int => (value ? 1 : 0)

export const OPERATIONS: Readonly<Record<string, { level: number; apply: Operation }>> = {
  '||': { level: 1, apply: (a, b) => truth(a !== 0 || b !== 0) },
  '&&': { level: 2, apply: (a, b) => truth(a !== 0 && b !== 0) },
  '|': { level: 3, apply: int64.or },
  '^': { level: 4, apply: int64.exclusiveOr },
  '&': { level: 5, apply: int64.and },
  '==': { level: 6, apply: (a, b) => truth(a === b) },
  '!=': { level: 6, apply: (a, b) => truth(a !== b) },
  '<': { level: 7, apply: (a, b) => truth(a < b) },
  '<=': { level: 7, apply: (a, b) => truth(a <= b) },
  '>': { level: 7, apply: (a, b) => truth(a > b) },
  '>=': { level: 7, apply: (a, b) => truth(a >= b) },
  '<<': { level: 8, apply: int64.shiftLeft },
  '>>': { level: 8, apply: int64.shiftRight },
  '+': { level: 9, apply: int64.add },
  '-': { level: 9, apply: int64.subtract },
  '*': { level: 10, apply: int64.multiply },
  '/': { level: 10, apply: int64.divide },
  '%': { level: 10, apply: int64.remainder },
  '**': { level: 11, apply: int64.power },
}
export const POWER_LEVEL = 11
