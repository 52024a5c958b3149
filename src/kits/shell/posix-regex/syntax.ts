// A POSIX regular expression as a tree.

export type Anchor =
  | 'line-start'
  | 'line-end'
  | 'text-start'
  | 'text-end'
  | 'word-edge'
  | 'inside-word'
  | 'word-start'
  | 'word-end'

export type Regex =
  /** One character; `source` is JavaScript's pattern of it, `literal` the character if it can be that one alone. */
  | { kind: 'one'; source: string; literal: string | null }
  | { kind: 'sequence'; parts: Regex[] }
  | { kind: 'choice'; options: Regex[] }
  | { kind: 'repeat'; part: Regex; min: number; max: number }
  | { kind: 'group'; part: Regex; index: number }
  | { kind: 'back-reference'; index: number }
  | { kind: 'place'; place: Anchor }
  /** A place that JavaScript's pattern tells. */
  | { kind: 'look'; source: string }

export interface Dialect {
  /** ERE, where groups and intervals are written without a backslash; else BRE. */
  extended: boolean
  escapes: Escapes
  /** A repetition of nothing or of an anchor is a mistake, and so is one of a repetition in basic expressions. */
  isStrict: boolean
  /** A `)` that closes nothing is a letter. */
  takesLooseEnds: boolean
  /** Whether anybody asks for the places of groups. */
  keepsGroups: boolean
}

export interface Escapes {
  /** The character for the escape at the backslash, or null where there is no such escape. */
  read(text: string, at: number): { char: string; end: number } | null
  /** Whether a backslash in brackets makes the character behind it literal where it is no such escape. */
  quotesInBrackets: boolean
  /** Letters that stand for places and sets. */
  places: Readonly<Record<string, Anchor>>
  /** Whether `\\1` is what the first group matched. */
  hasReferences: boolean
}

/** The words are those of GNU's library. */
export class RegexError extends Error {
  override readonly name = 'RegexError'
}

/** As POSIX's RE_DUP_MAX. */
export const MAX_REPEATS = 32767

export function literal(char: string): Regex {
  return { kind: 'one', source: escaped(char), literal: char }
}

/** For a pattern with the flag `u` or without it, inside brackets as well as outside. */
export function escaped(char: string): string {
  return /[\^$\\.*+?()[\]{}|/-]/.test(char) ? `\\${char === '-' ? 'x2d' : char}` : char
}
