// What a function on values is.

import type { JqValue } from './value.ts'

export type ValueFunction = (input: JqValue, args: readonly JqValue[]) => JqValue
