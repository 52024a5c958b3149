// What a parameter holds, and how `declare` would make it: for expansions that are worked out here.

import { asKey, asValue, asWord } from './quoting.ts'
import type { ShellArray, ShellVariables } from './shape.ts'

const ELEMENTS = /^([A-Za-z_]\w*)\[([@*])\]$/

export interface Values {
  values: string[]
  /** Whether it is all of an array or of the arguments, and then if they are joined. */
  all: '@' | '*' | null
  /** The name, without a subscript; none for arguments. */
  name: string | null
  array: ShellArray | null
}

/** Null for what is unset, and for what the interpreter alone can tell. */
export function valuesOf({ env, arrays }: ShellVariables, parameter: string): Values | null {
  if (parameter === '@' || parameter === '*') {
    const values = Array.from({ length: Number(env.get('#') ?? 0) }, (_, i) => env.get(String(i + 1)) ?? '')
    return { values, all: parameter, name: null, array: null }
  }
  const [, base, sign] = ELEMENTS.exec(parameter) ?? []
  const name = base ?? parameter
  const array = arrays?.get(name) ?? null
  const all = sign === '@' || sign === '*' ? sign : null
  if (all && array) return { values: entriesOf(array).map(([, value]) => value), all, name, array }
  const value = array ? array.elements.get('0') : env.get(name)
  return value === undefined ? null : { values: [value], all, name, array }
}

export function entriesOf({ kind, elements }: ShellArray): [key: string, value: string][] {
  const entries = [...elements]
  if (kind === 'associative') return entries.sort(([a], [b]) => (a < b ? -1 : 1))
  return entries.sort(([a], [b]) => Number(a) - Number(b))
}

/** The letters of what `declare` says about a variable. */
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

/** `([key]="value" …)`, as bash writes it. */
export function asCompound(array: ShellArray): string {
  const elements = entriesOf(array).map(([key, value]) => `[${asKey(key)}]=${asValue(value)}`)
  return `(${elements.join(' ')}${array.kind === 'associative' && elements.length > 0 ? ' ' : ''})`
}

/** A command that makes the variable again. */
export function asAssignment(state: ShellVariables, { name, all, array, values: [first = ''] }: Values): string {
  const attributes = attributesOf(state, name ?? '')
  const declares = attributes === '' ? '' : `declare -${attributes} `
  return `${declares}${name}=${all && array ? asCompound(array) : asWord(first)}`
}
