// The directives of `printf`: the part between the percent sign and the letter, and the output for each letter.

import { bytesOf } from '../text/bytes.ts'
import type { Arguments } from './arguments.ts'
import { expanded } from './escapes.ts'
import { floatText } from './floats.ts'
import type { Directive } from './pieces.ts'
import { shellQuoted } from './quote.ts'

/** The limits of a directive's width and a number's precision: more is an error, and would fill the memory. */
export const MAX_SIZE = 10_000_000

export interface Sized {
  flags: string
  width: number
  precision: number | null
}

/** With sizes from arguments. Null for sizes that are not supported. */
export function sized({ flags, width, precision }: Directive, args: Arguments): Sized | null {
  const asked = width === '*' ? args.size() : (width ?? 0)
  const exact = precision === '*' ? args.size() : precision
  if (Math.abs(asked) > MAX_SIZE || (exact !== null && exact > MAX_SIZE)) return null
  const given = exact !== null && exact < 0 ? null : exact
  return asked < 0 ? { flags: `${flags}-`, width: -asked, precision: given } : { flags, width: asked, precision: given }
}

export function paddedText(text: string, { flags, width, precision }: Sized): string {
  const cut = precision === null ? text : text.slice(0, precision)
  return flags.includes('-') ? cut.padEnd(width) : cut.padStart(width)
}

/** The output bytes for an argument; null for an unknown letter. */
export function convertedBytes(
  letter: string,
  sizes: Sized,
  args: Arguments,
): { bytes: string; isEnd: boolean } | null {
  const plain = (bytes: string) => ({ bytes, isEnd: false })
  if (letter === 's') return plain(paddedText(bytesOf(args.text()), sizes))
  if (letter === 'c') return plain(paddedText(bytesOf(args.text()).charAt(0) || '\0', { ...sizes, precision: null }))
  if (letter === 'b') {
    const { bytes, isEnd, complaints } = expanded(bytesOf(args.text()))
    for (const complaint of complaints) args.complain(complaint)
    return { bytes: paddedText(bytes, sizes), isEnd }
  }
  if (letter === 'q') return plain(paddedText(bytesOf(shellQuoted(args.text())), sizes))
  if (letter === 'Q') return plain(quotedPart(args.text(), sizes))
  if ('di'.includes(letter)) return plain(signedText(args.signed(), sizes))
  if ('ouxX'.includes(letter)) return plain(unsignedText(letter, args.unsigned(), sizes))
  return 'aAeEfFgG'.includes(letter) ? plain(numberText(letter, sizes, args)) : null
}

/** `%Q` cuts the word, not its quoted form. */
function quotedPart(word: string, sizes: Sized): string {
  const cut = sizes.precision === null ? word : word.slice(0, sizes.precision)
  return paddedText(bytesOf(shellQuoted(cut)), { ...sizes, precision: null })
}

function signedText(value: bigint, sizes: Sized): string {
  const sign = value < 0n ? '-' : plusOf(sizes)
  return numeral({ sign, digits: (value < 0n ? -value : value).toString() }, sizes)
}

function unsignedText(letter: string, value: bigint, sizes: Sized): string {
  const base = letter === 'o' ? 8 : letter === 'u' ? 10 : 16
  const digits = value.toString(base)
  const isMarked = sizes.flags.includes('#')
  if (base === 8 && isMarked) {
    const { precision } = sizes
    const isLong = digits.length < (precision ?? 0) || (value === 0n && precision !== 0)
    return numeral({ sign: '', digits: isLong ? digits : `0${digits}` }, { ...sizes, precision: precision || null })
  }
  const text = numeral({ sign: isMarked && base === 16 && value !== 0n ? '0x' : '', digits }, sizes)
  return letter === 'X' ? text.toUpperCase() : text
}

/** A precision is the minimum number of digits, and disables the flag `0`. */
function numeral({ sign, digits }: { sign: string; digits: string }, { flags, width, precision }: Sized): string {
  const exact = precision === 0 && digits === '0' ? '' : digits.padStart(precision ?? 0, '0')
  return filled(sign, exact, { flags, width, hasZeros: precision === null })
}

function numberText(letter: string, { flags, width, precision }: Sized, args: Arguments): string {
  const value = args.number()
  const digits = floatText(value, { letter, precision, keepsPoint: flags.includes('#') })
  const sign = value.isNegative ? '-' : plusOf({ flags })
  const mark = /^0x/i.exec(digits)?.[0] ?? ''
  return filled(sign + mark, digits.slice(mark.length), { flags, width, hasZeros: value.kind === 'finite' })
}

const plusOf = ({ flags }: Pick<Sized, 'flags'>): string => (flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '')

type Filling = { flags: string; width: number; hasZeros: boolean }

function filled(sign: string, digits: string, { flags, width, hasZeros }: Filling): string {
  if (flags.includes('-')) return (sign + digits).padEnd(width)
  if (flags.includes('0') && hasZeros) return sign + digits.padStart(width - sign.length, '0')
  return (sign + digits).padStart(width)
}
