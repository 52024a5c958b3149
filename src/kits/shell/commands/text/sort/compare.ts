// Compares two lines by their keys. The value of a key is computed once per line, not per comparison.

import { createHash } from 'node:crypto'
import { cutter, type Key } from './keys.ts'
import { compareVersions } from './version.ts'

/** The compared values of a line: one for each key. */
export type Value = string | number | Decimal | { unit: number; size: Decimal }

interface Decimal {
  sign: number
  whole: string
  fraction: string
}

export interface KeyOrder {
  valueOf: (line: string) => Value
  compare: (a: Value, b: Value) => number
}

export function keyOrder(key: Key, separator: string | null, salt: string): KeyOrder {
  const cut = cutter(key, separator)
  const { measure, compare } = measured(key, salt)
  return {
    valueOf: (line) => measure(cut(line)),
    compare: key.isReversed ? (a, b) => compare(b, a) : compare,
  }
}

interface Measured {
  measure: (part: string) => Value
  compare: (a: Value, b: Value) => number
}

function measured(key: Key, salt: string): Measured {
  switch (key.kind) {
    case 'n':
      return { measure: decimalOf, compare: (a, b) => compareDecimals(a as Decimal, b as Decimal) }
    case 'h':
      return { measure: humanSize, compare: compareSizes }
    case 'g':
      return { measure: floatRank, compare: compareFloats }
    case 'M':
      return { measure: monthOf, compare: (a, b) => Number(a) - Number(b) }
    case 'V':
      return { measure: translated(key), compare: (a, b) => compareVersions(String(a), String(b)) }
    case 'R': {
      const translate = translated(key)
      return { measure: (part) => shuffled(translate(part), salt), compare: compareBytes }
    }
    default:
      return { measure: translated(key), compare: compareBytes }
  }
}

function compareBytes(a: Value, b: Value): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function translated({ ignored, foldsCase }: Key): (part: string) => string {
  return (part) => {
    let kept = part
    if (ignored === 'd') kept = kept.replace(/[^ \t\nA-Za-z0-9]+/g, '')
    if (ignored === 'i') kept = kept.replace(/[^ -~]+/g, '')
    return foldsCase ? kept.replace(/[a-z]+/g, (letters) => letters.toUpperCase()) : kept
  }
}

/** Equal lines stay together, because their random position depends on their text. */
function shuffled(part: string, salt: string): string {
  return createHash('md5')
    .update(salt + part, 'latin1')
    .digest('hex')
}

const DECIMAL = /^[ \t\n]*(-?)(\d*)(?:\.(\d*))?/

function decimalOf(part: string): Value {
  const [, minus, digits = '', decimals = ''] = DECIMAL.exec(part) ?? []
  if (digits.length + decimals.length <= 15) {
    const size = Number(`${digits || '0'}.${decimals || '0'}`)
    return minus === '-' ? -size : size
  }
  const [whole, fraction] = [digits.replace(/^0+/, ''), decimals.replace(/0+$/, '')]
  const isZero = whole === '' && fraction === ''
  return { sign: isZero ? 0 : minus === '-' ? -1 : 1, whole, fraction }
}

type Numeric = Decimal | number

function compareDecimals(first: Numeric, second: Numeric): number {
  if (typeof first === 'number' && typeof second === 'number') return first - second
  const [a, b] = [exact(first), exact(second)]
  if (a.sign !== b.sign) return a.sign - b.sign
  const size = a.whole.length - b.whole.length || compareBytes(a.whole, b.whole) || compareBytes(a.fraction, b.fraction)
  return size * (a.sign < 0 ? -1 : 1)
}

function exact(size: Numeric): Decimal {
  if (typeof size !== 'number') return size
  const [whole = '', fraction = ''] = Math.abs(size).toFixed(15).split('.')
  return { sign: Math.sign(size), whole: whole.replace(/^0+/, ''), fraction: fraction.replace(/0+$/, '') }
}

const UNITS = '?KMGTPEZY'

function humanSize(part: string): Value {
  const [whole = '', , digits = '', decimals = ''] = DECIMAL.exec(part) ?? []
  const letter = part.charAt(whole.length)
  const power = /[1-9]/.test(digits + decimals) ? UNITS.indexOf(letter === 'k' ? 'K' : letter || ' ') : 0
  const size = decimalOf(part) as Decimal
  return { unit: (whole.includes('-') ? -1 : 1) * Math.max(0, power), size }
}

function compareSizes(a: Value, b: Value): number {
  const [first, second] = [a, b] as [{ unit: number; size: Decimal }, { unit: number; size: Decimal }]
  const [x, y] = [signOf(first.size), signOf(second.size)]
  if (x !== y) return x - y
  return first.unit - second.unit || compareDecimals(first.size, second.size)
}

function signOf(size: Numeric): number {
  return typeof size === 'number' ? Math.sign(size) : size.sign
}

const FLOAT =
  /^\s*([-+]?)(?:(0x(?:[\da-f]+\.?[\da-f]*|\.[\da-f]+)(?:p[-+]?\d+)?)|((?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)|(inf(?:inity)?)|(nan))/i

/** Text that is not a number comes first, then NaN. */
function floatRank(part: string): Value {
  const [, sign, hex, decimal, infinite, nan] = FLOAT.exec(part) ?? []
  if (nan !== undefined) return Number.NaN
  const size =
    infinite !== undefined ? Infinity : hex !== undefined ? hexOf(hex) : decimal === undefined ? null : Number(decimal)
  if (size === null) return ''
  return sign === '-' ? -size : size
}

function hexOf(hex: string): number {
  const [digits = '', power = '0'] = hex.slice(2).toLowerCase().split('p')
  const [whole = '', fraction = ''] = digits.split('.')
  return (Number.parseInt(whole + fraction, 16) / 16 ** fraction.length) * 2 ** Number(power)
}

function compareFloats(a: Value, b: Value): number {
  const [x, y] = [a, b].map((one) => (one === '' ? 0 : Number.isNaN(one) ? 1 : 2))
  if (x !== 2 || y !== 2) return (x ?? 0) - (y ?? 0)
  return a < b ? -1 : a > b ? 1 : 0
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']

function monthOf(part: string): Value {
  return (
    MONTHS.indexOf(
      part
        .replace(/^[ \t\n]+/, '')
        .slice(0, 3)
        .toUpperCase(),
    ) + 1
  )
}
