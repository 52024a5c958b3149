// Integers of 64 bits in two's complement, like in bash. A value that a JavaScript number can store exactly is a
// number, which is fast; any other is a bigint. Each value has only one form, so that `===` works.

export type Int = number | bigint

const BITS = 64
const SHIFT_MASK = 63

/** The canonical form of a value, which wraps around at 64 bits. */
function wrapped(value: bigint): Int {
  const int = BigInt.asIntN(BITS, value)
  const number = Number(int)
  return Number.isSafeInteger(number) ? number : int
}

/** For a result from numbers: exact if it is safe, otherwise it must be computed again with bigints. */
const isExact = (value: number): boolean => Number.isSafeInteger(value)
/** Whether JavaScript's own bit operators, which use 32 bits, give the same result. */
const isShort = (value: Int): value is number => typeof value === 'number' && (value | 0) === value

export function fromDigits(digits: bigint): Int {
  return wrapped(digits)
}

export function toNumber(value: Int): number {
  return Number(value)
}

export function add(a: Int, b: Int): Int {
  if (typeof a === 'number' && typeof b === 'number' && isExact(a + b)) return a + b
  return wrapped(BigInt(a) + BigInt(b))
}

export function subtract(a: Int, b: Int): Int {
  if (typeof a === 'number' && typeof b === 'number' && isExact(a - b)) return a - b
  return wrapped(BigInt(a) - BigInt(b))
}

export function multiply(a: Int, b: Int): Int {
  if (typeof a === 'number' && typeof b === 'number' && isExact(a * b)) return a * b + 0
  return wrapped(BigInt(a) * BigInt(b))
}

/** Rounds towards zero; the divisor is not zero. */
export function divide(a: Int, b: Int): Int {
  if (typeof a === 'number' && typeof b === 'number') return (a - (a % b)) / b + 0
  return wrapped(BigInt(a) / BigInt(b))
}

/** With the sign of the dividend. */
export function remainder(a: Int, b: Int): Int {
  if (typeof a === 'number' && typeof b === 'number') return (a % b) + 0
  return wrapped(BigInt(a) % BigInt(b))
}

/** The exponent is not negative. */
export function power(base: Int, exponent: Int): Int {
  if (typeof base === 'number' && typeof exponent === 'number' && isExact(base ** exponent)) return base ** exponent + 0
  let result = 1n
  let factor = BigInt(base)
  for (let left = BigInt(exponent); left > 0n; left >>= 1n) {
    if (left & 1n) result = BigInt.asIntN(BITS, result * factor)
    factor = BigInt.asIntN(BITS, factor * factor)
  }
  return wrapped(result)
}

/** Only the last six bits of a shift count, like in the processor. */
const places = (value: Int): number =>
  typeof value === 'number' && value >= 0 && value <= SHIFT_MASK ? value : Number(BigInt(value) & BigInt(SHIFT_MASK))

export function shiftLeft(a: Int, b: Int): Int {
  const by = places(b)
  if (typeof a === 'number' && isExact(a * 2 ** by)) return a * 2 ** by
  return wrapped(BigInt(a) << BigInt(by))
}

export function shiftRight(a: Int, b: Int): Int {
  const by = places(b)
  if (typeof a === 'number') return Math.floor(a / 2 ** by)
  return wrapped(BigInt(a) >> BigInt(by))
}

export function and(a: Int, b: Int): Int {
  return isShort(a) && isShort(b) ? a & b : wrapped(BigInt(a) & BigInt(b))
}

export function or(a: Int, b: Int): Int {
  return isShort(a) && isShort(b) ? a | b : wrapped(BigInt(a) | BigInt(b))
}

export function exclusiveOr(a: Int, b: Int): Int {
  return isShort(a) && isShort(b) ? a ^ b : wrapped(BigInt(a) ^ BigInt(b))
}

export function complement(a: Int): Int {
  return isShort(a) ? ~a : wrapped(~BigInt(a))
}
