// `%5.2f`, `%g` and `%e` like in C.

import { curly, refusal } from '../misuse.ts'

export interface FloatFormat {
  before: string
  after: string
  flags: string
  width: number
  precision: number | null
  letter: string
}

const DIRECTIVE = /^((?:[^%]|%%)*)%([-+ #0']*)(\d*)(?:\.(\d*))?L?(.)?((?:[^%]|%%)*)$/s

/** With exactly one conversion in it. */
export function floatFormat(text: string): FloatFormat {
  const [, before = '', flags = '', width = '', precision, letter, after = ''] = DIRECTIVE.exec(text) ?? []
  if (letter === undefined) {
    const many = (text.replaceAll('%%', '').match(/%/g)?.length ?? 0) > 1
    if (many) throw refusal(`format ${curly(text)} has too many % directives`)
    throw refusal(`format ${curly(text)} ${text.includes('%') ? 'ends in %' : 'has no % directive'}`)
  }
  if (!'efgaEFGA'.includes(letter)) throw refusal(`format ${curly(text)} has unknown %${letter} directive`)
  if ('aA'.includes(letter)) throw refusal(`format ${curly(text)}: the directive %${letter} is not available here`)
  return {
    before: before.replaceAll('%%', '%'),
    after: after.replaceAll('%%', '%'),
    flags,
    width: Number(width || 0),
    precision: precision === undefined ? null : Number(precision || 0),
    letter,
  }
}

export function formatFloat(value: number, format: FloatFormat): string {
  const { before, after, flags, width } = format
  const digits = unsigned(Math.abs(value), format)
  const sign = value < 0 || Object.is(value, -0) ? '-' : flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : ''
  const room = width - sign.length
  const body = flags.includes('-')
    ? (sign + digits).padEnd(width)
    : flags.includes('0') && Number.isFinite(value)
      ? sign + digits.padStart(room, '0')
      : (sign + digits).padStart(width)
  return before + body + after
}

function unsigned(value: number, { letter, precision, flags }: FloatFormat): string {
  const isUpper = letter !== letter.toLowerCase()
  let text: string
  if (!Number.isFinite(value)) text = Number.isNaN(value) ? 'nan' : 'inf'
  else if (letter.toLowerCase() === 'f') text = value.toFixed(precision ?? 6)
  else if (letter.toLowerCase() === 'e') text = withExponent(value.toExponential(precision ?? 6))
  else text = general(value, precision === 0 ? 1 : (precision ?? 6), flags.includes('#'))
  return isUpper ? text.toUpperCase() : text
}

export function general(value: number, digits: number, keepsZeros = false): string {
  const exponential = value.toExponential(digits - 1)
  const exponent = Number(exponential.split('e')[1])
  const isPlain = exponent >= -4 && exponent < digits
  const text = isPlain ? value.toFixed(digits - 1 - exponent) : exponential
  const [mantissa = '', power] = text.split('e')
  const kept = keepsZeros || !mantissa.includes('.') ? mantissa : mantissa.replace(/\.?0+$/, '')
  return power === undefined ? kept : withExponent(`${kept}e${power}`)
}

/** At least two digits. */
function withExponent(text: string): string {
  return text.replace(/e([-+])(\d)$/, 'e$10$2')
}
