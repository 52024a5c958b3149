// `%f`, `%e`, `%g` and `%a` of a `long double`, computed exactly.

import { halfToEven, type LongDouble } from './long-double.ts'

const USUAL_PRECISION = 6

export interface FloatStyle {
  letter: string
  /** Null if none is given. */
  precision: number | null
  /** `#`: the point and trailing zeros are kept. */
  keepsPoint: boolean
}

/** Without a sign. */
export function floatText(value: LongDouble, { letter, precision, keepsPoint }: FloatStyle): string {
  const kind = letter.toLowerCase()
  const text = unsigned(value, { letter: kind, precision, keepsPoint })
  return kind === letter ? text : text.toUpperCase()
}

function unsigned(value: LongDouble, { letter, precision, keepsPoint }: FloatStyle): string {
  if (value.kind !== 'finite') return value.kind === 'infinite' ? 'inf' : 'nan'
  if (letter === 'a') return hexadecimal(value, precision, keepsPoint)
  const digits = precision ?? USUAL_PRECISION
  if (letter === 'f') return fixed(value, digits, keepsPoint)
  if (letter === 'e') return exponential(value, digits, keepsPoint)
  const places = Math.max(1, digits)
  const { digits: shown, power } = significant(value, places)
  const text = power < -4 || power >= places ? asExponential(shown, power, true) : asFixed(shown, power)
  return keepsPoint ? text : trimmed(text)
}

/** The number as a fraction. */
function fraction({ mantissa, exponent }: LongDouble): [above: bigint, below: bigint] {
  return exponent >= 0 ? [mantissa << BigInt(exponent), 1n] : [mantissa, 1n << BigInt(-exponent)]
}

function fixed(value: LongDouble, places: number, keepsPoint: boolean): string {
  const [above, below] = fraction(value)
  const { rounded } = halfToEven(above * 10n ** BigInt(places), below)
  const digits = rounded.toString().padStart(places + 1, '0')
  const point = places > 0 || keepsPoint ? '.' : ''
  return `${digits.slice(0, digits.length - places)}${point}${places > 0 ? digits.slice(-places) : ''}`
}

function exponential(value: LongDouble, places: number, keepsPoint: boolean): string {
  const { digits, power } = significant(value, places + 1)
  return asExponential(digits, power, keepsPoint)
}

/** The given number of digits, and the power of ten of the first. */
function significant(value: LongDouble, count: number): { digits: string; power: number } {
  if (value.mantissa === 0n) return { digits: '0'.repeat(count), power: 0 }
  const [above, below] = fraction(value)
  // Never too large at the beginning: what is rounded up to a digit more belongs to the next power.
  let power = Math.floor((value.mantissa.toString(2).length - 1 + value.exponent) * Math.LOG10E * Math.LN2)
  for (;;) {
    const scale = count - 1 - power
    const { rounded } =
      scale >= 0 ? halfToEven(above * 10n ** BigInt(scale), below) : halfToEven(above, below * 10n ** BigInt(-scale))
    const digits = rounded.toString()
    if (digits.length === count) return { digits, power }
    power++
  }
}

function asExponential(digits: string, power: number, keepsPoint: boolean): string {
  const size = String(Math.abs(power)).padStart(2, '0')
  const point = digits.length > 1 || keepsPoint ? '.' : ''
  return `${digits.slice(0, 1)}${point}${digits.slice(1)}e${power < 0 ? '-' : '+'}${size}`
}

function asFixed(digits: string, power: number): string {
  if (power < 0) return `0.${'0'.repeat(-power - 1)}${digits}`
  return `${digits.slice(0, power + 1)}.${digits.slice(power + 1)}`
}

/** Without trailing zeros after the point. */
function trimmed(text: string): string {
  const [mantissa = '', exponent] = text.split('e')
  const short = mantissa.includes('.') ? mantissa.replace(/\.?0*$/, '') : mantissa
  return exponent === undefined ? short : `${short}e${exponent}`
}

/** The first digit has four bits, the other fifteen the rest. */
function hexadecimal({ mantissa, exponent }: LongDouble, precision: number | null, keepsPoint: boolean): string {
  const DIGITS = 15
  let power = mantissa === 0n ? 0 : exponent + 4 * DIGITS
  let places = DIGITS
  let shown = mantissa
  if (precision !== null && precision < DIGITS) {
    places = precision
    shown = halfToEven(mantissa, 1n << BigInt(4 * (DIGITS - precision))).rounded
  }
  let text = shown.toString(16).padStart(places + 1, '0')
  if (text.length > places + 1) {
    // The first digit became sixteen.
    text = text.slice(0, places + 1)
    power += 4
  }
  const behind = precision === null ? text.slice(1).replace(/0+$/, '') : text.slice(1).padEnd(precision, '0')
  return `0x${text.slice(0, 1)}${behind !== '' || keepsPoint ? '.' : ''}${behind}p${power < 0 ? '-' : '+'}${Math.abs(power)}`
}
