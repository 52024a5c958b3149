// The access of arithmetic to the variables of a shell.

import type { Int } from './int64.ts'

/** An element of an array by its index or key; for other variables the key is null. */
export type VariableRef = { name: string; key: string | null }

export interface Variables {
  /** Undefined for an unset one. */
  read(place: VariableRef): string | undefined
  /** Reports why it cannot be written. */
  write(place: VariableRef, value: string): void
  /** Whether the brackets after the name contain a literal key. */
  isMap(name: string): boolean
  /** The index for a negative one; null if there is none. */
  fromEnd(name: string, index: Int): Int | null
  /** For an unset name: throws if that is an error. */
  refuseUnset(name: string): void
  /** A command substitution in a value: throws. */
  refuseSubstitution(): never
  /** For an index or key in a value: `a[$i]`. */
  expandNames(text: string): string
}
