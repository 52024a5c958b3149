// Values of awk: numbers, texts, input texts that count as numbers if they look like one, and the uninitialized value,
// which is both `0` and `""`.

import { formatNumber } from './conversions.ts'

export class Input {
  readonly text: string
  #number: number | null | undefined

  constructor(text: string) {
    this.text = text
  }

  /** Null if the whole text is not a number. */
  get number(): number | null {
    if (this.#number === undefined) this.#number = numberIfAll(this.text)
    return this.#number
  }
}

export type Value = number | string | Input | undefined
export type Table = Map<string, Value>

const PREFIX = /^[ \t\n\r\f\v]*([-+]?(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?))/
const WHOLE = /^[ \t\n\r\f\v]*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)[ \t\n\r\f\v]*$/

export function toNumber(value: Value): number {
  if (typeof value === 'number') return value
  if (value === undefined) return 0
  return typeof value === 'string' ? leadingNumber(value) : (value.number ?? leadingNumber(value.text))
}

function leadingNumber(text: string): number {
  const found = PREFIX.exec(text)?.[1]
  if (found === undefined) return 0
  // `Number` does not accept a sign before hexadecimal digits.
  return /^[-+]0[xX]/.test(found) ? Number(found.slice(1)) * (found.startsWith('-') ? -1 : 1) : Number(found)
}

function numberIfAll(text: string): number | null {
  const first = text.charCodeAt(0)
  // The first character decides for nearly all texts: only digits, signs, points and blanks start a number.
  if (!(first <= 57 && (first >= 48 || first === 45 || first === 43 || first === 46 || first <= 32))) return null
  const found = WHOLE.exec(text)?.[1]
  return found === undefined ? null : Number(found)
}

/** `format` is CONVFMT, or OFMT in `print`. */
export function toText(value: Value, format: string): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value + 0) : formatNumber(value, format)
  return value === undefined ? '' : value.text
}

export function isTrue(value: Value): boolean {
  if (typeof value === 'number') return value !== 0
  if (typeof value === 'string') return value !== ''
  if (value === undefined) return false
  return value.number === null ? value.text !== '' : value.number !== 0
}

/** Below, equal or above zero; NaN for numbers without an order. */
export function compare(left: Value, right: Value, format: string): number {
  const [a, b] = [numeric(left), numeric(right)]
  if (a !== null && b !== null) return a === b ? 0 : a < b ? -1 : a > b ? 1 : Number.NaN
  const [first, second] = [toText(left, format), toText(right, format)]
  return first === second ? 0 : first < second ? -1 : 1
}

function numeric(value: Value): number | null {
  if (typeof value === 'number') return value
  if (typeof value === 'string') return null
  return value === undefined ? 0 : value.number
}
