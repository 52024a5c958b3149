// What arithmetic needs of the variables of a shell.

import type { Int } from './int64.ts'

/** An element of an array by its index or key; of a variable that is none it is null. */
export type VariableRef = { name: string; key: string | null }

export interface Variables {
  /** Undefined for what is not set. */
  read(place: VariableRef): string | undefined
  /** Says why it cannot. */
  write(place: VariableRef, value: string): void
  /** Whether the brackets behind the name hold a key as it stands. */
  isMap(name: string): boolean
  /** The index that a negative one means; null if there is none. */
  fromEnd(name: string, index: Int): Int | null
  /** For a name that has no value: throws where that is an error. */
  refuseUnset(name: string): void
  /** A command that stands in a value: throws. */
  refuseSubstitution(): never
  /** For an index or key that stands in a value: `a[$i]`. */
  expandNames(text: string): string
}
