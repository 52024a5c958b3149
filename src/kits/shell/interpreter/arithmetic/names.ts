// Inserts values of variables into a text (`$x`, `${x}`, `$1`, `$#`, `$?`), without the interpreter.

/** Literal text, or the value of a name. `inBrackets`: of `a[…]`. `isLength`: the length of the value (`${#x}`). */
export type NamePiece = string | { name: string; isLength?: boolean; inBrackets: boolean }

export interface Parameters {
  /** The value of `$name` as text. */
  parameter(name: string): string
}

const SIMPLE = /\$(?:\{(#(?=[A-Za-z_]))?(\w+|#)\}|([A-Za-z_]\w*|\d|[#?]))/y
const SPECIAL = /[$`\\]/g
/** In a value, so that it stays one key or index whatever it contains. */
const BRACKETS = /[[\]\\"']/g

/** Null if more than values of names is needed. */
export function namePieces(text: string): NamePiece[] | null {
  const pieces: NamePiece[] = []
  let at = 0
  while (at < text.length) {
    SPECIAL.lastIndex = at
    const until = SPECIAL.exec(text)?.index ?? text.length
    if (until > at) pieces.push(withoutQuotes(text.slice(at, until)))
    if (until === text.length) break
    SIMPLE.lastIndex = until
    const found = SIMPLE.exec(text)
    if (found === null) return null
    pieces.push({ name: found[2] ?? found[3] ?? '', isLength: found[1] !== undefined, inBrackets: false })
    at = SIMPLE.lastIndex
  }
  return placed(pieces)
}

export const withoutQuotes = (text: string): string => text.replaceAll('"', '')

/** Marks the pieces in brackets. */
export function placed<Piece extends string | { inBrackets: boolean }>(pieces: Piece[]): Piece[] {
  let depth = 0
  for (const piece of pieces) {
    if (typeof piece !== 'string') piece.inBrackets = depth > 0
    else for (const char of piece) depth += char === '[' ? 1 : char === ']' ? -1 : 0
  }
  return pieces
}

export function valueAt({ name, isLength, inBrackets }: Exclude<NamePiece, string>, parameters: Parameters): string {
  const value = parameters.parameter(name)
  return isLength ? String(Array.from(value).length) : bracketsEscaped(value, inBrackets)
}

export const bracketsEscaped = (value: string, inBrackets: boolean): string =>
  inBrackets ? value.replace(BRACKETS, (char) => `\\${char}`) : value
