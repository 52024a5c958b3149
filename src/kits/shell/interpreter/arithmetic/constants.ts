// Number literals in arithmetic: `10`, `010`, `0x10`, `2#10` to `64#10`.

import { fromDigits, type Int } from './int64.ts'

/** The number of decimal digits that a JavaScript number can always store exactly. */
const SAFE_DIGITS = 15
const PLAIN = new RegExp(`^-?(?:0|[1-9]\\d{0,${SAFE_DIGITS - 1}})$`)

/** The value of a text that is a short decimal number; null for any other. */
export function plainNumber(text: string): number | null {
  return PLAIN.test(text) ? Number(text) + 0 : null
}

type Constant = { value: Int } | { error: string }

/** For a text of letters, digits and `#@_` that starts with a digit. */
export function constant(text: string): Constant {
  const plain = plainNumber(text)
  if (plain !== null) return { value: plain }
  const [base = '', digits] = text.split(/#(.*)/s)
  if (digits !== undefined) {
    if (base.length > 1 && base.startsWith('0')) return { error: digitError(base.slice(1), 8) ?? 'invalid number' }
    const radix = numberOf(base, 10)
    if ('error' in radix) return radix
    if (radix.value < 2 || radix.value > 64) return { error: 'invalid arithmetic base' }
    if (digits === '' || digits.startsWith('#')) return { error: 'invalid integer constant' }
    return numberOf(digits, Number(radix.value))
  }
  if (/^0[xX]/.test(text)) return numberOf(text.slice(2), 16)
  return numberOf(text, text.startsWith('0') ? 8 : 10)
}

function numberOf(digits: string, base: number): Constant {
  const problem = digitError(digits, base)
  if (problem !== null) return { error: problem }
  let value = 0n
  for (const digit of digits) value = BigInt.asIntN(64, value * BigInt(base) + BigInt(digitValue(digit, base)))
  return { value: fromDigits(value) }
}

function digitError(digits: string, base: number): string | null {
  for (const digit of digits) {
    if (digit === '#') return 'invalid number'
    if (digitValue(digit, base) >= base) return 'value too great for base'
  }
  return null
}

/** Up to base 36 lower-case and upper-case letters are the same. */
function digitValue(digit: string, base: number): number {
  if (digit === '@') return 62
  if (digit === '_') return 63
  if (digit >= '0' && digit <= '9') return Number(digit)
  const isCapital = digit < 'a'
  if (isCapital && base > 36) return digit.charCodeAt(0) - 65 + 36
  return digit.toLowerCase().charCodeAt(0) - 97 + 10
}
