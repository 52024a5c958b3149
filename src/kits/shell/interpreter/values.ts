// The values of a parameter, and the `declare` command that creates it: for expansions that are computed here.

import { asKey, asValue, asWord } from './quoting.ts'
import type { ShellArray, ShellVariables } from './shape.ts'

export interface Values {
  values: string[]
  /** Whether it is a whole array or all arguments, and then whether they are joined. */
  all: '@' | '*' | null
  /** The name, without a subscript; null for arguments. */
  name: string | null
  array: ShellArray | null
}

export function entriesOf({ kind, elements }: ShellArray): [key: string, value: string][] {
  const entries = [...elements]
  if (kind === 'associative') return inTable(entries)
  return entries.sort(([a], [b]) => Number(a) - Number(b))
}

const FNV_OFFSET = 2_166_136_261
const FNV_PRIME = 16_777_619
const BUCKETS = 1024
const ENCODER = new TextEncoder()

type Entry = [key: string, value: string]

/** In the order of bash's hash table, which grows, with the newest first in each bucket. */
function inTable(entries: readonly Entry[]): Entry[] {
  let size = BUCKETS
  let table = new Map<number, Entry[]>()
  const put = (entry: Entry) => {
    const place = placeOf(entry[0]) & (size - 1)
    const present = table.get(place)
    if (present) present.unshift(entry)
    else table.set(place, [entry])
  }
  for (const [i, entry] of entries.entries()) {
    if (i === 2 * size) {
      const before = table
      table = new Map()
      size *= 4
      for (const list of before.values()) list.forEach(put)
    }
    put(entry)
  }
  return [...table].sort(([a], [b]) => a - b).flatMap(([, list]) => list)
}

function placeOf(key: string): number {
  let hash = FNV_OFFSET
  // Bytes are signed there.
  for (const byte of ENCODER.encode(key)) hash = Math.imul(hash, FNV_PRIME) ^ ((byte << 24) >> 24)
  return hash
}

/** The attribute letters of a variable for `declare`. */
export function attributesOf(state: ShellVariables, name: string): string {
  const { arrays, integerVars, readonlyVars, exportedVars, lowercaseVars, uppercaseVars } = state
  const kind = arrays?.get(name)?.kind
  const letters: [string, boolean | undefined][] = [
    ['a', kind === 'indexed'],
    ['A', kind === 'associative'],
    ['i', integerVars?.has(name)],
    ['r', readonlyVars?.has(name)],
    ['x', exportedVars?.has(name)],
    ['l', lowercaseVars?.has(name)],
    ['u', uppercaseVars?.has(name)],
  ]
  return letters.map(([letter, isSet]) => (isSet ? letter : '')).join('')
}

/** `([key]="value" …)`, like in bash. */
export function asCompound(array: ShellArray): string {
  const elements = entriesOf(array).map(([key, value]) => `[${asKey(key)}]=${asValue(value)}`)
  return `(${elements.join(' ')}${array.kind === 'associative' && elements.length > 0 ? ' ' : ''})`
}

/** A command that creates the variable again. */
export function asAssignment(state: ShellVariables, { name, all, array, values: [first = ''] }: Values): string {
  const attributes = attributesOf(state, name ?? '')
  const declares = attributes === '' ? '' : `declare -${attributes} `
  return `${declares}${name}=${all && array ? asCompound(array) : asWord(first)}`
}
