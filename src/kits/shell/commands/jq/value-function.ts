// The type of functions on values.

import type { JqValue } from './value.ts'

/** `env` contains the shell's variables: some functions use `TZ`. */
export type ValueFunction = (input: JqValue, args: readonly JqValue[], env: Readonly<Record<string, string>>) => JqValue
