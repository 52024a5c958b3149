// `printf` and `sprintf`.

import { slice } from './characters.ts'
import { type ConvertedNumber, type NumberFormat, pad, piecesOf, shownNumber, sizeOf } from './conversions.ts'
import { AwkError } from './syntax.ts'
import { toNumber, toText, type Value } from './values.ts'

export function formatText(format: string, args: readonly Value[], convfmt: string): string {
  let [text, next] = ['', 0]
  const argument = (): Value => {
    if (next >= args.length) throw new AwkError(`run time error: not enough arguments passed to printf("${format}")`)
    return args[next++]
  }
  for (const piece of piecesOf(format)) {
    if (typeof piece === 'string') {
      text += piece
      continue
    }
    const width = piece.width === '*' ? sizeOf(toNumber(argument())) : piece.width
    const precision = piece.precision === '*' ? sizeOf(toNumber(argument())) : piece.precision
    const flags = width !== null && width < 0 ? `${piece.flags}-` : piece.flags
    const shown = convert({ letter: piece.letter, flags, precision }, argument(), convfmt)
    text += pad(shown, Math.abs(width ?? 0), flags)
  }
  return text
}

function convert(how: NumberFormat, value: Value, convfmt: string): ConvertedNumber {
  const { letter, precision } = how
  if (letter === 'c') return { sign: '', text: characterOf(value, convfmt), isNumber: false }
  if (letter !== 's') return shownNumber(how, toNumber(value))
  const text = toText(value, convfmt)
  const cut = precision === null || precision < 0 ? text : slice(text, 0, precision)
  return { sign: '', text: cut, isNumber: false }
}

function characterOf(value: Value, convfmt: string): string {
  const isNumber = typeof value === 'number' || (typeof value === 'object' && value.number !== null)
  if (!isNumber) return slice(toText(value, convfmt), 0, 1)
  const code = Math.trunc(toNumber(value))
  return code >= 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ''
}
