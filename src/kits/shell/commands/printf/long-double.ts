// Numbers of the shell's `printf`: the C library's `long double`, with 64 bits of mantissa and 15 of exponent.

export interface LongDouble {
  isNegative: boolean
  kind: 'finite' | 'infinite' | 'none'
  /** The number is `mantissa * 2 ** exponent`; the mantissa has 64 bits unless the number is too small for that. */
  mantissa: bigint
  exponent: number
}

export interface ReadNumber {
  value: LongDouble
  /** The length of the number in the text. */
  length: number
  /** It is too large, or so small that digits were lost. */
  isOutOfRange: boolean
}

const BITS = 64
const LEAST_EXPONENT = -16_445
const LARGEST_EXPONENT = 16_384 - BITS
/** Further digits only affect whether the rest is zero. */
const MAX_DIGITS = 12_000

const DECIMAL = /^(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?/
const HEXADECIMAL = /^0[xX]([\da-fA-F]*)(?:\.([\da-fA-F]*))?(?:[pP]([+-]?\d+))?/
const WORD = /^(inf(?:inity)?|nan(?:\(\w*\))?)/i

export function readLongDouble(text: string): ReadNumber {
  const [lead = '', sign] = /^[ \t\n\v\f\r]*([+-]?)/.exec(text) ?? []
  const isNegative = sign === '-'
  const rest = text.slice(lead.length)
  const word = WORD.exec(rest)?.[0]
  if (word !== undefined) {
    const kind = /^i/i.test(word) ? ('infinite' as const) : ('none' as const)
    const value = { isNegative, kind, mantissa: 0n, exponent: 0 }
    return { value, length: lead.length + word.length, isOutOfRange: false }
  }
  const found = hexadecimal(rest) ?? decimal(rest)
  if (found === null) return { value: zero(false), length: 0, isOutOfRange: false }
  const { value, isOutOfRange } = nearest(found, isNegative)
  return { value, length: lead.length + found.length, isOutOfRange }
}

export function longDoubleOf(whole: bigint): LongDouble {
  const isNegative = whole < 0n
  return nearest({ above: isNegative ? -whole : whole, below: 1n, twos: 0, length: 0 }, isNegative).value
}

/** `above / below * 2 ** twos`. */
type Fraction = { above: bigint; below: bigint; twos: number; length: number }

function decimal(text: string): Fraction | null {
  const [all = '', whole = '', part = '', power = '0'] = DECIMAL.exec(text) ?? []
  if (whole === '' && part === '') return null
  const digits = (whole + part).replace(/^0+/, '')
  // Far out of range; exact powers of ten would be huge without any use.
  const tens = Math.max(-20_000, Math.min(20_000, Number(power))) - part.length
  const kept = digits.slice(0, MAX_DIGITS) + (/[1-9]/.test(digits.slice(MAX_DIGITS)) ? '1' : '')
  const scale = tens + digits.length - kept.length
  const above = BigInt(kept === '' ? '0' : kept)
  if (above === 0n) return { above, below: 1n, twos: 0, length: all.length }
  return scale >= 0
    ? { above: above * 10n ** BigInt(Math.min(scale, 40_000)), below: 1n, twos: 0, length: all.length }
    : { above, below: 10n ** BigInt(-scale), twos: 0, length: all.length }
}

function hexadecimal(text: string): Fraction | null {
  const [all = '', whole = '', part = '', power = '0'] = HEXADECIMAL.exec(text) ?? []
  if (whole === '' && part === '') return null
  const twos = Math.max(-80_000, Math.min(80_000, Number(power))) - 4 * part.length
  return { above: BigInt(`0x${whole}${part}`), below: 1n, twos, length: all.length }
}

const bitsOf = (value: bigint): number => value.toString(2).length

/** The nearest representable number; of two equally near, the even one. */
function nearest({ above, below, twos }: Fraction, isNegative: boolean): { value: LongDouble; isOutOfRange: boolean } {
  if (above === 0n) return { value: zero(isNegative), isOutOfRange: false }
  let exponent = bitsOf(above) - bitsOf(below) - BITS + twos
  // At most one bit too many, corrected after the division.
  for (;;) {
    const bounded = Math.max(exponent, LEAST_EXPONENT)
    const shift = twos - bounded
    const [top, bottom] = shift >= 0 ? [above << BigInt(shift), below] : [above, below << BigInt(-shift)]
    const { rounded, isExact } = halfToEven(top, bottom)
    if (rounded >> BigInt(BITS) !== 0n) {
      exponent = bounded + 1
      continue
    }
    if (bounded > LARGEST_EXPONENT) return { value: { ...zero(isNegative), kind: 'infinite' }, isOutOfRange: true }
    const isSubnormal = bounded === LEAST_EXPONENT && rounded >> BigInt(BITS - 1) === 0n
    const value = { isNegative, kind: 'finite' as const, mantissa: rounded, exponent: bounded }
    return { value: normal(value), isOutOfRange: isSubnormal && !isExact }
  }
}

/** Normalized: all bits of the mantissa are used. */
function normal(value: LongDouble): LongDouble {
  const missing = BITS - bitsOf(value.mantissa)
  const shift = Math.min(missing, value.exponent - LEAST_EXPONENT)
  return shift <= 0 ? value : { ...value, mantissa: value.mantissa << BigInt(shift), exponent: value.exponent - shift }
}

export function halfToEven(above: bigint, below: bigint): { rounded: bigint; isExact: boolean } {
  const rounded = above / below
  const twice = (above % below) * 2n
  const isUp = twice > below || (twice === below && (rounded & 1n) === 1n)
  return { rounded: isUp ? rounded + 1n : rounded, isExact: twice === 0n }
}

const zero = (isNegative: boolean): LongDouble => ({ isNegative, kind: 'finite', mantissa: 0n, exponent: 0 })
