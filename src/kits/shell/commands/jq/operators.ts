// The operators of jq, and their error messages.

import { toJson } from './json-write.ts'
import { compareValues, equalValues, isArray, isObject, type JqObject, type JqValue, typeOf } from './value.ts'

/** An error that a program can raise and catch; its text is shown after `jq: error`. */
export class JqError extends Error {
  override readonly name = 'JqError'
  readonly value: JqValue

  constructor(value: JqValue) {
    super(typeof value === 'string' ? value : toJson(value))
    this.value = value
  }
}

/** Longer texts of values are cut in messages, like in jq. */
const SHOWN_BYTES = 14

/** `number (1)`, the form of a value in messages. */
export function valueLabel(value: JqValue): string {
  return `${typeOf(value)} (${cut(toJson(value), SHOWN_BYTES)})`
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 3)}...` : text
}

type Operator = (a: JqValue, b: JqValue) => JqValue

export const OPERATORS: Readonly<Record<string, Operator>> = {
  '+': add,
  '-': subtract,
  '*': multiply,
  '/': divide,
  '%': remainder,
  '==': equalValues,
  '!=': (a, b) => !equalValues(a, b),
  '<': (a, b) => compareValues(a, b) < 0,
  '<=': (a, b) => compareValues(a, b) <= 0,
  '>': (a, b) => compareValues(a, b) > 0,
  '>=': (a, b) => compareValues(a, b) >= 0,
}

export function add(a: JqValue, b: JqValue): JqValue {
  if (typeof a === 'number' && typeof b === 'number') return a + b
  if (typeof a === 'string' && typeof b === 'string') return a + b
  if (a === null) return b
  if (b === null) return a
  if (isArray(a) && isArray(b)) return a.concat(b)
  if (isObject(a) && isObject(b)) return new Map([...a, ...b])
  throw new JqError(`${valueLabel(a)} and ${valueLabel(b)} cannot be added`)
}

function subtract(a: JqValue, b: JqValue): JqValue {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (isArray(a) && isArray(b)) return a.filter((item) => !b.some((gone) => equalValues(item, gone)))
  throw new JqError(`${valueLabel(a)} and ${valueLabel(b)} cannot be subtracted`)
}

/** A longer text is refused before it fills the memory. */
const MAX_TEXT_CHARS = 32 * 1024 * 1024

function multiply(a: JqValue, b: JqValue): JqValue {
  if (typeof a === 'number' && typeof b === 'number') return a * b
  if (typeof a === 'string' && typeof b === 'number') return repeated(a, b)
  if (isObject(a) && isObject(b)) return merged(a, b)
  throw new JqError(`${valueLabel(a)} and ${valueLabel(b)} cannot be multiplied`)
}

function repeated(text: string, times: number): JqValue {
  if (!(times > 0)) return null
  const count = Math.max(1, Math.ceil(times))
  if (text.length * count > MAX_TEXT_CHARS) throw new JqError('Repeat string result too long')
  return text.repeat(count)
}

function merged(a: JqObject, b: JqObject): JqObject {
  const result = new Map(a)
  for (const [key, value] of b) {
    const there = result.get(key)
    result.set(key, there !== undefined && isObject(there) && isObject(value) ? merged(there, value) : value)
  }
  return result
}

function divide(a: JqValue, b: JqValue): JqValue {
  if (typeof a === 'number' && typeof b === 'number') {
    if (b === 0)
      throw new JqError(`${valueLabel(a)} and ${valueLabel(b)} cannot be divided because the divisor is zero`)
    return a / b
  }
  if (typeof a === 'string' && typeof b === 'string') return splitText(a, b)
  throw new JqError(`${valueLabel(a)} and ${valueLabel(b)} cannot be divided`)
}

export function splitText(text: string, separator: string): string[] {
  if (text === '') return []
  return separator === '' ? [...text] : text.split(separator)
}

const MAX_INTEGER = 2 ** 63

/** Of whole numbers; the sign is that of the first. */
function remainder(a: JqValue, b: JqValue): JqValue {
  if (typeof a !== 'number' || typeof b !== 'number') {
    throw new JqError(`${valueLabel(a)} and ${valueLabel(b)} cannot be divided`)
  }
  const whole = (value: number) => Math.trunc(Math.max(-MAX_INTEGER, Math.min(MAX_INTEGER, value)))
  const divisor = Math.abs(whole(b))
  if (divisor === 0 || Number.isNaN(divisor)) {
    throw new JqError(`${valueLabel(a)} and ${valueLabel(b)} cannot be divided (remainder) because the divisor is zero`)
  }
  return (whole(a) % divisor) + 0
}

/** A value in a message about a path. */
export function shortly(value: JqValue): string {
  return cut(toJson(value), 30)
}
