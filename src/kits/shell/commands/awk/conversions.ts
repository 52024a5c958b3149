// The conversions of `printf`, and numbers in their formats.

import { lengthOf } from './characters.ts'
import { exponential, fixed, general } from './format-number.ts'
import { AwkError } from './syntax.ts'

const LARGEST_SHOWN_WHOLE = 1e300

export interface Conversion {
  letter: string
  flags: string
  /** Null if there is none, `*` if an argument contains it. */
  width: number | '*' | null
  precision: number | '*' | null
}

export type Piece = string | Conversion

const MAX_CACHED = 200
/** Wider than any output, and far below the limit of the memory. */
const MAX_WIDTH = 1_000_000
const known = new Map<string, Piece[]>()

/** A whole number is printed as such, another one with the format, which is CONVFMT or OFMT. */
export function formatNumber(value: number, format: string): string {
  if (Number.isNaN(value)) return '-nan'
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf'
  if (Number.isInteger(value) && Math.abs(value) < LARGEST_SHOWN_WHOLE) return BigInt(value).toString()
  return piecesOf(format)
    .map((piece) => {
      if (typeof piece === 'string') return piece
      const { letter, flags } = piece
      const isNumeric = letter !== 's' && letter !== 'c'
      const how = { letter: isNumeric ? letter : 'g', flags, precision: fixedSize(piece.precision) }
      return pad(shownNumber(how, value), fixedSize(piece.width) ?? 0, flags)
    })
    .join('')
}

/** No argument may give a size here. */
function fixedSize(size: number | '*' | null): number | null {
  return size === '*' ? null : size
}

export function sizeOf(value: number): number {
  const size = Math.trunc(value)
  if (!(Math.abs(size) <= MAX_WIDTH)) throw new AwkError('run time error: field width in printf is too large')
  return size
}

export function piecesOf(format: string): Piece[] {
  const before = known.get(format)
  if (before) return before
  const pieces = split(format)
  if (known.size >= MAX_CACHED) known.clear()
  known.set(format, pieces)
  return pieces
}

function split(format: string): Piece[] {
  const pieces: Piece[] = []
  let [from, count] = [0, 0]
  for (let at = format.indexOf('%'); at >= 0; at = format.indexOf('%', from)) {
    pieces.push(format.slice(from, at))
    const specification = /^%([-+ #0]*)(\d+|\*)?(?:\.(\d+|\*)?)?[hlLqjzt]*([diouxXeEfFgGcs%])/.exec(format.slice(at))
    if (!specification) {
      // A single percent sign at the end is literal.
      if (at === format.length - 1) return [...pieces, '%']
      throw new AwkError(`run time error: improper conversion(number ${count + 1}) in printf("${format}")`)
    }
    const [all, flags = '', width, precision, letter = '%'] = specification
    from = at + all.length
    if (letter === '%') pieces.push('%')
    else {
      count++
      const isPrecise = all.includes('.')
      pieces.push({
        letter,
        flags,
        width: sizeWord(width),
        precision: sizeWord(precision ?? (isPrecise ? '0' : undefined)),
      })
    }
  }
  return [...pieces, format.slice(from)]
}

function sizeWord(word: string | undefined): number | '*' | null {
  return word === undefined ? null : word === '*' ? '*' : sizeOf(Number(word))
}

export type ConvertedNumber = { sign: string; text: string; isNumber: boolean }
export type NumberFormat = { letter: string; flags: string; precision: number | null }

/** A number in the format of a numeric conversion. */
export function shownNumber(how: NumberFormat, number: number): ConvertedNumber {
  const { letter, flags } = how
  if (!Number.isFinite(number)) {
    const sign = number < 0 || Number.isNaN(number) ? '-' : plusOf(flags)
    return { sign, text: Number.isNaN(number) ? 'nan' : 'inf', isNumber: false }
  }
  const precision = how.precision !== null && how.precision >= 0 ? how.precision : null
  return 'diouxX'.includes(letter)
    ? whole({ letter, flags, precision }, number)
    : decimal({ letter, flags, precision }, number)
}

function plusOf(flags: string): string {
  return flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : ''
}

function whole({ letter, flags, precision }: NumberFormat, number: number): ConvertedNumber {
  const signed = letter === 'd' || letter === 'i'
  let value = BigInt(Math.trunc(number))
  if (!signed && value < 0n) value = BigInt.asUintN(64, value)
  const sign = value < 0n ? '-' : signed ? plusOf(flags) : ''
  const base = letter === 'o' ? 8 : letter === 'x' || letter === 'X' ? 16 : 10
  let digits = (value < 0n ? -value : value).toString(base)
  if (precision === 0 && value === 0n) digits = ''
  if (precision !== null) digits = digits.padStart(precision, '0')
  if (flags.includes('#') && letter === 'o' && !digits.startsWith('0')) digits = `0${digits}`
  const prefix = flags.includes('#') && base === 16 && value !== 0n ? '0x' : ''
  const text = letter === 'X' ? (prefix + digits).toUpperCase() : prefix + digits
  // A precision sets the number of digits; zero padding would add more.
  return { sign, text, isNumber: precision === null }
}

function decimal({ letter, flags, precision }: NumberFormat, number: number): ConvertedNumber {
  const digits = precision ?? 6
  const kind = letter.toLowerCase()
  const alternative = flags.includes('#')
  const text =
    kind === 'f'
      ? fixed(number, digits)
      : kind === 'e'
        ? exponential(number, digits)
        : general(number, digits, alternative)
  const pointed = alternative && !text.includes('.') ? text.replace(/(?=e|$)/, '.') : text
  const sign = number < 0 || Object.is(number, -0) ? '-' : plusOf(flags)
  return { sign, text: letter === kind ? pointed : pointed.toUpperCase(), isNumber: true }
}

export function pad({ sign, text, isNumber }: ConvertedNumber, width: number, flags: string): string {
  const missing = width - lengthOf(text) - sign.length
  if (missing <= 0) return sign + text
  if (flags.includes('-')) return sign + text + ' '.repeat(missing)
  if (flags.includes('0') && isNumber) {
    const prefix = /^0[xX]/.exec(text)?.[0] ?? ''
    return sign + prefix + '0'.repeat(missing) + text.slice(prefix.length)
  }
  return ' '.repeat(missing) + sign + text
}
