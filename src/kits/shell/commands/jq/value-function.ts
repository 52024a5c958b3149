// What a function on values is.

import type { JqValue } from './value.ts'

/** `env` has the variables of the shell: some functions go by `TZ`. */
export type ValueFunction = (input: JqValue, args: readonly JqValue[], env: Readonly<Record<string, string>>) => JqValue
