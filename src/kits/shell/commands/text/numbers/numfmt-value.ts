// Numbers of `numfmt`: exact fractions, parsed with a unit, rounded, and printed with one.

import { curly, type Misuse, refusal } from '../misuse.ts'
import { general } from './float-format.ts'

export const UNITS = ['', 'K', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y']
/** The number of digits that the original's numbers keep, and that it reads at all. */
const SURE_DIGITS = 18
const MOST_DIGITS = 27
const EXIT_INVALID = 2

/** `top` / `bottom`; the latter is positive. A zero from a negative number keeps its sign. */
export interface Fraction {
  top: bigint
  bottom: bigint
}

export interface ReadNumber {
  value: Fraction
  decimals: number
  isUnsure: boolean
}

export interface OutputFormat {
  to: string
  round: string
  /** Null if no format gives it. */
  precision: number | null
  /** The number is padded with zeros to this width. */
  zeroWidth: number
}

const wrong = (what: string): Misuse => refusal(what, EXIT_INVALID)

export function readNumber(word: string, from: string): ReadNumber {
  const [number = '', minus = '', whole = '', point, digits = ''] = /^(-?)(\d*)(?:(\.)(\d*))?/.exec(word) ?? []
  const isMissing = (point === undefined && whole === '') || (point !== undefined && digits === '')
  if (isMissing) throw wrong(`invalid number: ${curly(word)}`)
  const lengths = [whole, digits].map((text) => text.replace(/^0+/, '').length)
  if (Math.max(...lengths) > MOST_DIGITS) throw wrong(`value too large to be converted: ${curly(word)}`)
  const unit = readUnit(word, number.length, from)
  const top = BigInt(whole + digits) * unit.factor * (minus === '' ? 1n : -1n)
  return {
    value: { top, bottom: 10n ** BigInt(digits.length) },
    decimals: unit.isThere ? 0 : digits.length,
    isUnsure: Math.max(...lengths) > SURE_DIGITS,
  }
}

function readUnit(word: string, from: number, scale: string): { factor: bigint; isThere: boolean } {
  const [, blanks = '', letter = '', i = ''] = /^([ \t]*)(.?)(i?)/s.exec(word.slice(from)) ?? []
  const isThere = from < word.length
  if (isThere && (letter === '' || UNITS.indexOf(letter) < 1)) throw wrong(`invalid suffix in input: ${curly(word)}`)
  if (isThere && scale === 'none') throw wrong(`rejecting suffix in input: ${curly(word)} (consider using --from)`)
  const takesI = i !== '' && (scale === 'auto' || scale === 'iec-i')
  if (scale === 'iec-i' && !takesI) throw wrong(`missing 'i' suffix in input: ${curly(word)} (e.g Ki/Mi/Gi)`)
  const rest = isThere ? word.slice(from + blanks.length + 1 + (takesI ? 1 : 0)) : ''
  if (rest !== '') throw wrong(`invalid suffix in input ${curly(word)}: ${curly(rest)}`)
  const base = scale === 'iec' || takesI ? 1024n : 1000n
  return { factor: base ** BigInt(Math.max(0, UNITS.indexOf(letter))), isThere }
}

/** Throws for a number with more digits than the original can print. */
export function checkPrintable(value: Fraction, { to, precision }: OutputFormat, decimals: number): void {
  const size = value.top < 0n ? -value.top : value.top
  const power = Math.max(0, (size / value.bottom).toString().length - 1)
  const places = precision ?? decimals
  const text = general(Number(value.top) / Number(value.bottom), 6)
  if (to === 'none' && power + places > SURE_DIGITS) {
    throw wrong(
      places > 0
        ? `value/precision too large to be printed: '${text}/${places}' (consider using --to)`
        : `value too large to be printed: '${text}' (consider using --to)`,
    )
  }
  if (power >= MOST_DIGITS) throw wrong(`value too large to be printed: '${text}' (cannot handle values > 999Y)`)
}

export function numberText(value: Fraction, shown: OutputFormat, decimals: number): string {
  if (shown.to !== 'none') return scaledText(value, shown)
  const places = shown.precision ?? decimals
  return filled(fixed(rounded(value, places, shown.round), places), shown)
}

/** With one decimal below ten, unless a format gives their number. */
function scaledText(value: Fraction, shown: OutputFormat): string {
  const { to, precision } = shown
  const base = to === 'si' ? 1000n : 1024n
  let power = 0
  for (let next = value.bottom; sizeOf(value) >= next * base; next *= base) power++
  const scaled = { top: value.top, bottom: value.bottom * base ** BigInt(power) }
  const isSmall = sizeOf(scaled) < 10n * scaled.bottom
  const places = precision === null ? (isSmall ? 1 : 0) : Math.min(power * 3, precision)
  let near = rounded(scaled, places, shown.round)
  if (sizeOf(near) >= base * near.bottom) {
    near = { top: near.top, bottom: near.bottom * base }
    power++
  }
  const hasDecimal = near.top !== 0n && sizeOf(near) < 10n * near.bottom && power > 0
  const text = filled(fixed(near, precision ?? (hasDecimal ? 1 : 0)), shown)
  return `${text}${UNITS[power] ?? ''}${to === 'iec-i' && power > 0 ? 'i' : ''}`
}

function filled(text: string, { zeroWidth }: OutputFormat): string {
  return text.startsWith('-') ? `-${text.slice(1).padStart(zeroWidth - 1, '0')}` : text.padStart(zeroWidth, '0')
}

const sizeOf = ({ top }: Fraction): bigint => (top < 0n ? -top : top)

/** Rounded from the whole part and the remainder. */
function rounded(value: Fraction, places: number, way: string): Fraction {
  const scale = 10n ** BigInt(places)
  const [size, bottom] = [sizeOf(value) * scale, value.bottom]
  const isNegative = value.top < 0n
  const up = size % bottom > 0n ? 1n : 0n
  const added = {
    up: isNegative ? 0n : up,
    down: isNegative ? up : 0n,
    'towards-zero': 0n,
    nearest: (size % bottom) * 2n >= bottom ? 1n : 0n,
  }[way]
  const whole = size / bottom + (added ?? up)
  return { top: isNegative ? -whole : whole, bottom: scale }
}

/** Printed like in C: a half is rounded to the even digit, and zero keeps its sign. */
function fixed(value: Fraction, places: number): string {
  const [size, bottom] = [sizeOf(value) * 10n ** BigInt(places), value.bottom]
  const [floor, twice] = [size / bottom, (size % bottom) * 2n]
  const whole = floor + (twice > bottom || (twice === bottom && floor % 2n === 1n) ? 1n : 0n)
  const digits = whole.toString().padStart(places + 1, '0')
  const text = places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`
  return value.top < 0n ? `-${text}` : text
}
