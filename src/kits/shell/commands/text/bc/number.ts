// Numbers of `bc`: decimals of any length, each with its number of decimals, and the rules for the decimals of a
// result.

import { squareRoot } from '../numbers/factor.ts'

export interface Decimal {
  digits: bigint
  scale: number
}

export class RuntimeError extends Error {}

/** A power with more digits would exceed a script's memory. */
const MAX_DIGITS = 100_000
const LINE_WIDTH = 69
const HEX = '0123456789ABCDEF'

export const ZERO: Decimal = { digits: 0n, scale: 0 }

export function integer(value: number | bigint): Decimal {
  return { digits: BigInt(value), scale: 0 }
}

export function truth(holds: boolean): Decimal {
  return integer(holds ? 1 : 0)
}

/** With exactly this number of decimals; further ones are cut off. */
function withScale({ digits, scale }: Decimal, wanted: number): Decimal {
  if (wanted >= scale) return { digits: digits * 10n ** BigInt(wanted - scale), scale: wanted }
  return { digits: digits / 10n ** BigInt(scale - wanted), scale: wanted }
}

export function integerOf(value: Decimal): number {
  return Number(withScale(value, 0).digits)
}

export function compare(a: Decimal, b: Decimal): number {
  const scale = Math.max(a.scale, b.scale)
  const [x, y] = [withScale(a, scale).digits, withScale(b, scale).digits]
  return x < y ? -1 : x > y ? 1 : 0
}

export function add(a: Decimal, b: Decimal, sign: 1n | -1n = 1n): Decimal {
  const scale = Math.max(a.scale, b.scale)
  return { digits: withScale(a, scale).digits + sign * withScale(b, scale).digits, scale }
}

export function multiply(a: Decimal, b: Decimal, scale: number): Decimal {
  const product = { digits: a.digits * b.digits, scale: a.scale + b.scale }
  return withScale(product, Math.min(product.scale, Math.max(scale, a.scale, b.scale)))
}

export function divide(a: Decimal, b: Decimal, scale: number): Decimal {
  if (b.digits === 0n) throw new RuntimeError('Divide by zero')
  const shift = scale + b.scale - a.scale
  const [x, y] = shift >= 0 ? [a.digits * 10n ** BigInt(shift), b.digits] : [a.digits, b.digits * 10n ** BigInt(-shift)]
  return { digits: x / y, scale }
}

export function remainder(a: Decimal, b: Decimal, scale: number): Decimal {
  if (b.digits === 0n) throw new RuntimeError('Modulo by zero')
  const quotient = divide(a, b, scale)
  const product = { digits: quotient.digits * b.digits, scale: quotient.scale + b.scale }
  return withScale(add(a, product, -1n), Math.max(scale + b.scale, a.scale))
}

export function power(base: Decimal, exponent: Decimal, scale: number): Decimal {
  const times = withScale(exponent, 0).digits
  const size = times < 0n ? -times : times
  if (BigInt(String(base.digits).length) * size > BigInt(MAX_DIGITS))
    throw new RuntimeError('exponent too large in raise')
  const raised = { digits: base.digits ** size, scale: base.scale * Number(size) }
  if (times < 0n) return divide(integer(1), raised, scale)
  return withScale(raised, Math.min(raised.scale, Math.max(scale, base.scale)))
}

export function root(value: Decimal, scale: number): Decimal {
  if (value.digits < 0n) throw new RuntimeError('Square root of a negative number')
  if (compare(value, integer(1)) === 0) return integer(1)
  const wanted = Math.max(scale, value.scale)
  return { digits: squareRoot(withScale(value, wanted * 2).digits), scale: wanted }
}

/** The number of significant digits, including those after the point. */
export function lengthOf({ digits, scale }: Decimal): number {
  const size = String(digits < 0n ? -digits : digits).length
  return Math.max(size, scale, 1)
}

/** In the notation of a program; a single digit has the same value in every base. */
export function parseNumber(text: string, base: number): Decimal {
  const [before = '', after = ''] = text.split('.')
  const isSingle = before.length + after.length === 1
  const digitOf = (char: string) => {
    const digit = HEX.indexOf(char)
    return isSingle ? digit : Math.min(digit, base - 1)
  }
  if (base === 10 && /^[\d.]*$/.test(text)) return { digits: BigInt(before + after || '0'), scale: after.length }
  let digits = 0n
  for (const char of before) digits = digits * BigInt(base) + BigInt(digitOf(char))
  let [fraction, unit] = [0n, 1n]
  for (const char of after) {
    fraction = fraction * BigInt(base) + BigInt(digitOf(char))
    unit *= BigInt(base)
  }
  return add(integer(digits), divide(integer(fraction), integer(unit), after.length))
}

/** In a base, with lines that are continued after a backslash. */
export function numberText(value: Decimal, base: number): string {
  const text = base === 10 ? decimalText(value) : inBase(value, base)
  if (text.length <= LINE_WIDTH) return text
  const lines: string[] = []
  for (let at = 0; at < text.length; at += LINE_WIDTH - 1) lines.push(text.slice(at, at + LINE_WIDTH - 1))
  return lines.join('\\\n')
}

/** A number below one has no digit before the point. */
function decimalText({ digits, scale }: Decimal): string {
  if (digits === 0n) return '0'
  const sign = digits < 0n ? '-' : ''
  const text = String(digits < 0n ? -digits : digits).padStart(scale, '0')
  const before = text.slice(0, text.length - scale)
  return sign + before + (scale > 0 ? `.${text.slice(text.length - scale)}` : '')
}

function inBase(value: Decimal, base: number): string {
  if (value.digits === 0n) return '0'
  const size = { ...value, digits: value.digits < 0n ? -value.digits : value.digits }
  const unit = 10n ** BigInt(value.scale)
  const before: string[] = []
  for (let left = size.digits / unit; left > 0n; left /= BigInt(base))
    before.unshift(digitText(left % BigInt(base), base))
  const after: string[] = []
  let [fraction, reached] = [size.digits % unit, 1n]
  // As many digits as distinguish the number from its neighbors.
  while (value.scale > 0 && String(reached).length <= value.scale) {
    fraction *= BigInt(base)
    const digit = digitText(fraction / unit, base)
    after.push(after.length === 0 ? digit.trimStart() : digit)
    fraction %= unit
    reached *= BigInt(base)
  }
  const point = value.scale > 0 ? '.' : ''
  const leading = before.length === 0 && base > HEX.length && point === '' ? digitText(0n, base) : ''
  return `${value.digits < 0n ? '-' : ''}${leading}${before.join('')}${point}${after.join('')}`
}

/** Digits of large bases are decimal numbers with a blank before each. */
function digitText(digit: bigint, base: number): string {
  if (base <= HEX.length) return HEX.charAt(Number(digit))
  return ` ${String(digit).padStart(String(base - 1).length, '0')}`
}
